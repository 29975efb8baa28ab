from collections.abc import Sequence

import pytest

from gate.evidence.gather import steady_warning
from gate.model import FEWEST_FOR_STEADY, Execution, Metric, Side
from gate.model.warnings.measured import NotSteady
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
    assert steady_warning(found, "time") == said
    # it is said of one metric
    assert steady_warning(found, "memory") is None


@pytest.mark.parametrize("states", [[True, True], [None, None], [None, True]])
def test_silent_where_all_are_steady_or_none_was_looked_for(states: list[bool | None]) -> None:
    assert steady_warning([*executions("base", states), *executions("head", states)], "time") is None


def test_says_where_there_were_too_few_values_to_tell() -> None:
    assert steady_from([1.0] * (FEWEST_FOR_STEADY - 1)) is None
    assert steady_from([1.0] * FEWEST_FOR_STEADY) == 0
    short = executions("base", [False], FEWEST_FOR_STEADY - 1)
    assert steady_warning(short, "time") == NotSteady(1, 0, 1, FEWEST_FOR_STEADY)
    some = steady_warning([*short, *executions("head", [False], FEWEST_FOR_STEADY)], "time")
    assert some == NotSteady(1, 1, 2, None)
