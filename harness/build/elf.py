"""What the order of a link needs of an ELF object: its sections and its global symbols."""

from __future__ import annotations

import struct
from collections.abc import Iterator

TYPE_CHECKING = False  # typing takes 3 ms to import, at each link
if TYPE_CHECKING:
    from typing import BinaryIO

# Of a section's header, as sections() gives it.
NAME, TYPE, FLAGS, OFFSET, SIZE, LINK, INFO = 0, 1, 2, 4, 5, 6, 7
EXECUTABLE = 4
_SYMBOLS = 2  # SHT_SYMTAB
_GROUP = 0x200  # SHF_GROUP
_GLOBAL = 1  # STB_GLOBAL
_RESERVED = 0xFF00  # SHN_LORESERVE: absolute, common, or with an index elsewhere

NEEDED, EQUIVALENT, OWN = range(3)
"""What an object has of a symbol: a reference, a definition that each object with this group repeats, its own one."""


def is_relocatable(head: bytes) -> bool:
    """Return whether a file of which these are the first bytes (18) is an ELF object to be linked (ET_REL)."""
    return head.startswith(b"\x7fELF") and len(head) >= 18 and head[16:18] == (b"\1\0" if head[5] == 1 else b"\0\1")


def sections(file: BinaryIO, start: int) -> tuple[list[tuple[int, ...]], bytes]:
    """Give the section headers of the object at an offset, and the table of their names; of no ELF, none.

    Raises:
        OSError, ValueError, IndexError, OverflowError, struct.error: it is not what it seems.
    """
    file.seek(start)
    head = file.read(64)
    if not head.startswith(b"\x7fELF") or len(head) < 64:
        return [], b""
    order, wide = _form(head)
    header = order + ("IIQQQQIIQQ" if wide else "10I")
    (offset,) = struct.unpack_from(order + ("Q" if wide else "I"), head, 40 if wide else 32)
    size, count, names = struct.unpack_from(f"{order}HHH", head, 58 if wide else 46)
    if not offset or size != struct.calcsize(header):
        return [], b""
    file.seek(start + offset)
    first = struct.unpack(header, file.read(size))
    count = count or first[SIZE]  # with more than 65,279 sections the first one says how many
    names = first[LINK] if names == 0xFFFF else names
    file.seek(start + offset)
    found = list(struct.iter_unpack(header, file.read(size * count)))
    return found, content(file, start, found[names])


def symbols(file: BinaryIO, start: int) -> Iterator[tuple[bytes, int]]:
    """Give the global symbols of the object at an offset: name, and NEEDED, EQUIVALENT or OWN. Weak needs are none.

    Raises:
        As sections does.
    """
    found, _ = sections(file, start)
    table = next((section for section in found if section[TYPE] == _SYMBOLS), None)
    if table is None:
        return
    file.seek(start)
    order, wide = _form(file.read(6))
    form = order + ("IBBHQQ" if wide else "IIIBBH")
    what, where = (1, 3) if wide else (3, 5)
    names = content(file, start, found[table[LINK]])
    # those before INFO are local
    for symbol in struct.iter_unpack(form, content(file, start, table)[table[INFO] * struct.calcsize(form) :]):
        section = symbol[where]
        if section or symbol[what] >> 4 == _GLOBAL:
            grouped = section < _RESERVED and found[section][FLAGS] & _GROUP
            name = names[symbol[0] : names.index(b"\0", symbol[0])]
            yield name, NEEDED if not section else EQUIVALENT if grouped else OWN


def _form(head: bytes) -> tuple[str, bool]:
    return "<" if head[5] == 1 else ">", head[4] == 2


def content(file: BinaryIO, start: int, section: tuple[int, ...]) -> bytes:
    """Give the bytes of a section of the object at an offset."""
    file.seek(start + section[OFFSET])
    return file.read(section[SIZE])
