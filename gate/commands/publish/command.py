"""perfgate publish: puts a report on GitHub as comment, summary, annotations and commit status."""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gate.cli.command import DECIDED, Command, late
from gate.cli.options import argument, option, switch

if TYPE_CHECKING:
    from gate.publishing.request import Occasion


def _directory(text: str) -> str:
    if text.startswith("/") or ".." in text.split("/"):
        raise argparse.ArgumentTypeError(f"{text!r:.80} is not a folder inside the repository")
    return text.strip("/") or "."


def _id(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,60}", text):
        raise argparse.ArgumentTypeError(f"{text!r:.80} may hold letters, digits, dots, dashes and underscores only")
    return text


def _occasion(text: str) -> Occasion:
    from gate.publishing.request import occasion

    try:
        return occasion(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


@dataclass(frozen=True, eq=False, repr=False)
class Options:
    """What is published, and where."""

    runs: tuple[str, ...] = argument(
        "folder of a run, folder of such folders, or measurement files (default: .perfgate; in a workflow_run "
        "workflow the artifact of the run that triggered it, treated as untrusted)",
        metavar="RUN",
        nargs="*",
    )
    id: str = option(
        "name of this gate; each has one comment (default: perfgate)", metavar="ID", parse=_id, default="perfgate"
    )
    directory: str = option(
        "directory of the project in the repository (default: its root)", metavar="DIR", parse=_directory, default="."
    )
    comment: Occasion = option(
        "when to write a comment on the pull request: changed (anything but a plain pass), regression, always or "
        "false; one that is there is always updated (default: changed)",
        metavar="WHEN", parse=_occasion, default="changed", known=("changed", "regression", "always", "false"),
    )  # fmt: skip
    status: bool = switch("also set a commit status")


COMMAND = Command(
    help="put a report on a pull request, from a GitHub workflow",
    example="perfgate publish .perfgate --id parser --status",
    options=Options,
    run=late("gate.commands.publish.publish:run"),
    codes=DECIDED,
)
