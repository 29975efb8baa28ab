"""The options of perfgate publish; loads nothing heavy, since every command line has them in its help."""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PublishOptions:
    """What is published, and where.

    runs: folders or measurement files; none: what the run of a workflow_run event measured, else .perfgate. pull: the
    pull request; None: that of the event. directory: of the project in the repository, whose rules judge a fork's run.
    """

    runs: tuple[str, ...]
    pull: int | None
    id: str
    comment: bool
    summary: bool
    annotations: bool
    status: bool
    directory: str = "."


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what is published, and where."""
    parser.add_argument(
        "runs",
        nargs="*",
        metavar="RUN",
        help="a folder of a run, a folder of such folders, or measurement files; default: in a workflow_run workflow "
        "the artifact of the run that it tells of, taken as hostile, elsewhere .perfgate",
    )
    parser.add_argument("--pull", type=_number, metavar="N", help="the pull request; default: that of the event")
    parser.add_argument("--id", type=_id, default="perfgate", metavar="ID", help="of the gate; one comment each")
    parser.add_argument(
        "--directory", type=_directory, default=".", metavar="DIR", help="of the project, where that is not the root"
    )
    parser.add_argument("--no-comment", action="store_true", help="no comment on the pull request")
    parser.add_argument("--no-summary", action="store_true", help="no job summary")
    parser.add_argument("--no-annotations", action="store_true", help="no annotations")
    parser.add_argument("--status", action="store_true", help="set a commit status, too")


def options_of(parsed: argparse.Namespace) -> PublishOptions:
    """Give what the arguments say."""
    return PublishOptions(
        runs=tuple(parsed.runs),
        pull=parsed.pull,
        id=parsed.id,
        comment=not parsed.no_comment,
        summary=not parsed.no_summary,
        annotations=not parsed.no_annotations,
        status=parsed.status,
        directory=parsed.directory,
    )


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
