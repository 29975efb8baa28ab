"""perfgate report: renders a past run again."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from gate.cli import values
from gate.cli.command import DECIDED, Command
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
        metavar="DIR", parse=values.folder,
    )  # fmt: skip
    report_url: str | None = option("address of the HTML report, to link to", metavar="URL", parse=values.address)
    run_url: str | None = option("address of the workflow run, to link to", metavar="URL", parse=values.address)


@dataclass(frozen=True, eq=False, repr=False)
class Options:
    """What is rendered, by whose rules, and where it goes."""

    schema: bool = switch("print the JSON Schema of report.json, not a report")
    report: ReportOptions = group(ReportOptions)
    rules: MeasuredRulesOptions = group(MeasuredRulesOptions, "rules")
    outputs: OutputOptions = group(OutputOptions, "output")


def run(options: Options, out: TextIO, _: TextIO) -> int:
    """Render a run and return its report's exit code.

    A report.json (of the folder, or named) is rendered as it was decided, with the values of the measurements beside
    it; measurements, and runs with other rules or a selection of benchmarks, are decided again. Such another view of a
    run never replaces its report.
    """
    if options.schema:
        from gate.report.json import schema

        out.write(schema())
        return 0
    from gate.commands.report.report import decided_of, nearest_folder, own_folder, refuse_overwriting
    from gate.report.links import Links
    from gate.report.outputs import fill, links_of, require_writable, show, targets, whole, write_asked

    asked, rules, outputs = options.report, options.rules, options.outputs
    require_writable(outputs)
    links = Links(report=asked.report_url, run=asked.run_url or links_of(os.environ).run)
    runs = asked.runs or (str(nearest_folder()),)
    folder = asked.out or own_folder(runs, rules)
    refuse_overwriting(runs, targets(outputs), folder)
    decided = decided_of(runs, rules)
    if folder is not None:
        fill(folder, decided, links)
    write_asked(decided, outputs)
    show(decided, outputs, out, form=asked.form, links=links, whole=whole(folder))
    return decided.report.exit_code


COMMAND = Command(
    help="print or write the report of a past run again",
    example="perfgate report .perfgate --format markdown",
    options=Options,
    run=run,
    codes=DECIDED,
    place=3,
)
