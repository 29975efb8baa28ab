"""What the page carries to be made again: measurements to save, and the commands."""

from __future__ import annotations

import base64
import gzip
import shlex
from collections.abc import Sequence

import msgspec

from gate.model import Report
from gate.report.measurements import Attachment
from gate.units import format_value
from gate.writing.plain import clip, visible

LARGEST_DATA = 400_000
"""Bytes of compressed measurements that the page carries in all."""
_LEVEL = 6
"""The highest level of gzip takes twice the time for a hundredth of the bytes."""
_GZIP = b"\x1f\x8b"
_HOPELESS = 20 * LARGEST_DATA


class File(msgspec.Struct, frozen=True):
    """A file of measurements inside the page: the name to save it by, its address and its size in words."""

    name: str
    address: str
    size: str


class Data(msgspec.Struct, frozen=True):
    """The measurements of the page. names: of all files; files: the same inside the page, empty when too large."""

    names: tuple[str, ...]
    files: tuple[File, ...]


def data_of(attachments: Sequence[Attachment]) -> Data:
    """Put the measurements into the page when they are small; the same files give the same bytes."""
    names = tuple(visible(each.name) for each in attachments)
    if sum(len(each.data) for each in attachments) > _HOPELESS:
        return Data(names, ())
    # a file that was saved from a page comes packed, and gives the same page again
    packed = [
        d if d.startswith(_GZIP) else gzip.compress(d, _LEVEL, mtime=0) for d in (each.data for each in attachments)
    ]
    if sum(map(len, packed)) > LARGEST_DATA:
        return Data(names, ())
    several = len(names) > 1
    files = [
        File(
            # files of several jobs often have the same name
            name=(f"{number}-" if several else "") + name.removesuffix(".gz") + ".gz",
            address=f"data:application/gzip;base64,{base64.b64encode(content).decode()}",
            size=format_value(len(content), "B", digits=3),
        )
        for number, (name, content) in enumerate(zip(names, packed, strict=True), 1)
    ]
    return Data(names, tuple(files))


# --- the commands -----------------------------------------------------------------------------------------------------

_NAME = 200


class Again(msgspec.Struct, frozen=True):
    """Commands to copy. one: that draws a benchmark, but for its name; measure: nothing where the seed is not known."""

    decide: str
    one: str
    measure: str


def again_of(report: Report, data: Data, options: Sequence[str]) -> Again:
    """Write the commands that decide, render and measure again, with the files by the names that they are saved by.

    options: by which the measurements were decided, beside their names.
    """
    saved = [file.name for file in data.files]
    names = dict.fromkeys(saved or data.names or ("measurements.jsonl",))
    # another selection would add to it
    pairs = (pair for pair in zip(options[::2], options[1::2], strict=False) if pair[0] != "--benchmark")
    run, measure = report.run, ""
    if run.seed is not None:
        words = ["perfgate check"]
        for name, side in (("base", run.base), ("head", run.head)):
            # what was not committed is the working tree, which check takes where no head is named
            if side is not None and not side.dirty and (revision := side.sha or side.ref):
                words.append(f"--{name} {shlex.quote(clip(visible(revision), _NAME))}")
        measure = visible(" ".join([*words, f"--seed {run.seed}"]))
    return Again(
        decide=_command("decide", *names, *options),
        one=_command("report", *names, *(word for pair in pairs for word in pair)),
        measure=measure,
    )


def _command(name: str, *words: str) -> str:
    return visible(shlex.join(["perfgate", name, *words]))
