"""What a simulation draws: the variances that it was asked for, and the memory of them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
import scipy.stats

from benchmarks.evidence.other_tools import Values
from benchmarks.evidence.sources import Varied
from gate.commands.simulate.draws import NORMAL, SHAPES, Components, Draws, Shape, Source

Array = npt.NDArray[np.float64]
NOISY = Components("noisy", 0.05, 0.1, 0.2, executions=4, iterations=5)


def drawn(source: Draws, ratios: tuple[float, ...], rounds: int = 40_000) -> list[tuple[Array, Array]]:
    """Values of base and head of each case."""
    evidence = source.evidence(np.random.default_rng(1), rounds, (), ratios)
    return [(case.base.values, case.head.values) for case in evidence.cases]


def test_build_effects_have_mean_0_and_sd_1_and_those_called_skewed_skewness_1() -> None:
    for shape in (*SHAPES, Shape("bimodal", 0.3, 1.0)):
        effects = shape.draw(np.random.default_rng(1), (200_000,))
        assert effects.mean() == pytest.approx(0, abs=0.01), shape.name
        assert effects.std() == pytest.approx(1, abs=0.01), shape.name
        assert shape.name != "skewed" or scipy.stats.skew(effects) == pytest.approx(1, abs=0.05)
    assert "skewed" in {shape.name for shape in SHAPES}
    # a residual of its own is named
    named = [Shape("bimodal", 0.05).name, Shape("bimodal", 0.5, 1.0).name]
    assert named == ["bimodal 5:95", "bimodal 50:50, residual 1"]


@pytest.mark.parametrize("shape", [NORMAL, Shape("skewed")], ids=lambda shape: shape.name)
def test_build_means_have_the_variance_of_all_levels(shape: Shape) -> None:
    [(base, head)] = drawn(Source((NOISY,), shape), (1.5,))
    # 0.05^2 + 0.1^2/4 + 0.2^2/20
    assert base.var() == pytest.approx(0.007, rel=0.03)
    assert head.var() == pytest.approx(1.5**2 * 0.007, rel=0.03)
    assert head.mean() == pytest.approx(1.5, rel=0.01)
    raw = Values(NOISY, shape).side(np.random.default_rng(1), 30_000, 2, 1.5)
    assert raw.mean(axis=(2, 3)).var() == pytest.approx(1.5**2 * 0.007, rel=0.03)
    assert raw.min() > 0


def test_what_a_round_shares() -> None:
    drifting = Components("drifting", 0.1, 0.0, 0.0, drift=0.1)
    [(base, head)] = drawn(Varied((drifting,), noise=4.0), (1.0,))
    assert np.corrcoef(base, head)[0, 1] == pytest.approx(1 / 5, abs=0.02)
    assert base.var() == pytest.approx(0.05, rel=0.03)
    [(base, head)] = drawn(Varied((Components("layouts", 0.1, 0.0, 0.0),), correlation=0.9), (1.0,))
    assert np.corrcoef(base, head)[0, 1] == pytest.approx(0.9, abs=0.01)
    assert base.var() == pytest.approx(0.01, rel=0.03)
    [(base, head)] = drawn(Varied((Components("uneven", 0.0, 0.0, 0.0),), uneven=0.05), (1.0,))
    assert (base.std(), head.std()) == pytest.approx((0, 0.05), rel=0.03)
    # one noisy case is the first
    found = drawn(Varied((NOISY,) * 3, NORMAL, 4.0, one_noisy=True), (1.0,) * 3)
    assert [base.var() for base, _ in found] == pytest.approx([0.028, 0.007, 0.007], rel=0.05)


@pytest.mark.parametrize(("shape", "drift"), [(NORMAL, 0.0), (Shape("bimodal", 0.5), 0.1)], ids=["normal", "bimodal"])
def test_a_memory_is_right_on_the_average(shape: Shape, drift: float) -> None:
    component = Components("x", 0.1, 0.0, 0.0, drift=drift)
    source = Varied((component,) * 20_000, shape, noise=4.0, memory=6)
    run = source.evidence(np.random.default_rng(2), 2, (), (1.0,) * 20_000).run
    assert run is not None and run.memory is not None and run.config is None
    sessions = [finding.sessions[0] for finding in run.memory.findings]
    contrasts, builds = ([getattr(each, of) for each in sessions] for of in ("contrast", "build"))
    assert np.mean([each.value for each in contrasts]) == pytest.approx(2 * 0.01, rel=0.03)
    assert np.mean([each.value for each in builds]) == pytest.approx(0.01 + drift**2, rel=0.03)
    assert (contrasts[0].df, builds[0].df) == (6, 12)
    if shape == NORMAL:
        assert np.var([each.value for each in contrasts]) == pytest.approx(2 / 6 * 0.02**2, rel=0.06)
