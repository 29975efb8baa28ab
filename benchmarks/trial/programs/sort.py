"""The system's sort: a whole process a pass, which is nobody's to build."""

from __future__ import annotations

import random
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from benchmarks.trial.plan import LAYOUTS, TAIL_EVERY
from benchmarks.trial.programs.program import SIDES, Layout, Program, Run, limits, share, twice
from gate.model import Build

_LINES = 10_000
"""So many that the start of a process is a small part of its time: the changes are of the rest."""


class Sort(Program):
    """Sorts a file by the system's sort."""

    name = "sort"
    about = f"The system's sort. A pass is one process, which sorts {_LINES:,} lines; the changes give it more of them."
    layout = "the path of the copied program and the size of the environment"

    def prepare(self) -> Iterator[Layout]:
        """Write the files, and copy the program to as many places as there are layouts."""
        self.folder.mkdir(parents=True, exist_ok=True)
        driver = Path(__file__).with_name("spawn.c")
        subprocess.run(["cc", "-O2", "-o", str(self.folder / "spawn"), str(driver)], check=True)
        draw = random.Random(1)  # noqa: S311 - a text, no secret
        lines = [f"{draw.randrange(16**10):010x} {'station' * draw.randrange(4)}\n" for _ in range(_LINES)]
        for side in SIDES:
            more = lines[: round(share(side) * _LINES)]
            self._file(side).write_text("".join([*lines, *more]), encoding="ascii")
        (self.folder / "twice.txt").write_text("".join([*lines, *lines]), encoding="ascii")
        found = Path(shutil.which("sort") or "sort")
        for number in range(LAYOUTS):
            for kind in ("same-1", "edited"):
                place = self._program(kind, number)
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(found.resolve(), place)
        for side in SIDES:
            if side not in ("same-2", "relaid"):
                for number in range(LAYOUTS):
                    yield Layout(side, number, Build(side="head", build=number, seed=1000 + number, seconds=0.0))

    def run(self, side: str, layout: int, output: Path, passes: int | None, seconds: float | None) -> Run:
        """See Program."""
        program = self._program(side, layout)
        every = str(TAIL_EVERY if twice(side) else 0)
        argv = [str(self.folder / "spawn"), str(program), str(self._file(side)), str(self.folder / "twice.txt"), every]
        # as many bytes of environment as a page holds, over the layouts
        environment = {"LC_ALL": "C", "LAYOUT": "x" * (layout * 253 % 4096)}
        return Run([*argv, str(output), *limits(passes, seconds)], environment)

    def counted(self, side: str, layout: int, output: Path, passes: int) -> Run:
        """See Program: the processes that a pass starts are traced as well."""
        return self.run(side, layout, output, passes, None)

    def _program(self, side: str, layout: int) -> Path:
        # an edit elsewhere has no place in a program that nobody builds: it is another name of the same length
        name = "sort" if side != "edited" else "tros"
        return self.folder / f"{layout:02}{'x' * (layout * 5 % 37)}" / name

    def _file(self, side: str) -> Path:
        return self.folder / f"lines-{side}.txt"
