"""What is said of the iterations of executions: not steady, too few, or something that outlived them."""

from collections.abc import Sequence

import msgspec
import pytest

from gate.evidence.doubtful import iteration_warnings
from gate.model import FEWEST_FOR_STEADY, Execution, Metric, Side
from gate.model.warnings.measured import ClockStood, Outlived
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
        (
            [True, False, False, True],
            [False, True],
            "3 of 6 starts reached no steady state (2 of base and 1 of head): all their values count",
        ),
        ([True], [True, False], "1 of 3 starts reached no steady state (1 of head): all their values count"),
        ([False, True], [True, None], "1 of 3 starts reached no steady state (1 of base): all their values count"),
        ([True, True], [True, True], None),
        # none was looked for
        ([None, None], [None, True], None),
    ],
)
def test_how_many_are_not_steady(base: list[bool | None], head: list[bool | None], said: str | None) -> None:
    found = [*executions("base", base), *executions("head", head)]
    assert [each.sentence() for each in iteration_warnings(found, "time", 0)] == ([said] if said else [])
    # it is said of one metric
    assert iteration_warnings(found, "memory", 0) == []


def test_too_few_values_to_tell_and_what_went_on() -> None:
    assert steady_from([1.0] * (FEWEST_FOR_STEADY - 1)) is None
    assert steady_from([1.0] * FEWEST_FOR_STEADY) == 0
    short = executions("base", [False], FEWEST_FOR_STEADY - 1)
    (few,) = iteration_warnings(short, "time", 0)
    assert few.sentence().endswith(f"; fewer than {FEWEST_FOR_STEADY} values cannot show one")
    some = iteration_warnings([*short, *executions("head", [False], FEWEST_FOR_STEADY)], "time", 0)
    assert [each.sentence().partition(" (")[0] for each in some] == ["2 of 2 starts reached no steady state"]
    assert some[0].sentence().endswith("all their values count")
    base, head = executions("base", [None, None]), executions("head", [None, None, None])
    late = [msgspec.structs.replace(each, outlived=each.execution > 0) for each in head]
    assert iteration_warnings([*base, *head], "time", 1) == []
    assert iteration_warnings([*base, *late], "time", 1) == [Outlived(0, 2, 5)]
    for seconds, said in ((0.5, [ClockStood(0.25)]), (0.1, [])):
        stood = [msgspec.structs.replace(each, waited=seconds, seconds=2.0) for each in head]
        assert iteration_warnings([*base, *stood], "time", 1) == said


@pytest.mark.parametrize(
    ("base", "head", "state", "said"),
    [
        (
            [10, 9, 10],
            [10, 10, 3],
            None,
            "2 of 6 starts gave fewer than the 10 values asked for (1 of base and 1 of head), ",
        ),
        ([10, 10], [10, 4], None, "1 of 4 starts gave fewer than the 10 values asked for (1 of head), "),
        # by the clock, or always as many as it likes
        ([8, 9, 7], [8, 12], None, None),
        ([1, 1], [1, 1], None, None),
        ([10, 11], [10, 10], None, None),
        # those of the other side tell nothing: head may have fewer to measure
        ([10, 10], [9, 9], None, None),
        # a steady state leaves fewer
        ([10, 4], [], True, None),
    ],
)
def test_fewer_values_than_asked_for(base: list[int], head: list[int], state: bool | None, said: str | None) -> None:
    counts: dict[Side, list[int]] = {"base": base, "head": head}
    found = [e for side, numbers in counts.items() for n in numbers for e in executions(side, [state], n)]
    told = [each.sentence() for each in iteration_warnings(found, "time", 10)]
    assert [each.startswith(said or "?") for each in told] == ([True] if said else [])
