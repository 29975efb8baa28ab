"""The spawn instrument: the embedded stand-in for hyperfine, with the operating system's own accounting."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import msgspec

from gate.adapters.values import OutputError, Series
from gate.config.types import Benchmark
from gate.model import Metric
from harness.instruments.declaration import built_in
from harness.instruments.protocol import (
    Context,
    Unusable,
    cannot_start,
    environment,
    failed,
    metrics,
    read_regular,
    refuse_other_count,
    wanted_values,
    words,
)
from harness.process.execute import Command, Outcome
from harness.process.forkserver import Launch
from harness.process.groups import NOT_STARTED, exit_status

_LAUNCHER = Path(__file__).with_name("launcher.py")
_MAX_RESULT = 1 << 30
RESULT = "result.json"
"""Where perfgate's own programs tell."""
# KiB on Linux, bytes on macOS
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024
# Linux keeps a process's size only approximately while it runs
_NEAR = 1.05


class _Result(msgspec.Struct):
    runs: list[tuple[int, float, float, int]]
    own: int
    code: int
    errno: int


class Spawn:
    """Times a command by starting it from a small process.

    cpu: whether user and system time together are a metric of their own.
    """

    def __init__(self, *, cpu: bool = False) -> None:
        """See the class."""
        self._cpu = cpu

    def prepare(self, benchmark: Benchmark, context: Context) -> Command:
        """Return a call of the launcher."""
        runs = wanted_values(benchmark, context.iterations)
        argv = words(benchmark, context)
        launch = Launch(_LAUNCHER, context.told / RESULT, runs, argv, context.confined)
        return Command(
            argv=launch.by_itself(context.environment.get("LC_CTYPE")),
            directory=context.directory,
            environment=environment(context),
            timeout=benchmark.timeout,
            launch=launch,
        )

    def collect(self, benchmark: Benchmark, context: Context, outcome: Outcome) -> dict[str, Metric] | Unusable:
        """Read the launcher's result: time, user, system and, where it can be told, memory."""
        if outcome.status:
            return failed("spawn", outcome)
        try:
            data = read_regular(context.told / RESULT, _MAX_RESULT)
            result = msgspec.json.decode(data or b"", type=_Result)
            if result.errno:
                error = OSError(result.errno, os.strerror(result.errno))
                program = words(benchmark, context)[0]
                return cannot_start(error, program, context.directory, outcome.stderr)
            if result.code:
                return Unusable(exit_status(result.code), outcome.stderr, result.code in NOT_STARTED)
            refuse_other_count(len(result.runs), wanted_values(benchmark, context.iterations), "spawn")
            series = _series(result, cpu=self._cpu)
            return metrics(benchmark, series, "" if "memory" in series else _too_small(result))
        except msgspec.DecodeError:
            return Unusable("spawn: no result", outcome.stderr)
        except OutputError as error:
            return Unusable(str(error), outcome.stderr)


def _series(result: _Result, *, cpu: bool) -> dict[str, Series]:
    series = {
        "time": Series("s", [ns / 1e9 for ns, _, _, _ in result.runs]),
        "user": Series("s", [user for _, user, _, _ in result.runs]),
        "system": Series("s", [system for _, _, system, _ in result.runs]),
    }
    if cpu:
        series["cpu"] = Series("s", [user + system for _, user, system, _ in result.runs])
    # A child's peak begins with its parent's size: at that size the value says nothing about the program.
    if any(rss > result.own * _NEAR for _, _, _, rss in result.runs):
        series["memory"] = Series("B", [float(rss * _RSS_UNIT) for _, _, _, rss in result.runs])
    return series


def _too_small(result: _Result) -> str:
    return f"spawn cannot measure memory below {result.own * _RSS_UNIT / 2**20:.0f} MiB, the launcher's own size"


INSTRUMENT = built_in(Spawn(), any_command=True)
