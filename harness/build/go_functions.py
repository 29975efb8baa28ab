"""The order of a Go program's functions, which its linker shuffles: from the table that every one of them has.

The table stays in stripped programs (`-s -w`), because panics and the garbage collector need it: .gopclntab, in the
form that Go 1.18 and 1.20 gave it (Go's debug/gosym/pclntab.go).
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.build.elf import NAME, content, sections

_TABLE = ".gopclntab"
_MAGIC = {0xFFFFFFF0, 0xFFFFFFF1}
_COUNT, _NAMES, _FUNCTIONS = 0, 3, 7  # places of words in the table's header
_WORDS = 8


def layout_of(project: Path, artifacts: Sequence[str]) -> str | None:
    """Give the digest of the functions of all Go programs among the artifacts, in the order of their addresses.

    None: there are none, or none that can be read.
    """
    digest, found = hashlib.sha256(), False
    for path in sorted(artifacts):
        try:
            for name in _functions(project / path):
                digest.update(name + b"\0")
                found = True
        except (OSError, ValueError, IndexError, OverflowError, struct.error):
            return None
        digest.update(b"\0")
    return f"sha256:{digest.hexdigest()}" if found else None


def _functions(path: Path) -> Iterator[bytes]:
    """Give the names of a program's functions by address; of what is no Go program, none."""
    if not path.is_file():
        return
    with path.open("rb") as file:
        headers, names = sections(file, 0)
        for header in headers:
            if names[header[NAME] : names.index(b"\0", header[NAME])].endswith(_TABLE.encode()):
                yield from _of_table(content(file, 0, header))


def _of_table(table: bytes) -> Iterator[bytes]:
    order = "<" if int.from_bytes(table[:4], "little") in _MAGIC else ">"
    if struct.unpack_from(f"{order}I", table)[0] not in _MAGIC:
        raise ValueError("another version of the table")
    words = struct.unpack_from(f"{order}{_WORDS}{'Q' if table[7] == 8 else 'I'}", table, 8)
    names, functions = words[_NAMES], words[_FUNCTIONS]
    for _, place in struct.iter_unpack(f"{order}II", table[functions : functions + 8 * words[_COUNT]]):
        start = names + struct.unpack_from(f"{order}i", table, functions + place + 4)[0]
        yield table[start : table.index(b"\0", start)]
