"""perfgate explain: the functions behind the regressions of a run."""

from __future__ import annotations

from dataclasses import dataclass

from gate.cli.command import Command, late
from gate.cli.groups import OutputOptions
from gate.cli.options import argument, group, repeated
from gate.codes import Exit


@dataclass(frozen=True, eq=False, repr=False)
class Options:
    """Of which run which benchmarks are explained, and where that goes."""

    run: str | None = argument(
        "folder of a run, its report.json, or its measurements (default: .perfgate)", metavar="RUN", nargs="?"
    )
    benchmarks: tuple[str, ...] = repeated(
        "explain the benchmarks that match, also those that did not regress", metavar="GLOB", flag="--benchmark"
    )
    outputs: OutputOptions = group(OutputOptions, "output")


COMMAND = Command(
    help="name the functions behind the regressions of a run",
    example='perfgate explain\nperfgate explain --benchmark "parse-*" --html report.html',
    options=Options,
    run=late("gate.commands.explain.explain:run"),
    codes=(Exit.PASS, Exit.USAGE, Exit.ERROR),
    done="the functions are named, or nothing regressed",
    error="error: the run failed, or no benchmark could be profiled",
    place=5,
)
