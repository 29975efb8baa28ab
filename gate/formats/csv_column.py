"""One column of a CSV file with a header line -> values, with the columns that say what its rows are."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from gate.config.types import Columns
from gate.formats.parts.output import Numbers, OutputError, Series, checked, number, plain_metric, refuse_cut_off, shown
from gate.model.names import SUCCESS
from gate.units import to_base

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


class _Header(NamedTuple):
    """What the columns of a tool say."""

    success: tuple[str, ...] = ("success", "status-code")
    """The columns that may tell whether a request succeeded; the first that is there does."""
    kind: str = ""
    """The column that tells different requests apart, whose times are often added up."""
    units: Mapping[str, str] = {}
    """The units of columns, or of metrics."""


_JMETER = _Header(
    ("success", "responseCode"),
    "label",
    dict.fromkeys(("elapsed", "Latency", "Connect", "IdleTime"), "ms") | {"bytes": "B", "sentBytes": "B"},
)
_OF_JMETER = frozenset({"timeStamp", "label", "responseCode", "success", "threadName", "Latency"})
"""One of these stands beside its "elapsed"."""
_TIMES_OF_K6 = (
    "http_req_duration", "http_req_blocked", "http_req_connecting", "http_req_tls_handshaking", "http_req_sending",
    "http_req_waiting", "http_req_receiving", "iteration_duration", "group_duration", "ws_connecting",
    "ws_session_duration", "ws_ping", "grpc_req_duration", "browser_web_vital_fcp", "browser_web_vital_fid",
    "browser_web_vital_inp", "browser_web_vital_lcp", "browser_web_vital_ttfb", "browser_http_req_duration",
)  # fmt: skip
_K6 = _Header(
    ("expected_response", "status"), units=dict.fromkeys(_TIMES_OF_K6, "ms") | {"data_sent": "B", "data_received": "B"}
)
_OTHER = _Header()
_UNIT, _METRIC = ("unit",), ("metric", "metric_name")


def parse(data: bytes, columns: Columns, units: Mapping[str, str | None]) -> dict[str, Series]:
    """Read the column of that name; the delimiter (comma, semicolon or tab) is the header line's.

    The metric is the one that the row names, else the only declared one. Without one, a column whose name ends with a
    unit gives a metric of the rest of its name ("latency_ms": latency, in ms), and any other column is what plain
    numbers are: time, in seconds. The unit is the row's, else the declared one, else what the header line tells. Where
    rows name metrics, only the declared ones are read. Blank lines are passed over.
    A request that failed gives no value; where rows tell of that, "success" is the share of the others.

    Args:
        units: the declared metrics and their units (None: not said).

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
        table = _Table(names, columns, units)
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


def _listed(names: Iterable[str]) -> str:
    every = list(names)
    more = ", ..." if len(every) > _LISTED else ""
    return ", ".join(shown(name.encode("utf-8", "replace")) for name in every[:_LISTED]) + more


class _Table:
    """A header line, where a row has what by it (None: nowhere), and what the rows held."""

    def __init__(self, names: list[str], columns: Columns, units: Mapping[str, str | None]) -> None:
        is_k6 = {"metric_name", "timestamp", "metric_value"} <= {*names}
        is_jmeter = "elapsed" in names and not _OF_JMETER.isdisjoint(names)
        self.header = _K6 if is_k6 else _JMETER if is_jmeter else _OTHER
        self.names, self.column = names, columns.value
        self.value = self._at(columns.value)
        self.success = self._place(columns.success, self.header.success)
        self.unit = self._place(columns.unit, _UNIT)
        self.metric = self._place(columns.metric, _METRIC)
        self.wanted = {name: unit for name, unit in units.items() if self.success is None or name != SUCCESS}
        # a column that must have one value in all rows
        is_mixed = self.metric is None and self.header.kind in names and columns.metric is None
        self.mixed = names.index(self.header.kind) if is_mixed else None
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
        names, width, kinds = self.names, len(self.names), dict[str, None]()
        for cells in reader:
            if cells and cells[-1].strip() == names[-1] and [cell.strip() for cell in cells] == names:
                raise OutputError(
                    f"line {reader.line_num} of the CSV is the header line again: a second run was appended to the "
                    "file; let each execution write a file of its own"
                )
            if len(cells) == width and not (width == 1 and _is_blank(cells)):
                if self.mixed is not None:
                    kinds.setdefault(cells[self.mixed])
                if len(kinds) <= _LISTED:
                    yield cells
            elif not _is_blank(cells):
                has = f"{len(cells)} cell{'' if len(cells) == 1 else 's'}"
                raise OutputError(f"line {reader.line_num} of the CSV has {has}, and the header line has {width}")
        if len(kinds) > 1:
            kind, column = self.header.kind, self.column
            raise OutputError(
                f"the column {column!r} mixes {len(kinds)} kinds of requests by {kind!r} ({_listed(kinds)}): write "
                f'column = {{value = "{column}", metric = "{kind}"}} and declare those to measure, or write metric = ""'
            )

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
        # what is no time, such as k6's http_req_failed, may count the failures
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

        Raises:
            OutputError: several metrics of which none is declared; all requests failed.
        """
        alone = not self.names_found or (not self.wanted and len(self.names_found) == 1)
        if self.metric is not None and not alone and not self.wanted.keys() & self.names_found.keys():
            raise OutputError(
                f"the column {self.column!r} holds {len(self.names_found)} metrics, which {self.names[self.metric]!r} "
                f"names ({_listed(self.names_found)}): declare those to measure, as [benchmark.metric.NAME]"
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
        unit, of, column = self.wanted.get(name), self.header.units, self.column
        if unit is None:
            unit = of.get(name, of.get(column, _SUFFIXES.get(column.rpartition("_")[2].lower())))
        return to_base(unit if unit is not None else "s" if name == "time" else "")


_SUCCESSES = frozenset({"true", "t", "yes", "y", "1", "ok", "success", "succeeded", "pass", "passed"})
_NO_RESPONSE = "non http response code"
"""How JMeter's responseCode begins where no response came."""
_FAILURES = frozenset({"false", "f", "no", "n", "0", "ko", "fail", "failed", "failure", "error"})


@lru_cache(maxsize=256)
def _succeeded(cell: str) -> bool | None:
    """Read whether a request succeeded from a word or an HTTP status (below 400); None of a blank cell.

    Raises:
        OutputError: it is neither.
    """
    word = cell.strip().casefold()
    if word in _SUCCESSES:
        return True
    if word in _FAILURES or word.startswith(_NO_RESPONSE):
        return False
    if not word:
        return None
    if len(word) == 3 and word.isascii() and word.isdigit() and "100" <= word <= "599":
        return word < "400"
    raise OutputError(f"{shown(cell.encode('utf-8', 'replace'))} is neither true or false nor an HTTP status")
