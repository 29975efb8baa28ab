"""Bounds of a profile."""

import pytest

from gate.formats.parts.output import OutputError
from gate.model.profile import DEEPEST, LONGEST, MOST_FRAMES, MOST_STACKS, Frame
from harness.profilers.profiler import Costs, fold


def own(folded_frames: list[Frame], stacks: list[tuple[list[int], float]]) -> dict[str, float]:
    found: dict[str, float] = {}
    for indices, cost in stacks:
        name = folded_frames[indices[-1]].function
        found[name] = found.get(name, 0.0) + cost
    return found


def test_the_total_and_own_costs_stay_where_stacks_are_too_many() -> None:
    leaves = [Frame(f"leaf{n}") for n in range(10)]
    costs: Costs = {
        (Frame("main"), Frame(f"caller{n}"), leaves[n % 10]): 1.0 + n / 1e4 for n in range(MOST_STACKS + 500)
    }
    folded = fold(costs)
    assert len(folded.stacks) == MOST_STACKS
    assert len(folded.frames) <= MOST_FRAMES
    found = own(folded.frames, [(stack.frames, stack.cost) for stack in folded.stacks])
    for n in range(10):
        wanted = sum(cost for stack, cost in costs.items() if stack[-1] == leaves[n])
        assert found[f"leaf{n}"] == pytest.approx(wanted)


def test_a_function_whose_stacks_are_all_left_out_goes_to_its_caller() -> None:
    big: Costs = {(Frame("main"), Frame(f"f{n}")): 10.0 for n in range(MOST_STACKS - 1)}
    folded = fold({**big, (Frame("main"),): 10.0, (Frame("main"), Frame("small")): 1.0})
    found = own(folded.frames, [(stack.frames, stack.cost) for stack in folded.stacks])
    assert found["main"] == pytest.approx(11.0)


def test_functions_are_bounded_too() -> None:
    deep: Costs = {
        tuple(Frame(f"f{n}-{depth}") for depth in range(DEEPEST)): 1.0 for n in range(2 * MOST_FRAMES // DEEPEST)
    }
    folded = fold(deep)
    assert len(folded.frames) <= MOST_FRAMES
    assert sum(stack.cost for stack in folded.stacks) == pytest.approx(len(deep))


def test_a_deep_stack_is_shortened_in_its_middle() -> None:
    folded = fold({tuple(Frame(f"f{n}") for n in range(1000)): 1.0})
    (stack,) = folded.stacks
    assert len(stack.frames) == DEEPEST
    assert folded.frames[stack.frames[0]].function == "f0"
    assert folded.frames[stack.frames[-1]].function == "f999"


def test_names_are_short_and_plain() -> None:
    folded = fold({(Frame("x" * 10_000, "a/" * 1000), Frame("evil\x1b[31m\n", "")): 1.0})
    assert all(len(frame.function) <= LONGEST and len(frame.file) <= LONGEST for frame in folded.frames)
    assert not any(character in frame.function for frame in folded.frames for character in "\x1b\n")


def test_methods_of_a_template_stay_apart_in_long_names() -> None:
    owner = f"std::map<{'std::vector<long>, ' * 50}long>"
    folded = fold({(Frame(f"{owner}::find(long)"),): 1.0, (Frame(f"{owner}::insert(long)"),): 1.0})
    assert sorted(frame.function.rpartition("::")[2] for frame in folded.frames) == ["find(long)", "insert(long)"]


def test_nothing_is_refused() -> None:
    empty: list[Costs] = [{}, {(Frame("main"),): 0.0}]
    for costs in empty:
        with pytest.raises(OutputError):
            fold(costs)
