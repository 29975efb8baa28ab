"""perfgate plan: counts for the next runs, from what was measured."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from gate.cli import option_values
from gate.cli.command import Command
from gate.cli.groups import HEAD, RulesOptions
from gate.cli.options import argument, given, group, option, switch
from gate.codes import MisuseError

if TYPE_CHECKING:
    from gate.writing.units import Duration, Share


@dataclass(frozen=True, eq=False, repr=False)
class Options:
    """From what counts are planned, and for what; or how the jobs of several runners are laid out."""

    runs: tuple[str, ...] = argument(
        "folders of runs or measurement files (default: .perfgate)", metavar="RUN", nargs="*"
    )
    budget: Duration | None = option(
        "time for builds and starts (default: plan.budget)", metavar="TIME", parse=option_values.duration
    )
    target: Share | None = option(
        "half-width of the intervals to aim for (default: see --detect)",
        metavar="SHARE", parse=option_values.share,
    )  # fmt: skip
    detect: Share | None = option(
        "change to be found in 80%% of the runs (default: gate.detectable; where that is the threshold: intervals half "
        "as wide)",
        metavar="SHARE",
        parse=option_values.share,
    )
    json: str | None = option("write the report as JSON (-: print it)", metavar="FILE")
    shards: int | None = option(
        "parts to divide the benchmarks into (default: plan.shards)",
        metavar="N", parse=option_values.whole(1, option_values.MOST_JOBS), section="several runners",
    )  # fmt: skip
    sessions: int | None = option(
        "times to measure everything, each on another runner (default: plan.sessions)",
        metavar="N", parse=option_values.sessions,
    )  # fmt: skip
    """shards and sessions: None as configured."""
    base: str | None = option("commit whose benchmarks count too (default: that of `perfgate measure`)", metavar="REF")
    head: str | None = option(HEAD, metavar="REF")
    matrix: bool = switch("print the jobs of a workflow matrix as one line of JSON; measures nothing")
    rules: RulesOptions = group(RulesOptions, "rules")


_OF_MATRIX = ("shards", "sessions", "base", "head", "matrix")


def run(options: Options, out: TextIO, err: TextIO) -> int:
    """Plan the next runs, or print the jobs of a matrix; 0 also when no plan within the budget reaches what is wanted.

    Raises: UserError: nothing to plan from, an output that is an input, or not even two rounds fit the budget.
    """
    asked = [*given(options)]
    of_plan = [flag for name, flag in asked if name not in _OF_MATRIX]
    of_matrix = [flag for name, flag in asked if name in _OF_MATRIX]
    if options.matrix:
        if of_plan:
            raise MisuseError(f"--matrix: cannot be used with {of_plan[0]}")
        from gate.run.project import matrix_jobs

        out.write(matrix_jobs(options.shards, options.sessions, options.base, options.head, options.rules) + "\n")
        return 0
    if of_matrix:
        raise MisuseError(f"{of_matrix[0]}: needs --matrix")
    from gate.document import terminal
    from gate.evidence.records import DEFAULT_FOLDER
    from gate.planning.basis import from_runs
    from gate.planning.document import document, tables
    from gate.planning.plan import planned
    from gate.report.json import text_of
    from gate.report.outputs import deliver, refuse_inputs

    if options.target is not None and options.detect is not None:
        raise MisuseError("--target: not with --detect, which asks for another aim")
    runs = options.runs or (DEFAULT_FOLDER,)
    if options.json is not None:
        refuse_inputs([*map(Path, runs)], [Path(options.json)])
    found = planned(from_runs(runs, options.rules), options.budget, options.target, options.detect)
    files = {"json": options.json} if options.json is not None else {}
    text = partial(terminal.render, document(found), terminal.bounded(out))
    deliver(files, {"json": lambda: text_of(tables(found))}, text, out)
    if options.json == "-" and not found.plan.reached:
        err.write(f"perfgate: no plan within the budget reaches {found.aim}\n")
    return 0


COMMAND = Command(
    help="propose how many builds, starts and values to measure",
    example="perfgate plan .perfgate --budget 10m --target 1%\nperfgate plan --matrix --shards 3 --sessions 2",
    options=Options,
    run=run,
)
