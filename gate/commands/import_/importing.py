"""What is imported -> lines of measurements, their file, and what each side has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from gate.evidence.inputs import is_ours
from gate.evidence.records import Inputs
from gate.model import Execution, Failure, Run, Unsampled, UserError
from gate.report import outputs
from gate.units import plural
from gate.writing.plain import visible


def write(path: Path, found: Inputs, inputs: Sequence[str]) -> None:
    """Write the measurements to a file.

    Raises:
        UserError: it is one of the inputs, holds something else, or cannot be written.
    """
    if path.exists() and any(Path(name.rpartition("=")[2]).resolve() == path.resolve() for name in inputs):
        raise UserError(f"{path} is read: name another file", option="out")
    if path.exists() and not _is_import(path):
        raise UserError(f"{path} exists and was not written by `perfgate import`: name another file", option="out")
    outputs.write(path, "".join(lines(found)))


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


def counts(found: Inputs, side: str) -> str:
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
