"""The tree that Rust's divan prints -> values. Format: src/tree_painter.rs of divan 0.1.21."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from gate.adapters.suites import times
from gate.adapters.values import Series, number, refuse_cut_off

_BRANCH = re.compile(r"(?P<lead>[│ ]*)[├╰]─ (?P<rest>.*)")
# a name ends where the first column begins, and may hold single spaces itself
_ROW = re.compile(r"(?P<name>.*?)(?:\s{2,}(?P<fastest>\S.*?)?\s*)?")
_TIME = re.compile(r"([\d.]+) (ps|ns|µs|us|ms|s)", re.ASCII)
_SECONDS = {"ps": 1e-12, "ns": 1e-9, "µs": 1e-6, "us": 1e-6, "ms": 1e-3, "s": 1.0}
_INDENT = 3
_MEAN = 2
"""The place of the mean among the columns after the first: slowest, median, mean, samples and iters."""


def parse(data: bytes, units: Mapping[str, str | None]) -> dict[str, Series]:  # noqa: ARG001 - as all formats
    """Read the mean time of each benchmark, in seconds, named by its path in the tree ("sort::100").

    Raises:
        OutputError: there is no benchmark, two have one name, a mean is no number, or the last line has no newline.
    """
    read = times(_means(data.decode("utf-8", "replace")), "the tree that divan prints is expected")
    refuse_cut_off(data, "the output")
    return read


def _means(text: str) -> Iterator[tuple[str, float]]:
    above: list[str] = []
    for line in text.splitlines():
        branch = _BRANCH.match(line)
        if branch is None:
            continue
        first, *columns = branch["rest"].split(" │ ")
        row = _ROW.fullmatch(first)
        name = row["name"] if row else first
        depth = len(branch["lead"]) // _INDENT
        above[depth:] = [name.strip()]
        mean = _TIME.fullmatch(columns[_MEAN].strip()) if len(columns) > _MEAN else None
        if mean:
            yield "::".join(above), number(mean[1].encode()) * _SECONDS[mean[2]]


FORMAT = parse
