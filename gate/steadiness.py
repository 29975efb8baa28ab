"""What measurements say about steady states, where they were looked for."""

from __future__ import annotations

from collections.abc import Sequence

from gate.model import FEWEST_FOR_STEADY, SIDES, Execution


def steady_warning(executions: Sequence[Execution], metric: str) -> str | None:
    """Say how many executions of a case reached no steady state; None where all did, or none was looked for.

    executions: of both sides, all with values of the metric.
    """
    measured = [(e.side, e.metrics[metric]) for e in executions if e.metrics[metric].steady is not None]
    never = [(side, values) for side, values in measured if not values.steady]
    if not never:
        return None
    by_side = " and ".join(f"{count} of {side}" for side in SIDES if (count := sum(s == side for s, _ in never)))
    said = f"{len(never)} of {len(measured)} executions reached no steady state ({by_side}): all their values count"
    if all(len(values.values) < FEWEST_FOR_STEADY for _, values in never):
        said += f"; fewer than {FEWEST_FOR_STEADY} values cannot show one"
    return said
