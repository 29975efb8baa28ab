"""Several sessions: a ratio is formed on each machine, and what differs between machines is no part of it."""

import datetime
from typing import Any

import numpy as np
import pytest

from gate.config.config_text import read_source
from gate.config.parse import parse
from gate.config.rules import Policy
from gate.decide import decide
from gate.decide.next_steps import next_step
from gate.evidence.gather import gather
from gate.model import Report, outcomes, reasons
from gate.model.warnings.estimates import NotExact, OneSidedSessions, SessionsDiffer
from gate.model.warnings.measured import TwoSessions
from tests.gate.decide.decided import decided
from tests.support.lines import builds, located

SPEEDS = (1.0, 2.0, 0.7)


def report(ratios: list[float], speeds: tuple[float, ...] = SPEEDS, toml: str = "", count: int = 5) -> Report:
    """Decide over sessions on hosts of some speeds, each with a ratio, with builds that vary by 0.2%."""
    rng = np.random.default_rng(3)
    lines: list[dict[str, Any]] = []
    for session, (ratio, speed) in enumerate(zip(ratios, speeds, strict=False)):
        for side, scale in (("base", speed), ("head", speed * ratio)):
            nested = [[[float(scale * rng.normal(1, 0.002))]] for _ in range(count)]
            lines += [{**line, "session": session} for line in builds(side, nested)]
    return decided(lines, toml)


@pytest.mark.parametrize(("ratio", "verdict"), [(1.2, "regression"), (1.0, "unchanged"), (0.8, "improvement")])
def test_machines_of_other_speeds_give_the_same_verdict(ratio: float, verdict: str) -> None:
    (apart,) = report([ratio] * 3).findings
    (alike,) = report([ratio] * 3, (1.0, 1.0, 1.0)).findings
    assert (apart.verdict, alike.verdict) == (verdict, verdict)
    assert (apart.ratio.method, apart.ratio.df) == ("paired", 2)
    # the same noise, so that the very same interval comes out
    assert apart.ratio.low == pytest.approx(alike.ratio.low, rel=1e-9)
    assert apart.ratio.high == pytest.approx(alike.ratio.high, rel=1e-9)


def test_the_estimate_is_that_of_the_machines() -> None:
    (found,) = report([1.2] * 3).findings
    assert found.ratio.estimate == pytest.approx(1.2, rel=0.005)
    assert found.base.counts.session == 3


def test_a_change_on_one_machine_alone_is_no_regression() -> None:
    (found,) = report([1.0, 1.3, 1.0]).findings
    assert found.verdict == "inconclusive"
    assert found.ratio.low is not None
    assert found.ratio.high is not None
    assert found.ratio.low < 1 < 1.3 < found.ratio.high


def test_two_sessions_call_what_is_large_and_steady() -> None:
    found = report([1.4, 1.4])
    assert found.findings[0].verdict == "regression"
    assert TwoSessions() in found.warnings
    assert report([1.1, 1.3]).findings[0].verdict == "inconclusive"


BOOTSTRAP = '[gate]\ninterval = "bootstrap:RNN"\n'


def test_a_bootstrap_over_few_sessions_does_not_decide() -> None:
    (found,) = report([1.4] * 3, (1.0, 1.0, 1.0), BOOTSTRAP, count=10).findings
    assert found.verdict == "inconclusive"
    assert found.reason == reasons.FewForBootstrap(needs=10, has=3, unit="session")


def test_a_median_that_doubled_is_a_regression_whatever_the_speeds() -> None:
    rng = np.random.default_rng(5)
    lines = [
        {**line, "session": session}
        for session, speed in enumerate(SPEEDS)
        for side, scale in (("base", 0.1), ("head", 0.2))
        for line in builds(side, [[(scale * speed * rng.normal(1, 0.01, 20)).tolist()] for _ in range(5)])
    ]
    (found,) = decided(lines, '[[benchmark]]\nname = "bench"\ncommand = "x"\nmetric.time.statistics = ["p50"]').findings
    # the default floor of a time is in force
    assert (found.statistic, found.floor, found.verdict) == ("p50", 1e-6, "regression")


def counts(sides: list[tuple[float, float]], toml: str = "exact = true", each: int = 5) -> Report:
    """Decide over sessions that have one value of base and one of head each, in every build."""
    lines = [
        {**line, "session": session}
        for session, values in enumerate(sides)
        for side, value in zip(("base", "head"), values, strict=True)
        for line in builds(side, [[[value]]] * each, metric="n", unit="", better="lower")
    ]
    return decided(
        lines,
        f'[[benchmark]]\nname = "bench"\ncommand = "x"\ninstrument = "values"\n[benchmark.metric.n]\nunit = ""\n{toml}',
    )


@pytest.mark.parametrize(
    ("sides", "verdict", "ratio"),
    [
        ([(1000, 1100), (2000, 2200), (1500, 1650)], "regression", 1.1),
        ([(1000, 1000), (2000, 2000), (1500, 1500)], "unchanged", 1.0),
        ([(1000, 900), (2000, 1800)], "improvement", 0.9),
        # a machine that counts nothing says nothing against it
        ([(0, 0), (2000, 2200)], "regression", 1.1),
        ([(3, 3.3), (7, 7.7), (1e9, 1.1e9)], "regression", 1.1),
    ],
)
def test_the_same_ratio_of_constants_on_every_machine_is_exact(
    sides: list[tuple[float, float]], verdict: str, ratio: float
) -> None:
    (found,) = counts(sides).findings
    assert (found.ratio.method, found.verdict, found.warnings) == ("exact", verdict, [])
    assert found.ratio.low == found.ratio.high == pytest.approx(ratio)


def test_constants_whose_ratio_differs_are_spread_over_sessions() -> None:
    (found,) = counts([(1000, 1100), (2000, 2220), (1500, 1650)]).findings
    assert (found.ratio.method, found.ratio.df, found.verdict) == ("paired", 2, "regression")
    assert found.ratio.low is not None
    assert found.ratio.high is not None
    assert 1.08 < found.ratio.low < 1.1033 < found.ratio.high < 1.12
    assert found.warnings[0] == NotExact("ratio")
    (far,) = counts([(1000, 1100), (2000, 2000), (1500, 1500)]).findings
    assert far.verdict == "inconclusive"


def test_a_measured_metric_without_any_spread_within_sessions_has_no_interval() -> None:
    (found,) = counts([(1000, 1100), (2000, 2200), (1500, 1650)], "").findings
    assert (found.verdict, found.ratio.kind) == ("inconclusive", "withheld")
    assert found.reason == reasons.NoSpread()


def test_a_constant_of_machines_that_measured_one_side_each_is_not_compared() -> None:
    lines = [
        *builds("base", [[[1000.0]]] * 5, metric="n", unit="", better="lower"),
        *({**line, "session": 1} for line in builds("head", [[[1100.0]]] * 5, metric="n", unit="", better="lower")),
    ]
    toml = '[[benchmark]]\nname = "bench"\ncommand = "x"\ninstrument = "values"\n[benchmark.metric.n]\nunit = ""\nexact = true'
    (found,) = decided(lines, toml).findings
    assert found.verdict == "inconclusive"
    assert found.reason == reasons.DifferentSessions()


def measured(sessions: dict[str, tuple[int, ...]], ratio: float = 1.3) -> list[dict[str, Any]]:
    """Make benchmarks that were measured in some sessions, five builds of each in each."""
    rng = np.random.default_rng(6)
    return [
        {**line, "session": session}
        for name, own in sessions.items()
        for session in own
        for side, scale in (("base", 1.0), ("head", ratio))
        for line in builds(side, [[[float(scale * rng.normal(1, 0.002))]] for _ in range(5)], benchmark=name)
    ]


def test_builds_never_take_the_place_of_sessions() -> None:
    whole, short = decided(measured({"whole": (0, 1, 2), "short": (1,)})).findings
    assert (whole.verdict, short.verdict, short.ratio.kind) == ("regression", "inconclusive", "withheld")
    assert short.reason == reasons.OneUnit(unit="session", sides=["base", "head"])
    # nor where the run was to have several, and one is there
    run = {"type": "run", "session": 0, "sessions": 3, "base": {"sha": "a"}, "head": {"sha": "b"}}
    (alone,) = decided([run, *measured({"alone": (0,)})]).findings
    assert alone.verdict == "inconclusive"


def test_a_session_that_measured_one_side_alone_does_not_count_and_is_named() -> None:
    lines = [line for line in measured({"x": (0, 1, 2)}) if (line["session"], line["side"]) != (2, "head")]
    (found,) = decided(lines).findings
    assert (found.verdict, found.ratio.df, found.base.counts.session) == ("regression", 1, 2)
    assert OneSidedSessions((2,)) in found.warnings


def test_of_sessions_more_sessions_are_what_is_lacking() -> None:
    (found,) = report([1.0, 1.3, 1.0]).findings
    assert isinstance(found.reason, reasons.TooNoisy) and not found.reason.hopeless
    base = builds("base", [[[1.0]], [[1.5]], [[0.8]]])
    (one,) = decided([*base, *builds("head", [[[1.1]], [[1.4]], [[0.7]]])]).findings
    assert isinstance(one.reason, reasons.TooWide) and one.reason.unit == "build"


@pytest.mark.parametrize(("count", "fixed"), [(5, True), (2, False)])
def test_machines_that_differ_ask_for_machines_and_not_for_builds(count: int, fixed: bool) -> None:
    found = report([1.0, 1.3, 1.0], count=count)
    assert next_step(found) == outcomes.more_machines(sessions=3, wanted=None, builds=fixed)
    # one machine lacks builds, and one without values lacks something else
    one = report([1.03], count=3)
    assert getattr(next_step(one), "kind", "") != "more-machines"


def test_machines_of_other_speeds_are_no_news_to_most_readers() -> None:
    (found,) = report([1.2] * 3).findings
    assert [w.for_experts for w in found.warnings if isinstance(w, SessionsDiffer)] == [True]


def test_what_is_not_above_0_has_no_logarithm_and_is_still_paired() -> None:
    lines = [
        {**line, "session": s}
        for s in (0, 1, 2)
        for side, value in (("base", 1.0 + s), ("head", 0.0))
        for line in builds(side, [[[value]], [[value * 1.01]]])
    ]
    policy = Policy(parse(read_source("", "perfgate.toml")), "test", datetime.date(2026, 11, 20), None)
    (found,) = decide(gather(located(*lines), policy.config), policy).findings
    assert (found.ratio.method, found.head.value) == ("fieller-paired", 0)
