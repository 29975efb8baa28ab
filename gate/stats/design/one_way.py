"""One factor at a time, the others held: tables in the form of SCHED.

SCHED is graysky's comparison of two CPU schedulers of 2012: one-way analyses with quantiles and Tukey-Kramer
comparisons in its appendix, and before them tables of how much faster the second setting is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from gate.model import Better
from gate.model.study import (
    Factor,
    OneWay,
    OneWayRow,
    PercentRow,
    RankTest,
    Setting,
    SpreadTest,
    Stratum,
    Varies,
)
from gate.stats.design.cells import HAIR, TreatmentCell, boxes, cells, complete, sd
from gate.stats.design.tukey import tukey_kramer
from gate.stats.levels import Tops
from gate.stats.ratio import LogPair, unpaired
from gate.stats.rounding import Array, smallest_step
from gate.stats.sequential import holm
from gate.stats.special import chdtrc, fdtr, fdtrc

if TYPE_CHECKING:
    import pandas as pd

QUANTILES = {"minimum": 0.0, "10%": 0.1, "25%": 0.25, "median": 0.5, "75%": 0.75, "90%": 0.9, "maximum": 1.0}
"""The columns of a one-way table."""
MOST_TABLES = 200
"""Most combinations of the other factors that have a table each."""


def one_ways(
    units: pd.DataFrame, factors: Sequence[Factor], confidence: float, *, errors: Mapping[str, Stratum] | None = None,
) -> list[OneWay]:  # fmt: skip
    """Return a table of each factor at each combination of the others, then one over the combinations ({}).

    Quantiles are those of JMP, which SCHED used: the value at rank (n + 1) tau (Hyndman and Fan's definition 6), so
    that those of few units are the ends. Comparisons take the variance within treatments for common. letters: "a" is
    with the lowest mean; none where nothing is known of the variance, or where they would be more than can be read
    (gate.stats.design.tukey). Of more than 200 pairs of settings the 200 farthest apart are listed. A factor with
    more than MOST_TABLES combinations of the others has the table over all only.

    The table over all ({}; where there are several combinations) is of those combinations at which every setting was
    measured. Its means are means of treatment means, so that settings are compared like with like, and its comparisons
    rest on the variance within treatments; quantiles and sd are of all its units, other factors' effects among them.

    Args:
        errors: of factors that are compared by another error than that within the treatments of the table: the strata.
    """
    of, given = cells(units, factors), errors or {}
    found = []
    for k, factor in enumerate(factors):
        own = boxes(of, k)
        compared = [([box], box.at(factors)) for box in own] if len(own) <= MOST_TABLES else []
        whole = complete(own)
        if len(own) > 1 and whole:
            compared.append((whole, {}))
        for each, at in compared:
            groups = list(zip(*(box.cells for box in each), strict=True))
            names = [factor.settings[code] for code in each[0].codes]
            inside = [cell for group in groups for cell in group]
            df: float | None = sum(len(cell.y) - 1 for cell in inside)
            variance: float | None = sum(cell.squares for cell in inside) / max(df or 0, 1)
            if (error := given.get(factor.name)) is not None:
                variance, df = error.mean_square, error.df
            # of treatment means
            means = np.array([sum(cell.mean for cell in group) / len(each) for group in groups])
            shares = np.array([sum(1 / len(cell.y) for cell in group) / len(each) ** 2 for group in groups])
            pairs, letters = tukey_kramer(names, means, shares, variance or 0.0, df or 0.0, confidence)
            rows = []
            for setting, group, mean, word in zip(names, groups, means.tolist(), letters, strict=True):
                y = np.concatenate([cell.y for cell in group])
                ends = np.quantile(y, list(QUANTILES.values()), method="weibull").tolist()
                told = dict(zip(QUANTILES, ends, strict=True))
                rows.append(OneWayRow(setting=setting, count=len(y), mean=mean, sd=sd(y), quantiles=told, letters=word))
            found.append(OneWay(factor=factor.name, at=at, rows=rows, pairs=pairs))
    return found


def percents(
    units: pd.DataFrame, factors: Sequence[Factor], better: Better, confidence: float, *, unit: str, log: bool = False,
) -> list[PercentRow]:  # fmt: skip
    """Compare each setting with the first one of its factor, at each combination of the others.

    The first is the first that was measured anywhere; combinations without it have no row. unit: the response's base
    unit; of seconds of which less is better less is "faster", of anything else it is "lower". log: y is ln(value);
    means and differences stay on that scale, percent is that of the geometric means.

    The interval of percent is Fieller's for a ratio of means, each side by itself with Satterthwaite's degrees (Welch),
    of logarithms the t interval of their difference. It is nominal for its row. Words say "not clearly" where it holds
    0 or has no ends.
    """
    of = cells(units, factors)
    names = ("faster", "slower") if unit == "s" and better == "lower" else ("lower", "higher")
    rows = []
    for k, factor in enumerate(factors):
        base = min((cell.codes[k] for cell in of), default=0)
        for box in boxes(of, k):
            first, *others = box.cells
            if box.codes[0] != base:
                continue
            for other in others:
                percent, low, high, clear = _change(first, other, confidence, log=log)
                means = first.mean, other.mean
                if abs(means[1] - means[0]) <= HAIR * max(map(abs, means)):
                    words = "no difference"
                else:
                    words = names[0] if means[1] < means[0] else names[1]
                    if percent is not None:
                        size = 100 * abs(percent)
                        amount = "less than 0.1" if size < 0.05 else f"{size:.1f}" if size < 99.95 else f"{size:.0f}"
                        words = f"{amount}% {words}"
                    words += "" if clear else ", not clearly"
                rows.append(
                    PercentRow(
                        factor=factor.name,
                        at=box.at(factors),
                        first=factor.settings[base],
                        second=factor.settings[other.codes[k]],
                        first_mean=means[0],
                        second_mean=means[1],
                        difference=means[1] - means[0],
                        percent=percent,
                        low=low,
                        high=high,
                        words=words,
                    )
                )
    return rows


def _change(
    first: TreatmentCell, second: TreatmentCell, confidence: float, *, log: bool
) -> tuple[float | None, float | None, float | None, bool]:
    """Return the share that the second mean is above the first, None where there is none, and the limits of that share.

    The last says whether the interval leaves out 0; where there is no share, that of the difference.
    """
    # a power of two changes nothing but keeps squares within floats
    largest = max(float(np.abs(cell.y).max()) for cell in (first, second))
    scale = 1.0 if log else math.ldexp(1.0, math.frexp(largest)[1] - 1)
    values = [cell.y / scale for cell in (first, second)]
    means = unpaired(*(Tops(y, tuple(range(len(y))), smallest_step(np.sort(y), log=log), log) for y in values))
    x, y, alpha = first.mean, second.mean, 1 - confidence
    if x <= 0 and not log:
        limits, percent, none = means.difference_limits(alpha), None, 0.0
    else:
        percent = math.exp(min(y - x, 700.0)) - 1 if log else y / x - 1
        limits, none = (LogPair(means) if log else means).limits(alpha), 1.0
    if limits.low is None or limits.high is None:
        return percent, None, None, False
    clear = not limits.low <= none <= limits.high
    return (None, None, None, clear) if percent is None else (percent, limits.low - 1, limits.high - 1, clear)


Group = Sequence[TreatmentCell]
"""The treatments with one setting of a factor."""


def spreads(units: pd.DataFrame, factors: Sequence[Factor]) -> list[SpreadTest]:
    """Compare the variances of each factor's settings, at each combination of the others and over all of them.

    For two settings the variance ratio second/first with its two-sided F test, which takes values for normal; for two
    and more Levene's test on distances from the median (Brown and Forsythe 1974), which hardly does. Over all
    combinations ({}; where there are several) each treatment's own mean or median is taken off; where another factor
    changes the spread too, that is an average over unlike variances. A treatment of one unit does not count. What
    cannot be told is None.
    """
    of = [cell for cell in cells(units, factors) if len(cell.y) > 1]
    found = []
    for k, factor in enumerate(factors):
        apart = boxes(of, k)
        compared: list[tuple[dict[str, Setting], list[Group]]] = [
            (box.at(factors), [[cell] for cell in box.cells]) for box in apart if len(box.cells) > 1
        ]
        codes = sorted({cell.codes[k] for cell in of})
        if len(apart) > 1 and len(codes) > 1:
            compared.append(({}, [[cell for cell in of if cell.codes[k] == code] for code in codes]))
        for at, groups in compared:
            ratio, p = variance_ratio(*groups) if len(groups) == 2 else (None, None)
            found.append(SpreadTest(factor=factor.name, at=at, ratio=ratio, f_p=p, levene_p=brown_forsythe(groups)))
    return found


def variance_ratio(first: Group, second: Group) -> tuple[float, float] | tuple[None, None]:
    """Return the variance around treatment means of the second group over that of the first, and its two-sided p.

    None where one is 0, as no variance of normal values is.
    """
    d1, d2 = (sum(len(cell.y) - 1 for cell in group) for group in (first, second))
    s1, s2 = (sum(cell.squares for cell in group) for group in (first, second))
    if not (s1 > 0 and s2 > 0):
        return None, None
    ratio = (s2 / d2) / (s1 / d1)
    return ratio, min(1.0, 2 * float(min(fdtr(d2, d1, ratio), fdtrc(d2, d1, ratio))))


def brown_forsythe(groups: Sequence[Group]) -> float | None:
    """Return the p of equal mean distances from the treatments' medians, by analysis of variance.

    Treatments of two units are left out, since both distances of a pair are the same number. None where a group is then
    empty, or distances do not vary within groups.
    """
    kept = [[cell.y for cell in group if len(cell.y) > 2] for group in groups]
    if len(kept) < 2 or not all(kept):
        return None
    from scipy import stats

    # in shares of the largest value, so that squares are floats
    largest = max(float(np.abs(y).max()) for group in kept for y in group) or 1.0
    away = [np.concatenate([np.abs(y / largest - np.median(y / largest)) for y in group]) for group in kept]
    if sum(float(((z - z.mean()) ** 2).sum()) for z in away) <= sum(map(len, away)) * HAIR**2:
        return None
    return float(stats.f_oneway(*away).pvalue)


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
    found: list[RankTest] = []
    single: list[int] = []

    def test(
        factor: str,
        setting: Setting | None,
        at: dict[str, Setting],
        groups: Sequence[Sequence[TreatmentCell]],
        *,
        alone: bool,
    ) -> None:
        known = [(h, len(own) - 1) for own in groups if (h := statistic([cell.y for cell in own])) is not None]
        h, df = sum(h for h, _ in known), sum(df for _, df in known)
        if alone and known:
            single.append(len(found))
        found.append(
            RankTest(
                factor=factor, setting=setting, at=at, groups=max(map(len, groups)), statistic=h if known else None,
                df=df if known else None, p=float(chdtrc(df, h)) if known else None, p_adjusted=None,
            )
        )  # fmt: skip

    for k, factor in enumerate(factors):
        if len(factor.settings) < 2:
            continue
        own = boxes(cells(_at_level(units, factors, [k]), factors), k)
        for box in own if len(own) <= MOST else ():
            if len(box.cells) > 1:
                test(factor.name, None, box.at(factors), [box.cells], alone=True)
        if len(own) > 1:
            test(factor.name, None, {}, [box.cells for box in own], alone=False)
        others = [other for other in range(len(factors)) if other != k]
        treatments = cells(_at_level(units, factors, others), factors) if others else []
        for code, setting in enumerate(factor.settings):
            group = [cell for cell in treatments if cell.codes[k] == code]
            if len(group) > 1:
                test(factor.name, setting, {factor.name: setting}, [group], alone=True)
    shares = holm([found[k].p or 0.0 for k in single], 0.05)
    adjusted = {k: own.p_adjusted for k, own in zip(single, shares, strict=True)}
    return [msgspec.structs.replace(each, p_adjusted=adjusted.get(k)) for k, each in enumerate(found)]


def _at_level(units: pd.DataFrame, factors: Sequence[Factor], compared: Sequence[int]) -> pd.DataFrame:
    """Return the units, or the means of those that share what the factors compared vary by."""
    level = max((factors[k].varies for k in compared), key=_LEVELS.index)
    if level == "execution":
        return units
    keys = [*(f"f{k}" for k in range(len(factors))), level]
    found: pd.DataFrame = units.groupby(keys, sort=True)["y"].mean().reset_index()
    return found


def statistic(groups: Sequence[Array]) -> float | None:
    """Return H of Kruskal and Wallis, corrected for ties; None of one group, or of one unit in each."""
    if len(groups) < 2 or max(map(len, groups)) < 2:
        return None
    every = np.concatenate(groups)
    if not np.ptp(every):
        return 0.0
    from scipy import stats

    return max(float(stats.kruskal(*groups).statistic), 0.0)
