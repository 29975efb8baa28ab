"""The options of perfgate compare; loads nothing heavy, since every command line has them in its help."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from gate.model import Side


Form = Literal["text", "markdown", "csv", "json"]


@dataclass(frozen=True, slots=True)
class CompareOptions:
    """What is compared, and how it is shown.

    runs: one run, whose base is compared with its head, or two. side_a, side_b: which side of each; None: head, where
    there is one. metrics: globs; none: all.
    """

    runs: tuple[str, ...]
    side_a: Side | None
    side_b: Side | None
    metrics: tuple[str, ...]
    form: Form


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what is compared, and how it is shown."""
    parser.add_argument("first", metavar="A", help="plays base: a folder of a run, a measurement file, or - for stdin")
    parser.add_argument("second", metavar="B", nargs="?", help="plays head; without it, A's own base and head")
    which = "which side of %s; default head, or the only one it has"
    parser.add_argument("--side-a", choices=["base", "head"], help=which % "A")
    parser.add_argument("--side-b", choices=["base", "head"], help=which % "B")
    parser.add_argument(
        "--metric", action="append", default=[], metavar="GLOB", dest="metrics", help="only these; repeatable"
    )
    parser.add_argument(
        "--format",
        choices=["text", "markdown", "csv", "json"],
        default="text",
        help="what to print; default text; csv has one line a row, json is the report behind the table",
    )


def options_of(parsed: argparse.Namespace) -> CompareOptions:
    """Give what the arguments say."""
    runs = (parsed.first,) if parsed.second is None else (parsed.first, parsed.second)
    return CompareOptions(runs, parsed.side_a, parsed.side_b, tuple(parsed.metrics), parsed.format)
