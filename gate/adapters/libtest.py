"""The lines of Rust's own benches (`#[bench]`) and of the crate bencher, which prints the same -> values.

Format: library/test/src/formatters/pretty.rs of Rust and bencher's src/lib.rs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from gate.adapters.suites import NAME, times
from gate.adapters.values import Series, refuse_cut_off

RESULT = re.compile(
    r"\.\.\. bench:\s+(?P<value>\d[\d,]*(?:\.\d+)?) ns/iter \((?:[^)\n]*\)(?: = (?P<rate>\d+) MB/s)?)?", re.ASCII
)
"""What follows a name, with the bytes that are worked through in millions a second if the benchmark says how many."""
_LINE = re.compile(rf"^test (?P<name>{NAME})\s++{RESULT.pattern}", re.MULTILINE | re.ASCII)


def parse(data: bytes, units: Mapping[str, str | None]) -> dict[str, Series]:  # noqa: ARG001 - as all formats
    """Read "test NAME ... bench:  1,234.56 ns/iter (+/- 7)": one time in seconds for each benchmark, by its name.

    Raises:
        OutputError: there is no such line, two with one name, or a last line without a newline.
    """
    lines = _LINE.finditer(data.decode("utf-8", "replace"))
    found = ((line["name"], float(line["value"].replace(",", "")) * 1e-9) for line in lines)
    read = times(found, 'lines such as "test NAME ... bench: 12 ns/iter (+/- 3)" are expected')
    refuse_cut_off(data, "the output")
    return read


FORMAT = parse
