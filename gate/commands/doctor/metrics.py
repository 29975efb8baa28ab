"""perfgate doctor --metrics: one command by every instrument, to choose a metric (NIST TN 1855, 3.4 to 3.8)."""

from __future__ import annotations

import json as to_json
import os
import random
import shlex
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TextIO

from gate.codes import Exit
from gate.commands.doctor.metrics_summary import Found, Measured, advice, render, rows_of
from gate.config.instruments import instrument_names, traits_of
from gate.config.types import Benchmark
from gate.document.terminal import screen
from gate.model import Metric, UserError
from gate.model.warnings.setup import limits
from gate.report.outputs import write
from gate.run.interruption import orderly
from gate.units import Duration, format_duration, plural
from gate.writing.plain import visible
from harness.instruments.declaration import Found as Usable
from harness.instruments.declaration import declared
from harness.instruments.protocol import Collected, Context, Instrument, Unusable
from harness.instruments.spawn import Spawn
from harness.process.execute import MAX_PADDING, Outcome, ProcessExecutor, clean_environment

_BUDGET = 40.0
_EXECUTIONS, _ITERATIONS = 5, 10
_START = 0.03
"""Seconds that an instrument takes beside the command, about."""
_PATIENCE = 120.0
_TWICE = 20.0
_TIMEOUT = Duration(600)


@dataclass(frozen=True, slots=True)
class _Failed:
    why: str


@dataclass(slots=True)
class _Tools:
    """The instruments that measure any command, by name."""

    timed: dict[str, Instrument] = field(default_factory=dict)
    exact: dict[str, Instrument] = field(default_factory=dict)
    """Those that count the same each time, and so are executed once or twice."""
    slower: dict[str, float] = field(default_factory=dict)
    """By the exact ones."""
    versions: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Session:
    """One command in the working directory, and what became of it so far."""

    benchmark: Benchmark
    environment: Mapping[str, str]
    scratch: Path
    values: dict[tuple[str, str], tuple[str, list[tuple[float, ...]]]] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)

    def execute(
        self, name: str, instrument: Instrument, iterations: int, seed: int, *, exact: bool = False
    ) -> Outcome | _Failed:
        """Make one execution and keep its values; a failure makes the instrument absent."""
        # as in a check: each execution has an environment of its own length
        padding = 0 if exact else random.Random(seed).randrange(MAX_PADDING)  # noqa: S311  # no secret
        with tempfile.TemporaryDirectory(dir=self.scratch) as scratch:
            context = Context(Path.cwd(), self.environment, "head", seed, padding, iterations, Path(scratch))
            outcome = ProcessExecutor().run(instrument.prepare(self.benchmark, context))
            collected = instrument.collect(self.benchmark, context, outcome)
        if isinstance(collected, Unusable | Collected):
            why = collected.status if isinstance(collected, Unusable) else "it is a suite"
            self.absent[name] = f"it failed: {why}"
            said = collected.stderr.strip().splitlines() if isinstance(collected, Unusable) else []
            return _Failed(f"{why}: {visible(said[-1])}" if said else why)
        for metric, series in (collected | _both(collected)).items():
            self.values.setdefault((name, metric), (series.unit, []))[1].append(tuple(series.values))
        return outcome

    def measured(self) -> list[Measured]:
        """Return what was measured by the instruments that never failed."""
        return [
            Measured(name, metric, unit, tuple(values))
            for (name, metric), (unit, values) in self.values.items()
            if name not in self.absent
        ]


def _both(metrics: Mapping[str, Metric]) -> dict[str, Metric]:
    """Add user and system time up: the total that task-clock and cycles are comparable with (NIST 3.8)."""
    if not {"user", "system"} <= metrics.keys():
        return {}
    pairs = zip(metrics["user"].values, metrics["system"].values, strict=True)
    return {"user+system": Metric(unit="s", values=[user + system for user, system in pairs])}


def run(command: tuple[str, ...], json: str | None, out: TextIO, err: TextIO) -> int:
    """Measure a command in the working directory by every instrument there is, and print a table and advice.

    Returns 0; 4 when the command fails; 128 + signal after an interruption.

    Args:
        command: its words.
        json: a file, or "-" for standard output instead of text.

    Raises:
        UserError: the command is empty, or the JSON cannot be written.
    """
    if not command or not command[0]:
        raise UserError("--metrics: needs a command after --")
    benchmark = Benchmark(name="command", command=list(command), instrument="spawn", timeout=_TIMEOUT)
    with orderly(), tempfile.TemporaryDirectory(prefix="perfgate-") as scratch:
        session = _Session(benchmark, clean_environment(os.environ), Path(scratch))
        pilot = session.execute("spawn", Spawn(), 1, 0)
        if isinstance(pilot, _Failed):
            err.write(f"perfgate: {visible(shlex.join(command))}: {pilot.why}\n")
            return Exit.ERROR
        # the first run warms caches up; it only tells how long the others take
        seconds, cpu = (session.values["spawn", metric][1][0][0] for metric in ("time", "user+system"))
        session.values.clear()
        tools = _tools(session.absent)
        _time(session, tools.timed, seconds, err)
        for name, instrument in tools.exact.items():
            _count(session, name, instrument, cpu * tools.slower[name], err)
        rows = rows_of(session.measured())
        if not rows:
            err.write(f"perfgate: {visible(shlex.join(command))}: {session.absent['spawn']}\n")
            return Exit.ERROR
        found = Found(command, rows, tools.versions, session.absent, tools.notes)
        text = to_json.dumps(_document(found), indent=2, ensure_ascii=False) + "\n"
        if json == "-":
            out.write(text)
            return 0
        if json is not None:
            write(Path(json), text)
        shown = screen(out)
        out.write(render(found, color=shown.color, width=shown.width))
    return 0


def _tools(absent: dict[str, str]) -> _Tools:
    """Look for the instruments; what is absent is noted with why."""
    tools = _Tools()
    for name in instrument_names():
        each, traits = declared(name), traits_of(name)
        if not each.any_command or traits is None:
            continue
        found = each.find(os.environ)
        if not isinstance(found, Usable):
            instead = f"; {each.instead}, which is built in, measures the same" if each.instead else ""
            why = str(found)
            absent[name] = f"{why}{instead}"
            continue
        (tools.exact if traits.exact else tools.timed)[name] = found.instrument
        tools.slower[name] = each.slower
        tools.versions |= {name: found.version} if found.version else {}
        tools.notes |= {name: limits(found.limits)} if found.limits else {}
    return tools


def plan(seconds: float, instruments: int) -> tuple[int, int]:
    """Return the executions and iterations that fit the time, for a command of so many seconds."""
    fits = _BUDGET / (instruments * (seconds + _START))
    executions = max(2, min(_EXECUTIONS, int(fits)))
    return executions, max(1, min(_ITERATIONS, int(fits / executions)))


def _time(session: _Session, timed: Mapping[str, Instrument], seconds: float, err: TextIO) -> None:
    executions, iterations = plan(seconds, len(timed))
    total = format_duration(executions * iterations * len(timed) * (seconds + _START))
    counts = (
        plural(len(timed), "instrument"),
        plural(executions, "execution"),
        plural(iterations, "iteration"),
    )
    err.write(f"perfgate: {' x '.join(counts)} of {format_duration(seconds)}: about {total}\n")
    names = list(timed)
    for execution in range(executions):
        # no instrument is always the first
        turn = execution % len(names)
        for name in names[turn:] + names[:turn]:
            if name not in session.absent:
                session.execute(name, timed[name], iterations, execution + 1)


def _count(session: _Session, name: str, instrument: Instrument, expected: float, err: TextIO) -> None:
    if expected > _PATIENCE:
        session.absent[name] = f"it would take about {format_duration(expected)}; try a smaller input"
        return
    err.write(f"perfgate: {name}: about {format_duration(max(expected, 1.0))}\n")
    first = session.execute(name, instrument, 1, 1, exact=True)
    if isinstance(first, Outcome) and first.seconds < _TWICE:
        session.execute(name, instrument, 1, 1, exact=True)


def _document(found: Found) -> dict[str, object]:
    """Return the JSON of --json: schema 1; values in base units (s, B or counts), variations as shares."""
    names: Sequence[str] = list(dict.fromkeys([*(row.instrument for row in found.rows), *found.absent]))
    return {
        "schema": 1,
        "command": found.command,
        "instruments": {
            name: {
                "version": found.versions.get(name),
                "absent": found.absent.get(name),
                "note": found.notes.get(name),
            }
            for name in names
        },
        "metrics": [asdict(row) for row in found.rows],
        "advice": advice(found.rows),
    }
