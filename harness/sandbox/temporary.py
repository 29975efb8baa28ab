"""What stays in sight of directories for temporary files, which the sandbox covers: what commands are told of.

They are told by words and variables, and by what a search path leads to: links, the interpreters of scripts, what
environments of Python name.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from glob import escape, glob

from gate.walking import beginning

SHARED_MEMORY = "/dev/shm"  # noqa: S108  # semaphores of all programs are there
TEMPORARY = ("/tmp", "/var/tmp", SHARED_MEMORY)  # noqa: S108  # they are covered
_NAMED = re.compile(r"/(?:tmp|var/tmp|dev/shm)/[^\s:;,\"'=)`|&<>]+")
_ABSOLUTE = re.compile(r"/[^\s:;,\"'=)`|&<>]+")
_SYSTEM = frozenset(["/bin", "/sbin", "/usr/bin", "/usr/sbin"])
"""What a system's packages bring leads to nothing temporary."""
_OF_PYTHON = (
    "pyvenv.cfg",
    *(f"lib/python3*/site-packages/{each}" for each in ("*.pth", "*.egg-link", "__editable__*")),
)
_MOST_READ = 4096
_MOST_LINKS = 40
"""As many as the kernel follows."""


def in_sight(texts: Iterable[str], search_path: str, paths: Iterable[str]) -> set[str]:
    """Return the real places of what commands are told of, and of the links on the way.

    Args:
        texts: commands and values of variables.
        search_path: as PATH has it.
        paths: absolute ones that they find besides.
    """
    told = [*paths, *(found for text in texts for each in (_NAMED, _ABSOLUTE) for found in each.findall(text))]
    for each in {*search_path.split(os.pathsep)} - _SYSTEM:
        # programs there that are links, and what scripts and environments name
        folder, named = os.path.abspath(each), list[str]()  # noqa: PTH100
        with suppress(OSError), os.scandir(folder) as found:
            for entry in found:
                if entry.is_symlink():
                    named.append(entry.path)
                elif entry.is_file():
                    named += _named_by(entry.path, b"#!")
        for pattern in _OF_PYTHON:
            for path in glob(f"{escape(os.path.dirname(folder))}/{pattern}"):  # noqa: PTH120, PTH207
                named += _named_by(path)
        # what a script only speaks of needs no place, and beside a place nothing could be made
        told += filter(os.path.lexists, named)
    return {place for each in dict.fromkeys(told) for place in _places(each)}


def _named_by(path: str, begins: bytes = b"") -> Iterator[str]:
    """Yield what the beginning of a file names in directories for temporary files."""
    read = beginning(path, _MOST_READ)
    if read.startswith(begins):
        text = read.decode("utf-8", "replace")
        yield from (_ABSOLUTE.findall(text.partition("\n")[0]) if begins else ())
        yield from _NAMED.findall(text)


def _places(path: str) -> Iterator[str]:
    """Yield the real places of the links on an absolute path's way, and where it ends."""
    at, rest, links = "/", path.split("/")[::-1], 0
    while rest and links < _MOST_LINKS:
        name = rest.pop()
        if name in ("", "."):
            continue
        at = os.path.dirname(at) if name == ".." else os.path.join(at, name)  # noqa: PTH118, PTH120
        with suppress(OSError, ValueError):
            leads = os.readlink(at)  # noqa: PTH115
            yield at
            links += 1
            rest += leads.split("/")[::-1]
            at = "/" if leads.startswith("/") else os.path.dirname(at)  # noqa: PTH120
    yield at
