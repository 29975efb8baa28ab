"""The system's sort, which is nobody's to build."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.trial.plan import LAYOUTS, TAIL
from benchmarks.trial.programs.program import Layout, Program, Run, again, made_of
from gate.model import Build

_LINES = 4_000


class Sort(Program):
    """Sorts a file by the system's sort."""

    name = "sort"
    about = f"The system's sort, {_LINES:,} lines; changed, it gets more."
    layout = "paths of the program, sizes of the environment"

    def prepare(self, sides: Sequence[str], work: float) -> Iterator[Layout]:
        """Write the files, and copy the program to as many places as there are layouts."""
        self.folder.mkdir(parents=True, exist_ok=True)
        draw = random.Random(1)  # noqa: S311 - a text, no secret
        lines = [f"{draw.randrange(16**10):010x} {'station' * draw.randrange(4)}\n" for _ in range(_LINES)]
        self._write("twice", [*lines, *lines])
        found = Path(shutil.which("sort") or "sort").resolve()
        for side in sides:
            self._write(side, [*lines, *lines[: round(again(side, work) * _LINES)]])
            for number in range(LAYOUTS):
                place = self._program(side, number)
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(found, place)
                yield Layout(side, number, Build(side="head", build=number, seed=1000 + number, seconds=0.0))

    def run(self, side: str, layout: int, *, slow: bool = False) -> Run:
        """See Program."""
        side = made_of(side)
        file = self._file("twice" if slow and side == TAIL else side)
        # as many bytes of environment as a page holds, over the layouts
        environment = {"LC_ALL": "C", "LAYOUT": "x" * (layout * 253 % 4096)}
        return Run((str(self._program(side, layout)), str(file)), environment)

    def _program(self, side: str, layout: int) -> Path:
        # a changed program is base's: what it sorts differs. An edit elsewhere is another name of the same length.
        name = "tros" if side == "edited" else "sort"
        return self.folder / f"{layout:02}{'x' * (layout * 5 % 37)}" / name

    def _write(self, name: str, lines: Sequence[str]) -> None:
        self._file(name).write_text("".join(lines), encoding="ascii")

    def _file(self, name: str) -> Path:
        # names of one length
        return self.folder / f"{name:_<10}.txt"
