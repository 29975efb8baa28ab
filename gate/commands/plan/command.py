"""The options of perfgate plan."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from gate.cli import values
from gate.cli.command import Command
from gate.cli.groups import HEAD, HISTORY, RulesOptions
from gate.cli.options import argument, given, group, option, switch
from gate.codes import MisuseError

if TYPE_CHECKING:
    from gate.units import Duration, Share


@dataclass(frozen=True, eq=False, repr=False)
class PlanOptions:
    """From what, and for what."""

    runs: tuple[str, ...] = argument(
        "folders of runs or measurement files (default: the memory of this host)", metavar="RUN", nargs="*"
    )
    history: Path | None = option(HISTORY, metavar="FILE", parse=Path)
    budget: Duration | None = option(
        "time for builds and executions (default: plan.budget)", metavar="TIME", parse=values.duration
    )
    target: Share | None = option(
        "half-width of the intervals to aim for (default: see --detect)",
        metavar="SHARE", parse=values.share, exclusive="aim",
    )  # fmt: skip
    detect: Share | None = option(
        "change to be found in 80%% of the runs (default: gate.detectable; intervals half as wide as the thresholds "
        'with show = "not-worse")',
        metavar="SHARE",
        parse=values.share,
        exclusive="aim",
    )
    interaction: Share | None = option(
        "difference between the changes at the settings of a factor to be found in 80%% of the runs as well (with "
        "study.gate)",
        metavar="SHARE",
        parse=values.share,
    )
    json: str | None = option("write the plan as JSON (-: print it)", metavar="FILE")


@dataclass(frozen=True, eq=False, repr=False)
class MatrixOptions:
    """How the jobs of several runners are laid out."""

    shards: int | None = option(
        "parts to divide the benchmarks into (default: plan.shards)",
        metavar="N",
        parse=values.whole(1, values.MOST_JOBS),
    )
    sessions: int | None = option(
        "times to measure everything, each on another runner (default: plan.sessions)",
        metavar="N", parse=values.sessions,
    )  # fmt: skip
    """shards and sessions: None as configured."""
    base: str | None = option("commit whose benchmarks count too (default: that of `perfgate measure`)", metavar="REF")
    head: str | None = option(HEAD, metavar="REF")
    matrix: bool = switch("print the jobs of a workflow matrix as one line of JSON; measures nothing")


@dataclass(frozen=True, eq=False, repr=False)
class Options:
    """A plan of counts, or the jobs of a matrix."""

    plan: PlanOptions = group(PlanOptions)
    matrix: MatrixOptions = group(MatrixOptions, "several runners")
    rules: RulesOptions = group(RulesOptions, "rules")


def run(options: Options, out: TextIO, err: TextIO) -> int:
    """Plan the next runs."""
    asked = [flag for name, flag in given(options.matrix) if name != "matrix"]
    if not options.matrix.matrix:
        if asked:
            raise MisuseError(f"{asked[0]}: needs --matrix")
        from gate.commands.plan.plan import run

        return run(options.plan, options.rules, out, err)
    others = [flag for name, flag in given(options.plan) if name != "history"]
    if others:
        raise MisuseError(f"--matrix: cannot be used with {others[0]}")
    from gate.run import matrix

    return matrix.run(
        matrix.Jobs(options.matrix.shards, options.matrix.sessions, options.matrix.base, options.matrix.head),
        options.rules,
        out,
    )


COMMAND = Command(
    help="propose how many builds, executions and iterations to measure",
    example="perfgate plan .perfgate --budget 10m --target 1%\nperfgate plan --matrix --shards 3 --sessions 2",
    options=Options,
    run=run,
    place=7,
)
