"""Whether the residuals of a linear model are as it takes them: normal, of one variance, and nothing left in them.

Tests reject anything once there are thousands of units, so each finding also says whether it is large enough to matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import msgspec
import numpy as np

from gate.model.study import Dependence, Factor, ModelCheck
from gate.stats.design.aliases import Fit, scaled
from gate.stats.design.coding import CodedDesign
from gate.stats.design.layers import Groups, groups
from gate.stats.diagnostics import deviations
from gate.stats.rounding import Array
from gate.stats.sequential import holm
from gate.stats.special import fdtrc
from gate.writing.units import plural

if TYPE_CHECKING:
    import pandas as pd

SHAPIRO_MOST = 5000
"""Up to so many residuals the p of Shapiro and Wilk's W is known (Royston 1995)."""
SKEWNESS, KURTOSIS = 0.5, 1.0
"""Residuals nearer to normal than both are harmless to t and F, however sure the test."""
DEVIATIONS = 1.5
"""So many times the smallest standard deviation of a treatment the largest must be; F stands less than that well."""
LEAST_DF = 8
"""With fewer degrees of freedom residuals are too much alike by construction to show a shape."""
LACKING = 0.01
"""Smallest share of all variability that is worth another interaction."""


class AssumptionTest(msgspec.Struct, frozen=True):
    """A test of one assumption."""

    name: str
    statistic: float | None
    df: tuple[float, ...]
    p: float | None
    """None: it cannot be tested, `figures` says why."""
    large: bool
    """Whether what it is about is large enough to matter, however sure it is."""
    good: str
    bad: str
    """good and bad: what it says where nothing speaks against the assumption, and where something does."""
    figures: str
    """The numbers behind it."""
    warning: str
    """What to do about it."""


def untested(name: str, why: str) -> AssumptionTest:
    """Return a finding without a test."""
    return AssumptionTest(name, None, (), None, False, "not tested", "not tested", why, "")


def judged(findings: Sequence[AssumptionTest], alpha: float) -> list[tuple[ModelCheck, str | None]]:
    """Share alpha over the findings by Holm, so that a model without fault gets a warning with chance alpha at most.

    What is sure but too small to matter holds: with thousands of units every test rejects.

    Returns:
        Each one's check, with its warning where it does not hold.
    """
    tested = [i for i, finding in enumerate(findings) if finding.p is not None]
    shares = holm([p for finding in findings if (p := finding.p) is not None], alpha)
    sure = {i for i, own in zip(tested, shares, strict=True) if own.rejected}
    found: list[tuple[ModelCheck, str | None]] = []
    for i, each in enumerate(findings):
        holds = i not in sure or not each.large
        said = each.good if i not in sure else each.bad if not holds else f"{each.bad}, too little to matter"
        words = f"{said} ({each.figures}{'' if each.p is None else f', {p_text(each.p)}'})"
        check = ModelCheck(
            name=each.name, statistic=each.statistic, df=list(each.df), p=each.p, holds=holds, words=words
        )
        found.append((check, None if holds else each.warning))
    return found


def p_text(p: float) -> str:
    """Write a p: "p = 0.03", "p < 0.001"."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"


def studentized(fit: Fit) -> Array:
    """Divide residuals by their standard deviation, which leverage lowers; those it holds at 0 are left out."""
    room = 1 - fit.leverage[fit.design.place]
    free = room > 1e-9
    found: Array = fit.residuals[free] / np.sqrt(room[free] * (fit.variance or 1.0))
    return found


def normality(fit: Fit) -> AssumptionTest:
    """Test the residuals for normality: W of Shapiro and Wilk, of more than 5000 the K2 of D'Agostino and Pearson.

    W has the most power at small counts (Razali and Wah 2011); K2 sees what matters here, skewness and tails.
    """
    from scipy import stats

    name = "normal residuals"
    if fit.residual_df < LEAST_DF or not fit.residual_ss:
        return untested(name, _too_few(fit, LEAST_DF))
    values = studentized(fit)
    skewness, kurtosis = float(stats.skew(values)), float(stats.kurtosis(values))
    many = len(values) > SHAPIRO_MOST
    statistic, p = stats.normaltest(values) if many else stats.shapiro(values)
    test = "D'Agostino-Pearson K2" if many else "Shapiro-Wilk W"
    shape = f"skewness {skewness:z.1f}, excess kurtosis {kurtosis:z.1f}"
    return AssumptionTest(
        name=name,
        statistic=float(statistic),
        df=(2.0,) if many else (),
        p=float(p),
        large=abs(skewness) >= SKEWNESS or abs(kurtosis) >= KURTOSIS,
        good="no sign that the residuals are not normal",
        bad="the residuals are not normal",
        figures=f"{test} {float(statistic):.3g}, {shape}",
        warning=f"residuals are far from normal ({shape}): intervals and p of the linear model are not to be trusted "
        "for this response; see the quantile effects",
    )


def equal_variance(fit: Fit) -> AssumptionTest:
    """Test whether treatments have one variance: Brown and Forsythe's test over treatments of 3 units or more."""
    from scipy import stats

    name = "equal variances"
    design = fit.design
    enough = np.flatnonzero(design.counts >= 3)
    if len(enough) < 2 or not fit.residual_ss:
        return untested(name, "every treatment but one has fewer than 3 units" if fit.residual_ss else _too_few(fit, 1))
    # a residual differs from its value by a constant of the treatment
    rank = np.lexsort((fit.residuals, design.place))
    ends = np.cumsum(design.counts)
    groups = [fit.residuals[rank[ends[t] - design.counts[t] : ends[t]]] for t in enough.tolist()]
    away = [deviations(group) for group in groups]
    n, k = sum(map(len, away)), len(away)
    if not any(np.ptp(d) for d in away):
        return untested(name, "the units of each treatment stand equally far from its median")
    f, p = stats.f_oneway(*away)
    sd = np.array([group.std(ddof=1) for group in groups])
    smallest, largest = float(sd.min()), float(sd.max())
    # of those that rounding alone tells apart the first
    low = int(enough[np.argmax(sd <= smallest * (1 + 1e-9))])
    high = int(enough[np.argmax(sd >= largest * (1 - 1e-9))])
    times = f"{largest / smallest:.1f} times that" if smallest else "that of no spread"
    ratio = f"the standard deviation at {design.treatment(high)} is {times} at {design.treatment(low)}"
    return AssumptionTest(
        name=name,
        statistic=float(f),
        df=(float(k - 1), float(n - k)),
        p=float(p),
        large=largest >= DEVIATIONS * smallest,
        good="no sign that treatments differ in their variance",
        bad="treatments differ in their variance",
        figures=f"Brown-Forsythe F {0.0 if f < 1e-12 else f:.3g}; {ratio}",
        warning=f"treatments differ in their variance ({ratio}): the intervals of the linear model are too narrow for "
        "some effects and too wide for others; see the quantile effects",
    )


def lack_of_fit(fit: Fit, design: CodedDesign, order: int) -> AssumptionTest:
    """Test whether treatments differ beyond the terms of the model, against the spread within treatments."""
    name = "terms enough"
    df, pure_df = len(design.counts) - fit.p, len(fit.residuals) - len(design.counts)
    if df < 1 or pure_df < 1 or not fit.residual_ss:
        why = "the model has a mean of its own for each treatment" if df < 1 else _too_few(fit, 1)
        return untested(name, why if pure_df > 0 or df < 1 else "no treatment was repeated")
    means = design.totals(fit.residuals) / design.counts
    lacking = float(design.counts @ means**2)
    pure = float(((fit.residuals - means[design.place]) ** 2).sum())
    f = lacking / df / (pure / pure_df) if pure else None
    share = lacking / fit.total_ss
    more = order < len(design.names)
    advice = f"try --order {order + 1}" if more else "terms that could not be separated are not in the model"
    return AssumptionTest(
        name=name,
        statistic=f,
        df=(float(df), float(pure_df)),
        p=float(fdtrc(df, pure_df, f)) if f is not None else 0.0,
        large=share >= LACKING,
        good="no sign that a term is lacking",
        bad="treatments differ beyond the terms of the model",
        figures=f"{share:.1%} of the variability" + (f", F {f:.3g}" if f is not None else ""),
        warning=f"treatments differ beyond the terms of the model ({share:.1%} of the variability): {advice}",
    )


def _too_few(fit: Fit, least: int) -> str:
    if fit.residual_df < least:
        return f"{plural(fit.residual_df, 'residual degree')} of freedom, needs {least}"
    return "no spread within treatments" if not fit.residual_ss else "one fitted value"


Between = Literal["session", "build"]


def dependence(
    units: pd.DataFrame, factors: Sequence[Factor], level: Between, confidence: float = 0.95
) -> Dependence | None:
    """Test whether sessions, or builds within sessions, differ by more than what lies below them explains.

    Every treatment has a mean of its own, so no interaction of factors is taken for a session or build. Units of one
    execution are averaged first. Builds are tested against the executions in them, within rounds where these hold
    several builds: what the time of a round does to all of them is no build's luck. Sessions are tested against their
    builds, since sessions of alike machines differ by the luck of their builds too, or against executions where a
    session has one build. None where there is one session or build only, or each has one unit, so that nothing lies
    within it. Where each treatment has one session or build, it cannot be separated from the treatment: the check has
    no statistic and says so. Unbalanced counts: sums of squares of sessions or builds after treatments (Henderson's
    method 3), and a sum of mean squares with Satterthwaite's degrees of freedom to test against.

    Source: Searle, Casella and McCulloch, Variance Components, 1992, chapters 3 and 5.
    """
    names = [f"f{i}" for i in range(len(factors))]
    levels = ["session", "round", "build"]
    means = units.groupby([*names, *levels, "execution"], sort=True, observed=True)["y"].mean().reset_index()
    session, round_, build = (means[name].to_numpy(dtype=np.int64) for name in levels)
    codes = [means[name].to_numpy(dtype=np.int64) for name in names]
    treatments = groups(np.zeros(len(means), dtype=np.int64), *codes)
    sessions, builds = groups(session), groups(session, build)
    y = scaled(means["y"].to_numpy(dtype=np.float64))[0]
    own = sessions if level == "session" else builds
    if own.count < 2 or own.count == len(y):
        return None
    left = y - treatments.means(y)
    rounds = groups(session, round_)
    held = rounds if level == "build" and rounds.count < builds.count else sessions
    test = _test(level, left, treatments, _adjusted(left, treatments, held), _adjusted(left, treatments, builds))
    name = f"F test of {level}s"
    if isinstance(test, str):
        check = ModelCheck(name=name, statistic=None, df=[], p=None, holds=True, words=test)
        return Dependence(level=level, units=own.count, check=check, share=None)
    statistic, df, error_df, share = test
    p = float(fdtrc(df, error_df, statistic))
    below = "the executions in them" if level == "build" else "what is in them"
    figures = f"F {statistic:.3g} on {df:.3g} and {error_df:.3g}, {p_text(p)}"
    holds = not p < 1 - confidence
    if holds:
        words = f"no sign that {level}s differ by more than {below} ({figures})"
    else:
        found = f"{share:.0%} of what treatments leave unexplained lies between them, beyond chance"
        alike = f"values depend on the session: sessions differ by more than {below}"
        words = f"{'executions of a build are alike' if level == 'build' else alike} ({figures}); {found}"
    check = ModelCheck(name=name, statistic=statistic, df=[df, error_df], p=p, holds=holds, words=words)
    return Dependence(level=level, units=own.count, check=check, share=share)


class _Adjusted(msgspec.Struct, frozen=True, eq=False):
    """What groups add to treatments. information: Z'MZ, M takes treatment means off; inverse: its pseudoinverse."""

    groups: Groups
    information: Array
    inverse: Array
    df: int
    ss: float


def _adjusted(left: Array, treatments: Groups, own: Groups) -> _Adjusted:
    """Return the sum of squares that groups add to treatments, from the counts in which they meet."""
    shape = treatments.count, own.count
    met = np.bincount(treatments.of * own.count + own.of, minlength=shape[0] * shape[1]).reshape(shape).astype(float)
    information = np.diag(met.sum(axis=0)) - met.T @ (met / met.sum(axis=1)[:, None])
    values, vectors = np.linalg.eigh(information)
    real = values > 1e-9 * len(left)
    inverse = (vectors[:, real] / values[real]) @ vectors[:, real].T
    q = own.sums(left)
    return _Adjusted(own, information, inverse, int(real.sum()), float(q @ inverse @ q))


def _test(
    level: Between, left: Array, treatments: Groups, sessions: _Adjusted, builds: _Adjusted
) -> tuple[float, float, float, float] | str:
    """Test builds against the executions in them, sessions against builds and executions; else say why it cannot be.

    sessions: of the test of builds, the rounds that hold several of them.

    Returned are F, both its degrees, and the share of the sum of squares that treatments leave which is between groups
    beyond chance.
    """
    total = float(left @ left)
    build_df, error_df = builds.df - sessions.df, len(left) - treatments.count - builds.df
    build_ss, error_ss = max(builds.ss - sessions.ss, 0.0), max(total - builds.ss, 0.0)
    own = sessions if level == "session" else builds
    df, ss = (sessions.df, sessions.ss) if level == "session" else (build_df, build_ss)
    if df < 1:
        met = groups(treatments.of, own.groups.of).count
        if level == "build" and met != treatments.count:
            return "not tested: each session has one build of a treatment, which the test of sessions sees"
        return (
            f"not tested: each treatment has one {level}, so the effect of a setting cannot be separated from the luck "
            f"of its {level}; measure each in several {level}s"
        )
    square = error_ss / error_df if error_df > 0 else 0.0
    against_df = float(error_df)
    if level == "session" and build_df > 0:
        build = build_ss / build_df
        # without sessions their mean square is expected to be w MS(build) + (1 - w) MS(error)
        w = 1.0
        if error_df > 0:
            # how much of builds' mean square is in that of sessions (Henderson's method 3)
            member = np.zeros((builds.groups.count, sessions.groups.count))
            member[builds.groups.of, sessions.groups.of] = 1.0
            shared = member.T @ builds.information
            in_sessions = float(np.trace(sessions.inverse @ shared @ shared.T))
            w = (in_sessions / sessions.df) / ((float(np.trace(builds.information)) - in_sessions) / build_df)
        parts = w * build, (1 - w) * square
        if sum(parts) > 0 or error_df < 1:
            spread = parts[0] ** 2 / build_df + (parts[1] ** 2 / error_df if error_df > 0 else 0.0)
            square, against_df = sum(parts), sum(parts) ** 2 / spread if spread else float(build_df)
    if square <= 1e-20:
        return f"not tested: what one {level} gave at one treatment does not vary, or was not repeated"
    share = max(df * (ss / df - square), 0.0) / total
    return ss / df / square, float(df), against_df, min(share, 1.0)
