"""What perfgate adds to an execution, beside the program alone and beside calling hyperfine by hand.

    python -m benchmarks.overhead [--quick]

Programs are started in turns, in blocks: by posix_spawn and wait alone, by hyperfine -N --runs 1, and by perfgate's
measuring loop with each instrument, every record flushed to disk. A figure is the median over the blocks of the time of
one execution; what is added is that less the bare time of the same block. Ends with 1 unless `values`
adds at most 2% to executions of 100 ms, and to any at most what hyperfine by hand adds, and `hyperfine` at most twice
that, hyperfine included, and unless the sandbox adds at most 1 ms to any. The built-in spawn is shown here;
benchmarks.against limits it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import cast

from gate.config.study import Setting
from gate.config.types import Benchmark, BuildTable, Plan
from gate.evidence.records import Appender
from gate.model import SIDES, Build, Failure, Side
from harness.build.builder import TreeBuilder
from harness.build.conditions import Conditions, Recipe
from harness.build.perturb import make_shims
from harness.instruments.declaration import choose
from harness.loop.execution import Executions
from harness.loop.measure import Loop
from harness.loop.schedule import schedule
from harness.loop.turns import Lengths, Turns
from harness.process.execute import ProcessExecutor, find_own
from harness.sandbox.sandbox import Ground, Landlocked, Sandbox, examined

SHARE = 0.02
MOST_INSIDE = 1e-3
"""Seconds that the sandbox may add to an execution."""
INSIDE = ", sandbox"
BARE = "bare"
BY_HAND = "hyperfine by hand"
PROGRAMS = {"100 ms": "sleep 0.1; echo 1", "nothing": "echo 1"}


class _Here:
    """Builds nothing: both sides are one directory."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def build(self, side: Side, build: int, seed: int, factors: Mapping[str, Setting]) -> Build | Failure:  # noqa: ARG002
        return Build(side=side, build=build, seed=seed, seconds=0.0)

    def changed(self, build: int, *, executed: bool) -> Sequence[Failure]:  # noqa: ARG002  # no tree to look at
        return ()

    def directory(self, side: Side, factors: Mapping[str, Setting]) -> Path:  # noqa: ARG002  # all are one
        return self._directory

    def both(self, build: int, seed: int, factors: Mapping[str, Setting], started: Callable[[], None]) -> None:
        """Leave each to itself."""

    def read(self, side: Side, factors: Mapping[str, Setting], paths: Iterable[str]) -> None:
        """Nothing is built."""

    def kept(self, side: Side, factors: Mapping[str, Setting]) -> Path:
        return self.directory(side, factors)

    def roots(self) -> None:
        return None

    def since(self) -> float:
        return float("inf")

    def committed(self) -> frozenset[str]:
        raise AssertionError

    def root(self) -> Path:
        return self._directory

    def is_ahead(self, side: Side, build: int, seed: int, factors: Mapping[str, Setting]) -> bool:  # noqa: ARG002
        return False

    def afresh(self, side: Side, build: int, seed: int, factors: Mapping[str, Setting]) -> Build | Failure:
        return self.build(side, build, seed, factors)

    @property
    def work(self) -> Path:
        return self._directory


def _bare(script: str, count: int) -> float:
    null = os.open(os.devnull, os.O_WRONLY)
    begin = time.perf_counter()
    for _ in range(count):
        started = os.posix_spawn(
            "/bin/sh", ["sh", "-c", script], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, null, 1)]
        )
        os.waitpid(started, 0)
    seconds = time.perf_counter() - begin
    os.close(null)
    return seconds / count


def _hyperfine(script: str, directory: Path, count: int) -> float:
    path = find_own("hyperfine") or "hyperfine"
    options = [
        "-N",
        "--runs",
        "1",
        "--warmup",
        "0",
        "--style",
        "none",
        "--export-json",
        str(directory / "by-hand.json"),
    ]
    begin = time.perf_counter()
    for _ in range(count):
        subprocess.run([path, *options, "--", f"sh -c '{script}'"], check=True, capture_output=True)
    return (time.perf_counter() - begin) / count


def _sandbox(directory: Path) -> Landlocked:
    environment = dict(os.environ)
    return Landlocked(
        Ground(
            work=directory,
            outputs=directory / "outputs",
            project=directory,
            write={side: [] for side in SIDES},
            environments=dict.fromkeys(SIDES, environment),
            links={side: directory / "links" / side for side in SIDES},
            names=frozenset(),
            copied=False,
            one_path=True,
            git=directory,
            kept=None,
        )
    )


def _perfgate(instrument: str, script: str, directory: Path, sandbox: Landlocked | None, count: int) -> float:
    table = {"b": Benchmark(name="b", command=["sh", "-c", script], instrument=instrument)}
    rounds = schedule({"base": ["b"], "head": ["b"]}, 1, count // 2, seed=1)
    recipe = Recipe(BuildTable(perturb=["environment", "hash-seed"]), os.environ)
    conditions = Conditions(
        ProcessExecutor(), dict.fromkeys(SIDES, recipe), os.environ, directory / "outputs", directory / "shims",
        sandbox=sandbox or Sandbox(),
    )  # fmt: skip
    executions = Executions(conditions, choose({instrument}, os.environ).by_name, 1)
    file = directory / "measurements.jsonl"
    with Appender(file) as append:
        builder = cast("TreeBuilder", _Here(directory))
        benchmarks = dict.fromkeys(SIDES, table)
        loop = Loop(
            rounds, benchmarks, builder, executions, append, turns=Turns(executions, builder, ()),
            lengths=Lengths(executions, benchmarks, (), Plan(), lambda _: rounds), progress=lambda _: None,
        )  # fmt: skip
        begin = time.perf_counter()
        done = loop.run()
        seconds = time.perf_counter() - begin
    if done.stop != "finished" or file.read_bytes().count(b'"execution"') < count:
        sys.exit(f"the executions by {instrument} failed: see {file}")
    file.unlink()
    return seconds / count


def main() -> int:
    """Print the table; 1 when a limit is passed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer blocks")
    blocks = 3 if parser.parse_args().quick else 15
    # beside this checkout: a file system in memory would flatter the flushing
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as made:
        directory = Path(made)
        (directory / "outputs").mkdir()
        make_shims(directory / "shims", os.environ, go=True)
        return _compare(directory, blocks)


def _compare(directory: Path, blocks: int) -> int:
    instruments: tuple[str, ...] = ("values", "spawn", "hyperfine")
    inside = [_sandbox(directory)] if examined("auto").on else []
    passed = True
    sys.stdout.write(f"{'program':8}  {'by':27}  {'execution':>10}  {'added':>9}  of program  of hyperfine\n")
    for name, script in PROGRAMS.items():
        ways: dict[str, Callable[[int], float]] = {
            BARE: partial(_bare, script),
            BY_HAND: partial(_hyperfine, script, directory),
            **{f"perfgate {i}": partial(_perfgate, i, script, directory, None) for i in instruments},
            **{
                f"perfgate {i}{INSIDE}": partial(_perfgate, i, script, directory, each)
                for i in instruments
                for each in inside
            },
        }
        times: dict[str, list[float]] = {way: [] for way in ways}
        for _ in range(blocks):
            for way, run in ways.items():
                times[way].append(run(10 if "ms" in name else 40))
        passed &= _print(name, times)
    return 0 if passed else 1


def _print(program: str, times: dict[str, list[float]]) -> bool:
    bare = times[BARE]
    added = {way: median(t - b for t, b in zip(own, bare, strict=True)) for way, own in times.items()}
    passed = True
    for way, own in times.items():
        of_program, of_hyperfine = added[way] / median(bare), added[way] / added[BY_HAND]
        # what perfgate adds to hyperfine is beside what hyperfine takes itself
        allowed = 2.0 if way == "perfgate hyperfine" else 1.0
        fails = way in ("perfgate values", "perfgate hyperfine") and of_hyperfine > allowed
        fails |= way == "perfgate values" and "ms" in program and of_program > SHARE
        if way.endswith(INSIDE):
            without = times[way.removesuffix(INSIDE)]
            fails |= median(t - b for t, b in zip(own, without, strict=True)) > MOST_INSIDE
        passed &= not fails
        sys.stdout.write(
            f"{program:8}  {way:27}  {median(own) * 1e3:7.2f} ms  {added[way] * 1e3:6.2f} ms  {of_program:10.1%}  "
            f"{of_hyperfine:12.2f}{'  too much' if fails else ''}\n"
        )
    return passed


if __name__ == "__main__":
    sys.exit(main())
