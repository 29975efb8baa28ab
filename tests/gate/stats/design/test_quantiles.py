import math
from collections.abc import Mapping, Sequence
from itertools import pairwise, product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from gate.model.study import Effect, Factor, QuantileModel
from gate.stats.centers import type8
from gate.stats.design.quantile_fit import LAST, REACH, around, by_treatment, minimiser
from gate.stats.design.quantiles import quantile_effects
from gate.stats.rounding import Array
from tests.support.programme import linear_programme
from tests.support.samples import there


def factors(*sizes: int) -> list[Factor]:
    return [Factor(name="abcd"[k], settings=[f"{'abcd'[k]}{j}" for j in range(size)]) for k, size in enumerate(sizes)]


def frame(treatments: Mapping[Any, Sequence[Sequence[float]]]) -> pd.DataFrame:
    """One row for each value; treatments: settings -> executions -> values."""
    rows, number = [], 0
    for codes, executions in treatments.items():
        for build, values in enumerate(executions):
            for y in values:
                own = {f"f{k}": code for k, code in enumerate(codes)}
                rows.append({"y": y, **own, "session": 0, "build": build, "execution": number})
            number += 1
    return pd.DataFrame(rows)


def measured(
    rng: np.random.Generator, treatments: Sequence[tuple[int, ...]], executions: int, values: tuple[int, int]
) -> pd.DataFrame:
    """Skewed values, executions of unequal size, every treatment with a distribution of its own."""
    return frame(
        {
            codes: [
                (rng.normal() + rng.lognormal(0.2 * sum(codes), 0.5, rng.integers(*values))).tolist()
                for _ in range(executions)
            ]
            for codes in treatments
        }
    )


def effect(of: QuantileModel, term: str) -> Effect:
    return next(effect for effect in of.effects if effect.term == term)


def predicted(effects: list[Effect], of: list[Factor], codes: tuple[int, ...]) -> float:
    """Add up what each term says of a treatment, as a reader of the table would."""
    at = {factor.name: factor.settings[code] for factor, code in zip(of, codes, strict=True)}
    two = {factor.name for factor in of if len(factor.settings) == 2}
    total = 0.0
    for row in effects:
        sign = 1.0
        for name, setting in row.settings.items():
            if at[name] != setting:
                sign *= -1.0 if name in two else 0.0
        total += sign * row.estimate
    return total


def check_function(values: pd.DataFrame, effects: list[Effect], of: list[Factor], tau: float) -> float:
    codes = values[[f"f{k}" for k in range(len(of))]].to_numpy().tolist()
    at = {codes: predicted(effects, of, codes) for codes in set(map(tuple, codes))}
    residuals = [y - at[tuple(own)] for y, own in zip(values["y"].tolist(), codes, strict=True)]
    return math.fsum(tau * r if r >= 0 else (tau - 1) * r for r in residuals)


FULL = list(product(range(2), range(2), range(2)))


def coded_by_hand(values: pd.DataFrame) -> Array:
    """Two settings each: -1 and 1, and all products, in the order of the paper's Equation 2."""
    a, b, c = (2.0 * values[f"f{k}"].to_numpy() - 1 for k in range(3))
    return np.column_stack((np.ones(len(a)), a, b, c, a * b, a * c, b * c, a * b * c))


# --- estimates


GONE = [[], [(1, 1, 1)], [(0, 1, 0), (0, 1, 1)], [(0, 0, 0), (1, 1, 1), (1, 0, 1)]]


@pytest.mark.parametrize("tau", [0.1, 1 / 3, 0.5, 0.9, 0.99])
@pytest.mark.parametrize(("gone", "ties"), [(GONE[0], True), *((gone, False) for gone in GONE)])
def test_the_check_function_sums_as_the_programme_does(tau: float, gone: list[tuple[int, ...]], ties: bool) -> None:
    values = measured(np.random.default_rng(2), [codes for codes in FULL if codes not in gone], 3, (4, 9))
    if ties:
        values["y"] = values["y"].round(0)
    found = quantile_effects(values, factors(2, 2, 2), [tau])
    names = [row.term for row in found.models[0].effects]
    terms = ["intercept", "a", "b", "c", "a:b", "a:c", "b:c", "a:b:c"]
    design = coded_by_hand(values)[:, [terms.index(name) for name in names]]
    assert bool(found.inestimable) == (np.linalg.matrix_rank(design) < 8) == bool(gone)
    best, _ = linear_programme(values["y"].to_numpy(), design, tau)
    summed = check_function(values, found.models[0].effects, factors(2, 2, 2), tau)
    assert summed == pytest.approx(best, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("tau", [0.25, 0.5, 0.9])
@pytest.mark.parametrize("ties", [False, True])
def test_so_it_is_with_fewer_coefficients_than_treatments(tau: float, ties: bool) -> None:
    of = factors(2, 3, 2)
    treatments = [codes for codes in product(range(2), range(3), range(2)) if codes != (1, 2, 1)]
    values = measured(np.random.default_rng(30), treatments, 3, (4, 9))
    if ties:
        values["y"] = values["y"].round(0)
    # the columns may be any that span a, b and c: by indicators and products
    found = quantile_effects(values, of, [tau])
    indicators = [np.ones((len(values), 1))] + [
        (values[[f"f{k}"]].to_numpy() == np.arange(1, len(of[k].settings))).astype(float) for k in range(3)
    ]
    columns = [*indicators]
    for k, j in ((1, 2), (1, 3), (2, 3)):
        columns += [(indicators[k][:, :, None] * indicators[j][:, None, :]).reshape(len(values), -1)]
    design = np.hstack(columns)
    assert design.shape[1] == 10 < len(treatments)
    assert {row.term for row in found.models[0].effects} == {"intercept", "a", "b", "c", "a:b", "a:c", "b:c"}
    best, _ = linear_programme(values["y"].to_numpy(), design, tau)
    assert check_function(values, found.models[0].effects, of, tau) == pytest.approx(best, rel=1e-7)
    assert all(row.low is not None and row.low <= row.estimate for row in found.models[0].effects)


@pytest.mark.parametrize("tau", [0.3, 0.5, 0.9])
def test_of_three_settings_each_has_an_effect_and_they_add_up(tau: float) -> None:
    of = factors(3, 2)
    values = measured(np.random.default_rng(3), list(product(range(3), range(2))), 1, (7, 8))
    effects = quantile_effects(values, of, [tau]).models[0].effects
    assert [row.settings for row in effects if row.term == "a"] == [{"a": "a0"}, {"a": "a1"}, {"a": "a2"}]
    assert [row.settings for row in effects if row.term == "b"] == [{"b": "b1"}]
    assert sum(row.estimate for row in effects if row.term == "a") == pytest.approx(0, abs=1e-12)
    for codes in product(range(3), range(2)):
        own = np.sort(values["y"][(values["f0"] == codes[0]) & (values["f1"] == codes[1])].to_numpy())
        assert predicted(effects, of, codes) == pytest.approx(own[math.ceil(len(own) * tau) - 1])


# --- intervals


def literal_parts(executions: list[Array], tau: float) -> tuple[float, float, Array, Array]:
    """Slopes, scores and errors of one treatment, value by value; n tau whole and no ties."""
    y = np.concatenate(executions)
    n, groups = len(y), len(executions)
    q = type8(y, tau)
    scores = np.array([sum((v < q) - tau for v in own.tolist()) / n for own in executions])
    scores *= math.sqrt(groups / (groups - 1))
    error = math.sqrt(sum(s * s for s in scores.tolist()))
    down = min(REACH * error, LAST * tau)
    up = min(REACH * error, LAST * (1 - tau))
    low, high = (q - type8(y, tau - down)) / down, (type8(y, tau + up) - q) / up
    # pseudo-values of Busing et al. 1999, equation 8, for h = n / size
    h = [n / len(own) for own in executions]
    without = [type8(np.concatenate(executions[:g] + executions[g + 1 :]), tau) for g in range(groups)]
    mean = groups * q - sum((1 - 1 / h[g]) * without[g] for g in range(groups))
    pseudo = [h[g] * q - (h[g] - 1) * without[g] for g in range(groups)]
    errors = [(pseudo[g] - mean) / math.sqrt(groups * (h[g] - 1)) for g in range(groups)]
    return low, high, scores, np.array(errors)


@pytest.mark.parametrize("tau", [0.2, 0.5, 0.9])
def test_what_clusters_do_against_its_literal_twin(tau: float) -> None:
    rng = np.random.default_rng(6)
    executions = [rng.normal() + rng.lognormal(size=size) for size in (20, 30, 40, 10)]
    y = np.concatenate(executions)
    cell = by_treatment(y, np.zeros(len(y), dtype=np.int64), np.repeat([7, 3, 5, 9], [20, 30, 40, 10]))[0]
    assert cell.clusters.tolist() == [3, 5, 7, 9]
    found = around(cell, minimiser(cell.ordered, tau), tau)
    low, high, scores, errors = literal_parts([executions[k] for k in (1, 2, 0, 3)], tau)
    assert (found.low, found.high) == pytest.approx((low, high))
    assert found.scores == pytest.approx(scores)
    assert found.errors == pytest.approx(errors)
    assert found.least == pytest.approx(min(b - a for a, b in pairwise(sorted(y.tolist()))) ** 2 / 48)


def test_limits_of_independent_treatments_against_their_formula() -> None:
    rng = np.random.default_rng(7)
    tau, executions = 0.9, [[rng.normal() + rng.lognormal(size=50) for _ in range(4)] for _ in range(4)]
    values = frame({(k // 2, k % 2): [own.tolist() for own in executions[k]] for k in range(4)})
    row = effect(quantile_effects(values, factors(2, 2), [tau]).models[0], "b")
    weights = [-0.25, 0.25, -0.25, 0.25]
    below = above = jackknife = 0.0
    variances = []
    for w, own in zip(weights, executions, strict=True):
        low, high, scores, errors = literal_parts(own, tau)
        down, up = (low, high) if w > 0 else (high, low)
        share = float(scores @ scores)
        below, above = below + w * w * down * down * share, above + w * w * up * up * share
        jackknife += w * w * float(errors @ errors)
        variances.append(w * w * ((low + high) / 2) ** 2 * share)
    df = sum(variances) ** 2 / sum(v * v / 3 for v in variances)
    t = stats.t.ppf(0.975, df)
    assert row.low == pytest.approx(row.estimate - t * math.sqrt(max(below, jackknife)))
    assert row.high == pytest.approx(row.estimate + t * math.sqrt(max(above, jackknife)))
    assert below != pytest.approx(above)
    facing = below if row.estimate > 0 else above
    assert row.p == pytest.approx(2 * stats.t.sf(abs(row.estimate) / math.sqrt(max(facing, jackknife)), df))


def test_what_a_build_does_to_all_its_treatments_cancels_in_effects() -> None:
    rng = np.random.default_rng(8)
    shift = 100 * rng.normal(size=5)
    treatments = {
        codes: [(shift[k] + rng.normal(size=100)).tolist() for k in range(5)] for codes in product(range(2), range(2))
    }
    values = frame(treatments)
    widths = {}
    for level, df in (("execution", 8.0), ("build", 3.9)):
        own = quantile_effects(values, factors(2, 2), [0.5], cluster=level).models[0]  # type: ignore[arg-type]  # by name
        assert there(own.df) > df and (level == "execution" or own.df == 4)
        widths[level] = [there(effect(own, of).high) - there(effect(own, of).low) for of in ("intercept", "a")]
    assert widths["build"][1] < widths["execution"][1] / 5
    assert widths["build"][0] > widths["execution"][0]


def test_an_interval_holds_0_where_p_is_above_1_minus_confidence() -> None:
    seen = set()
    for seed in range(8):
        values = measured(np.random.default_rng([10, seed]), FULL, 3, (40, 60))
        for confidence in (0.8, 0.95):
            for row in quantile_effects(values, factors(2, 2, 2), [0.5], confidence=confidence).models[0].effects:
                holds = there(row.low) <= 0 <= there(row.high)
                assert holds == (there(row.p) >= 1 - confidence)
                seen.add(holds)
    assert seen == {True, False}


@pytest.mark.parametrize("gone", [[], [(1, 1, 1), (0, 1, 1)]])
def test_effects_scale_with_the_values(gone: list[tuple[int, ...]]) -> None:
    values = measured(np.random.default_rng(11), [codes for codes in FULL if codes not in gone], 3, (20, 30))
    plain = quantile_effects(values, factors(2, 2, 2), [0.7], iid=True).models[0]
    values["y"] = -1e-9 * values["y"]
    turned = quantile_effects(values, factors(2, 2, 2), [0.3], iid=True).models[0]
    for own, other in ((plain.effects, turned.effects), (there(plain.iid), there(turned.iid))):
        one, two = (np.array([(e.estimate, e.low, e.high, e.p) for e in of], dtype=float) for of in (own, other))
        assert two == pytest.approx(one[:, [0, 2, 1, 3]] * [-1e-9, -1e-9, -1e-9, 1], rel=1e-6)


# --- independent values


def printed_by_r(y: Array, design: Array, tau: float) -> tuple[Array, Array]:
    """Coefficients and iid standard errors step by step as summary.rq has them, each fit by a linear programme."""
    beta, (n, p) = linear_programme(y, design, tau)[1], design.shape
    away = y - design @ beta
    z = stats.norm.ppf(tau)
    width = (
        n ** (-1 / 3) * stats.norm.ppf(0.975) ** (2 / 3) * (1.5 * stats.norm.pdf(z) ** 2 / (2 * z**2 + 1)) ** (1 / 3)
    )
    zeros = int((np.abs(away) < 1e-9).sum())
    ranks = np.arange(zeros + 1, zeros + max(p + 1, math.ceil(n * width)) + 2)
    nearest = np.sort(away[np.argsort(np.abs(away))[ranks - 1]])
    slope = linear_programme(nearest, np.column_stack((np.ones(len(ranks)), ranks / (n - p))), 0.5)[1][1]
    return beta, np.sqrt(slope**2 * tau * (1 - tau) * np.diag(np.linalg.inv(design.T @ design)))


@pytest.mark.parametrize("tau", [0.25, 0.5, 0.9])
def test_iid_intervals_are_those_of_summary_rq(tau: float) -> None:
    rng = np.random.default_rng(14)
    values = frame({codes: [rng.lognormal(size=51 + 2 * codes[0]).tolist()] for codes in FULL})
    model = quantile_effects(values, factors(2, 2, 2), [tau], confidence=0.9, iid=True).models[0]
    beta, errors = printed_by_r(values["y"].to_numpy(), coded_by_hand(values), tau)
    df = len(values) - len(beta)
    half = stats.t.ppf(0.95, df) * errors
    wanted = np.column_stack((beta, beta - half, beta + half, 2 * stats.t.sf(np.abs(beta / errors), df)))
    found = np.array([(row.estimate, row.low, row.high, row.p) for row in there(model.iid)])
    assert found == pytest.approx(wanted, abs=1e-7)
    assert model.iid_errors == pytest.approx(errors, abs=1e-8)


def test_iid_intervals_exist_where_the_bandwidth_reaches_beyond_1() -> None:
    values = measured(np.random.default_rng(15), FULL, 2, (10, 11))
    iid = there(quantile_effects(values, factors(2, 2, 2), [0.99], iid=True).models[0].iid)
    assert all(there(row.low) < row.estimate for row in iid)
    assert quantile_effects(values, factors(2, 2, 2), [0.99]).models[0].iid is None


# --- what may be lacking


def test_quantiles_that_rest_on_too_little_are_named() -> None:
    rng = np.random.default_rng(18)
    values = frame({(k,): [rng.normal(size=60 if k else 30).tolist() for _ in range(3)] for k in range(2)})
    found = quantile_effects(values, factors(2), (0.05, 0.1, 0.5, 0.9, 0.95))
    assert [own.enough for own in found.models] == [False, False, True, False, False]
    # and what rests on one execution
    rng = np.random.default_rng(19)
    treatments = {(k,): [rng.normal(size=200).tolist() for _ in range(5)] for k in range(2)}
    assert not quantile_effects(frame(treatments), factors(2), (0.9, 0.99)).warnings
    treatments[1,][2] = (10 + rng.normal(size=200)).tolist()
    assert quantile_effects(frame(treatments), factors(2), (0.5, 0.9)).warnings == [
        "p90: the executions of a=a1 differ so much that it rests on few of them; its intervals may be too narrow"
    ]


def test_what_cannot_be_estimated() -> None:
    # one execution a treatment gives no interval
    treatments = {(k,): [[1.0, 2.0, 4.0 + k]] * (1 + k) for k in range(2)}
    found = quantile_effects(frame(treatments), factors(2), (0.5,))
    own = found.models[0]
    assert [(row.low, row.high, row.p) for row in own.effects] == [(None, None, None)] * 2
    assert own.df is None and found.clusters == 3
    assert found.warnings[0] == "no intervals of quantile effects: each treatment needs 2 executions, a=a0 has 1"
    # settings that were not measured together
    values = measured(np.random.default_rng(23), [codes for codes in FULL if codes[:2] != (1, 1)], 2, (20, 30))
    found = quantile_effects(values, factors(2, 2, 2), (0.5,))
    assert found.inestimable == ["a:b: a=a1 was not measured with b=b1; without it there is no a:b:c"]
    assert [row.term for row in found.models[0].effects] == ["intercept", "a", "b", "c", "a:c", "b:c"]
    # a single treatment has an intercept
    rng = np.random.default_rng(24)
    values = frame({(1, 0): [rng.normal(size=40).tolist() for _ in range(3)]})
    found = quantile_effects(values, factors(2, 2), (0.5,))
    (row,) = found.models[0].effects
    assert (row.term, row.settings, found.models[0].df) == ("intercept", {}, 2)
    assert there(row.low) < row.estimate == pytest.approx(float(np.median(values["y"])))
    assert found.inestimable == ["a: measured at a1 only", "b: measured at b0 only"]


def test_constant_values_in_a_treatment_and_everywhere() -> None:
    rng = np.random.default_rng(21)
    treatments = {(k,): [(rng.normal(size=50) if k else np.full(50, 3.0)).tolist() for _ in range(4)] for k in range(2)}
    own = quantile_effects(frame(treatments), factors(2), (0.5,)).models[0]
    row = effect(own, "a")
    assert there(row.low) < row.estimate < there(row.high) and own.df == 3
    treatments = {(k,): [[3.0 + k] * 20] * 3 for k in range(2)}
    found = quantile_effects(frame(treatments), factors(2), (0.5,), iid=True)
    row, other = found.models[0].effects[1], (found.models[0].iid or [])[1]
    assert (row.estimate, row.low, row.high, row.p) == (0.5, 0.5, 0.5, 0.0)
    assert (other.estimate, other.low) == (0.5, None)
    treatments = {(k,): [[3.0] * 20] * 3 for k in range(2)}
    row = quantile_effects(frame(treatments), factors(2), (0.5,)).models[0].effects[1]
    assert (row.estimate, row.low, row.high, row.p) == (0.0, None, None, None)


@pytest.mark.parametrize("gone", [[], [(1, 1)]])
def test_coarse_values_leave_at_least_what_their_step_leaves(gone: list[tuple[int, ...]]) -> None:
    # of every execution the median is 2, whatever is drawn
    rng = np.random.default_rng(22)
    treatments: dict[tuple[int, ...], list[list[float]]] = {
        codes: [[1.0] * int(rng.integers(1, 5)) + [2.0] * 20 + [3.0] * int(rng.integers(1, 5)) for _ in range(3)]
        for codes in product(range(3), range(2))
        if codes not in gone
    }
    own = quantile_effects(frame(treatments), factors(3, 2), (0.5,)).models[0]
    row = effect(own, "b")
    assert row.estimate == pytest.approx(0) and row.p == pytest.approx(1)
    assert own.effects[0].estimate == pytest.approx(2)
    assert 0 < there(row.high) - there(row.low) < 2
