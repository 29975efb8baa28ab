"""What result files say -> lines of measurements: which side, session, build and execution each value is of."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec

from gate.formats.parts.reading import Reading
from gate.formats.parts.result import Aggregate, Failed, Measured
from gate.model import SIDES, Commit, Execution, Failure, Record, Run, Side, Unsampled
from gate.model.names import COUNTS
from gate.writing.plain import visible

Level = Literal["session", "build", "execution"]
"""What each file is a repetition of: by itself a file is one build."""


_LINE = 100_000
"""Values of a line of measurements."""
_NAMED = 3
"""Files of a side that its name lists."""


Placed = tuple[Side, Reading]
"""A file, and whose measuring it is."""


def lines(files: Sequence[Placed], level: Level = "build") -> Iterator[Sequence[Record]]:
    """Write files as lines of measurements, a run line and its values for each file.

    A process of a file is an execution; the files of a side are its builds, sessions or further executions. Nothing
    says that base and head took turns, so no round has both.
    """
    commits = {side: _commit([reading for own, reading in files if own == side]) for side in SIDES}
    factors = _distinguishing([reading for _, reading in files])
    counts, begins = dict[Side, int](), dict[Side, int]()
    for side, reading in files:
        at, begin = counts.get(side, 0), begins.get(side, 0)
        counts[side] = at + 1
        run = Run(
            created=reading.about.created, base=commits["base"], head=commits["head"], host=reading.about.host or None,
            sessions=max(Counter(own for own, _ in files).values()) if level == "session" else None, apart=True,
            tools=[reading.about.tool or reading.format.tool],
        )  # fmt: skip
        place = {"session": at if level == "session" else 0, "build": at if level == "build" else 0}
        yield [run, *_values(side, reading, place, begin if level == "execution" else 0, factors)]
        own: list[Measured | Failed] = [*reading.measured, *reading.failed]
        begins[side] = begin + 1 + max((r.execution for r in own), default=0)


def _commit(readings: Sequence[Reading]) -> Commit | None:
    """Name what a side's files measured, where they agree."""
    found = {reading.about.commit for reading in readings}
    commit = found.pop() if len(found) == 1 else None
    names = list(dict.fromkeys(reading.name for reading in readings))
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    dirty = any(reading.about.dirty for reading in readings)
    return Commit(ref=f"{', '.join(names[:_NAMED])}{more}", sha=commit, dirty=dirty) if readings else None


Labels = Mapping[str, str]


def distinguishing(groups: Mapping[tuple[object, ...], Sequence[Labels]]) -> dict[str, list[str]]:
    """Name the labels that differ within a group of values of one name in one process, by benchmark.

    groups: the labels of such values, by keys of which the benchmark is the first.
    """
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for key, labels in groups.items():
        if len(labels) > 1:
            names = dict.fromkeys(name for each in labels for name in each)
            found[str(key[0])] |= {n: None for n in names if len({each.get(n) for each in labels}) > 1}
    return {benchmark: list(names) for benchmark, names in found.items()}


def _distinguishing(readings: Iterable[Reading]) -> dict[str, list[str]]:
    found: dict[tuple[object, ...], list[Labels]] = defaultdict(list)
    for number, reading in enumerate(readings):
        own: dict[tuple[object, ...], list[Labels]] = defaultdict(list)
        failed: dict[tuple[object, ...], list[Labels]] = defaultdict(list)
        for each in reading.measured:
            for metric in each.metrics:
                own[each.benchmark, metric, "", each.execution].append(each.labels)
        for one in reading.aggregates:
            own[one.benchmark, one.metric, one.statistic, one.execution].append(one.labels)
        for lost in reading.failed:
            failed[lost.benchmark, lost.execution].append(lost.labels)
        # what failed has no metric, and is none of those that gave values
        found |= {(*key, number): [*labels, *failed.get((key[0], key[-1]), ())] for key, labels in own.items()}
    return distinguishing(found)


def numbered_anew(
    taken: set[tuple[object, ...]], place: tuple[object, ...], values: Iterable[object], number: int
) -> int:
    """Give values the first number from theirs on that none of them has yet: nothing tells them apart.

    taken: what has which number at which place, also these from now on.
    """
    own = list(values)
    while any((place, each, number) in taken for each in own):
        number += 1
    taken.update((place, each, number) for each in own)
    return number


def _values(
    side: Side, reading: Reading, place: Mapping[str, int], begin: int, factors: Mapping[str, Sequence[str]]
) -> Iterator[Record]:
    def settings(each: Measured | Aggregate | Failed) -> dict[str, Any]:
        names = factors.get(each.benchmark or "", ())
        return {name: each.labels[name] for name in names if name in each.labels}

    taken: set[tuple[object, ...]] = set()
    for each in reading.measured:
        own = settings(each)
        execution = numbered_anew(taken, (each.benchmark, str(own)), each.metrics, begin + each.execution)
        # counts and sizes need no clock
        marked = {
            name: msgspec.structs.replace(metric, exact=True) if metric.unit in COUNTS and not metric.exact else metric
            for name, metric in each.metrics.items()
        }
        # together in a line, or each in its own where that would have many megabytes
        is_long = sum(len(metric.values) for metric in marked.values()) > _LINE
        for metrics in [{name: metric} for name, metric in marked.items()] if is_long else [marked]:
            yield Execution(
                benchmark=each.benchmark, side=side, session=place["session"], build=place["build"],
                execution=execution, factors=own, metrics=metrics, labels=each.labels,
            )  # fmt: skip
    for one in reading.aggregates:
        own, what = settings(one), (one.metric, one.statistic)
        execution = numbered_anew(taken, (one.benchmark, str(own)), [what], begin + one.execution)
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
