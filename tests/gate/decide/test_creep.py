"""Findings and nights -> what a creep check decides: of rates, counts, repairs, other pins, and entries that accept."""

import datetime
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pytest

from gate.decide.creep import crept_of, night_of
from gate.decide.next_steps import next_step
from gate.model import Commit, Finding, RatioInterval, Run, outcomes, reasons
from gate.model.history import CaseNights, CreepFacts, CreepRun, Night, Pin
from gate.model.report import View
from tests.gate.decide.decided import TODAY, policy_by
from tests.gate.report import examples
from tests.support.samples import there

PIN = Pin(against="latest-tag", tag="v1.0", sha="a" * 40, commits=9)


def finding(change: float, *, better: Any = "lower", **more: Any) -> Finding:
    """A night's finding: 12 paired builds with an sd of D of 2%."""
    half = 2.2010 * 0.02 / math.sqrt(12)
    ratio = RatioInterval(
        estimate=math.exp(change), low=math.exp(change - half), high=math.exp(change + half), confidence=0.95,
        method="paired", df=11.0, kind="bounded",
    )  # fmt: skip
    return examples.finding("parse", **{"better": better, "ratio": ratio, "verdict": "unchanged", **more})


def nights(count: int, change: float, *, pin: str = PIN.sha, first: int = 1, seed: int = 3) -> list[Night]:
    rng = np.random.default_rng(seed)
    days = [TODAY - datetime.timedelta(days=first + count - 1 - number) for number in range(count)]
    return [
        Night(
            run=str(day), day=str(day), pin=pin, commit="b" * 40, log_ratio=change + 0.006 * rng.normal(),
            variance=0.02**2 / 12,
        )
        for day in days
    ]  # fmt: skip


class Judged(NamedTuple):
    findings: Sequence[Finding]
    facts: CreepFacts


def crept(tonight: Finding, *cases: tuple[str, str, list[Night]], **tables: Any) -> Judged:
    """Decide a night; cases: metric and statistic, and the nights that are known of each."""
    own: dict[str, Any] = {"benchmark": "parse", "factors": {}}
    creep = CreepRun(
        pin=PIN, unused=None,
        cases=[CaseNights(**own, metric=metric, statistic=name, nights=known) for metric, name, known in cases],
    )  # fmt: skip
    base, head = Commit(sha=PIN.sha), Commit(sha="b" * 40)
    run = Run(id="tonight", created=f"{TODAY}T03:00:00Z", creep=creep, base=base, head=head)
    return Judged(*there(crept_of([tonight], run, policy_by(tables))))


def decided(tonight: Finding, known: list[Night], **more: Any) -> Judged:
    return crept(tonight, ("time", "mean", known), **more)


CREPT = nights(20, math.log(1.06))


def slower(size: float = 0.06, **more: Any) -> Finding:
    return finding(math.log1p(size), verdict="regression", reason=examples.EXCEEDS, shown="decided_at", **more)


def test_a_run_without_a_pin_is_no_creep_check() -> None:
    assert crept_of([slower()], Run(), policy_by("")) is crept_of([slower()], None, policy_by("")) is None


def test_the_night_of_a_finding_is_its_log_ratio_and_the_variance_of_its_interval() -> None:
    run = Run(id="r", created="2026-11-20T03:00:00Z", base=Commit(sha="a"), head=Commit(sha="b"))
    found = night_of(finding(0.05), run)
    assert found is not None
    assert found.log_ratio == pytest.approx(0.05)
    assert found.variance == pytest.approx(0.02**2 / 12, rel=1e-3)
    assert night_of(examples.withheld(), run) is None and night_of(examples.unbounded(), run) is None


def test_many_nights_confirm_what_one_shows() -> None:
    crept = decided(slower(), CREPT)
    [found], [case] = crept.findings, crept.facts.cases
    assert isinstance(found.reason, reasons.Crept) and found.verdict == "regression"
    assert (case.verdict, case.nights) == ("crept", 21)
    assert found.decided_at.low is not None and 1.03 < found.decided_at.low < 1.06
    assert found.reason.since == str(TODAY - datetime.timedelta(days=found.reason.nights - 1))
    report = msgspec.structs.replace(
        examples.regression(), findings=crept.findings, creep=crept.facts, verdict="regression", failures=[]
    )
    step = next_step(report)
    assert step is not None and step.kind == "find-creep"
    assert [step.details[key] for key in ("pin", "benchmark")] == ["v1.0", "parse"]


def test_one_night_waits_for_others() -> None:
    crept = decided(slower(), nights(3, 0.0))
    [found], [case] = crept.findings, crept.facts.cases
    assert (found.verdict, found.shown, case.verdict) == ("inconclusive", "ratio", "unconfirmed")
    report = msgspec.structs.replace(examples.inconclusive(), findings=crept.findings, creep=crept.facts, failures=[])
    assert next_step(report) == outcomes.wait_for_nights(nights=case.more)
    # two runs of one day are one night
    again = [msgspec.structs.replace(each, run=f"{each.run}-again") for each in nights(3, 0.05)]
    crept = decided(slower(), [*nights(3, 0.05), *again])
    assert crept.facts.cases[0].nights == 4


def test_a_rate_that_falls_creeps_and_one_that_rises_does_not() -> None:
    falling = decided(finding(-math.log(1.06), better="higher"), nights(20, -math.log(1.06)))
    assert falling.facts.cases[0].verdict == "crept"
    decided_at = falling.findings[0].decided_at
    assert decided_at.low is None and decided_at.high is not None and 1 / 1.06 < decided_at.high < 1 / 1.03
    rising = decided(finding(math.log(1.06), better="higher"), nights(20, math.log(1.06)))
    assert (rising.facts.cases[0].verdict, rising.findings[0].verdict) == ("none", "unchanged")


def test_a_repair_ends_the_alarm() -> None:
    first = decided(finding(0.0), nights(20, math.log(1.06), first=3))
    assert (first.findings[0].verdict, first.facts.cases[0].verdict) == ("unchanged", "none")


def test_nights_against_another_pin_are_noise_alone() -> None:
    other = decided(slower(), nights(20, math.log(1.06), pin="c" * 40))
    assert (other.facts.cases[0].verdict, other.facts.cases[0].nights) == ("unconfirmed", 1)
    # they teach the noise, so that fewer nights do
    known = [*nights(40, 0.0, pin="c" * 40, first=10), *nights(5, math.log(1.06))]
    assert decided(slower(), known).facts.cases[0].verdict == "crept"
    assert decided(slower(), nights(5, math.log(1.06))).facts.cases[0].verdict == "unconfirmed"


def test_a_count_decides_at_once() -> None:
    ratio = examples.interval(1.06, 0.0, method="exact")
    why = reasons.ExactExceeds(threshold=0.03, outgrown=None)
    crept = decided(examples.finding("parse", "regression", ratio=ratio, reason=why), [])
    assert (crept.findings[0].verdict, crept.facts.cases[0].verdict) == ("regression", "crept")


@pytest.mark.parametrize(
    ("up_to", "until", "verdict"),
    [("10%", "2026-11-20", "accepted"), ("10%", "2026-11-19", "regression"), ("4%", "2027-01-01", "regression")],
)
def test_an_entry_accepts_up_to_its_size_and_until_its_day(up_to: str, until: str, verdict: str) -> None:
    entry = {"benchmark": "parse", "up_to": up_to, "until": until, "reason": "wanted"}
    [found] = decided(slower(0.08), nights(30, math.log(1.08)), accept=[entry]).findings
    assert found.verdict == verdict
    if isinstance(found.reason, reasons.Crept):
        assert (found.reason.outgrown is not None) == (up_to == "4%")


def views(tonight: Finding, *, wall: list[Night], active: list[Night]) -> Judged:
    """Tonight's active time decides, with wall time beside it; nights that each view knows."""
    other = finding(0.0)
    shown = msgspec.structs.replace(
        tonight, metric="active", statistic="typical", view=View(why="nights", times=4.0), beside=[other]
    )
    return crept(shown, ("time", "mean", wall), ("active", "typical", active))


def test_the_view_that_decides_is_judged_where_all_have_as_many_nights() -> None:
    crept = views(slower(), wall=nights(20, 0.0), active=nights(20, math.log(1.06)))
    assert [(f.metric, f.verdict) for f in crept.findings] == [("active", "regression")]
    assert crept.facts.cases[0].nights == 21


def test_a_benchmark_that_has_a_new_view_goes_on_with_the_nights_that_it_has() -> None:
    """As after an upgrade, or where active time became valid: no series begins anew."""
    crept = views(slower(), wall=nights(20, 0.0), active=nights(2, math.log(1.06)))
    [found] = crept.findings
    assert (found.metric, found.statistic, found.verdict) == ("time", "mean", "unchanged")
    assert found.view is not None and found.view.why == "nights"
    assert [(f.metric, f.view, f.beside) for f in found.beside] == [("active", None, [])]
    assert crept.facts.cases[0].nights == 21
