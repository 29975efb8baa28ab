"""examples/textstats: Python, where a build is a fresh checkout in another place."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.trial.plan import LAYOUTS, TAIL_EVERY
from benchmarks.trial.programs.program import OFFSET, ROOT, SIDES, Layout, Program, Run, limits, share, twice
from gate.model import Build

_WORDS = 1500
_MODULE = "textstats"
_EDIT = """

def average_length(text: str) -> float:
    \"\"\"Nothing calls it.\"\"\"
    found = [len(word) for word in words(text)]
    return sum(found) / len(found) if found else 0.0
"""
_COUNTS = "def most_common("
_AGAIN = """

import os

_pass = int(os.environ.get("{offset}", "0"))


def most_common(text: str, count: int) -> list[tuple[str, int]]:
    global _pass
    _pass += 1
    if {when}:
        _count({part}, count)
    return _count(text, count)
"""


class Textstats(Program):
    """Counts words in Python."""

    name = "textstats"
    about = "A word count in Python (examples/textstats). A pass counts 1,500 words in memory."
    layout = "the path of the checkout; each process has a hash seed of its own in any case"

    def prepare(self) -> Iterator[Layout]:
        """Copy each side to as many places as there are layouts."""
        self.folder.mkdir(parents=True, exist_ok=True)
        sample = self.folder / "sample.txt"
        source = ROOT / "examples/textstats"
        with sample.open("wb") as out:
            words = [sys.executable, "-m", "textstats.sample", str(_WORDS)]
            subprocess.run(words, cwd=source, check=True, stdout=out)
        for side in SIDES:
            if side in ("same-2", "relaid"):
                continue
            for number in range(LAYOUTS):
                place = self._place(side, number)
                shutil.rmtree(place, ignore_errors=True)
                shutil.copytree(source / _MODULE, place / _MODULE, ignore=shutil.ignore_patterns("__pycache__"))
                shutil.copy(Path(__file__).with_name("textstats_bench.py.txt"), place / _MODULE / "trial.py")
                file = place / _MODULE / "__init__.py"
                file.write_text(changed(file.read_text(encoding="utf-8"), side), encoding="utf-8")
                yield Layout(side, number, Build(side="head", build=number, seed=1000 + number, seconds=0.0))

    def run(self, side: str, layout: int, output: Path, passes: int | None, seconds: float | None) -> Run:
        """See Program."""
        place = self._place("same-1" if side in ("same-2", "relaid") else side, layout)
        argv = [sys.executable, "-m", f"{_MODULE}.trial", str(self.folder / "sample.txt"), str(output)]
        return Run([*argv, *limits(passes, seconds)], {"PYTHONPATH": str(place)})

    def counted(self, side: str, layout: int, output: Path, passes: int) -> Run:
        """See Program; with one hash seed, as CodSpeed's runner sets it."""
        run = self.run(side, layout, output, passes, None)
        return Run(run.argv, {**run.environment, "PYTHONHASHSEED": "0", "PYTHONMALLOC": "malloc"})

    def _place(self, side: str, layout: int) -> Path:
        # paths of many lengths, as those of checkouts are
        return self.folder / f"{side}-{layout:02}{'x' * (layout * 5 % 37)}"


def changed(text: str, side: str) -> str:
    """Write the source of a side."""
    if side == "edited":
        return text + _EDIT
    if not share(side) and not twice(side):
        return text
    again = f"_pass % {TAIL_EVERY} == 0" if twice(side) else "True"
    part = "text" if twice(side) else f"text[: len(text) * {round(100 * share(side))} // 100]"
    return text.replace(_COUNTS, "def _count(", 1) + _AGAIN.format(when=again, part=part, offset=OFFSET)
