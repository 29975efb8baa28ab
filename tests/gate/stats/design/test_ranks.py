import numpy as np
import pytest
from scipy import stats

from gate.stats.design.spreads import kruskal
from tests.support.units_frame import TENSION, WOOL, about, crossed, factors, frame, warpbreaks

# R 4.2.2: q <- airquality[!is.na(airquality$Ozone),]; for (m in 5:9) q$Ozone[q$Month==m]
OZONE = (
    (41, 36, 12, 18, 28, 23, 19, 8, 7, 16, 11, 14, 18, 14, 34, 6, 30, 11, 1, 11, 4, 32, 23, 45, 115, 37),
    (29, 71, 39, 23, 21, 37, 20, 12, 13),
    (135, 49, 32, 64, 40, 77, 97, 97, 85, 10, 27, 7, 48, 35, 61, 79, 63, 16, 80, 108, 20, 52, 82, 50, 64, 59),
    (39, 9, 16, 78, 35, 66, 122, 89, 110, 44, 28, 65, 22, 59, 23, 31, 44, 21, 9, 45, 168, 73, 76, 118, 84, 85),
    (96, 78, 73, 91, 47, 32, 20, 23, 21, 24, 44, 21, 28, 9, 13, 46, 18, 13, 24, 16, 13, 23, 36, 7, 14, 30, 14, 18, 20),
)


def test_airquality_as_r_has_it() -> None:
    check = kruskal(frame({(k,): [float(v) for v in y] for k, y in enumerate(OZONE)}), factors(5))
    # kruskal.test(Ozone ~ Month, airquality)
    assert (check.statistic, check.df, check.p) == (
        about(29.2665763061169, rel=1e-12),
        [4.0],
        about(6.90071411854678e-06, rel=1e-10),
    )
    assert not check.holds
    assert check.words == "at least one treatment differs from the others (p < 0.001)"


def test_treatments_are_combinations_of_settings() -> None:
    units = warpbreaks()
    check = kruskal(units, [WOOL, TENSION])
    test = stats.kruskal(*(g["y"] for _, g in units.groupby(["f0", "f1"])))
    assert (check.statistic, check.p, check.df) == (about(test.statistic), about(test.pvalue), [5.0])


def test_no_difference_is_said_so_and_few_units_too() -> None:
    check = kruskal(frame({(0,): [1.0, 4.0, 5.0], (1,): [2.0, 3.0, 6.0]}), factors(2))
    assert check.holds and check.p is not None and check.p > 0.5
    assert (
        check.words
        == "no difference between treatments is shown (p = 0.83; p is rough, since a treatment has fewer than 5 units)"
    )


def test_confidence_decides() -> None:
    units = frame({(0,): [1.0, 2.0, 3.0, 4.0, 7.0], (1,): [5.0, 6.0, 8.0, 9.0, 10.0]})
    loose, strict = (kruskal(units, factors(2), confidence=c) for c in (0.95, 0.99))
    assert loose.p == strict.p == pytest.approx(0.02828, abs=1e-5)
    assert (loose.holds, strict.holds) == (False, True)
    assert loose.words == "at least one treatment differs from the others (p = 0.028)"


def test_equal_values_give_a_p_of_1() -> None:
    check = kruskal(crossed((2, 2), lambda _: [3.0, 3.0]), factors(2, 2))
    assert (check.statistic, check.p, check.holds) == (0.0, 1.0, True)


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ({(0,): []}, "not tested: needs two treatments"),
        ({(0,): [1.0, 2.0, 3.0]}, "not tested: needs two treatments"),
        ({(0,): [1.0], (1,): [2.0]}, "not tested: needs more than one unit in a treatment"),
    ],
)
def test_too_few(groups: dict[tuple[int, ...], list[float]], words: str) -> None:
    check = kruskal(frame(groups), factors(2))
    assert (check.statistic, check.p, check.words) == (None, None, words)


def test_it_cries_wolf_as_often_as_it_may() -> None:
    rng = np.random.default_rng(2)
    found = [
        kruskal(crossed((2, 2), lambda _: rng.exponential(size=8).round(1).tolist()), factors(2, 2)).holds
        for _ in range(600)
    ]
    assert 0.02 < found.count(False) / 600 < 0.08
