"""The options of perfgate bisect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gate.cli import option_values
from gate.cli.command import MEASURING, Command, late
from gate.cli.groups import SEED, STRICT, WAIT, RulesOptions
from gate.cli.options import group, named, option, switch
from gate.codes import Exit

if TYPE_CHECKING:
    from gate.writing.units import Duration


@dataclass(frozen=True, eq=False, repr=False)
class Options:
    """Which commits are searched, by whose rules, and where the result goes beside standard output and the folder."""

    good: str | None = option("commit that was still fast, an ancestor of --bad", metavar="REF", section="measuring")
    bad: str | None = option("commit that is slow (default: HEAD)", metavar="REF")
    budget: Duration | None = option(
        "longest time to measure; comparing both ends takes at most plan.budget of it "
        "(default: four times plan.budget)",
        metavar="TIME",
        parse=option_values.duration,
    )
    out: Path | None = option(
        "folder for measurements and report (default: .perfgate/bisect in the project)",
        metavar="DIR",
        parse=option_values.folder,
    )
    seed: int | None = option(SEED, metavar="N", parse=option_values.seed)
    dry_run: bool = switch("print the commits that would be searched, and what a round runs; measure nothing")
    resume: bool = switch("continue an interrupted search of the same range, or give an ended one more budget")
    strict: bool = switch(STRICT)
    wait: float | None = option(WAIT, metavar="TIME", parse=option_values.wait)
    rules: RulesOptions = group(RulesOptions, "rules")
    files: Mapping[str, str] = named(
        ("json", "markdown", "html"), "write the report as {} (-: print it)", metavar="FILE", section="output"
    )
    quiet: bool = switch("print one line, and errors")


COMMAND = Command(
    help="find the commit that made a benchmark slower",
    example="perfgate bisect --good v1.2 --bad main --benchmark parse-large",
    options=Options,
    run=late("gate.commands.bisect.bisect:run", MEASURING),
    codes=(Exit.PASS, Exit.USAGE, Exit.INCONCLUSIVE, Exit.ERROR, Exit.UNFIT),
    done="the commit was found: its probability is at least 95%",
    error="error: good or bad cannot be measured",
    inconclusive="several commits remain, or bad is not shown to be slower than good",
    place=6,
)
