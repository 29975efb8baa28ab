"""The spawn instrument: the embedded stand-in for hyperfine, with the operating system's own accounting."""

import dataclasses
import errno
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from gate.config.types import Benchmark
from gate.formats.parts.output import OutputError, Series
from gate.model import Metric
from gate.model.names import ACTIVE, ONE_TASK
from gate.writing.units import Duration
from harness.instruments.declaration import built_in
from harness.instruments.protocol import (
    Context,
    Unusable,
    around,
    cannot_start,
    environment,
    failed,
    wanted_values,
    words,
)
from harness.instruments.values import metrics, read_regular, refuse_other_count
from harness.process.execute import Command, ProcessEnd
from harness.process.forkserver import Launch, LaunchSide, LaunchStart
from harness.process.process_groups import NOT_STARTED, exit_status
from harness.sandbox.enter import pace

LAUNCHER = Path(__file__).with_name("launcher.py")
_MAX_RESULT = 1 << 30
RESULT = "result.json"
"""Where perfgate's own programs tell."""
# KiB on Linux, bytes on macOS
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024
# Linux keeps a process's size only approximately while it runs
_NEAR = 1.05


class _Run(msgspec.Struct, array_like=True, frozen=True):
    """One start, as harness/instruments/launcher.py writes it: nanoseconds, but for seconds of processors."""

    ns: int
    user: float
    system: float
    rss: int
    delay: int
    waited: int
    ran: int
    rest: float
    outlived: int
    side: int

    @property
    def active(self) -> float:
        """The seconds in which neither the program's first task nor whoever measured had to wait for a processor.

        Raises: OutputError: there are none.
        """
        # Whoever measures may be stopped right before it waits, while the program runs (one start
        # in a thousand on a busy machine): it took at least as long as its first task ran.
        active = max(self.ns - self.delay - self.waited, self.ran)
        if active <= 0:
            raise OutputError(f"spawn: active time is not known of a start that took {self.ns / 1e6:.3f} ms")
        return active / 1e9

    @property
    def own(self) -> float | None:
        """What the program's first task ran, as a share of all its processor time; None: not known."""
        if self.ran < 0:
            return None
        whole = self.user + self.system + self.rest
        return min(1.0, self.ran / 1e9 / whole) if whole > 0 else 1.0


class _Failed(msgspec.Struct, array_like=True, frozen=True):
    side: int
    start: int
    what: Literal["exit", "prepare", "cleanup", "start", "timeout", "directory", "stand", "sandbox", "launcher", "pace"]
    number: int


class _Result(msgspec.Struct):
    runs: list[_Run]
    own: list[int]
    failed: _Failed | None


@dataclass(frozen=True, slots=True)
class Start:
    """What one start gave."""

    side: int
    """Which of the launch's."""
    metrics: dict[str, Metric]
    """Of one value each."""
    own: float | None
    """What its first task ran, as a share of all its processor time; None: not known."""
    outlived: bool
    """Whether something that it started went on after its end."""


@dataclass(frozen=True, slots=True)
class Starts:
    """What the starts of a launch gave, up to the first that failed."""

    made: list[Start]
    failed: Unusable | None = None
    """Why the one after them failed."""
    side: int = 0
    """Whose that one was; also where that is nobody's fault but perfgate's."""


class Spawn:
    """Times a command by starting it from a small process."""

    def prepare(self, benchmark: Benchmark, context: Context) -> Command:
        """Return a call of the launcher."""
        runs = wanted_values(benchmark, context.iterations)
        own = environment(context)
        side = LaunchSide(
            words(benchmark, context),
            own,
            context.directory,
            context.confined,
            slowdown=context.slowdown,
            around=around(benchmark, context),
        )
        return launched(Launch(LAUNCHER, context.told / RESULT, (side,), (LaunchStart(),) * runs), benchmark.timeout)

    def collect(self, benchmark: Benchmark, context: Context, outcome: ProcessEnd) -> dict[str, Metric] | Unusable:
        """Read the launcher's result: time, user, system and, where they can be told, active and memory."""
        if outcome.status:
            return failed("spawn", outcome)
        try:
            result = _read(context.told / RESULT)
            if result.failed is not None:
                side = LaunchSide(words(benchmark, context), {}, context.directory)
                return _why(result.failed, side.argv[0], side, benchmark.timeout, outcome.stderr)
            refuse_other_count(len(result.runs), wanted_values(benchmark, context.iterations), "spawn")
            series = _series(result.runs, memory=_has_memory(result.runs, result.own[0]))
            return metrics(benchmark, series, "" if "memory" in series else _too_small(result.own[0]))
        except OutputError as error:
            return Unusable(str(error), outcome.stderr)

    def starts(self, benchmarks: Sequence[Benchmark], launch: Launch, outcome: ProcessEnd) -> Starts:
        """Read what each start of a launch gave.

        All starts of a side have the same metrics. None is taken as a warm-up.

        Args:
            benchmarks: of each side.
        """
        result: _Result | None = None
        try:
            result = _read(launch.output)
        except OutputError as error:
            if not outcome.status:
                return Starts([], Unusable(str(error), outcome.stderr))
        # who slowed down the other side is known from between the starts only
        if result is None or (outcome.status and (result.failed is None or result.failed.what != "pace")):
            return Starts([], failed("spawn", outcome))
        of_sides = [[run for run in result.runs if run.side == side] for side in range(len(launch.sides))]
        memory = [_has_memory(runs, own) for runs, own in zip(of_sides, result.own, strict=True)]
        active = [all(run.delay >= 0 for run in runs) for runs in of_sides]
        rules = [msgspec.structs.replace(each, warmup=0) for each in benchmarks]
        made: list[Start] = []
        for run in result.runs:
            side = run.side
            try:
                series = _series([run], active=active[side], memory=memory[side])
                found = metrics(rules[side], series, "" if memory[side] else _too_small(result.own[side]))
            except OutputError as error:
                return Starts(made, Unusable(str(error), outcome.stderr), side)
            made.append(Start(side, found, run.own, bool(run.outlived)))
        if result.failed is None:
            return Starts(made)
        side, what = result.failed.side, result.failed.what
        program = (launch.starts[result.failed.start].argv or launch.sides[side].argv)[0]
        why = _why(result.failed, program, launch.sides[side], launch.timeout, outcome.stderr)
        if what == "pace" and made:
            before = launch.sides[made[-1].side].environment.get("PERFGATE_SIDE", "")
            why = dataclasses.replace(why, status=f"{why.status}; the last one was {before}'s")
        return Starts(made, why, side)


def launched(launch: Launch, timeout: float) -> Command:
    """Return the process that makes a launch; timeout: seconds of all its starts."""
    first = launch.sides[0]
    # what stands by turns is not there yet
    directory = launch.output.parent if first.places else first.directory
    return Command(launch.argv, directory, dict(first.environment), timeout, launch=launch, confined=first.confined)


def _read(path: Path) -> _Result:
    """Read the launcher's result. Raises: OutputError: there is none."""
    try:
        return msgspec.json.decode(read_regular(path, _MAX_RESULT) or b"", type=_Result)
    except msgspec.DecodeError:
        raise OutputError("spawn: no result") from None


def _why(ended: _Failed, program: str, side: LaunchSide, timeout: float, stderr: str) -> Unusable:
    """Say why a start failed."""
    match ended.what:
        case "exit":
            return Unusable(exit_status(ended.number), stderr, ended.number in NOT_STARTED)
        case "prepare" | "cleanup":
            return Unusable(f"{ended.what} failed: {exit_status(ended.number)}", stderr)
        case "timeout":
            return Unusable(f"time-out after {Duration(timeout)}", stderr)
        case "directory":
            why = "does not exist" if ended.number == errno.ENOENT else "cannot be entered"
            return Unusable(f"cannot start: the directory {side.directory} {why}", stderr, unstarted=True)
        case "start":
            return cannot_start(OSError(ended.number, os.strerror(ended.number)), program, side.directory, stderr)
        case "stand":
            places = ", ".join(f"{directory} cannot stand at {path}" for directory, path in side.places.items())
            return Unusable(f"cannot start: {places}: {os.strerror(ended.number).lower()}", stderr, unstarted=True)
        case "sandbox":
            return Unusable("cannot start: the sandbox cannot be entered", stderr, unstarted=True)
        case "pace":
            what = list(pace())[ended.number]
            return Unusable(f"cannot start: a command that ran before it changed the {what} of what starts it", stderr)
        case "launcher":
            return Unusable("spawn: the process that starts the command has ended", stderr)


def _series(runs: Sequence[_Run], *, active: bool | None = None, memory: bool) -> dict[str, Series]:
    """Return the values of starts; active: None: where all of them have it.

    Raises: OutputError: active time cannot be what it seems to be.
    """
    series = {
        "time": Series("s", [run.ns / 1e9 for run in runs]),
        "user": Series("s", [run.user for run in runs]),
        "system": Series("s", [run.system for run in runs]),
    }
    if all(run.delay >= 0 for run in runs) if active is None else active:
        shares = sorted(run.own or 0.0 for run in runs)
        one_task = shares[len(runs) // 2] >= ONE_TASK and not any(run.outlived for run in runs)
        # of single starts all of a side decide together, by what their lines tell
        alone = one_task or active is not None
        series[ACTIVE] = Series("s", [run.active for run in runs], view_of="time", sharp=alone)
    if memory:
        series["memory"] = Series("B", [float(run.rss * _RSS_UNIT) for run in runs])
    return series


def _has_memory(runs: Sequence[_Run], own: int) -> bool:
    """A child's peak begins with its parent's size: at that size the value says nothing about the program."""
    return any(run.rss > own * _NEAR for run in runs)


def _too_small(own: int) -> str:
    return f"spawn cannot measure memory below {own * _RSS_UNIT / 2**20:.0f} MiB, the launcher's own size"


INSTRUMENT = built_in(Spawn(), any_command=True)
