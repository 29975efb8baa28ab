"""Runs the steps that the data file lacks, and appends what they gave."""

from __future__ import annotations

import datetime
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.trial import plan
from benchmarks.trial.programs import PROGRAMS, made
from benchmarks.trial.programs.program import OFFSET, SIDES, Program, Run
from benchmarks.trial.records import SCHEMA, Built, Counted, Host, Line, Ran, Trial, append, cut, read
from gate.model import UserError

_INSTRUCTIONS = re.compile(r"Collected\s*:\s*([0-9]+)")
_TIMEOUT = 300.0
_COUNTED = (1, 3)
"""Passes of the two processes whose difference is counted: what starts and ends them is not a part of it."""
# without random addresses, as iai-callgrind starts it
_CALLGRIND = (
    *(("setarch", "-R") if shutil.which("setarch") else ()),
    *("valgrind", "--tool=callgrind", "--trace-children=yes", "--callgrind-out-file=/dev/null"),
)
_SECRET = ("GITHUB_", "ACTIONS_", "RUNNER_", "INPUT_", "PYTHON")


class ProcessError(UserError):
    """A process of the trial that failed."""


def measure(file: Path, minutes: float, seed: int) -> None:
    """Measure until the minutes are over: at least one bundle, and only whole ones.

    What the file holds counts as measured: a killed trial goes on with the bundle that it was in.

    Raises:
        ProcessError: a program could not be built or run.
    """
    lines = _begun(file, seed)
    seed = next(line.seed for line in lines if isinstance(line, Trial))
    work = _Work(file, made(file.parent / "programs"), {_key(line) for line in lines if isinstance(line, Ran)})
    work.prepare(lines)
    work.count(lines)
    begun = time.monotonic() - sum(line.seconds for line in lines if isinstance(line, Ran))
    longest: dict[str, float] = {}
    for number in range(1_000_000):
        bundle = plan.bundle(number, tuple(PROGRAMS), seed)
        left = 60 * minutes - (time.monotonic() - begun)
        complete = all(_key(step) in work.done for step in bundle.steps)
        if number and not complete and left < longest.get(bundle.program, max(longest.values(), default=0.0)):
            break
        took = work.measure(bundle, begun, minutes)
        if not complete:
            longest[bundle.program] = took
    _say(f"measured {number} bundles in {(time.monotonic() - begun) / 60:.0f} minutes\n")


def _begun(file: Path, seed: int) -> list[Line]:
    if file.exists():
        cut(file)
        lines = read(file)
        if lines and isinstance(lines[0], Trial):
            _say(f"{file}: goes on with {sum(isinstance(line, Ran) for line in lines)} processes\n")
            return lines
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"")
    first = Trial(SCHEMA, seed, _host())
    append(file, first)
    return [first]


Key = tuple[int, str, str, int]


def _key(of: Ran | plan.Step) -> Key:
    return (of.bundle, of.part, of.side, of.number)


@dataclass
class _Work:
    """What measuring holds: the file, the programs, and which steps are done."""

    file: Path
    programs: Mapping[str, Program]
    done: set[Key]

    @property
    def output(self) -> Path:
        return self.file.parent / "output"

    def prepare(self, lines: Iterable[Line]) -> None:
        """Build all sides in all layouts."""
        known = {(line.program, line.side, line.layout) for line in lines if isinstance(line, Built)}
        for name, program in self.programs.items():
            _say(f"building {name} in {plan.LAYOUTS} layouts of {len(SIDES) - 2} sides\n")
            for each in program.prepare():
                if (name, each.side, each.number) not in known:
                    append(self.file, Built(name, each.side, each.number, each.build))

    def count(self, lines: Iterable[Line]) -> None:
        """Count the instructions of a pass of each side, where there is callgrind."""
        known = {(line.program, line.side) for line in lines if isinstance(line, Counted)}
        if shutil.which("valgrind") is None:
            _say("no valgrind: the instruction count is left out\n")
            return
        for name, program in self.programs.items():
            for side in SIDES:
                if (name, side) not in known:
                    _say(f"\rcounting instructions: {name} {side}        ")
                    append(self.file, self._counted(program, side))
        _say("\n")

    def _counted(self, program: Program, side: str) -> Counted:
        found = []
        # Python writes what it compiled at the first start
        _start(program.counted(side, int(side == "relaid"), self.output, 1))
        for passes in _COUNTED:
            run = program.counted(side, int(side == "relaid"), self.output, passes)
            begun = time.monotonic()
            done = _start(Run([*_CALLGRIND, *run.argv], run.environment))
            counts = [int(each) for each in _INSTRUCTIONS.findall(done.stderr)]
            if not counts:
                raise ProcessError(f"callgrind counted nothing of {' '.join(run.argv)}:\n{done.stderr[-500:]}")
            found.append((sum(counts), time.monotonic() - begun))
        between = (found[1][0] - found[0][0]) // (_COUNTED[1] - _COUNTED[0])
        return Counted(program.name, side, between, found[0][1])

    def measure(self, bundle: plan.Bundle, begun: float, minutes: float) -> float:
        """Run the steps of a bundle that are not done; give the seconds that it took."""
        started = time.monotonic()
        for place, step in enumerate(bundle.steps, 1):
            if _key(step) in self.done:
                continue
            if place % 20 == 1 or step.part == "long":
                spent = (time.monotonic() - begun) / 60
                _say(
                    f"\r{spent:5.1f} of {minutes:g} min, bundle {bundle.number + 1} ({bundle.program}): "
                    f"{step.part}, process {place} of {len(bundle.steps)}   "
                )
            append(self.file, self._ran(step))
            self.done.add(_key(step))
        _say("\n")
        return time.monotonic() - started

    def _ran(self, step: plan.Step) -> Ran:
        run = self.programs[step.program].run(step.side, step.layout, self.output, step.passes, step.seconds)
        self.output.unlink(missing_ok=True)
        started, begun = time.time(), time.monotonic()
        _start(Run(run.argv, {**run.environment, OFFSET: f"{step.offset:02}"}))
        seconds = time.monotonic() - begun
        passes = [int(line) for line in self.output.read_text(encoding="ascii").split()]
        return Ran(
            step.program, step.bundle, step.part, step.side, step.number, step.layout,
            round(started, 3), round(seconds, 6), passes,
        )  # fmt: skip


def _start(run: Run) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_SECRET)}
    try:
        done = subprocess.run(
            run.argv, env={**kept, **run.environment}, capture_output=True, text=True, timeout=_TIMEOUT, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ProcessError(f"{' '.join(run.argv)}: {error}") from None
    if done.returncode:
        raise ProcessError(f"{' '.join(run.argv)} ended with {done.returncode}:\n{done.stderr[-500:]}")
    return done


def _host() -> Host:
    return Host(
        processor=_processor(),
        processors=os.cpu_count() or 1,
        system=f"{platform.system()} {platform.release().split('-')[0]} {platform.machine()}",
        python=platform.python_version(),
        load=round(os.getloadavg()[0], 1),
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
