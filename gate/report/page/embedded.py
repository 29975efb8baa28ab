"""What the page carries beside what it shows: the measurements to save, report.json to read, and its one script."""

from __future__ import annotations

import base64
import gzip
import hashlib
from collections.abc import Sequence

import msgspec
from markupsafe import Markup

from gate.document.html import render_template
from gate.model import Report
from gate.report import json
from gate.report.measurements import Attachment
from gate.units import format_value
from gate.writing.plain import visible

LARGEST_DATA = 400_000
"""Bytes of compressed measurements that the page carries in all."""
LARGEST_REPORT = 1_000_000
"""Bytes of report.json that the page carries."""
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


def embedded_report(report: Report) -> Markup | None:
    """Write report.json for a script element, which nothing in it can end; None where it is too large."""
    text = msgspec.json.encode(msgspec.json.decode(json.render(report))).decode()
    if len(text.encode()) > LARGEST_REPORT:
        return None
    # in JSON "<" occurs in strings alone, and without it no tag, comment or end of the element can
    return Markup(text.replace("<", "\\u003c"))  # noqa: S704


def script_hash() -> str:
    """Return the hash that lets the page's one script run, for its Content-Security-Policy."""
    source = render_template("report.js", {}, html=True)
    return f"sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}"
