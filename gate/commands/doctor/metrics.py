"""perfgate doctor --metrics: one command by every instrument, to choose a metric (NIST TN 1855, 3.4 to 3.8)."""

from __future__ import annotations

import json as to_json
import math
import os
import random
import shlex
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TextIO

import numpy as np

from gate.codes import Exit
from gate.config.instruments import instrument_names, traits_of
from gate.config.types import Benchmark
from gate.document import document as doc
from gate.document import terminal
from gate.model import Metric, Sample, UserError
from gate.report.outputs import deliver
from gate.run.interruption import orderly
from gate.stats.levels import variances
from gate.units import Duration, format_duration, format_number, format_share, format_value, plural
from gate.writing.plain import clip, visible
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
class Measured:
    """One metric by one instrument."""

    instrument: str
    metric: str
    unit: str
    values: tuple[tuple[float, ...], ...]
    """By execution, its iterations in order, in the base unit."""


@dataclass(slots=True)
class _Session:
    """One command in the working directory, and what became of it so far."""

    benchmark: Benchmark
    environment: Mapping[str, str]
    scratch: Path
    values: dict[tuple[str, str], Measured] = field(default_factory=dict)
    """By instrument and metric."""
    versions: dict[str, str] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)

    def execute(
        self, name: str, instrument: Instrument, iterations: int, seed: int, *, exact: bool = False
    ) -> Outcome | str:
        """Make one execution and keep its values; a failure makes the instrument absent, and says why."""
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
            return f"{why}: {visible(said[-1])}" if said else why
        if {"user", "system"} <= collected.keys():
            # the total that task-clock and cycles are comparable with (NIST 3.8)
            pairs = zip(collected["user"].values, collected["system"].values, strict=True)
            both = Metric(unit="s", values=[user + system for user, system in pairs])
            collected = collected | {"user+system": both}
        for metric, series in collected.items():
            known = self.values.get((name, metric), Measured(name, metric, series.unit, ()))
            self.values[name, metric] = replace(known, values=(*known.values, tuple(series.values)))
        return outcome


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
        if isinstance(pilot, str):
            err.write(f"perfgate: {visible(shlex.join(command))}: {pilot}\n")
            return Exit.ERROR
        # the first run warms caches up; it only tells how long the others take
        seconds, cpu = (session.values["spawn", metric].values[0][0] for metric in ("time", "user+system"))
        session.values.clear()
        _measure(session, seconds, cpu, err)
        rows = rows_of([each for each in session.values.values() if each.instrument not in session.absent])
        if not rows:
            err.write(f"perfgate: {visible(shlex.join(command))}: {session.absent['spawn']}\n")
            return Exit.ERROR
        found = Found(command, rows, session.versions, session.absent, session.notes)
        files = {"json": json} if json is not None else {}
        deliver(
            files, {"json": lambda: to_json.dumps(_document(found), indent=2, ensure_ascii=False) + "\n"},
            lambda: terminal.render(document(found), terminal.bounded(out)), out,
        )  # fmt: skip
    return 0


def _measure(session: _Session, seconds: float, cpu: float, err: TextIO) -> None:
    """Measure by each instrument of any command; what is absent is noted with why.

    Args:
        seconds: that the command takes by the clock, cpu: by processors.
    """
    timed: dict[str, Instrument] = {}
    # those that count the same each time, and so are executed once or twice, with the seconds that it may take
    exact: dict[str, tuple[Instrument, float]] = {}
    for name in instrument_names():
        each, traits = declared(name), traits_of(name)
        if not each.any_command or traits is None:
            continue
        usable = each.find(os.environ)
        if not isinstance(usable, Usable):
            instead = f"; {each.instead}, which is built in, measures the same" if each.instead else ""
            session.absent[name] = f"{usable}{instead}"
            continue
        if traits.exact:
            exact[name] = usable.instrument, cpu * each.slower
        else:
            timed[name] = usable.instrument
        session.versions |= {name: usable.version} if usable.version else {}
        session.notes |= {name: "; ".join(usable.limits)} if usable.limits else {}
    _time(session, timed, seconds, err)
    for name, (instrument, expected) in exact.items():
        if expected > _PATIENCE:
            why = f"it would take about {format_duration(expected)}; try a smaller input"
            session.absent[name] = why
            continue
        err.write(f"perfgate: {name}: about {format_duration(max(expected, 1.0))}\n")
        first = session.execute(name, instrument, 1, 1, exact=True)
        if isinstance(first, Outcome) and first.seconds < _TWICE:
            session.execute(name, instrument, 1, 1, exact=True)


def plan(seconds: float, instruments: int) -> tuple[int, int]:
    """Return the executions and iterations that fit the time, for a command of so many seconds."""
    fits = _BUDGET / (instruments * (seconds + _START))
    executions = max(2, min(_EXECUTIONS, int(fits)))
    return executions, max(1, min(_ITERATIONS, int(fits / executions)))


def _time(session: _Session, timed: Mapping[str, Instrument], seconds: float, err: TextIO) -> None:
    executions, iterations = plan(seconds, len(timed))
    total = format_duration(executions * iterations * len(timed) * (seconds + _START))
    counts = f"{plural(len(timed), 'instrument')} x {plural(executions, 'start')} x {plural(iterations, 'value')}"
    err.write(f"perfgate: {counts} of {format_duration(seconds)}: about {total}\n")
    names = list(timed)
    for execution in range(executions):
        # no instrument is always the first
        turn = execution % len(names)
        for name in names[turn:] + names[:turn]:
            if name not in session.absent:
                session.execute(name, timed[name], iterations, execution + 1)


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


CPU = ("task-clock", "user+system")
_SPEED = ("time", *CPU, "cycles", "instructions")
"""Metrics that show how fast a program is; page faults, memory and the like do not, however steady they are."""
_LEAVES_OUT = {
    "task-clock": "CPU time: it leaves out waiting (disk, network, locks, sleep) and adds up threads",
    "user+system": "CPU time: it leaves out waiting (disk, network, locks, sleep) and adds up threads",
    "cycles": "CPU work at whatever frequency: it leaves out waiting and adds up threads",
    "instructions": "it leaves out how long an instruction takes: caches, branches, frequency, and all waiting",
    "time": "it includes all that a user waits for, and all that the machine does meanwhile",
}
_WAITS, _BUSY = 0.8, 1.2
_AS_GOOD = 1.25


@dataclass(frozen=True, slots=True)
class Row:
    """One metric, reduced."""

    instrument: str
    metric: str
    unit: str
    executions: int
    iterations: int
    mean: float
    between: float | None
    within: float | None
    """between and within: standard deviations over the mean (CV) of what executions add and of iterations inside them;
    None where nothing was repeated.
    """
    total: float | None
    """Of one value."""
    ratio: float | None
    """Of its mean to that of wall time, for clocks."""
    rank: float | None
    """Spearman's correlation with the wall time of the same iterations; None where the instrument has none, or nothing
    varies.
    """


def rows_of(measured: Sequence[Measured]) -> tuple[Row, ...]:
    """Reduce all metrics; the first wall time in the sequence is the one that other instruments' are compared with."""
    walls = {each.instrument: each for each in measured if each.metric == "time"}
    reference = next(iter(walls.values()), None)
    return tuple(_row(each, walls.get(each.instrument), reference) for each in measured)


def _row(measured: Measured, wall: Measured | None, reference: Measured | None) -> Row:
    mean, rank = float(np.mean([np.mean(values) for values in measured.values])), None
    beside = reference if measured.metric == "time" else wall
    wall_mean = 0.0
    if beside is not None and beside is not measured:
        wall_mean = float(np.mean([np.mean(values) for values in beside.values]))
    between, within, total = _spread(measured, mean)
    if wall is not None and wall is not measured:
        ranks = []
        for each in (measured, wall):
            # equal ones by the mean of their ranks
            _, place, count = np.unique(np.concatenate(each.values), return_inverse=True, return_counts=True)
            ranks.append((np.cumsum(count) - (count + 1) / 2.0)[place])
        x, y = ranks
        if len(x) == len(y) >= 3 and x.std() and y.std():
            rank = float(np.corrcoef(x, y)[0, 1])
    return Row(
        measured.instrument, measured.metric, measured.unit, len(measured.values), max(map(len, measured.values)), mean,
        between, within, total, mean / wall_mean if measured.unit == "s" and wall_mean > 0 else None, rank,
    )  # fmt: skip


def _spread(measured: Measured, mean: float) -> tuple[float | None, float | None, float | None]:
    """Return the CV between executions, within them, and of one value; None where nothing was repeated."""
    counts = np.array([len(values) for values in measured.values])
    if counts.sum() < 2 or not mean > 0:
        return None, None, None
    flat = np.array([value for values in measured.values for value in values])
    sample = Sample(flat, (counts, np.array([len(counts)]), np.array([1])), ((0, 0),))
    t2 = {each.level: max(each.t2, 0.0) for each in variances(sample)}
    if not (counts > 1).any():
        # one value an execution: the two cannot be separated
        spread = math.sqrt(float(flat.var(ddof=1))) / mean
        return spread, None, spread
    within = math.sqrt(t2.get("iteration", 0.0)) / mean
    between = math.sqrt(t2["execution"]) / mean if "execution" in t2 else None
    return between, within, math.hypot(within, between or 0.0)


def advice(rows: Sequence[Row]) -> list[str]:
    """Say which metric is least variable, what it leaves out, and whether the command waits or runs in parallel."""
    speed = [row for row in rows if row.metric in _SPEED and row.total is not None]
    lines = []
    least, wall = (
        min(rows, key=lambda row: row.total or 0.0, default=None)
        for rows in (speed, [row for row in speed if row.metric == "time"])
    )
    if least is not None and wall is not None:
        time, shares = (wall.total or 0.0), [format_share(row.total or 0.0) for row in (least, wall)]
        if time <= _AS_GOOD * (least.total or 0.0):
            steady = f"time ({wall.instrument}) varies as little as anything else, {shares[1]} a value"
            lines.append(f"Keep time: {steady}, and {_LEAVES_OUT['time']}.")
        else:
            steady = f"{least.metric} ({least.instrument}), {shares[0]} a value, against {shares[1]} of time"
            lines.append(f"Least variable: {steady}; but {_LEAVES_OUT[least.metric]}.")
    cpu = {row.metric: row.ratio for row in reversed(rows)}
    share = next((cpu[name] for name in CPU if cpu.get(name) is not None), None)
    if share is not None:
        told = f"CPU time is {format_share(share)} of its time"
        if share < _WAITS:
            lines.append(
                f"{told}; the rest is waiting for disk, network, locks or sleep, or for a processor on a busy machine. "
                "CPU time, cycles and instructions do not see waiting: decide on time if it matters."
            )
        elif share > _BUSY:
            lines.append(
                f"{told}; it runs in parallel, and CPU time adds that up. Only time shows a change in parallelism."
            )
        else:
            lines.append(f"{told}: it computes nearly all the time.")
    lines.append(
        "These are few values: outliers occur in every metric (NIST TN 1855, section 3.8). "
        "`perfgate plan` shows how much a gate needs to measure."
    )
    return lines


_HEAD = (
    doc.Column("metric"),
    doc.Column("instrument", fixed=True),
    doc.Column("n", right=True),
    doc.Column("mean", right=True),
    doc.Column("between", right=True),
    doc.Column("within", right=True),
    doc.Column("against time"),
)


@dataclass(frozen=True, slots=True)
class Found:
    """What was found out about a command."""

    command: tuple[str, ...]
    rows: tuple[Row, ...]
    versions: dict[str, str]
    absent: dict[str, str]
    """By instrument, why it measured nothing."""
    notes: dict[str, str]
    """By instrument."""


def document(found: Found) -> doc.Document:
    """Give a table of the metrics, what measured nothing and why, and advice."""
    note = "n: starts x values; between, within: variation (CV) of starts and in them."
    rows = []
    for row in found.rows:
        against = [f"{row.ratio:.3f} of it"] if row.ratio is not None else []
        against += [f"rank correlation {row.rank:.2f}"] if row.rank is not None else []
        whole = f"{row.mean:.0f}" if row.mean == round(row.mean) else format_number(row.mean)
        texts = [
            row.metric,
            row.instrument,
            f"{row.executions} x {row.iterations}",
            format_value(row.mean, row.unit) if row.unit else whole,
            *("-" if share is None else format_share(share) for share in (row.between, row.within)),
            ", ".join(against) or "-",
        ]
        rows.append(doc.Row([*map(doc.Cell, texts)]))
    table = doc.Table(f"Metrics of {clip(visible(shlex.join(found.command)), 100)}", "", list(_HEAD), rows, note=note)
    absent = [f"{name}: not measured: {why}" for name, why in found.absent.items()]
    told = [absent, [f"{name}: {note}" for name, note in found.notes.items()], advice(found.rows)]
    sections: list[list[doc.Part]] = [[table]]
    sections += [[doc.Items(texts, "advice")] for texts in told]
    return doc.Document("perfgate doctor", "metrics", sections, "in --json", "")
