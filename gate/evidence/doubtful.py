"""Values that raise a doubt: the same twice, which was read and not measured; not steady, or fewer than asked for."""

from __future__ import annotations

import hashlib
import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from typing import Literal

from gate.config.rules import decides, is_exact
from gate.config.types import Config
from gate.model import SIDES, Execution, Failure, Record, Side, SummaryRecord
from gate.model.bounds import COARSE
from gate.model.case import CaseId, canonical
from gate.model.names import COUNTS, FEWEST_FOR_STEADY
from gate.model.warnings import AnyWarning
from gate.model.warnings import measured as warn
from gate.model.warnings.base import Said
from gate.writing.units import plural, to_base

FEWEST = 5
"""Distinct values that a series needs: fewer may well come twice out of a coarse timer or a count."""
_CHANCE = math.log(1e-6)
"""Above it, so many equal series may be chance: a timer of few ticks gives short series twice."""
_ROUNDING = 1e-9
"""Two formats of one run give a value with other last digits."""
_Series = tuple[float, ...]


# --- one side twice ---------------------------------------------------------------------------------------------------


def alike(lines: Sequence[Record], config: Config) -> Literal["same", "perhaps"] | None:
    """Return whether base has the very benchmarks and values of head, in whatever order.

    "same": at least FEWEST different values, so that it is one measurement under two names. "perhaps": fewer, which a
    coarse timer gives too. Exact metrics do not count, since two measurements agree in them, nor does one of two ticks.
    None: the sides differ in anything, or have exact metrics alone.
    """
    common = different = 0
    for case, parts in _by_case(lines).items():
        # their sums first, which need no order and no room: most sides differ in them
        if not _close(*(math.fsum(chain(*(values for values, _ in parts[side]))) for side in SIDES)):
            return None
        base, head = (sorted(chain(*(values for values, _ in parts[side]))) for side in SIDES)
        if len(base) != len(head) or not all(map(_close, base, head)):
            return None
        exact = all(of_count for _, of_count in parts["base"])
        if (exact and base[0] == base[-1]) or is_exact(config, case.benchmark, case.metric):
            continue
        common, several = common + 1, len(set(base))
        if several > _TICKS or several == len(base):
            different += several
    return None if not common else "same" if different >= FEWEST else "perhaps"


_TICKS = 2
"""Values between which a coarse timer changes by chance."""


_Part = tuple[Sequence[float], bool]
"""Values in base units, and whether they may be a count, as they are where they never differ."""


def _by_case(lines: Sequence[Record]) -> dict[CaseId, dict[Side, list[_Part]]]:
    """Collect values by case and side; statistics of another tool, and failures, are cases of their own."""
    found: dict[CaseId, dict[Side, list[_Part]]] = defaultdict(lambda: {side: [] for side in SIDES})
    for line in lines:
        factors = canonical(line.factors) if isinstance(line, (Execution, SummaryRecord, Failure)) else ""
        if isinstance(line, Failure):
            for side in SIDES if line.side is None else [line.side]:
                found[CaseId(line.benchmark or "", "", factors, line.kind)][side].append(([0.0], True))
        elif isinstance(line, SummaryRecord):
            unit, scale = to_base(line.unit)
            case = CaseId(line.benchmark, line.metric, factors, line.statistic)
            found[case][line.side].append(([line.value * scale], unit in COUNTS))
        elif isinstance(line, Execution):
            for name, metric in line.metrics.items():
                if metric.values:
                    values = array("d", map(to_base(metric.unit)[1].__mul__, metric.values))
                    found[CaseId(line.benchmark, name, factors)][line.side].append((values, metric.exact))
    return found


def _close(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=_ROUNDING)


def one_measurement() -> Failure:
    """Return the failure of two sides that are one measurement."""
    return Failure(
        kind="repeated",
        status="base and head are the same measurements",
        hint="every value of head is one of base, too: name the results of two different runs; of a program whose "
        "values are always the same, say exact = true in [benchmark.metric.NAME]",
    )


# --- one execution twice ----------------------------------------------------------------------------------------------


def repeated(executions: Sequence[Execution], config: Config, *, by_side: bool = False) -> list[Failure]:
    """Return a failure for each execution whose values of a decided metric are, or begin with, those of another one.

    executions: in the order of measuring. A metric that is exact may repeat itself. by_side: both sides are known to be
    one measurement, so that only the executions of one side count.
    """
    measured: dict[tuple[str, str], list[Execution]] = defaultdict(list)
    for e in executions:
        for name, values in e.metrics.items():
            # counts of a result file may well be the same in every process
            if len(values.values) >= FEWEST and not values.exact:
                measured[e.benchmark, name].append(e)
    found: list[Failure] = []
    for (benchmark, metric), own in measured.items():
        if is_exact(config, benchmark, metric) or not decides(config, benchmark, metric, own[0].metrics[metric]):
            continue
        again = []
        first: dict[tuple[object, ...], Execution] = {}
        for e in own:
            series = e.metrics[metric]
            digest = hashlib.sha256(array("d", series.values)).digest()
            earlier = first.setdefault((series.unit, digest, e.side if by_side else None), e)
            if earlier is not e and len(set(series.values)) >= FEWEST:
                again.append((e, earlier))
        if again and _by_chance(len(again), benchmark, metric, executions):
            again = []
        again += _grown(own, metric, by_side=by_side)
        for e, earlier in again:
            begin = "are" if earlier.metrics[metric].values == e.metrics[metric].values else "begin with"
            session = f"session {earlier.session}, " if earlier.session or e.session else ""
            place = f"{session}build {earlier.build}, start {earlier.execution} of {earlier.side}"
            found.append(
                Failure(
                    kind="repeated", benchmark=e.benchmark, side=e.side, session=e.session, build=e.build,
                    execution=e.execution, factors=e.factors,
                    status=f"the same values of {metric} twice: was a file of an earlier run read?",
                    hint=f"they {begin} the values of {place}: each start must write its own file; a count that is "
                    f"always the same needs exact = true in [benchmark.metric.{metric}]",
                )
            )  # fmt: skip
    return found


def _grown(own: Sequence[Execution], metric: str, *, by_side: bool) -> Iterator[tuple[Execution, Execution]]:
    """Find series that begin with a whole shorter one, as those of a file that each execution appends to."""
    if len({len(e.metrics[metric].values) for e in own}) == 1:
        return
    # a series stands right behind one that it begins with, but for others that begin with it too
    ordered = sorted(own, key=lambda e: (e.side if by_side else "", e.metrics[metric].values))
    for e, longer in pairwise(ordered):
        values, beginning = e.metrics[metric].values, longer.metrics[metric].values[: len(e.metrics[metric].values)]
        grown = len(longer.metrics[metric].values) > len(values) and beginning == values
        steps = [second - first for first, second in pairwise(sorted(set(values)))]
        fine = grown and len(set(values)) >= FEWEST and min(steps) < COARSE * max(map(abs, values))
        if fine and not (by_side and e.side != longer.side):
            yield longer, e


def _by_chance(again: int, benchmark: str, metric: str, executions: Sequence[Execution]) -> bool:
    """Return whether so many equal series may come of a timer of few ticks.

    Two values of different series are equal with a share q of all such pairs, at one place of the series perhaps with
    a larger one (a trend, inputs of different cost), and so two series with the product of these over the places. So
    many of them, among all pairs of executions, are at most a Poisson tail. Doubles of a fine timer have no q.
    """
    measured = [e.metrics[metric].values for e in executions if e.benchmark == benchmark and metric in e.metrics]
    series: list[_Series] = [tuple(values) for values in measured if len(values) >= FEWEST]
    different = set(series)
    counts = Counter(value for own in different for value in own)
    total = sum(counts.values())
    equal = sum(count * (count - 1) for count in counts.values())
    within = sum(count * (count - 1) for own in different for count in Counter(own).values())
    pairs = total**2 - sum(len(own) ** 2 for own in different)
    if equal == within or not pairs:
        return False
    pooled, places = (equal - within) / pairs, len(different) * (len(different) - 1)
    expected = math.log(len(series) * (len(series) - 1) / 2)
    for values in zip(*different, strict=False):
        alike = sum(count * (count - 1) for count in Counter(values).values())
        # a pair more that is alike: of few different series, one place alone does not tell
        expected += math.log(max(pooled, (alike + 2) / (places + 2)))
    return again * expected - math.lgamma(again + 1) > _CHANCE


# --- starts that do not go as asked -----------------------------------------------------------------------------------


_WAITED = 0.1
"""A share of the time that a clock stood still, from which times differ from what a reader's own clock would show."""


def iteration_warnings(executions: Sequence[Execution], metric: str, asked: int) -> list[AnyWarning]:
    """Count executions that reached no steady state, gave fewer values than asked for, or left work behind.

    plan.iterations is a wish, and a program may measure by the clock. One of which other executions on the same side
    gave exactly what was asked for does not.

    executions: of both sides, all with values of the metric. asked: plan.iterations.
    """
    found: list[AnyWarning] = []
    of = {side: [(e, e.metrics[metric]) for e in executions if e.side == side] for side in SIDES}
    looked = [values for own in of.values() for _, values in own if values.steady is not None]
    never = {side: sum(values.steady is False for _, values in own) for side, own in of.items()}
    if any(never.values()):
        few = all(len(values.values) < FEWEST_FOR_STEADY for values in looked if not values.steady)
        more = f"; fewer than {plural(FEWEST_FOR_STEADY, 'value')} cannot show one" if few else ""
        some, sides = warn.some_starts(never["base"], never["head"], len(looked))
        found.append(Said(f"{some} reached no steady state ({sides}): all their values count{more}", "not-steady"))
    short = dict.fromkeys(SIDES, 0)
    for side, own in of.items():
        counts = [len(values.values) for _, values in own if values.steady is None]
        short[side] = sum(count < asked for count in counts) if asked in counts else 0
    if any(short.values()):
        some, sides = warn.some_starts(short["base"], short["head"], len(executions))
        cut = f"gave fewer than the {plural(asked, 'value')} asked for ({sides}), and others exactly as many"
        found.append(Said(f"{some} {cut}: was their output cut off?", "values-short", "first"))
    outlived = {side: sum(e.outlived for e, _ in own) for side, own in of.items()}
    if any(outlived.values()):
        found.append(warn.Outlived(outlived["base"], outlived["head"], len(executions)))
    told = [(e.waited, e.seconds) for e, _ in (*of["base"], *of["head"]) if e.waited is not None and e.seconds]
    waited = sum(own for own, _ in told) / sum(seconds for _, seconds in told) if told else 0.0
    if waited >= _WAITED:
        found.append(warn.ClockStood(min(1.0, waited)))
    return found
