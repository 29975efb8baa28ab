"""Lenth's method against published numbers: R's BsMD package, Montgomery, and analyses of published fractions."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from gate.config.fractions.designs import burman_runs
from gate.model.study import Factor
from gate.stats.design.lenth import lenth, margins

# Box and Meyer 1986, as the vignette of R's BsMD prints them: 16 runs in standard order, the first factor fastest
TENSILE = [43.7, 40.2, 42.4, 44.7, 42.4, 45.9, 42.2, 40.6, 42.4, 45.5, 43.6, 40.6, 44.0, 40.2, 42.5, 46.5]
MOLDING = [14.0, 16.8, 15.0, 15.4, 27.6, 24.0, 27.4, 22.6, 22.3, 17.1, 21.5, 17.5, 15.9, 21.9, 16.7, 20.3]
ISATIN = [0.08, 0.04, 0.53, 0.43, 0.31, 0.09, 0.12, 0.36, 0.79, 0.68, 0.73, 0.08, 0.77, 0.38, 0.49, 0.23]
# Montgomery, Design and Analysis of Experiments, example 6.2, the first factor fastest
FILTRATION = [45, 71, 48, 65, 68, 60, 80, 65, 43, 100, 45, 104, 75, 86, 70, 96]

BASIC = np.array([each[::-1] for each in product((0, 1), repeat=4)])


def frame(codes: np.ndarray, y: list[float]) -> pd.DataFrame:
    return pd.DataFrame({f"f{k}": column for k, column in enumerate(codes.T)}).assign(y=np.array(y, dtype=float))


def named(letters: str, **varies: str) -> list[Factor]:
    return [Factor(name=letter, settings=["-", "+"], varies=varies.get(letter, "execution")) for letter in letters]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("y", "confidence", "pse", "me", "sme"),
    [
        (TENSILE, 0.95, 0.225, 0.5783809, 1.1741965),
        (TENSILE, 0.99, 0.225, 0.9072322, 1.6855749),
        (ISATIN, 0.95, 0.114375, 0.2940103, 0.5968832),
        (FILTRATION, 0.95, 2.625, 6.748, 13.699),
    ],
)
def test_limits_are_those_of_r_and_of_textbooks(
    y: list[float], confidence: float, pse: float, me: float, sme: float
) -> None:
    found = lenth(frame(BASIC, y), named("ABCD"), confidence)
    assert found is not None
    # effects are half the change here
    assert (2 * found.pse, 2 * found.me, 2 * found.sme) == pytest.approx((pse, me, sme), rel=1e-4)
    assert (len(found.contrasts), found.df) == (15, 5)


def test_the_filtration_rate_depends_on_what_montgomery_says() -> None:
    found = lenth(frame(BASIC, FILTRATION), named("ABCD"), 0.95)
    assert found is not None
    told = {c.term: 2 * c.estimate for c in found.contrasts}
    published = {"A": 21.625, "B": 3.125, "C": 9.875, "D": 14.625, "A:C": -18.125, "A:D": 16.625, "A:B:D": 4.125}
    assert {term: told[term] for term in published} == pytest.approx(published)
    assert {c.term for c in found.contrasts if c.active} == {"A", "D", "A:C", "A:D"}
    assert {c.term for c in found.contrasts if c.possible} == {"A", "C", "D", "A:C", "A:D"}
    assert [abs(c.estimate) for c in found.contrasts] == sorted(
        (abs(c.estimate) for c in found.contrasts), reverse=True
    )


def test_injection_molding_has_the_effects_of_box_hunter_and_hunter() -> None:
    # a 2^(8-4) fraction: every factor is a product that holds the fourth basic column, the other way round
    signs = 2 * BASIC - 1
    one, two, three, four = signs.T
    made = [one, two, one * two, three, one * three, two * three, one * two * three, np.ones(16, int)]
    codes = (1 - np.column_stack([four * column for column in made])) // 2
    found = lenth(frame(codes, MOLDING), named("ABDCEFGH"), 0.95)
    assert found is not None
    told = {c.term: 2 * c.estimate for c in found.contrasts}
    published = {"A": -0.7, "B": -0.1, "C": 5.5, "D": -0.3, "E": -3.8, "F": -0.1, "G": 0.6, "H": 1.2, "A:E": 4.6}
    assert {term: told[term] for term in published} == pytest.approx(published, abs=0.051)
    assert {c.term: c.aliases for c in found.contrasts if c.active} == {"C": [], "A:E": ["B:F", "D:G", "C:H"]}
    assert {c.term for c in found.contrasts if c.possible} == {"C", "A:E", "E"}


def test_cast_fatigue_has_the_main_effects_of_hunter_hodi_and_eager() -> None:
    # Hunter, Hodi and Eager 1982; Hamada and Wu 1992: 12 runs, 7 factors, the rows moved to the left
    first = [1, 1, 0, 1, 1, 1, 0, 0, 0, 1, 0]
    codes = np.array([*([first[(j + i) % 11] for j in range(7)] for i in range(11)), [0] * 7])
    y = [6.058, 4.733, 4.625, 5.899, 7.000, 5.752, 5.682, 6.607, 5.818, 5.917, 5.863, 4.809]
    assert {tuple(run) for run in codes.tolist()} <= {tuple(run[:7]) for run in _moved()}
    found = lenth(frame(codes, y), named("ABCDEFG"), 0.95)
    assert found is not None
    told = {c.term: 2 * c.estimate for c in found.contrasts}
    published = {"A": 0.326, "B": 0.294, "C": -0.246, "D": -0.516, "E": 0.150, "F": 0.915, "G": 0.183}
    assert told == pytest.approx(published, abs=0.0006)
    assert found.contrasts[0].term == "F"
    assert not any(c.active for c in found.contrasts), "the interaction of F and G hides it"


def _moved() -> list[tuple[int, ...]]:
    return [tuple(run) for run in burman_runs(11)]


def test_contrasts_name_what_they_cannot_be_told_from() -> None:
    codes = np.column_stack((BASIC[:, :3], BASIC[:, :3].sum(axis=1) % 2))[:8]
    found = lenth(frame(codes, [1, 5, 2, 6, 1, 5, 2, 7]), named("ABCD"), 0.95)
    assert found is not None
    assert {c.term: c.aliases for c in found.contrasts} == {
        "A": [], "B": [], "C": [], "D": [], "A:B": ["C:D"], "A:C": ["B:D"], "A:D": ["B:C"],
    }  # fmt: skip


def test_there_is_none_where_units_repeat_or_factors_have_more_settings() -> None:
    twice = pd.concat([frame(BASIC, TENSILE)] * 2, ignore_index=True)
    assert lenth(twice, named("ABCD"), 0.95) is None
    three = frame(np.array([[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1]]), [1, 2, 3, 4, 5, 6])
    assert lenth(three, [Factor(name="n", settings=[1, 2, 3]), *named("B")], 0.95) is None
    assert lenth(frame(BASIC[:15], TENSILE[:15]), named("ABCD"), 0.95) is None, "a treatment is lacking"


def test_contrasts_of_builds_are_left_out() -> None:
    found = lenth(frame(BASIC, TENSILE), named("ABCD", A="build", B="build"), 0.95)
    assert found is not None
    assert not {"A", "B", "A:B"} & {c.term for c in found.contrasts}
    assert len(found.contrasts) == 12
    whole = lenth(frame(BASIC, TENSILE), named("ABCD", A="build", B="build", C="build", D="build"), 0.95)
    assert whole is not None
    assert len(whole.contrasts) == 15


def test_noise_alone_is_hardly_ever_called_active() -> None:
    rng = np.random.default_rng(7)
    for count in (7, 15, 31):
        called = [
            bool((np.abs(own) > margins(own, 0.95).sme).any()) for own in rng.normal(0, 1, (2000, count))
        ]  # fmt: skip
        assert np.mean(called) < 0.05
