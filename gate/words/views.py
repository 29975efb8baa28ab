"""The views of a benchmark: what each is called, and why one of them decided."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gate.model import Finding
from gate.model.case import MEAN, TYPICAL, is_usual, with_statistic
from gate.model.case import metric_name as metric_name
from gate.model.case import quantity as quantity
from gate.model.names import ACTIVE
from gate.model.reasons import BeyondLimit
from gate.model.report import View
from gate.words import numbers
from gate.writing.amounts import known
from gate.writing.plain import clip, visible

_APART = {"time": "wall time", "cpu_time": "CPU time"}
"""Times of one benchmark, which "time" would not tell apart."""
_NAME = 60
"""Columns of a name."""
_ALIKE = 1.1
"""A view that varies at most so many times as much varies about as much."""


def called(view: Finding, of: Finding) -> str:
    """Name a view of the benchmark of a finding, apart from its others: "active time", "wall time", "mean time"."""
    metrics = [each.metric for each in of.views]
    why = of.view.why if of.view is not None else None
    times = len({*metrics}) > 1 or why == "tasks"
    name = (_APART.get(view.metric) if times else None) or metric_name(view.metric)
    # a regression that the other view does not show may be one of the mean alone
    said = metrics.count(view.metric) > 1 or (why == "regression" and view.statistic == MEAN)
    told = with_statistic(name, view.statistic) if said or not is_usual(view.metric, view.statistic) else name
    return clip(visible(told), _NAME)


def meanings(findings: Sequence[Finding]) -> list[str]:
    """Say what active and typical mean, where a table has these words; no full stops."""
    active = any(each.metric == ACTIVE for each in findings)
    typical = any(each.statistic == TYPICAL and each.metric != ACTIVE for each in findings)
    return [
        *(["active time is the time without waits for a processor"] if active else []),
        *(["a typical change is the mean of the ratios of neighbours, without the outer fifths"] if typical else []),
    ]


# --- why a view decided -----------------------------------------------------------------------------------------------


def clause(finding: Finding) -> str:
    """Say which view decided and why: "by active time: wall time varied 20 times as much"; "" where it is the only one.

    No full stop at its end.
    """
    return next(iter(clauses([finding])), "")


def clauses(findings: Iterable[Finding]) -> list[str]:
    """Say which views decided and why, what holds for several findings once."""
    groups: dict[tuple[str, str, str], list[View]] = {}
    for each in findings:
        if each.view is not None and _is_said(each):
            groups.setdefault((called(each, each), each.view.why, _other(each)), []).append(each.view)
    return [f"by {own}: {_because(why, other, found)}" for (own, why, other), found in groups.items()]


def because(finding: Finding) -> str:
    """Say why the view that is named decided: "wall time varied 20 times as much"; "" where it is the only one."""
    found = finding.view
    return _because(found.why, _other(finding), [found]) if found is not None and _is_said(finding) else ""


def _is_said(finding: Finding) -> bool:
    return finding.view is not None and (bool(finding.beside) or finding.view.why == "tasks")


def _other(finding: Finding) -> str:
    return called(finding.beside[0], finding) if finding.beside else ""


def _because(why: str, other: str, found: Sequence[View]) -> str:
    if why == "tasks":
        return "several tasks do the work, so active time is not valid"
    if why == "regression":
        return f"{other} shows no regression"
    if why == "nights":
        return "all nights are judged by one view"
    times = sorted(each.times for each in found if known(each.times))
    if len(times) < len(found):
        return "the first round does not show which view varies less"
    if times[-1] <= _ALIKE:
        return f"{other} varied about as much"
    # in two digits: "1.4", "20", "1,200"
    often = dict.fromkeys(f"{float(f'{each:.2g}'):,g}" for each in (times[0], times[-1]))
    return f"{other} varied {' to '.join(often)} times as much"


def others(finding: Finding) -> list[str]:
    """Say what the views that did not decide show: "wall time: +5.8% (-8.1% to +22%), inconclusive"."""
    return [
        f"{called(each, finding)}: {numbers.in_points(each, numbers.change(each.ratio))} "
        f"({numbers.in_points(each, numbers.interval(each.ratio))}), {numbers.verdict_words(each)}{broken_limit(each)}"
        for each in finding.beside
    ]


def broken_limit(finding: Finding) -> str:
    """Say that head is beyond its limit, as the end of a sentence: ", head is above the limit of 50 ms"."""
    return f", {finding.reason.sentence()}" if isinstance(finding.reason, BeyondLimit) else ""
