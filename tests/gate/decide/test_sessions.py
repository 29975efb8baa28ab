"""Several sessions: a ratio is formed on each machine, and what differs between machines is no part of it."""

from typing import Any

import numpy as np
import pytest

from gate.decide.next_steps import next_step
from gate.model import outcomes, reasons
from gate.model.warnings.estimates import NotExact
from tests.gate.decide.decided import COUNTS, MEDIAN, Lines, both, counted, decided, on_machines, only
from tests.support.lines import builds
from tests.support.warned import kinds, texts

BOOTSTRAP = '[gate]\ninterval = "bootstrap:RNN"\n'
ALIKE = (1.0, 1.0, 1.0)


def steady(ratios: list[float], rounds: int = 5, **more: Any) -> Lines:
    return on_machines(ratios, rounds, 0.002, **more)


@pytest.mark.parametrize(("ratio", "verdict"), [(1.2, "regression"), (1.0, "unchanged"), (0.8, "improvement")])
def test_machines_of_other_speeds_give_the_same_verdict(ratio: float, verdict: str) -> None:
    apart, alike = only(steady([ratio] * 3)), only(steady([ratio] * 3, speeds=ALIKE))
    assert (apart.verdict, alike.verdict) == (verdict, verdict)
    assert (apart.ratio.method, apart.ratio.df, apart.base.counts.session) == ("paired", 2, 3)
    assert apart.ratio.estimate == pytest.approx(ratio, rel=0.005)
    # the same noise, so that the very same interval comes out
    assert (apart.ratio.low, apart.ratio.high) == pytest.approx((alike.ratio.low, alike.ratio.high), rel=1e-9)


def test_a_change_on_one_machine_alone_is_no_regression() -> None:
    found = only(steady([1.0, 1.3, 1.0]))
    assert found.verdict == "inconclusive"
    assert found.ratio.low is not None and found.ratio.high is not None
    assert found.ratio.low < 1 < 1.3 < found.ratio.high
    # more sessions are what is lacking; of one it is builds
    assert isinstance(found.reason, reasons.TooNoisy) and not found.reason.hopeless
    one = only(both([[[1.0]], [[1.5]], [[0.8]]], [[[1.1]], [[1.4]], [[0.7]]]))
    assert isinstance(one.reason, reasons.TooWide) and one.reason.unit == "build"


def test_two_sessions_call_what_is_large_and_steady() -> None:
    found = decided(steady([1.4, 1.4]))
    assert found.findings[0].verdict == "regression"
    assert "two-sessions" in kinds(found.warnings)
    assert only(steady([1.1, 1.3])).verdict == "inconclusive"


def test_a_bootstrap_over_few_sessions_does_not_decide() -> None:
    found = only(steady([1.4] * 3, 10, speeds=ALIKE), BOOTSTRAP)
    assert (found.verdict, found.reason) == (
        "inconclusive", reasons.FewForBootstrap(needs=10, has=3, unit="session"),
    )  # fmt: skip


def test_a_median_that_doubled_is_a_regression_whatever_the_speeds() -> None:
    rng = np.random.default_rng(5)
    lines = [
        line
        for session, speed in enumerate((1.0, 2.0, 0.7))
        for side, scale in (("base", 0.1), ("head", 0.2))
        for line in builds(
            side, [[(scale * speed * rng.normal(1, 0.01, 20)).tolist()] for _ in range(5)], session=session
        )
    ]
    found = only(lines, MEDIAN)
    # the default floor of a time is in force
    assert (found.statistic, found.floor, found.verdict) == ("p50", 1e-6, "regression")


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
def test_equal_ratios_of_constants_are_exact(sides: list[tuple[float, float]], verdict: str, ratio: float) -> None:
    found = only(counted(sides, 5), COUNTS)
    assert (found.ratio.method, found.verdict, found.warnings) == ("exact", verdict, [])
    assert found.ratio.low == found.ratio.high == pytest.approx(ratio)


def test_constants_whose_ratio_differs_are_spread_over_sessions() -> None:
    found = only(counted([(1000, 1100), (2000, 2220), (1500, 1650)], 5), COUNTS)
    assert (found.ratio.method, found.ratio.df, found.verdict) == ("paired", 2, "regression")
    assert found.ratio.low is not None and found.ratio.high is not None
    assert 1.08 < found.ratio.low < 1.1033 < found.ratio.high < 1.12
    assert found.warnings[0] == NotExact("ratio")
    assert only(counted([(1000, 1100), (2000, 2000), (1500, 1500)], 5), COUNTS).verdict == "inconclusive"


def test_constants_have_no_interval_where_they_are_measured_or_of_machines_with_one_side_each() -> None:
    same = counted([(1000, 1100), (2000, 2200), (1500, 1650)], 5)
    measured = only(same, COUNTS.replace("exact = true", ""))
    assert (measured.verdict, measured.ratio.kind, measured.reason) == ("inconclusive", "withheld", reasons.NO_SPREAD)
    apart = only([line for line in same[:20] if (line["session"] == 0) == (line["side"] == "base")], COUNTS)
    assert (apart.verdict, apart.reason) == ("inconclusive", reasons.DIFFERENT_SESSIONS)


def test_builds_never_take_the_place_of_sessions() -> None:
    lines = steady([1.3] * 3, benchmark="whole")
    short = [{**line, "benchmark": "short"} for line in lines if line["session"] == 1]
    whole, lacking = decided([*lines, *short]).findings
    assert (whole.verdict, lacking.verdict, lacking.ratio.kind) == ("regression", "inconclusive", "withheld")
    assert lacking.reason == reasons.OneUnit(unit="session", sides=["base", "head"])
    # nor where the run was to have several, and one is there
    run = {"type": "run", "session": 0, "sessions": 3, "base": {"sha": "a"}, "head": {"sha": "b"}}
    assert only([run, *steady([1.3])]).verdict == "inconclusive"


def test_a_session_that_measured_one_side_alone_does_not_count_and_is_named() -> None:
    lines = [line for line in steady([1.3] * 3, speeds=ALIKE) if (line["session"], line["side"]) != (2, "head")]
    found = only(lines)
    assert (found.verdict, found.ratio.df, found.base.counts.session) == ("regression", 1, 2)
    left = ["session 2 measured only one side and is left out"]
    assert texts(found.warnings, "one-sided-sessions") == left


@pytest.mark.parametrize(("count", "fixed"), [(5, True), (2, False)])
def test_machines_that_differ_ask_for_machines_and_not_for_builds(count: int, fixed: bool) -> None:
    found = next_step(decided(steady([1.0, 1.3, 1.0], count)))
    assert found == outcomes.more_machines(sessions=3, wanted=None, builds=fixed)
    # one machine lacks builds, and one without values lacks something else
    assert getattr(next_step(decided(steady([1.03], 3))), "kind", "") != "more-machines"


def test_what_is_not_above_0_has_no_logarithm_and_is_still_paired() -> None:
    lines = [
        line
        for session in range(3)
        for line in both([[[1.0 + session]], [[1.01 * (1 + session)]]], [[[0.0]]] * 2, session=session)
    ]
    found = only(lines, "")
    assert (found.ratio.method, found.head.value) == ("fieller-paired", 0)
