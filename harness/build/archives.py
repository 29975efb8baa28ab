"""Static libraries of a project, their members in the order of the seed: a linker places what it takes in that order.

GNU ld and gold walk the symbol index again and again and take the members that define what is missing; lld goes by the
members, and so do all under --whole-archive. So a copy has both in the new order, and the linker is given the copy.
"""

from __future__ import annotations

import io
import os
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set

from harness.build.order import (
    EQUIVALENT,
    OWN,
    doubtful,
    is_relocatable,
    keyed_order,
    may_take,
    option_name,
    stable_name,
    symbols,
)

TREE = "PERFGATE_TREE"
"""Names the root of the tree that is built: what lies outside belongs to a toolchain, or to nobody's change."""

_LARGEST = 100_000_000
"""Bytes of all archives of a link: copies cost memory and time."""
_WHOLE, _THIN = b"!<arch>\n", b"!<thin>\n"
_HEADER = 60
_INDEX = {b"/": "I", b"/SYM64/": "Q"}
# It goes by the names of archives, and a copy has another.
_BY_NAME = "exclude-libs"
# What rustc itself reads, wrapped as an object
_METADATA = "lib.rmeta"
_WRONG = (OSError, ValueError, LookupError, OverflowError, struct.error)


class _Member:
    """One file of an archive. name: without the slash that ends it. header: as the archive has it."""

    __slots__ = ("header", "name", "place", "size")

    def __init__(self, name: str, place: int, header: bytes, size: int) -> None:
        self.name, self.place, self.header, self.size = name, place, header, size


class Archive:
    """An archive as it was read. path: where it is; the members of a thin one are found from there.

    Raises:
        OSError, ValueError, LookupError, OverflowError, struct.error: it has more than `room` bytes, no index of
            symbols, or a form that is left alone.
    """

    def __init__(self, path: str, room: int = _LARGEST) -> None:
        self.size = os.path.getsize(path)
        if self.size > room:
            raise ValueError("too large")
        with open(path, "rb") as file:
            self._data = file.read()
        self.thin = self._data.startswith(_THIN)
        if not self.thin and not self._data.startswith(_WHOLE):
            raise ValueError("no archive")
        self._form, self._index, self._names = "", b"", b""
        self._folder = os.path.dirname(os.path.abspath(path))
        self.members = list(self._read())
        if not self._form:
            raise ValueError("no index of symbols")
        size = struct.calcsize(">" + self._form)
        (count,) = struct.unpack_from(f">{self._form}", self._index)
        offsets = struct.unpack_from(f">{count}{self._form}", self._index, size)
        names = self._index[size * (count + 1) :].split(b"\0", count)[:count]
        by_place = {member.place: number for number, member in enumerate(self.members)}
        self.index = [(name, by_place[offset]) for name, offset in zip(names, offsets, strict=True)]
        self.moving = []
        for number, member in enumerate(self.members):
            head = b""
            if self.thin and member.name != _METADATA:
                with open(self._outside(member), "rb") as file:
                    head = file.read(18)
            elif member.name != _METADATA:
                head = self._data[member.place + _HEADER : member.place + _HEADER + 18]
            if is_relocatable(head):
                self.moving.append(number)
        if not {number for _, number in self.index} <= set(self.moving):
            raise ValueError("symbols of what is no ELF object")

    def _read(self) -> Iterator[_Member]:
        place = len(_WHOLE)
        while place < len(self._data):
            header = self._data[place : place + _HEADER]
            if header[58:] != b"`\n":
                raise ValueError("no member's header")
            name, size, start = header[:16].rstrip(), int(header[48:58]), place + _HEADER
            stored = size
            if name == b"//":
                self._names = self._data[start : start + size]
            elif name in _INDEX:
                if self._form:
                    raise ValueError("two indices")
                self._form, self._index = _INDEX[name], self._data[start : start + size]
            else:
                if name.startswith(b"/"):
                    begin = int(name[1:])  # "/0:12" of an archive in a thin one is none
                    name = self._names[begin : self._names.index(b"\n", begin)]
                if not name.endswith(b"/") or len(name) < 2:
                    raise ValueError("a name of another kind of archive")
                stored = 0 if self.thin else size
                yield _Member(os.fsdecode(name[:-1]), place, header, size)
            if start + stored > len(self._data):
                raise ValueError("cut short")
            place = start + stored + stored % 2

    def _outside(self, member: _Member) -> str:
        return os.path.join(self._folder, member.name)

    def repeated(self) -> set[bytes]:
        """Give the symbols that several members define."""
        found: dict[bytes, int] = {}
        return {name for name, number in self.index if found.setdefault(name, number) != number}

    def symbols(self) -> Iterator[tuple[bytes, int]]:
        """Give what the members have of global symbols, as harness.build.order does."""
        whole = io.BytesIO(self._data)
        for member in (self.members[number] for number in self.moving):
            if self.thin:
                with open(self._outside(member), "rb") as file:
                    yield from symbols(file, 0)
            else:
                yield from symbols(whole, member.place + _HEADER)

    def defining(self, names: Set[bytes]) -> Set[int]:
        """Give the numbers of the members that define one of some symbols."""
        return {number for name, number in self.index if name in names}

    def ordered(self, seed: int, first: Set[int]) -> Iterator[bytes]:
        """Give the pieces of a copy of the archive with its members in the order of a seed.

        first: members that come first, in the order that they have.
        """
        free = [number for number in self.moving if number not in first]
        stable = [stable_name(self.members[number].name, self._folder) for number in free]
        moved = [*sorted(first), *(free[taken] for taken in keyed_order(stable, seed))]
        sequence = list(range(len(self.members)))
        for place, number in zip(self.moving, moved, strict=True):
            sequence[place] = number
        rank = {number: place for place, number in enumerate(sequence)}
        index = sorted(self.index, key=lambda entry: rank[entry[1]])
        headers, table = self._named(sequence)
        size = struct.calcsize(">" + self._form)
        start = len(_WHOLE) + _HEADER + len(self._index) + len(self._index) % 2
        start += _HEADER + len(table) + len(table) % 2 if table else 0
        places = {}
        for number in sequence:
            places[number] = start
            start += _HEADER + (0 if self.thin else (self.members[number].size + 1) // 2 * 2)
        offsets = struct.pack(f">{1 + len(index)}{self._form}", len(index), *(places[number] for _, number in index))
        text = b"".join(name + b"\0" for name, _ in index).ljust(len(self._index) - size * (1 + len(index)), b"\0")
        yield _THIN if self.thin else _WHOLE
        yield from _special(b"/" if self._form == "I" else b"/SYM64/", offsets + text)
        if table:
            yield from _special(b"//", table)
        for number in sequence:
            member = self.members[number]
            yield headers[number]
            if not self.thin:
                begin = member.place + _HEADER
                yield self._data[begin : begin + member.size]
                yield b"\n" * (member.size % 2)

    def _named(self, sequence: Sequence[int]) -> tuple[dict[int, bytes], bytes]:
        """Give the members' headers and the table of their long names: of a thin one, whole paths."""
        if not self.thin:
            return {number: self.members[number].header for number in sequence}, self._names
        headers, table = {}, b""
        for number in sequence:
            member = self.members[number]
            headers[number] = f"/{len(table)}".encode().ljust(16) + member.header[16:]
            table += os.fsencode(self._outside(member)) + b"/\n"
        return headers, table


def _special(name: bytes, content: bytes) -> Iterator[bytes]:
    yield b"%-16s%-12d%-6d%-6d%-8d%-10d`\n" % (name, 0, 0, 0, 0, len(content))
    yield content
    yield b"\n" * (len(content) % 2)


def copies(
    arguments: Sequence[str], seed: int, located: Callable[[str], str], directory: str, tree: str,
    objects: Sequence[str],
) -> dict[int, tuple[str, str]]:  # fmt: skip
    """Give, for places of arguments that are a library of the tree, its copy in the order of a seed, and its own path.

    located: where the file that an argument names is now. directory: of the link. objects: the object files of the
    link, where they are now. A copy is a file in memory, which the linker inherits.
    """
    if doubtful(arguments) or any(option_name(argument) == _BY_NAME for argument in arguments):
        return {}
    top = os.path.join(os.path.realpath(tree), "")
    places = {}
    for place, argument in enumerate(arguments):
        if place and may_take(arguments[place - 1]):
            continue
        path = _named(argument, arguments, located) if argument.startswith("-") else argument
        inside = path and os.path.realpath(os.path.join(directory, path)).startswith(top)
        if inside and path.endswith((".a", ".rlib")):
            places[place] = path
    found: dict[str, Archive] = {}
    room = _LARGEST
    for path in dict.fromkeys(places.values()):
        try:
            archive = Archive(located(path), room)
        except _WRONG:
            continue
        room -= archive.size
        found[path] = archive
    made = {}
    for path, names in _sound(found, objects).items():
        first = found[path].defining(names)
        if len(found[path].moving) > len(first) + 1:
            pieces = found[path].ordered(seed, first)
            file = os.memfd_create(os.path.basename(path), 0)
            with open(file, "wb", closefd=False) as out:
                out.writelines(pieces)
            made[path] = f"/proc/self/fd/{file}"
    return {place: (made[path], path) for place, path in places.items() if path in made}


def _named(argument: str, arguments: Sequence[str], located: Callable[[str], str]) -> str:
    """Give the archive that -lNAME is; "" where it may be something else."""
    name = argument[2:]
    if not argument.startswith("-l") or not name or name.startswith(":"):
        return ""
    for option in arguments:
        if option_name(option) == "library-path" or option.startswith(("-L=", "-L$")) or option == "-L":
            return ""
        if option.startswith("-L"):
            shared, static = (f"{option[2:]}/lib{name}.{kind}" for kind in ("so", "a"))
            if os.path.exists(located(shared)):
                return ""
            if os.path.exists(located(static)):
                return static
    return ""


def _sound(archives: Mapping[str, Archive], objects: Sequence[str]) -> dict[str, set[bytes]]:
    """Find archives whose order decides nothing but places; give the symbols whose first definition has to stay it.

    A symbol that several members define may mean several things, and then an archive is left alone. What C++ repeats
    in each object that uses it (inline functions, templates) is the same everywhere, and who uses it has it. With
    `extern template` objects lack it and take the first member that has it, with all that this member brings along.
    """
    repeated = {path: archive.repeated() for path, archive in archives.items()}
    if not any(repeated.values()):
        return repeated
    needed: set[bytes] = set()
    sound = {}
    try:
        for path, archive in archives.items():
            if repeated[path] <= _everywhere(archive.symbols(), needed):
                sound[path] = repeated[path]
        for each in objects:
            with open(each, "rb") as file:
                _everywhere(symbols(file, 0), needed)
    except _WRONG:
        return {path: names for path, names in repeated.items() if not names}
    return {path: names & needed for path, names in sound.items()}


def _everywhere(of_objects: Iterable[tuple[bytes, int]], needed: set[bytes]) -> set[bytes]:
    """Give the symbols that no object defines for itself, and add what objects lack to others."""
    seen: tuple[set[bytes], set[bytes], set[bytes]] = needed, set(), set()
    for name, kind in of_objects:
        seen[kind].add(name)
    return seen[EQUIVALENT] - seen[OWN]
