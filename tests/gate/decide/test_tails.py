"""Quantiles as findings of their own, the curve, and the overall change."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from gate.model import reasons
from tests.gate.decide.decided import Lines, both, decided, ones, only


def config(statistics: list[str], **gate: Any) -> dict[str, Any]:
    metric = {"latency": {"unit": "s", "statistics": statistics}}
    benchmark = {"name": "load", "command": "x", "instrument": "values", "metric": metric}
    return {"gate": {"interval": "fieller", "floor": 0, **gate}, "benchmark": [benchmark]}


def load(seed: int, head: float, counts: tuple[int, int, int], **more: Any) -> Lines:
    """Latencies around 10 ms of both sides, of which the slowest twentieth of head is so many times slower."""
    rng, sides = np.random.default_rng(seed), []
    for tail in (1.0, head):
        values = 0.01 * rng.lognormal(0, 0.1, counts)
        values[values > np.quantile(values, 0.95)] *= tail
        sides.append(values.tolist())
    return both(*sides, benchmark="load", metric="latency", **more)


def test_mean_and_tail_have_verdicts_of_their_own() -> None:
    lines = load(1, 1.5, (6, 4, 300))
    found = decided(lines, config(["mean", "p50", "p99"], threshold="10%"))
    verdicts = {f.statistic: f.verdict for f in found.findings}
    assert verdicts == {"mean": "unchanged", "p50": "unchanged", "p99": "regression"}
    assert found.family.size == 3
    (curve,) = found.curves
    by_tau = {effect.tau: effect for effect in curve.effects}
    assert by_tau[0.5].ratio == pytest.approx(1, abs=0.02)
    assert by_tau[0.99].ratio == pytest.approx(1.5, abs=0.1)
    # only the statistics that are decided are in the family; one that matters has its curve all the same
    alone = decided(lines, config(["mean"]))
    assert alone.family.size == 1
    assert alone.curves == found.curves


def test_a_quantile_is_welchs_t_on_the_logarithms_of_each_builds_quantile() -> None:
    rng = np.random.default_rng(2)
    counts = (5, 3, 10)
    base, head = rng.lognormal(0, 0.3, counts), rng.lognormal(0.1, 0.3, counts)
    found = only(both(base.tolist(), head.tolist(), benchmark="load", metric="latency"), config(["p50"]))
    # Hyndman and Fan's type 8 is numpy's median_unbiased
    x, y = (
        np.log([np.quantile(build, 0.5, method="median_unbiased") for build in side.reshape(5, -1)])
        for side in (base, head)
    )
    interval = stats.ttest_ind(y, x, equal_var=False).confidence_interval(0.95)
    assert found.ratio.estimate == pytest.approx(np.exp(y.mean() - x.mean()))
    assert [found.ratio.low, found.ratio.high] == pytest.approx([np.exp(interval.low), np.exp(interval.high)])
    assert found.base.value == pytest.approx(np.exp(x.mean()))


def test_a_quantile_without_enough_values_says_how_many_are_missing() -> None:
    found = only(load(3, 9.0, (5, 3, 40)), config(["p99"]))
    assert (found.verdict, found.ratio.kind) == ("inconclusive", "withheld")
    assert found.reason == reasons.FewValues(statistic="p99", needs=1000, has=120)


def test_a_quantile_of_zero_has_no_ratio() -> None:
    sides = (np.full((5, 3, 10), value).tolist() for value in (0.0, 1.0))
    found = only(both(*sides, benchmark="load", metric="latency"), config(["p50"]))
    assert (found.verdict, found.reason) == ("inconclusive", reasons.ZERO_QUANTILE)


def test_where_higher_is_better_the_tail_is_mirrored() -> None:
    slow = load(4, 1.5, (6, 4, 300), better="higher")
    assert only(slow, config(["p99"], threshold="10%")).verdict == "improvement"


def test_the_overall_change_is_the_ratio_of_geometric_means_over_builds() -> None:
    rng = np.random.default_rng(5)
    names = ["suite/a", "suite/b", "c"]
    base, head = (rng.lognormal(shift, 0.05, (3, 6)) * [[1.0], [10.0], [100.0]] for shift in (0, 0.1))
    lines = [line for name, *sides in zip(names, base, head, strict=True) for line in ones(*sides, benchmark=name)]
    found = decided(lines, {"gate": {"interval": "fieller"}})
    whole = next(o for o in found.overall if o.group == "all")
    x, y = np.log(base).mean(axis=0), np.log(head).mean(axis=0)
    interval = stats.ttest_ind(y, x, equal_var=False).confidence_interval(0.95)
    assert whole.ratio.estimate == pytest.approx(np.exp(y.mean() - x.mean()))
    assert [whole.ratio.low, whole.ratio.high] == pytest.approx([np.exp(interval.low), np.exp(interval.high)])
    assert (whole.cases, whole.dropped, whole.metric) == (3, [], "time")
    suite = next(o for o in found.overall if o.group == "suite")
    assert suite.ratio.estimate == pytest.approx(np.exp(np.log(head[:2]).mean() - np.log(base[:2]).mean()))
    # a mean of 0 has no logarithm
    zero = [*lines, *ones([0.0] * 6, [1.0] * 6, benchmark="z")]
    dropped = decided(zero, {"gate": {"interval": "fieller"}}).overall[0]
    assert (dropped.cases, dropped.dropped) == (3, ["z"])
