"""The order of functions: where the linker takes one by name (-ffunction-sections), and in a Go program.

lld has --symbol-ordering-file, gold and GNU ld from 2.43 on --section-ordering-file. mold has none; it can shuffle.

Go's linker shuffles by itself. Its table stays in stripped programs (`-s -w`), because panics and the garbage collector
need it: .gopclntab, in the form that Go 1.18 and 1.20 gave it (Go's debug/gosym/pclntab.go).
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import struct
from collections.abc import Callable, Iterator, Sequence

from harness.build.order import (
    EXECUTABLE,
    FLAGS,
    NAME,
    content,
    doubtful,
    keyed_order,
    of_system,
    sections,
    stable_symbol,
)

TYPE_CHECKING = False  # typing takes 3 ms to import, at each link
if TYPE_CHECKING:
    from typing import BinaryIO


_PREFIX = ".text."
# What compilers group so keeps its group: main() and constructors, cold code, code that a profile found hot.
_GROUPS = re.compile(r"\.text\.(unlikely|hot|startup|exit|split|unknown|sorted)(\.|$)|.*_unlikely$")
_PLAIN = re.compile(r"[\w.$]+", re.ASCII)
_MEMBER = 60  # bytes of the header of an archive's member
_VERSION = re.compile(r"GNU ld .*?(\d+)\.(\d+)")


def section_names(path: str) -> list[str]:
    """List the sections of functions that may change places: of an object file, or of an archive's members.

    Raises: OSError, ValueError, struct.error: the file cannot be read, or is not what it seems.
    """
    found: list[str] = []
    with open(path, "rb") as file:
        if file.read(8) != b"!<arch>\n":
            return _of_object(file, 0)
        place = 8
        while len(header := file.read(_MEMBER)) == _MEMBER:
            found += _of_object(file, place + _MEMBER)
            place += _MEMBER + int(header[48:58])
            place += place % 2
            file.seek(place)
    return found


def _of_object(file: BinaryIO, start: int) -> list[str]:
    found, (headers, table) = [], sections(file, start)
    for section in headers:
        if section[FLAGS] & EXECUTABLE:
            name = table[section[NAME] : table.index(b"\0", section[NAME])].decode(errors="replace")
            if name.startswith(_PREFIX) and not _GROUPS.match(name) and _PLAIN.fullmatch(name):
                found.append(name)
        elif table.startswith(b".llvm.call-graph-profile", section[NAME]):
            raise ValueError("a profile chose the order")
    return found


def ordering(
    linker: str, arguments: Sequence[str], seed: int, located: Callable[[str], str], objects: bool
) -> tuple[list[str], str]:
    """Return options that order the functions of a link, and what they order: "functions", "shuffled" or "".

    located: where an input is now. objects: whether the order of objects varies; a shuffle would undo it.
    """
    if doubtful(arguments):
        return [], ""
    known = {os.path.basename(linker), os.path.basename(os.path.realpath(linker))}
    kind = next((each for each in ("lld", "gold", "mold") if any(each in name for name in known)), "")
    if not kind and any(name.rpartition("-")[2] in ("ld", "ld.bfd") for name in known):
        kind = "bfd"
    if not kind or (kind == "mold" and objects):
        return [], ""
    try:
        names = {name for path in _inputs(arguments, located) for name in section_names(path)}
    except (OSError, ValueError, IndexError, OverflowError, struct.error):
        return [], ""
    if len(names) < 2 or (kind == "bfd" and not _takes_sections(linker)):
        return [], ""
    if kind == "mold":
        return [f"--shuffle-sections={seed % 2**31 or 1}"], "shuffled"
    # equal names without their hashes take turns in the order of the hashes
    listed = sorted(names)
    order = [listed[place] for place in keyed_order([stable_symbol(name) for name in listed], seed)]
    if kind == "lld":
        lines = [name.removeprefix(_PREFIX) for name in order]
        return [f"--symbol-ordering-file={_in_memory(lines)}", "--no-warn-symbol-ordering"], "functions"
    if kind == "bfd":
        order = [".text : {", *(f"*({name})" for name in order), "}"]
    return [f"--section-ordering-file={_in_memory(order)}"], "functions"


def _takes_sections(linker: str) -> bool:
    read, write = os.pipe()
    process = os.posix_spawn(linker, [linker, "--version"], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, write, 1)])
    os.close(write)
    with open(read, "rb") as answer:
        found = _VERSION.match(answer.read().decode(errors="replace"))
    os.waitpid(process, 0)
    return found is not None and (int(found[1]), int(found[2])) >= (2, 43)


def _inputs(arguments: Sequence[str], located: Callable[[str], str]) -> Iterator[str]:
    """Give the object files and archives of a link that are the project's own."""
    folders = [argument[2:] for argument in arguments if argument.startswith("-L")]
    for argument in arguments:
        if argument.startswith("-l"):
            places = [os.path.join(folder, f"lib{argument[2:]}.a") for folder in folders]
            path = next((place for place in places if os.path.isfile(located(place))), "")
        else:
            path = argument if argument.endswith((".o", ".obj", ".a", ".rlib")) else ""
        path = located(path) if path else ""
        if path and os.path.isfile(path) and not of_system(path):
            yield path


def _in_memory(lines: Sequence[str]) -> str:
    """Write lines to a file in memory, which the linker inherits."""
    file = os.memfd_create("order", 0)
    with open(file, "w", encoding="utf-8", closefd=False) as out:
        out.write("\n".join([*lines, ""]))
    return f"/proc/self/fd/{file}"


_TABLE = ".gopclntab"
_MAGIC = {0xFFFFFFF0, 0xFFFFFFF1}
_COUNT, _NAMES, _FUNCTIONS = 0, 3, 7  # places of words in the table's header
_WORDS = 8


def layout_of(opened: Callable[[str], int], artifacts: Sequence[str]) -> str | None:
    """Give the digest of the functions of all Go programs among the artifacts, in the order of their addresses.

    opened: opens an artifact. None: there are none, or none that can be read.
    """
    digest, found = hashlib.sha256(), False
    for path in sorted(artifacts):
        try:
            for name in _functions(opened(path)):
                digest.update(name + b"\0")
                found = True
        except (OSError, ValueError, IndexError, OverflowError, struct.error):
            return None
        digest.update(b"\0")
    return f"sha256:{digest.hexdigest()}" if found else None


def _functions(descriptor: int) -> Iterator[bytes]:
    """Give the names of a program's functions by address; of what is no Go program, none."""
    if stat.S_ISDIR(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return
    with open(descriptor, "rb") as file:
        headers, names = sections(file, 0)
        for header in headers:
            if names[header[NAME] : names.index(b"\0", header[NAME])].endswith(_TABLE.encode()):
                yield from _of_table(content(file, 0, header))


def _of_table(table: bytes) -> Iterator[bytes]:
    if struct.unpack_from("<I", table)[0] not in _MAGIC:
        raise ValueError("another version of the table")
    words = struct.unpack_from(f"<{_WORDS}Q", table, 8)
    names, functions = words[_NAMES], words[_FUNCTIONS]
    for _, place in struct.iter_unpack("<II", table[functions : functions + 8 * words[_COUNT]]):
        start = names + struct.unpack_from("<i", table, functions + place + 4)[0]
        yield table[start : table.index(b"\0", start)]
