"""The times and rates that any program prints: a number with a unit, and the words before it as the name.

Of lines such as `parse 1000 lines: 12.5 ms`, `sort x 1,234 ops/sec`, `sort, ops/sec: 1234` or `search   min 1.2ms
mean 1.5±0.2ms` each is a benchmark. A last line that has not ended is left out, since a program is ended once it has
printed what is wanted.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator, Mapping

from gate.formats.parts.live import printed
from gate.formats.parts.output import Series, Written, written
from gate.formats.parts.result import Result, ToolAggregate
from gate.formats.parts.source import Source
from gate.model.bounds import Digits

_NUMBER = r"(?:\d{1,3}(?:,\d{3})++|\d++)(?:\.\d+)?(?:[eE][+-]?\d+)?"
"""Groups of three digits may stand behind commas; what has another comma or a blank in it is nothing to be sure of."""
_SPREAD = r"(?:±|\+-|\+/-)"
_MEASURE = re.compile(
    rf"(?P<spread>{_SPREAD}\s*)?(?<![\w.,'-])(?<!\d\s)(?P<number>{_NUMBER})(?:\s?{_SPREAD}\s?{_NUMBER})?"
    r"\s?(?P<unit>[^\W\d_]{1,12}(?:\s?/\s?[^\W\d_]{1,12})?)(?![\w/])"
)
_BEFORE = re.compile(
    rf"(?:(?<![\w/])([^\W\d_]{{1,12}}\s?/\s?[^\W\d_]{{1,12}})|[(\[]([^\W\d_]{{1,12}})[)\]])\s*[:=]\s*({_NUMBER})(?![\w.,/%]|\s?[^\W\d_])"
)
"""A unit that stands before its number, as in `ops/sec: 12` or `parse (ms) = 3.5`."""
_STATISTICS = {
    **dict.fromkeys(("mean", "avg", "average"), "mean"), **dict.fromkeys(("median", "p50"), "median"),
    **dict.fromkeys(("min", "minimum", "best", "fastest", "lowest"), "min"),
    **dict.fromkeys(("max", "maximum", "worst", "slowest", "highest", "std", "stddev", "stdev", "sd"), "other"),
    **dict.fromkeys(("p75", "p90", "p95", "p99", "p999"), "other"),
}  # fmt: skip
_ORDER = ("mean", "value", "median", "min")
"""What is taken of a line that has several."""
_WORD = re.compile(r"([A-Za-z]\w*)[\s:=(]*$")
_RESULT = re.compile(r"(?<![\w.])[+-]?\d+(?:\.\d+(?:e[+-]?\d+)?|e[+-]?\d+)(?![\w.%])", re.IGNORECASE)
"""A number in a name that a program has computed; sizes and shares stay."""
_COMPUTED = re.compile(r"(?<![^\s:=(])[+-]?\d+\.\d+%?(?![^\s)])")
"""Such a number in a line that is no result: another start may print another one."""
_ASIDE = re.compile(r"\x1b\[[\d;]*m|^\W*(?:\d{4}-\d\d-\d\d[T ])?\d\d?:\d\d:\d\d\S*\s")
"""Colours, and the date and time of day of a log."""
_OVERWRITTEN = re.compile(rb"^[^\n]*\r(?=(?:\x1b\[[\d;?]*[A-Za-z])*[^\r\n\x1b])", re.MULTILINE)
"""What the rest of a line is written over; ends of lines and codes of a terminal write nothing."""
_AROUND = " \t:=-|,.;>→*#•"
_LONGEST = 300
"""Characters of a line that is read."""


def _read(source: Source) -> Iterator[Result]:
    """Yield what each line has of mean, median and fastest, named by the line above its block and its own words.

    That line stands directly above, and is no result. A name that comes again gets a number.
    """
    heading, seen = "", dict[str, int]()
    for line in source.lines():
        text = _ASIDE.sub("", line).rstrip() if len(line) < _LONGEST else ""
        text = _BEFORE.sub(lambda found: f": {found[3]} {found[1] or found[2]}", text)
        found = dict[str, tuple[Written, Digits]]()
        first, end = len(text), 0
        for match in _MEASURE.finditer(text):
            unit = written(match["unit"])
            # a rate is of something: bare operations are a count, and Hz may be the processor's
            bare = unit.metric == "throughput" and "/" not in match["unit"]
            if unit.metric == "value" or bare or match["spread"]:
                continue
            word = _WORD.search(text[end : match.start()])
            statistic = _STATISTICS.get(word[1].lower(), "value") if word else "value"
            first, end = min(first, match.start()), match.end()
            found.setdefault(statistic, (unit, Digits(match["number"].replace(",", ""))))
        chosen = next((each for each in _ORDER if each in found), None)
        if chosen is None and found:
            continue
        if chosen is None:
            heading = "" if _COMPUTED.search(text) else " ".join(text.strip(_AROUND).split())
            continue
        if not heading and text[:first].strip() == "(":
            continue  # a range that belongs to the line above, as mitata prints it
        name = "/".join(filter(None, (heading, _name(text[:first]) or _name(text[end:])))) or "time"
        seen[name] = seen.get(name, 0) + 1
        name += f" ({seen[name]})" if seen[name] > 1 else ""
        metric = found[chosen][0].metric
        for statistic in (chosen, *(each for each in ("median", "min") if each in found and chosen == "mean")):
            unit, value = found[statistic]
            if unit.metric == metric:
                yield ToolAggregate(
                    benchmark=name, metric=metric, statistic=statistic, value=value * unit.scale, unit=unit.unit,
                    better="higher" if metric == "throughput" else "lower",
                )  # fmt: skip


def _name(text: str) -> str:
    """Return the words of a name, without what statistic it is and what was computed."""
    text = _RESULT.sub("", text).strip(_AROUND)
    while (word := _WORD.search(text)) and word[1].lower() in _STATISTICS:
        text = text[: word.start()].strip(_AROUND + "(")
    # bars of a picture are no name
    return " ".join(text.removesuffix("(").split()) if re.search(r"\w", text) else ""


_WHOLE = printed(_read, 'lines such as "parse: 12.5 ms" or "parse x 1,234 ops/sec" are expected')


def _parse(data: bytes, units: Mapping[str, str | None]) -> dict[str, Series]:
    """Read the lines that have ended, as a terminal shows them in the end: without what a line was written over."""
    ended = data[: data.rfind(b"\n") + 1]
    # each character of UTF-16 has two bytes
    return _WHOLE(ended if ended.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else _OVERWRITTEN.sub(b"", ended), units)


LIVE = _parse
