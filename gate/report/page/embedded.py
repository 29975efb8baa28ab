"""What the page carries to be made again: measurements to save, report.json, its one script, and the commands."""

from __future__ import annotations

import base64
import gzip
import hashlib
import shlex
from collections.abc import Sequence

import msgspec
from markupsafe import Markup

from gate.decide.importance import ordered
from gate.document.html import render_template
from gate.model import Commit, PolicyFacts, Report
from gate.report import json
from gate.report.measurements import Attachment
from gate.units import format_value
from gate.writing.plain import clip, visible

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


# --- the commands -----------------------------------------------------------------------------------------------------

_NAME = 200
_WHOSE: dict[str, str] = {
    "base": "The rules are those of base's perfgate.toml, which the pull request cannot change.",
    "head": "The rules are those of head's perfgate.toml, which the pull request may have changed; "
    "`--rules base` takes those of base.",
    "defaults": "No rules file was found: the rules are perfgate's defaults.",
    "run": "The rules are those of the measuring run.",
}


class Again(msgspec.Struct, frozen=True):
    """Commands to copy. one: without its benchmark; measure: nothing where the seed is not known."""

    decide: str
    render: str
    some: str
    one: str
    measure: str


def again_of(report: Report, data: Data, options: Sequence[str]) -> Again:
    """Write the commands that decide, render and measure again, with the files by the names that they are saved by.

    options: by which the measurements were decided, beside their names.
    """
    saved = [file.name for file in data.files]
    names = dict.fromkeys(saved or data.names or ("measurements.jsonl",))
    others = [
        word for pair in zip(options[::2], options[1::2], strict=False) if pair[0] != "--benchmark" for word in pair
    ]
    one = _command("report", *names, *others)
    return Again(
        decide=_command("decide", *names, *options),
        render=_command("report", *names, *options, "--html", "again.html"),
        some=f"{one} --benchmark {_least(report)} --html some.html",
        one=one,
        measure=_measure(report),
    )


def _least(report: Report) -> str:
    """Name the benchmark that matters least, as an example of one without pictures."""
    found = ordered(report.findings)
    return visible(shlex.quote(found[-1].benchmark)) if found else "GLOB"


def _command(name: str, *words: str) -> str:
    return visible(shlex.join(["perfgate", name, *words]))


def _measure(report: Report) -> str:
    run = report.run
    if run.seed is None:
        return ""
    sides = [*_side("base", run.base), *_side("head", run.head)]
    return visible(" ".join(["perfgate check", *sides, f"--seed {run.seed}"]))


def _side(name: str, side: Commit | None) -> list[str]:
    # what was not committed is the working tree, which check takes where no head is named
    if side is None or side.dirty or not (revision := side.sha or side.ref):
        return []
    return [f"--{name} {shlex.quote(clip(visible(revision), _NAME))}"]


def whose_rules(policy: PolicyFacts) -> str:
    """Say whose rules judged, such as the target's own file, and what was set over it."""
    whose = policy.whose
    known = _WHOSE.get(whose.kind) if whose else None
    if whose is None or known is None:
        return f"They come from: {visible(policy.source)}."
    over = f" Overridden by --set: {visible(', '.join(whose.sets))}." if whose.sets else ""
    return known + over
