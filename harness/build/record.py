"""The record of a link: all that it takes to link again, with the inputs that a compiler would remove.

Written by the linker's shim, many at a time; read by harness.build.replay. A folder below the recording's own holds one
link: "link" (written last, so that it is whole), and its inputs.
"""

import marshal
import os
import stat
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from harness.build.order import of_system, option_name

LINKS = "PERFGATE_LINKS"
"""Names the folder that takes the records; no one is written without it."""

_LINK = "link"
_LIBRARY = (".a", ".rlib", ".so")
# The value of these names no input, though a file may be called so.
_NO_INPUT = {
    "soname", "h", "rpath", "rpath-link", "dynamic-linker", "I", "Map", "dependency-file", "e", "entry", "u",
    "undefined", "z", "m", "y", "init", "fini", "defsym", "plugin", "plugin-opt",
}  # fmt: skip
_OUTPUT = ("-o", "--output", "-output")


class Link(NamedTuple):
    """One link of a build. arguments: response files expanded, in the order of the build's own command."""

    folder: str
    directory: str
    linker: str
    arguments: list[str]
    environment: dict[str, str]
    output: str
    stamp: tuple[int, ...]
    """Of the output when it was linked: it tells whether something changed it afterwards."""
    kept: dict[str, tuple[str, str, tuple[int, ...]]]
    """By argument: the path in it, the name of what was kept of it, and the input's stamp."""
    ordered: str


def stamp(path: str) -> tuple[int, ...]:
    """Give what changes when a file is written or replaced; () where there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def begin(recording: str | None, linker: str, arguments: Sequence[str]) -> Link | None:
    """Keep the inputs of a link that is about to run; None: it is not recorded, or cannot be."""
    if not recording:
        return None
    try:
        folder = os.path.join(recording, f"{time.time_ns():020}-{os.getpid()}")
        os.mkdir(folder)
        place = output_place(arguments)
        kept = {}
        for number, argument in enumerate(arguments):
            if number != place[0] and argument not in kept:
                before = arguments[number - 1] if number else ""
                path = argument.partition("=")[2] if argument.startswith("-") else argument
                naming = argument if argument.startswith("-") else "" if "=" in before else before
                if path and option_name(naming) not in _NO_INPUT and _keep(path, os.path.join(folder, str(number))):
                    kept[argument] = (path, str(number), stamp(path))
    except OSError:
        return None
    return Link(folder, os.getcwd(), linker, list(arguments), dict(os.environ), place[1], (), kept, "")


def _keep(path: str, kept: str) -> bool:
    """Keep an input, as a link to it where that can be; return whether it is one that may go away."""
    if of_system(path):
        return False
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return False
        with open(path, "rb") as file:
            if file.read(8) == b"!<thin>\n":
                return False  # elsewhere it would not find its members
    except OSError:
        return False
    try:
        os.link(os.path.realpath(path), kept)
    except OSError:
        if path.endswith(_LIBRARY):
            return False  # large, of another file system: no temporary file
        import shutil  # rarely needed

        shutil.copyfile(path, kept)
    return True


def end(link: Link, ordered: str) -> None:
    """Write the record of a link that has succeeded."""
    whole = link._replace(stamp=stamp(link.output), ordered=ordered)
    place = os.path.join(link.folder, _LINK)
    try:
        with open(f"{place}~", "wb") as file:
            marshal.dump(tuple(whole), file)
        os.replace(f"{place}~", place)
    except OSError:
        return


def read(recording: str) -> list[Link]:
    """Give the links of a recording in the order in which they began.

    Raises: OSError, ValueError, EOFError, TypeError: it cannot be read.
    """
    found = []
    for name in sorted(os.listdir(recording)):
        place = os.path.join(recording, name, _LINK)
        if os.path.isfile(place):
            with open(place, "rb") as file:
                values: Any = marshal.load(file)  # noqa: S302  # our own
            found.append(restored(recording, values))
    return found


def restored(recording: str, values: Sequence[Any]) -> Link:
    """Give a link as it was written, of a recording that may have been moved since."""
    link = Link(*values)
    return link._replace(folder=os.path.join(recording, os.path.basename(link.folder)))


def located(link: Link) -> Mapping[str, str]:
    """Give, by argument, where each input of a link is now: itself while nothing changed it, or what was kept of it."""
    return {
        argument: path if stamp(os.path.join(link.directory, path)) == was else os.path.join(link.folder, name)
        for argument, (path, name, was) in link.kept.items()
    }


def output_place(arguments: Sequence[str]) -> tuple[int, str]:
    """Give which argument names the output of a link, and the output: (-1, "a.out") where none does."""
    for place, argument in enumerate(arguments):
        if argument in _OUTPUT and place + 1 < len(arguments):
            return place + 1, arguments[place + 1]
        for option in ("--output=", "-o"):
            if argument.startswith(option) and argument not in _OUTPUT and not argument.startswith("-oformat"):
                return place, argument.removeprefix(option)
    return -1, "a.out"
