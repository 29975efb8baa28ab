"""Lines of aggregates -> one for each case and statistic, with both sides."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

from gate.config.rules import better_of
from gate.config.types import Config
from gate.directions import told_or_known
from gate.model import SIDES, Better, Side, Unsampled
from gate.model.case import canonical
from gate.model.evidence import Aggregate, Amount
from gate.units import to_base


def aggregates(lines: Sequence[Unsampled], config: Config) -> list[Aggregate]:
    """Bring the sides together; where they differ in unit or direction, each stands alone."""
    found: dict[tuple[str, str, str, str, str, Better | None], dict[Side, list[Unsampled]]]
    found = defaultdict(lambda: {side: [] for side in SIDES})
    for line in lines:
        unit, _ = to_base(line.unit)
        better = better_of(config, line.benchmark, line.metric) or told_or_known(line.better, line.metric, unit)
        key = line.benchmark, line.metric, line.statistic, canonical(line.factors), unit, better
        found[key][line.side].append(line)
    return [
        Aggregate(
            benchmark=benchmark,
            metric=metric,
            statistic=statistic,
            factors=[*sides["base"], *sides["head"]][0].factors,
            unit=unit,
            better=better,
            base=_amount(sides["base"]),
            head=_amount(sides["head"]),
        )
        for (benchmark, metric, statistic, _, unit, better), sides in found.items()
    ]


def _amount(lines: Sequence[Unsampled]) -> Amount | None:
    if not lines:
        return None
    scaled = [to_base(line.unit)[1] for line in lines]
    values = [line.value * scale for line, scale in zip(lines, scaled, strict=True)]
    low, high = (
        None if len(lines) > 1 or limit is None else limit * scaled[0] for limit in (lines[0].low, lines[0].high)
    )
    return Amount(
        value=math.fsum(values) / len(values),
        low=low,
        high=high,
        builds=len({(line.session, line.build) for line in lines}),
        executions=len(lines),
        count=sum(line.count or 0 for line in lines),
    )
