"""perfgate report: renders a past run again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gate.cli import option_values
from gate.cli.command import DECIDED, Command, late
from gate.cli.groups import MeasuredRulesOptions, OutputOptions
from gate.cli.listing import report_formats
from gate.cli.options import argument, group, option, switch


@dataclass(frozen=True, eq=False, repr=False)
class ReportOptions:
    """Which run, in which format."""

    runs: tuple[str, ...] = argument(
        "folder of a run, report.json or measurement files (default: .perfgate)", metavar="RUN", nargs="*"
    )
    form: str = option(
        "what to print (default: text); markdown: the comment; summary: the job summary; csv: the measurements",
        flag="--format", default="text", choices=report_formats(),
    )  # fmt: skip
    out: Path | None = option(
        "folder to write report files to (default: RUN if it is a folder, unless rules or benchmarks are named)",
        metavar="DIR", parse=option_values.folder,
    )  # fmt: skip
    report_url: str | None = option(
        "address of the HTML report, to link to", metavar="URL", parse=option_values.address
    )
    run_url: str | None = option("address of the workflow run, to link to", metavar="URL", parse=option_values.address)


@dataclass(frozen=True, eq=False, repr=False)
class Options:
    """What is rendered, by whose rules, and where it goes."""

    schema: bool = switch("print the JSON Schema of report.json, not a report")
    report: ReportOptions = group(ReportOptions)
    rules: MeasuredRulesOptions = group(MeasuredRulesOptions, "rules")
    outputs: OutputOptions = group(OutputOptions, "output")


COMMAND = Command(
    help="print or write the report of a past run again",
    example="perfgate report .perfgate --format markdown",
    options=Options,
    run=late("gate.commands.report.report:run"),
    codes=DECIDED,
    place=3,
)
