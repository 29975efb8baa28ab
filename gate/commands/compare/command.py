"""The options of perfgate compare."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError
from dataclasses import dataclass
from typing import Literal, TextIO

from gate.cli.command import Command
from gate.cli.groups import MeasuredRulesOptions
from gate.cli.listing import modules
from gate.cli.options import argument, group, option, repeated, switch
from gate.codes import Exit

_WHICH = "side of the run in the %s column (default: head, or the only one it has)"
_STATISTICS = {"median": "p50"}


def _statistics(text: str) -> tuple[str, ...]:
    names = tuple(_STATISTICS.get(name.strip(), name.strip()) for name in text.split(","))
    for name in names:
        quantile = re.fullmatch(r"p(\d{1,2}(?:\.\d+)?)", name)
        if name not in ("mean", "min", "max") and not (quantile and float(quantile[1]) > 0):
            raise ArgumentTypeError(f"{name!r} is not mean, median, min, max or a quantile such as p99")
    return names


def _share(text: str) -> float:
    from gate.units import Share

    try:
        return float(Share.parse(text))
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from None


@dataclass(frozen=True, eq=False, repr=False)
class CompareOptions:
    """What is compared, and how it is shown."""

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
    side_a: Literal["base", "head"] | None = option(_WHICH % "first", choices=("base", "head"))
    side_b: Literal["base", "head"] | None = option(_WHICH % "second", choices=("base", "head"))
    metrics: tuple[str, ...] = repeated("only the metrics that match", metavar="GLOB", flag="--metric")
    statistics: tuple[str, ...] = option(
        "mean, median, min, max or a quantile (p99), or several with commas (default: that of the rules, or mean)",
        flag="--statistic", metavar="NAME", parse=_statistics, default=(),
    )  # fmt: skip
    group: str | None = option("keys that rows of one geometric mean share (default: the suite)", metavar="KEYS")
    sort: str = option("order of rows (default: file)", choices=("file", "change", "name", "value"), default="file")
    min_change: float | None = option("hide rows that changed less, such as 2%%", metavar="SHARE", parse=_share)
    listed: bool = switch("print the columns and their files, and nothing else", flag="--list")
    each: Literal["build", "execution", "session"] = option(
        "what each result file of a label counts as (default: build)",
        choices=("build", "execution", "session"),
        default="build",
    )
    wanted: str | None = option(
        "format of the files (default: recognised by what they hold)",
        flag="--from", metavar="FORMAT", choices=modules("gate/results/formats"),
    )  # fmt: skip
    form: str = option(
        "what to print (default: text)",
        flag="--format", default="text", choices=modules("gate/commands/compare/formats"),
    )  # fmt: skip
    html: str | None = option("also write a page with the table and a picture of the intervals", metavar="FILE")


@dataclass(frozen=True, eq=False, repr=False)
class Options:
    """What is compared, and by which rules."""

    compare: CompareOptions = group(CompareOptions)
    rules: MeasuredRulesOptions = group(MeasuredRulesOptions, "rules")


def run(options: Options, out: TextIO, _: TextIO) -> int:
    """Put columns of results side by side."""
    from gate.commands.compare.compare import run

    return run(options.compare, options.rules, out)


COMMAND = Command(
    help="show runs and result files side by side, with intervals and without a verdict (exit 0 whatever changed)",
    example="perfgate compare old=main.json new=branch.json --format markdown",
    options=Options,
    run=run,
    codes=(Exit.PASS, Exit.USAGE, Exit.ERROR),
    done="there is a table, whatever changed, or all benchmarks are identical; failures are named below it",
    error="error: nothing to compare: no benchmark of one unit in two columns that did not fail",
    place=6,
)
