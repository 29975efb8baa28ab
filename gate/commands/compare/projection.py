"""Arguments -> lines of files -> what stands in which row and column: --by, --rows, --ignore and --filter."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from gate.commands.compare.keys import FULL, Filter, Item, Value, is_of_name, require_known, value_of, without
from gate.config.rules import matches
from gate.evidence import records as measurements
from gate.evidence.aggregates import BENCHMARK
from gate.evidence.foreign import (
    Level,
    distinguishing,
    is_plain,
    labelled,
    left_out,
    lines,
    named,
    numbered_anew,
)
from gate.evidence.lines import Inputs, Located
from gate.evidence.records import MEASUREMENTS, is_ours, parts, read_inputs
from gate.evidence.runs import run_of
from gate.formats.parts.reading import Reading, named_alike, read, recognised
from gate.formats.parts.source import Source
from gate.model import Build, Commit, Execution, Failure, Record, Run, Side, SummaryRecord, UserError
from gate.model.case import canonical
from gate.model.names import BUILD_TIME, SIZE
from gate.model.warnings.measured import torn_line
from gate.writing.phrases import none_of


class Piece(msgspec.Struct, frozen=True, eq=False):
    """One file, folder or commit's file that an argument names."""

    name: str
    """As the user named it."""
    label: str | None
    ours: bool
    """Measured by perfgate."""
    inputs: Inputs
    """Of a result file its lines, all of one side."""
    run: Run | None
    column: str = ""
    """The label by which a result file holds several measurings; "": it holds one."""


def pieces(arguments: Sequence[str], wanted: str | None = None) -> list[Piece]:
    """Read all arguments, in their order.

    Args:
        wanted: the format of the result files; None: each is recognised by its content.

    Raises:
        UserError: a file that cannot be read, or standard input twice.
    """
    places = [labelled(argument) for argument in arguments]
    if sum(place == "-" for _, place in places) > 1:
        raise UserError("only one of the files can come from standard input")
    found: list[tuple[str | None, str, Inputs | Reading]] = []
    for argument, (label, place) in zip(arguments, places, strict=True):
        path = Path(place)
        whole = place != "-" and is_plain(place) and (not path.exists() or (path.is_dir() and _holds_run(place)))
        sources = [(label, Source(place, path))] if whole else named([argument], arguments)
        found += [(called, source.name, _read(source, wanted)) for called, source in sources]
    alike = iter(named_alike([held for _, _, held in found if isinstance(held, Reading)]))
    read_in = []
    for label, name, held in found:
        if not isinstance(held, Reading):
            read_in.append(Piece(name, label, True, held, run_of(held.records)))
            continue
        reading = next(alike)
        about = reading.about
        (records,) = lines([("head", reading)])
        located = [Located(record, reading.name, place) for place, record in enumerate(records, 1)]
        run = Run(
            created=about.created, head=Commit(ref=reading.name, sha=about.commit), host=about.host or None, apart=True,
            tools=[about.tool or reading.format.title],
        )  # fmt: skip
        inputs = Inputs(located, [*left_out([reading])], [])
        read_in.append(Piece(reading.name, label, False, inputs, run, reading.format.column))
    return read_in


def _holds_run(place: str) -> bool:
    own = any((Path(place) / f"{MEASUREMENTS}{end}").exists() for end in ("", ".gz"))
    return own or parts(place) != [place]


def _read(file: Source, wanted: str | None) -> Inputs | Reading:
    name = wanted
    if name is None:
        absent = file.path is not None and not file.path.exists() and not file.name.startswith("git:")
        ours = _holds_run(file.name) if file.is_folder else absent or is_ours(file.head.data)
        name = None if ours else recognised(file)
        data = b"" if file.is_folder or absent else file.head.data.lstrip()
        # what nobody recognises is for the reader of measurements, whose errors name the line
        if ours or (name is None and not file.is_folder and (not data or data[:1] == b"{")):
            if (file.path is not None and file.name == str(file.path)) or file.is_folder:
                return read_inputs([file.name])
            reading = measurements.read(file.name, file.whole())
            return Inputs(reading.records, [torn_line(file.name)] if reading.torn else [], [])
    return read(file, name)


class Projection(msgspec.Struct, frozen=True):
    """What rows and columns are made of."""

    by: tuple[str, ...] = ()
    newest: tuple[str, ...] = ()
    """The only values of --by that are columns; (): all are."""
    rows: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    filter: Filter | None = None
    benchmarks: tuple[str, ...] = ()
    """Globs; (): all."""
    level: Level = "build"
    """What each result file of a column is one of."""

    @property
    def named(self) -> set[str]:
        """Return the keys of which somebody knows that they differ: those that make rows or columns, or are ignored."""
        return {*self.by, *self.rows, *self.ignore}

    @property
    def whole(self) -> bool:
        """Return whether all that was measured of a benchmark is shown, under its name."""
        return not (self.renames or self.filter)

    def wants(self, benchmark: str) -> bool:
        """Return whether a benchmark is selected."""
        return not self.benchmarks or any(matches(glob, benchmark) for glob in self.benchmarks)

    @property
    def renames(self) -> bool:
        """Return whether rows are others than the benchmarks of the files."""
        return bool(self.by or self.rows or self.ignore)


def renumbered(
    lines: Sequence[Located], taken: set[tuple[object, ...]], side: Side | None = None, *, build: int | None = None,
    session: int | None = None,
) -> list[Located]:  # fmt: skip
    """Give the lines of one side (None: of all, as one), as one build or one session of a column.

    Args:
        taken: the executions that there are already, of all pieces of the column.
        build: of a result file, None: the lines say.
    """
    found: list[Located] = []
    for located in lines:
        record = located.record
        if side is not None and getattr(record, "side", None) not in (side, None):
            continue
        if isinstance(record, (Build, Execution, Failure, SummaryRecord)):
            if build is not None:
                record = msgspec.structs.replace(record, build=build, session=session or 0)
            elif session is not None:
                record = msgspec.structs.replace(record, session=1000 * session + record.session)
        if isinstance(record, (Execution, SummaryRecord)):
            # what no key tells apart is further executions
            own = record.metrics if isinstance(record, Execution) else [(record.metric, record.statistic)]
            row = (record.benchmark, canonical(record.factors), record.side, record.session, record.build)
            number = numbered_anew(taken, row, own, record.execution)
            if number != record.execution:
                record = msgspec.structs.replace(record, execution=number)
        found.append(Located(record, located.path, located.line))
    return found


def projected(pieces: Sequence[Piece], projection: Projection) -> list[dict[Value, list[Located]]]:
    """Give the lines of each piece as they are shown, by the values of --by; () where that is not given.

    Raises: UserError: a key that no value has.
    """
    items = [item for piece in pieces for located in piece.inputs.records for item in _items(located.record, piece)]
    for option in ("by", "rows", "ignore"):
        require_known(getattr(projection, option), items, f"--{option}")
    if projection.filter is not None:
        require_known(projection.filter.keys, items, "--filter")
    names, globs = sorted({item.benchmark for item in items}), " ".join(projection.benchmarks)
    if items and not any(map(projection.wants, names)):
        raise UserError(f"--benchmark {globs}: {none_of(globs, names)}")
    telling = _telling(pieces, projection)
    parts: list[dict[Value, list[Located]]] = [defaultdict(list) for _ in pieces]
    for piece, part in zip(pieces, parts, strict=True):
        for column, located in _lines(piece, projection, telling):
            part[column].append(located)
    shown = (own.record for part in parts for lines in part.values() for own in lines)
    if items and projection.filter is not None and not any(isinstance(r, (Execution, SummaryRecord)) for r in shown):
        raise UserError(f"--filter {projection.filter.text}: matches none of the values")
    return parts


def _items(record: Record, piece: Piece) -> Iterator[Item]:
    if not isinstance(record, (Execution, SummaryRecord)):
        return
    labels = {**record.labels, **record.factors} if record.factors else record.labels
    side = record.side if piece.ours else ""
    units = (
        {name: metric.unit for name, metric in record.metrics.items()}
        if isinstance(record, Execution)
        else {record.metric: record.unit}
    )
    for name, unit in units.items():
        yield Item(record.benchmark, labels, piece.name, piece.label or "", side, name, unit)


def _telling(pieces: Sequence[Piece], projection: Projection) -> dict[str, list[str]]:
    """Find the labels that tell several values of one name in one process apart, over all result files."""
    away = {*projection.by, *projection.ignore}
    groups: dict[tuple[object, ...], list[Mapping[str, str]]] = defaultdict(list)
    for number, piece in enumerate(pieces):
        for located in () if piece.ours else piece.inputs.records:
            record = located.record
            if isinstance(record, (Execution, SummaryRecord)):
                own = {name: value for name, value in record.labels.items() if name != piece.column}
                column = tuple(value_of(key, item) for item in _items(record, piece) for key in projection.by)
                place = (record.execution, record.labels.get(piece.column), column, number)
                kind = record.statistic if isinstance(record, SummaryRecord) else ""
                for metric in record.metrics if isinstance(record, Execution) else (record.metric,):
                    groups[record.benchmark, metric, kind, *place].append(own)
    return {name: [each for each in names if each not in away] for name, names in distinguishing(groups).items()}


def measurings(piece: Piece) -> list[str]:
    """List what the measurings of a result file are called, in its order; [] where it holds only one."""
    if not piece.column:
        return []
    labels = (getattr(located.record, "labels", {}).get(piece.column) for located in piece.inputs.records)
    return list(dict.fromkeys(str(label) for label in labels if label is not None))


def _lines(
    piece: Piece, projection: Projection, telling: Mapping[str, Sequence[str]]
) -> Iterator[tuple[Value, Located]]:
    """Yield each line with its column; of a file that holds several measurings the newest, unless these are columns."""
    newest = None if piece.column in projection.by else next(reversed(measurings(piece)), None)
    for located in piece.inputs.records:
        record = located.record
        if isinstance(record, (Execution, SummaryRecord)):
            if newest is None or record.labels.get(piece.column) == newest:
                for column, shown in _shown(record, piece, projection, telling):
                    yield column, Located(shown, located.path, located.line)
        elif isinstance(record, Failure):
            yield from _failed(record, located, piece, projection)
        elif not projection.by:
            if isinstance(record, Build) and projection.filter is not None:
                located = Located(_filtered(record, piece, projection.filter), located.path, located.line)
            yield (), located


def _filtered(record: Build, piece: Piece, wanted: Filter) -> Build:
    """Leave of a build the sizes and the time that are wanted: they have rows, too."""

    def test(name: str, metric: str, unit: str) -> bool:
        return wanted.test(Item(name, record.factors, piece.name, piece.label or "", record.side, metric, unit))

    sizes = {path: size for path, size in record.sizes.items() if test(path, SIZE, "B")}
    seconds = record.seconds if test(BENCHMARK, BUILD_TIME, "s") else None
    return msgspec.structs.replace(record, sizes=sizes, seconds=seconds)


def _failed(record: Failure, located: Located, piece: Piece, projection: Projection) -> Iterator[tuple[Value, Located]]:
    """Keep a failure where its name says that it is wanted; what else the file says of it is not known."""
    item = Item(record.benchmark or "", record.factors, piece.name, piece.label or "", record.side or "")
    if record.benchmark is not None and projection.filter is not None:
        by_name = all(is_of_name(key) or key in ("file", ".file", "label") for key in projection.filter.keys)
        if not by_name or not projection.filter.test(item):
            return
    if record.benchmark and not projection.wants(record.benchmark):
        return
    column = tuple(value_of(key, item) for key in projection.by)
    if None in column:
        return
    if record.benchmark is not None and projection.renames:
        record = msgspec.structs.replace(record, benchmark=_name(item, projection))
    yield column, Located(record, located.path, located.line)


def _shown(
    record: Execution | SummaryRecord, piece: Piece, projection: Projection, telling: Mapping[str, Sequence[str]]
) -> Iterator[tuple[Value, Execution | SummaryRecord]]:
    """Give a record as it is shown: without what is filtered, once for each column that its metrics are of."""
    columns: dict[Value, dict[str, Any]] = defaultdict(dict)
    metrics = record.metrics if isinstance(record, Execution) else {record.metric: None}
    for item in _items(record, piece):
        if projection.wants(item.benchmark) and (projection.filter is None or projection.filter.test(item)):
            columns[tuple(value_of(key, item) for key in projection.by)][item.metric] = metrics[item.metric]
    if not columns:
        return
    item = next(iter(_items(record, piece)))
    changes: dict[str, Any] = {}
    if projection.renames or not piece.ours:
        changes["factors"] = _settings(record, item, piece, projection, telling)
    if projection.renames:
        changes["benchmark"] = _name(item, projection)
    if projection.by and piece.ours:
        changes["side"] = "head"
    for column, own in columns.items():
        if isinstance(record, Execution):
            yield column, msgspec.structs.replace(record, metrics=own, **changes)
        else:
            yield column, msgspec.structs.replace(record, **changes)


def _settings(
    record: Execution | SummaryRecord, item: Item, piece: Piece, projection: Projection,
    telling: Mapping[str, Sequence[str]],
) -> dict[str, Any]:  # fmt: skip
    if projection.rows:
        # each metric has rows of its own in any case
        found = {key: value_of(key, item) for key in projection.rows if not is_of_name(key) and key != "metric"}
        return {name: _plain(value) for name, value in found.items() if value is not None}
    if piece.ours:
        away = {*projection.by, *projection.ignore}
        return {name: value for name, value in record.factors.items() if name not in away}
    names = telling.get(record.benchmark, ())
    return {name: _plain(record.labels[name]) for name in names if name in record.labels}


def _plain(text: str) -> Any:
    """Read a number back, so that it is shown without quotes."""
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        if str(number) == text:
            return number
    return text


def _name(item: Item, projection: Projection) -> str:
    away = (*projection.by, *projection.ignore)
    if projection.rows:
        words = []
        for key in filter(is_of_name, projection.rows):
            if key in FULL:
                words.append(without(item.benchmark, away))
            elif (value := value_of(key, item)) is not None:
                words.append(f"{key[1:]}={value}" if key.startswith("/") else value)
        return " ".join(word for word in words if word) or "all"
    name = without(item.benchmark, away)
    return name if name == item.benchmark else name.strip("/_- ")
