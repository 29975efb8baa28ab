"""What common layouts gain: how base and head correlate over builds, on real projects and edits.

    python -m benchmarks.layouts DIRECTORY [--builds 12] [--runs 9] [NAME...]

DIRECTORY holds clones of the projects, DIRECTORY/NAME; one that is missing is cloned. Base and head are built with one
seed a round, as a check does. Then all programs run by turns, in a new order each turn: round by round the drift of the
host would look like layouts that both sides share. A build's value is the median CPU time of its runs.

Each line has the correlation of base and head over rounds; the standard deviation of ln(head/base) as it would be
with independent layouts (computed), as it is with common ones, and what the runs alone add to it; how many times fewer
builds common layouts need for an interval as wide; the mean of head/base; whether Go's functions had one order on both
sides.
NAME/independent draws each side's layouts for itself, NAME/unaligned leaves Go's functions where its linker puts them.
"""

from __future__ import annotations

import argparse
import math
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.layout_projects import PROJECTS, Edit, Edited
from benchmarks.projects import building, built, cloned, cpu_seconds, prepared
from gate.evidence.layouts import shuffled
from gate.model import SIDES, Build, Side

COLUMNS = (
    "project",
    "edit",
    "correlation",
    "independent",
    "common",
    "runs alone",
    "fewer builds",
    "head/base",
    "Go's order",
)


@dataclass
class Found:
    """What one edit gave: the builds, and the logarithms of the runs' seconds, a list a build."""

    builds: list[Build] = field(default_factory=list)
    runs: dict[Side, list[list[float]]] = field(default_factory=lambda: {"base": [], "head": []})

    def values(self, side: Side) -> list[float]:
        """Return a value for each build."""
        return [statistics.median(each) for each in self.runs[side]]


def committed(checkout: Path, folder: Path, edited: Edited, edit: Edit) -> Path:
    """Make a repository with base as the commit before the last, and head as the last."""
    place = folder / "project"
    subprocess.run(["git", "clone", "-q", "--no-checkout", "--shared", str(checkout), str(place)], check=True)
    subprocess.run(["git", "checkout", "-q", edited.project.commit], cwd=place, check=True)
    for each in (edited.given, edit):
        for path, old, new in each.texts:
            file = place / path
            text = file.read_text(encoding="utf-8") if file.exists() else ""
            if old not in text:
                raise ValueError(f"{path} does not have: {old}")
            file.write_text(text.replace(old, new, 1) if old else f"{text}\n{new}", encoding="utf-8")
        for path in each.removed:
            subprocess.run(["git", "rm", "-qr", path], cwd=place, check=True)
        subprocess.run(["git", "add", "-A"], cwd=place, check=True)
        words = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "edit"]
        subprocess.run(words, cwd=place, check=True)
    return place


def measure(name: str, edited: Edited, edit: Edit, directory: Path, variant: str, builds: int, runs: int) -> Found:
    """Build all rounds, then run all programs by turns."""
    found = Found()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        checkout = committed(cloned(name, edited.project, directory), folder, edited, edit)
        data = folder / "data"
        prepared(edited.project, checkout, data)
        programs: dict[tuple[Side, int], Path] = {}
        relink: dict[Side, str] = {"base": "auto", "head": "auto"}
        aligned = variant != "unaligned"
        with building(edited.project, checkout, folder, "HEAD~1", relink, go=edited.go, aligned=aligned) as builder:
            for number in range(builds):
                for side in SIDES:
                    seed = 1000 + number + (500 if variant == "independent" and side == "head" else 0)
                    found.builds.append(built(builder, name, side, number, seed))
                    programs[side, number] = folder / f"{side}-{number:03}"
                    shutil.copy(builder.directory(side) / edited.project.artifact, programs[side, number])
        values: dict[tuple[Side, int], list[float]] = {key: [] for key in programs}
        order, draw = list(programs), random.Random(1)  # noqa: S311 - an order, no secret
        for turn in range(runs):
            draw.shuffle(order)
            for key in order:
                values[key].append(math.log(cpu_seconds(edited.project, programs[key], data)))
            sys.stderr.write(f"\r{name}: turn {turn + 1} of {runs} ")
    sys.stderr.write("\n")
    found.runs = {side: [values[side, number] for number in range(builds)] for side in SIDES}
    return found


def row(found: Found) -> list[str]:
    """Write what one edit gave."""
    base, head = found.values("base"), found.values("head")
    apart = math.sqrt(statistics.variance(base) + statistics.variance(head))
    ratios = [h - b for b, h in zip(base, head, strict=True)]
    together = statistics.stdev(ratios)
    # of a median of normal values, whose variance is pi/2 times that of their mean
    runs = [statistics.variance(each) * math.pi / 2 / len(each) for side in SIDES for each in found.runs[side]]
    alone = math.sqrt(2 * statistics.fmean(runs))
    order = {"common": "one", "independent": "two", None: ""}[shuffled(found.builds)]
    return [
        f"{statistics.correlation(base, head):.2f}",
        f"{apart:.1%}",
        f"{together:.1%}",
        f"{alone:.1%}",
        f"{(apart / together) ** 2:.1f}x",
        f"{math.expm1(statistics.fmean(ratios)):+.1%}",
        order,
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.layouts", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("directory", type=Path)
    parser.add_argument("names", nargs="*", default=[*PROJECTS, "gjson/unaligned", "gjson/independent"], metavar="NAME")
    parser.add_argument("--builds", type=int, default=12)
    parser.add_argument("--runs", type=int, default=9)
    options = parser.parse_intermixed_args()
    for cells in (COLUMNS, ["---"] * len(COLUMNS)):
        sys.stdout.write(f"| {' | '.join(cells)} |\n")
    for each in options.names:
        name, _, variant = each.partition("/")
        for title, edit in PROJECTS[name].edits.items():
            found = measure(name, PROJECTS[name], edit, options.directory, variant, options.builds, options.runs)
            sys.stdout.write(f"| {' | '.join([each.replace('/', ', '), title, *row(found)])} |\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
