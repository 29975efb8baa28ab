"""Sentences about what the design of a study leaves out, or cannot show."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gate.model.warnings import study as kinds
from gate.words.phrases import joined


def _response_undeclared(warning: kinds.ResponseUndeclared) -> str:
    return f"study.responses: no benchmark declares {warning.response}, only {', '.join(warning.declared)}"


def _built_once(warning: kinds.BuiltOnce) -> str:
    luck = "its effect cannot be separated from the luck of one build; set study.builds = 5"
    return f"{joined([*warning.factors])}: differs between builds, and each setting is built once: {luck}"


def _replicates_added(warning: kinds.ReplicatesAdded) -> str:
    added = f"replicates were added after the study had begun ({warning.planned} planned, now {warning.now})"
    return f"{added}: if its first results were the reason, claims are wrong more often than the p values say"


def _one_session_each(warning: kinds.OneSessionEach) -> str:
    advice = "its effect cannot be separated from that session's; measure two sessions for each setting"
    return f"{joined([*warning.factors])}: a setting is measured in one session only: {advice}"


SENTENCES: dict[type, Callable[[Any], str]] = {
    kinds.OnOneSide: lambda warning: f"{warning.benchmark} is on one side only: it is not measured",
    kinds.ResponseUndeclared: _response_undeclared,
    kinds.OneReplicate: lambda _: (
        "study.replicates = 1: each treatment is measured once, so the noise shows only in interactions "
        "that the model leaves out; set study.replicates = 3 or more to measure it"
    ),
    kinds.ReplicatesAdded: _replicates_added,
    kinds.BuiltOnce: _built_once,
    kinds.OneSessionEach: _one_session_each,
}
"""The sentence of each type, without a full stop."""
