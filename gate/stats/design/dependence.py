"""Whether values depend on the session or the build they were taken in, treatments taken out.

NIST TN 1855, section 4.5.1 and Fig. 5, where a session is a boot of the machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import msgspec
import numpy as np

from gate.model.study import Check, Dependence
from gate.stats.design.checks import p_text
from gate.stats.design.coding import lay_out
from gate.stats.design.least_squares import scaled
from gate.stats.special import fdtrc

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

    from gate.model.study import Factor

    Array = npt.NDArray[np.float64]
    Integers = npt.NDArray[np.int64]

Between = Literal["session", "build"]


def dependence(
    units: pd.DataFrame, factors: Sequence[Factor], level: Between, confidence: float = 0.95
) -> Dependence | None:
    """Test whether sessions, or builds within sessions, differ by more than what lies below them explains.

    Every treatment has a mean of its own, so no interaction of factors is taken for a session or build. Units of one
    execution are averaged first. Builds are tested against the executions in them; sessions against their builds, since
    sessions of alike machines differ by the luck of their builds too, or against executions where a session has one
    build. None where there is one session or build only, or each has one unit, so that nothing lies within it. Where
    each treatment has one session or build, it cannot be separated from the treatment: the check has no statistic and
    says so. Unbalanced counts: sums of squares of sessions or builds after treatments (Henderson's method 3), and a
    sum of mean squares with Satterthwaite's degrees of freedom to test against.

    Raises:
        ValueError: no units, or a value that is not finite.

    Source: Searle, Casella and McCulloch, Variance Components, 1992, chapters 3 and 5.
    """
    nested = _Nested.of(units, factors)
    groups = nested.sessions if level == "session" else nested.builds
    count = int(groups.max()) + 1
    if count < 2 or count == len(nested.y):
        return None
    test = _session_test(nested) if level == "session" else _build_test(nested)
    if isinstance(test, str):
        check = Check(name=_name(level), statistic=None, df=[], p=None, holds=True, words=test)
        return Dependence(level=level, units=count, check=check, share=None)
    p = float(fdtrc(test.df, test.error_df, test.f))
    holds = not p < 1 - confidence
    check = Check(
        name=_name(level),
        statistic=test.f,
        df=[test.df, test.error_df],
        p=p,
        holds=holds,
        words=_words(level, test, p, None if holds else _between(nested, groups, factors)),
    )
    return Dependence(level=level, units=count, check=check, share=test.share)


def _name(level: Between) -> str:
    return f"F test of {level}s"


class _Nested(msgspec.Struct, frozen=True, eq=False):
    """Executions, or builds, one each: scaled values, and the numbers of their treatment, build and session."""

    y: Array
    codes: Integers
    treatments: Integers
    builds: Integers
    sessions: Integers

    @staticmethod
    def of(units: pd.DataFrame, factors: Sequence[Factor]) -> _Nested:
        """Average what has one execution, and number builds and sessions from 0."""
        names = [f"f{i}" for i in range(len(factors))]
        keys = [*names, "session", "build", "execution"]
        means = units.groupby(keys, sort=True, observed=True)["y"].mean().reset_index()
        build = np.unique(means[["session", "build"]].to_numpy(), axis=0, return_inverse=True)[1]
        session = np.unique(means["session"].to_numpy(), return_inverse=True)[1]
        n = len(means)
        return _Nested(
            scaled(means["y"].to_numpy(dtype=np.float64)).values,
            means[names].to_numpy(dtype=np.int64),
            lay_out(means, factors).place,
            build.reshape(n),
            session.reshape(n),
        )


class _Test(msgspec.Struct, frozen=True):
    """An F test. share: of the sum of squares that treatments leave, between groups beyond chance."""

    f: float
    df: float
    error_df: float
    share: float


class _Adjusted(msgspec.Struct, frozen=True, eq=False):
    """Groups after treatments. information: Z'MZ, M takes treatment means off; inverse: its pseudoinverse."""

    information: Array
    inverse: Array
    df: int
    ss: float


def _adjusted(nested: _Nested, groups: Integers) -> _Adjusted:
    """Return the sum of squares that groups add to treatments, from the counts in which they meet."""
    t, g = int(nested.treatments.max()) + 1, int(groups.max()) + 1
    counts = np.bincount(nested.treatments * g + groups, minlength=t * g).reshape(t, g).astype(np.float64)
    size = counts.sum(axis=1)
    information = np.diag(counts.sum(axis=0)) - counts.T @ (counts / size[:, None])
    values, vectors = np.linalg.eigh(information)
    real = values > 1e-9 * len(nested.y)
    inverse = (vectors[:, real] / values[real]) @ vectors[:, real].T
    left = _left(nested)
    q = np.bincount(groups, weights=left, minlength=g)
    return _Adjusted(information, inverse, int(real.sum()), float(q @ inverse @ q))


def _left(nested: _Nested) -> Array:
    """Take the mean of its treatment off each value."""
    means = np.bincount(nested.treatments, weights=nested.y) / np.bincount(nested.treatments)
    left: Array = nested.y - means[nested.treatments]
    return left


def _build_test(nested: _Nested) -> _Test | str:
    """Test builds within sessions against the executions in them; else say why it cannot be."""
    builds, sessions = _adjusted(nested, nested.builds), _adjusted(nested, nested.sessions)
    df, ss = builds.df - sessions.df, max(builds.ss - sessions.ss, 0.0)
    left = _left(nested)
    total = float(left @ left)
    error_df = len(nested.y) - int(nested.treatments.max()) - 1 - builds.df
    error_ss = max(total - builds.ss, 0.0)
    if df < 1:
        return _bound("build", nested)
    if error_df < 1 or error_ss <= 1e-20:
        return "not tested: what one build gave at one treatment does not vary, or was not repeated"
    return _tested(df, ss / df, error_df, error_ss / error_df, total)


def _session_test(nested: _Nested) -> _Test | str:
    """Test sessions against the builds in them, with what executions add; else say why it cannot be."""
    builds, sessions = _adjusted(nested, nested.builds), _adjusted(nested, nested.sessions)
    if sessions.df < 1:
        return _bound("session", nested)
    left = _left(nested)
    total = float(left @ left)
    error_df = len(nested.y) - int(nested.treatments.max()) - 1 - builds.df
    error = max(total - builds.ss, 0.0) / error_df if error_df > 0 else None
    build_df = builds.df - sessions.df
    build = max(builds.ss - sessions.ss, 0.0) / build_df if build_df > 0 else None
    found = _against(nested, builds, sessions, _Square(build, build_df), _Square(error, error_df))
    if found is None or not found.square or found.square <= 1e-20:
        return "not tested: what one session gave at one treatment does not vary, or was not repeated"
    return _tested(sessions.df, sessions.ss / sessions.df, found.df, found.square, total)


class _Square(msgspec.Struct, frozen=True):
    """A mean square; None without degrees of freedom."""

    square: float | None
    df: float


def _against(nested: _Nested, builds: _Adjusted, sessions: _Adjusted, build: _Square, error: _Square) -> _Square | None:
    """Return what the mean square of sessions is expected to be without sessions: w MS(build) + (1 - w) MS(error)."""
    if build.square is None or error.square is None:
        return build if build.square is not None else error if error.square is not None else None
    s = int(nested.sessions.max()) + 1
    member = np.zeros((len(builds.information), s))
    member[nested.builds, nested.sessions] = 1.0
    shared = member.T @ builds.information
    in_sessions = float(np.trace(sessions.inverse @ shared @ shared.T))
    in_builds = float(np.trace(builds.information)) - in_sessions
    w = (in_sessions / sessions.df) / (in_builds / build.df)
    parts = w * build.square, (1 - w) * error.square
    square = sum(parts)
    if square <= 0:
        return error
    return _Square(square, square**2 / (parts[0] ** 2 / build.df + parts[1] ** 2 / error.df))


def _tested(df: float, square: float, error_df: float, error: float, total: float) -> _Test:
    share = max(df * (square - error), 0.0) / total
    return _Test(square / error, float(df), float(error_df), min(share, 1.0))


def _bound(level: Between, nested: _Nested) -> str:
    """Say why groups cannot be separated from treatments."""
    groups = nested.sessions if level == "session" else nested.builds
    met = len(np.unique(np.column_stack((nested.treatments, groups)), axis=0))
    if level == "session" or met == int(nested.treatments.max()) + 1:
        return (
            f"not tested: each treatment has one {level}, so the effect of a setting cannot be separated from the luck "
            f"of its {level}; measure each in several {level}s"
        )
    return "not tested: each session has one build of a treatment, which the test of sessions sees"


class _Between(msgspec.Struct, frozen=True):
    """Factors that vary between groups only; alone: all do, so that a group has one treatment; told: as designed."""

    names: list[str]
    alone: bool
    told: bool


def _between(nested: _Nested, groups: Integers, factors: Sequence[Factor]) -> _Between:
    found, within, told = [], False, True
    for i, factor in enumerate(factors):
        own = nested.codes[:, i]
        pairs = np.unique(np.column_stack((groups, own)), axis=0)
        if len(pairs) > int(groups.max()) + 1:
            within = True
        elif np.ptp(own) > 0:
            found.append(factor.name)
            told = told and factor.varies != "execution"
    return _Between(found, not within, told)


def _words(level: Between, test: _Test, p: float, between: _Between | None) -> str:
    """Say what was found. between: None: nothing was."""
    below = "the executions in them" if level == "build" else "what is in them"
    figures = f"F {test.f:.3g} on {test.df:.3g} and {test.error_df:.3g}, {p_text(p)}"
    if between is None:
        return f"no sign that {level}s differ by more than {below} ({figures})"
    share = f"{test.share:.0%} of what treatments leave unexplained lies between them, beyond chance"
    if level == "session":
        told = _told_sessions(between.names)
        return f"values depend on the session: sessions differ by more than {below} ({figures}); {share}{told}"
    return f"executions of a build are alike ({figures}); {share}{_told_builds(between)}"


def _told_builds(between: _Between) -> str:
    if not between.names:
        return ": no factor varies by build, so its luck is shared by all settings"
    names = ", ".join(between.names)
    if between.told:
        return f": effects of factors that vary by build ({names}) are tested against builds, not against executions"
    narrow = f"intervals with executions as units are too narrow for factors that vary by build ({names})"
    more = "" if between.alone else ", and use its quantile effects, which take all of a build as one"
    return f": {narrow}: use --unit build{more}"


def _told_sessions(between: list[str]) -> str:
    if not between:
        return ": no factor varies by session, so its luck is shared by all settings"
    names = ", ".join(between)
    return (
        f": intervals are too narrow for factors that vary by session ({names}), of which a session is one observation"
    )
