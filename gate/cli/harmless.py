"""A stream whose lines a workflow's runner takes for no command, whatever programs that perfgate ran have written."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from typing import TextIO

# at the beginning of a line behind blanks, and the older form anywhere; \r ends a line as well
_COMMAND = re.compile(r"((?:^|[\r\n])\s*):(?=:)|##(?=\[)")


class Harmless(io.TextIOBase, TextIO):
    """Hands text on to a stream: "::error::x" as ": :error::x", "##[error]" as "## [error]"."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._begins = True

    def write(self, text: str, /) -> int:
        """Write a text, and say how long it was."""
        # what stands before on its line
        before = "" if self._begins else "x"
        safe = _COMMAND.sub(lambda found: f"{found[1]}: " if found[1] is not None else "## ", before + text)
        self._stream.write(safe[len(before) :])
        if text:
            last = re.split(r"[\r\n]", text)[-1]
            self._begins = not last.strip() and (self._begins or last != text)
        return len(text)

    def writelines(self, lines: Iterable[str], /) -> None:  # type: ignore[override]  # two bases, which do not agree
        """Write texts one behind another."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Hand on what is held back."""
        self._stream.flush()

    def isatty(self) -> bool:
        """Say whether it is a terminal."""
        return self._stream.isatty()

    def fileno(self) -> int:
        """Give the descriptor behind it."""
        return self._stream.fileno()

    @property
    def encoding(self) -> str:  # type: ignore[override]  # of the stream, not chosen here
        """The encoding of the stream."""
        return self._stream.encoding
