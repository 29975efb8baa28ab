"""The options of perfgate calibrate, which measures or, with --simulate, only calculates."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from gate.cli import values
from gate.cli.command import Command
from gate.cli.groups import HEAD, HISTORY, STRICT, WAIT, RulesOptions
from gate.cli.options import argument, given, group, option, switch
from gate.codes import MisuseError

if TYPE_CHECKING:
    from gate.units import Duration


@dataclass(frozen=True, eq=False, repr=False)
class MeasuringOptions:
    """What is measured against itself, and how much of it."""

    head: str | None = option(HEAD, metavar="REF")
    builds: tuple[int, ...] | None = option(
        "builds of each side (default: --set plan.builds, otherwise 20); with --simulate a list",
        metavar="N",
        parse=values.counts,
    )
    budget: Duration | None = option(
        "longest time to measure (default: --set plan.budget, otherwise four times plan.budget)",
        metavar="TIME",
        parse=values.duration,
    )
    out: Path | None = option(
        "folder for the measurements (default: .perfgate/calibration in the project)",
        metavar="DIR",
        parse=values.folder,
    )
    seed: int | None = option(
        "seed of the schedule (default: a new one; with --simulate 1)", metavar="N", parse=values.seed
    )
    dry_run: bool = switch("print the commands that would run, how often and how long; measure nothing")
    resume: bool = switch("continue an interrupted calibration")
    inject: tuple[float, ...] | None = option(
        "changes to look for (default: 1%%,2%%,5%%,10%%)", metavar="SHARES", parse=values.shares
    )
    strict: bool = switch(STRICT)
    wait: float | None = option(WAIT, metavar="TIME", parse=values.wait)
    history: Path | None = option(HISTORY, metavar="FILE", parse=Path)


@dataclass(frozen=True, eq=False, repr=False)
class SimulationOptions:
    """What is simulated."""

    runs: tuple[str, ...] = argument(
        "with --simulate: more folders or measurement files to take variances from", metavar="RUN", nargs="*"
    )
    simulate: str | None = option(
        "measure nothing; simulate with the variances of a RUN, of remembered runs (history) or of published ones",
        metavar="SOURCE", alone="table-vii",
    )  # fmt: skip
    threshold: tuple[float, ...] | None = option(
        "thresholds to simulate (default: 0%%,1%%,2%%,5%%)", metavar="SHARES", parse=values.shares
    )
    effect: tuple[float, ...] | None = option(
        "true changes to simulate (default: 5%%,10%%)", metavar="SHARES", parse=values.shares
    )
    reports: int | None = option("reports to simulate for each number (default: 2000)", metavar="N", parse=values.count)
    cases: int | None = option("findings in each report (default: 20)", metavar="N", parse=values.count)
    cores: int | None = option("processes to use (default: one per core)", metavar="N", parse=values.count)
    markdown: Path | None = option("write a Markdown page, with its figures beside it", metavar="FILE", parse=Path)


@dataclass(frozen=True, eq=False, repr=False)
class OutputOptions:
    """Where the result goes."""

    json: str | None = option("write the result as JSON (-: to stdout, instead of text)", metavar="FILE")
    quiet: bool = switch("print one line, and errors")


@dataclass(frozen=True, eq=False, repr=False)
class Options:
    """A calibration, or a simulation."""

    measuring: MeasuringOptions = group(MeasuringOptions, "measuring")
    rules: RulesOptions = group(RulesOptions, "rules")
    simulation: SimulationOptions = group(SimulationOptions, "simulation")
    outputs: OutputOptions = group(OutputOptions, "output")


def run(options: Options, out: TextIO, err: TextIO) -> int:
    """Calibrate, or simulate."""
    _refuse_other_options(options)
    if options.simulation.simulate is not None:
        return _simulate(options, options.simulation.simulate, out, err)
    from gate.run.refusal import require_measuring

    require_measuring()
    from gate.commands.calibrate import calibrate

    measuring = options.measuring
    builds = measuring.builds or (None,)
    if len(builds) > 1:
        raise MisuseError(f"--builds {','.join(map(str, builds))}: only --simulate takes several numbers of builds")
    asked = calibrate.CalibrateOptions(
        head=measuring.head,
        builds=builds[0],
        budget=None if measuring.budget is None else float(measuring.budget),
        out=measuring.out,
        seed=measuring.seed,
        dry_run=measuring.dry_run,
        resume=measuring.resume,
        quiet=options.outputs.quiet,
        history=measuring.history,
        inject=measuring.inject or calibrate.INJECT,
        json=options.outputs.json,
        strict=measuring.strict,
        wait=measuring.wait,
    )
    return calibrate.run(asked, options.rules, out, err)


_BOTH = ("builds", "seed", "history")
"""What a simulation takes too."""


def _refuse_other_options(options: Options) -> None:
    source = options.simulation.simulate
    if source is None:
        others = list(given(options.simulation))
    else:
        others = [each for each in given(options.measuring) if each[0] not in _BOTH]
        others += given(options.outputs)
        # a simulation goes by its own thresholds: rules that it would pass over are refused
        others += given(options.rules) if source != "history" else ()
    for _, flag in others:
        why = "needs --simulate" if source is None else "cannot be used with --simulate"
        raise MisuseError(f"{flag}: {why}; see perfgate calibrate --help")


def _simulate(options: Options, source: str, out: TextIO, err: TextIO) -> int:
    from gate.commands.calibrate.simulation import simulate

    wanted = options.simulation
    named = () if source in ("table-vii", "history") else (source,)
    asked = simulate.SimulateOptions(
        runs=(*named, *wanted.runs),
        builds=options.measuring.builds or simulate.BUILDS,
        thresholds=wanted.threshold or simulate.THRESHOLDS,
        effects=wanted.effect or simulate.EFFECTS,
        reports=wanted.reports or simulate.REPORTS,
        cases=wanted.cases or simulate.CASES,
        seed=1 if options.measuring.seed is None else options.measuring.seed,
        cores=wanted.cores,
        markdown=wanted.markdown,
    )
    if source == "history":
        return simulate.run_history(options.measuring.history, options.rules, asked, out, err)
    return simulate.run(asked, out, err)


COMMAND = Command(
    help="measure a commit against itself, and remember how noisy this host is",
    example="perfgate calibrate --builds 20 --budget 1h\nperfgate calibrate --simulate .perfgate --effect 2%,5%",
    options=Options,
    run=run,
    place=8,
)
