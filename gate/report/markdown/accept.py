"""The [[accept]] entries that would let the regressions of a report through, to be pasted into the rules."""

from __future__ import annotations

import datetime
import math
from collections import Counter

from gate.config.config_text import COMMAND_LINE
from gate.decide.importance import ordered
from gate.decide.policy import today
from gate.document.markdown import block, brief
from gate.model import Finding, Report
from gate.model.reasons import BeyondLimit
from gate.report.markdown.parts import Part
from gate.words.reports import is_of_programs
from gate.writing.amounts import known

_MOST = 3
# one that holds a name made to be long is no help
_LONGEST = 2000
_ACCEPTED = datetime.timedelta(weeks=8)
"""From the day of the run on: an entry must have an end, which whoever pastes it may change."""


def accept(report: Report, share: float = 1.0) -> Part:
    """Write at most three entries, for the regressions that matter most; none where a size cannot be told."""
    several = Counter(f.benchmark for f in report.findings)
    regressed = (f for f in ordered(report.findings) if f.verdict == "regression" and _size(f) is not None)
    # two given programs have no rules that an entry could be in
    found = [] if is_of_programs(report) else [f for f in regressed if not isinstance(f.reason, BeyondLimit)]
    until = _until(report.run.created)
    entries: dict[str, None] = {}
    for f in found:
        alone = several[f.benchmark] == 1
        # any view of the benchmark may show the regression the next time
        entries |= dict.fromkeys(entry(f, until, alone=alone, view=view) for view in ([f] if alone else f.views))
    kept = [text for text in entries if len(text) <= _LONGEST][:_MOST]
    more = " Write the others in the same way." if len(kept) < len(entries) else ""
    whose = report.policy.whose
    file, later = "Add to perfgate.toml", f" once it is in the rules that decide: {brief(report.policy.source, 200)}"
    if whose is not None and whose.name == COMMAND_LINE:
        file, later = "Write perfgate.toml by `--save`, and add to it", " in checks by that file"
    opening = f"{file}, with your reason; `until` is the last day it holds. It takes effect{later}.{more}\n\n"
    return Part(
        "To accept a known regression", "entry to paste", [block(text, "toml") for text in kept], share, opening, "\n\n"
    )


def entry(finding: Finding, until: datetime.date, *, alone: bool, view: Finding | None = None) -> str:
    """Write an entry of TOML that covers a regression of the size that was estimated, up to a day.

    alone: the benchmark has no other finding, which the entry would cover as well. view: that it is for; None: the one
    that decided.
    """
    which = [("benchmark", finding.benchmark)]
    if not alone:
        own = view or finding
        which += [("metric", own.metric), ("statistic", own.statistic)]
    # round up to whole percents, or to two digits below 1%; 8% may have become 8.000000000000007%
    percent = round((_size(finding) or 0.0) * 100, 9)
    places = 0 if percent >= 1 else 1 - math.floor(math.log10(max(percent, 1e-9)))
    up_to = f"{math.ceil(percent * 10**places) / 10**places:.{places}f}%"
    lines = ["[[accept]]", *(f"{key} = {_quoted(name)}" for key, name in which), f'up_to = "{up_to}"']
    return "\n".join([*lines, f"until = {until}", 'reason = "..."'])


def _until(created: str | None) -> datetime.date:
    """Return when an entry ends, by the day of a run; by today where it does not say, or says what cannot be."""
    try:
        return datetime.date.fromisoformat((created or "")[:10]) + _ACCEPTED
    except (ValueError, OverflowError):
        return today() + _ACCEPTED


def _size(finding: Finding) -> float | None:
    """Return by how much head is worse, as `up_to` takes it."""
    ratio = finding.ratio.estimate
    if not known(ratio) or ratio <= 0:
        return None
    size = (ratio if finding.better == "lower" else 1 / ratio) - 1
    return size if size > 0 else None


def _quoted(name: str) -> str:
    """Write a name as a string of TOML, visible on one line: a glob that means no other name."""
    literal = "".join(f"[{c}]" if c in "*?[" else c for c in name) if any(c in "*?" for c in name) else name
    return f'"{"".join(map(_character, literal))}"'


def _character(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    if character.isprintable():
        return character
    code = ord(character)
    # TOML has no surrogates; in a glob this stands for any one character
    return "?" if 0xD800 <= code <= 0xDFFF else f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"
