"""perfgate try: builds head once, runs every benchmark once, and says what a check would cost and find."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gate.cli import option_values
from gate.cli.command import MEASURED, MEASURING, Command, late
from gate.cli.groups import HEAD, STRICT, WAIT, RulesOptions
from gate.cli.options import group, option, switch


@dataclass(frozen=True, eq=False, repr=False)
class Options:
    """What is tried by which rules, and where the result goes."""

    head: str | None = option(HEAD, metavar="REF")
    strict: bool = switch(STRICT)
    wait: float | None = option(WAIT, metavar="TIME", parse=option_values.wait)
    json: str | None = option("write the report as JSON (-: print it)", metavar="FILE")
    quiet: bool = switch("print one line, and errors")
    advises: bool = True
    """Whether to say what to change. Whoever writes the file by the JSON, as `perfgate init`, says what it did; there
    the first builds come beside the budget.
    """
    patience: float = math.inf
    """Seconds that a first start may take to be made again, and that of a program to end."""
    rules: RulesOptions = group(RulesOptions, "rules")


COMMAND = Command(
    help="run each benchmark once, to see what a check costs and finds",
    example="perfgate try\nperfgate try --benchmark 'parse-*' --set build.command='make fast'",
    options=Options,
    run=late("gate.commands.try_.try_:run", MEASURING),
    codes=MEASURED,
    done="every benchmark gave values, or takes longer than this waits",
    error="error: a benchmark gave no values",
)
