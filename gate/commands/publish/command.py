"""The options of perfgate publish."""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass
from typing import TextIO

from gate.cli.command import VERDICT_CODES, Command
from gate.cli.options import argument, option, switch


def _number(text: str) -> int:
    if not re.fullmatch(r"[1-9][0-9]{0,9}", text):
        raise argparse.ArgumentTypeError(f"{text!r:.80} is no number of a pull request")
    return int(text)


def _directory(text: str) -> str:
    if text.startswith("/") or ".." in text.split("/"):
        raise argparse.ArgumentTypeError(f"{text!r:.80} is no folder within the repository")
    return text.strip("/") or "."


def _id(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,60}", text):
        raise argparse.ArgumentTypeError(f"{text!r:.80} may hold letters, digits, dots, dashes and underscores only")
    return text


@dataclass(frozen=True, slots=True)
class Options:
    """What is published, and where."""

    runs: tuple[str, ...] = argument(
        "a folder of a run, a folder of such folders, or measurement files; default: in a workflow_run workflow "
        "the artifact of the run that it tells of, taken as hostile, elsewhere .perfgate",
        metavar="RUN",
        nargs="*",
    )
    pull: int | None = option("the pull request; default: that of the event", metavar="N", parse=_number)
    id: str = option("of the gate; one comment each", metavar="ID", parse=_id, default="perfgate")
    directory: str = option("of the project, where that is not the root", metavar="DIR", parse=_directory, default=".")
    comment: bool = switch("no comment on the pull request", flag="--no-comment", off=True)
    summary: bool = switch("no job summary", flag="--no-summary", off=True)
    annotations: bool = switch("no annotations", flag="--no-annotations", off=True)
    status: bool = switch("set a commit status, too")


def run(options: Options, out: TextIO, err: TextIO) -> int:
    """Put a report on a pull request."""
    from gate.commands.publish.publish import run

    return run(options, out, err)


COMMAND = Command(
    help="put a report on a pull request: comment, job summary, annotations, status; in a GitHub workflow only",
    example="perfgate publish .perfgate --id parser --status",
    options=Options,
    run=run,
    codes=VERDICT_CODES,
    place=11,
)
