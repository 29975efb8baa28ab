"""perfgate import: result files of other tools -> a file of measurements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gate.cli.command import Command, late
from gate.cli.listing import result_formats
from gate.cli.options import argument, option


@dataclass(frozen=True, eq=False, repr=False)
class Options:
    """Which files, what they are of, and where the measurements go."""

    files: tuple[str, ...] = argument(
        "result file or folder of another tool, - for stdin, or git:REF:PATH; base=FILE or head=FILE says its side",
        metavar="FILE", nargs="+",
    )  # fmt: skip
    out: str = option("file for the measurements (default: standard output)", metavar="FILE", default="-")
    side: Literal["base", "head"] | None = option("side of all files without a label", choices=("base", "head"))
    each: Literal["build", "execution", "session"] = option(
        "what each file of a side counts as (default: build)",
        choices=("build", "execution", "session"), default="build",
    )  # fmt: skip
    form: str | None = option(
        f"format of all files (default: recognised by what they hold): {', '.join(result_formats())}",
        flag="--from", choices=result_formats(), metavar="FORMAT",
    )  # fmt: skip


COMMAND = Command(
    help="turn result files of other tools into measurements",
    example="perfgate import base=before.json head=after.json --out m.jsonl\n"
    "perfgate import 'base=runs/main-*.json' 'head=runs/pr-*.json' --out m.jsonl",
    options=Options,
    run=late("gate.commands.import_.importing:run"),
)
