"""Kruskal-Wallis tests by factor and within a setting (Born de Oliveira et al. 2013, 4.6).

The paper tests whether the distributions of two schedulers differ in each experiment, then whether those of each
scheduler differ between experiments: a factor's settings with the others held, and the treatments with one setting.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from gate.model.study import Factor, RankTest, Setting, Varies
from gate.stats.design.cells import Box, Cell, boxes, cells
from gate.stats.family import holm
from gate.stats.special import chdtrc

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

    Array = npt.NDArray[np.float64]

MOST = 200
"""Most combinations of the other factors at which a factor is tested by itself."""
_LEVELS: tuple[Varies, ...] = ("execution", "build", "session")


def rank_tests(units: pd.DataFrame, factors: Sequence[Factor]) -> list[RankTest]:
    """Test each factor at each combination of the others, over all of these, and each of its settings.

    Over all combinations ({}; where there are several) the statistics and the degrees of freedom of the single tests
    are added: they are independent. What is compared is units; treatments of a factor that varies by build or session
    are compared by the means of those, whose units share their luck. p by the chi-square distribution; None: fewer than
    two groups, or one unit in each. p_adjusted: by Holm over all these tests but the sums.
    """
    found = [test for k in range(len(factors)) for test in _of_factor(units, factors, k)]
    single = [k for k, test in enumerate(found) if test.p is not None and not _is_sum(test, factors)]
    shares = holm([found[k].p or 0.0 for k in single], 0.05)
    adjusted = {k: own.p_adjusted for k, own in zip(single, shares, strict=True)}
    return [msgspec.structs.replace(test, p_adjusted=adjusted.get(k)) for k, test in enumerate(found)]


def _is_sum(test: RankTest, factors: Sequence[Factor]) -> bool:
    return test.setting is None and len(test.at) < len(factors) - 1


def _of_factor(units: pd.DataFrame, factors: Sequence[Factor], factor: int) -> list[RankTest]:
    if len(factors[factor].settings) < 2:
        return []
    name = factors[factor].name
    own = boxes(cells(_at_level(units, factors, [factor]), factors), factor)
    found = []
    if len(own) <= MOST:
        found = [_test(name, None, box.at(factors), box.cells) for box in own if len(box.cells) > 1]
    if len(own) > 1:
        found.append(_sum(name, own))
    others = [k for k in range(len(factors)) if k != factor]
    if not others:
        return found
    treatments = cells(_at_level(units, factors, others), factors)
    for code, setting in enumerate(factors[factor].settings):
        group = [cell for cell in treatments if cell.codes[factor] == code]
        if len(group) > 1:
            found.append(_test(name, setting, {name: setting}, group))
    return found


def _at_level(units: pd.DataFrame, factors: Sequence[Factor], compared: Sequence[int]) -> pd.DataFrame:
    """Return the units, or the means of those that share what the factors compared vary by."""
    level = max((factors[k].varies for k in compared), key=_LEVELS.index)
    if level == "execution":
        return units
    keys = [*(f"f{k}" for k in range(len(factors))), level]
    found: pd.DataFrame = units.groupby(keys, sort=True)["y"].mean().reset_index()
    return found


def _test(factor: str, setting: Setting | None, at: dict[str, Setting], group: Sequence[Cell]) -> RankTest:
    h = statistic([cell.y for cell in group])
    return _result(factor, setting, at, len(group), h, len(group) - 1)


def _sum(factor: str, of: Sequence[Box]) -> RankTest:
    """Add up the tests of the boxes that can be tested."""
    known = [(h, len(box.cells) - 1) for box in of if (h := statistic([cell.y for cell in box.cells])) is not None]
    h = sum(h for h, _ in known) if known else None
    groups = max(len(box.cells) for box in of)
    return _result(factor, None, {}, groups, h, sum(df for _, df in known))


def _result(
    factor: str, setting: Setting | None, at: dict[str, Setting], groups: int, h: float | None, df: int
) -> RankTest:
    p = None if h is None else float(chdtrc(df, h))
    return RankTest(
        factor=factor, setting=setting, at=at, groups=groups, statistic=h, df=df if h is not None else None, p=p,
        p_adjusted=None,
    )  # fmt: skip


def statistic(groups: Sequence[Array]) -> float | None:
    """Return H of Kruskal and Wallis, corrected for ties; None of one group, or of one unit in each."""
    if len(groups) < 2 or max(map(len, groups)) < 2:
        return None
    every = np.concatenate(groups)
    if not np.ptp(every):
        return 0.0
    from scipy import stats

    return max(float(stats.kruskal(*groups).statistic), 0.0)
