"""One column of a CSV file with a header line -> values, with the columns that say what its rows are."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from gate.formats.parts.output import OutputError, Series, checked, refuse_cut_off, shown
from gate.formats.values import Numbers, number, plain_metric
from gate.model.names import SUCCESS
from gate.writing.units import to_base

if TYPE_CHECKING:
    from _csv import Reader

_SUFFIXES = {
    **dict.fromkeys(("ns", "nanos", "nanoseconds"), "ns"),
    # micro sign and Greek mu: both are typed
    **dict.fromkeys(("us", "µs", "μs", "micros", "microseconds"), "us"),
    **dict.fromkeys(("ms", "msec", "msecs", "millis", "milliseconds"), "ms"),
    **dict.fromkeys(("s", "sec", "secs", "seconds"), "s"),
    **dict.fromkeys(("b", "bytes"), "B"),
    "kb": "kB", "mb": "MB", "gb": "GB", "kib": "KiB", "mib": "MiB", "gib": "GiB",
}  # fmt: skip
_LISTED = 5
_SUCCESS, _UNIT, _METRIC = ("success", "status-code"), ("unit",), ("metric", "metric_name")
"""The columns that are taken where the configuration names none; the first that is there is."""


def parse(
    data: bytes,
    column: str,
    units: Mapping[str, str | None],
    *,
    success: str | None = None,
    unit: str | None = None,
    metric: str | None = None,
) -> dict[str, Series]:
    """Read the column of that name; the delimiter (comma, semicolon or tab) is the header line's.

    The metric is the one that the row names, else the only declared one. Without one, a column whose name ends with a
    unit gives a metric of the rest of its name ("latency_ms": latency, in ms), and any other column is what plain
    numbers are: time, in seconds. The unit is the row's, else the declared one, else the column's. Where
    rows name metrics, only the declared ones are read. Blank lines are passed over.
    A request that failed gives no value; where rows tell of that, "success" is the share of the others.

    Args:
        column: holds the values.
        units: the declared metrics and their units (None: not said).
        success, unit, metric: the columns that tell of a row whether its request succeeded, the unit and the metric of
            its value. None: as the header line tells; "": there is none.

    Raises:
        OutputError: there is no such column, or a row that cannot be read, by its line from 1; several metrics of which
            none is declared.
    """
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise OutputError("the CSV is UTF-16: write it as UTF-8")
    text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    first = re.sub(r'"[^"]*"', "", text.lstrip().partition("\n")[0])
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=first.count), strict=True)
    try:
        names = next(([name.strip() for name in row] for row in reader if not _is_blank(row)), None)
        if names is None:
            return {}
        table = _Table(names, column, units, (success, unit, metric))
        for cells in table.rows(reader):
            table.take(reader.line_num, cells)
    except csv.Error as error:
        raise OutputError(f"line {reader.line_num} of the CSV: {error}") from None
    # \r alone ends the lines of old spreadsheets
    if not data.endswith(b"\r"):
        refuse_cut_off(data, "the CSV")
    return table.series()


def _is_blank(row: Sequence[str]) -> bool:
    return not row or (len(row) == 1 and not row[0].strip())


class _Table:
    """A header line, where a row has what by it (None: nowhere), and what the rows held."""

    def __init__(
        self, names: list[str], column: str, units: Mapping[str, str | None], told: tuple[str | None, ...]
    ) -> None:
        self.names, self.column = names, column
        self.value = self._at(column)
        self.success, self.unit, self.metric = map(self._place, told, (_SUCCESS, _UNIT, _METRIC))
        self.wanted = {name: unit for name, unit in units.items() if self.success is None or name != SUCCESS}
        # what rows are of that do not name their metric
        stem, _, suffix = self.column.rpartition("_")
        of_column = stem if stem and suffix.lower() in _SUFFIXES else "time"
        self.alone = plain_metric(self.wanted) if len(self.wanted) == 1 else of_column
        self.found: dict[str, Numbers] = {}
        self.names_found: dict[str, None] = {}
        """Of all metrics, those that are not wanted included."""
        self.units: dict[tuple[str, str], tuple[str, float]] = {}
        self.successes: list[bool] = []

    def _at(self, name: str) -> int:
        if name not in self.names:
            listed = shown(", ".join(self.names).encode()) if any(self.names) else "none"
            raise OutputError(f"the CSV has no column {name!r}: there are {listed}")
        if self.names.count(name) > 1:
            raise OutputError(f"the CSV has {self.names.count(name)} columns {name!r}")
        return self.names.index(name)

    def _place(self, configured: str | None, known: Sequence[str]) -> int | None:
        if configured is not None:
            return self._at(configured) if configured else None
        # the values themselves say nothing of what they are
        return next((self.names.index(name) for name in known if name in self.names and name != self.column), None)

    def rows(self, reader: Reader) -> Iterator[list[str]]:
        """Yield the rows, each as wide as the header."""
        names, width = self.names, len(self.names)
        for cells in reader:
            if cells and cells[-1].strip() == names[-1] and [cell.strip() for cell in cells] == names:
                raise OutputError(
                    f"line {reader.line_num} of the CSV is the header line again: a second run was appended to the "
                    "file; let each execution write a file of its own"
                )
            if len(cells) == width and not (width == 1 and _is_blank(cells)):
                yield cells
            elif not _is_blank(cells):
                has = f"{len(cells)} cell{'' if len(cells) == 1 else 's'}"
                raise OutputError(f"line {reader.line_num} of the CSV has {has}, and the header line has {width}")

    def take(self, line: int, cells: list[str]) -> None:
        """Keep the value of a row with its metric, if it is wanted and its request has not failed."""
        name = self.alone if self.metric is None else cells[self.metric].strip()
        told = "" if self.unit is None else cells[self.unit].strip()
        self.names_found.setdefault(name)
        # several of which none is declared are an error, whatever they hold
        if self.metric is not None and (name not in self.wanted if self.wanted else len(self.names_found) > 1):
            return
        known = self.units.get((name, told))
        if known is None:
            known = self.units[name, told] = self._known_unit(name, told)
        base, scale = known
        numbers = self.found.setdefault(name, Numbers(base))
        if numbers.unit != base:
            elsewhere = f"in {base or 'counts'!r} here and in {numbers.unit or 'counts'!r} elsewhere"
            raise OutputError(f"line {line} of the CSV: {name!r} is {elsewhere}")
        # what is no time, such as http_req_failed, may count the failures
        counts = self.metric is not None and base != "s"
        if self.success is not None and not counts and not self._has_succeeded(cells[self.success], line):
            return
        raw = cells[self.value].encode("utf-8", "replace")
        try:
            checked(numbers.add(number(raw, float), scale, raw), base, raw)
        except OutputError as error:
            raise OutputError(f"line {line} of the CSV, column {self.column!r}: {error}") from None

    def series(self) -> dict[str, Series]:
        """Return the values of each metric, and the share of the requests that succeeded.

        Raises: OutputError: several metrics of which none is declared; all requests failed.
        """
        alone = not self.names_found or (not self.wanted and len(self.names_found) == 1)
        if self.metric is not None and not alone and not self.wanted.keys() & self.names_found.keys():
            some = ", ".join(shown(name.encode("utf-8", "replace")) for name in [*self.names_found][:_LISTED])
            raise OutputError(
                f"the column {self.column!r} holds {len(self.names_found)} metrics, which {self.names[self.metric]!r} "
                f"names ({some}{', ...' * (len(self.names_found) > _LISTED)}): declare those to measure, as "
                "[benchmark.metric.NAME]"
            )
        series = {name: each.series for name, each in self.found.items()}
        for name in (name for name, each in series.items() if not each.values):
            raise OutputError(f"no values of {name!r}: all {len(self.successes)} requests failed")
        if self.successes:
            if SUCCESS in series:
                why = f"the metric {SUCCESS!r} is the share of requests that succeed: name the other one anew"
                raise OutputError(why)
            share = sum(self.successes) / len(self.successes)
            series[SUCCESS] = Series("", [share], "higher", whole=True)
        return series

    def _has_succeeded(self, cell: str, line: int) -> bool:
        try:
            success = _succeeded(cell)
            # where rows name their metric, not all are of requests
            if success is None and self.metric is None:
                raise OutputError("a blank cell does not tell whether the request succeeded")
        except OutputError as error:
            name = self.names[self.success or 0]
            why = f'line {line} of the CSV, column {name!r}: {error}; success = "" in column ignores it'
            raise OutputError(why) from None
        if success is not None:
            self.successes.append(success)
        return success is not False

    def _known_unit(self, name: str, told: str) -> tuple[str, float]:
        if told:
            return to_base(_SUFFIXES.get(told.lower(), told))
        unit = self.wanted.get(name)
        if unit is None:
            unit = _SUFFIXES.get(self.column.rpartition("_")[2].lower())
        return to_base(unit if unit is not None else "s" if name == "time" else "")


_SUCCESSES = frozenset({"true", "t", "yes", "y", "1", "ok", "success", "succeeded", "pass", "passed"})
_FAILURES = frozenset({"false", "f", "no", "n", "0", "ko", "fail", "failed", "failure", "error"})


@lru_cache(maxsize=256)
def _succeeded(cell: str) -> bool | None:
    """Read whether a request succeeded from a word or an HTTP status (below 400); None of a blank cell.

    Raises: OutputError: it is neither.
    """
    word = cell.strip().casefold()
    if word in _SUCCESSES:
        return True
    if word in _FAILURES:
        return False
    if not word:
        return None
    if len(word) == 3 and word.isascii() and word.isdigit() and "100" <= word <= "599":
        return word < "400"
    raise OutputError(f"{shown(cell.encode('utf-8', 'replace'))} is neither true or false nor an HTTP status")
