"""What the pictures of a study share: looks, legends, names cut to their room, labels of treatments, ticks."""

import math

import pytest

from gate.commands.study.plots.styles import apart, labels, ordered, shortened
from gate.model.study import Factor, Setting
from gate.plots.panels import Look, marks_between, places
from gate.plots.picture import SETTINGS, Sheet
from gate.plots.scales import Tick
from tests.gate.plots.drawn import texts


def test_looks_are_all_different_and_the_first_are_the_sides() -> None:
    looks = [Look(k) for k in range(SETTINGS * 8)]
    assert len({(look.colour, look.shape) for look in looks}) == len(looks)
    assert len({look.shape for look in looks[:SETTINGS]}) == SETTINGS
    assert len({look.lines("line") for look in looks[:SETTINGS]}) == SETTINGS


def test_places_stay_within_the_ends_and_shortened_names_different() -> None:
    assert apart([1.0, 2.0, 199.0], 10, 0, 200) == pytest.approx([0, 10, 199], abs=4)
    assert apart([100.0, 100.0], 200, 0, 200) == [0, 200]
    with pytest.raises(ValueError, match="3 places 100 apart"):
        apart([1.0, 2.0, 3.0], 100, 0, 150)
    # shortened names stay different
    assert shortened(["compile", "idle"], 4) == {"compile": "com…", "idle": "idle"}
    assert shortened(["option-1", "option-2"], 5) == {"option-1": "opt…1", "option-2": "opt…2"}
    assert shortened(["aaaa1zzz", "aaaa2zzz"], 3) == {"aaaa1zzz": "…1…", "aaaa2zzz": "…2…"}
    assert shortened(["aaaa1zzz", "aaaa2zzz"], 2) == {}


def test_labels_join_equal_neighbours_within_slower_factors() -> None:
    found: list[dict[str, Setting]] = [{"a": 1, "b": "x"}, {"a": 1, "b": "y"}, {"a": 2, "b": "y"}, {"a": 2, "b": "x"}]
    factors = [Factor(name="a", settings=[1, 2]), Factor(name="b", settings=["x", "y"])]
    inorder = [found[k] for k in ordered(factors, found)]
    assert [s["b"] for s in inorder] == ["x", "y", "x", "y"]
    for own, fast in ((inorder, ["x", "y", "x", "y"]), (found, ["x", "y", "y", "x"])):
        sheet = Sheet(400, 100)
        labels(sheet, factors, own, places(100, 60, 4), 10)
        assert texts(sheet.picture("p", "t", "d", "c")) == ["b", *fast, "a", "1", "2"]


def test_ticks_of_a_short_log_axis_are_even_numbers() -> None:
    marks_ = marks_between(math.log10(101), math.log10(112.5), 6, log=True)
    assert [t.label for t in marks_] == ["102", "104", "106", "108", "110", "112"]
    assert all(t.at == pytest.approx(math.log10(float(t.label))) for t in marks_)
    assert marks_between(0.0, 10.0, 5, log=False)[0] == Tick(0.0, "0")
