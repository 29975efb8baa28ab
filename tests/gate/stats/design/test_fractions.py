"""Published fractions: their aliases, their analyses by Lenth's method, R's BsMD and textbooks, and designs of many factors."""

from itertools import combinations
from math import prod

import numpy as np
import pytest

from gate.config.fractions import burman_runs
from gate.model.study import Factor, Lenth, LinearModel
from gate.stats.design.aliases import aliases, orthogonal
from gate.stats.design.cells import balanced, lacking
from gate.stats.design.claims import lenth
from gate.stats.design.coding import coded
from gate.stats.design.linear import linear_model
from gate.stats.design.quantiles import quantile_effects
from tests.gate.stats.design import published
from tests.support.samples import there

# --- aliases


def model(runs: list[dict[str, int]], order: int, seed: int = 1) -> LinearModel:
    values = np.random.default_rng(seed).normal(10, 1, len(runs)).tolist()
    return linear_model(*published.frame(runs, values), order, 0.95)


def table(found: LinearModel) -> dict[str, list[str]]:
    return {term.term: term.aliases for term in found.terms}


def test_a_saturated_fraction_of_resolution_three() -> None:
    """2^(7-4), Box, Hunter and Hunter 1978, table 12.5; Montgomery, example 8.7 has the same words."""
    found = table(model(published.standard_order("ABC", published.BICYCLE_GENERATORS), 1))
    assert found == {
        "A": ["B:D", "C:E", "F:G"], "B": ["A:D", "C:F", "E:G"], "C": ["A:E", "B:F", "D:G"], "D": ["A:B", "C:G", "E:F"],
        "E": ["A:C", "B:G", "D:F"], "F": ["A:G", "B:C", "D:E"], "G": ["A:F", "B:E", "C:D"],
    }  # fmt: skip


def test_a_fraction_with_interactions_in_its_model() -> None:
    """2^(5-2) with D=AB and E=AC: I = ABD = ACE = BCDE."""
    found = model(published.standard_order("ABC", {"D": "AB", "E": "AC"}), 2)
    assert table(found) == {
        "A": ["B:D", "C:E"], "B": ["A:D"], "C": ["A:E"], "D": ["A:B"], "E": ["A:C"], "B:C": ["D:E"], "B:E": ["C:D"],
    }  # fmt: skip
    assert not any(term.partial_aliases for term in found.terms), "in a regular fraction all or nothing"
    assert found.inestimable == [], "what is an alias is named once"


def test_a_higher_order_names_interactions_of_three_factors() -> None:
    """2^(4-1) with D=ABC: each main effect and one of three factors, and pairs of two."""
    runs = published.standard_order("ABC", {"D": "ABC"})
    assert table(model(runs, 2)) == {
        "A": [], "B": [], "C": [], "D": [], "A:B": ["C:D"], "A:C": ["B:D"], "A:D": ["B:C"],
    }  # fmt: skip
    third = table(model(runs, 3))
    assert third["A"] == ["B:C:D"]
    assert third["D"] == ["A:B:C"]


def plackett_burman(factors: int) -> list[dict[str, int]]:
    return [{chr(65 + k): 2 * bit - 1 for k, bit in enumerate(run)} for run in burman_runs(factors)]


def test_a_main_effect_of_twelve_runs_holds_a_third_of_each_interaction_without_it() -> None:
    """Plackett-Burman of 12 runs; Montgomery, section 8.6.3: each main effect with 45 interactions, by +-1/3."""
    runs = plackett_burman(11)
    found = model(runs, 1)
    assert [term.term for term in found.terms] == list("ABCDEFGHIJK")
    for term in found.terms:
        assert term.aliases == []
        without = [":".join(pair) for pair in combinations("ABCDEFGHIJK".replace(term.term, ""), 2)]
        assert list(term.partial_aliases) == without and len(without) == 45
        # by hand: the share is the mean product of the three columns
        products = [np.mean([run[term.term] * run[p[0]] * run[p[2]] for run in runs]) for p in without]
        assert list(term.partial_aliases.values()) == pytest.approx(products)
        assert {round(abs(part), 9) for part in term.partial_aliases.values()} == {round(1 / 3, 9)}


@pytest.mark.parametrize("order", [1, 2, 3])
def test_a_full_factorial_has_no_aliases(order: int) -> None:
    found = model(published.standard_order("ABCD"), order)
    assert all(not term.aliases and not term.partial_aliases for term in found.terms)


def test_orthogonal_designs() -> None:
    def codes(runs: list[dict[str, int]]) -> np.ndarray:
        return np.array([[(sign + 1) // 2 for sign in run.values()] for run in runs])

    assert orthogonal(codes(published.burman()), [2] * 7)
    assert orthogonal(codes(published.standard_order("ABC", published.BICYCLE_GENERATORS)), [2] * 7)
    assert not orthogonal(codes(published.burman()[1:]), [2] * 7)
    assert not orthogonal(codes(published.standard_order("AB")), [1, 1]), "nothing varies"
    # a factor of three settings can hold one of two
    three = np.array([[0, 0], [1, 0], [2, 1]])
    found = aliases(three, [3, 2], coded(three, [3, 2], 2), 2)
    assert found[0,][0] == ((1,), (0, 1))


# --- Lenth's method


def analysed(runs: list[dict[str, int]], values: tuple[float, ...], confidence: float = 0.95) -> Lenth:
    return there(lenth(*published.frame(runs, values), confidence))


def effects(found: Lenth) -> dict[str, float]:
    """Effects as textbooks have them, the whole change."""
    return {each.term: 2 * each.estimate for each in found.contrasts}


def test_the_filtration_rate_as_montgomery_has_it() -> None:
    found = analysed(published.standard_order("ABCD"), published.FILTRATION)
    assert effects(found) == pytest.approx(
        {
            "A": 21.625, "A:C": -18.125, "A:D": 16.625, "D": 14.625, "C": 9.875, "A:B:D": 4.125, "B": 3.125,
            "B:C:D": -2.625, "B:C": 2.375, "A:B:C": 1.875, "A:C:D": -1.625, "A:B:C:D": 1.375, "C:D": -1.125,
            "B:D": -0.375, "A:B": 0.125,
        }
    )  # fmt: skip
    assert list(effects(found))[:5] == ["A", "A:C", "A:D", "D", "C"], "the largest first"
    # the book prints 6.748 and 13.699 for the whole change
    assert (2 * found.pse, 2 * found.me, 2 * found.sme) == pytest.approx((2.625, 6.748, 13.699), abs=6e-4)
    assert found.df == 5
    assert [each.term for each in found.contrasts if each.active] == ["A", "A:C", "A:D", "D"]
    assert [each.term for each in found.contrasts if each.possible and not each.active] == ["C"]
    assert not any(each.aliases for each in found.contrasts)


def test_the_main_effects_of_a_plackett_burman_design() -> None:
    """Hamada and Wu 1992, table 2: F and D are the largest of the seven."""
    found = analysed(published.burman(), published.FATIGUE)
    assert effects(found) == pytest.approx(
        {"F": 0.915, "D": -0.516, "A": 0.326, "B": 0.294, "C": -0.246, "G": 0.183, "E": 0.150}, abs=1e-3
    )
    assert not any(each.aliases for each in found.contrasts), "a main effect holds parts of interactions, none whole"
    assert not any(each.active for each in found.contrasts), "the interaction of F and G hides it"


def test_it_is_for_unreplicated_two_level_designs() -> None:
    runs = published.standard_order("ABCD")
    assert lenth(*published.frame(runs, published.FILTRATION, replicates=2), 0.95) is None, "there is an error"
    units, factors = published.frame(runs, published.FILTRATION)
    assert lenth(units.iloc[1:], factors, 0.95) is None, "not orthogonal any more"
    assert lenth(units.iloc[:0], factors, 0.95) is None
    assert lenth(units, [], 0.95) is None
    two, own = published.frame(published.standard_order("AB"), (1, 2, 3, 5))
    assert lenth(two, own, 0.95) is not None
    assert lenth(two[two["f1"] == 0], own, 0.95) is None, "one contrast is too few"
    three = units.assign(f3=[0, 1, 2, 2] * 4)
    assert lenth(three, [*factors[:3], Factor(name="D", settings=[0, 1, 2])], 0.95) is None


def test_contrasts_of_builds_are_left_out_where_others_vary_within() -> None:
    """A factor by build differs by the luck of one build a setting: half of a split plot says nothing of it."""
    units, factors = published.frame(published.standard_order("ABCD"), published.FILTRATION)
    split = [Factor(name="A", settings=[-1, 1], varies="build"), *factors[1:]]
    found, every = there(lenth(units, split, 0.95)), there(lenth(units, factors, 0.95))
    assert {each.term for each in found.contrasts} == {each.term for each in every.contrasts} - {"A"}


def test_what_is_constant_has_no_noise_and_nothing_beyond_it() -> None:
    found = analysed(published.standard_order("ABC"), (0.1,) * 8)
    assert (found.pse, found.me, found.sme) == (0, 0, 0)
    assert not any(each.possible for each in found.contrasts)


# Box and Meyer 1986, as the vignette of R's BsMD prints them: 16 runs in standard order, the first factor fastest
TENSILE = (43.7, 40.2, 42.4, 44.7, 42.4, 45.9, 42.2, 40.6, 42.4, 45.5, 43.6, 40.6, 44.0, 40.2, 42.5, 46.5)
MOLDING = (14.0, 16.8, 15.0, 15.4, 27.6, 24.0, 27.4, 22.6, 22.3, 17.1, 21.5, 17.5, 15.9, 21.9, 16.7, 20.3)
ISATIN = (0.08, 0.04, 0.53, 0.43, 0.31, 0.09, 0.12, 0.36, 0.79, 0.68, 0.73, 0.08, 0.77, 0.38, 0.49, 0.23)


def test_many_factors_take_no_time_by_their_combinations() -> None:
    units, factors = published.frame(plackett_burman(23), [0.0] * 24, 2)
    units["y"] = np.random.default_rng(1).normal(0, 1, 48)
    assert lacking(units, factors) == [] and balanced(units, factors)
    assert linear_model(units, factors, 1, 0.95).residual_df == 24
    found = quantile_effects(units.assign(execution=range(48)), factors, (0.5,), order=1)
    assert len(found.models[0].effects) == 24


@pytest.mark.parametrize(
    ("y", "confidence", "pse", "me", "sme"),
    [
        (TENSILE, 0.95, 0.225, 0.5783809, 1.1741965),
        (TENSILE, 0.99, 0.225, 0.9072322, 1.6855749),
        (ISATIN, 0.95, 0.114375, 0.2940103, 0.5968832),
    ],
)
def test_limits_are_those_of_books(y: tuple[float, ...], confidence: float, pse: float, me: float, sme: float) -> None:
    found = analysed(published.standard_order("ABCD"), y, confidence)
    # effects are half the change here
    assert (2 * found.pse, 2 * found.me, 2 * found.sme) == pytest.approx((pse, me, sme), rel=1e-4)
    assert (len(found.contrasts), found.df) == (15, 5)


def test_injection_molding_has_the_effects_of_box_hunter_and_hunter() -> None:
    # a 2^(8-4) fraction: every factor is a product that holds the fourth basic column, the other way round
    made = {"A": (1,), "B": (2,), "D": (1, 2), "C": (3,), "E": (1, 3), "F": (2, 3), "G": (1, 2, 3), "H": ()}
    runs = [
        {name: -run["4"] * prod(run[str(k)] for k in columns) for name, columns in made.items()}
        for run in published.standard_order("1234")
    ]
    found = analysed(runs, MOLDING)
    told = effects(found)
    wanted = {"A": -0.7, "B": -0.1, "C": 5.5, "D": -0.3, "E": -3.8, "F": -0.1, "G": 0.6, "H": 1.2, "A:E": 4.6}
    assert {term: told[term] for term in wanted} == pytest.approx(wanted, abs=0.051)
    assert {c.term: c.aliases for c in found.contrasts if c.active} == {"C": [], "A:E": ["B:F", "D:G", "C:H"]}
    assert {c.term for c in found.contrasts if c.possible} == {"C", "A:E", "E"}
