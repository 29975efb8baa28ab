"""perfgate compare: columns of results side by side, with intervals and without a gate."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError
from dataclasses import dataclass
from typing import Literal, TextIO

from gate.cli.command import Command, result_formats
from gate.cli.groups import MeasuredRulesOptions
from gate.cli.options import argument, group, option
from gate.codes import Exit

_STATISTICS = {"median": "p50"}


def _statistics(text: str) -> tuple[str, ...]:
    names = tuple(_STATISTICS.get(name.strip(), name.strip()) for name in text.split(","))
    for name in names:
        quantile = re.fullmatch(r"p(\d{1,2}(?:\.\d+)?)", name)
        if name not in ("mean", "min", "max") and not (quantile and float(quantile[1]) > 0):
            raise ArgumentTypeError(f"{name!r} is not mean, median, min, max or a quantile such as p99")
    return names


@dataclass(frozen=True, eq=False, repr=False)
class Options:
    """What is compared, how it is shown, and by which rules."""

    runs: tuple[str, ...] = argument(
        "folder of a run, measurement file, result file of another tool, folder or glob of such, - for stdin, or "
        "git:REF:PATH; files of one label are builds of one column",
        metavar="[LABEL=]FILE",
        nargs="+",
    )
    base: str | None = option("column that the others are compared with (default: the first)", metavar="LABEL")
    by: str | None = option(
        "make a column for each value of these keys, instead of each file: goos, /format, commit", metavar="KEYS"
    )
    rows: str | None = option("make a row for each value of these keys (default: for each benchmark)", metavar="KEYS")
    filter: str | None = option(
        "only the values that match, such as 'goos:linux -.name:/Slow.*/'; --filter=-KEY:VALUE if it begins with -",
        metavar="EXPR",
    )
    ignore: str | None = option("keys to ignore: they leave names and footnotes", metavar="KEYS")
    statistics: tuple[str, ...] = option(
        "mean, median, min, max or a quantile (p99), or several with commas (default: that of the rules, or mean)",
        flag="--statistic", metavar="NAME", parse=_statistics, default=(),
    )  # fmt: skip
    rules: MeasuredRulesOptions = group(MeasuredRulesOptions, "rules")
    sort: str = option("order of rows (default: file)", choices=("file", "change"), default="file")
    each: Literal["build", "execution", "session"] = option(
        "what each result file of a label counts as (default: build)",
        choices=("build", "execution", "session"),
        default="build",
    )
    wanted: str | None = option(
        "format of the files (default: recognised by what they hold)",
        flag="--from", metavar="FORMAT", choices=result_formats(),
    )  # fmt: skip
    form: str = option(
        "what to print (default: text)",
        flag="--format", default="text", choices=("csv", "html", "json", "markdown", "text"),
    )  # fmt: skip


def run(options: Options, out: TextIO, _: TextIO) -> int:
    """Print columns of results side by side and return 0, whatever changed; 4 where there is nothing to compare.

    Raises: UserError: a file, a key or a rule that cannot be used.
    """
    from gate.commands.compare.columns import columns_of, place_of, settled
    from gate.commands.compare.document import FORMATS
    from gate.commands.compare.keys import filter_of, keys_of
    from gate.commands.compare.projection import Projection, pieces
    from gate.commands.compare.tabulation import tabulated
    from gate.document.terminal import screen

    asked = Projection(
        by=keys_of(options.by), rows=keys_of(options.rows), ignore=keys_of(options.ignore),
        filter=filter_of(options.filter) if options.filter else None, benchmarks=options.rules.benchmarks,
        level=options.each,
    )  # fmt: skip
    found = pieces(options.runs, options.wanted)
    projection, told = settled(found, asked)
    columns, more = columns_of(found, projection)
    table = tabulated(
        columns, place_of(options.base, columns), options.rules, options.statistics, projection, [*told, *more],
        by_change=options.sort == "change",
    )  # fmt: skip
    out.write(FORMATS[options.form](table, screen(out)))
    return Exit.ERROR if table.nothing and not table.identical else Exit.PASS


COMMAND = Command(
    help="show runs and result files side by side, without a verdict",
    example="perfgate compare old=main.json new=branch.json --format markdown",
    options=Options,
    run=run,
    codes=(Exit.PASS, Exit.USAGE, Exit.ERROR),
    done="there is a table, whatever changed, or all benchmarks are unaffected; failures are named below it",
    error="error: nothing to compare: no benchmark of one unit in two columns that did not fail",
    place=4,
)
