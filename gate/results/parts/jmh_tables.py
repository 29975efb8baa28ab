"""JMH's CSV and its table, which hold means alone."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator
from itertools import pairwise

from gate.adapters.jmh import known_unit, named
from gate.adapters.values import OutputError
from gate.model.visible import visible
from gate.results.checking import aggregate
from gate.results.result import About, Aggregate, Failed, Result
from gate.results.source import Head, Source

CONFIDENCE = 0.999
"""Of JMH's errors and intervals."""
_CSV = re.compile(r'"?Benchmark"?([,;\t])"?Mode"?\1"?Threads"?\1"?Samples"?\1"?Score"?\1')
_TITLE = re.compile(r"^Benchmark\s.*\bMode\s+(?:Cnt|Samples)\s+Score\s.*\bUnits?\s*$")
# sbt's and Maven's, behind the time of a log of GitHub
_PREFIX = re.compile(r"(?:\d{4}-\d\d-\d\dT\S+Z )?(?:\[(?:info|INFO)\] ?)?")
_VERSION = re.compile(r"# JMH (?:version: )?(\d\S*)")
_PRINTED = re.compile(r"^(?:\[info\] )?# (?:JMH (?:version: )?\d|VM invoker: )", re.MULTILINE)
_PARAMETER = re.compile(r"\(([^()\s]+)\)")
_NUMBER = r"(?:-?\d[\d.,]*(?:[eE][-+]?\d+)?|NaN|-?∞|≈\s*\S+)"
_ROW = re.compile(
    rf"(?P<name>\S+)(?P<params>\s.*?)?\s(?P<mode>thrpt|avgt|sample|ss)(?:\s+(?P<count>\d+))?\s+(?P<score>{_NUMBER})"
    rf"(?:(?:\s*+±)?\s++(?P<error>{_NUMBER}))?\s++(?P<unit>[^\s±]+)\s*"
)
_POWER = re.compile(r"≈\s*10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)")
_PLAIN = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_QUANTILE = re.compile(r"p([01]\.\d+)")
_OF_PRIMARY = ("time", "throughput")


def metric(unit: str) -> str:
    """Name the primary metric of a base unit."""
    return {"s": "time", "1/s": "throughput"}.get(unit, "score")


def secondary(name: str) -> str:
    """Name a secondary metric, never as the primary one: as JMH's table writes it."""
    return f":{name}" if name in _OF_PRIMARY else name


def is_csv(head: Head) -> bool:
    """Return whether it begins with the titles of JMH's CSV."""
    return _CSV.match(head.text.lstrip()) is not None


def is_printed(head: Head) -> bool:
    """Return whether it is JMH's table, or what it prints, which ends with that."""
    lines = head.lines
    return bool(lines) and (_TITLE.match(plain(lines[0]).strip()) is not None or _is_log(head))


def _is_log(head: Head) -> bool:
    if any("Score" in line and _TITLE.match(plain(line)) for line in head.lines):
        return True
    return _PRINTED.search(head.text) is not None and "# Benchmark: " in head.text


def plain(line: str) -> str:
    """Take off what a tool that called JMH wrote before its line."""
    return _PREFIX.sub("", line, count=1)


def read_csv(source: Source) -> Iterator[Result]:
    """Yield the means of a CSV file.

    Raises:
        OutputError: a row that has not as many cells as there are titles.
    """
    separator = _CSV.match(source.head.text.lstrip())
    with source.text_file() as file:
        rows = csv.reader(file, delimiter=separator[1] if separator else ",")
        try:
            yield from _csv_rows(rows)
        except csv.Error as error:
            raise OutputError(f"line {rows.line_num}: {error}") from None


def _csv_rows(rows: Iterator[list[str]]) -> Iterator[Result]:
    titles = [title.strip() for title in next(rows, [])]
    places = {title.partition(" (")[0]: place for place, title in enumerate(titles)}
    parameters = {title.partition(": ")[2]: at for at, title in enumerate(titles) if title.startswith("Param: ")}
    error, unit = places.get("Score Error"), places.get("Unit")
    if error is None or unit is None:
        raise OutputError("the titles lack Score Error or Unit: this is not the CSV of JMH")
    yield About(tool="JMH")
    for row in rows:
        # other calls may have been appended
        if not any(row) or row[0] == "Benchmark":
            continue
        if len(row) < len(titles):
            yield Failed(benchmark=visible(row[0]), status="its row is cut off")
            continue
        labels = {name: row[at] for name, at in sorted(parameters.items()) if row[at]}
        yield _row(row[0], row[1], labels, row[3], row[4], row[error], row[unit], {"threads": row[2]})


def is_title(line: str) -> bool:
    """Return whether a line begins a table."""
    return "Score" in line and _TITLE.match(line.strip()) is not None


def version(head: Head) -> About:
    """Say which JMH printed a log."""
    found = _VERSION.search(head.text)
    return About(tool=f"JMH {found[1]}" if found else "JMH")


def row(title: str, line: str, whole_name: Callable[[str], str | None]) -> Aggregate | Failed | None:
    """Read a row of a table; None: it is none.

    Args:
        title: the line of the table's titles.
        whole_name: gives back what the table cut off a name; None: it is not known.
    """
    match = _ROW.fullmatch(line.strip())
    return None if match is None else _table_row(match, title, line, whole_name)


def _table_row(
    match: re.Match[str], title: str, line: str, whole_name: Callable[[str], str | None]
) -> Aggregate | Failed:
    names = _PARAMETER.findall(title.partition("Mode")[0])
    values = re.split(r"\s{2,}", (match["params"] or "").strip())
    if len(values) != len(names):
        values = _cells(title, line)
    labels = {name: value for name, value in sorted(zip(names, values, strict=False)) if value != "N/A"}
    short, colon, key = match["name"].partition(":")
    name = f"{whole_name(short) or short}{colon}{key}"
    return _row(
        name, match["mode"], labels, match["count"] or "", match["score"], match["error"] or "", match["unit"], {}
    )  # fmt: skip


def _cells(title: str, line: str) -> list[str]:
    """Cut the parameters out of a row by the ends of their titles, at which they are aligned."""
    ends = [0, *(found.end() for found in _PARAMETER.finditer(title.partition("Mode")[0]))]
    cells = [line[start:end].strip() for start, end in pairwise(ends)]
    # the first also holds the name of the benchmark
    return [cells[0].split(maxsplit=1)[-1], *cells[1:]] if cells and cells[0] else cells


def _row(
    name: str, mode: str, params: dict[str, str], count: str, score: str, error: str, unit: str, others: dict[str, str]
) -> Aggregate | Failed:
    base, scale = known_unit(unit)
    own, _, key = name.partition(":")
    shown = named(own, params, mode)
    labels = {**params, "mode": mode, **others}
    # "sampled·p0.50" before 1.36
    quantile = _QUANTILE.fullmatch(key.rpartition("·")[2])
    statistic = f"p{float(quantile[1]) * 100:g}" if quantile else "mean"
    what = metric(base) if not key or quantile else secondary(key)
    power = _POWER.fullmatch(score.strip())
    value = number(score)
    if power is not None:
        statistic, value = f"order of magnitude of {statistic}", _power(power[1])
    half = number(error)
    low, high = (None, None) if half is None or value is None or power else (value - half, value + half)
    return aggregate(
        shown, what, statistic, value, unit=base, scale=scale, low=low, high=high, confidence=CONFIDENCE,
        count=int(count) if count.isascii() and count.isdigit() and not quantile else None, labels=labels,
    )  # fmt: skip


def _power(raised: str) -> float | None:
    try:
        return float(f"1e{int(raised.translate(_PLAIN))}")
    except ValueError:
        return None


def number(text: str) -> float | None:
    """Read a number as the machine's language writes it: "1,5" too; None: it is none."""
    own = re.sub(r"^≈\s*", "", text.strip())
    if own.count(",") == 1 and "." not in own:
        own = own.replace(",", ".")
    own = own.replace(",", "").replace("∞", "inf")
    try:
        return float(own) if own.isascii() and "_" not in own else None
    except ValueError:
        return None
