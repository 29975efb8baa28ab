"""perfgate import: result files of other tools -> a file of measurements."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TextIO

from gate.cli.command import Command
from gate.cli.listing import result_formats
from gate.cli.options import argument, option
from gate.codes import Exit


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


def run(options: Options, out: TextIO, err: TextIO) -> int:
    """Write result files as measurements, and say what each side has.

    Raises:
        UserError: a file that cannot be read or written, or one of measurements that would be lost.
    """
    from gate.commands.import_.importing import counts, lines, write
    from gate.evidence.foreign.arguments import named
    from gate.evidence.foreign.records import imported
    from gate.model import SIDES
    from gate.writing.plain import visible

    found = imported(named(options.files), side=options.side, level=options.each, wanted=options.form)
    if options.out == "-":
        out.writelines(text.decode() for text in lines(found))
    else:
        write(Path(options.out), found, options.files)
    err.writelines(f"{visible(each.sentence())}\n" for each in found.warnings)
    err.writelines(counts(found, side) for side in SIDES)
    return Exit.PASS


COMMAND = Command(
    help="turn result files of other tools into measurements",
    example="perfgate import base=before.json head=after.json --out m.jsonl\n"
    "perfgate import 'base=runs/main-*.json' 'head=runs/pr-*.json' --out m.jsonl",
    options=Options,
    run=run,
)
