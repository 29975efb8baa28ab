"""What a case's executions tell beside their values: whether they are all there, steady, and all of the work."""

from __future__ import annotations

from collections.abc import Sequence

from gate.model import FEWEST_FOR_STEADY, SIDES, Execution
from gate.model.warnings import AnyWarning
from gate.model.warnings.measured import NotSteady, Outlived, ValuesShort


def iteration_warnings(executions: Sequence[Execution], metric: str, asked: int) -> list[AnyWarning]:
    """Warn of executions that reached no steady state, gave fewer values than asked for, or left work behind.

    Args:
        executions: of both sides, all with values of the metric.
        asked: plan.iterations.
    """
    found = (
        steady_warning(executions, metric), short_warning(executions, metric, asked), outlived_warning(executions),
    )  # fmt: skip
    return [each for each in found if each]


def outlived_warning(executions: Sequence[Execution]) -> Outlived | None:
    """Count the executions of which something went on after their command; None where there are none."""
    of = {side: sum(each.outlived for each in executions if each.side == side) for side in SIDES}
    return Outlived(of["base"], of["head"], len(executions)) if any(of.values()) else None


def short_warning(executions: Sequence[Execution], metric: str, asked: int) -> ValuesShort | None:
    """Count the executions with fewer values than asked for; None where there are none.

    plan.iterations is a wish, and a program may measure by the clock. One of which other executions on the same side
    gave exactly what was asked for does not.
    """
    short = dict.fromkeys(SIDES, 0)
    for side in SIDES:
        found = [each.metrics[metric] for each in executions if each.side == side]
        counts = [len(each.values) for each in found if each.steady is None]
        if asked in counts:
            short[side] = sum(count < asked for count in counts)
    return ValuesShort(short["base"], short["head"], len(executions), asked) if any(short.values()) else None


def steady_warning(executions: Sequence[Execution], metric: str) -> NotSteady | None:
    """Count how many executions of a case reached no steady state; None where all did, or none was looked for.

    Args:
        executions: of both sides, all with values of the metric.
    """
    measured = [(e.side, e.metrics[metric]) for e in executions if e.metrics[metric].steady is not None]
    never = [(side, values) for side, values in measured if not values.steady]
    if not never:
        return None
    of_base = sum(side == "base" for side, _ in never)
    few = all(len(values.values) < FEWEST_FOR_STEADY for _, values in never)
    return NotSteady(of_base, len(never) - of_base, len(measured), FEWEST_FOR_STEADY if few else None)
