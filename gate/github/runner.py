"""Workflow commands, outputs and the summary of a step, and a fence around the output of other programs."""

from __future__ import annotations

import io
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, TextIO

from gate.model import UserError

SUMMARY_LIMIT = 1_000_000
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

    Raises:
        UserError: the file cannot be written.
        ValueError: a name is none, or a value holds its delimiter (by a chance of 2^-128, so somebody knew it).
    """
    text = ""
    for name, value in outputs.items():
        if not name.replace("-", "").isalnum():
            raise ValueError(f"{name!r} is not a name of an output")
        delimiter = f"perfgate_{secrets.token_hex(16)}"
        if delimiter in value:
            raise ValueError(f"the output {name} holds its own delimiter")
        # what is no UTF-8 (a name of a file) must not end the step
        safe = value.encode("utf-8", "backslashreplace").decode("utf-8")
        text += f"{name}<<{delimiter}\n{safe}\n{delimiter}\n"
    _append(file, text)


def append_summary(file: Path, text: str) -> bool:
    """Add Markdown to GITHUB_STEP_SUMMARY; False where what stands there already leaves no room for it.

    Raises:
        UserError: the file cannot be written.
    """
    try:
        present = file.stat().st_size
    except OSError:
        present = 0
    body = text if text.endswith("\n") else f"{text}\n"
    if present + len(body.encode("utf-8", "backslashreplace")) > SUMMARY_LIMIT:
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
