"""Reasons -> words: a sentence by itself (SENTENCES), and what follows a verdict on its line (ENDINGS)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gate.model import Finding, MemoryUse, reasons
from gate.units import agree, format_confidence, format_number, format_share
from gate.words import numbers
from gate.words.machines import machine
from gate.words.numbers import as_configured, floor, format_percent, nouns, plural
from gate.words.plain import clip, visible

_NAMED = 3


def outgrown(entry: reasons.Accepted | None) -> str:
    """Say that a regression has grown beyond what an entry accepts; "" where it has not."""
    if entry is None or entry.up_to is None:
        return ""
    return f"beyond the {format_percent(entry.up_to)} accepted until {entry.until} ({entry.reason})"


def _and(more: str) -> str:
    return f", {more}" if more else ""


def corrected(confidence: float, comparisons: int | None) -> str:
    """Name a confidence: "99.58% confidence", "99.58% confidence after correction for 12 comparisons"."""
    text = f"{format_confidence(confidence)} confidence"
    return text if comparisons is None else f"{text} after {numbers.correction(comparisons)}"


def _exceeds(why: reasons.Exceeds) -> str:
    held = corrected(why.confidence, why.comparisons)
    return f"beyond the threshold of {format_percent(why.threshold)} with {held}{_and(outgrown(why.outgrown))}"


def _exact_exceeds(why: reasons.ExactExceeds) -> str:
    text = f"an exact count that changed by more than the threshold of {format_percent(why.threshold)}"
    return text + _and(outgrown(why.outgrown))


def _crept(why: reasons.Crept) -> str:
    return (
        f"the last {plural(why.nights, 'night')} together are beyond the threshold of {format_percent(why.threshold)}, "
        f"with {format_confidence(why.confidence)} confidence over a year of nights{_and(outgrown(why.outgrown))}"
    )


def _end_crept(_: Finding, why: reasons.Crept) -> str:
    return f"by the last {plural(why.nights, 'night')}, since {why.since}{_and(outgrown(why.outgrown))}"


def _waits(why: reasons.Unconfirmed) -> str:
    known = "the first night" if why.nights == 1 else f"{why.nights} nights"
    more = "" if why.more is None else f"; about {plural(why.more, 'more night')} would, if it stays so"
    subject = f"{known} against this commit {'does' if why.nights == 1 else 'do'} not confirm it yet"
    return f"{subject}{more}"


def _unconfirmed(why: reasons.Unconfirmed) -> str:
    return f"beyond the threshold of {format_percent(why.threshold)} in this night alone; {_waits(why)}"


def _by_entry(why: reasons.AcceptedByEntry) -> str:
    return f"accepted up to {format_percent(why.up_to)} until {why.until}: {why.reason}"


def _few_values(why: reasons.FewValues) -> str:
    missing = why.needs - why.has
    return f"{why.statistic} needs {plural(why.needs, 'value')} per build and has {why.has:,}: measure {missing:,} more"


def _one_unit(why: reasons.OneUnit) -> str:
    of = "a side" if len(why.sides) > 1 else f"of {why.sides[0]}"
    return f"one {why.unit} {of} gives no interval, because the variation between {why.unit}s is unknown"


def _on_machine(why: reasons.OnMachine) -> str:
    return f"{machine(why.session, why.host)}: {SENTENCES[type(why.why)](why.why)}"


def _few_rounds_there(why: reasons.FewRoundsThere) -> str:
    has = plural(why.has, "complete round") if why.has else "no complete round"
    return f"{has}, but each machine needs {why.needs}"


def _zero_base(why: reasons.ZeroBase) -> str:
    if why.floor is None:
        return "base is 0, so only `exact = true` or an absolute floor can decide"
    floor = as_configured(why.floor, why.unit)
    return f"base is 0, and head is not shown to be above the floor of {floor}"


def _bootstrap(why: reasons.FewForBootstrap) -> str:
    there = agree(why.has, "there is", "there are")
    return f"a bootstrap interval needs {plural(why.needs, why.unit)} a side for a verdict, and {there} {why.has}"


def _uncorrected(why: reasons.Uncorrected) -> str:
    wanted = f"{format_confidence(why.confidence)} confidence"
    after = f"not after {numbers.correction(why.comparisons)}, which needs {wanted}"
    return f"beyond the threshold of {format_percent(why.threshold)}, but {after}"


def _better_uncorrected(why: reasons.BetterUncorrected) -> str:
    text = f"better by more than the threshold of {format_percent(why.threshold)}"
    return f"{text}, but not after correction for multiple comparisons; not worse"


def _not_worse(why: reasons.NotWorse) -> str:
    bound = "the threshold" if why.floor is None else f"the floor of {as_configured(why.floor, why.unit)}"
    better = f"better by more than {format_percent(why.threshold)}"
    return f"not worse by more than {bound}; whether it is {better} is open{_asked(why)}"


def _below_floor(why: reasons.BelowFloor) -> str:
    floor = f"the floor of {as_configured(why.floor, why.unit)}"
    if why.threshold is None:
        return f"the change is smaller than {floor}"
    return f"beyond the threshold of {format_percent(why.threshold)}, but smaller than {floor}"


def _floor_open(why: reasons.FloorOpen) -> str:
    floor = as_configured(why.floor, why.unit)
    return f"beyond the threshold of {format_percent(why.threshold)}, but not shown to be above the floor of {floor}"


def _too_wide(why: reasons.TooWide) -> str:
    threshold = format_percent(why.threshold)
    if why.exceeds == "both":
        said = f"it reaches beyond the threshold of {threshold} in both directions"
    elif why.estimate == "beyond":
        said = f"the change may be below the threshold of {threshold}"
    else:
        said = f"the change may exceed the threshold of {threshold}"
    return f"the interval is too wide: {said}{_asked(why)}"


def _asked(why: reasons.TooWide | reasons.NotWorse) -> str:
    """Say why the interval that is shown is narrower than the one that decided."""
    return "" if why.confidence is None else f" at the {format_confidence(why.confidence)} that interim looks ask for"


def _rounded(why: reasons.Rounded) -> str:
    step, low, high = as_configured(why.step, why.unit), numbers.changed(why.low), numbers.changed(why.high)
    return f"all values are rounded to {step}, which alone leaves the change between {low} and {high}"


def _no_sign(why: reasons.NoSign) -> str:
    return f"no sign {_shown(why)}; {_at_worst(why)} ({format_confidence(why.confidence)})"


def _shown(why: reasons.NoSign) -> str:
    if why.real:
        least = numbers.a_worse(why, why.detectable)
        return f"of {least}, which would have shown in 80 of 100 such runs; a smaller one is real"
    one = numbers.worse(why, why.detectable).partition(" ")[2]
    return f"of {numbers.worse_noun(why)}: one {one} would have shown in 80 of 100 such runs"


def _at_worst(why: reasons.NoSign) -> str:
    return f"at {'most' if why.better == 'lower' else 'worst'} {numbers.changed(why.limit)}"


def _too_noisy(why: reasons.TooNoisy) -> str:
    return f"too noisy, because {_only(why)}"


def _only(why: reasons.TooNoisy) -> str:
    wanted = numbers.size(1 + why.wanted if why.better == "lower" else 1 / (1 + why.wanted))
    least = numbers.a_worse(why, why.detectable, why.wanted)
    return f"only {least} would have shown (gate.detectable asks for {wanted})"


def _memory(use: MemoryUse) -> str:
    remembered, present = format_share(use.remembered), "" if use.present is None else format_share(use.present)
    when = use.last if use.first == use.last else f"{use.first} to {use.last}"
    count = f"{plural(use.sessions, 'session')}, {when}"
    worth = f"{format_number(use.df, 3)} degrees of freedom"
    if use.kind == "alone":
        return f"the interval rests on remembered variance alone: {remembered} ({worth}, {count})"
    if use.kind == "moderated":
        return f"moderated by remembered variance: {remembered} ({worth}, {count}), now {present}"
    if use.kind == "noisier":
        return f"noisier than calibrated: {present} now, {remembered} remembered ({count}); the memory is not used"
    if use.kind == "unlike":
        return f"remembered variance is not used: one side's builds spread more than the other's ({present} together)"
    return f"remembered variance is not used: {present} now does not agree with {remembered} ({count})"


SENTENCES: dict[type, Callable[[Any], str]] = {
    reasons.NegativeValues: lambda _: "negative values have no ratio",
    reasons.DifferentSessions: lambda _: (
        "base and head were measured in different sessions: the variation between sessions is unknown"
    ),
    reasons.ZeroQuantile: lambda _: "it is 0 in some build, and 0 has no ratio",
    reasons.FewRounds: lambda _: "fewer than two rounds were measured on both sides: a paired interval needs them",
    reasons.NoSpread: lambda _: (
        "no spread: all values are the same to the last digit, as a coarse timer or copies of one run give them "
        "(declare a count or size with `exact = true`)"
    ),
    reasons.OneUnit: _one_unit,
    reasons.FewValues: _few_values,
    reasons.FewRoundsThere: _few_rounds_there,
    reasons.OnMachine: _on_machine,
    reasons.BothZero: lambda _: "both sides are 0",
    reasons.ZeroBase: _zero_base,
    reasons.ZeroBaseExceeds: lambda why: (
        "base is 0, and head is above it in every build"
        if why.floor is None
        else f"base is 0 and head is beyond the floor of {as_configured(why.floor, why.unit)}"
    ),
    reasons.Crept: _crept,
    reasons.Unconfirmed: _unconfirmed,
    reasons.Exceeds: _exceeds,
    reasons.ExactExceeds: _exact_exceeds,
    reasons.AcceptedByEntry: _by_entry,
    reasons.AcceptedByLabel: lambda why: f"accepted by {why.label}{_and(outgrown(why.outgrown))}",
    reasons.Within: lambda why: f"the interval lies within the threshold of {format_percent(why.threshold)}",
    reasons.RealWithin: lambda why: f"real, but below the threshold of {format_percent(why.threshold)}",
    reasons.BelowFloor: _below_floor,
    reasons.SameCount: lambda _: "the same count",
    reasons.ExactWithin: lambda why: (
        f"an exact count that changed by no more than the threshold of {format_percent(why.threshold)}"
    ),
    reasons.Unbounded: lambda _: (
        "base's mean is too close to 0 for its spread, so the interval of the ratio has no bounds"
    ),
    reasons.FewBuilds: lambda why: (
        f"the change looks real, but a verdict needs {plural(why.needs, 'build')} a side and there "
        f"{agree(why.has, 'is', 'are')} {why.has}"
    ),
    reasons.FewForBootstrap: _bootstrap,
    reasons.MemoryAlone: lambda _: (
        "one build a side: the interval rests on remembered variance alone, so it is shown but decides nothing"
    ),
    reasons.Uncorrected: _uncorrected,
    reasons.BetterUncorrected: _better_uncorrected,
    reasons.NotWorse: _not_worse,
    reasons.FloorOpen: _floor_open,
    reasons.Rounded: _rounded,
    reasons.TooWide: _too_wide,
    reasons.TooNoisy: _too_noisy,
    reasons.NoSign: _no_sign,
    reasons.ZeroValue: lambda _: "there is a value of 0, which has no logarithm",
    MemoryUse: _memory,
}
"""The sentence of each type, without a full stop."""


# --- behind a verdict -------------------------------------------------------------------------------------------------

_QUOTED = 300


def _end_too_wide(finding: Finding, reason: reasons.TooWide) -> str:
    if reason.exceeds == "both":
        return f"the change may exceed it in both directions{_asked(reason)}"
    above, below = nouns(finding)
    noun = above if reason.exceeds == "above" else below
    return f"the {noun} may {'be smaller' if reason.estimate == 'beyond' else 'exceed it'}{_asked(reason)}"


def _end_not_worse(finding: Finding, reason: reasons.NotWorse) -> str:
    worse, better = nouns(finding) if finding.better == "lower" else nouns(finding)[::-1]
    below = f" (any {worse} is below the floor of {floor(finding)})" if reason.floor is not None else ""
    return f"not worse{below}; the {better} may exceed it{_asked(reason)}"


def _end_below_floor(finding: Finding, reason: reasons.BelowFloor) -> str:
    below = f"smaller than the floor of {floor(finding)}"
    return below if reason.threshold is None else f"beyond it, but {below}"


def _end_uncorrected(_: Finding, reason: reasons.Uncorrected) -> str:
    return f"beyond it, but not after {numbers.correction(reason.comparisons)}"


def _end_by_entry(_: Finding, reason: reasons.AcceptedByEntry) -> str:
    return f"up to {format_percent(reason.up_to)} until {reason.until}: {clip(visible(reason.reason), _QUOTED)}"


def _end_by_label(_: Finding, reason: reasons.AcceptedByLabel) -> str:
    return ", ".join(filter(None, [f"by {clip(visible(reason.label), _QUOTED)}", outgrown(reason.outgrown)]))


def _end_outgrown(_: Finding, reason: reasons.Exceeds | reasons.ExactExceeds) -> str:
    return outgrown(reason.outgrown)


ENDINGS: dict[type, Callable[[Finding, Any], str]] = {
    reasons.Exceeds: _end_outgrown,
    reasons.ExactExceeds: _end_outgrown,
    reasons.Crept: _end_crept,
    reasons.Unconfirmed: lambda _, why: f"this night alone; {_waits(why)}",
    reasons.AcceptedByEntry: _end_by_entry,
    reasons.AcceptedByLabel: _end_by_label,
    reasons.Within: lambda *_: "",
    reasons.RealWithin: lambda *_: "real but smaller",
    reasons.BelowFloor: _end_below_floor,
    reasons.SameCount: lambda *_: "",
    reasons.ExactWithin: lambda *_: "",
    reasons.Uncorrected: _end_uncorrected,
    reasons.BetterUncorrected: lambda *_: "not worse; beyond it, but not after correction for multiple comparisons",
    reasons.NotWorse: _end_not_worse,
    reasons.FloorOpen: lambda finding, _: f"beyond it, but not shown to be above the floor of {floor(finding)}",
    reasons.TooWide: _end_too_wide,
    reasons.TooNoisy: lambda _, why: _too_noisy(why),
    reasons.NoSign: lambda _, why: _shown(why),
}
"""What follows "threshold 3%: inconclusive," where "it" is that threshold; other reasons say their sentence there."""
