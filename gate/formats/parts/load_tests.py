"""The CSV files that load generators write, by their header lines: what their columns mean.

Formats: JMeter's CSV log (jmeter.apache.org/usermanual/listeners.html), k6's `--out csv` (grafana.com/docs/k6), hey's
`-o csv` (github.com/rakyll/hey) and oha's `--output-format csv` (github.com/hatoo/oha).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from gate.formats.parts.output import OutputError, shown

_K6_TIMES = (
    "http_req_duration", "http_req_blocked", "http_req_connecting", "http_req_tls_handshaking", "http_req_sending",
    "http_req_waiting", "http_req_receiving", "iteration_duration", "group_duration", "ws_connecting",
    "ws_session_duration", "ws_ping", "grpc_req_duration", "browser_web_vital_fcp", "browser_web_vital_fid",
    "browser_web_vital_inp", "browser_web_vital_lcp", "browser_web_vital_ttfb", "browser_http_req_duration",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Header:
    """What is known of a header line."""

    names: frozenset[str] = frozenset()
    """The columns by which it is recognised."""
    beside: frozenset[str] = frozenset()
    """One of these must be there, too."""
    success: tuple[str, ...] = ()
    """The columns that may tell whether a request succeeded; the first that is there does."""
    unit: tuple[str, ...] = ()
    """The columns that may hold the unit of a row, likewise."""
    metric: tuple[str, ...] = ()
    """The columns that may name the metric of a row, likewise."""
    kind: str = ""
    """The column that tells different requests apart, whose times are often added up."""
    units: Mapping[str, str] = field(default_factory=dict)
    """The units of columns, or of metrics."""


_HEADERS = (
    Header(
        # which columns there are is configurable
        frozenset({"elapsed"}),
        beside=frozenset({"timeStamp", "label", "responseCode", "success", "threadName", "Latency"}),
        success=("success", "responseCode"),
        kind="label",
        units=dict.fromkeys(("elapsed", "Latency", "Connect", "IdleTime"), "ms") | {"bytes": "B", "sentBytes": "B"},
    ),
    Header(
        frozenset({"metric_name", "timestamp", "metric_value"}),
        success=("expected_response", "status"),
        metric=("metric_name",),
        units=dict.fromkeys(_K6_TIMES, "ms") | {"data_sent": "B", "data_received": "B"},
    ),
    Header(
        frozenset({"response-time", "DNS+dialup", "status-code"}),
        success=("status-code",),
        units=dict.fromkeys(
            ("response-time", "DNS+dialup", "DNS", "Request-write", "Response-delay", "Response-read", "offset"), "s"
        ),
    ),
    Header(
        frozenset({"request-start", "request-duration", "status"}),
        success=("status",),
        units=dict.fromkeys(("request-start", "request-duration", "DNS", "DNS+dialup", "Response-delay"), "s")
        | {"bytes": "B"},
    ),
)
_OTHER = Header(success=("success",), unit=("unit",), metric=("metric", "metric_name"))


def header_of(names: Sequence[str]) -> Header:
    """Return what is known of a header line: of a load generator's, else of columns that say what they are."""
    given = set(names)
    found = (each for each in _HEADERS if each.names <= given and (not each.beside or each.beside & given))
    return next(found, _OTHER)


_SUCCESSES = frozenset({"true", "t", "yes", "y", "1", "ok", "success", "succeeded", "pass", "passed"})
_NO_RESPONSE = "non http response code"
"""How JMeter's responseCode begins where no response came."""
_FAILURES = frozenset({"false", "f", "no", "n", "0", "ko", "fail", "failed", "failure", "error"})


@lru_cache(maxsize=256)
def succeeded(cell: str) -> bool | None:
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
