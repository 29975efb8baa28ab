"""The summaries that hey, oha and ghz print: figures, percentiles, and how often each status and error came."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from gate.results.parts.requests import UNNAMED, aggregates, all_failed, error_rate, float_of, percentile, seconds
from gate.results.result import Failed, Result

_FIGURE = re.compile(r"([A-Z][\w/ ]*):\s+(\S.*)")
# hey 0.1.5 prints two percent signs
_PERCENTILE = re.compile(r"(\d+(?:\.\d+)?) ?%+ in (.+)")
_STATUS = re.compile(r"\[(\w+)\]\s+(\d{1,18}) responses")
_ERROR = re.compile(r"\[(\d{1,18})\]\s+(.*)")
_TITLE = re.compile(r"[A-Z][^:]*:")
_SEARCHED = 200
_MEANT = {"Average": "mean", "Fastest": "min", "Slowest": "max"}
ABORTED = "aborted due to deadline"
"""oha's word for requests that were under way when the time was over, which nothing failed."""


@dataclass(slots=True)
class Summary:
    """What one run printed."""

    figures: dict[str, str] = field(default_factory=dict)
    """By their names, such as "Requests/sec"; the first of each name."""
    percentiles: dict[str, float | None] = field(default_factory=dict)
    statuses: dict[str, int] = field(default_factory=dict)
    errors: dict[str, int] = field(default_factory=dict)

    def times(self) -> dict[str, float | None]:
        """Return mean, fastest, slowest and percentiles in seconds by their statistic."""
        found = {_MEANT[name]: seconds(text) for name, text in self.figures.items() if name in _MEANT}
        return {**found, **self.percentiles}

    @property
    def answered(self) -> int:
        """How many requests got a response."""
        return sum(self.statuses.values())

    @property
    def unanswered(self) -> int:
        """How many failed without one."""
        return sum(count for error, count in self.errors.items() if error != ABORTED)


def first_figure(lines: list[str]) -> str:
    """Return what a summary begins with, by which the tools differ: "Total" of hey's; "" where there is none."""
    for line, following in pairwise(lines[:_SEARCHED]):
        match = _FIGURE.fullmatch(following.strip())
        if line.strip() == "Summary:" and match:
            return match[1]
    return ""


def summaries(lines: Iterable[str]) -> Iterator[Summary]:
    """Yield each run of a text, which begins with the line "Summary:"."""
    found: Summary | None = None
    title = ""
    for line in map(str.strip, lines):
        if _TITLE.fullmatch(line):
            title = line
            if title == "Summary:":
                if found is not None:
                    yield found
                found = Summary()
        elif found is not None:
            _take(found, title, line)
    if found is not None:
        yield found


def _take(found: Summary, title: str, line: str) -> None:
    if match := _PERCENTILE.fullmatch(line):
        # hey prints "0% in 0.0000 secs" for percentiles that so few requests do not have
        if float(match[1]):
            found.percentiles[percentile(match[1])] = seconds(match[2].removesuffix("."))
    elif match := _STATUS.fullmatch(line):
        found.statuses[match[1]] = int(match[2])
    elif title.startswith("Error") and (match := _ERROR.fullmatch(line)):
        found.errors[match[2]] = int(match[1])
    elif title == "Summary:" and (match := _FIGURE.fullmatch(line)):
        found.figures.setdefault(match[1], match[2])


def printed(each: Summary, execution: int, good: int | None = None) -> Iterator[Result]:
    """Yield what a summary says.

    Args:
        good: how many requests succeeded, where requests without a response have a status too; None: those with an
            HTTP status below 400.
    """
    if good is None:
        good = sum(count for status, count in each.statuses.items() if status.startswith(("2", "3")))
        total = each.answered + each.unanswered
    else:
        total = each.answered
    if total and not good:
        yield Failed(benchmark=UNNAMED, status=all_failed(total), execution=execution)
        return
    times, rate = each.times(), {"value": float_of(each.figures.get("Requests/sec", ""))}
    said = {"mean": None, "Requests/sec": rate["value"], **times}
    unread = [name for name, value in said.items() if value is None]
    if unread:
        why = f"{', '.join(unread)} cannot be read: was its output cut off?"
        yield Failed(benchmark=UNNAMED, status=why, execution=execution)
    yield from aggregates(UNNAMED, "time", times, count=each.answered, execution=execution)
    yield from error_rate(UNNAMED, total - good, total, execution=execution)
    yield from aggregates(UNNAMED, "throughput", rate, unit="1/s", better="higher", execution=execution)
