"""Result files of other tools: which ones arguments name, and whose values they hold -> measurements."""

from __future__ import annotations

import glob
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from gate.checkout import run_git, top_of
from gate.evidence.lines import Inputs, Located
from gate.formats.parts.reading import (
    OTHERS,
    Reading,
    columns,
    is_result,
    named_alike,
    read,
    recognised,
    why_unknown,
    without_copies,
)
from gate.formats.parts.result import FailedResult, ProcessValues, ToolAggregate
from gate.formats.parts.source import Source
from gate.model import SIDES, Commit, Execution, Failure, Record, Run, Side, SummaryRecord, UserError
from gate.model.names import COUNTS
from gate.model.warnings import AnyWarning
from gate.model.warnings.base import Said
from gate.walking import walk
from gate.writing.phrases import listed
from gate.writing.plain import visible
from gate.writing.units import plural

STDIN = "-"
_GIT = "git:"
_RUN = "measurements.jsonl"
_MOST_FILES = 2000
_LABEL = re.compile(r"([^/\\=:*?]+)=(.+)", re.DOTALL)


Named = tuple[str | None, Source]
"""What stands before "=" (None: nothing does), and the source that it names."""


def named(arguments: Sequence[str], among: Sequence[str] | None = None) -> list[Named]:
    """Find the sources that arguments name, in their order.

    Each is a file, a folder, "-" for standard input, or "git:REF:PATH" for a file as a commit has it, with "LABEL=" in
    front of it if the user wants. "LABEL=" also takes a glob, which the shell leaves alone behind it.

    among: all arguments, of which these are some; "git:REF" is the same file as one of them names.

    Raises:
        UserError: a file that is not there, a glob that matches nothing, standard input twice, or a commit without it.
    """
    found: list[Named] = []
    for argument in arguments:
        label, place = labelled(argument)
        if place == STDIN:
            sources = [standard_input()[1]]
        elif place.startswith(_GIT):
            sources = _kept(place, among or arguments)
        elif not Path(place).exists() and any(c in place for c in "*?["):
            files = sorted(glob.glob(place, recursive=True))  # noqa: PTH207  # the pattern may be absolute
            if not files:
                raise UserError(f"{place}: no file matches")
            sources = [Source(file, Path(file)) for file in files]
        elif not Path(place).exists():
            raise UserError(f"{place}: no such file or folder")
        else:
            sources = _inside(place) if Path(place).is_dir() else [Source(place, Path(place))]
        found += [(label, source) for source in sources]
    if sum(source.path is None for _, source in found) > 1:
        raise UserError("only one of the files can come from standard input")
    return found


def standard_input(data: bytes | None = None) -> Named:
    """Name standard input as a source; data: what it holds, where it was read already."""
    return None, Source("standard input", None, data)


def first_unknown(found: Sequence[Named]) -> Source | None:
    """Return the first source that is in no format that is known."""
    return next((source for _, source in found if recognised(source) is None), None)


def unknown_error(source: Source) -> UserError:
    """Return the error that says why a source is in no format that is known."""
    return UserError(f"{source.name}: {why_unknown(source)}")


def labelled(argument: str) -> tuple[str | None, str]:
    """Take the label from the front of an argument, if it has one."""
    match = _LABEL.fullmatch(argument)
    return (match[1], match[2]) if match and not Path(argument).exists() else (None, argument)


def is_plain(argument: str) -> bool:
    """Return whether an argument names a file by its path alone: no label, no commit, no glob."""
    return not (argument.startswith(_GIT) or _LABEL.fullmatch(argument) or any(c in argument for c in "*?["))


def _inside(folder: str) -> list[Source]:
    """Give a folder that one tool wrote as a whole, otherwise the result files below it in the order of their names."""
    whole = Source(folder, Path(folder))
    if recognised(whole) is not None:
        return [whole]
    files = sorted(file for at, _, names in walk(folder) for name in names if (file := Path(at, name)).is_file())
    if len(files) > _MOST_FILES:
        raise UserError(f"{folder}: has more than {_MOST_FILES:,} files: name the result files in it")
    found = [source for file in files if is_result(source := Source(str(file), file))]
    if not found:
        raise UserError(
            f"{folder}: has no measurements.jsonl, nor a result file in a format that perfgate knows: {OTHERS}"
        )
    return without_copies(found)


def _kept(place: str, all_: Sequence[str]) -> list[Source]:
    """Read a file, or the results in a folder, as a commit has them; without a path that of the other arguments."""
    ref, _, path = place.removeprefix(_GIT).partition(":")
    if not path:
        others = [labelled(other)[1] for other in all_]
        files = [other for other in others if other != STDIN and not other.startswith(_GIT)]
        if not files:
            raise UserError(f"{place}: names no file: write {_GIT}{ref}:PATH, with the path in the repository")
        path = files[0]
    name = f"{_GIT}{ref}:{path}"
    # "./" is the folder that the user is in, not the top of the repository
    blob = f"{ref}:{path if Path(path).is_absolute() else f'./{path}'}"
    if _git(name, "cat-file", "-t", blob).strip() != b"tree":
        return [Source(name, Path(path), _git(name, "cat-file", "blob", blob))]
    listed = _git(name, "ls-tree", "-r", "-z", "--name-only", ref, "--", f"{path}/").decode("utf-8", "surrogateescape")
    files = [file for file in listed.split("\0") if file]
    # the folder of a run stands for its measurements, as on disk
    run = [file for file in files if Path(file) == Path(path, _RUN)]
    sources = [
        Source(f"{_GIT}{ref}:{f}", Path(f), _git(name, "cat-file", "blob", f"{ref}:./{f}")) for f in run or files
    ]
    if run:
        return sources
    found = [source for source in sources if is_result(source)]
    if not found:
        raise UserError(f"{name}: has no result file in a format that perfgate knows: {OTHERS}")
    return without_copies(found)


def _git(name: str, *arguments: str) -> bytes:
    here = Path.cwd().resolve()
    top = top_of(here)
    if top is None:
        raise UserError(f"{name}: not in a git repository: run it in a checkout")
    try:
        done = run_git(top, here, *arguments)
    except UserError as error:
        raise UserError(f"{name}: {error}") from None
    if done.returncode:
        why = done.stderr.decode("utf-8", "replace").strip().removeprefix("fatal: ").partition("\n")[0]
        raise UserError(f"{name}: {visible(why)}")
    return done.stdout


# --- what they hold ---------------------------------------------------------------------------------------------------


Level = Literal["session", "build", "execution"]
"""What each file is a repetition of: by itself a file is one build."""
_LINE = 100_000
"""Values of a line of measurements."""
Placed = tuple[Side, Reading]
"""A file, and whose measuring it is."""


def imported(
    files: Sequence[Named], *, side: Side | None = None, level: Level = "build", wanted: str | None = None
) -> Inputs:
    """Read result files as builds of base and head; the warnings are of what nobody said but was assumed.

    A file's label is its side. Without labels, the first of two files is base and the second head; of a file with
    several measurings the last is head and the one before it base; a single file is head.

    side: of all files that have no label. level: what each file is a repetition of. wanted: the format of all files;
    None: each is recognised.

    Raises:
        UserError: a file that cannot be read or is named twice, a label that is no side, or files of which nobody says
            the side.
    """
    by_place: dict[str, list[Named]] = {}
    for label, source in files:
        name, path = source.name, source.path
        at = name if path is None or name.startswith("git:") else str(path.resolve())
        by_place.setdefault(at, []).append((label, source))
    labels = [{label for label, _ in own} for own in by_place.values()]
    # the same files on both sides are found by their values; otherwise two builds would come from one
    halves = len(files) == 2 * len(by_place) and (all(own == set(SIDES) for own in labels) or len(files) == 2)
    twice = next((own for own in by_place.values() if len(own) > 1), None)
    if twice and not halves:
        how = "twice" if len(dict(twice)) == 1 else "for base and for head"
        only = "each file is a build of its own, of one side; does a glob match too much?"
        raise UserError(f"{twice[0][1].name}: is named {how}: {only}")
    for label, source in files:
        if label not in (None, *SIDES):
            raise UserError(f"{label}={source.name}: a side is base or head: write base=FILE or head=FILE")
    readings = named_alike([read(source, wanted) for _, source in files])
    sides: list[Side | None] = [next((own for own in SIDES if own == label), None) or side for label, _ in files]
    placed, assumed = _placed(readings, sides)
    located = [
        Located(record, reading.name, number)
        for (_, reading), records in zip(placed, lines(placed, level), strict=True)
        for number, record in enumerate(records, 1)
    ]
    return Inputs(located, [*assumed, *left_out(readings)], [])


def left_out(readings: Sequence[Reading]) -> list[Said]:
    """Say what looks like a result in files, and was left out or read in part."""
    found = [(reading.name, each) for reading in readings for each in reading.left_out]
    more = f"; and {plural(len(found) - 1, 'more such line')}" if len(found) > 1 else ""
    return [Said(f"{found[0][0]}: {found[0][1]}{more}", "lines-left-out", "first")] if found else []


def _placed(readings: Sequence[Reading], sides: Sequence[Side | None]) -> tuple[list[Placed], list[AnyWarning]]:
    assumed: list[AnyWarning] = []
    if len(readings) == 1 and sides[0] is None:
        own = list(columns(readings[0]))
        if len(own) > 1:
            (old, base), (new, head) = own[-2:]
            key = readings[0].format.column
            taken = f"the {key} {old!r} was taken as base and {new!r} as head, its last two"
            return [("base", base), ("head", head)], [
                Said(f"of {readings[0].name} {taken}", "columns-of-file", "first")
            ]
        return [("head", readings[0])], []
    if None in sides:
        if len(readings) != 2 or sides != [None, None]:
            names = ", ".join(r.name for r, side in zip(readings, sides, strict=True) if side is None)
            raise UserError(f"{names}: of base or of head? write base=FILE or head=FILE for each file")
        sides = list(SIDES)
        taken = f"{readings[0].name} was taken as base and {readings[1].name} as head"
        assumed.append(Said(f"{taken}: write base=FILE and head=FILE to say otherwise", "sides-by-order", "first"))
    # of several measurings in a file the newest
    return [(side, [*columns(own)][-1][1]) for side, own in zip(sides, readings, strict=True) if side], assumed


def lines(files: Sequence[Placed], level: Level = "build") -> Iterator[Sequence[Record]]:
    """Write files as lines of measurements, a run line and its values for each file.

    A process of a file is an execution; the files of a side are its builds, sessions or further executions. Nothing
    says that base and head took turns, so no round has both.
    """
    commits: dict[Side, Commit | None] = {}
    for side in SIDES:
        # what a side's files measured, where they agree
        readings = [reading for own, reading in files if own == side]
        found = {reading.about.commit for reading in readings}
        names = list(dict.fromkeys(reading.name for reading in readings))
        ref = listed(names)
        sha, dirty = found.pop() if len(found) == 1 else None, any(reading.about.dirty for reading in readings)
        commits[side] = Commit(ref=ref, sha=sha, dirty=dirty) if readings else None
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
        own: list[ProcessValues | FailedResult] = [*reading.measured, *reading.failed]
        begins[side] = begin + 1 + max((r.execution for r in own), default=0)


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
    def settings(each: ProcessValues | ToolAggregate | FailedResult) -> dict[str, Any]:
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
        yield SummaryRecord(
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
