"""Runs the launches that the data file lacks, by perfgate's own launcher, and appends what they gave."""

from __future__ import annotations

import datetime
import math
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmarks.trial import plan
from benchmarks.trial.plan import BASE, TAIL
from benchmarks.trial.programs import made
from benchmarks.trial.programs.program import BUILT, Program, Run
from benchmarks.trial.records import (
    SCHEMA,
    Built,
    Counted,
    Host,
    Line,
    Ran,
    Started,
    Trial,
    Worked,
    append,
    cut,
    read,
)
from benchmarks.turns import pressure, under
from gate.config.types import Benchmark
from gate.model import UserError
from gate.stats.levels import trimmed_mean
from harness.instruments.spawn import LAUNCHER, RESULT, Spawn, Start, launched
from harness.process.execute import ProcessExecutor, is_of_runner, is_secret
from harness.process.forkserver import Launch, LaunchSide, LaunchStart

_INSTRUCTIONS = re.compile(r"Collected\s*:\s*([0-9]+)")
_TIMEOUT = 300.0
# without random addresses, as iai-callgrind starts it
_CALLGRIND = (
    *(("setarch", "-R") if shutil.which("setarch") else ()),
    *("valgrind", "--tool=callgrind", "--trace-children=yes", "--callgrind-out-file=/dev/null"),
)
_WORKED = 200
"""Starts of the tail by which it is known what its work takes."""
_BENCHMARK = Benchmark(name="trial", command=["true"], warmup=0)


class ProcessError(UserError):
    """A process of the trial that failed."""


def measure(file: Path, bundles: int, seed: int) -> None:
    """Measure until there are so many bundles; what the file holds counts as measured.

    Raises:
        ProcessError: a program could not be built or run.
    """
    lines = _begun(file, seed)
    seed = next(line.seed for line in lines if isinstance(line, Trial))
    done = {_key(line) for line in lines if isinstance(line, Ran)}
    work = _Work(file, made(file.parent / "programs"), done)
    work.prepare(lines)
    work.count(lines)
    begun = time.monotonic()
    for number in range(bundles):
        bundle = plan.bundle(number, seed)
        missing = [step for step in bundle.steps if (number, step.part, step.sides, step.round) not in done]
        if missing:
            minutes = (time.monotonic() - begun) / 60
            _say(f"\r{minutes:5.1f} min, bundle {number + 1} of {bundles}: {bundle.program}, {bundle.load}      ")
            with under(bundle.load, file.parent):
                for step in missing:
                    append(file, work.ran(bundle, step))
    _say("\n")


def _begun(file: Path, seed: int) -> list[Line]:
    if file.exists():
        cut(file)
        lines = read(file)
        if lines and isinstance(lines[0], Trial):
            _say(f"{file}: goes on with {sum(isinstance(line, Ran) for line in lines)} launches\n")
            return lines
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"")
    first = Trial(SCHEMA, seed, _host())
    append(file, first)
    return [first]


def _key(ran: Ran) -> tuple[int, str, tuple[str, ...], int]:
    return (ran.bundle, ran.part, tuple(ran.sides), ran.round)


@dataclass
class _Work:
    """What measuring holds: the file, the programs, and which launches are done."""

    file: Path
    programs: Mapping[str, Program]
    done: set[tuple[int, str, tuple[str, ...], int]]
    executor: ProcessExecutor = field(default_factory=ProcessExecutor)

    def prepare(self, lines: Iterable[Line]) -> None:
        """Build all sides in all layouts: first the tail, by which it is known how much of a start is work."""
        known = {(line.program, line.side, line.layout) for line in lines if isinstance(line, Built)}
        worked = {line.program: line.share for line in lines if isinstance(line, Worked)}
        for name, program in self.programs.items():
            _say(f"building {name} in {plan.LAYOUTS} layouts of {len(BUILT)} sides\n")
            for side in BUILT:
                if all((name, side, number) in known for number in range(plan.LAYOUTS)):
                    continue
                if side != TAIL and name not in worked:
                    worked[name] = self._work(program)
                    append(self.file, Worked(name, worked[name]))
                for each in program.prepare((side,), worked.get(name, 1.0)):
                    append(self.file, Built(name, side, each.number, each.build))

    def _work(self, program: Program) -> float:
        """Measure how much longer a start takes that does its work twice."""
        plain, twice = program.run(TAIL, 0), program.run(TAIL, 0, slow=True)
        starts = [LaunchStart(0, each.environment, each.argv) for _ in range(_WORKED) for each in (plain, twice)]
        taken, _ = self._launched([plain], [*starts[:2], *starts])
        active = np.log([start.metrics["active" if "active" in start.metrics else "time"].values[0] for start in taken])
        return math.expm1(trimmed_mean(active[3::2] - active[2::2]))

    def count(self, lines: Iterable[Line]) -> None:
        """Count the instructions of a start of each side, where there is callgrind."""
        known = {(line.program, line.side) for line in lines if isinstance(line, Counted)}
        if shutil.which("valgrind") is None:
            _say("no valgrind: the instruction count is left out\n")
            return
        for name, program in self.programs.items():
            for side in (BASE, *plan.SAME, *plan.CHANGED):
                if (name, side) not in known:
                    _say(f"\rcounting instructions: {name} {side}        ")
                    append(self.file, _counted(program, side))
        _say("\n")

    def ran(self, bundle: plan.Bundle, step: plan.Step) -> Ran:
        """Make the starts of a step."""
        program = self.programs[bundle.program]
        sides = [program.run(side, layout) for side, layout in zip(step.sides, step.layouts, strict=True)]
        starts = []
        for place, slow in zip(step.order, step.slow, strict=True):
            each = sides[place]
            if slow and step.sides[place] == TAIL:
                each = program.run(TAIL, step.layouts[place], slow=True)
            starts.append(LaunchStart(place, each.environment, each.argv))
        load, waited, begun = os.getloadavg()[0], _pressure(), time.monotonic()
        made_, seconds = self._launched(sides, starts)
        share = (_pressure() - waited) / (time.monotonic() - begun)
        found = [Started(each.side, _ns(each, "time"), _ns(each, "active"), _own(each)) for each in made_]
        return Ran(
            bundle.program, bundle.number, step.part, step.round, list(step.sides),
            round(seconds, 6), round(share * seconds, 6), round(load, 2), found,
        )  # fmt: skip

    def _launched(self, sides: Sequence[Run], starts: Sequence[LaunchStart]) -> tuple[list[Start], float]:
        """Make starts of commands, and give what each gave, and the seconds of all."""
        kept = {name: value for name, value in os.environ.items() if not is_secret(name) and not is_of_runner(name)}
        with tempfile.TemporaryDirectory(prefix="trial-") as folder:
            there = [LaunchSide(side.argv, {**kept, **side.environment}, Path(folder)) for side in sides]
            launch = Launch(LAUNCHER, Path(folder) / RESULT, tuple(there), starts)
            outcome = self.executor.run(launched(launch, _TIMEOUT))
            found = Spawn().starts([_BENCHMARK] * len(sides), launch, outcome)
        if found.failed is not None:
            raise ProcessError(f"{' '.join(sides[found.side].argv)}: {found.failed.status}\n{found.failed.stderr}")
        return found.made, outcome.seconds


def _ns(start: Start, metric: str) -> int:
    return round(1e9 * start.metrics[metric].values[0]) if metric in start.metrics else -1


def _own(start: Start) -> float:
    return -1.0 if start.own is None else round(start.own, 4)


def _pressure() -> float:
    try:
        return pressure()
    except OSError:
        return 0.0


def _counted(program: Program, side: str) -> Counted:
    run = program.run(side, int(side == "relaid"))
    # with one hash seed and the system's allocation, as CodSpeed's runner sets them
    steady = {"PYTHONHASHSEED": "0", "PYTHONMALLOC": "malloc"}
    argv = [word for word in run.argv if word != "-I"]
    environment = {**os.environ, **run.environment, **steady}
    begun = time.monotonic()
    words = [*_CALLGRIND, *argv]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=_TIMEOUT, check=False)
    taken = time.monotonic() - begun
    found = _INSTRUCTIONS.findall(done.stderr)
    if not found:
        raise ProcessError(f"callgrind counted nothing of {' '.join(argv)}:\n{done.stderr[-500:]}")
    return Counted(program.name, side, sum(map(int, found)), taken)


def _host() -> Host:
    return Host(
        processor=_processor(),
        processors=os.cpu_count() or 1,
        system=f"{platform.system()} {platform.release().split('-')[0]} {platform.machine()}",
        python=platform.python_version(),
        date=datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
    )


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor() or "unknown"
    found = re.search(r"model name\s*:\s*(.+)", text)
    return " ".join(found.group(1).split()) if found else platform.machine()


def _say(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
