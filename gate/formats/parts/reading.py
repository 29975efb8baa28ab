"""A source -> its format, and what it says; errors name the file."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import TypeVar

import msgspec

from gate.cli.command import result_formats
from gate.formats import adapter
from gate.formats.parts.json_text import documents
from gate.formats.parts.output import OutputError
from gate.formats.parts.result import (
    About,
    Adapter,
    FailedResult,
    Format,
    LeftOut,
    ProcessValues,
    ToolAggregate,
    checked,
    told_apart,
)
from gate.formats.parts.source import Source, guarded
from gate.model import UserError
from gate.writing.phrases import unread

OTHERS = "write the values of another tool as JSON lines, see docs/import.md"
"""What to do with a file in no format that is known."""
_OURS = re.compile(r'\{"type": ?"[a-z]')
"""How lines of measurements begin; other tools have types of their own."""
R = TypeVar("R", ProcessValues, ToolAggregate, FailedResult)
N = TypeVar("N", bound=ProcessValues | FailedResult)
_EXPORTS = (".json", ".jsonl", ".xml", ".csv", ".txt", ".log")
"""Ends of the names of a run's files, of which the first hold most."""
_QUOTES = (
    ".md", ".markdown", ".rst", ".adoc", ".html", ".ipynb",
    ".go", ".rs", ".py", ".java", ".kt", ".scala", ".cs", ".c", ".cc", ".cpp", ".cxx", ".h", ".hpp", ".ts", ".sh",
    ".yml", ".yaml", ".toml",
)  # fmt: skip
"""Ends of the names of texts and sources, which quote results of another day."""


class Reading(msgspec.Struct, frozen=True, eq=False):
    """All that a file says."""

    name: str
    """As the user named it."""
    format: Format
    about: About
    measured: list[ProcessValues]
    aggregates: list[ToolAggregate]
    failed: list[FailedResult]
    left_out: list[str]
    """Of what was left out or read in part, what and where."""

    @property
    def results(self) -> list[ProcessValues | ToolAggregate | FailedResult]:
        """What it says of benchmarks."""
        return [*self.measured, *self.aggregates, *self.failed]


def recognised(source: Source) -> str | None:
    """Return the name of the format of a source, by what it holds; None: it is in none that is known.

    JSON is recognised behind lines of a tool or a build, too.
    """
    found = _recognised(source)
    if found is not None or source.is_folder:
        return found
    try:
        inside = documents(source.head.text)
    except OutputError:
        return None
    parts = (Source(source.name, source.path, each.text.encode()) for each in inside)
    several = [each.text for each in inside] != [source.head.text.strip()]
    return next((name for part in parts if (name := _recognised(part)) is not None), None) if several else None


def _recognised(source: Source) -> str | None:
    return next((name for name in result_formats() if _recognises(adapter(name), source)), None)


def _recognises(own: Adapter, source: Source) -> bool:
    try:
        return own.recognises(source)
    except (UserError, OSError, MemoryError):
        raise
    except Exception:  # noqa: BLE001  # whatever the bytes lead to, they are of no file of the tool
        return False


def is_result(source: Source) -> bool:
    """Return whether a file of a folder is a result, and no README or source that quotes results."""
    quotes = source.path is not None and source.path.suffix.lower() in _QUOTES
    return not quotes and recognised(source) is not None


def without_copies(found: Sequence[Source]) -> list[Source]:
    """Leave out of a folder's results what is another file's run once more: x.csv beside x.json, or x.json.gz.

    Several files are several builds, and one run in two files is one.
    """
    copies: dict[tuple[str, Path, str], list[tuple[int, int]]] = {}
    for place, source in enumerate(found):
        path, name = source.path or Path(), recognised(source) or ""
        ends = getattr(adapter(name), "EXPORTS", _EXPORTS)
        plain = path.name.removesuffix(".gz")
        end = next((end for end in ends if plain.endswith(end)), "")
        rank = 2 * (ends.index(end) if end else 0) + (plain != path.name)
        copies.setdefault((name, path.parent, plain.removesuffix(end)), []).append((rank, place))
    return [found[place] for place in sorted(min(same)[1] for same in copies.values())]


def read(source: Source, wanted: str | None = None) -> Reading:
    """Read a result file of another tool.

    Args:
        wanted: the name of its format; None: it is recognised by its content.

    Raises:
        UserError: it is in no format that is known, cannot be read, or holds no benchmark.
    """
    name = wanted or recognised(source)
    if name is None:
        raise UserError(f"{source.name}: {why_unknown(source)}")
    own, failed = adapter(name), None
    try:
        found: Reading | None = _read(source, own)
    except UserError as error:
        if _recognises(own, source) and not source.taken_whole:
            raise
        found, failed = None, error
    if found is None or not found.results:
        try:
            found = _of_documents(source, name) or found
        except UserError as error:
            # of a file of lines its reader knows better
            raise error if failed is None or source.taken_whole else failed from None
    if found is None and failed is not None:
        raise failed
    if found is None or not found.results:
        raise UserError(f"{source.name}: {own.FORMAT.tool}: no benchmark in it")
    return found


def _of_documents(source: Source, name: str) -> Reading | None:
    """Read the JSON documents of a file that is more than one, each as a process of its own; None: it is one, or none.

    Lines of JSON that are no result are of a log.
    """
    try:
        found = source.documents()
    except OutputError as error:
        raise UserError(f"{source.name}: {error}") from None
    own, readings = adapter(name), list[Reading]()
    for document in found:
        place = f"line {document.line}"
        part = Source(source.name, source.path, document.text.encode(), place=place)
        if _recognises(own, part):
            readings.append(_read(part, own))
        elif (other := _recognised(part)) is not None:
            tools = f"{adapter(other).FORMAT.tool}, beside those of {own.FORMAT.tool}"
            raise UserError(f"{source.name}: {place}: a result of {tools}: give each tool a file of its own")
        elif not document.whole:
            raise UserError(f"{source.name}: {place}: the JSON that begins here is cut off")
        elif "\n" in document.text:
            raise UserError(
                f"{source.name}: {place}: the JSON that begins here is no result of {own.FORMAT.tool}: take it out"
            )
    if not readings:
        return None
    commits = {reading.about.commit for reading in readings}
    about = readings[0].about if len(commits) == 1 else msgspec.structs.replace(readings[0].about, commit=None)
    whole = Reading(source.name, readings[0].format, about, [], [], [], [])
    begin = 0
    for reading in readings:
        # the processes of the second follow those of the first

        def later(found: R, by: int = begin) -> R:
            return msgspec.structs.replace(found, execution=found.execution + by)

        whole.measured.extend(map(later, reading.measured))
        whole.aggregates.extend(map(later, reading.aggregates))
        whole.failed.extend(map(later, reading.failed))
        whole.left_out.extend(reading.left_out)
        begin += 1 + max((each.execution for each in reading.results), default=0)
    return whole


def why_unknown(source: Source) -> str:
    """Say why a source is in no format that is known, and what to do."""
    if not source.is_folder and _OURS.match(source.head.text.lstrip()):
        return "is a measurements file already: `perfgate decide` reads it as it is"
    if not source.is_folder and not source.head.data.strip():
        return "is empty"
    try:
        documents(source.head.text)
    except OutputError as error:
        return str(error)
    return f"is in no format that perfgate knows (`perfgate import --help` lists them; --from names one): {OTHERS}"


def _read(source: Source, own: Adapter) -> Reading:
    about = About()
    reading = Reading(source.name, own.FORMAT, about, [], [], [], [])
    try:
        for result in map(checked, told_apart(guarded(own.read(source), source), own.FORMAT.again)):
            if isinstance(result, About):
                about = result
            elif isinstance(result, LeftOut):
                reading.left_out.append(result.status)
            elif isinstance(result, ProcessValues):
                reading.measured.append(result)
            elif isinstance(result, ToolAggregate):
                reading.aggregates.append(result)
            else:
                reading.failed.append(result)
    except OSError as error:
        raise UserError(f"{source.name}: {unread(error)}") from None
    except OutputError as error:
        raise UserError(f"{source.full_name}: {own.FORMAT.tool}: {error}") from None
    return msgspec.structs.replace(reading, about=about)


def named_alike(readings: Sequence[Reading]) -> list[Reading]:
    """Choose among the names that a result may have the one that more of all files that are compared may have.

    Of Go's "BenchmarkParse/size-8" in a file, "-8" is GOMAXPROCS or a part of the name: where other files have
    "BenchmarkParse/size-8-8" it is the latter. What ends the names of a file with one setting is one or the other in
    all of them. Where both fit, the names as they stand win if other files have them for certain, as with several -cpu.
    """
    found: Counter[str] = Counter()
    certain: set[str] = set()
    for reading in readings:
        own: list[ProcessValues | FailedResult] = [*reading.measured, *reading.failed]
        found.update({r.benchmark or "" for r in own} | {r.otherwise[0] for r in own if r.otherwise})
        certain |= {r.benchmark for r in reading.measured if r.otherwise is None}
    return [_named_as(reading, found, certain) for reading in readings]


def _named_as(reading: Reading, found: Mapping[str, int], certain: Set[str]) -> Reading:
    # a positive sum: more files have the other names
    sums: Counter[str] = Counter()
    others: defaultdict[str, set[str]] = defaultdict(set)
    for each in reading.measured:
        if each.otherwise is not None:
            ending, other = _ending(each), each.otherwise[0]
            sums[ending] += found[other] - found[each.benchmark]
            others[ending].add(other)
    whole = {ending for ending, of in others.items() if sums[ending] > 0 or (not sums[ending] and of <= certain)}
    if not whole and not any(r.otherwise for r in reading.failed):
        return reading

    def named(each: N) -> N:
        if each.otherwise is None:
            return each
        other, labels = each.otherwise
        # what failed may stand under its bare name, whatever ends the others
        alone = isinstance(each, FailedResult) and found[other] > found[each.benchmark or ""]
        if not alone and _ending(each) not in whole:
            return each
        return msgspec.structs.replace(each, benchmark=other, labels=labels, otherwise=None)

    return msgspec.structs.replace(
        reading, measured=[named(r) for r in reading.measured], failed=[named(r) for r in reading.failed]
    )


def _ending(each: ProcessValues | FailedResult) -> str:
    return each.otherwise[0].removeprefix(each.benchmark or "") if each.otherwise else ""


def columns(reading: Reading) -> Iterator[tuple[str, Reading]]:
    """Take the measurings of a file apart, in its order: baselines of a folder, commits of a log; of one alone: ""."""
    key = reading.format.column
    if not key:
        yield "", reading
        return
    for label in dict.fromkeys(each.labels.get(key, "") for each in reading.results):

        def of(found: list[R], label: str = label) -> list[R]:
            return [each for each in found if each.labels.get(key, "") == label]

        own = {name: of(getattr(reading, name)) for name in ("measured", "aggregates", "failed")}
        yield label, msgspec.structs.replace(reading, **own)
