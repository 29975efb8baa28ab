"""The forest of all findings."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal
from xml.etree import ElementTree

import msgspec
import pytest

from gate.decide.importance import ordered
from gate.model import VERDICTS, Finding, IntervalKind, Verdict
from gate.plots.forest import forest
from gate.plots.picture import Picture
from tests.gate.plots.drawn import SVG, assert_sound, corners, marks, paths, texts
from tests.gate.report import examples


def drawn(findings: Sequence[Finding]) -> Picture:
    picture = forest(findings, [finding.benchmark for finding in findings], "p")
    assert_sound(picture, "p")
    return picture


@pytest.mark.parametrize("name", examples.ALL)
def test_any_report_has_a_forest(name: str) -> None:
    drawn(ordered(examples.ALL[name]().findings))


def test_each_finding_has_a_row_with_name_change_and_interval() -> None:
    picture = drawn([examples.finding("lex", estimate=1.021, half=0.01), examples.finding("parse")])
    assert {"lex", "parse", "+2.1%", "+1.1% … +3.1%", "interval"} <= set(texts(picture))
    assert "is based on. Intervals have 95% confidence. The shaded" in picture.caption
    # one beside the count, twice for wide and narrow, and two rows
    assert marks(picture, "big-unchanged") == 2 + 2


def test_verdicts_have_shapes_of_their_own() -> None:
    picture = drawn(ordered(examples.regression().findings))
    marked = ("cross-regression", "mark-inconclusive", "mark-accepted", "mark-improvement", "big-unchanged")
    shapes = {
        tuple((round(x - path[0][0], 1), round(y - path[0][1], 1)) for x, y in path[:3])
        for path in (corners(paths(picture, mark)[0]) for mark in marked)
    }
    assert len(shapes) == 5
    assert {"1 regression", "3 inconclusive", "1 accepted", "1 improvement", "2 unchanged"} <= set(texts(picture))


def test_the_legend_does_not_run_into_itself() -> None:
    crowd = [examples.finding(f"c{k}", verdict) for verdict in VERDICTS if verdict != "identical" for k in range(300)]
    svg = drawn(crowd).svg
    for layout, letters in (("wide", 13), ("narrow", 22)):
        found = re.findall(rf'<text class="p-say-\w+ p-middle p-{layout}" x="(.+?)" y="(.+?)">(?:300 )?([a-z]+)<', svg)
        entries = [(float(x), float(y), word) for x, y, word in found if word.rstrip("s") in VERDICTS]
        assert len(entries) == 5
        for (x, y, word), (after, below, _) in pairwise(entries):
            said = f"300 {word}" if layout == "wide" else word
            assert below > y or after - x > 0.64 * letters * len(said)
            assert x + 0.64 * letters * len(said) < 720


@pytest.mark.parametrize("threshold", [0.02, 0.05, 0.5])
def test_the_whole_band_of_the_threshold_is_on_the_axis(threshold: float) -> None:
    picture = drawn([examples.finding("calm", estimate=1.001, half=0.002, threshold=threshold)])
    ((left, _), (right, _), *_) = corners(paths(picture, "zone")[0])
    zero = corners(paths(picture, "zero")[0])[0][0]
    assert 240 < left < zero < right < 510
    assert zero - left == pytest.approx(right - zero, abs=0.3), "the band is cut at neither end"
    assert f"The shaded band is the threshold ({threshold:.0%})." in picture.caption


@pytest.mark.parametrize(
    ("verdict", "shown"),
    [
        ("regression", "decided_at"),
        ("accepted", "decided_at"),
        ("improvement", "decided_at"),
        ("inconclusive", "ratio"),
        ("unchanged", "ratio"),
    ],
)
def test_one_interval_a_finding_the_one_that_its_verdict_rests_on(
    verdict: Verdict, shown: Literal["ratio", "decided_at"]
) -> None:
    of = examples.finding("a", verdict, estimate=1.05, half=0.01)
    at = msgspec.structs.replace(of.decided_at, low=1.02, high=1.08, confidence=0.9958)
    picture = drawn([msgspec.structs.replace(of, decided_at=at, shown=shown)])
    assert len(paths(picture, f"bar-{verdict}")) == 1
    assert not paths(picture, f"wing-{verdict}")
    wanted = "+2.0% … +8.0%" if shown == "decided_at" else "+4.0% … +6.0%"
    assert [text for text in texts(picture) if "…" in text] == [wanted]
    level = "99.58%" if shown == "decided_at" else "95%"
    assert f"Intervals have {level} confidence." in picture.caption


def test_an_interval_that_ends_far_out_is_cut_with_an_arrow() -> None:
    calm = [examples.finding(f"c{k}", estimate=1.01, half=0.01) for k in range(8)]
    assert "An arrow" not in drawn(calm).caption
    far = msgspec.structs.replace(calm[0], ratio=msgspec.structs.replace(calm[0].ratio, low=0.1, high=9.0))
    picture = drawn([far, *calm])
    assert marks(picture, "mark-unchanged") == 2
    assert "An arrow marks" in picture.caption
    widths = [abs(b[0] - a[0]) for a, b in _pairs(paths(picture, "bar-unchanged"))]
    assert min(widths) > 10, "and it does not flatten the others"


def test_intervals_of_different_confidence_are_told_once() -> None:
    of = examples.finding("early", estimate=1.021, half=0.01)
    early = msgspec.structs.replace(of, ratio=msgspec.structs.replace(of.ratio, confidence=0.9976))
    picture = drawn([early, examples.finding("late", estimate=1.021, half=0.01)])
    assert not [text for text in texts(picture) if "99.76%" in text]
    assert "Intervals have 95% to 99.76% confidence." in picture.caption


def test_each_finding_may_have_its_own_threshold() -> None:
    picture = drawn([examples.finding("a", threshold=0.02), examples.finding("b", threshold=0.01)])
    first, second = (corners(f"m{zone}") for zone in _absolute(paths(picture, "zone")[0]))
    assert first[1][0] - first[0][0] > second[1][0] - second[0][0]


def _absolute(path: str) -> list[str]:
    return [f"0 0{piece[piece.index('h') :]}" for piece in path.split("m")[1:]]


def test_one_outlier_does_not_flatten_the_others() -> None:
    calm = [examples.finding(f"c{k}", estimate=1.01, half=0.01) for k in range(8)]
    wild = examples.regressed("wild", estimate=40.0)
    picture = drawn([wild, *calm])
    widths = [abs(b[0] - a[0]) for a, b in _pairs(paths(picture, "bar-unchanged"))]
    assert min(widths) > 20
    assert "+3900%" in texts(picture)
    assert "An arrow marks" in picture.caption


def _pairs(lines: list[str]) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    return [(found[0], found[1]) for line in lines if (found := corners(line))]


@pytest.mark.parametrize("kind", ["half-line", "complement", "line"])
def test_open_ends_are_arrows(kind: IntervalKind) -> None:
    picture = drawn([examples.unbounded("open", kind), examples.finding("closed")])
    # the two beside the counts, its estimate, and an arrow at each end
    assert marks(picture, "mark-inconclusive") == 2 + 1 + 2
    assert "unbounded" in texts(picture)
    assert "An arrow marks" in picture.caption


@pytest.mark.parametrize("estimate", [None, math.inf, math.nan, 0.0, -1.5])
def test_a_finding_without_a_ratio_says_so(estimate: float | None) -> None:
    of = examples.finding("zero", "inconclusive")
    of = msgspec.structs.replace(
        of, ratio=msgspec.structs.replace(of.ratio, estimate=estimate, low=None, high=None, kind="withheld")
    )
    picture = drawn([of])
    assert "no ratio" in texts(picture)


def test_forty_findings_are_named_and_beyond_that_all_are_sorted_below() -> None:
    findings = [examples.finding(f"case-{k:03}", estimate=1 + k / 5000) for k in range(100)]
    picture = drawn(findings)
    named = {text for text in texts(picture) if text.startswith("case-")}
    assert len(named) == 40
    assert marks(picture, "dot-unchanged") == 100
    assert "below, all 100 are sorted" in picture.caption
    assert drawn(findings[:40]).caption.count("sorted") == 0


def test_a_crowd_is_thinned_and_the_caption_says_so() -> None:
    picture = drawn([examples.finding(f"case-{k}") for k in range(2000)])
    assert "600 of 2,000 are drawn there" in picture.caption
    assert len(picture.svg) < 60_000


def test_a_long_name_is_elided_and_whole_on_hovering() -> None:
    name = "suite/" + "x" * 60 + "/last"
    root = ElementTree.fromstring(drawn([examples.finding(name)]).svg)
    shown = [text for text in root.iter(f"{SVG}text") if "p-name" in text.get("class", "")]
    assert all(len(text.text or "") < 34 and "…" in (text.text or "") for text in shown)
    assert [title.text for text in shown for title in text] == [name, name]


def test_no_finding_is_said() -> None:
    assert texts(drawn([])) == ["There are no findings."]


def labels(picture: Picture, layout: Literal["wide", "narrow"]) -> set[str]:
    """Return the changes beneath the rows that a layout shows."""
    other = "narrow" if layout == "wide" else "wide"
    found = re.findall(r'<text class="p-soft([^"]*)" x="[^"]+" y="([^"]+)"[^>]*>([^<]+)<', picture.svg)
    last = max(float(y) for _, y, _ in found)
    return {label for kinds, y, label in found if float(y) == last and f"p-{other}" not in kinds}


@pytest.mark.parametrize("layout", ["wide", "narrow"])
@pytest.mark.parametrize("threshold", [0.01, 0.03, 0.1])
@pytest.mark.parametrize("low", [0.002, 0.01, 0.036, 0.1, 0.3, 0.6])
@pytest.mark.parametrize("high", [0.002, 0.01, 0.04, 0.1, 0.5, 2.0])
def test_the_axis_names_no_change_the_threshold_and_both_directions(
    low: float, high: float, threshold: float, layout: Literal["wide", "narrow"]
) -> None:
    found = [examples.finding("a", estimate=1 - low, half=0.001), examples.finding("b", estimate=1 + high, half=0.001)]
    picture = drawn([msgspec.structs.replace(each, threshold=threshold) for each in found])
    shown = labels(picture, layout)
    assert "0" in shown
    down, up = max(-math.log1p(-low), 1.2 * threshold), max(math.log1p(high), 1.2 * threshold)
    if max(down, up) <= 2.5 * min(down, up):
        # where a direction is a fraction of the axis, 0 takes its room
        assert {label[0] for label in shown - {"0"}} == {"+", "−"}, shown
    if max(low, high) <= 2 * threshold:
        assert {f"+{threshold * 100:g}%", f"−{threshold * 100:g}%"} <= shown, shown
