"""A screen that shows what a terminal would, and a process on a real pseudo terminal."""

import codecs
import fcntl
import io
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

_PART = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])|([\r\n\b])|([^\x1b\r\n\b])")


class Screen:
    """Rows of text and a cursor; knows what perfgate writes, and refuses every other sequence."""

    def __init__(self, width: int = 80) -> None:
        self.width = width
        self.rows: list[list[str]] = [[]]
        self.row = self.column = 0

    def feed(self, text: str) -> None:
        """Take what is written."""
        end = 0
        for found in _PART.finditer(text):
            assert found.start() == end, repr(text[end : found.start()])
            end = found.end()
            number, final, control, letter = found.groups()
            if final is not None:
                self._control(number, final)
            elif control == "\r":
                self.column = 0
            elif control == "\n":
                self._down()
            elif control == "\b":
                self.column = max(0, self.column - 1)
            else:
                self._put(letter)
        assert end == len(text), repr(text[end:])

    def _put(self, letter: str) -> None:
        if self.column == self.width:
            self._down()
            self.column = 0
        row = self.rows[self.row]
        row += [" "] * (self.column + 1 - len(row))
        row[self.column] = letter
        self.column += 1

    def _down(self) -> None:
        self.row += 1
        self.rows += [[]] * (self.row + 1 - len(self.rows))
        self.rows[self.row] = list(self.rows[self.row])

    def _control(self, number: str, final: str) -> None:
        if final == "A":
            self.row = max(0, self.row - int(number))
        elif final == "J":
            assert number == ""
            self.rows = [*self.rows[: self.row], self.rows[self.row][: self.column]]
        else:
            assert final == "m", (number, final)

    @property
    def lines(self) -> list[str]:
        """What is seen, without blank ends."""
        return ["".join(row).rstrip() for row in self.rows]


class Terminal(io.StringIO):
    """A stream that is a terminal, of a width, without a descriptor."""

    def isatty(self) -> bool:
        """Return that it is one."""
        return True

    @property
    def screen(self) -> Screen:
        """What has been written, as it is seen."""
        made = Screen()
        # as the driver of a terminal does
        made.feed(self.getvalue().replace("\n", "\r\n"))
        return made


class OnTerminal:
    """A process whose standard output and error are a pseudo terminal that can be resized."""

    def __init__(self, command: Sequence[str], *, cwd: Path, env: Mapping[str, str], width: int = 80) -> None:
        self._ours, theirs = pty.openpty()
        self.resize(width)
        self.text = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self.process = subprocess.Popen(
            command, cwd=cwd, env=dict(env), stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )  # fmt: skip
        os.close(theirs)

    def resize(self, width: int) -> None:
        """Give the terminal a width."""
        fcntl.ioctl(self._ours, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))

    def press(self, keys: bytes) -> None:
        """Type something: \\x03 is Ctrl-C."""
        os.write(self._ours, keys)

    def read_until(self, seen: Callable[[str], bool], seconds: float = 120) -> None:
        """Read until what came satisfies a condition, or the process has ended."""
        deadline = time.monotonic() + seconds
        while not seen(self.text):
            assert time.monotonic() < deadline, self.text[-2000:]
            if not select.select([self._ours], [], [], 1.0)[0]:
                continue
            try:
                data = os.read(self._ours, 65536)
            except OSError:  # the other end is closed
                data = b""
            self.text += self._decoder.decode(data)
            if not data:
                return

    def wait(self) -> int:
        """Read to the end, and return the exit code."""
        self.read_until(lambda _: False)
        os.close(self._ours)
        return self.process.wait(60)
