"""perfgate import: result files of other tools -> a file of measurements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TextIO

from gate.cli.command import Command, result_formats
from gate.cli.options import argument, option
from gate.codes import Exit
from gate.model import SIDES, UserError

if TYPE_CHECKING:
    from gate.evidence.lines import Inputs


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

    Raises: UserError: a file that cannot be read or written, or one of measurements that would be lost.
    """
    from gate.evidence.foreign import imported, named
    from gate.report.outputs import write
    from gate.writing.plain import visible

    found = imported(named(options.files), side=options.side, level=options.each, wanted=options.form)
    path, text = Path(options.out), "".join(lines(found))
    if options.out == "-":
        out.write(text)
    elif path.exists() and any(Path(name.rpartition("=")[2]).resolve() == path.resolve() for name in options.files):
        raise UserError(f"{path} is read: name another file", option="out")
    elif path.exists() and not _is_import(path):
        raise UserError(f"{path} exists and was not written by `perfgate import`: name another file", option="out")
    else:
        write(path, text)
    err.writelines(f"{visible(each.sentence())}\n" for each in found.warnings)
    err.writelines(_counts(found, side) for side in SIDES)
    return Exit.PASS


def _is_import(path: Path) -> bool:
    """Return whether a file holds nothing but what an import wrote, which can be had again."""
    from gate.evidence.records import is_ours

    try:
        with path.open("rb") as file:
            first = file.readline()
    except OSError:
        return False
    return not first.strip() or (is_ours(first) and b'"apart":true' in first)


def lines(found: Inputs) -> Iterator[str]:
    """Encode the records, one a line."""
    import msgspec

    encoder = msgspec.json.Encoder(enc_hook=list)
    for located in found.records:
        yield encoder.encode(located.record).decode() + "\n"


def _counts(found: Inputs, side: str) -> str:
    """Say what a side has, in a line; "" where it has nothing."""
    from gate.model import Execution, Failure, Run, SummaryRecord
    from gate.writing.plain import visible
    from gate.writing.units import plural

    own = [located.record for located in found.records if getattr(located.record, "side", None) == side]
    executions = [r for r in own if isinstance(r, Execution)]
    aggregates = [r for r in own if isinstance(r, SummaryRecord)]
    failures = [r for r in own if isinstance(r, Failure)]
    if not own:
        return ""
    valued: list[Execution | SummaryRecord] = [*executions, *aggregates]
    builds = {(r.session, r.build) for r in valued}
    values = sum(len(metric.values) for e in executions for metric in e.metrics.values())
    names = {r.benchmark for r in valued}
    processes = {(e.session, e.build, e.execution) for e in executions}
    parts = [plural(len(names), "benchmark"), plural(len(builds), "build")]
    parts += [plural(len(processes), "start"), plural(values, "value")] if executions else []
    parts += [f"{plural(len(aggregates), 'aggregate')} without values"] if aggregates else []
    parts += [plural(len(failures), "failure")] if failures else []
    sources = {
        visible(commit.ref)
        for located in found.records
        if isinstance(located.record, Run)
        and (commit := located.record.base if side == "base" else located.record.head) is not None
        and commit.ref
    }
    return f"{side}  {', '.join(sorted(sources))}: {', '.join(parts)}\n"


COMMAND = Command(
    help="turn result files of other tools into measurements",
    example="perfgate import base=before.json head=after.json --out m.jsonl\n"
    "perfgate import 'base=runs/main-*.json' 'head=runs/pr-*.json' --out m.jsonl",
    options=Options,
    run=run,
)
