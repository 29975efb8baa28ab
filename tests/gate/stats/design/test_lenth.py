"""Lenth's method: published analyses, what it is defined for, and how often noise alone is beyond its limits."""

import numpy as np
import pytest

from gate.model.study import Factor, Lenth
from gate.stats.design.claims import lenth, margins
from tests.gate.stats.design import published


def analysed(runs: list[dict[str, int]], values: tuple[float, ...]) -> Lenth:
    found = lenth(*published.frame(runs, values), 0.95)
    assert found is not None
    return found


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


def test_noise_alone_is_rarely_beyond_the_limits() -> None:
    """His t with a third of the contrasts as degrees of freedom is on the safe side: fewer than 5% are beyond."""
    rng = np.random.default_rng(7)
    one = family = 0
    for _ in range(4000):
        noise = np.abs(rng.normal(size=15))
        _, me, sme = margins(noise, 0.95)
        one += int((noise > me).sum())
        family += bool(noise.max() > sme)
    assert 0.02 < one / (4000 * 15) < 0.05
    assert 0.01 < family / 4000 < 0.05


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
    found = lenth(units, split, 0.95)
    assert found is not None
    assert {each.term for each in found.contrasts} == set(effects(analysed(published.standard_order("ABCD"),
                                                                           published.FILTRATION))) - {"A"}  # fmt: skip


def test_what_is_constant_has_no_noise_and_nothing_beyond_it() -> None:
    found = analysed(published.standard_order("ABC"), (0.1,) * 8)
    assert (found.pse, found.me, found.sme) == (0, 0, 0)
    assert not any(each.possible for each in found.contrasts)
