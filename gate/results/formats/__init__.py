"""The formats: a file each, whose FORMAT says what it reads, `recognises` by its beginning, `read` the whole of it.

A new format is one new file here, and a small real file in tests/data/results.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

from gate.cli.listing import modules
from gate.results.result import Adapter


@cache
def names() -> tuple[str, ...]:
    """Return the names of all formats: of the modules of this folder."""
    return modules("gate/results/formats")


def adapter(name: str) -> Adapter:
    """Import a format by its name."""
    found: Adapter = import_module(f"{__name__}.{name}")
    return found
