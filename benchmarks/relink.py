"""What linking again costs and samples, beside full builds, on real projects.

    python -m benchmarks.relink DIRECTORY [--builds 30] [--runs 9] [NAME...]

DIRECTORY holds clones of the projects, DIRECTORY/NAME; one that is missing is cloned at the commit below. In a round
base is built in full and head links again, both with the round's seed, and the program runs by turns, measured by its
CPU time. The table has the first build, the median of the later ones, how many programs differ, how many have the same
bytes by link and by full build, and the ratio of the variances between builds with its p-value (F test; a build's value
is the median of its runs). Ends with 1 when a promise of docs/layout.md is broken: a later build within 5% of the first
one, at least n - 1 of n programs differ, every one has the bytes of a full build.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, variance

from scipy.stats import f as f_distribution

from benchmarks.projects import CMARK, LUA, LZ4, Project, building, built, cloned, cpu_seconds, prepared
from gate.model import SIDES, Build, Side

SHARE = 0.05

FUNCTIONS = "-O2 -ffunction-sections"
PROJECTS = {
    "lua": LUA,
    "lz4": LZ4,
    "cmark": CMARK,
    "fmt": Project(
        "https://github.com/fmtlib/fmt",
        "60ccad511fd680cb91d8b60a315759f71c67bef9",
        f'rm -rf b && cmake -S . -B b -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS="{FUNCTIONS}" '
        "-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld -DFMT_TEST=ON > log && make -C b -j2 format-test ranges-test > log",
        "b/bin/format-test",
        ("{artifact}", "--gtest_repeat=20", "--gtest_filter=-*float*:*double*"),
    ),
    "hexyl": Project(
        "https://github.com/sharkdp/hexyl",
        "8eb6d4771ce1ec7af65d06bd335457783b77d557",
        "touch src/main.rs && cargo build --release --offline",
        "target/release/hexyl",
        ("{artifact}", "{data}"),
        setup="cargo fetch --locked",
        prepare="head -c 1500000 $(command -v git) > {data}",
    ),
}


@dataclass
class Found:
    """What one project gave, by side."""

    builds: dict[Side, list[Build]] = field(default_factory=lambda: {"base": [], "head": []})
    values: dict[Side, list[float]] = field(default_factory=lambda: {"base": [], "head": []})


def measure(name: str, project: Project, directory: Path, builds: int, runs: int) -> Found:
    """Build both sides in rounds, and run what came out by turns."""
    checkout = cloned(name, project, directory)
    found = Found()
    with tempfile.TemporaryDirectory() as made:
        data = Path(made) / "data"
        prepared(project, checkout, data)
        relink: dict[Side, str] = {"base": "off", "head": "auto"}
        with building(project, checkout, Path(made), "HEAD", relink, go=False, aligned=False) as builder:
            for number in range(builds):
                programs: dict[Side, Path] = {}
                for side in SIDES:
                    found.builds[side].append(built(builder, name, side, number, 1000 + number))
                    programs[side] = Path(made) / f"program-{side}"
                    shutil.copy(builder.directory(side) / project.artifact, programs[side])
                values: dict[Side, list[float]] = {"base": [], "head": []}
                for turn in range(runs * 2):
                    side = SIDES[(turn + number) % 2]
                    values[side].append(cpu_seconds(project, programs[side], data))
                for side, each in values.items():
                    found.values[side].append(median(each))
                sys.stderr.write(f"\r{name}: {number + 1} of {builds}")
    sys.stderr.write("\n")
    return found


def show(name: str, project: Project, found: Found) -> bool:
    """Print a row; return whether what docs/layout.md promises holds."""
    full, again = found.builds["base"], found.builds["head"]
    if not all(build.relinked for build in again[1:]):
        sys.stdout.write(f"{name:8}  not linked again: {again[0].full}\n")
        return False
    first = again[0].seconds or 0.0
    later = median(build.seconds or 0.0 for build in again[1:])
    hashes = {side: [build.artifacts[project.artifact] for build in builds] for side, builds in found.builds.items()}
    different = len(set(hashes["head"]))
    same = sum(one == other for one, other in zip(hashes["base"], hashes["head"], strict=True))
    ratio = variance(found.values["head"]) / variance(found.values["base"])
    degrees = len(full) - 1
    tail = f_distribution.cdf(ratio, degrees, degrees)
    sys.stdout.write(
        f"{name:8}  {first:8.1f} s  {later:6.2f} s  {later / first:6.1%}  {different:3} of {len(again):<3}  "
        f"{same:3} of {len(full):<3}  {ratio:6.2f}  {2 * min(tail, 1 - tail):6.2f}  {again[1].ordered}\n"
    )
    sys.stdout.flush()
    return later <= SHARE * first and different >= len(again) - 1 and same == len(full)


def main() -> int:
    """Print the table; 1 when a promise is broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("names", nargs="*", default=list(PROJECTS), metavar="NAME")
    parser.add_argument("--builds", type=int, default=30)
    parser.add_argument("--runs", type=int, default=9)
    options = parser.parse_intermixed_args()
    columns = f"{'first':>10}  {'later':>8}  {'share':>6}  {'differ':10}  {'as full':10}  {'F':>6}  {'p':>6}  ordered"
    sys.stdout.write(f"{'project':8}  {columns}\n")
    kept = True
    for name in options.names:
        project = PROJECTS[name]
        kept &= show(name, project, measure(name, project, options.directory, options.builds, options.runs))
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
