"""perfgate simulate: how often the gate is wrong and how often it sees a change, on given variances."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from gate.checkout import refuse_tracked
from gate.cli.groups import RulesOptions
from gate.commands.simulate import alarms, cost, coverage, layouts, other_tools, power, promises, stopping, views
from gate.commands.simulate.components import TABLE_VII, Components
from gate.commands.simulate.measured_components import of_history, of_runs
from gate.commands.simulate.page import as_markdown, as_text
from gate.commands.simulate.pool import run_all
from gate.commands.simulate.sections import Section, Setting, Table, asked, percent, plain, row
from gate.commands.simulate.studies import COMPARED
from gate.model import UserError

WIDTH = 100
"""Columns of the text: a terminal has as many, and no table needs more."""

BUILDS = (3, 5, 10, 20)
THRESHOLDS = (0.0, 0.02)
EFFECTS = (0.05, 0.10)
REPORTS = 200
CASES = 20
"""Defaults of the command line."""

_MOST = {"builds": 200, "reports": 10_000_000, "cases": 1000}


@dataclass(frozen=True, slots=True)
class SimulateOptions:
    """What is simulated, and how much of it."""

    runs: tuple[str, ...]
    """Measurement files or folders whose variance components are taken; none: those of K&J Table VII."""
    builds: tuple[int, ...]
    thresholds: tuple[float, ...]
    effects: tuple[float, ...]
    """builds, thresholds and effects: what tables go over; effects are true changes, 0.05 for 5%."""
    reports: int
    """Drawn for each number."""
    cases: int
    """Findings in each."""
    seed: int
    cores: int | None
    """None for all."""
    markdown: Path | None
    """Where a document is written."""


def run(options: SimulateOptions, out: TextIO, err: TextIO) -> int:
    """Simulate, print the tables and write the document if one is asked for.

    Raises:
        UserError: numbers that make no sense, or files without a case that has two builds a side.
    """
    _check(options)
    return simulate(of_runs(options.runs, err) if options.runs else TABLE_VII, options, out, err)


def run_history(history: Path | None, rules: RulesOptions, options: SimulateOptions, out: TextIO, err: TextIO) -> int:
    """Do the same for what is remembered of this host and project.

    Raises:
        UserError: numbers that make no sense, no project, or nothing remembered.
    """
    _check(options)
    return simulate(of_history(history, rules), dataclasses.replace(options, runs=("--remembered",)), out, err)


def simulate(components: Sequence[Components], options: SimulateOptions, out: TextIO, err: TextIO) -> int:
    """Do the same for components from anywhere."""
    setting = Setting(
        components=tuple(components),
        paper=tuple(components) == TABLE_VII,
        builds=tuple(sorted(set(options.builds))),
        thresholds=tuple(sorted(set(options.thresholds))),
        effects=tuple(sorted(set(options.effects))),
        cases=options.cases,
    )
    sections = _sections(setting, options.reports)
    results = run_all(asked(sections), options.reports, seed=options.seed, cores=options.cores, progress=err)
    out.write(as_text(sections, results, WIDTH))
    if options.markdown is not None:
        refuse_tracked(options.markdown, "--markdown")
        options.markdown.write_text(as_markdown(_before(options), sections, results), encoding="utf-8")
    return 0


def _sections(setting: Setting, reports: int) -> list[Section]:
    chapters = [coverage.draft(setting), alarms.draft(setting), power.draft(setting), stopping.draft(setting)]
    if not setting.paper:
        return [_simulated(setting), *chapters, other_tools.draft(setting)]
    designs = cost.designs()
    promised = [
        *views.promises(),
        *coverage.promises(setting),
        *alarms.promises(setting),
        *layouts.promises(setting),
        *power.promises(setting),
        *stopping.promises(setting),
        *cost.promises(designs),
        *other_tools.promises(),
    ]
    return [
        promises.draft(promised, reports),
        views.draft(),
        _simulated(setting),
        *chapters,
        layouts.draft(setting),
        other_tools.draft(setting),
        cost.draft(designs),
    ]


def _simulated(setting: Setting) -> Section:
    whence = (
        "The variance components of Kalibera and Jones 2012, Table VII, as 10 executions x 10 iterations in each build."
        if setting.paper
        else "The variance components of these cases, a negative T2 as 0, measured as often as they were."
    )
    in_common = any(c.drift for c in setting.components)
    lines = tuple(
        row(
            c.name,
            *(percent(share, 2) for share in (c.build, c.execution, c.iteration)),
            f"{c.executions} x {c.iterations}",
            percent(c.of_build_mean**0.5, 2),
            *([percent(c.drift, 2)] if in_common else []),
        )
        for c in setting.components
    )
    titles = ("case", "build", "execution", "iteration", "in a build", "mean of a build")
    more = " In common: of a round, which both sides share; the levels are without it." if in_common else ""
    return Section(
        "Simulated cases",
        (
            (
                f"{whence} Standard deviation of each level alone, as a share of the mean, and of the mean of a "
                f"build.{more}"
            ),
            Table((*titles, "in common") if in_common else titles, lines),
        ),
    )


# --- what is asked for ------------------------------------------------------------------------------------------------


def _check(options: SimulateOptions) -> None:
    """Refuse numbers that make no sense.

    Raises:
        UserError: naming the option.
    """
    if not (options.builds and options.thresholds and options.effects):
        raise UserError("a simulation needs at least one number of builds, one threshold and one effect")
    for name, number, least in (
        *(("builds", count, 2) for count in options.builds),
        ("reports", options.reports, 1),
        ("cases", options.cases, 1),
    ):
        if not least <= number <= _MOST[name]:
            raise UserError(f"--{name} {number}: must be {least} to {_MOST[name]}")
    for name, share in (*(("threshold", d) for d in options.thresholds), *(("effect", e) for e in options.effects)):
        if not 0 <= share <= 1 or (name == "effect" and share == 0):
            raise UserError(f"--{name} {plain(share)}: must be {'above 0%' if name == 'effect' else '0%'} to 100%")
    if options.cores is not None and options.cores < 1:
        raise UserError(f"--cores {options.cores}: must be at least 1")
    if options.markdown is not None and (
        str(options.markdown) == "-" or options.markdown.is_dir() or not options.markdown.parent.is_dir()
    ):
        raise UserError(f"--markdown {options.markdown}: cannot be written there")


# --- the document ----------------------------------------------------------------------------------------------------


def _before(options: SimulateOptions) -> tuple[str, ...]:
    words = (
        f"How often perfgate is wrong and how often it sees a change, by simulation: {options.reports} reports behind "
        f"each number, or {COMPARED:g} times as many single comparisons, or fewer if the text says so. Every verdict "
        "is that of the code that decides a check. This command generates the whole page:"
    )
    return (
        "# Evidence",
        words,
        f"    {_command(options)}",
        "The numbers depend only on the seed, not on the machine, so the same command writes the same page.",
    )


def _command(options: SimulateOptions) -> str:
    """Write the command line that makes the document, without the defaults."""
    parts = ["perfgate simulate", *options.runs]
    if options.builds != BUILDS:
        parts.append(f"--builds {','.join(map(str, options.builds))}")
    for name, shares, usual in (
        ("threshold", options.thresholds, THRESHOLDS),
        ("effect", options.effects, EFFECTS),
    ):
        if shares != usual:
            parts.append(f"--{name} {','.join(map(plain, shares))}")
    if options.cases != CASES:
        parts.append(f"--cases {options.cases}")
    parts.append(f"--reports {options.reports} --seed {options.seed}")
    if options.markdown is not None:
        # the path on this machine does not belong in the document
        shown = options.markdown.name if options.markdown.is_absolute() else options.markdown.as_posix()
        parts.append(f"--markdown {shown}")
    return " ".join(parts)
