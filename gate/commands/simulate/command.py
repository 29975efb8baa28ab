"""The options of perfgate simulate, which measures nothing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from gate.cli import values
from gate.cli.command import Command
from gate.cli.groups import HISTORY, RulesOptions
from gate.cli.options import argument, given, group, option, switch
from gate.codes import MisuseError


@dataclass(frozen=True, eq=False, repr=False)
class SourceOptions:
    """Whose variances."""

    runs: tuple[str, ...] = argument(
        "folders or measurement files to take variances from (default: published ones)", metavar="RUN", nargs="*"
    )
    remembered: bool = switch("take what is remembered of this host and project")
    history: Path | None = option(HISTORY, metavar="FILE", parse=Path)


@dataclass(frozen=True, eq=False, repr=False)
class SizeOptions:
    """What is simulated, and how much of it."""

    builds: tuple[int, ...] | None = option(
        "numbers of builds of each side (default: 3,5,10,20)", metavar="LIST", parse=values.counts
    )
    threshold: tuple[float, ...] | None = option("thresholds (default: 0%%,2%%)", metavar="SHARES", parse=values.shares)
    effect: tuple[float, ...] | None = option("true changes (default: 5%%,10%%)", metavar="SHARES", parse=values.shares)
    reports: int | None = option("reports for each number (default: 200)", metavar="N", parse=values.count)
    cases: int | None = option("findings in each report (default: 20)", metavar="N", parse=values.count)
    seed: int | None = option("seed of the random numbers (default: 1)", metavar="N", parse=values.seed)
    cores: int | None = option("processes to use (default: one per core)", metavar="N", parse=values.count)
    markdown: Path | None = option("write a Markdown page", metavar="FILE", parse=Path)


@dataclass(frozen=True, eq=False, repr=False)
class Options:
    """A simulation."""

    source: SourceOptions = group(SourceOptions, "variances")
    sizes: SizeOptions = group(SizeOptions, "simulation")
    rules: RulesOptions = group(RulesOptions, "rules")


def run(options: Options, out: TextIO, err: TextIO) -> int:
    """Simulate."""
    source, sizes = options.source, options.sizes
    if source.remembered and source.runs:
        raise MisuseError(f"{source.runs[0]}: cannot be used with --remembered; see perfgate simulate --help")
    for _, flag in [] if source.remembered else [*given(options.rules), *_history(source)]:
        # a simulation goes by its own thresholds: rules that it would pass over are refused
        raise MisuseError(f"{flag}: needs --remembered; see perfgate simulate --help")
    from gate.commands.simulate import simulate

    asked = simulate.SimulateOptions(
        runs=source.runs,
        builds=sizes.builds or simulate.BUILDS,
        thresholds=sizes.threshold or simulate.THRESHOLDS,
        effects=sizes.effect or simulate.EFFECTS,
        reports=sizes.reports or simulate.REPORTS,
        cases=sizes.cases or simulate.CASES,
        seed=1 if sizes.seed is None else sizes.seed,
        cores=sizes.cores,
        markdown=sizes.markdown,
    )
    if source.remembered:
        return simulate.run_history(source.history, options.rules, asked, out, err)
    return simulate.run(asked, out, err)


def _history(source: SourceOptions) -> list[tuple[str, str]]:
    return [] if source.history is None else [("history", "--history")]


COMMAND = Command(
    help="show how often a gate is wrong and how often it sees a change, on given variances",
    example="perfgate simulate .perfgate --effect 2%,5%",
    options=Options,
    run=run,
    place=8,
)
