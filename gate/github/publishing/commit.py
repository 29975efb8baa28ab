"""What the head commit shows of a gate: its commit status, and its check run from the first step to the last."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from gate.github.publishing.outcome import Outcome, Target
from gate.github.publishing.request import ROOT
from gate.model import Report
from gate.writing.plain import clip

if TYPE_CHECKING:
    from gate.github.board import Placed
    from gate.github.checks import Conclusion
    from gate.github.client import Forge
    from gate.github.stamp import Stamp
    from gate.github.statuses import State

_MEASURING = "in progress"
_UNVERIFIED = "unverified"


def context_of(gate: str) -> str:
    """Name the status and the check run of a gate: "perfgate", "perfgate/parser"."""
    return ROOT if gate == ROOT else f"{ROOT}/{gate}"


def status_of(outcome: Outcome) -> State:
    """Give the state of a commit: success only where the gate passes, and not on a fork's word alone."""
    if outcome.verdict == "error":
        return "error"
    if outcome.code:
        return "failure"
    return "pending" if outcome.unverified else "success"


def conclusion_of(outcome: Outcome, report: Report | None) -> Conclusion:
    """Give the conclusion of a check run: neutral, which blocks nothing, where nothing was shown."""
    if outcome.code:
        return "failure"
    if outcome.unverified:
        return "action_required"
    shown = report is not None and (report.findings or report.identical)
    return "neutral" if outcome.verdict == "inconclusive" or not shown else "success"


def told(outcome: Outcome, report: Report | None, headline: str) -> str:
    """Say an outcome in one line, with what is to be known of a fork's."""
    if outcome.code or not outcome.unverified:
        return headline
    label = report.policy.gate.get("accept_label") if report is not None else None
    confirm = f", the label {clip(label, 40)} confirms it" if isinstance(label, str) and label else ""
    return f"{_UNVERIFIED}, measured on the fork's machine{confirm}: {headline}"


def show_status(forge: Forge, gate: str, stamp: Stamp, outcome: Outcome, description: str, address: str) -> Placed:
    """Set the commit status of a gate.

    Raises:
        Problem: it cannot be read or set.
    """
    from gate.github.statuses import LONGEST_DESCRIPTION, Status, set_status

    text = clip(description, LONGEST_DESCRIPTION)[:LONGEST_DESCRIPTION]
    return set_status(forge, outcome.target.sha, context_of(gate), stamp, Status(status_of(outcome), text, address))


def open_check(forge: Forge, gate: str, stamp: Stamp, target: Target, address: str) -> Placed:
    """Show that a gate is at work.

    Raises:
        Problem: it cannot be read or written.
    """
    from gate.github.checks import Check, show_check

    name = context_of(gate)
    return show_check(forge, target.sha, name, stamp, Check(None, _MEASURING, "base and head are measured", address))


def conclude_check(
    forge: Forge, gate: str, stamp: Stamp, outcome: Outcome, report: Report | None, title: str,
    body: Callable[[], str], address: str,
) -> Placed:  # fmt: skip
    """Show how a gate ended.

    Raises:
        Problem: it cannot be read or written.
    """
    from gate.github.checks import LONGEST_TITLE, Check, show_check

    check = Check(conclusion_of(outcome, report), clip(title, LONGEST_TITLE)[:LONGEST_TITLE], body(), address)
    return show_check(forge, outcome.target.sha, context_of(gate), stamp, check)
