from collections.abc import Sequence

import msgspec
import pytest

from gate.evidence.gather import iteration_warnings
from gate.model import FEWEST_FOR_STEADY, Execution, Metric, Side
from gate.model.warnings.measured import NotSteady, Outlived, ValuesShort
from harness.instruments.steady import steady_from


def executions(side: Side, states: Sequence[bool | None], values: int = 30) -> list[Execution]:
    metrics = [
        {"time": Metric(unit="s", values=[1.0] * values, steady=state), "memory": Metric(unit="B", values=[1.0])}
        for state in states
    ]
    return [Execution(benchmark="b", side=side, build=0, execution=e, metrics=m) for e, m in enumerate(metrics)]


@pytest.mark.parametrize(
    ("base", "head", "said"),
    [
        ([True, False, False, True], [False, True], NotSteady(2, 1, 6, None)),
        ([True], [True, False], NotSteady(0, 1, 3, None)),
        ([False, True], [True, None], NotSteady(1, 0, 3, None)),
    ],
)
def test_says_how_many_of_which_side(base: list[bool | None], head: list[bool | None], said: NotSteady) -> None:
    found = [*executions("base", base), *executions("head", head)]
    assert iteration_warnings(found, "time", 0) == [said]
    # it is said of one metric
    assert iteration_warnings(found, "memory", 0) == []


@pytest.mark.parametrize("states", [[True, True], [None, None], [None, True]])
def test_silent_where_all_are_steady_or_none_was_looked_for(states: list[bool | None]) -> None:
    assert iteration_warnings([*executions("base", states), *executions("head", states)], "time", 0) == []


def test_says_where_there_were_too_few_values_to_tell() -> None:
    assert steady_from([1.0] * (FEWEST_FOR_STEADY - 1)) is None
    assert steady_from([1.0] * FEWEST_FOR_STEADY) == 0
    short = executions("base", [False], FEWEST_FOR_STEADY - 1)
    assert iteration_warnings(short, "time", 0) == [NotSteady(1, 0, 1, FEWEST_FOR_STEADY)]
    some = iteration_warnings([*short, *executions("head", [False], FEWEST_FOR_STEADY)], "time", 0)
    assert some == [NotSteady(1, 1, 2, None)]


@pytest.mark.parametrize(
    ("base", "head", "said"),
    [
        ([10, 9, 10], [10, 10, 3], ValuesShort(1, 1, 6, 10)),
        ([10, 10], [10, 4], ValuesShort(0, 1, 4, 10)),
        # by the clock, or always as many as it likes
        ([8, 9, 7], [8, 12], None),
        ([1, 1], [1, 1], None),
        ([10, 11], [10, 10], None),
        # those of the other side tell nothing: head may have fewer to measure
        ([10, 10], [9, 9], None),
    ],
)
def test_fewer_values_than_asked_for(base: list[int], head: list[int], said: ValuesShort | None) -> None:
    counts: dict[Side, list[int]] = {"base": base, "head": head}
    found = [e for side, numbers in counts.items() for n in numbers for e in executions(side, [None], n)]
    assert iteration_warnings(found, "time", 10) == ([said] if said else [])


def test_a_steady_state_leaves_fewer_values() -> None:
    assert iteration_warnings([*executions("base", [True], 10), *executions("base", [True], 4)], "time", 10) == []


def test_says_of_how_many_something_went_on() -> None:
    base, head = executions("base", [None, None]), executions("head", [None, None, None])
    assert iteration_warnings([*base, *head], "time", 1) == []
    late = [msgspec.structs.replace(each, outlived=each.execution > 0) for each in head]
    assert iteration_warnings([*base, *late], "time", 1) == [Outlived(0, 2, 5)]
