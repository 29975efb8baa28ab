"""What common layouts gain: how the ratio of base and head varies over rounds, on real projects and edits.

    python -m benchmarks.layouts DIRECTORY [--builds 12] [--turns 5] [NAME...]

DIRECTORY holds clones of the projects, DIRECTORY/NAME; one that is missing is cloned. Base and head are built with one
seed a round, as a check does. Then pairs of programs are started one after the other, as turns are: base and head of
one round, whose layouts are common, and base of a round with head of the next one, whose layouts are independent. All
pairs have their turns, in a new order each time. A pair's value is the median over turns of the logarithm of head/base,
by active time.

Each line has the standard deviation over pairs with independent layouts, with common ones, and what the runs alone add
to it; how many times fewer builds common layouts need for an interval as wide; the mean of head/base; whether Go's
functions had one order on both sides. NAME/unaligned leaves Go's functions where its linker puts them.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.layout_projects import PROJECTS, Edit, Edited
from benchmarks.projects import building, built, cloned, prepared, words
from gate.evidence.sameness import shuffled
from gate.model import SIDES, Build, Side
from harness.instruments.spawn import LAUNCHER
from harness.process.forkserver import Launch, LaunchSide, LaunchStart

COLUMNS = ("project", "edit", "independent", "common", "runs alone", "fewer builds", "head/base", "Go's order")


@dataclass
class Found:
    """What one edit gave: the builds, and the logarithm of head/base of each turn, a list a pair."""

    builds: list[Build] = field(default_factory=list)
    common: list[list[float]] = field(default_factory=list)
    independent: list[list[float]] = field(default_factory=list)


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


def measure(name: str, edited: Edited, edit: Edit, directory: Path, variant: str, builds: int, turns: int) -> Found:
    """Build all rounds, then run all pairs by turns."""
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
                    found.builds.append(built(builder, name, side, number, 1000 + number))
                    programs[side, number] = folder / f"{side}-{number:03}"
                    shutil.copy(builder.directory(side) / edited.project.artifact, programs[side, number])
        pairs = [(n, other % builds) for n in range(builds) for other in (n, n + 1)]
        values: dict[tuple[int, int], list[float]] = {pair: [] for pair in pairs}
        order, draw = list(pairs), random.Random(1)  # noqa: S311 - an order, no secret
        for turn in range(turns):
            draw.shuffle(order)
            for base, head in order:
                both = [
                    words(edited.project, programs["base", base], data),
                    words(edited.project, programs["head", head], data),
                ]
                values[base, head].append(by_turns(both, folder, draw.choice(((0, 1), (1, 0)))))
            sys.stderr.write(f"\r{name}: turn {turn + 1} of {turns} ")
    sys.stderr.write("\n")
    found.common = [values[base, head] for base, head in pairs if base == head]
    found.independent = [values[base, head] for base, head in pairs if base != head]
    return found


def by_turns(argv: Sequence[Sequence[str]], folder: Path, order: Sequence[int]) -> float:
    """Start base and head, in an order; return the logarithm of head/base, by active time."""
    output = folder / "turns.json"
    sides = tuple(LaunchSide(tuple(words), dict(os.environ), folder) for words in argv)
    launch = Launch(LAUNCHER, output, sides, [LaunchStart(side) for side in order])
    with tempfile.TemporaryFile() as request:
        request.write(launch.request({}, {}))
        request.seek(0)
        number = request.fileno()
        subprocess.run([*launch.argv, str(number)], check=True, pass_fds=(number,), stdout=subprocess.DEVNULL)
    result = json.loads(output.read_text())
    output.unlink()
    if result["failed"]:
        raise RuntimeError(f"{argv}: {result['failed']}")
    active = {side: max(ns - delay - waited, ran) for ns, _, _, _, delay, waited, ran, *_, side in result["runs"]}
    return math.log(active[1] / active[0])


def row(found: Found) -> list[str]:
    """Write what one edit gave."""
    apart, ratios = ([statistics.median(each) for each in of] for of in (found.independent, found.common))
    # of a median of normal values, whose variance is pi/2 times that of their mean
    runs = [statistics.variance(each) * math.pi / 2 / len(each) for each in (*found.common, *found.independent)]
    order = {"common": "one", "independent": "two", None: ""}[shuffled(found.builds)]
    return [
        f"{statistics.stdev(apart):.1%}",
        f"{statistics.stdev(ratios):.1%}",
        f"{math.sqrt(statistics.fmean(runs)):.1%}",
        f"{(statistics.stdev(apart) / statistics.stdev(ratios)) ** 2:.1f}x",
        f"{math.expm1(statistics.fmean(ratios)):+.1%}",
        order,
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.layouts", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("directory", type=Path)
    parser.add_argument("names", nargs="*", default=[*PROJECTS, "gjson/unaligned"], metavar="NAME")
    parser.add_argument("--builds", type=int, default=12)
    parser.add_argument("--turns", type=int, default=5)
    options = parser.parse_intermixed_args()
    for cells in (COLUMNS, ["---"] * len(COLUMNS)):
        sys.stdout.write(f"| {' | '.join(cells)} |\n")
    for each in options.names:
        name, _, variant = each.partition("/")
        for title, edit in PROJECTS[name].edits.items():
            found = measure(name, PROJECTS[name], edit, options.directory, variant, options.builds, options.turns)
            sys.stdout.write(f"| {' | '.join([each.replace('/', ', '), title, *row(found)])} |\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
