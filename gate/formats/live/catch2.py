"""The XML of C++'s Catch2 (`--reporter xml`) -> values.

Format: src/catch2/reporters/catch_reporter_xml.cpp of Catch2 3; Catch2 2.9 and later write the same of benchmarks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from xml.etree.ElementTree import Element, ParseError, XMLParser

from gate.formats.live.suites import times
from gate.formats.live.values import OutputError, Series

_ENTITIES = re.compile(rb"<!(DOCTYPE|ENTITY)")


def parse(data: bytes, units: Mapping[str, str | None]) -> dict[str, Series]:  # noqa: ARG001 - as all formats
    """Read the mean of each BENCHMARK, in seconds, named "test case/section/benchmark".

    Raises:
        OutputError: it is no such XML, there is no benchmark, one failed, or two have one name.
    """
    # a benchmark's output is not trusted: entities could expand without end
    if _ENTITIES.search(data):
        raise OutputError("this is not the XML of Catch2: it declares a document type")
    try:
        parser = XMLParser()  # noqa: S314 - see above
        parser.feed(data)
        root = parser.close()
    except (LookupError, ParseError, ValueError) as error:
        raise OutputError(f"this is not the XML of Catch2: {error}") from None
    return times(_means(root, ""), "the XML of Catch2 with <BenchmarkResults> is expected")


def _means(element: Element, above: str) -> Iterator[tuple[str, float]]:
    for child in element:
        name = child.get("name", "")
        if child.tag in ("TestCase", "Section"):
            yield from _means(child, f"{above}{name}/")
        elif child.tag == "BenchmarkResults":
            mean = child.find("mean")
            value = None if mean is None else mean.get("value")
            if child.find("failed") is not None or value is None:
                raise OutputError(f"benchmark {above + name!r} failed")
            try:
                yield above + name, float(value) * 1e-9
            except ValueError:
                raise OutputError(f"benchmark {above + name!r}: {value!r} is not a number") from None
        else:
            # Catch2 2 puts test cases into groups
            yield from _means(child, above)


FORMAT = parse
