"""A bar says the same as its numbers: what is beyond the threshold is drawn beyond its zone."""

import math
import random
from typing import Any

from gate.document import bars
from tests.gate.report import examples


def drawn_of(low: float | None, high: float | None, threshold: float = 0.1) -> bars.Extent:
    ends = [end for end in (low, high) if end is not None]
    kind: Any = "bounded" if len(ends) == 2 else "half-line" if ends else "line"
    estimate = math.prod(ends) ** (1 / len(ends)) if ends else 1.2
    ratio = examples.interval(estimate, None, kind)
    ratio = type(ratio)(**{name: getattr(ratio, name) for name in ratio.__struct_fields__} | {"low": low, "high": high})
    return bars.extent(examples.finding(ratio=ratio, threshold=threshold))


def test_a_scale_ends_at_changes_that_read_well() -> None:
    on = (-0.2, 0.4)
    assert bars.bar(drawn_of(1.2, 1.4), on, 21) == "   ░░░░│░░░░ ├──●─┤  "
    assert bars.ends(on, 21) == "-18.1% │       +49.2%"
    for low, high, ends in (
        (0.93, 1.23, "-7.5% "),
        (0.98, 1.047, " +5%"),
        (0.2, 0.3, "-85% "),
        (0.999, 1.0012, " +0.20%"),
    ):
        assert ends in bars.ends(bars.scale([drawn_of(low, high, 0.001 if high < 1.01 else 0.03)]), 30)


def test_all_rows_share_a_scale_that_no_outlier_flattens() -> None:
    found = [drawn_of(0.98, 1.02), drawn_of(50.0, 60.0), drawn_of(1.12, 1.15)]
    on = bars.scale(found)
    drawn = [bars.bar(each, on, 21) for each in found]
    zero = {text.index(mark) for text in drawn for mark in "│┼" if mark in text} or {drawn[1].index("│")}
    assert len(zero) == 1
    assert drawn[1].endswith("►") and "●" not in drawn[1]
    assert drawn[2].count("░") >= 2


def test_a_large_change_is_on_the_scale_where_it_is_the_rule() -> None:
    for found in ([drawn_of(1.74, 5.61, 0.05)], [drawn_of(0.3, 0.6, 0.05), drawn_of(0.2, 0.4, 0.05)]):
        on = bars.scale(found)
        for drawn in (bars.bar(each, on, 24) for each in found):
            assert drawn.count("●") == 1 and "│" in drawn and "░" in drawn, drawn


def test_what_is_beyond_the_threshold_is_drawn_beyond_its_zone() -> None:
    draw = random.Random(1)
    for _ in range(300):
        threshold = draw.choice([0.001, 0.03, 0.1, 3.0])
        low = math.exp(draw.gauss(0, 3 * math.log1p(threshold)))
        found = drawn_of(low, low * math.exp(abs(draw.gauss(0, math.log1p(threshold)))), threshold)
        on, width = bars.scale([found, drawn_of(0.9, 1.3)]), draw.choice([13, 17, 21, 29])
        blank = drawn_of(None, None, threshold)
        without = examples.withheld(threshold=threshold, ratio=examples.interval(None, None, "withheld"))
        empty = bars.bar(bars.extent(without), on, width)
        assert bars.bar(blank, on, width)[0] == "◄"
        text = bars.bar(found, on, width)
        assert len(text) == len(empty) == width
        zone = [at for at, mark in enumerate(empty) if mark in "░│"]
        line = [at for at, mark in enumerate(text) if mark in "├─┼●┤◄►"]
        assert zone == list(range(zone[0], zone[-1] + 1))
        low_end, high_end = math.exp(found.low or 0), math.exp(found.high or 0)
        if low_end > 1 + threshold:
            assert min(line) > zone[-1]
        elif high_end < 1 / (1 + threshold):
            assert max(line) < zone[0] or zone[0] == 0
        else:
            assert set(line) & set(zone)
