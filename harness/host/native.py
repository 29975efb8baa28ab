"""Whether a command starts a program of machine code: what counting its instructions tells of it is its own work."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

_MAGIC = (b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")
"""Of ELF, and of Mach-O for one or several processors."""
_LEADING = ("exec", "env", "command", "time", "nice")
_RUNS_OTHERS = re.compile(
    r"(python|pypy|ruby|perl|php|lua|node|nodejs|deno|bun|java|dotnet|mono|Rscript|julia|erl|beam|guile|tclsh|"
    r"sh|bash|dash|zsh|ksh|fish|busybox|make|ninja|cmake|ctest|cargo|go|npm|npx|yarn|pnpm|mvn|gradle|"
    r"ld-linux.*|qemu-.*)[-.\d]*",
)
"""Programs of machine code whose work is another program's, or that compile it while they run."""


def is_native(command: str | Sequence[str], environment: Mapping[str, str], directory: Path) -> bool:
    """Return whether the program that a command starts is machine code of its own, and no interpreter.

    Args:
        command: of a benchmark; of a string the first word counts.
        environment: that it is executed in.
        directory: likewise.
    """
    words = _words(command)
    if not words or not words[0]:
        return False
    path = directory / words[0] if "/" in words[0] else shutil.which(words[0], path=environment.get("PATH", os.defpath))
    if path is None or any(_RUNS_OTHERS.fullmatch(name) for name in (Path(path).name, Path(path).resolve().name)):
        return False
    try:
        with Path(path).open("rb") as file:
            return file.read(4) in _MAGIC
    except OSError:
        return False


def _words(command: str | Sequence[str]) -> Sequence[str]:
    if not isinstance(command, str):
        return command
    try:
        words = shlex.split(command, comments=True)
    except ValueError:
        return []
    while words and (words[0] in _LEADING or re.match(r"\w+=", words[0], re.ASCII)):
        words = words[1:]
    return words
