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
from gate.stats.design.layers import Groups, groups
from gate.stats.design.least_squares import scaled
from gate.stats.special import fdtrc

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

    from gate.model.study import Factor

    Array = npt.NDArray[np.float64]

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
    names = [f"f{i}" for i in range(len(factors))]
    means = units.groupby([*names, "session", "build", "execution"], sort=True, observed=True)["y"].mean().reset_index()
    session, build = (means[name].to_numpy(dtype=np.int64) for name in ("session", "build"))
    codes = [means[name].to_numpy(dtype=np.int64) for name in names]
    treatments = groups(np.zeros(len(means), dtype=np.int64), *codes)
    sessions, builds = groups(session), groups(session, build)
    y = scaled(means["y"].to_numpy(dtype=np.float64)).values
    own = sessions if level == "session" else builds
    if own.count < 2 or own.count == len(y):
        return None
    left = y - treatments.means(y)
    test = _test(level, left, treatments, _adjusted(left, treatments, sessions), _adjusted(left, treatments, builds))
    name = f"F test of {level}s"
    if isinstance(test, str):
        check = Check(name=name, statistic=None, df=[], p=None, holds=True, words=test)
        return Dependence(level=level, units=own.count, check=check, share=None)
    p = float(fdtrc(test.df, test.error_df, test.f))
    below = "the executions in them" if level == "build" else "what is in them"
    figures = f"F {test.f:.3g} on {test.df:.3g} and {test.error_df:.3g}, {p_text(p)}"
    holds = not p < 1 - confidence
    if holds:
        words = f"no sign that {level}s differ by more than {below} ({figures})"
    else:
        found = f"{test.share:.0%} of what treatments leave unexplained lies between them, beyond chance"
        found += _follows(level, own, codes, factors)
        alike = f"values depend on the session: sessions differ by more than {below}"
        words = f"{'executions of a build are alike' if level == 'build' else alike} ({figures}); {found}"
    check = Check(name=name, statistic=test.f, df=[test.df, test.error_df], p=p, holds=holds, words=words)
    return Dependence(level=level, units=own.count, check=check, share=test.share)


class _Test(msgspec.Struct, frozen=True):
    """An F test. share: of the sum of squares that treatments leave, between groups beyond chance."""

    f: float
    df: float
    error_df: float
    share: float


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


def _test(level: Between, left: Array, treatments: Groups, sessions: _Adjusted, builds: _Adjusted) -> _Test | str:
    """Test builds against the executions in them, sessions against builds and executions; else say why it cannot be."""
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
        w = _weight(sessions, builds, build_df) if error_df > 0 else 1.0
        parts = w * build, (1 - w) * square
        if sum(parts) > 0 or error_df < 1:
            spread = parts[0] ** 2 / build_df + (parts[1] ** 2 / error_df if error_df > 0 else 0.0)
            square, against_df = sum(parts), sum(parts) ** 2 / spread if spread else float(build_df)
    if square <= 1e-20:
        return f"not tested: what one {level} gave at one treatment does not vary, or was not repeated"
    share = max(df * (ss / df - square), 0.0) / total
    return _Test(ss / df / square, float(df), against_df, min(share, 1.0))


def _weight(sessions: _Adjusted, builds: _Adjusted, build_df: int) -> float:
    """Return how much of builds' mean square is in that of sessions (Henderson's method 3)."""
    member = np.zeros((builds.groups.count, sessions.groups.count))
    member[builds.groups.of, sessions.groups.of] = 1.0
    shared = member.T @ builds.information
    in_sessions = float(np.trace(sessions.inverse @ shared @ shared.T))
    in_builds = float(np.trace(builds.information)) - in_sessions
    return (in_sessions / sessions.df) / (in_builds / build_df)


def _follows(level: Between, own: Groups, codes: Sequence[npt.NDArray[np.int64]], factors: Sequence[Factor]) -> str:
    """Say what follows for the factors that vary between groups only."""
    constant = [groups(own.of, code).count == own.count for code in codes]
    varying = [f for f, code, alike in zip(factors, codes, constant, strict=True) if alike and np.ptp(code) > 0]
    names = ", ".join(factor.name for factor in varying)
    if not names:
        return f": no factor varies by {level}, so its luck is shared by all settings"
    narrow = f"too narrow for factors that vary by {level} ({names})"
    if level == "session":
        return f": intervals are {narrow}, of which a session is one observation"
    if all(factor.varies != "execution" for factor in varying):
        return f": effects of factors that vary by build ({names}) are tested against builds, not against executions"
    more = "" if all(constant) else ", and use its quantile effects, which take all of a build as one"
    return f": intervals with executions as units are {narrow}: use --unit build{more}"
