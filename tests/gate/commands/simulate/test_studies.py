"""Studies count what gate.decide says, and the rules of other tools."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import scipy.stats

from benchmarks.evidence.other_tools import RULES, Rivals, Values, mann_whitney, over_builds, pooled_welch, rivals
from benchmarks.evidence.sources import Varied
from benchmarks.evidence.turns import Turns
from gate.commands.simulate.draws import NORMAL, SHAPES, CaseDraws, CaseNoise, Draws, Shape
from gate.commands.simulate.studies import VERDICTS, Comparisons, Reports, Rules, decided, policy_of
from gate.decide.report import decide
from gate.model import Finding

NOISY = CaseNoise("noisy", 0.02, 0.0, 0.02, executions=2, iterations=2)
LOOKS = (4, 6, 8, 12)


@pytest.mark.parametrize(
    ("source", "rules"),
    [
        (CaseDraws((NOISY,) * 6), Rules(0.02, LOOKS)),
        (CaseDraws((NOISY,) * 6), Rules(0.02, LOOKS, show="not-worse")),
        (Varied((NOISY,) * 6, memory=8), Rules(0.0, (3, 4, 5), "fieller-moderated")),
        (Turns(active=0.02, wall=0.03), Rules(0.02, LOOKS)),
    ],
    ids=["looks", "not worse", "memory", "views"],
)
def test_verdicts_are_those_of_the_report(source: Draws, rules: Rules) -> None:
    seen: set[str] = set()
    ratios = (1.0, 1.0, 1.03, 1.1, 0.9, 0.97)
    for seed in range(8):
        evidence = source.evidence(np.random.default_rng(seed), rules.looks[-1], rules.looks, ratios)
        report = decide(evidence, policy_of(rules))
        found = decided(evidence, rules)
        assert [verdict for _, verdict in found] == [finding.verdict for finding in report.findings]
        assert [one.look + 1 for one, _ in found] == [each.decided_at.look for each in report.findings]
        assert [one.position.not_worse for one, _ in found] == [each.not_worse for each in report.findings]
        seen |= {verdict for _, verdict in found}
    assert {"regression", "improvement"} <= seen


def test_reports_add_up() -> None:
    study = Reports(CaseDraws((NOISY,) * 3), Rules(0.02, (4, 6)), (1.0, 1.0, 2.0))
    one, two = (study.run(np.random.default_rng(seed), 10) for seed in (1, 2))
    both = one + two
    assert (both.reports, both.failed) == (20, one.failed + two.failed)
    # the one that doubled is found at the look at which 5 builds are had
    assert both.found(2) == both.failing == both.early / both.reports == 1.0
    assert both.verdicts.sum(axis=1).tolist() == [20] * 3
    assert both.built == 6 * 20
    assert both.of_case("no-sign") + both.of_case("inconclusive") + both.of_case("regression") <= 1
    assert VERDICTS[0] == "regression"


def findings(source: Draws, rules: Rules, seed: int, n: int, ratios: tuple[float, ...]) -> list[list[Finding]]:
    rng = np.random.default_rng(seed)
    drawn = [source.evidence(rng, rules.looks[-1], (), ratios) for _ in range(n)]
    return [decide(evidence, policy_of(rules)).findings for evidence in drawn]


def test_comparisons_are_counted_as_one_by_one() -> None:
    rules, ratios = Rules(looks=(3,), interval="fieller", family="none", min_builds=2), (1.1, 1.1)
    study = Comparisons(CaseDraws((NOISY,) * 2), rules, ratios, (0.0, 0.02))
    counts = study.run(np.random.default_rng(4), 60)
    limits: Any = [
        [(f.ratio.low, f.ratio.high) for f in report] for report in findings(study.source, rules, 4, 60, ratios)
    ]
    low, high = np.array(limits)[..., 0], np.array(limits)[..., 1]
    assert (counts.covered / counts.comparisons).tolist() == ((low <= 1.1) & (high >= 1.1)).mean(axis=0).tolist()
    assert counts.mean_half_width == pytest.approx(((high - low) / 2).mean(axis=0))
    assert counts.power.tolist() == [[(low > 1 + d).mean(axis=0)[k] for d in (0.0, 0.02)] for k in range(2)]
    assert counts.different == pytest.approx([((low > 1 + d) | (high < 1 / (1 + d))).mean() for d in (0.0, 0.02)])


def test_what_has_no_bounds_holds_the_truth_and_of_several_the_first_may_be_counted_alone() -> None:
    few, source = (
        Rules(looks=(2,), interval="fieller", min_builds=2),
        CaseDraws((CaseNoise("wild", 0.8, 0.0, 0.0),) * 2),
    )
    counts = Comparisons(source, few, (1.0, 1.0), counted=1).run(np.random.default_rng(1), 40)
    assert counts.comparisons.tolist() == [40]
    assert counts.bounded[0] < 20 and counts.coverage > 0.9


def test_quantiles_and_views_are_findings_of_their_own() -> None:
    case = CaseNoise("service", 0.02, 0.02, 0.3, executions=5, iterations=20)
    rules = Rules(looks=(3,), statistics=("p50", "p90"))
    assert len(Comparisons(Values(case), rules, (1.0,)).run(np.random.default_rng(1), 2).comparisons) == 2
    of_views = Comparisons(Turns(active=0.001, wall=0.5), Rules(looks=(6,)), (1.05,)).run(np.random.default_rng(1), 5)
    sharp, dull = of_views.mean_half_width
    assert sharp < dull / 10


def test_pooled_tests_are_those_of_scipy() -> None:
    rng = np.random.default_rng(7)
    base, head = rng.lognormal(0, 0.3, (25, 40)), rng.lognormal(0.1, 0.5, (25, 30))
    expected = scipy.stats.ttest_ind(base, head, axis=1, equal_var=False).pvalue
    assert pooled_welch(base, head) == pytest.approx(expected)
    expected = scipy.stats.mannwhitneyu(base, head, axis=1, method="asymptotic").pvalue
    assert mann_whitney(base, head) == pytest.approx(expected)


def test_other_rules_call_what_they_call_one_by_one() -> None:
    study = Rivals(NOISY, 1.1)
    counts = study.run(np.random.default_rng(6), 40)
    rng = np.random.default_rng(6)
    base, head = (Values(NOISY).side(rng, 40, 12, mean) for mean in (1.0, 1.1))
    expected = np.zeros(len(RULES))
    for b, h in zip(base, head, strict=True):
        x, y = b[:5].ravel(), h[:5].ravel()
        above = y.mean() > 1.02 * x.mean()
        means = b.mean(axis=(1, 2))[None], h.mean(axis=(1, 2))[None]
        expected += [
            over_builds(*means, 0.02, (5,))[0][0],
            above and scipy.stats.ttest_ind(x, y, equal_var=False).pvalue < 0.05,
            above and scipy.stats.mannwhitneyu(x, y, method="asymptotic").pvalue < 0.05,
            over_builds(*means, 0.02, range(2, 13))[0][0],
            above,
            y.min() > 1.02 * x.min(),
        ]
    assert counts.slower[1].tolist() == expected.tolist()
    assert (counts.different >= counts.failing).all()
    long = rivals(CaseNoise("long", 0, 0, 0.1, 100, 100), 0.0)
    assert long.components.executions * long.components.iterations == 2000


# --- what a simulation draws: the variances that it was asked for, and the memory of them -----------------------------


Array = npt.NDArray[np.float64]
LOUD = CaseNoise("noisy", 0.05, 0.1, 0.2, executions=4, iterations=5)


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
    [(base, head)] = drawn(CaseDraws((LOUD,), shape), (1.5,))
    # 0.05^2 + 0.1^2/4 + 0.2^2/20
    assert base.var() == pytest.approx(0.007, rel=0.03)
    assert head.var() == pytest.approx(1.5**2 * 0.007, rel=0.03)
    assert head.mean() == pytest.approx(1.5, rel=0.01)
    raw = Values(LOUD, shape).side(np.random.default_rng(1), 30_000, 2, 1.5)
    assert raw.mean(axis=(2, 3)).var() == pytest.approx(1.5**2 * 0.007, rel=0.03)
    assert raw.min() > 0


def test_what_a_round_shares() -> None:
    drifting = CaseNoise("drifting", 0.1, 0.0, 0.0, drift=0.1)
    [(base, head)] = drawn(Varied((drifting,), noise=4.0), (1.0,))
    assert np.corrcoef(base, head)[0, 1] == pytest.approx(1 / 5, abs=0.02)
    assert base.var() == pytest.approx(0.05, rel=0.03)
    [(base, head)] = drawn(Varied((CaseNoise("layouts", 0.1, 0.0, 0.0),), correlation=0.9), (1.0,))
    assert np.corrcoef(base, head)[0, 1] == pytest.approx(0.9, abs=0.01)
    assert base.var() == pytest.approx(0.01, rel=0.03)
    [(base, head)] = drawn(Varied((CaseNoise("uneven", 0.0, 0.0, 0.0),), uneven=0.05), (1.0,))
    assert (base.std(), head.std()) == pytest.approx((0, 0.05), rel=0.03)
    # one noisy case is the first
    found = drawn(Varied((LOUD,) * 3, NORMAL, 4.0, one_noisy=True), (1.0,) * 3)
    assert [base.var() for base, _ in found] == pytest.approx([0.028, 0.007, 0.007], rel=0.05)


@pytest.mark.parametrize(("shape", "drift"), [(NORMAL, 0.0), (Shape("bimodal", 0.5), 0.1)], ids=["normal", "bimodal"])
def test_a_memory_is_right_on_the_average(shape: Shape, drift: float) -> None:
    component = CaseNoise("x", 0.1, 0.0, 0.0, drift=drift)
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
