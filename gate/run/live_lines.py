"""A few lines of a terminal that change in place; plain lines on anything else.

Nothing is written by itself: no thread, no timer, so that nothing wakes up while a benchmark runs. The cursor stays
visible and at the start of the last line: a process that is killed leaves a terminal that works.
"""

from __future__ import annotations

import os
import time
from typing import TextIO

from gate.writing.plain import clip, columns, wrap
from gate.writing.streams import ASCII_ONLY, is_terminal

_CALM = 30.0
"""Seconds between two lines of a log that say what is done now."""
_LEAST_BAR, _MOST_BAR = 8, 40
"""Columns."""
_NAME = "perfgate: "


class Live:
    """Lines that stay, and below them on a terminal a block that is written anew."""

    def __init__(self, stream: TextIO, *, quiet: bool = False, lines: bool = True) -> None:
        """Begin.

        stream: takes everything. quiet: nothing is written. lines: whether there are lines that stay; without them only
        a terminal shows something.
        """
        self.on = not quiet and is_live(stream)
        """Whether there is a block."""
        self._stream = stream
        self._lines = lines and not quiet
        self._block: list[str] = []
        self._encoding = getattr(stream, "encoding", None) or "utf-8"
        self._last = 0.0

    @property
    def width(self) -> int:
        """Return the columns that a line of the block may have: one less than the terminal, which would wrap it."""
        return max(1, _columns(self._stream) - 1)

    def line(self, text: str) -> None:
        """Write a line that stays."""
        if self._lines:
            self.close()
            say_line(self._stream, text)
            self._last = time.monotonic()

    def now(self, text: str) -> None:
        """Say what is done now in a log: a line now and then. A terminal has its block for that."""
        if not self.on and time.monotonic() - self._last >= _CALM:
            self.line(text)

    def show(self, *block: str) -> None:
        """Write the block anew, each line cut to the width; on a terminal only."""
        if not self.on:
            return
        width = self.width
        shown = [clip(line.encode(self._encoding, ASCII_ONLY).decode(self._encoding), width) for line in block]
        self._stream.write(self._erasing() + "\n".join(shown) + "\r")
        self._stream.flush()
        self._block = shown

    def close(self) -> None:
        """Leave nothing of the block, and the cursor where it began."""
        if self._block:
            self._stream.write(self._erasing())
            self._stream.flush()
            self._block = []

    def _erasing(self) -> str:
        above = len(self._block) - 1
        return f"\r\x1b[{above}A\x1b[J" if above > 0 else "\r\x1b[J" if self._block else ""


class Steps:
    """Says which of a number of steps begins: a bar and the step on a terminal, a line each elsewhere."""

    def __init__(self, live: Live, title: str, of: int) -> None:
        """Begin; title: what the steps are, for the bar."""
        self._live = live
        self._title = title
        self._done, self._of = 0, max(1, of)

    def __call__(self, text: str) -> None:
        """Say that the next step begins."""
        if self._live.on:
            share, number = self._done / self._of, min(self._done + 1, self._of)
            bar = bar_line(self._title, share, f"step {number} of {self._of}", self._live.width)
            self._live.show(bar, f"  running  {text}")
        else:
            self._live.line(text)
        self._done += 1

    def close(self) -> None:
        """Leave nothing behind."""
        self._live.close()


_FULL, _EMPTY = "━", "─"


def say_line(stream: TextIO, text: str) -> None:
    """Write a line on standard error; a terminal gets it broken at words."""
    lines = wrap(text, _columns(stream), first=_NAME, rest="  ") if is_live(stream) else [f"{_NAME}{text}"]
    stream.write("\n".join(lines) + "\n")
    stream.flush()


def is_live(stream: TextIO) -> bool:
    """Return whether a stream is a terminal of a person, on which the cursor moves."""
    dumb = os.environ.get("TERM", "") in ("", "dumb")
    return is_terminal(stream) and not dumb and not os.environ.get("CI")


def bar_line(title: str, share: float, tail: str, width: int) -> str:
    """Return a line with a bar: what it is of, how much is done, and what follows it; fitted to the width."""
    end = f"{share:4.0%}  {tail}" if tail else f"{share:4.0%}"
    room = min(_MOST_BAR, width - columns(title) - columns(end) - 3)
    if room < _LEAST_BAR:
        return f"{title} {end}" if columns(title) + columns(end) < width else end.strip()
    full = round(min(max(share, 0.0), 1.0) * room)
    return f"{title}  {_FULL * full}{_EMPTY * (room - full)} {end}"


def _columns(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):
        return 80
