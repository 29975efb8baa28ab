"""Sentences about the basis of estimates, and doubts about them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gate.model.warnings import estimates as kinds
from gate.units import format_number, format_share
from gate.words import numbers, views
from gate.words.machines import machine
from gate.words.numbers import plural
from gate.words.phrases import joined

_MOST_TIMES = 1000


def _not_exact(warning: kinds.NotExact) -> str:
    why = "its values differ" if warning.differing == "values" else "its ratio differs from session to session"
    return f"declared exact, but {why}: treated as measured"


def _few_executions(warning: kinds.FewExecutions) -> str:
    count = plural(warning.executions, "execution")
    return f"the quantile of a build rests on {count}: too few to show how executions differ"


def _one_sided_sessions(warning: kinds.OneSidedSessions) -> str:
    names = ", ".join(map(str, warning.sessions))
    if len(warning.sessions) == 1:
        return f"session {names} measured only one side and is left out"
    return f"sessions {names} measured only one side and are left out"


def _rounds_left_out(warning: kinds.RoundsLeftOut) -> str:
    are = "is" if warning.rounds == 1 else "are"
    where = f"session{'s' if len(warning.sessions) > 1 else ''} {joined([*map(str, warning.sessions)])}"
    return f"{plural(warning.rounds, 'round')} of {where} {are} left out: only one side has values there"


# --- bootstrap --------------------------------------------------------------------------------------------------------


def _one_unit(warning: kinds.OneUnit) -> str:
    return f"one {warning.unit} a side: the variation between {warning.unit}s is unknown"


def _flat_resampling(warning: kinds.FlatResampling) -> str:
    return (
        f"FLAT treats all values as independent: the interval is too narrow where executions or {warning.unit}s differ"
    )


def _few_units(warning: kinds.FewUnits) -> str:
    return f"a bootstrap over {plural(warning.units, warning.unit)} may cover only 80-90% instead of 95%"


def _undefined_resamples(warning: kinds.UndefinedResamples) -> str:
    share = f"{warning.undefined:,} of {plural(warning.resamples, 'resample')}"
    return f"base's mean is not above 0 in {share}, which count against both limits"


def _imprecise_limits(warning: kinds.ImpreciseLimits) -> str:
    known = "not known" if warning.error is None else f"known to ±{100 * warning.error:.1f}% only"
    return f"{100 * warning.confidence:.6g}% limits {known}: {plural(warning.resamples, 'replicate')}"


# --- what the values say ----------------------------------------------------------------------------------------------


def _change(share: float, unit: str) -> str:
    """Say a change as a share of the mean; fewer seconds are faster."""
    less, more = ("faster", "slower") if unit == "s" else ("lower", "higher")
    return f"{abs(share) * 100:.1f}% {less if share < 0 else more}"


def _trend(warning: kinds.Trend) -> str:
    what = "still warming up" if warning.warming else "not steady"
    return f"{what}: second half {_change(warning.change, warning.unit)}"


def _drift(warning: kinds.Drift) -> str:
    return f"host drift: both sides {_change(warning.change, warning.unit)} from the first round to the last"


def _order_effect(warning: kinds.OrderEffect) -> str:
    second = _change(warning.change, warning.unit)
    return f"side-by-order interaction: whichever side runs second is {second}"


_BEYOND = "(standard deviation), more than their builds explain"


def _sessions_differ(warning: kinds.SessionsDiffer) -> str:
    return f"sessions differ: both sides vary by {warning.deviation * 100:.1f}% {_BEYOND}"


def _ratio_by_session(warning: kinds.RatioBySession) -> str:
    return f"the ratio depends on the session: it varies by {warning.deviation * 100:.1f}% {_BEYOND}"


def _depends_on_machine(warning: kinds.DependsOnMachine) -> str:
    return f"the change depends on the machine: {_on_session(warning.least)}, {_on_session(warning.most)}"


def _on_session(at: kinds.OnSession) -> str:
    return f"{format_share(at.ratio - 1, sign=True)} on {machine(at.session, at.host)}"


def _autocorrelation(warning: kinds.Autocorrelation) -> str:
    carry = f"{warning.iterations} carry the information of {warning.worth}"
    return f"iterations are correlated ({warning.correlation:.2f}): {carry}"


# --- the verdict ------------------------------------------------------------------------------------------------------


def _normal_tail(warning: kinds.NormalTail) -> str:
    builds = f"{warning.base} + {plural(warning.head, 'build')}"
    return f"a p value this small assumes normally distributed builds: {builds} alone cannot show it"


_NAMED = 3


def _implausible(warning: kinds.Implausible) -> str:
    named = [_improvement(each) for each in warning.improvements[:_NAMED]]
    more = len(warning.improvements) - len(named)
    return f"{', '.join(named)}{f' and {more} more' if more else ''}: does head still do the work?"


def _improvement(of: kinds.Improvement) -> str:
    what = views.quantity(of.metric, of.statistic)
    name = of.benchmark if what == "time" else f"{of.benchmark} {what}"
    return f"{name} is {numbers.size(of.ratio)} {numbers.direction(of, of.ratio)}"


def _early_stop(warning: kinds.EarlyStop) -> str:
    return f"stopped at round {warning.round} of {warning.of}: early stopping tends to exaggerate the change"


def _carry_over(warning: kinds.CarryOver) -> str:
    other = "head" if warning.side == "base" else "base"
    slower = "slower" if warning.change > 0 else "faster"
    change = format_share(abs(warning.change))
    return f"{warning.side} is {change} {slower} after {other} than after itself: half of that is in the ratio"


def _unlike_spreads(warning: kinds.UnlikeSpreads) -> str:
    other = "head" if warning.side == "base" else "base"
    if warning.times is None:
        spread = f"{warning.side}'s {warning.unit}s spread, and {other}'s do not"
    else:
        times = format_number(min(warning.times, _MOST_TIMES), 2)
        more = "more than " if warning.times > _MOST_TIMES else ""
        spread = f"{warning.side}'s {warning.unit}s spread {more}{times} times as much as {other}'s"
    return f"{spread}: the mean may not tell the whole story"


def _noisy_host(warning: kinds.NoisyHost) -> str:
    return f"the host is {format_number(warning.factor, 2)} times as noisy as calibrated: every interval allows for it"


SENTENCES: dict[type, Callable[[Any], str]] = {
    kinds.NotExact: _not_exact,
    kinds.BuildsCut: lambda _: "builds differ in their number of values: surplus executions are left out",
    kinds.BuildsUnlike: lambda _: (
        "builds differ by more than 1.5 times in their number of values, which biases a quantile"
    ),
    kinds.FewExecutions: _few_executions,
    kinds.OneSidedSessions: _one_sided_sessions,
    kinds.RoundsLeftOut: _rounds_left_out,
    kinds.OneUnit: _one_unit,
    kinds.NoSpread: lambda _: "no spread: all resamples are equal",
    kinds.FlatResampling: _flat_resampling,
    kinds.NoiseCountedTwice: lambda _: (
        "RRR counts the noise of lower levels twice: the interval is wider than its confidence says"
    ),
    kinds.FewUnits: _few_units,
    kinds.UndefinedResamples: _undefined_resamples,
    kinds.ImpreciseLimits: _imprecise_limits,
    kinds.Trend: _trend,
    kinds.Drift: _drift,
    kinds.OrderEffect: _order_effect,
    kinds.SessionsDiffer: _sessions_differ,
    kinds.RatioBySession: _ratio_by_session,
    kinds.DependsOnMachine: _depends_on_machine,
    kinds.Autocorrelation: _autocorrelation,
    kinds.NormalTail: _normal_tail,
    kinds.Implausible: _implausible,
    kinds.EarlyStop: _early_stop,
    kinds.CarryOver: _carry_over,
    kinds.NoisierThanRemembered: lambda _: "noisier than calibrated: the remembered variance is not used",
    kinds.UnlikeSpreads: _unlike_spreads,
    kinds.NoisyHost: _noisy_host,
}
"""The sentence of each type, without a full stop."""
