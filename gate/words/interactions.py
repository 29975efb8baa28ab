"""Interactions -> sentences: what a factor does to head's change, the same in every format."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from gate.evidence.factors import pair, pairs, shown
from gate.model import Report, outcomes
from gate.model.outcomes import ChangedOnlyUnder
from gate.model.report import Interaction
from gate.units import Share, plural
from gate.words import numbers
from gate.words.numbers import known
from gate.words.plain import clip, visible
from gate.words.reasons import SENTENCES as REASONS
from gate.words.reasons import over, times

_NAME = 60
_SENTENCE = 400
_SETTINGS = 5
_OTHERS = "the other settings"


def quantity(of: Interaction) -> str:
    """Name what is compared: "time", "latency p99"."""
    return clip(visible(of.metric if of.statistic == "mean" else f"{of.metric} {of.statistic}"), _NAME)


def name(of: Interaction) -> str:
    """Name the case: "request", "request latency p99"."""
    said = "" if of.metric == "time" and of.statistic == "mean" else f" {quantity(of)}"
    return clip(visible(of.benchmark), _NAME) + said


def setting(of: Interaction) -> str:
    """Name what is compared with what: "load=busy against idle"."""
    others = [clip(visible(shown(other)), _NAME) for other in of.against]
    more = f" and {len(others) - _SETTINGS} more" if len(others) > _SETTINGS else ""
    at = clip(visible(pair(of.factor, of.setting)), _NAME)
    return f"{at} against {', '.join(others[:_SETTINGS])}{more}"


def sentence(of: Interaction) -> str:
    """Say what it comes to, without a full stop."""
    return clip(visible(SENTENCES[Interaction](of)), _SENTENCE)


def change(of: Interaction) -> str:
    """Write the ratio of the ratios as a change with its interval: "+19.6% (+18.9% to +20.2%)"."""
    limits = numbers.interval(of.ratio)
    return f"{numbers.change(of.ratio)} ({limits})" if known(of.ratio.estimate) else limits


def both(of: Interaction) -> str:
    """Name what is compared, and by how much it differs: "load=busy against idle: +19.6% (+18.9% to +20.2%)"."""
    return f"{setting(of)}: {change(of)}"


# --- the sentence -----------------------------------------------------------------------------------------------------


def _sentence(of: Interaction) -> str:
    return _OUTCOMES[type(of.outcome)](of, of.outcome)


def _not_known(of: Interaction, found: outcomes.NotKnown) -> str:
    at = f"at {pairs(found.at)}, " if found.at else ""
    return f"whether the change depends on {of.factor} is not known: {at}{REASONS[type(found.why)](found.why)}"


def _only_under(of: Interaction, found: outcomes.ChangedOnlyUnder) -> str:
    return f"{_subject(of)} is {_span(of, found.span)} only under {pairs(found.settings)}"


def _not_under(of: Interaction, found: outcomes.ChangedNotUnder) -> str:
    return f"{_subject(of)} is {_span(of, found.span)} under {_OTHERS}, not under {_at(of, 'setting')}"


def _opposite(of: Interaction, found: outcomes.Opposite) -> str:
    worse = f"{_span(of, found.worse_span)} under {_at(of, found.worse)}"
    return f"{_subject(of)} is {worse} and {_span(of, found.better_span)} under {_at(of, _other(found.worse))}"


def _differs(of: Interaction, found: outcomes.Differs) -> str:
    worse, better = _at(of, found.worse), _at(of, _other(found.worse))
    if found.worse_ratio is None or found.better_ratio is None:
        return f"the change is worse under {worse} than under {better}{over(found.over)}"
    at_worse, at_better = _changed(of, found.worse_ratio), _changed(of, found.better_ratio)
    if found.shown == "worse":
        both = f"{at_worse} under {worse} and {_UNSHOWN} under {better} ({at_better}){over(found.over)}"
    elif found.shown == "better":
        both = f"{at_better} under {better} and {_UNSHOWN} under {worse} ({at_worse}){over(found.over)}"
    else:
        both = f"{at_worse} under {worse} and {at_better} under {better}{over(found.over)}"
        both += ", neither shown by itself" if found.shown == "neither" else ""
    text = f"{_subject(of)} is {both}: {_more(of, found)}"
    return text if found.matters else f"{text}, which is real, but below the threshold of {Share(of.threshold)}"


_UNSHOWN = "not shown to have changed"


def _more(of: Interaction, found: outcomes.Differs) -> str:
    if found.worse == "others" and len(of.against) > 1:
        what = "less" if found.both_regress else "more" if found.both_improve else "better"
        return f"{what} under {_at(of, 'setting')} ({times(of.ratio.estimate)} of the others)"
    ratio = of.ratio.estimate
    apart = times(ratio if ratio is None or found.worse == "setting" else 1 / ratio)
    what = "more" if found.both_regress else "less" if found.both_improve else "worse"
    return f"{what} under {_at(of, found.worse)} ({apart} of the others)"


def _same(of: Interaction, found: outcomes.Same) -> str:
    same = f"the change does not depend on {of.factor}{over(found.over)}"
    if of.ratio.method == "exact":
        return same
    between = f"between {_at(of, 'others')} and {_at(of, 'setting')}"
    return f"{same}: {between} any difference is below the threshold of {Share(of.threshold)}"


def _open(of: Interaction, found: outcomes.Open) -> str:
    average = f"{over(found.over)}," if found.over else ""
    differs = f"under {_at(of, 'setting')} differs from the one under {_at(of, 'others')}"
    return f"whether the change {differs}{average} is open{_why(found)}"


def _why(found: outcomes.Open) -> str:
    if found.few_builds is not None:
        return f": it looks real, but this has {plural(found.few_builds, 'build')} a side, too few for a verdict"
    return ": it differs on its own, but not after correction for multiple comparisons" if found.looks_real else ""


_OUTCOMES: dict[type, Callable[[Interaction, Any], str]] = {
    outcomes.NotKnown: _not_known,
    outcomes.ChangedOnlyUnder: _only_under,
    outcomes.ChangedNotUnder: _not_under,
    outcomes.Opposite: _opposite,
    outcomes.Differs: _differs,
    outcomes.Same: _same,
    outcomes.Open: _open,
}
SENTENCES: dict[type, Callable[[Any], str]] = {Interaction: _sentence}
"""The sentence of an interaction, without a full stop."""


def _other(side: outcomes.At) -> outcomes.At:
    return "others" if side == "setting" else "setting"


def _at(of: Interaction, side: outcomes.At) -> str:
    if side == "setting":
        return pair(of.factor, of.setting)
    return _OTHERS if len(of.against) > 1 else pair(of.factor, of.against[0])


def _subject(of: Interaction) -> str:
    if of.unit != "s" or (of.metric == "time" and of.statistic == "mean"):
        return "head"
    return f"head's {_measure(of)}"


def _measure(of: Interaction) -> str:
    return f"{'' if of.statistic == 'mean' else f'{of.statistic} '}{of.metric}"


def _changed(of: Interaction, ratio: float) -> str:
    if math.isclose(ratio, 1, rel_tol=1e-12):
        return "the same as base"
    return _sized(of, numbers.size(ratio), ratio)


def _span(of: Interaction, span: outcomes.Span | None) -> str:
    """Say by how much findings changed that all changed in one direction: "20.1% slower", "20.1% to 30.2% slower"."""
    if span is None:
        return "changed"
    sizes = dict.fromkeys(numbers.size(ratio) for ratio in (span.least, span.most))
    return _sized(of, " to ".join(sizes), span.least)


def _sized(of: Interaction, size: str, ratio: float) -> str:
    measure = "" if of.unit == "s" else f" in {_measure(of)}"
    return f"{size} {numbers.direction(of, ratio)}{measure}"


_ORDER = {"worse": 0, "better": 0, "inconclusive": 1, "same": 2}


def ordered(report: Report) -> list[Interaction]:
    """Return the interactions: those that are shown first, then open ones, and among equals the largest first."""
    return sorted(report.interactions, key=lambda i: (_ORDER[i.verdict], -_size(i)))


def _size(of: Interaction) -> float:
    ratio = of.ratio.estimate
    return abs(math.log(ratio)) if known(ratio) and ratio > 0 else 0.0


def proven(report: Report) -> list[Interaction]:
    """Return those that are shown, one for each case, statistic and factor; the largest first.

    Of a factor with several settings each has an interaction: the one at whose setting alone something happened says
    it, else the largest. Of factors that act together the largest says it for all.
    """
    said: dict[tuple[str, str, str, str], Interaction] = {}
    for of in ordered(report):
        key = (of.benchmark, of.metric, of.statistic, of.factor)
        if of.verdict in ("worse", "better") and (key not in said or (of.only and not said[key].only)):
            said[key] = of
    combinations: dict[tuple[str, str, str], list[ChangedOnlyUnder]] = {}
    found = []
    for of in said.values():
        told = combinations.setdefault((of.benchmark, of.metric, of.statistic), [])
        # factors that act together come to the same combination
        if isinstance(of.outcome, ChangedOnlyUnder):
            if of.outcome in told:
                continue
            told.append(of.outcome)
        found.append(of)
    return found
