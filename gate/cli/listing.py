"""Registries: what there is of a kind, by the names of the files that make it; nothing is imported."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
"""Where the packages gate and harness lie."""
_PRINTED = ("csv", "summary", "text")
"""Formats that only `report --format` prints; every other one is an option of its own, which names a file."""


@cache
def modules(folder: str) -> tuple[str, ...]:
    """Return the names of the modules of a folder, sorted."""
    return tuple(sorted(file.stem for file in (ROOT / folder).glob("[!_]*.py")))


@cache
def declaring(folder: str, name: str) -> tuple[str, ...]:
    """Return the modules of a folder whose text sets a name at its top level, sorted."""
    declares = re.compile(rf"^{name}\b[^=\n]*=", re.MULTILINE)
    return tuple(m for m in modules(folder) if declares.search((ROOT / folder / f"{m}.py").read_text(encoding="utf-8")))


def report_formats() -> tuple[str, ...]:
    """Return the formats of reports: the modules of gate/report/formats."""
    return modules("gate/report/formats")


def file_formats() -> tuple[str, ...]:
    """Return those that an option writes into a file."""
    return tuple(name for name in report_formats() if name not in _PRINTED)


def value_formats() -> tuple[str, ...]:
    """Return the formats that the values instrument reads: the modules of gate/formats with a LIVE."""
    return declaring("gate/formats", "LIVE")


def result_formats() -> tuple[str, ...]:
    """Return the formats of other tools' result files: the modules of gate/formats with a FORMAT."""
    return declaring("gate/formats", "FORMAT")
