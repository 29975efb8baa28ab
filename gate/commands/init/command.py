"""perfgate init: what it is for, and which of its two jobs an option asks for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from gate.cli.command import Command, late
from gate.cli.options import option, switch
from gate.codes import Exit, MisuseError

KINDS = (
    *("pytest-benchmark", "pyperf", "asv", "go", "cargo", "cmake", "jmh", "java", "npm", "autotools", "make"),
    *("c", "python", "generic"),
)
"""Of projects; gate/commands/init/init.py looks for them."""
WORKFLOWS = ("pull-request", "trusted", "forks", "comment", "matrix", "history", "creep")
"""Written by gate/commands/init/workflow.py."""


def _listed(words: tuple[str, ...]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"


@dataclass(frozen=True, eq=False, repr=False)
class Options:
    """What is written."""

    kind: str | None = option(f"project kind: {_listed(KINDS)} (default: detected)", metavar="KIND", known=KINDS)
    workflow: str | None = option(
        f"write a workflow into .github/workflows: {_listed(WORKFLOWS)}", metavar="KIND", known=WORKFLOWS
    )
    action: str | None = option(
        "action that the workflow uses (default: perfgate/perfgate@v1)", metavar="OWNER/REPO@REF"
    )
    file: Path | None = option(
        "write the configuration there, for `--config FILE` (default: perfgate.toml)", metavar="FILE", parse=Path
    )
    project: Path | None = option(
        "the folder of the project, where several lie side by side (default: this one)", metavar="DIR", parse=Path
    )
    former: Path | None = option(
        "gate what this workflow, script or configuration of another tool gates: github-action-benchmark, CodSpeed, "
        "Bencher, asv, pytest-benchmark, benchstat, Criterion or hyperfine",
        metavar="FILE",
        flag="--from",
        parse=Path,
    )
    force: bool = switch("overwrite existing files")
    tries: bool = switch("do not run `perfgate try` on what was written", off=True, flag="--no-try")


def run(options: Options, out: TextIO, err: TextIO) -> int:
    """Write a configuration, or a workflow."""
    if options.workflow is not None:
        if options.file is not None or options.project is not None:
            raise MisuseError(f"--{'project' if options.file is None else 'file'}: not with --workflow")
        return late("gate.commands.init.workflow:run")(options, out, err)
    if options.action is not None:
        raise MisuseError("--action: needs --workflow")
    return late("gate.commands.init.init:run")(options, out, err)


COMMAND = Command(
    help="write a commented perfgate.toml, or a GitHub workflow",
    example="perfgate init\nperfgate init --project server\n"
    "perfgate init --from .github/workflows/bench.yml\nperfgate init --workflow pull-request",
    options=Options,
    run=run,
    codes=(Exit.PASS, Exit.USAGE, Exit.ERROR),
    done="written, and every benchmark gave values unless it was not tried",
    error="error: something gave no values, or there is nothing to measure",
    place=1,
)
