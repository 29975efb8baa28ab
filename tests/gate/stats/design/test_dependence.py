"""Whether values depend on session or build: against R's nested analysis of variance and literal least squares."""

from typing import Literal

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from gate.model.study import Dependence, Factor
from gate.stats.design.model_checks import dependence
from gate.stats.rounding import Array
from tests.support.samples import there
from tests.support.units_frame import NPK, NPK_YIELD

OXIDE = [
    2006, 1999, 2007, 1980, 1988, 1982, 2000, 1998, 2007, 1991, 1990, 1988, 1987, 1989, 1988, 1985, 1983, 1989, 2000,
    2004, 2004, 2001, 1996, 2004, 1999, 2000, 2002, 1997, 1994, 1996, 1996, 2000, 2002, 1987, 1990, 1995, 2013, 2004,
    2009, 2023, 2018, 2010, 2020, 2023, 2015, 2032, 2036, 2030, 2018, 2022, 2026, 2009, 2010, 2011, 1984, 1993, 1993,
    1992, 1992, 1990, 1996, 1993, 1987, 1996, 1989, 1996, 1997, 1993, 1996, 1990, 1989, 1992,
]  # fmt: skip

LOAD = Factor(name="load", settings=["idle", "busy"])
OPT = Factor(name="opt", settings=["O2", "O3"], varies="build")
OS = Factor(name="os", settings=["a", "b"], varies="session")


def design(sessions: int, builds: int, executions: int, settings: int = 2) -> pd.DataFrame:
    """Builds in each session at each of two settings of opt, executions of each build at each of `settings` of load."""
    rows = [
        (load, opt, s, s * builds + b, (s * builds + b) * 2 + opt)
        for s in range(sessions)
        for b in range(builds)
        for opt in (0, 1)
        for load in range(settings)
        for _ in range(executions)
    ]
    frame = pd.DataFrame(rows, columns=["f0", "f1", "session", "round", "build"])
    return frame.assign(execution=np.arange(len(frame)), order=np.arange(len(frame)), count=1)


def effects(frame: pd.DataFrame, rng: np.random.Generator, session: float, build: float) -> pd.DataFrame:
    y = 50 + 3 * frame["f0"] + frame["f1"] * frame["f0"]
    for column, sd in (("session", session), ("build", build)):
        y = y + sd * rng.normal(size=int(frame[column].max()) + 1)[frame[column].to_numpy()]
    return frame.assign(y=y + rng.normal(size=len(frame)))


def about(value: object) -> object:
    return pytest.approx(value, rel=1e-4)


def found(units: pd.DataFrame, factors: list[Factor], level: Literal["session", "build"]) -> Dependence:
    return there(dependence(units, factors, level))


def test_nested_sessions_and_builds_as_r_has_them() -> None:
    # library(nlme); anova(lm(Thickness ~ Lot/Wafer, Oxide)): mean squares 1289.3313492 on 7, 120.1666667 on 16,
    # 12.5694444 on 48; lots are sessions, wafers builds
    at = np.arange(72)
    oxide = pd.DataFrame(
        {"y": np.array(OXIDE, float), "session": at // 9, "round": at // 3, "build": at // 3, "execution": at}
    )
    build, session = found(oxide, [], "build"), found(oxide, [], "session")
    assert (build.units, build.check.df) == (24, [16, 48])
    assert (build.check.statistic, build.check.p) == (about(9.56022), about(5.0631e-10))
    assert build.share == about((1922.666667 - 16 * 12.5694444) / (9025.319444 + 1922.666667 + 603.333333))
    assert (session.units, session.check.df) == (8, about([7, 16]))
    assert session.check.statistic == about(1289.3313492 / 120.1666667)
    assert session.check.p == about(float(stats.f.sf(1289.3313492 / 120.1666667, 7, 16)))


def test_blocks_after_treatments_as_r_has_them() -> None:
    # npk's blocks hold half of the treatments each: anova(lm(yield ~ N*P*K, npk), lm(yield ~ N*P*K + block, npk)):
    # F 4.95923 on 4 and 12, p 0.013587
    frame = pd.DataFrame({"y": NPK_YIELD} | {f"f{i}": [int(c) for c in own] for i, own in enumerate(NPK)})
    block = np.arange(24) // 4
    frame = frame.assign(session=block, round=block, build=block, execution=np.arange(24))
    result = found(frame, [Factor(name=n, settings=[0, 1]) for n in "NPK"], "session")
    assert (result.check.statistic, result.check.p, result.check.df) == (about(4.95923), about(0.013587), [4, 12])


@pytest.mark.parametrize("seed", range(6))
def test_against_literal_least_squares(seed: int) -> None:
    rng = np.random.default_rng(seed)
    units = effects(design(3, 3, 3), rng, 1.0, 1.0)
    units = units[rng.random(len(units)) > 0.3].reset_index(drop=True)

    def dummies(*columns: str) -> Array:
        return pd.get_dummies(units[list(columns)].astype(str).agg("-".join, axis=1)).to_numpy(dtype=np.float64)

    def fit(*parts: Array) -> tuple[float, int]:
        x = np.hstack(parts)
        y = units["y"].to_numpy()
        return float(((y - x @ np.linalg.lstsq(x, y)[0]) ** 2).sum()), int(np.linalg.matrix_rank(x))

    treatments, sessions, builds = dummies("f0", "f1"), dummies("session"), dummies("build")
    (none, r0), (with_sessions, r1), (with_rounds, rr), (with_builds, r2) = (
        fit(treatments), fit(treatments, sessions), fit(treatments, dummies("round")), fit(treatments, builds),
    )  # fmt: skip
    error = with_builds / (len(units) - r2)
    result = found(units, [LOAD, OPT], "build")
    assert result.check.df == [r2 - rr, len(units) - r2]
    assert result.check.statistic == pytest.approx((with_rounds - with_builds) / (r2 - rr) / error)
    assert result.share == pytest.approx(max(with_rounds - with_builds - (r2 - rr) * error, 0) / none)

    # sessions: the mean square they would have without any luck of their own, by the builds' part in both
    def part(full: Array, less: Array) -> float:
        onto = [x @ np.linalg.pinv(x) for x in (full, less)]
        return float(np.trace(builds.T @ (onto[0] - onto[1]) @ builds))

    both = np.hstack((treatments, sessions))
    w = part(both, treatments) / (r1 - r0) / (part(np.hstack((treatments, builds)), both) / (r2 - r1))
    square = w * (with_sessions - with_builds) / (r2 - r1) + (1 - w) * error
    assert found(units, [LOAD, OPT], "session").check.statistic == pytest.approx(
        (none - with_sessions) / (r1 - r0) / square
    )


@pytest.mark.parametrize(
    ("level", "sessions", "luck", "words"),
    [
        ("build", 1, 3, "executions of a build are alike (F "),
        ("build", 1, 0, "no sign that builds differ by more than the executions in them (F "),
        ("session", 8, 4, "values depend on the session: sessions differ by more than what is in them (F "),
    ],
)
def test_what_differs_is_told(level: Literal["session", "build"], sessions: int, luck: float, words: str) -> None:
    of = (luck, 0.0) if level == "session" else (0.0, luck)
    result = found(effects(design(sessions, 6, 4), np.random.default_rng(2), *of), [LOAD, OPT], level)
    assert result.check.words.startswith(words) and result.check.name == f"F test of {level}s"
    assert result.check.holds == (not luck)
    assert (there(result.share) > 0.5) == bool(luck)


def test_what_a_round_does_to_all_of_its_builds_is_no_build() -> None:
    rng = np.random.default_rng(11)
    units = effects(design(1, 8, 4), rng, 0, 0)
    drifting = units.assign(y=units["y"] + 5 * rng.normal(size=8)[units["round"].to_numpy()])
    quiet, own = (found(each, [LOAD, OPT], "build").check for each in (units, drifting))
    assert own.holds and own.df == quiet.df
    assert own.statistic == pytest.approx(quiet.statistic)
    # a round of one build each is not to be told from it
    single = drifting[drifting["f1"] == 0]
    assert not found(single, [LOAD], "build").check.holds


def test_one_unit_for_each_treatment_cannot_be_told() -> None:
    units = effects(design(2, 3, 3), np.random.default_rng(4), 5, 0)
    result = found(units.assign(f2=units["session"]), [LOAD, OPT, OS], "session")
    assert (result.check.statistic, result.check.p, result.share, result.check.holds) == (None, None, None, True)
    assert "each treatment has one session" in result.check.words
    result = found(effects(design(1, 1, 5), np.random.default_rng(4), 0, 5), [LOAD, OPT], "build")
    assert result.check.statistic is None and "each treatment has one build" in result.check.words
    # opt's builds differ between sessions beyond what sessions do
    two = found(effects(design(2, 1, 5), np.random.default_rng(4), 0, 5), [LOAD, OPT], "build")
    assert two.check.statistic is not None
    alone = effects(design(3, 1, 5), np.random.default_rng(4), 0, 5)
    assert "each session has one build of a treatment" in found(alone[alone["f1"] == 0], [LOAD], "build").check.words
    # nor values without spread
    assert found(units.assign(y=5.0), [LOAD, OPT], "build").check.statistic is None


def test_what_does_not_count() -> None:
    # one session, or one unit each
    units = effects(design(1, 4, 1, settings=1), np.random.default_rng(5), 0, 1)
    assert dependence(units, [OPT], "session") is None
    assert dependence(units, [OPT], "build") is None  # an execution each
    boots = units.assign(session=np.arange(len(units)))
    assert dependence(boots, [OPT], "session") is None
    # iterations are averaged by execution first
    rng = np.random.default_rng(6)
    means = effects(design(1, 5, 3), rng, 0, 0)
    rows = means.loc[means.index.repeat(4)].reset_index(drop=True)
    rows["y"] += np.tile([-2.0, -1.0, 1.0, 2.0], len(means))
    one, other = (found(each, [LOAD, OPT], "build").check for each in (means, rows))
    assert one.statistic == pytest.approx(other.statistic)
    assert one.df == other.df
    # build numbers may begin anew in each session
    numbered = effects(design(3, 3, 3), np.random.default_rng(7), 1, 2)
    anew = numbered.assign(build=numbered["build"] % 6)
    assert found(anew, [LOAD, OPT], "build") == found(numbered, [LOAD, OPT], "build")
