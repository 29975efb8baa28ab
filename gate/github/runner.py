"""What a step tells the runner: commands, outputs and the summary, a fence around other programs; and its own files."""

from __future__ import annotations

import errno
import io
import os
import secrets
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, TextIO

from gate.model import UserError
from gate.removal import remove_tree

STEP_SUMMARY_LIMIT = 1_000_000
"""Bytes a step's summary may have in all; the runner drops the whole of one beyond 1 MiB."""

Level = Literal["error", "warning", "notice"]
_LONGEST = 4000


def escape_data(text: str) -> str:
    """Write a text as the message of a workflow command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def command(level: Level, message: str, title: str | None = None) -> str:
    """Write the command that makes an annotation, as one line with its end; what is too long is cut."""
    cut = message if len(message) <= _LONGEST else f"{message[: _LONGEST - 1]}…"
    # the runner takes blanks away at the ends of properties
    named = title.strip() if title else ""
    properties = f" title={escape_data(named).replace(':', '%3A').replace(',', '%2C')}" if named else ""
    return f"::{level}{properties}::{escape_data(cut)}\n"


def error_line(message: str, title: str | None = None) -> str:
    """Write the command that shows an error."""
    return command("error", message, title)


def warning_line(message: str, title: str | None = None) -> str:
    """Write the command that shows a warning."""
    return command("warning", message, title)


def write_outputs(file: Path, outputs: Mapping[str, str]) -> None:
    """Add outputs of the step to GITHUB_OUTPUT; a later value of a name replaces an earlier one.

    Raises: UserError: the file cannot be written.
    """
    text = ""
    for name, value in outputs.items():
        # nobody can have known it
        delimiter = f"perfgate_{secrets.token_hex(16)}"
        # what is no UTF-8 (a name of a file) must not end the step
        safe = value.encode("utf-8", "backslashreplace").decode("utf-8")
        text += f"{name}<<{delimiter}\n{safe}\n{delimiter}\n"
    _append(file, text)


def append_summary(file: Path, text: str) -> bool:
    """Add Markdown to GITHUB_STEP_SUMMARY; False where what stands there already leaves no room for it.

    Raises: UserError: the file cannot be written.
    """
    try:
        present = file.stat().st_size
    except OSError:
        present = 0
    body = text if text.endswith("\n") else f"{text}\n"
    if present + len(body.encode("utf-8", "backslashreplace")) > STEP_SUMMARY_LIMIT:
        return False
    _append(file, body)
    return True


def _append(file: Path, text: str) -> None:
    try:
        with file.open("a", encoding="utf-8", errors="backslashreplace", newline="\n") as stream:
            stream.write(text)
    except OSError as error:
        raise UserError(f"{file}: cannot be written: {error.strerror}") from None


class HandedOn(io.StringIO):
    """Hands text on and knows whether the last line has ended; never a terminal, though some runners give one."""

    def __init__(self, out: TextIO) -> None:
        super().__init__()
        self._out = out
        self.ended = True

    def write(self, text: str, /) -> int:
        """Hand text on."""
        if text:
            self.ended = text.endswith("\n")
        return self._out.write(text)

    def flush(self) -> None:
        """Hand on what is buffered."""
        self._out.flush()

    def isatty(self) -> bool:
        """Tell that nobody watches: progress is one line a step."""
        return False


@contextmanager
def fenced(out: TextIO) -> Iterator[TextIO]:
    """Give a stream to out whose text cannot issue workflow commands, whatever it holds.

    Everything must go through this one stream: the runner reads standard output and standard error side by side, so
    that a fence on one comes too late or too early for the other.
    """
    token = secrets.token_hex(16)
    out.write(f"::stop-commands::{token}\n")
    out.flush()
    inside = HandedOn(out)
    try:
        yield inside
    finally:
        # only a line of its own ends it
        out.write(f"{'' if inside.ended else chr(10)}::{token}::\n")
        out.flush()


# --- the runner's files -----------------------------------------------------------------------------------------------


NAMES = ("GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STATE", "GITHUB_STEP_SUMMARY")


class FileGuard:
    """Remembers the command files of a step, and takes back what was written to them meanwhile.

    What they hold would set outputs, environment variables and the search path of later steps.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        paths = [(name, Path(environment[name])) for name in NAMES if environment.get(name)]
        # None where there was none; a device or a pipe, such as /dev/null by hand, keeps nothing to be restored
        kept = [(name, path) for name, path in paths if _kind(path) not in (stat.S_IFCHR, stat.S_IFIFO, stat.S_IFSOCK)]
        self._kept = [(name, path, read_regular(path)) for name, path in kept]

    def restore(self) -> tuple[list[str], bool]:
        """Take back what was written; return a line for each, and whether all files are as they were. Raises nothing.

        A file that cannot be restored keeps no other from being so.
        """
        warnings: list[str] = []
        whole = True
        for name, path, data in self._kept:
            try:
                # one byte more than was there is enough to differ
                if data is not None and read_regular(path, len(data) + 1) != data:
                    put(path, data)
                elif data is None and os.path.lexists(path):
                    remove(path)
                else:
                    continue
                warnings.append(f"benchmark code wrote to {name}; the change was undone")
            except OSError as error:
                whole = False
                warnings.append(f"benchmark code wrote to {name}, and it cannot be undone: {error.strerror}")
        return warnings, whole


def open_regular(path: Path) -> io.BufferedReader:
    """Open a file to read it: no link is followed, and no pipe waited for.

    Raises: OSError: it cannot be opened, or is not a regular file.
    """
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "is not a regular file", str(path))
    return open(fd, "rb")  # noqa: PTH123  # of a descriptor


def read_regular(path: Path, limit: int = -1) -> bytes | None:
    """Read a regular file without following links; None: there is none that can be read.

    Args:
        limit: the most bytes to return; -1: all.
    """
    try:
        with open_regular(path) as stream:
            return stream.read(limit)
    except OSError:
        return None


def is_regular(path: Path) -> bool:
    """Return whether a regular file lies under a name, and no link to one."""
    return _kind(path) == stat.S_IFREG


def _kind(path: Path) -> int:
    try:
        return stat.S_IFMT(path.lstat().st_mode)
    except OSError:
        return 0


def remove(path: Path) -> None:
    """Remove whatever lies under a name: a file, a link and not what it leads to, a folder with all that is in it.

    Raises: OSError: it cannot be removed.
    """
    if not path.is_dir() or path.is_symlink():
        path.unlink(missing_ok=True)
    elif why := remove_tree(path):
        raise OSError(errno.EIO, why, str(path))


def put(path: Path, data: bytes) -> None:
    """Make a file hold this and nothing else, whatever was put under its name; nothing planted is followed.

    Raises: OSError: it cannot be written, or holds something else afterwards.
    """
    # put another file under the name: who holds the old one open writes into nothing
    if path.is_dir() and not path.is_symlink():
        remove(path)
    # a name that nobody can have made beforehand
    beside = path.with_name(f".{secrets.token_hex(16)}")
    try:
        with beside.open("xb") as stream:
            stream.write(data)
        beside.replace(path)
    except OSError:
        beside.unlink(missing_ok=True)
        raise
    if read_regular(path, len(data) + 1) != data:
        raise OSError(errno.EIO, "its content changed again", str(path))
