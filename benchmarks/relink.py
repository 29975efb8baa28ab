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
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, variance

from scipy.stats import f as f_distribution

from gate.config.types import BuildTable
from gate.model import SIDES, Build, Side
from gate.units import Duration
from harness.build.builder import TreeBuilder
from harness.build.conditions import Conditions, Recipe
from harness.build.perturb import make_shims
from harness.process.execute import ProcessExecutor
from harness.source.base_and_head import resolve
from harness.source.repository import find_repository
from harness.source.trees import open_trees

SHARE = 0.05
TIMEOUT = Duration(1800)


@dataclass(frozen=True)
class Project:
    """A public project: how it is built, what comes out, and what that runs."""

    url: str
    commit: str
    command: str
    artifact: str
    run: tuple[str, ...]
    setup: str | None = None
    prepare: str = "true"
    """Makes the input "data" of the program, once."""


FUNCTIONS = "-O2 -ffunction-sections"
PROJECTS = {
    "lua": Project(
        "https://github.com/lua/lua",
        "53b41d0cddd80bf33fdc631bdd32e3ba53842b89",
        'rm -f ./*.o lua; for f in l*.c; do echo "$f"; done | grep -v ltests | '
        "xargs -n 1 -P 2 gcc -std=c99 -O2 -DLUA_USE_LINUX -c && gcc -o lua ./*.o -Wl,-E -lm -ldl",
        "lua",
        ("{artifact}", "{data}"),
        prepare="echo 'local function fib(n) return n < 2 and n or fib(n-1) + fib(n-2) end "
        'local t = {{}} for i = 1, 2e5 do t[i % 97] = (("x"):rep(i % 9) .. i):gsub("1", "2") end fib(24)\' > {data}',
    ),
    "lz4": Project(
        "https://github.com/lz4/lz4",
        "d9c01a3d49114dc28e2dfbbc0a8990e88be7b694",
        "make -C programs clean && make -C programs -j2 lz4",
        "programs/lz4",
        ("{artifact}", "-9", "-c", "{data}"),
        prepare="cat lib/*.c lib/*.h programs/*.c programs/*.h tests/*.c > {data}; "
        "for i in 1 2 3; do cat {data} {data} > {data}2; mv {data}2 {data}; done",
    ),
    "cmark": Project(
        "https://github.com/commonmark/cmark",
        "0d408e6cbf9b0c04d46e9e9c296808b778a47994",
        "rm -rf b && cmake -S . -B b -DCMAKE_BUILD_TYPE=Release -DCMARK_SHARED=OFF -DCMARK_TESTS=OFF > log && "
        "make -C b -j2 cmark_exe > log",
        "b/src/cmark",
        ("{artifact}", "{data}"),
        prepare="cp test/spec.txt {data}; for i in 1 2 3 4; do cat {data} {data} > {data}2; mv {data}2 {data}; done",
    ),
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


@contextmanager
def _building(project: Project, checkout: Path, caches: Path) -> Iterator[TreeBuilder]:
    repository = find_repository(checkout)
    sources = resolve(repository, base="HEAD", head="HEAD", environment={})
    table = BuildTable(
        setup=project.setup, command=project.command, artifacts=[project.artifact], timeout=TIMEOUT, relink="off"
    )
    again = BuildTable(setup=project.setup, command=project.command, artifacts=[project.artifact], timeout=TIMEOUT)
    with open_trees(repository, sources, share_paths={"base": [], "head": []}) as trees:
        shims = caches / "shims"
        shutil.rmtree(shims, ignore_errors=True)
        make_shims(shims, os.environ, go=False)
        recipes: Mapping[Side, Recipe] = {"base": Recipe(table, os.environ), "head": Recipe(again, os.environ)}
        conditions = Conditions(ProcessExecutor(), recipes, os.environ, trees.directory / "outputs", shims)
        yield TreeBuilder(conditions, trees, 1)


def _seconds(command: Sequence[str]) -> float:
    null = os.open(os.devnull, os.O_RDWR)
    actions = [(os.POSIX_SPAWN_DUP2, null, stream) for stream in (0, 1, 2)]
    started = os.posix_spawn(command[0], list(command), os.environ, file_actions=actions)
    _, _, used = os.wait4(started, 0)
    os.close(null)
    return used.ru_utime + used.ru_stime


def measure(name: str, project: Project, directory: Path, builds: int, runs: int) -> Found:
    """Build both sides in rounds, and run what came out by turns."""
    checkout = directory / name
    if not checkout.exists():
        subprocess.run(["git", "clone", "-q", project.url, str(checkout)], check=True)
        subprocess.run(["git", "checkout", "-q", project.commit], cwd=checkout, check=True)
    found = Found()
    with tempfile.TemporaryDirectory() as made, _building(project, checkout, Path(made)) as builder:
        data = Path(made) / "data"
        subprocess.run(["sh", "-c", project.prepare.format(data=data)], cwd=checkout, check=True)
        for number in range(builds):
            programs: dict[Side, Path] = {}
            for side in SIDES:
                built = builder.build(side, number, 1000 + number)
                if not isinstance(built, Build):
                    sys.exit(f"{name}: {side} was not built: {built.status}\n{built.stderr}")
                found.builds[side].append(built)
                programs[side] = Path(made) / f"program-{side}"
                shutil.copy(builder.directory(side) / project.artifact, programs[side])
            values: dict[Side, list[float]] = {"base": [], "head": []}
            for turn in range(runs * 2):
                side = SIDES[(turn + number) % 2]
                words = [word.format(artifact=programs[side], data=data) for word in project.run]
                values[side].append(_seconds(words))
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
