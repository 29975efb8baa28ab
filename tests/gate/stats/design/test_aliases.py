"""Alias sets against published tables, and by simulation; partial aliases of Plackett-Burman designs."""

import numpy as np
import pandas as pd
import pytest

from gate.config.fractions.designs import burman_runs, fraction_runs, minimum_aberration
from gate.config.fractions.words import generator
from gate.model.study import Factor
from gate.stats.design.aliases import aliases, orthogonal, saturated
from gate.stats.design.cells import balanced, lacking
from gate.stats.design.coding import coded
from gate.stats.design.linear import linear_model
from gate.stats.design.quantiles import quantile_effects

LETTERS = "ABCDEFGHJKLM"


def named(codes: np.ndarray, order: int = 2) -> dict[str, list[str]]:
    model = coded(codes, [2] * codes.shape[1], order)
    found = aliases(codes, [2] * codes.shape[1], model, order)
    return {_name(term): [_name(each) for each in own.full] for term, own in found.items()}


def _name(factors: tuple[int, ...]) -> str:
    return "".join(LETTERS[factor] for factor in factors)


def tabled(factors: int, generated: int) -> np.ndarray:
    made = minimum_aberration(factors, generated)
    assert made is not None
    return np.array(fraction_runs(factors, made))


def test_a_quarter_fraction_has_the_aliases_that_are_published() -> None:
    # Montgomery, Design and Analysis of Experiments, table 8.8: 2^(6-2) with E=ABC, F=BCD
    runs = fraction_runs(6, [generator(text, [*"ABCDEF"]) for text in ("E=ABC", "F=BCD")])
    assert named(np.array(runs)) == {
        "A": [], "B": [], "C": [], "D": [], "E": [], "F": [],
        "AB": ["CE"], "AC": ["BE"], "AD": ["EF"], "AE": ["BC", "DF"], "AF": ["DE"], "BD": ["CF"], "BF": ["CD"],
    }  # fmt: skip


def test_a_saturated_fraction_has_the_aliases_that_are_published() -> None:
    # Montgomery, table 8.13: 2^(7-4) of resolution III
    found = named(tabled(7, 4), 1)
    assert found == {
        "A": ["BD", "CE", "FG"],
        "B": ["AD", "CF", "EG"],
        "C": ["AE", "BF", "DG"],
        "D": ["AB", "CG", "EF"],
        "E": ["AC", "BG", "DF"],
        "F": ["AG", "BC", "DE"],
        "G": ["AF", "BE", "CD"],
    }


def test_a_full_factorial_has_no_aliases() -> None:
    codes = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)])
    assert not any(named(codes, 3).values())


def test_resolution_v_separates_all_interactions_of_two() -> None:
    found = named(tabled(5, 1))
    assert len(found) == 15
    assert not any(found.values())


@pytest.mark.parametrize("turned", [range(7), [0]])
def test_a_foldover_separates_main_effects_from_interactions(turned: range | list[int]) -> None:
    first = tabled(7, 4)
    second = first.copy()
    second[:, list(turned)] ^= 1
    found = named(np.vstack((first, second)))
    if len(turned) == 7:
        assert not any(found[letter] for letter in LETTERS[:7])
    else:
        # the fold of one factor separates it and all of its interactions
        assert not [term for term in found if "A" in term and found[term]]
        assert not [other for own in found.values() for other in own if "A" in other]


def test_plackett_burman_main_effects_hold_a_third_of_all_other_interactions() -> None:
    # Montgomery, 8.8.4 "nonregular"; Hamada and Wu 1992
    codes = np.array(burman_runs(11))
    found = aliases(codes, [2] * 11, coded(codes, [2] * 11, 1), 1)
    for (factor,), own in found.items():
        assert own.full == ()
        assert len(own.partial) == 45
        assert not [pair for pair in own.partial if factor in pair]
        assert np.abs(np.abs(list(own.partial.values())) - 1 / 3).max() < 1e-9


def test_a_partial_alias_is_what_an_interaction_adds_to_an_estimate() -> None:
    codes = np.array(burman_runs(11))
    signs = 2 * codes - 1
    model = coded(codes, [2] * 11, 1)
    found = aliases(codes, [2] * 11, model, 2)
    estimated = np.linalg.lstsq(model.matrix, (signs[:, 2] * signs[:, 5]).astype(float), rcond=None)[0]
    for (factor,), own in found.items():
        assert own.partial.get((2, 5), 0.0) == pytest.approx(estimated[1 + factor], abs=1e-9)


def test_a_factor_of_three_settings_can_hold_one_of_two() -> None:
    codes = np.array([[0, 0], [1, 0], [2, 1]])
    found = aliases(codes, [3, 2], coded(codes, [3, 2], 2), 2)
    assert found[0,].full == ((1,), (0, 1))


def test_orthogonal_designs_are_known() -> None:
    assert orthogonal(np.array(burman_runs(11)), [2] * 11)
    assert orthogonal(tabled(7, 4), [2] * 7)
    assert orthogonal(np.array([[a, b, (a + b) % 3] for a in range(3) for b in range(3)]), [3] * 3)
    assert not orthogonal(np.array([[0, 0], [0, 1], [1, 0]]), [2, 2])
    assert not orthogonal(np.array([[0, 0], [0, 1]]), [2, 2]), "a setting that no treatment has"


def test_saturated_models_have_a_contrast_for_each_degree_of_freedom() -> None:
    for codes, contrasts in ((tabled(7, 3), 15), (tabled(7, 4), 7), (np.array(burman_runs(8)), 8)):
        model = saturated(codes, [2] * codes.shape[1])
        assert model is not None
        assert model.matrix.shape[1] - 1 == contrasts


def units(codes: np.ndarray, y: np.ndarray, copies: int = 1) -> pd.DataFrame:
    frame = pd.DataFrame({f"f{k}": column for k, column in enumerate(codes.T)})
    return pd.concat([frame] * copies, ignore_index=True).assign(y=y)


def test_the_linear_model_names_aliases_and_a_fraction_lacks_nothing() -> None:
    codes = tabled(5, 2)
    factors = [Factor(name=letter, settings=["-", "+"]) for letter in "ABCDE"]
    frame = units(codes, np.random.default_rng(1).normal(0, 1, 16), 2)
    model = linear_model(frame, factors, 2, 0.95)
    assert {term.term: term.aliases for term in model.terms} == {
        "A": ["B:D", "C:E"], "B": ["A:D"], "C": ["A:E"], "D": ["A:B"], "E": ["A:C"], "B:C": ["D:E"], "B:E": ["C:D"],
    }  # fmt: skip
    assert model.inestimable == []
    assert balanced(frame, factors)
    assert lacking(frame, factors) == []


def test_many_factors_take_no_time_by_their_combinations() -> None:
    codes = np.array(burman_runs(23))
    factors = [Factor(name=f"x{k}", settings=[0, 1]) for k in range(23)]
    frame = units(codes, np.random.default_rng(1).normal(0, 1, 48), 2)
    assert lacking(frame, factors) == []
    assert balanced(frame, factors)
    model = linear_model(frame, factors, 1, 0.95)
    assert model.residual_df == 24
    found = quantile_effects(frame.assign(execution=range(48)), factors, (0.5,), order=1)
    assert len(found.models[0].effects) == 24
