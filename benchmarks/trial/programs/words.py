"""A word count in Python, where a build is a fresh checkout in another place."""

from __future__ import annotations

import random
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.trial.plan import LAYOUTS, TAIL
from benchmarks.trial.programs.program import SLOW, Layout, Program, Run, again, made_of
from gate.model import Build

_WORDS = 40_000
_SOURCE = """\
import posix
import sys


def counted(text):
    found = {}
    for word in text.split():
        found[word] = found.get(word, 0) + 1
    return found


with open(sys.argv[1]) as file:
    text = file.read()
"""
_EDIT = """

def longest(text):
    return max(text.split(), key=len)


"""
_MAIN = "print(max(counted(text).values()))\n"


class Words(Program):
    """Counts words in Python."""

    name = "words"
    about = f"A word count in Python, {_WORDS:,} words."
    layout = "paths of the checkout"

    def prepare(self, sides: Sequence[str], work: float) -> Iterator[Layout]:
        """Write each side to as many places as there are layouts."""
        self.folder.mkdir(parents=True, exist_ok=True)
        draw = random.Random(1)  # noqa: S311 - a text, no secret
        self._sample.write_text(" ".join(f"w{draw.randrange(500)}" for _ in range(_WORDS)), encoding="ascii")
        for side in sides:
            for number in range(LAYOUTS):
                file = self._file(side, number)
                shutil.rmtree(file.parent, ignore_errors=True)
                file.parent.mkdir()
                file.write_text(source(side, work), encoding="ascii")
                yield Layout(side, number, Build(side="head", build=number, seed=1000 + number, seconds=0.0))

    def run(self, side: str, layout: int, *, slow: bool = False) -> Run:
        """See Program."""
        words = (sys.executable, "-I", "-S", str(self._file(made_of(side), layout)), str(self._sample))
        return Run(words, {SLOW: f"{int(slow)}"})

    @property
    def _sample(self) -> Path:
        return self.folder / "sample.txt"

    def _file(self, side: str, layout: int) -> Path:
        # paths of many lengths, as those of checkouts are
        return self.folder / f"{side:_<9}-{layout:02}{'x' * (layout * 5 % 37)}" / "count.py"


def source(side: str, work: float) -> str:
    """Write the source of a side."""
    share = again(side, work)
    more = ""
    if side == TAIL:
        more = f'if posix.environ.get(b"{SLOW}") == b"1":\n    counted(text)\n'
    elif share:
        more = f"counted(text[: round(len(text) * {share:.5f})])\n"
    return f"{_SOURCE}{_EDIT if side == 'edited' else ''}{more}{_MAIN}"
