"""The words of interactions: what a factor does to head's change, the same in every format.

As in gate.words.numbers, the texts are safe on one line and not yet escaped for any markup.
"""

from __future__ import annotations

import math

from gate.evidence.factors import pair, shown
from gate.model import Report
from gate.model.report import Interaction
from gate.words import findings
from gate.words.arrangement import known
from gate.words.plain import clip, visible

_NAME = 60
_SENTENCE = 400
_SETTINGS = 5
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
    # factors that act together have one sentence
    once = {(of.benchmark, of.metric, of.statistic, of.sentence): of for of in reversed(said.values())}
    return list(reversed(once.values()))


def quantity(of: Interaction) -> str:
    """Name what is compared: "time", "latency p99"."""
    return clip(visible(of.metric if of.statistic == "mean" else f"{of.metric} {of.statistic}"), _NAME)


def name(of: Interaction) -> str:
    """Name the case: "request", "request latency p99"."""
    said = quantity(of)
    return clip(visible(of.benchmark), _NAME) + ("" if said == "time" else f" {said}")


def setting(of: Interaction) -> str:
    """Name what is compared with what: "load=busy against idle"."""
    others = [clip(visible(shown(other)), _NAME) for other in of.against]
    more = f" and {len(others) - _SETTINGS} more" if len(others) > _SETTINGS else ""
    at = clip(visible(pair(of.factor, of.setting)), _NAME)
    return f"{at} against {', '.join(others[:_SETTINGS])}{more}"


def sentence(of: Interaction) -> str:
    """Say what it comes to, in decide's words."""
    return clip(visible(of.sentence), _SENTENCE)


def change(of: Interaction) -> str:
    """Write the ratio of the ratios as a change with its interval: "+19.6% (+18.9% to +20.2%)"."""
    limits = findings.interval(of.ratio)
    return f"{findings.change(of.ratio)} ({limits})" if known(of.ratio.estimate) else limits


def both(of: Interaction) -> str:
    """Name what is compared, and by how much it differs: "load=busy against idle: +19.6% (+18.9% to +20.2%)"."""
    return f"{setting(of)}: {change(of)}"
