"""Report of a creep check -> the issue that tells of it: its title, its body, and what a change of its state says."""

from __future__ import annotations

from typing import Literal

from gate.document.markdown import Md, code, short
from gate.model import Report
from gate.model.history import CreepFacts
from gate.report import Links
from gate.report.markdown import comment
from gate.words import creep as words
from gate.writing.plain import visible

Change = Literal["more", "back", "gone", "moved"]
"""Other benchmarks crept as well; the creep is back; it is gone; another pin is compared now."""

_ABOUT = (
    "perfgate updates this text every night and comments only when the state changes. It closes the issue when three "
    "nights in a row are without an alarm. Closing it by hand stops the updates for these benchmarks and this pin, but "
    "the nightly job still fails: only an `[[accept]]` entry in perfgate.toml (size, expiry date, reason) accepts the "
    "regression for both."
)
_ROOM = 2000


def title(report: Report) -> str:
    """Name the issue: "perfgate: merges since v1.2 add up to a regression"."""
    pin = report.creep.pin if report.creep is not None else None
    name = visible(pin.name) if pin is not None else "base"
    return f"perfgate: merges since {short(name, 60)} add up to a regression"


def body(report: Report, links: Links | None) -> str:
    """Write the issue: what a comment on a pull request would show, and how the issue is kept."""
    return f"{comment.render(report, links, limit=comment.LIMIT - _ROOM)}\n{_ABOUT}\n"


def said(change: Change, creep: CreepFacts) -> str:
    """Write the comment on a change of state."""
    pin = code(creep.pin.name, 60)
    if change == "more":
        return f"More benchmarks are slower than {pin} allows by now: {_names(creep)}."
    if change == "back":
        return f"It is back: {_names(creep)}."
    if change == "moved":
        return f"From now on perfgate compares with {pin}, so this issue is no longer updated."
    accepted = [code(case.benchmark) for case in creep.cases if case.verdict == "accepted"]
    if accepted:
        return f"Accepted by an entry in perfgate.toml: {', '.join(accepted[:_NAMED])}."
    return "Gone: three nights in a row without an alarm."


_NAMED = 10


def _names(creep: CreepFacts) -> Md:
    found = list(dict.fromkeys(code(case.benchmark) for case in words.crept(creep)))
    more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    return Md(", ".join(found[:_NAMED]) + more)
