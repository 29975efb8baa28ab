"""What must hold of every picture of a study: sound, within its sheet, no text on another, hostile names escaped."""

import math
from collections.abc import Callable, Iterator
from functools import cache
from itertools import combinations
from xml.etree import ElementTree

import msgspec
import numpy as np
import pytest

from gate.commands.study.plots.effects import MOST_CONTRASTS, half_normal, pareto, quantile_effects
from gate.commands.study.plots.intervals import means_by_metric, one_way, sample_sizes
from gate.commands.study.plots.means import blocks, interactions, mains
from gate.commands.study.plots.of_values import boots, boxes, histogram, residuals, series, spreads, violins
from gate.commands.study.plots.styles import TreatmentValues, apart, labels, ordered, shortened
from gate.model.study import Dependence, Factor, MeanInterval, ModelCheck, Response, Setting
from gate.plots.panels import Array, PlotStyle, marks_between, places
from gate.plots.picture import LETTERS, SETTINGS, Picture, Sheet, room
from gate.plots.scales import Tick
from gate.stats.design.claims import lenth
from tests.gate.commands.study.plots import examples as examples
from tests.gate.plots.drawn import SVG, assert_sound, marks, texts
from tests.gate.stats.design import published
from tests.support.samples import there

pytestmark = pytest.mark.endtoend

replace = msgspec.structs.replace
HOSTILE = "</svg><script>alert('1')</script>&\u202e\u0007\n日本語" * 3
MANY = Factor(name="clients", settings=[1, 2, 4, 8, 16, 32, 64, 128, 256, 512])
POLICY = Factor(name="policy", settings=["other", "fifo", "round robin", "batch"])

STUDIES: dict[str, Callable[[], Response]] = {
    "four": examples.response,
    "one": lambda: examples.response((examples.LOAD,)),
    "two": lambda: examples.response((examples.SCHED, examples.CLIENTS), balanced=False),
    "many": lambda: examples.response((MANY, POLICY, examples.SCHED)),
    "hostile": lambda: examples.response(
        (Factor(name=HOSTILE, settings=[HOSTILE, f"{HOSTILE}2", f"{HOSTILE}3"]), Factor(name="s" * 300, settings=[1e-9, 2.5])),
        benchmark=HOSTILE, metric=HOSTILE, unit=HOSTILE,
    ),
}  # fmt: skip


def pictures(response: Response) -> Iterator[tuple[str, Picture | None]]:
    """All pictures of a response, by their prefixes."""
    means = {repr(t.settings): t.mean for t in response.treatments}
    timed = replace(response, series=examples.series(means, 4, sessions=3), dependences=[dependence(response.metric)])
    yield "q", quantile_effects("q", response, examples.quantile_effects(response.factors), 0.95)
    yield "r", residuals("r", response, examples.diagnostics(900))
    yield "m", mains("m", response)
    yield "i", interactions("i", response, response.interactions)
    for number, own in enumerate(response.blocks):
        yield f"b{number}", blocks(f"b{number}", response, own)
    yield "v", violins("v", response, examples.samples(response.factors, 40))
    yield "s", series("s", timed)
    rng = np.random.default_rng(4)
    for number, (factor, count) in enumerate(((response.factors[0], 24), (None, 70))):
        found = [
            (factor.settings[k % len(factor.settings)] if factor else None, 0.02 + 0.001 * rng.gamma(2, 1, 60))
            for k in range(count)
        ]
        yield f"t{number}", boots(f"t{number}", timed, "session", found, factor, adjusted=factor is None)
    yield "x", boxes("x", response, examples.samples(response.factors, 40))
    for number, sample in enumerate(examples.samples(response.factors, 1200)[:2]):
        yield f"h{number}", histogram(f"h{number}", response, sample)
    for number, factor in enumerate(response.factors):
        units = examples.samples(response.factors, 6)
        yield f"p{number}", spreads(f"p{number}", response, factor, units)
    meant = [MeanInterval(settings=t.settings, units=6, mean=t.mean, low=t.mean * 0.98, high=t.mean * 1.03)
             for t in response.treatments]  # fmt: skip
    for number, metrics in enumerate(("ab", "a")):
        several = [replace(response, metric=f"{response.metric}-{name}", means=meant) for name in metrics]
        yield f"n{number}", means_by_metric(f"n{number}", several, 0.95)
    doubted = replace(response, questionable=[t.settings for t in response.treatments[::3]])
    yield "d", blocks("d", doubted, response.blocks[0])
    yield "z", sample_sizes("z", response, examples.sample_sizes(response.treatments[0].settings))
    for number, factor in enumerate(response.factors):
        yield f"o{number}", one_way(f"o{number}", response, examples.one_way(factor), units_of(factor))
    names = [f.name for f in response.factors]
    # few and many contrasts, limits far away, close together and within all, long alias sets
    for number, (count, noise) in enumerate(((3, 1.0), (7, 1e-3), (15, 0.4), (40, 1e-5), (40, 0.0))):
        judged = replace(response, lenth=examples.lenth(names, count, noise), linear=None)
        yield f"k{number}", pareto(f"k{number}", judged)
        yield f"j{number}", half_normal(f"j{number}", judged)
        if number:
            logs = replace(judged, scale="log")
            yield f"l{number}", pareto(f"l{number}", logs)
    fraction = replace(response, lenth=examples.aliased(names), linear=None)
    yield "u", mains("u", fraction)
    yield "w", quantile_effects("w", fraction, examples.quantile_effects(response.factors), 0.95)


def units_of(factor: Factor) -> dict[Setting, Array]:
    return {setting: np.linspace(0.02, 0.03, 30) for setting in factor.settings}


def dependence(words: str) -> Dependence:
    check = ModelCheck(name="session", statistic=1.0, df=[1.0, 10.0], p=0.41, holds=True, words=words)
    return Dependence(level="session", units=3, check=check, share=0.01)


@cache
def all_pictures(name: str) -> dict[str, Picture | None]:
    return dict(pictures(STUDIES[name]()))


@pytest.mark.parametrize("name", STUDIES)
def test_every_picture_is_sound(name: str) -> None:
    drawn = all_pictures(name)
    # one factor has no interactions and no block without another
    assert {key for key, picture in drawn.items() if picture is None} == ({"i"} if name == "one" else set())
    for prefix, picture in drawn.items():
        if picture is not None:
            assert_sound(picture, prefix)
            assert len(picture.svg) < 80_000
            assert picture.caption.endswith((".", ")"))


def test_the_same_study_gives_the_same_bytes_in_the_colours_of_the_page() -> None:
    assert dict(pictures(STUDIES["two"]())) == all_pictures("two")
    # all colours are variables of the page
    drawn = "".join(p.svg for p in all_pictures("many").values() if p is not None)
    assert {f"var(--s{k})" for k in range(8)} <= {f"var(--s{k})" for k in range(9) if f"var(--s{k})" in drawn}
    assert "var(--s8)" not in drawn


@pytest.mark.parametrize("name", STUDIES)
def test_no_text_is_cut_or_lies_on_another(name: str) -> None:
    for prefix, picture in all_pictures(name).items():
        if picture is not None:
            boxes = list(_boxes(picture))
            width = float(ElementTree.fromstring(picture.svg).get("viewBox", "").split()[2])
            for text, left, right, _ in boxes:
                assert left > -3, (prefix, text)
                assert right < width + 3, (prefix, text)
            for one, two in combinations(boxes, 2):
                wide = min(one[2], two[2]) - max(one[1], two[1])
                assert wide < 3 or abs(one[3] - two[3]) > 0.55 * LETTERS, (prefix, one, two)


def _boxes(picture: Picture) -> Iterator[tuple[str, float, float, float]]:
    """The text, left, right and height of every text, with letters of a browser's usual width."""
    for text in ElementTree.fromstring(picture.svg).iter(f"{SVG}text"):
        width = room(text.text or "", LETTERS) * 0.9
        x, y = float(text.get("x", "")), float(text.get("y", ""))
        left = {"middle": x - width / 2, "end": x - width}.get(text.get("text-anchor", ""), x)
        yield text.text or "", left, left + width, y + ("p-middle" in text.get("class", "").split()) * 0.35 * LETTERS


def test_hostile_names_are_text_and_nothing_else() -> None:
    for prefix, picture in all_pictures("hostile").items():
        assert picture is not None, prefix
        assert "<script" not in picture.svg
        assert "\u202e" not in "".join(texts(picture)), "a name must not turn what stands beside it"
        assert "\u202e" not in picture.caption
        assert "\n" not in picture.caption


def test_nothing_to_draw_gives_no_picture() -> None:
    empty = examples.response((examples.SCHED,), mains=[], interactions=[], blocks=[], series=[], treatments=[])
    nothing = replace(examples.diagnostics(10), residuals=[])
    assert quantile_effects("q", empty, replace(examples.quantile_effects([]), models=[]), 0.95) is None
    assert quantile_effects("q", empty, examples.quantile_effects([]), 0.95) is None, "an intercept alone"
    assert residuals("r", empty, nothing) is None
    assert mains("m", empty) is None
    assert interactions("i", empty, []) is None
    assert blocks("b", empty, replace(examples.response().blocks[0], boxes=[])) is None
    assert violins("v", empty, []) is None
    assert violins("v", empty, [TreatmentValues({"sched": "cfs"}, np.ones(50))]) is None, "no spread"
    assert series("s", empty) is None
    assert boots("t", empty, "session", [], None, adjusted=False) is None
    assert boxes("x", empty, []) is None
    assert histogram("h", empty, TreatmentValues({"sched": "cfs"}, np.ones(50))) is None, "no spread"
    assert spreads("p", empty, examples.SCHED, []) is None
    assert means_by_metric("n", [empty], 0.95) is None
    assert pareto("k", empty) is None
    assert half_normal("k", empty) is None
    silent = replace(empty, lenth=examples.lenth(["a"], 7, 0.0, size=0.0))
    assert pareto("k", silent) is None, "no contrast differs from 0"
    assert half_normal("k", silent) is None
    assert sample_sizes("z", empty, replace(examples.sample_sizes(), rows=[])) is None
    assert one_way("o", empty, replace(examples.one_way(examples.SCHED), rows=[]), {}) is None


def test_numbers_of_any_size_give_none_or_a_sound_picture() -> None:
    for factor in (1e-55, 1e-40, 1e40, 1e55):
        own = examples.response((examples.LOAD, examples.SCHED))
        scaled = [TreatmentValues(s.settings, s.values * factor) for s in examples.samples(own.factors, 30)]
        found = [replace(p, value=p.value * factor) for p in own.series]
        for prefix, picture in (("v", violins("v", own, scaled)), ("s", series("s", replace(own, series=found)))):
            if picture is not None:
                assert_sound(picture, prefix)


def test_the_pareto_picture_says_what_it_leaves_out() -> None:
    own = replace(STUDIES["two"](), lenth=examples.lenth(["a", "b"], MOST_CONTRASTS + 3, 0.4))
    drawn = there(pareto("k", own))
    assert drawn.caption.endswith("3 smaller contrasts left out; the table has all.")
    shown = set(texts(drawn))
    assert own.lenth is not None
    names = [c.term for c in own.lenth.contrasts]
    assert {name for name in names if any(text.split(",")[0] == name for text in shown)} == set(names[:MOST_CONTRASTS])


def test_contrasts_beyond_the_limits_are_named_and_no_others() -> None:
    """Filtration rate, Montgomery, Design and Analysis of Experiments, example 6.2: A, AC, AD and D beyond SME, C ME."""
    own = replace(
        examples.response((examples.SCHED, examples.CLIENTS)),
        lenth=lenth(*published.frame(published.standard_order("ABCD"), [1e-3 * y for y in published.FILTRATION]), 0.95),
    )
    drawn, bars = there(half_normal("j", own)), there(pareto("k", own))
    assert {"A", "A:C", "A:D", "D", "C", "ME", "SME"} <= set(texts(drawn))
    assert not {"B", "A:B"} & set(texts(drawn))
    assert {"A", "B", "A:B", "ME 3.37 ms", "SME 6.85 ms"} <= set(texts(bars))
    assert "ME is 3.37 ms and SME is 6.85 ms." in drawn.caption
    assert "the largest A 10.8 ms, A:C 9.06 ms" in bars.svg and "4 are beyond the limit of all at once" in bars.svg
    assert (marks(bars, "pip-s0"), marks(bars, "box-s0"), marks(bars, "shell")) == (4, 1, 10)


def test_main_effects_of_a_fraction_name_what_they_cannot_be_told_from() -> None:
    factors = tuple(Factor(name=name, settings=["lo", "up"]) for name in "abcd")
    fraction = replace(examples.response(factors), lenth=examples.aliased("abcd"), linear=None)
    drawn = there(mains("u", fraction))
    # a has none, b one, c two
    assert {"a", "b, or a:x0", "c, or 2 others"} <= set(texts(drawn))
    assert "Not told apart by these treatments (*): b, or a:x0; c, or one of a:x0 and a:x1; " in drawn.caption
    assert "*" not in "".join(texts(mains("m", examples.response(factors)) or drawn))
    together = there(quantile_effects("q", fraction, examples.quantile_effects(factors), 0.95))
    assert {"a", "b, or a × x0", "c, or 2 others", "a × b"} <= set(texts(together))
    pairs = there(interactions("i", replace(fraction, lenth=examples.aliased(["c", "a:b"])), fraction.interactions))
    assert "Not told apart by these treatments: a:b, or c:x0." in pairs.caption


# --- what they share: looks, names cut to their room, labels of treatments, ticks ---


def test_looks_are_all_different_and_the_first_are_the_sides() -> None:
    looks = [PlotStyle(k) for k in range(SETTINGS * 8)]
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
