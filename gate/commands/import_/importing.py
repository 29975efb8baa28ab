"""perfgate import: result files -> lines of measurements, their file, and what each side has."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import msgspec

from gate.codes import Exit
from gate.commands.import_.command import Options
from gate.evidence.foreign import imported, named
from gate.evidence.inputs import is_ours
from gate.evidence.records import Inputs
from gate.model import SIDES, Execution, Failure, Run, Unsampled, UserError
from gate.report.outputs import write
from gate.units import plural
from gate.writing.plain import visible


def run(options: Options, out: TextIO, err: TextIO) -> int:
    """Write result files as measurements, and say what each side has.

    Raises:
        UserError: a file that cannot be read or written, or one of measurements that would be lost.
    """
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
    try:
        with path.open("rb") as file:
            first = file.readline()
    except OSError:
        return False
    return not first.strip() or (is_ours(first) and b'"apart":true' in first)


def lines(found: Inputs) -> Iterator[str]:
    """Encode the records, one a line."""
    encoder = msgspec.json.Encoder(enc_hook=list)
    for located in found.records:
        yield encoder.encode(located.record).decode() + "\n"


def _counts(found: Inputs, side: str) -> str:
    """Say what a side has, in a line; "" where it has nothing."""
    own = [located.record for located in found.records if getattr(located.record, "side", None) == side]
    executions = [r for r in own if isinstance(r, Execution)]
    aggregates = [r for r in own if isinstance(r, Unsampled)]
    failures = [r for r in own if isinstance(r, Failure)]
    if not own:
        return ""
    valued: list[Execution | Unsampled] = [*executions, *aggregates]
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
