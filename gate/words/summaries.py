"""What a report comes to -> its headline, and what a reader does now."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gate.evidence.factors import pairs
from gate.model import outcomes
from gate.words.numbers import plural


def _regressed(of: outcomes.Regressed) -> str:
    names = ", ".join(map(_place, of.worst)) + (f" and {of.more:,} more" if of.more else "")
    return f"{_of(of.count, of.findings)} regressed: {names}"


def _of(count: int, findings: int) -> str:
    return f"{count:,} of {plural(findings, 'finding')}"


def _place(place: outcomes.Place) -> str:
    if place.metric is None:
        return place.benchmark
    statistic = [place.statistic] if place.statistic != "mean" else []
    return " ".join([place.benchmark, place.metric, *statistic, *_at(place)])


def _at(place: outcomes.Place) -> list[str]:
    """Say at which of its settings a case regressed."""
    if place.only:
        return [f"only under {pairs(place.only, ' ')}"]
    most = pairs(place.most, " ")
    if place.findings == 1:
        return [most] if most else []
    if place.findings == place.of:
        return ["at every setting"]
    what = "settings" if place.varied == 1 else "combinations of settings"
    return [f"at {place.findings:,} of {place.of:,} {what} (most at {most})"]


def _failed(of: outcomes.Failed) -> str:
    what = plural(of.failures, "failure")
    return f"{what}; {plural(of.findings, 'finding')} measured" if of.findings else f"{what}, and nothing was measured"


def _inconclusive(of: outcomes.SomeInconclusive) -> str:
    apart = f", {of.not_worse:,} of them not worse" if of.not_worse else ""
    if of.not_worse == of.count:
        apart = " but not worse"
    return f"{_of(of.count, of.findings)} inconclusive{apart}, none regressed"


def _accepted(of: outcomes.SomeAccepted) -> str:
    by = f" by {', '.join(of.labels)}" if of.labels else ""
    return f"{_of(of.count, of.findings)} accepted{by}, nothing else regressed"


def _more_builds(step: outcomes.MoreBuilds) -> str:
    settled, left = step.settled, step.may_be_worse
    if not step.not_worse:
        every = "the inconclusive finding" if left == 1 else f"all {left} inconclusive findings"
        which = every if settled == left else f"{settled} of {left} inconclusive findings"
    else:
        which = f"the {left} that may be worse" if settled == left else f"{settled} of the {left} that may be worse"
    return f"Run again with `--set plan.builds={step.builds}`: at this noise level it would probably settle {which}"


SENTENCES: dict[type, Callable[[Any], str]] = {
    outcomes.Regressed: _regressed,
    outcomes.NothingMeasured: lambda _: "nothing was measured",
    outcomes.NothingDecided: lambda of: f"nothing was decided: plan.metrics names none of {', '.join(of.metrics)}",
    outcomes.Failed: _failed,
    outcomes.SomeInconclusive: _inconclusive,
    outcomes.SomeAccepted: _accepted,
    outcomes.NothingRegressed: lambda of: f"nothing regressed in {plural(of.findings, 'finding')}",
    outcomes.RestoreBenchmark: lambda _: 'Restore the missing benchmark, or allow it with `missing = "pass"` in [gate]',
    outcomes.RepeatJob: lambda _: "Run the job that should have measured it again, or download its artifact",
    outcomes.FixFailure: lambda _: "Fix the failure and run the check again; `perfgate doctor` examines the host",
    outcomes.MeasureFirst: lambda _: (
        "Run `perfgate check`, which measures and decides; `perfgate measure` writes what `perfgate decide` reads"
    ),
    outcomes.FixRegression: lambda _: (
        "Fix the regression, or accept it with an `[[accept]]` entry (size, expiry date, reason)"
    ),
    outcomes.NothingToDo: lambda _: "Nothing to do: the inconclusive results are not worse than the threshold allows",
    outcomes.CheckValues: lambda _: (
        "Check what writes the values: they are below 0; compare amounts that are not, instead of their difference"
    ),
    outcomes.MeasureMore: lambda _: (
        "Raise `plan.budget` or `plan.builds`, or use a quieter host (`perfgate doctor` examines it)"
    ),
    outcomes.MoreBuilds: _more_builds,
}
"""The sentence of each type, without a full stop."""
