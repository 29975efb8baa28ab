"""Sentences about what estimates rest on, and what speaks against them."""

from __future__ import annotations

from gate.model.warnings import estimates as kinds
from gate.units import format_number
from gate.words.numbers import plural
from gate.words.phrases import listed
from gate.words.warnings.base import text


@text.register
def _(warning: kinds.NotExact) -> str:
    why = "its values differ" if warning.differing == "values" else "its ratio differs from session to session"
    return f"declared exact, but {why}: treated as measured"


@text.register
def _(_: kinds.BuildsCut) -> str:
    return "builds differ in their number of values: cut to the smallest by whole executions"


@text.register
def _(_: kinds.BuildsUnlike) -> str:
    return "builds differ by more than 1.5 times in their number of values, which biases a quantile"


@text.register
def _(warning: kinds.FewExecutions) -> str:
    count = plural(warning.executions, "execution")
    return f"the quantile of a build rests on {count}: it hardly shows what differs between executions"


@text.register
def _(warning: kinds.OneSidedSessions) -> str:
    names = ", ".join(map(str, warning.sessions))
    if len(warning.sessions) == 1:
        return f"session {names} measured one side alone and does not count"
    return f"sessions {names} measured one side alone and do not count"


# --- bootstrap --------------------------------------------------------------------------------------------------------


@text.register
def _(warning: kinds.OneUnit) -> str:
    return f"one {warning.unit} a side: what differs between {warning.unit}s is not known"


@text.register
def _(_: kinds.NoSpread) -> str:
    return "no spread: all resamples are equal"


@text.register
def _(warning: kinds.FlatResampling) -> str:
    return (
        f"FLAT takes all values as independent: the interval is too narrow where executions or {warning.unit}s differ"
    )


@text.register
def _(_: kinds.NoiseCountedTwice) -> str:
    return "RRR counts the noise of lower levels twice: the interval is wider than its confidence says"


@text.register
def _(warning: kinds.FewUnits) -> str:
    return f"a bootstrap over {plural(warning.units, warning.unit)} may cover only 80-90% where it promises 95%"


@text.register
def _(warning: kinds.UndefinedResamples) -> str:
    share = f"{warning.undefined} of {warning.resamples} resamples"
    return f"base's mean is not above 0 in {share}, which count against both limits"


@text.register
def _(warning: kinds.ImpreciseLimits) -> str:
    known = "not known" if warning.error is None else f"known to ±{100 * warning.error:.1f}% only"
    return f"{100 * warning.confidence:.6g}% limits {known}: {warning.resamples} replicates"


# --- what the values say ----------------------------------------------------------------------------------------------


def _change(share: float, unit: str) -> str:
    """Say a change as a share of the mean; fewer seconds are faster."""
    less, more = ("faster", "slower") if unit == "s" else ("lower", "higher")
    return f"{abs(share) * 100:.1f}% {less if share < 0 else more}"


@text.register
def _(warning: kinds.Trend) -> str:
    what = "still warming up" if warning.warming else "not steady"
    return f"{what}: second half {_change(warning.change, warning.unit)}"


@text.register
def _(warning: kinds.Drift) -> str:
    return f"host drift: both sides {_change(warning.change, warning.unit)} from the first round to the last"


@text.register
def _(warning: kinds.OrderEffect) -> str:
    second = _change(warning.change, warning.unit)
    return f"side-by-order interaction: whichever side is executed second is {second}"


_BEYOND = "between them, beyond what their builds explain"


@text.register
def _(warning: kinds.SessionsDiffer) -> str:
    return f"sessions differ: both sides by {warning.deviation * 100:.1f}% (standard deviation) {_BEYOND}"


@text.register
def _(warning: kinds.RatioBySession) -> str:
    return f"the ratio depends on the session: {warning.deviation * 100:.1f}% (standard deviation) {_BEYOND}"


@text.register
def _(warning: kinds.Autocorrelation) -> str:
    count = plural(warning.iterations, "iteration")
    carry = f"{count} of an execution carry the information of {warning.worth}"
    return f"autocorrelation {warning.correlation:.2f}: {carry}"


# --- the verdict ------------------------------------------------------------------------------------------------------


@text.register
def _(warning: kinds.NormalTail) -> str:
    builds = f"{warning.base} + {warning.head} builds"
    return f"the p rests on normally distributed build effects: {builds} alone cannot show one so small"


@text.register
def _(warning: kinds.EarlyStop) -> str:
    return f"stopped at round {warning.round} of {warning.of}: an estimate at an early stop tends to exaggerate"


@text.register
def _(_: kinds.NoisierThanRemembered) -> str:
    return "noisier than calibrated: the remembered variance is not used"


@text.register
def _(warning: kinds.NoisyHost) -> str:
    return f"host noisier than calibrated, x {format_number(warning.factor, 2)}: every interval allows for it"


@text.register
def _(warning: kinds.CombinationsLeftOut) -> str:
    what = "compared without what was not measured on both sides" if warning.compared else "not compared"
    left_out = [
        f"{', '.join(each.at)} lacks {warning.factor}={', '.join(each.lacking)}" for each in warning.combinations
    ]
    return f"{warning.benchmark} {warning.metric}, by {warning.factor}: {what}: {listed(left_out, '; ')}"
