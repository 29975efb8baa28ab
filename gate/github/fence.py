"""A fence around output from elsewhere: between its ends the runner takes no workflow commands."""

from __future__ import annotations

import io
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO


class _Inside(io.StringIO):
    """Hands text on and knows whether the last line has ended; never a terminal, though some runners give one."""

    def __init__(self, out: TextIO) -> None:
        super().__init__()
        self._out = out
        self.ended = True

    def write(self, text: str, /) -> int:
        if text:
            self.ended = text.endswith("\n")
        return self._out.write(text)

    def flush(self) -> None:
        self._out.flush()

    def isatty(self) -> bool:
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
    inside = _Inside(out)
    try:
        yield inside
    finally:
        # only a line of its own ends it
        out.write(f"{'' if inside.ended else chr(10)}::{token}::\n")
        out.flush()
