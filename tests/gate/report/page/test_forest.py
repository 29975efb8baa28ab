"""The forest: one axis for all findings, which shows the interval that each verdict rests on."""

import math
from itertools import pairwise, product

import msgspec
import pytest

from gate.decide.importance import ordered
from gate.model import IntervalKind
from gate.plots.picture import room
from gate.report.page.findings import forest_of
from tests.gate.report import examples


@pytest.mark.parametrize("name", examples.ALL)
def test_every_place_of_any_report_is_inside_of_the_column(name: str) -> None:
    forest = forest_of(ordered(examples.ALL[name]().findings))
    for bar in forest.bars:
        places = [bar.band_low, forest.zero, bar.band_high, bar.estimate, bar.low, bar.high]
        assert all(at is None or 0 <= at <= 100 for at in places)
        assert bar.band_low <= forest.zero <= bar.band_high
        assert bar.low is None or bar.high is None or bar.low <= bar.high


def test_the_whole_band_of_the_threshold_is_on_the_axis() -> None:
    assert forest_of([]).bars == ()
    for threshold in (0.02, 0.05, 0.5):
        forest = forest_of([examples.finding("calm", estimate=1.001, half=0.002, threshold=threshold)])
        (bar,) = forest.bars
        assert 6 < bar.band_low < bar.band_high < 94
        assert forest.zero - bar.band_low == pytest.approx(bar.band_high - forest.zero, abs=0.02)


def test_all_bars_have_one_confidence_whatever_decided() -> None:
    of = examples.finding("a", "regression", estimate=1.05, half=0.01)
    wide = msgspec.structs.replace(of.decided_at, low=1.02, high=1.08, confidence=0.9958)
    found = [msgspec.structs.replace(of, decided_at=wide, shown=shown) for shown in ("ratio", "decided_at")]
    nominal, decided = forest_of(found).bars
    assert nominal == decided


def test_one_outlier_is_cut_with_an_arrow_and_does_not_flatten_the_others() -> None:
    calm = [examples.finding(f"c{k}", estimate=1.01, half=0.01) for k in range(8)]
    assert not forest_of(calm).cut
    forest = forest_of([examples.regressed("wild", estimate=40.0), *calm])
    assert forest.cut
    wild, *others = forest.bars
    assert (wild.estimate, wild.open_high) == (None, True)
    assert all(bar.high - bar.low > 4 for bar in others if bar.low is not None and bar.high is not None)
    # hundreds of calm findings do not cut those that matter
    calm = [examples.finding(f"c{k}", estimate=1.001, half=0.002) for k in range(300)]
    worse = [examples.regressed(f"w{k}", estimate=1.2) for k in range(12)]
    assert all(bar.estimate is not None for bar in forest_of([*worse, *calm]).bars)


def test_open_ends_are_arrows() -> None:
    kinds: list[IntervalKind] = ["half-line", "complement", "line"]
    for kind in kinds:
        bar = forest_of([examples.unbounded("open", kind), examples.finding("closed")]).bars[0]
        assert bar.open_low or bar.open_high


def test_a_finding_without_a_ratio_has_a_band_alone() -> None:
    for estimate in (None, math.inf, math.nan, 0.0, -1.5):
        ratio = msgspec.structs.replace(examples.interval(1.0, None, "withheld"), estimate=estimate)
        (bar,) = forest_of([examples.finding("zero", "inconclusive", ratio=ratio)]).bars
        assert (bar.estimate, bar.low, bar.high, bar.open_low, bar.open_high) == (None, None, None, False, False)
        assert bar.band_low < bar.band_high


def test_the_ticks_name_no_change_and_do_not_meet() -> None:
    lows, highs, thresholds = (0.002, 0.01, 0.1, 0.6), (0.002, 0.04, 0.5, 2.0, 9e3), (0.01, 0.03, 0.1)
    for low, high, threshold in product(lows, highs, thresholds):
        estimates = {"a": 1 - low, "b": 1 + high}
        found = [examples.finding(n, estimate=e, half=0.001, threshold=threshold) for n, e in estimates.items()]
        ticks = forest_of(found).ticks
        assert "0" in [tick.label for tick in ticks]
        for one, two in pairwise(ticks):
            # of a column of 200 pixels
            assert 2 * (two.at - one.at) >= (room(one.label, 13) + room(two.label, 13)) / 2, (low, high)
