"""The tables that Catch2 (2.9 to 3) prints of its benchmarks, and its XML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal
from xml.etree.ElementTree import Element, ParseError, XMLPullParser

import msgspec

from gate.formats.parts.live import printed
from gate.formats.parts.output import NAME, OutputError
from gate.formats.parts.result import About, FailedResult, Format, Result, ToolAggregate
from gate.formats.parts.source import Source
from gate.model.bounds import Digits
from gate.writing.units import to_base

FORMAT = Format(title="Catch2 (standard output, `--reporter xml`)", again="number")
_VERSION = re.compile(r"^.* is a Catch2? v(\d[\w.]*) host application", re.MULTILINE)
_ROOT = re.compile(r"<Catch(2TestRun)? [^>]*>")
_XML_VERSION = re.compile(r'catch2-version="([^"]*)"')
_TIME = r"(\d[\d.e+-]*) (ns|us|ms|s|m)"
_ROW = re.compile(rf"(?P<name>\s*+{NAME}|)\s++(?P<samples>\d+)\s+\d+\s+(?P<time>{_TIME})\s*", re.ASCII)
# what the benchmark printed may stand before them
_THREE = re.compile(rf"(?:.*\s)?{_TIME}\s+{_TIME}\s+{_TIME}\s*", re.ASCII)
_FAILED = re.compile(rf"(?P<name>\s*+{NAME}|)\s*+Benchmark failed \((?P<why>.*)")
_PLACE = re.compile(r"\S.*(:\d+|\(\d+\))")
_ASSERTED = re.compile(r"\S.*(?::\d+|\(\d+\)): FAILED:")
_CLOSES = tuple("])}>*+-=&/\\")


def recognises(source: Source) -> bool:
    """Return whether it begins with Catch2's XML, or holds the header of its table."""
    text = source.head.text
    return _is_xml(text) or any(_is_header(line) for line in source.head.lines) or (_VERSION.search(text) is not None)


def _is_xml(text: str) -> bool:
    return text.lstrip().startswith("<") and _ROOT.search(text[:4096]) is not None


def _is_header(line: str) -> bool:
    words = line.split()
    return words[:2] == ["benchmark", "name"] and "samples" in words and "iterations" in words


def read(source: Source) -> Iterator[Result]:
    """Yield the mean of each benchmark, named "test case/section/benchmark"."""
    is_xml = _is_xml(source.head.text)
    version = (_XML_VERSION if is_xml else _VERSION).search(source.head.text)
    yield About(tool=f"Catch2 {version[1]}" if version else "Catch2")
    broken: set[str] = set()
    for result in _xml(source) if is_xml else _table(source):
        if isinstance(result, str):
            # a benchmark that failed lets its test case fail, and is there already; several assertions may fail
            if result not in broken:
                yield FailedResult(benchmark=result or None, status="the test case failed")
            broken.add(result)
            continue
        if isinstance(result, FailedResult):
            broken.add((result.benchmark or "").partition("/")[0])
        elif result.low == result.high:
            # an interval without a width is none: --benchmark-no-analysis
            result = msgspec.structs.replace(result, low=None, high=None, sd=None, confidence=None)
        yield result


_Found = ToolAggregate | FailedResult | str
"""The text is a test case that failed: what its benchmarks gave may be of a program that did not do its work."""


def _xml(source: Source) -> Iterator[_Found]:
    parser: XMLPullParser[Any] = XMLPullParser(("start", "end"))
    names: list[str] = []
    try:
        for line in source.lines():
            # the file is not trusted: entities could expand without end
            if "<!DOCTYPE" in line:
                raise OutputError("this is not the XML of Catch2: it declares a document type")
            parser.feed(f"{line.removeprefix(chr(0xFEFF))}\n".replace(' encoding="UTF-8"', ""))
            found: Iterator[Any] = parser.read_events()
            for event, element in found:
                is_named = element.tag in ("TestCase", "Section")
                if is_named and event == "start":
                    names.append(element.get("name", ""))
                elif is_named and names:
                    names.pop()
                    element.clear()
                elif element.tag == "BenchmarkResults" and event == "end":
                    yield _result(element, "/".join((*names, element.get("name", ""))))
                elif (
                    element.tag == "OverallResult" and event == "start" and element.get("success") == "false" and names
                ):
                    yield names[0]
        parser.close()
    except OutputError:
        raise
    except (ParseError, ValueError, LookupError) as error:
        yield FailedResult(benchmark=None, status=f"the XML is cut off or broken: {error!s}")


def _result(element: Element, name: str) -> ToolAggregate | FailedResult:
    failed, mean, deviation = (element.find(tag) for tag in ("failed", "mean", "standardDeviation"))
    value = _nanoseconds(mean, "value")
    if failed is not None or mean is None or value is None:
        why = failed.get("message") if failed is not None else None
        return FailedResult(benchmark=name, status=why or "it has no mean")
    samples = element.get("samples", "")
    confidence = mean.get("ci", "")
    return ToolAggregate(
        benchmark=name, metric="time", statistic="mean", value=value, unit="s", low=_nanoseconds(mean, "lowerBound"),
        high=_nanoseconds(mean, "upperBound"), sd=_nanoseconds(deviation, "value"),
        confidence=float(confidence) if re.fullmatch(r"0\.\d+", confidence, re.ASCII) else None,
        count=int(samples) if re.fullmatch(r"\d{1,9}", samples, re.ASCII) else None,
    )  # fmt: skip


def _nanoseconds(element: Element | None, key: str) -> float | None:
    try:
        return float(element.get(key, "")) * 1e-9 if element is not None else None
    except ValueError:
        return None


class _Table:
    def __init__(self) -> None:
        self.place: Literal["outside", "path", "heading", "rows"] = "outside"
        self.path: list[str] = []
        """The lines between two rules that name a test case and its sections."""
        self.above: list[str] = []
        """The test case and its sections."""
        self.alone = False
        """The mean stands beside the name, without an interval: --benchmark-no-analysis."""
        self.parts: list[str] = []
        """The lines of a name that the table breaks."""
        self.begun: tuple[str, int, int] | None = None
        """A benchmark whose mean comes next, with its samples and line."""
        self.mean: list[float] = []

    def unread(self) -> Iterator[FailedResult]:
        """Give up the benchmark whose mean was to come, which what it prints may hide."""
        if self.begun is not None:
            yield FailedResult(benchmark=self.begun[0], status=f"line {self.begun[2]}: its mean cannot be read")
        self.begun, self.mean = None, []

    def rule(self) -> None:
        """Go on to what stands below a rule of dashes."""
        if self.place == "heading":
            self.place = "rows"
        elif self.place == "path":
            # name the test case and its sections, which stand indented below it
            names: list[str] = []
            for line in self.path:
                if line.startswith("  ") or not names:
                    names.append(line.strip())
                else:
                    names[-1] += f" {line.strip()}"
            self.place, self.above = "outside", names
        else:
            self.place, self.path = "path", []

    def name(self, last: str) -> str:
        """Name a benchmark, whose name ends in a line."""
        text = ""
        for part in (*self.parts, last):
            text += part.strip() if not text or text.endswith(_CLOSES) else f" {part.strip()}"
        self.parts = []
        return "/".join((*self.above, text.strip()))


def _table(source: Source) -> Iterator[_Found]:
    table = _Table()
    for number, raw in enumerate(source.lines(), 1):
        line = raw.rstrip()
        if _is_header(line):
            yield from table.unread()
            table.place, table.parts = "heading", []
            table.alone = line.endswith("mean")
        elif set(line.strip()) == {"-"} and len(line) > 10:
            yield from table.unread()
            table.rule()
        elif set(line.strip()) in ({"="}, {"~"}, {"."}):
            yield from table.unread()
            table.place = "outside"
        elif table.place == "path":
            table.path.append(line)
        elif _ASSERTED.fullmatch(line):
            yield from table.unread()
            yield table.above[0] if table.above else ""
        elif table.place == "rows":
            # where a file is cut off "m" may be the beginning of "ms"
            if not (source.unended and line.endswith(" m")):
                yield from _line(table, line, number)
            elif row := _ROW.fullmatch(line):
                yield FailedResult(benchmark=table.name(row["name"]), status=f"line {number}: its mean cannot be read")
    yield from table.unread()


def _line(table: _Table, line: str, number: int) -> Iterator[ToolAggregate | FailedResult]:
    three, row, failed = _THREE.fullmatch(line), _ROW.fullmatch(line), _FAILED.fullmatch(line)
    if three and table.begun:
        times = [_seconds(three[n], three[n + 1]) for n in (1, 3, 5)]
        if not table.mean:
            table.mean = times
            return
        (name, samples, _), (mean, low, high) = table.begun, table.mean
        table.begun, table.mean = None, []
        yield ToolAggregate(
            benchmark=name, metric="time", statistic="mean", value=mean, unit="s", low=low, high=high, sd=times[0],
            count=samples,
        )  # fmt: skip
    elif failed:
        table.begun, table.mean = None, []
        why = failed["why"].strip().removesuffix(")")
        yield FailedResult(benchmark=table.name(failed["name"]), status=why or "it failed")
    elif row and table.alone:
        yield ToolAggregate(
            benchmark=table.name(row["name"]), metric="time", statistic="mean", value=_seconds(row[4], row[5]),
            unit="s", count=int(row["samples"][:9]),
        )  # fmt: skip
    elif row:
        yield from table.unread()
        table.begun = table.name(row["name"]), int(row["samples"][:9]), number
    elif line and table.begun is None and not _PLACE.fullmatch(line):
        # of a name; between a benchmark and its mean it is what it prints
        table.parts.append(line)
    elif not line:
        table.parts = []


def _seconds(number: str, unit: str) -> float:
    try:
        return Digits(number) * to_base(unit)[1]
    except ValueError:
        raise OutputError(f"{number} {unit} is not a time") from None


LIVE = printed(read, "the XML of Catch2 with <BenchmarkResults> is expected", recognises)
