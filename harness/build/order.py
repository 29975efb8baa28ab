"""The order of the object files of a link: keyed by the seed and their names, so that each keeps its place by itself.

An object that is added or removed moves no other: base and head have one order for what they share. What an order needs
of an ELF object, its sections and its global symbols, is read here, too.
"""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence

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

_ELF = b"\x7fELF\2\1"
"""Of 64 bits, the lower byte first: others are left alone."""
_HEADER, _SYMBOL = "<IIQQQQIIQQ", "<IBBHQQ"

NEEDED, EQUIVALENT, OWN = range(3)
"""What an object has of a symbol: a reference, a definition that each object with this group repeats, its own one."""


def is_relocatable(head: bytes) -> bool:
    """Return whether a file of which these are the first bytes (18) is an ELF object to be linked (ET_REL)."""
    return head.startswith(_ELF) and head[16:18] == b"\1\0"


def sections(file: BinaryIO, start: int) -> tuple[list[tuple[int, ...]], bytes]:
    """Give the section headers of the object at an offset, and the table of their names; of no ELF, none.

    Raises: OSError, ValueError, IndexError, OverflowError, struct.error: it is not what it seems.
    """
    file.seek(start)
    head = file.read(64)
    if not head.startswith(_ELF) or len(head) < 64:
        return [], b""
    (offset,) = struct.unpack_from("<Q", head, 40)
    size, count, names = struct.unpack_from("<HHH", head, 58)
    if not offset or size != struct.calcsize(_HEADER):
        return [], b""
    file.seek(start + offset)
    first = struct.unpack(_HEADER, file.read(size))
    count = count or first[SIZE]  # with more than 65,279 sections the first one says how many
    names = first[LINK] if names == 0xFFFF else names
    file.seek(start + offset)
    found = list(struct.iter_unpack(_HEADER, file.read(size * count)))
    return found, content(file, start, found[names])


def symbols(file: BinaryIO, start: int) -> Iterator[tuple[bytes, int]]:
    """Give the global symbols of the object at an offset: name, and NEEDED, EQUIVALENT or OWN. Weak needs are none.

    Raises: As sections does.
    """
    found, _ = sections(file, start)
    table = next((section for section in found if section[TYPE] == _SYMBOLS), None)
    if table is None:
        return
    names = content(file, start, found[table[LINK]])
    # those before INFO are local
    for place, what, _, section, _, _ in struct.iter_unpack(
        _SYMBOL, content(file, start, table)[table[INFO] * struct.calcsize(_SYMBOL) :]
    ):
        if section or what >> 4 == _GLOBAL:
            grouped = section < _RESERVED and found[section][FLAGS] & _GROUP
            name = names[place : names.index(b"\0", place)]
            yield name, NEEDED if not section else EQUIVALENT if grouped else OWN


def content(file: BinaryIO, start: int, section: tuple[int, ...]) -> bytes:
    """Give the bytes of a section of the object at an offset."""
    file.seek(start + section[OFFSET])
    return file.read(section[SIZE])


try:
    from _blake2 import blake2b  # hashlib would load OpenSSL for it: 5 ms a link
except ImportError:
    from hashlib import blake2b

# Where these stand the order of objects is a matter of more than speed, or arguments are no plain inputs.
_DOUBTFUL = {
    "r", "i", "Ur", "relocatable",  # the layout of one object file, made for another link
    "script", "default-script", "dT", "c", "mri-script",  # a layout by file: an embedded system's vectors come first
    "b", "format", "oformat",  # inputs or outputs that are no ELF
    "allow-multiple-definition", "muldefs",  # the first definition wins
    "symbol-ordering-file", "section-ordering-file", "call-graph-ordering-file", "shuffle-sections",
    "bp-startup-sort", "bp-compression-sort",  # someone chose the order already
}  # fmt: skip
# After an option that may take the next argument as its value, an object stays; these take none.
_VALUELESS = {
    "as-needed", "no-as-needed", "Bstatic", "Bdynamic", "dn", "dy", "static", "pie", "no-pie", "shared", "build-id",
    "eh-frame-hdr", "start-group", "(", "end-group", ")", "whole-archive", "no-whole-archive", "push-state",
    "pop-state", "gc-sections", "no-gc-sections", "export-dynamic", "E", "s", "S", "strip-all", "strip-debug",
    "no-undefined", "end-lib", "relax", "no-relax",
}  # fmt: skip
_OBJECT = (".o", ".obj")
# gcc's own first and last objects: crt1.o, crtbeginS.o, crtn.o, vtv_start.o, libasan_preinit.o
_FIXED = ("crt", "vtv_", "_preinit")

# What compilers draw at random or by a hash of all: app-HASH.app.HASH-cgu.0.rcgu.o of rustc,
_HASHES = re.compile(r"(?<=-)[0-9a-f]{16}(?=\.)|(?<=\.)[0-9a-f]{9,16}(?=-cgu\.)")
# rustcXXXXXX/symbols.o, and, in a folder for temporary files, ccXXXXXX.o of gcc and NAME-XXXXXX.o of clang
_OF_RUSTC = re.compile(r"(^|/)rustc\w{6}/")
_OF_GCC = re.compile(r"cc\w{6}(?=\.)")
_OF_CLANG = re.compile(r"-[0-9a-f]{6,10}(?=\.)")
# of a Rust symbol: the hash at its end, or of the crate (it has the crate's version in it)
_OF_SYMBOL = re.compile(r"17h[0-9a-f]{16}E|(?<=C)s[0-9a-zA-Z]*_(?=\d)")

# What a system or a toolchain has stays, and is nobody's change.
_SYSTEM = ("/usr/", "/lib/", "/lib64/", "/proc/", "/dev/", "/sys/")
_OF_RUST = "/lib/rustlib/"


def relocatable(path: str) -> bool:
    """Return whether a file is an object to be linked: ELF of that type (ET_REL), or the bitcode of LLVM.

    What is named .o may be a shared library or an archive, and then its place counts.
    """
    try:
        with open(path, "rb") as file:  # pathlib would cost more than the file
            head = file.read(18)
    except OSError:
        return False
    return is_relocatable(head) or head.startswith((b"BC\xc0\xde", b"\xde\xc0\x17\x0b"))


def permuted(arguments: Sequence[str], found: Iterable[Sequence[int]], seed: int, directory: str) -> list[str]:
    """Return a linker's arguments with each run of object files (see runs) in the order of the seed.

    directory: where the link runs.
    """
    result = list(arguments)
    for run in found:
        names = [stable_name(arguments[place], directory) for place in run]
        for place, taken in zip(run, keyed_order(names, seed), strict=True):
            result[place] = arguments[run[taken]]
    return result


def keyed_order(names: Sequence[str], seed: int) -> list[int]:
    """Give the positions of names in the order of a keyed hash; equal names count as the first, the second, ..."""
    seen: dict[str, int] = {}
    keys = []
    for place, name in enumerate(names):
        seen[name] = seen.get(name, -1) + 1
        text = f"{seed}\0{seen[name]}\0{name}"
        keys.append((blake2b(text.encode(errors="surrogateescape"), digest_size=16).digest(), place))
    return [place for _, place in sorted(keys)]


def stable_name(path: str, directory: str) -> str:
    """Name an object file as every build names it: relative to the directory of the link, without random parts."""
    inner = os.path.relpath(path, directory) if os.path.isabs(path) else path
    if os.path.isabs(path) and inner.startswith(".."):
        name = os.path.basename(inner)
        short = _OF_CLANG.sub("", _OF_GCC.sub("cc", name, count=1), count=1)
        if short != name:
            return short
    return _HASHES.sub("", _OF_RUSTC.sub(r"\1", inner))


def stable_symbol(symbol: str) -> str:
    """Name a function as every build names it: without the hashes of rustc."""
    return _OF_SYMBOL.sub("", symbol)


def doubtful(arguments: Iterable[str]) -> bool:
    """Return whether the order of a link is better left alone."""
    return any(
        option_name(argument) in _DOUBTFUL or argument.startswith("-T") or argument == "muldefs"
        for argument in arguments
    )


def option_name(argument: str) -> str:
    """Give the name of an option, without dashes and value; "" for what is none."""
    # ld takes long options with one dash too
    return argument.lstrip("-").partition("=")[0] if argument.startswith("-") else ""


def runs(arguments: Sequence[str], is_object: Callable[[str], bool]) -> list[list[int]]:
    """Give the positions of object files that may change places, those of one run together.

    Archives, libraries, options and gcc's own objects keep their places; so does an object that may be the value of
    the option before it. Of arguments with a linker script, -r or the like, there are none.
    """
    if doubtful(arguments):
        return []
    found: list[list[int]] = [[]]
    lazily = False  # between --start-lib and --end-lib objects are taken as from an archive
    before = ""
    for place, argument in enumerate(arguments):
        lazily = option_name(argument) == "start-lib" or (lazily and option_name(argument) != "end-lib")
        name = os.path.basename(argument)  # pathlib's import is not needed for it
        own = argument.endswith(_OBJECT) and argument[0] not in "-@" and not any(part in name for part in _FIXED)
        if not lazily and own and not may_take(before) and is_object(argument):
            found[-1].append(place)
        elif found[-1]:
            found.append([])
        before = argument
    return [run for run in found if run]


def may_take(option: str) -> bool:
    """Return whether the argument after an option may be its value, and then it is no input."""
    if not option.startswith("-") or "=" in option or option_name(option) in _VALUELESS:
        return False
    attached = option.startswith(("-L", "-l", "-O")) and len(option) > 2
    return not attached


def of_system(path: str) -> bool:
    """Return whether a file belongs to the system or to a toolchain."""
    whole = os.path.realpath(path)
    return whole.startswith(_SYSTEM) or _OF_RUST in whole
