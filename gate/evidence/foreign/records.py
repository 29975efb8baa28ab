"""What result files say -> lines of measurements: which side, session, build and execution each value is of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec

from gate.formats.parts.reading import Reading
from gate.formats.parts.result import Aggregate, Failed, Measured
from gate.model import Commit, Execution, Failure, Metric, Record, Run, Side, Unsampled
from gate.model.names import COUNTS
from gate.writing.plain import visible

Level = Literal["session", "build", "execution"]
"""What each file is a repetition of: by itself a file is one build."""


_LINE = 100_000
"""Values of a line of measurements."""
_NAMED = 3
"""Files of a side that its name lists."""


class Placed(msgspec.Struct, frozen=True, eq=False):
    """A file, and whose measuring it is."""

    side: Side
    reading: Reading


def lines(files: Sequence[Placed], level: Level = "build") -> Iterator[Sequence[Record]]:
    """Write files as lines of measurements, a run line and its values for each file.

    A process of a file is an execution; the files of a side are its builds, sessions or further executions. Nothing
    says that base and head took turns, so no round has both.
    """
    commits = {side: _commit([f.reading for f in files if f.side == side]) for side in ("base", "head")}
    factors = distinguishing([f.reading for f in files])
    sides: dict[Side, list[Reading]] = {"base": [], "head": []}
    begins: dict[Side, int] = {"base": 0, "head": 0}
    for file in files:
        at, reading = len(sides[file.side]), file.reading
        sides[file.side].append(reading)
        run = Run(
            created=reading.about.created,
            base=commits["base"],
            head=commits["head"],
            host=reading.about.host or None,
            sessions=max(sum(f.side == side for f in files) for side in ("base", "head"))
            if level == "session"
            else None,
            apart=True,
            tools=[reading.about.tool or reading.format.tool],
        )
        place = {"session": at if level == "session" else 0, "build": at if level == "build" else 0}
        begin = begins[file.side] if level == "execution" else 0
        yield [run, *_values(file, place, begin, factors)]
        own: list[Measured | Failed] = [*reading.measured, *reading.failed]
        begins[file.side] += 1 + max((r.execution for r in own), default=0)


def _commit(readings: Sequence[Reading]) -> Commit | None:
    """Name what a side's files measured, where they agree."""
    found = {reading.about.commit for reading in readings}
    commit = found.pop() if len(found) == 1 else None
    names = list(dict.fromkeys(reading.name for reading in readings))
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    dirty = any(reading.about.dirty for reading in readings)
    return Commit(ref=f"{', '.join(names[:_NAMED])}{more}", sha=commit, dirty=dirty) if readings else None


def distinguishing(readings: Iterable[Reading]) -> dict[str, list[str]]:
    """Find the labels that tell several values of one name in one process apart: label names by benchmark."""
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for reading in readings:
        groups: dict[tuple[object, ...], list[Mapping[str, str]]] = defaultdict(list)
        for each in reading.measured:
            for metric in each.metrics:
                groups[each.benchmark, metric, each.execution].append(each.labels)
        for one in reading.aggregates:
            groups[one.benchmark, one.metric, one.statistic, one.execution].append(one.labels)
        failed: dict[tuple[object, ...], list[Mapping[str, str]]] = defaultdict(list)
        for each_failed in reading.failed:
            failed[each_failed.benchmark, each_failed.execution].append(each_failed.labels)
        for key, measured in groups.items():
            # what failed has no metric, and is none of those that gave values
            labels = [*measured, *failed.get((key[0], key[-1]), ())]
            if len(labels) > 1:
                names = dict.fromkeys(name for each in labels for name in each)
                found[str(key[0])] |= {n: None for n in names if len({each.get(n) for each in labels}) > 1}
    return {benchmark: list(names) for benchmark, names in found.items()}


def _by_line(metrics: dict[str, Metric]) -> list[dict[str, Metric]]:
    """Give each metric a line of its own where together they would make one of many megabytes."""
    if sum(len(metric.values) for metric in metrics.values()) <= _LINE:
        return [metrics]
    return [{name: metric} for name, metric in metrics.items()]


def _counted(metric: Metric) -> Metric:
    """Mark counts and sizes, which need no clock."""
    return msgspec.structs.replace(metric, exact=True) if metric.unit in COUNTS and not metric.exact else metric


def _values(
    file: Placed, place: Mapping[str, int], begin: int, factors: Mapping[str, Sequence[str]]
) -> Iterator[Record]:
    reading, side = file.reading, file.side

    def settings(each: Measured | Aggregate | Failed) -> dict[str, Any]:
        names = factors.get(each.benchmark or "", ())
        return {name: each.labels[name] for name in names if name in each.labels}

    taken: set[tuple[object, ...]] = set()
    for each in reading.measured:
        execution, own = begin + each.execution, settings(each)
        # what nothing tells apart came from one process after the other
        while any((each.benchmark, m, str(own), execution) in taken for m in each.metrics):
            execution += 1
        taken |= {(each.benchmark, m, str(own), execution) for m in each.metrics}
        for metrics in _by_line({name: _counted(metric) for name, metric in each.metrics.items()}):
            yield Execution(
                benchmark=each.benchmark, side=side, session=place["session"], build=place["build"],
                execution=execution, factors=own, metrics=metrics, labels=each.labels,
            )  # fmt: skip
    for one in reading.aggregates:
        execution, own = begin + one.execution, settings(one)
        while (one.benchmark, one.metric, one.statistic, str(own), execution) in taken:
            execution += 1
        taken.add((one.benchmark, one.metric, one.statistic, str(own), execution))
        yield Unsampled(
            benchmark=one.benchmark, side=side, session=place["session"], build=place["build"],
            execution=execution, factors=own, metric=one.metric, statistic=one.statistic,
            value=one.value, unit=one.unit, better=one.better, low=one.low, high=one.high, confidence=one.confidence,
            sd=one.sd, step=one.step, count=None if one.count is None else int(one.count), labels=one.labels,
        )  # fmt: skip
    for failed in reading.failed:
        yield Failure(
            kind="execution", benchmark=failed.benchmark, side=side, session=place["session"], build=place["build"],
            execution=begin + failed.execution, factors=settings(failed), status=failed.status, stderr=failed.stderr,
            hint=f"in {visible(reading.name)}",
        )  # fmt: skip
