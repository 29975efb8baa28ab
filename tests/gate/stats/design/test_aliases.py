"""Alias sets: tables of published fractions, the parts of a Plackett-Burman design, and designs that have none."""

from itertools import combinations

import numpy as np
import pytest

from gate.config.fractions import burman_runs
from gate.model.study import LinearModel
from gate.stats.design.aliases import orthogonal
from gate.stats.design.linear import linear_model
from tests.gate.stats.design import published


def model(runs: list[dict[str, int]], order: int, seed: int = 1) -> LinearModel:
    values = np.random.default_rng(seed).normal(10, 1, len(runs)).tolist()
    return linear_model(*published.frame(runs, values), order, 0.95)


def table(found: LinearModel) -> dict[str, list[str]]:
    return {term.term: term.aliases for term in found.terms}


def test_a_saturated_fraction_of_resolution_three() -> None:
    """2^(7-4), Box, Hunter and Hunter 1978, table 12.5; Montgomery, example 8.7 has the same words."""
    found = table(model(published.standard_order("ABC", published.BICYCLE_GENERATORS), 1))
    assert found == {
        "A": ["B:D", "C:E", "F:G"],
        "B": ["A:D", "C:F", "E:G"],
        "C": ["A:E", "B:F", "D:G"],
        "D": ["A:B", "C:G", "E:F"],
        "E": ["A:C", "B:G", "D:F"],
        "F": ["A:G", "B:C", "D:E"],
        "G": ["A:F", "B:E", "C:D"],
    }


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


def test_a_main_effect_of_twelve_runs_holds_a_third_of_each_interaction_without_it() -> None:
    """Plackett-Burman of 12 runs; Montgomery, section 8.6.3: each main effect with 45 interactions, by +-1/3."""
    runs = [{chr(65 + k): 2 * bit - 1 for k, bit in enumerate(run)} for run in burman_runs(11)]
    found = model(runs, 1)
    names = [chr(65 + k) for k in range(11)]
    assert [term.term for term in found.terms] == names
    for term in found.terms:
        assert term.aliases == []
        without = [":".join(pair) for pair in combinations([n for n in names if n != term.term], 2)]
        assert list(term.partial_aliases) == without
        assert len(without) == 45
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
