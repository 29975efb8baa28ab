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
from gate.model.study import AgainstFirst, Factor, OneWay, OneWayRow, PairwiseDifference, PercentRow, Setting
from gate.stats.design.cells import HAIR, Box, Cell, boxes, cells, complete, sd
from gate.stats.design.tukey import Mean, against_first, tukey_kramer
from gate.stats.levels import Tops
from gate.stats.ratio import Limits, LogPair, unpaired
from gate.stats.rounding import smallest_step

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

    Array = npt.NDArray[np.float64]

QUANTILES = {"minimum": 0.0, "10%": 0.1, "25%": 0.25, "median": 0.5, "75%": 0.75, "90%": 0.9, "maximum": 1.0}
"""The columns of a one-way table."""
MOST_TABLES = 200
"""Most combinations of the other factors that have a table each."""


class Error(msgspec.Struct, frozen=True):
    """What comparisons of a factor rest on: the variance of one unit, on df degrees of freedom."""

    variance: float
    df: float


def one_ways(
    units: pd.DataFrame,
    factors: Sequence[Factor],
    confidence: float,
    *,
    errors: Mapping[str, Error] | None = None,
    log: bool = False,
) -> list[OneWay]:
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
        errors: of factors that are compared by another error than that within the treatments of the table.
        log: y is ln(value), so that a difference is a percentage of the value.
    """
    of, given = cells(units, factors), errors or {}
    found = []
    for k, factor in enumerate(factors):
        own = boxes(of, k)
        compared = [([box], box.at(factors)) for box in own] if len(own) <= MOST_TABLES else []
        whole = complete(own)
        if len(own) > 1 and whole:
            compared.append((whole, {}))
        found += [_table(each, factor, at, confidence, given.get(factor.name), log=log) for each, at in compared]
    return found


def _table(
    of: Sequence[Box], factor: Factor, at: dict[str, Setting], confidence: float, error: Error | None, *, log: bool
) -> OneWay:
    """Make a table of boxes that all have the same settings of the factor."""
    groups = list(zip(*(box.cells for box in of), strict=True))
    own = [factor.settings[code] for code in of[0].codes]
    error = error or _within([cell for group in groups for cell in group])
    # of treatment means
    means = [
        Mean(sum(cell.mean for cell in group) / len(of), sum(1 / len(cell.y) for cell in group) / len(of) ** 2)
        for group in groups
    ]
    compared = tukey_kramer(means, error.variance, error.df, confidence)
    against = against_first(means, error.variance, error.df, confidence) if len(means) > 2 else []
    first, firsts = means[0].value, []
    for each in against:
        change = each.difference
        share = math.expm1(min(change, 700.0)) if log else change / first if first > 0 else None
        firsts.append(
            AgainstFirst(
                setting=own[each.second], difference=change, percent=share, low=each.low, high=each.high, p=each.p
            )
        )
    return OneWay(
        factor=factor.name,
        at=at,
        rows=[
            _row(setting, group, mean.value, word)
            for setting, group, mean, word in zip(own, groups, means, compared.letters, strict=True)
        ],
        pairs=[
            PairwiseDifference(
                a=own[pair.first], b=own[pair.second], difference=pair.difference, low=pair.low, high=pair.high,
                p=pair.p,
            )
            for pair in compared.pairs
        ],
        firsts=firsts,
    )  # fmt: skip


def _within(every: Sequence[Cell]) -> Error:
    df = sum(len(cell.y) - 1 for cell in every)
    return Error(sum(cell.squares for cell in every) / max(df, 1), df)


def _row(setting: Setting, group: Sequence[Cell], mean: float, word: str) -> OneWayRow:
    y = np.concatenate([cell.y for cell in group])
    quantiles = np.quantile(y, list(QUANTILES.values()), method="weibull").tolist()
    return OneWayRow(
        setting=setting,
        count=len(y),
        mean=mean,
        sd=sd(y),
        quantiles=dict(zip(QUANTILES, quantiles, strict=True)),
        letters=word,
    )


def percents(
    units: pd.DataFrame,
    factors: Sequence[Factor],
    better: Better,
    confidence: float,
    *,
    unit: str,
    log: bool = False,
) -> list[PercentRow]:
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
                change = _change(first, other, confidence, log=log)
                rows.append(
                    PercentRow(
                        factor=factor.name,
                        at=box.at(factors),
                        first=factor.settings[base],
                        second=factor.settings[other.codes[k]],
                        first_mean=change.first,
                        second_mean=change.second,
                        difference=change.second - change.first,
                        percent=change.percent,
                        low=change.low,
                        high=change.high,
                        words=_words(change, *names),
                    )
                )
    return rows


class _Change(msgspec.Struct, frozen=True):
    """Two means, the share that the second is above the first, None where there is none, and the limits of that share.

    clear: whether the interval leaves out 0; where there is no share, that of the difference.
    """

    first: float
    second: float
    percent: float | None
    low: float | None
    high: float | None
    clear: bool


def _change(first: Cell, second: Cell, confidence: float, *, log: bool) -> _Change:
    # a power of two changes nothing but keeps squares within floats
    largest = max(float(np.abs(cell.y).max()) for cell in (first, second))
    scale = 1.0 if log else math.ldexp(1.0, math.frexp(largest)[1] - 1)
    means, alpha = unpaired(_tops(first.y / scale, log=log), _tops(second.y / scale, log=log)), 1 - confidence
    x, y = first.mean, second.mean
    if x <= 0 and not log:
        return _Change(x, y, None, None, None, _beyond(means.difference_limits(alpha), 0.0))
    percent = math.exp(min(y - x, 700.0)) - 1 if log else y / x - 1
    limits = (LogPair(means) if log else means).limits(alpha)
    if limits.low is None or limits.high is None:
        return _Change(x, y, percent, None, None, clear=False)
    return _Change(x, y, percent, limits.low - 1, limits.high - 1, _beyond(limits, 1.0))


def _tops(y: Array, *, log: bool) -> Tops:
    return Tops(y, tuple(range(len(y))), smallest_step(np.sort(y), log=log), log)


def _beyond(limits: Limits, value: float) -> bool:
    return limits.low is not None and limits.high is not None and not limits.low <= value <= limits.high


def _words(change: _Change, less: str, more: str) -> str:
    """Write "2.3% faster", "2.3% faster, not clearly", "no difference"."""
    if abs(change.second - change.first) <= HAIR * max(abs(change.first), abs(change.second)):
        return "no difference"
    name = less if change.second < change.first else more
    doubt = "" if change.clear else ", not clearly"
    if change.percent is None:
        return name + doubt
    size = 100 * abs(change.percent)
    amount = "less than 0.1" if size < 0.05 else f"{size:.1f}" if size < 99.95 else f"{size:.0f}"
    return f"{amount}% {name}{doubt}"
