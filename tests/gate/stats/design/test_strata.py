"""Error strata: textbook split plots as R, SAS and JMP print them, REML against lme4, and a literal twin."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from scipy import optimize, stats

from gate.model.study import Block, Error, Factor, Varies
from gate.stats.design.coding import coded, lay_out
from gate.stats.design.layers import complete_within, groups, layers, reml
from gate.stats.design.linear import linear_model
from gate.stats.design.strata import Strata, aligned, stratified
from gate.stats.rounding import Array
from tests.support.units_frame import NPK, NPK_YIELD

Codes = npt.NDArray[np.int64]

OATS = (
    111, 130, 157, 174, 117, 114, 161, 141, 105, 140, 118, 156, 61, 91, 97, 100, 70, 108, 126, 149, 96, 124, 121, 144,
    68, 64, 112, 86, 60, 102, 89, 96, 89, 129, 132, 124, 74, 89, 81, 122, 64, 103, 132, 133, 70, 89, 104, 117,
    62, 90, 100, 116, 80, 82, 94, 126, 63, 70, 109, 99, 53, 74, 118, 113, 89, 82, 86, 104, 97, 99, 119, 121,
)  # fmt: skip
"""Yates 1935, R's MASS::oats: six blocks, in each the varieties, in each of these four amounts of nitrogen."""
STROUP = (
    56, 41, 50, 36, 39, 35, 30, 25, 36, 28, 33, 30, 32, 24, 31, 27, 15, 19, 30, 25, 35, 30, 17, 18,
)  # fmt: skip
"""SAS/STAT, PROC MIXED, split-plot example (Stroup 1989): four blocks, A in three whole plots, B in two halves."""
PAPER = (
    30, 35, 37, 36, 34, 41, 38, 42, 29, 26, 33, 36, 28, 32, 40, 41, 31, 36, 42, 40, 31, 30, 32, 40,
    31, 37, 41, 40, 35, 40, 39, 44, 32, 34, 39, 45,
)  # fmt: skip
"""Montgomery, Design and Analysis of Experiments, table 14.16: three replicates, methods of pulp, temperatures."""
DYESTUFF = (
    1545, 1440, 1440, 1520, 1580, 1540, 1555, 1490, 1560, 1495, 1595, 1550, 1605, 1510, 1560,
    1445, 1440, 1595, 1465, 1545, 1595, 1630, 1515, 1635, 1625, 1520, 1455, 1450, 1480, 1445,
)  # fmt: skip
PASTES = (
    62.8, 62.6, 60.1, 62.3, 62.7, 63.1, 60, 61.4, 57.5, 56.9, 61.1, 58.9, 58.7, 57.5, 63.9, 63.1, 65.4, 63.7, 57.1, 56.4,
    56.9, 58.6, 64.7, 64.5, 55.1, 55.1, 54.7, 54.2, 58.8, 57.5, 63.4, 64.9, 59.3, 58.1, 60.5, 60, 62.5, 62.6, 61, 58.7,
    56.9, 57.7, 59.2, 59.4, 65.2, 66, 64.8, 64.1, 54.8, 54.8, 64, 64, 57.7, 56.8, 58.3, 59.3, 59.2, 59.2, 58.9, 56.6,
)  # fmt: skip


def near(value: object, rel: float = 1e-6) -> Any:
    """Numbers to about so many digits."""
    return pytest.approx(value, rel=rel)


def units(y: Any, **columns: Any) -> pd.DataFrame:
    """One execution a value in the order of the run, of one session, round, replicate, unless told otherwise."""
    n = np.arange(len(y))
    plain = {"session": 0, "round": 0, "replicate": 0, "execution": n, "order": n, "count": 1}
    return pd.DataFrame({"y": np.array(y, dtype=float)} | plain | columns)


def split_plot(y: Sequence[float], whole: int, sub: int) -> tuple[pd.DataFrame, list[Factor]]:
    """Blocks, in each every whole plot, in each every half."""
    block, plot, half = np.array(list(product(range(len(y) // (whole * sub)), range(whole), range(sub)))).T
    factors = [
        Factor(name="whole", settings=list(range(whole)), varies="build"),
        Factor(name="sub", settings=list(range(sub))),
    ]
    return units(y, f0=plot, f1=half, round=block, build=block * whole + plot), factors


def told(
    frame: pd.DataFrame, factors: Sequence[Factor], block: Block | None = "replicate", *, repeated: bool = True
) -> Strata:
    design = lay_out(frame, factors)
    model = coded(design.codes, design.sizes, 2)
    lie = layers(frame, factors, block, repeated=repeated)
    return stratified(frame["y"].to_numpy(dtype=float), design, model, factors, lie)


def shown(found: Strata) -> list[tuple[Error, float, float, float]]:
    return [(e, t.f, t.error_df, t.p) for e, t in zip(found.of, found.tests, strict=True) if t is not None]


@pytest.mark.parametrize(
    ("y", "sizes", "expected"),
    [
        # R: summary(aov(Y ~ V * N + Error(B/V), MASS::oats))
        (OATS, (3, 4), [("build", 1.485, 10, 0.272), ("execution", 37.69, 45, 2.46e-12), ("execution", 0.303, 45, 0.932)]),
        # SAS: type 3 tests of fixed effects
        (STROUP, (3, 2), [("build", 4.07, 6, 0.0764), ("execution", 19.39, 9, 0.0017), ("execution", 4.02, 9, 0.0566)]),
        # JMP, in Montgomery
        (PAPER, (3, 4), [("build", 7.0781, 4, 0.0485), ("execution", 36.4266, 18, 7.45e-8), ("execution", 3.1538, 18, 0.0271)]),
    ],
)  # fmt: skip
def test_split_plots_of_textbooks(
    y: Sequence[float], sizes: tuple[int, int], expected: list[tuple[Error, float, float, float]]
) -> None:
    frame, factors = split_plot(y, *sizes)
    found = told(frame, factors)
    assert found.method == "projections"
    for own, other in zip(shown(found), expected, strict=True):
        assert own[0] == other[0]
        assert own[1:] == near(other[1:], 8e-3)


@pytest.mark.parametrize("repeats", [1, 3])
def test_units_that_are_lost_leave_the_error_of_least_squares(repeats: int) -> None:
    # terms of unequal counts share what they explain: their sums of squares, taken off one by one, are not the model's
    rng = np.random.default_rng(7)
    cells = [
        cell for cell, count in zip(product(range(2), range(3)), (3, 9, 4, 14, 2, 6), strict=True) for _ in range(count)
    ]
    a, b = np.repeat(np.array(cells), repeats, axis=0).T
    builds = np.repeat(np.arange(len(cells)), repeats)
    y = rng.normal(size=len(a)) + rng.normal(size=len(cells))[builds] + a + 2 * b
    frame = units(y, f0=a, f1=b, build=builds)
    varies: Varies = "build" if repeats > 1 else "execution"
    factors = [Factor(name=name, settings=list(range(size)), varies=varies) for name, size in (("a", 2), ("b", 3))]
    found = told(frame, factors, block=None)
    # literally: one value a build, and the model without each term
    means = frame.groupby("build")[["y", "f0", "f1"]].mean()
    design = lay_out(means.astype({"f0": int, "f1": int}), factors)
    model = coded(design.codes, design.sizes, 2)
    x, values = model.matrix[design.place], means["y"].to_numpy()

    def left(columns: Array) -> float:
        return float(((values - columns @ np.linalg.lstsq(columns, values)[0]) ** 2).sum())

    df = len(values) - x.shape[1]
    for term, stratum, test in zip(model.terms[1:], found.of, found.tests, strict=True):
        size = term.stop - term.start
        f = (left(np.delete(x, np.arange(term.start, term.stop), axis=1)) - left(x)) / size / (left(x) / df)
        assert stratum == varies and test is not None
        assert (test.f, test.df, test.error_df, test.p) == near((f, size, df, float(stats.f.sf(f, size, df))))


def test_whole_plots_without_error_tell_no_effect_from_0() -> None:
    # their means are those of blocks and settings exactly, by chance: halves differ
    frame, factors = split_plot((1, 3, 5, 9, 2.5, 3.5, 8, 8), 2, 2)
    model = linear_model(frame, factors, 2, 0.95, layers=layers(frame, factors, "replicate"))
    whole = next(term for term in model.terms if term.stratum == "build")
    assert (whole.f, whole.p) == (None, None)
    assert [(each.low, each.high, each.p) for each in whole.effects] == [(None, None, None)] * len(whole.effects)


def test_blocks_of_rs_npk() -> None:
    # R: summary(aov(yield ~ N*P*K + Error(block), npk)); N:P:K is confounded with blocks
    block = np.repeat(np.arange(6), 4)
    frame = units(NPK_YIELD, round=block, build=block, **{f"f{k}": [int(c) for c in NPK[k]] for k in range(3)})
    found = told(frame, [Factor(name=name, settings=[0, 1]) for name in "NPK"], "build")
    assert found.method == "projections"
    wanted = [12.259, 0.544, 6.166, 1.378, 2.146, 0.031]
    assert [t[1] for t in shown(found)] == pytest.approx(wanted, rel=5e-3, abs=5e-4)
    assert {t[2] for t in shown(found)} == {12}


def test_reml_of_lme4s_dyestuff_and_pastes() -> None:
    # lme4: Batch 1764.05, residual 2451.25, mean 1527.5 with standard error 19.38
    one = reml(np.array(DYESTUFF, dtype=float), np.ones((30, 1)), [groups(np.repeat(np.arange(6), 5))])
    assert one.components.tolist() == near([1764.05, 2451.25], 1e-5)
    assert (float(one.coefficients[0]), float(one.covariance[0, 0]) ** 0.5) == near((1527.5, 19.3834), 1e-5)
    assert one.error_df(np.ones(1)) == near(5.0, 1e-4)
    # lme4: batch 1.6573, sample 8.4337, residual 0.6780, standard error 0.6769
    nested = [groups(np.repeat(np.arange(10), 6)), groups(np.repeat(np.arange(30), 2))]
    two = reml(np.array(PASTES), np.ones((60, 1)), nested)
    assert two.components.tolist() == near([1.6573, 8.4337, 0.6780], 1e-4)
    assert float(two.covariance[0, 0]) ** 0.5 == near(0.6769, 1e-4)


def test_reml_and_projections_agree_where_data_are_balanced() -> None:
    frame, factors = split_plot(OATS, 3, 4)
    exact = told(frame, factors)
    # one row twice as heavy in the frame's order would not be balanced: the likelihood is asked directly
    x = coded(lay_out(frame, factors).codes, [3, 4], 2).matrix[lay_out(frame, factors).place]
    blocks = np.array([(frame["round"] == k) * 1.0 - (frame["round"] == 5) for k in range(5)]).T
    fit = reml(frame["y"].to_numpy(), np.column_stack((x, blocks)), [groups(frame["build"].to_numpy())])
    assert fit.components.tolist() == near([106.0618, 177.0833], 1e-5)
    for test, start, stop in zip(exact.tests, (1, 3, 6), (3, 6, 12), strict=True):
        assert test is not None
        likely = fit.test(start, stop)
        assert (likely.f, likely.error_df) == near((test.f, test.error_df), 1e-4)


def literal(y: Array, x: Array, of: Sequence[Codes]) -> tuple[Array, Array]:
    """Variances and standard errors by the likelihood of the whole covariance matrix."""
    z = [np.equal.outer(g, g).astype(float) for g in of]

    def matrix(logs: Array) -> Array:
        found: Array = np.exp(logs[-1]) * np.eye(len(y))
        for own, log in zip(z, logs, strict=False):
            found = found + np.exp(log) * own
        return found

    def deviance(logs: Array) -> float:
        v = np.linalg.inv(matrix(logs))
        within = x.T @ v @ x
        r = y - x @ np.linalg.solve(within, x.T @ v @ y)
        return float(-np.linalg.slogdet(v)[1] + np.linalg.slogdet(within)[1] + r @ v @ r)

    best = optimize.minimize(deviance, np.zeros(len(of) + 1), method="Nelder-Mead",
                             options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 8000}).x  # fmt: skip
    covariance = np.linalg.inv(x.T @ np.linalg.inv(matrix(best)) @ x)
    return np.exp(best), np.sqrt(np.diag(covariance))


def test_unbalanced_data_have_the_likelihood_of_the_whole_matrix() -> None:
    frame, factors = split_plot(OATS, 3, 4)
    kept = frame.drop(index=[3, 17, 30, 31, 55]).reset_index(drop=True)
    found = told(kept, factors)
    assert found.method == "REML"
    assert found.mixed is not None
    components, errors = literal(kept["y"].to_numpy(), found.mixed.x, [kept["build"].to_numpy()])
    assert found.mixed.components.tolist() == near(components.tolist(), 1e-4)
    assert np.sqrt(np.diag(found.mixed.covariance)).tolist() == near(errors.tolist(), 1e-4)
    df = [test.error_df for test in found.tests if test is not None]
    assert 9 < df[0] < 11
    assert 40 < df[1] < 42


def test_a_build_that_repeats_a_treatment_counts_once() -> None:
    rng = np.random.default_rng(5)
    rows = list(product(range(6), range(3), range(2), range(2)))
    frame = pd.DataFrame(rows, columns=["round", "replicate", "f0", "f1"]).assign(session=0)
    frame = frame.assign(build=frame["round"], execution=range(len(rows)), y=rng.normal(size=len(rows)))
    factors = [Factor(name=name, settings=[0, 1]) for name in "ab"]
    found = told(frame, factors)
    assert set(found.of) == {"build x treatment"}
    means = frame.groupby(["round", "f0", "f1"])["y"].mean().reset_index().assign(session=0, replicate=0)
    of_means = told(means.assign(build=means["round"]), factors)
    assert set(of_means.of) == {"execution"}
    assert [t[1:] for t in shown(found)] == [near(t[1:]) for t in shown(of_means)]
    assert shown(found)[0][2] == 15


def test_an_intercept_is_told_from_what_differs_most() -> None:
    rng = np.random.default_rng(6)
    block = np.repeat(np.arange(8), 4)
    codes = np.array(list(product(range(8), range(2), range(2))))
    y = 50 + 3 * rng.normal(size=8)[block] + rng.normal(size=32)
    frame = units(y, f0=codes[:, 1], f1=codes[:, 2], round=block, build=block)
    factors = [Factor(name=name, settings=[0, 1]) for name in "ab"]
    model = linear_model(frame, factors, 2, 0.95, layers=layers(frame, factors, "build"))
    means = frame.groupby("round")["y"].mean()
    half = 2.364624 * float(means.std()) / 8**0.5
    assert model.intercept.low == near(float(means.mean()) - half, 1e-6)
    assert (model.block, model.blocks, [t.error_df for t in model.terms]) == ("build", 8, [21.0, 21.0, 21.0])


def test_aligned_units_and_blocks_of_every_treatment() -> None:
    frame, factors = split_plot(OATS, 3, 4)
    lie = layers(frame, factors, "replicate")
    found = aligned(frame, factors, lie, "execution")
    keys = ["f0", "f1"]
    assert found.groupby(keys)["y"].mean().tolist() == near(frame.groupby(keys)["y"].mean().tolist())
    within = found["y"] - found.groupby(keys)["y"].transform("mean")
    assert float((within**2).sum()) / (72 - 12) == near(177.0833, 1e-5)
    # without a design a build is a block where it has every treatment
    frame, factors = split_plot(STROUP, 3, 2)
    assert complete_within(frame, factors) == "build"
    assert complete_within(frame.drop(index=[3]), factors) is None
    assert complete_within(frame.assign(round=0), factors) is None


def test_sessions_builds_and_executions_each_test_their_own_factor() -> None:
    rng = np.random.default_rng(1)
    rows = []
    for session in range(8):
        luck = 2 * rng.normal()
        for round_ in range(3):
            of_build = rng.normal(size=2)
            rows += [
                (session % 2, v, a, session, 3 * session + round_, 6 * session + 2 * round_ + v, r,
                 10 + luck + of_build[v] + rng.normal())
                for r in range(2) for v in range(2) for a in range(2)
            ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["f0", "f1", "f2", "session", "round", "build", "replicate", "y"])
    factors = [
        Factor(name="machine", settings=[0, 1], varies="session"),
        Factor(name="flags", settings=[0, 1], varies="build"),
        Factor(name="load", settings=[0, 1]),
    ]
    found, design, y = told(frame, factors, repeated=False), lay_out(frame, factors), frame["y"].to_numpy()
    model = coded(design.codes, design.sizes, 2)
    build, execution = ("build", 22.0), ("execution", 117.0)
    wanted = [("session", 6.0), build, execution, build, execution, execution]
    assert [(own[0], own[2]) for own in shown(found)] == wanted
    means = frame.groupby(["session", "f0"])["y"].mean().reset_index()
    t = stats.ttest_ind(*(means[means["f0"] == k]["y"] for k in (0, 1)))
    assert shown(found)[0][3] == near(t.pvalue, 1e-9)
    # the likelihood has the same variances, all above 0
    blocks = np.array([(frame["replicate"] + 2 * frame["round"] == k) * 1.0 for k in range(48)]).T
    within = blocks - pd.DataFrame(blocks).groupby(frame["session"]).transform("mean").to_numpy()
    kept = [k for k in range(48) if k % 6 != 5]
    fit = reml(y - y.mean(), np.column_stack((model.matrix[design.place], within[:, kept])),
               [groups(frame[name].to_numpy()) for name in ("session", "build")])  # fmt: skip
    assert fit.components.tolist() == near([s.component for s in found.found], 1e-4)
