"""The formats: a file each, whose FORMAT says what it reads, `recognises` by its beginning, `read` the whole of it.

A new format is one new file here, and a small real file in tests/data/results.
"""

from __future__ import annotations

from importlib import import_module

from gate.formats.parts.result import Adapter


def adapter(name: str) -> Adapter:
    """Import a format by its name."""
    found: Adapter = import_module(f"{__name__}.{name}")
    return found
