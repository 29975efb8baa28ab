"""The rules of the verdict (docs/method.md), each on data made for it."""

import datetime
from typing import Any

import msgspec
import numpy as np
import pytest

from gate.config.config_text import read_source
from gate.config.parse import parse
from gate.config.rules import Policy
from gate.config.types import Config
from gate.decide import decide
from gate.decide.importance import ordered
from gate.decide.policy import policy_at
from gate.evidence.gather import gather
from gate.model import Accepted, Finding, Report, Run, outcomes, reasons
from gate.model.bounds import LARGEST, SMALLEST
from gate.model.warnings.estimates import NormalTail, NotExact
from gate.model.warnings.setup import ExpiredAccept, MatchesNothing
from gate.units import Share
from tests.support.kalibera_jones import TABLE_V_NEW, TABLE_V_OLD
from tests.support.lines import builds, execution, located

TODAY = datetime.date(2026, 11, 20)
RNG = np.random.default_rng(11)
# five builds whose means differ by about 1%, around 1
NOISE = [0.99, 1.0, 1.01, 1.005, 0.995]


def side(scale: float, count: int = 5, better: str = "lower", **more: Any) -> list[dict[str, Any]]:
    name = more.pop("side")
    nested = [[[scale * NOISE[b % 5] * (1 + 0.001 * e)] for e in range(2)] for b in range(count)]
    return builds(name, nested, better=better, **more)


def pair(ratio: float, count: int = 5, **more: Any) -> list[dict[str, Any]]:
    scale = more.pop("scale", 1.0)
    return [*side(scale, count, side="base", **more), *side(scale * ratio, count, side="head", **more)]


def both(nested: list[list[list[float]]], ratio: float = 1.0) -> list[dict[str, Any]]:
    return [*builds("base", nested), *builds("head", [[[ratio * v for v in e] for e in b] for b in nested])]


def report(lines: list[dict[str, Any]], toml: str = "", label: str | None = None) -> Report:
    config = parse(read_source(toml, "perfgate.toml"))
    if "threshold" not in toml:
        config = msgspec.structs.replace(config, gate=msgspec.structs.replace(config.gate, threshold=Share(0.03)))
    if config.gate.interval == "auto":
        # the made data has the same noise on both sides, which a pairing would take away
        config = msgspec.structs.replace(config, gate=msgspec.structs.replace(config.gate, interval="fieller"))
    policy = Policy(config, "test", TODAY, label)
    return decide(gather(located(*lines), policy.config), policy)


def finding(lines: list[dict[str, Any]], toml: str = "") -> Finding:
    (found,) = report(lines, toml).findings
    return found


@pytest.mark.parametrize(
    ("ratio", "verdict"), [(1.2, "regression"), (1.0, "unchanged"), (0.8, "improvement"), (1.029, "no-sign")]
)
def test_the_four_verdicts_and_their_mirror(ratio: float, verdict: str) -> None:
    assert finding(pair(ratio)).verdict == verdict
    # where higher is better the inverse ratio is judged: time and rate agree
    assert finding(pair(1 / ratio, better="higher")).verdict == verdict


def test_the_decided_interval_is_the_one_that_decides() -> None:
    lines = [line for k, ratio in enumerate((1.2, 1.05, 1.045, 1.0, 0.8)) for line in pair(ratio, benchmark=f"b{k}")]
    found = report(lines, '[gate]\nthreshold = "3%"').findings
    for f in found:
        assert f.decided_at.low is not None and f.decided_at.high is not None
        assert (f.verdict == "regression") == (f.decided_at.low > 1.03)
        assert (f.verdict == "improvement") == (f.decided_at.high < 1 / 1.03)
        if f.verdict == "regression":
            assert f.p_adjusted is not None and f.p_adjusted < 0.05
    assert found[0].verdict == "regression"
    assert found[0].decided_at.confidence == pytest.approx(0.99)


def test_not_worse_alone_is_inconclusive_but_never_fails() -> None:
    # an improvement too uncertain to call, certain not to be a regression
    lines = [
        *builds("base", [[[v]] for v in (1.0, 1.08, 0.92, 1.05, 0.95)]),
        *builds("head", [[[v]] for v in (0.93, 0.99, 0.86, 0.96, 0.9)]),
    ]
    result = report(lines, '[gate]\nthreshold = "3%"\ninconclusive = "fail"')
    (f,) = result.findings
    assert (f.verdict, f.not_worse) == ("inconclusive", True)
    assert (result.verdict, result.exit_code) == ("inconclusive", 0)


def test_below_min_builds_nothing_is_called() -> None:
    found = finding(pair(1.5, 4))
    assert found.verdict == "inconclusive"
    assert found.reason == reasons.FewBuilds(needs=5, has=4)
    assert found.p_adjusted is None
    assert finding(pair(1.5, 4), "[gate]\nmin_builds = 4").verdict == "regression"
    assert finding(pair(1.0, 4)).verdict == "unchanged"


ONE_UNIT = reasons.OneUnit(unit="build", sides=["base", "head"])


@pytest.mark.parametrize(
    ("lines", "toml", "verdict", "reason"),
    [
        (pair(1.05), '[gate]\nthreshold = "20%"', "unchanged", reasons.RealWithin(threshold=0.2)),
        (both([[[1.0, 2.0], [1.5]]]), "", "inconclusive", ONE_UNIT),
        (both([[[1.0]]]), "", "inconclusive", ONE_UNIT),
        (both([[[0.012345]]] * 5, 2.0), "", "inconclusive", reasons.NoSpread()),
        (both([[[-1.0, 2.0]]] * 5), "", "inconclusive", reasons.NegativeValues()),
        # an improvement says as well that it lacks builds
        (pair(0.5, 4), "", "inconclusive", reasons.FewBuilds(needs=5, has=4)),
        (
            [*side(1.0, side="base"), *side(1.5, side="head", session=1)],
            "", "inconclusive", reasons.DifferentSessions(),
        ),
    ],
)  # fmt: skip
def test_a_verdict_has_its_reason(lines: list[dict[str, Any]], toml: str, verdict: str, reason: object) -> None:
    found = finding(lines, toml)
    assert (found.verdict, found.reason) == (verdict, reason)
    # without two builds of a session on both sides, or a ratio, there is no interval
    assert (found.ratio.kind == "bounded") == isinstance(reason, (reasons.RealWithin, reasons.FewBuilds))
    assert found.not_worse == isinstance(reason, (reasons.RealWithin, reasons.FewBuilds))


def test_a_floor_keeps_tiny_changes_from_failing() -> None:
    lines = pair(1.5, scale=1e-8)
    assert finding(lines, '[gate]\nfloor = "1ns"').verdict == "regression"
    found = finding(lines, '[gate]\nfloor = "1us"')
    assert (found.verdict, found.not_worse) == ("inconclusive", False)
    assert found.floor == pytest.approx(1e-6)
    assert found.reason == reasons.BelowFloor(threshold=0.03, floor=found.floor or 0.0, unit="s")
    # the interval of the difference holds the floor: neither shown
    found = finding(lines, '[gate]\nfloor = "5ns"')
    assert found.verdict == "inconclusive"
    assert isinstance(found.reason, reasons.FloorOpen)


def test_k_and_js_table_v() -> None:
    lines = [*builds("base", TABLE_V_OLD), *builds("head", TABLE_V_NEW)]
    found = finding(lines, '[gate]\ninterval = "fieller-kj"')
    assert found.ratio.low == pytest.approx(0.109834376, abs=5e-10)
    assert found.ratio.high == pytest.approx(1.72530157, abs=5e-9)
    assert (found.ratio.method, found.ratio.df) == ("fieller-kj", 2)
    found = finding(lines, '[gate]\ninterval = "fieller-kj"\nconfidence = 0.99')
    assert (found.ratio.kind, found.ratio.low, found.ratio.high) == ("line", None, None)
    assert found.verdict == "inconclusive"
    assert found.reason == reasons.Unbounded()


EXACT = '[[benchmark]]\nname = "bench"\ncommand = "x"\ninstrument = "values"\n[benchmark.metric.count]\nexact = true\n'


def exact(base: float, head: float) -> list[dict[str, Any]]:
    return [
        execution(s, [v], build=b, metric="count", unit="", better="lower")
        for s, v in (("base", base), ("head", head))
        for b in range(2)
    ]


@pytest.mark.parametrize(
    ("base", "head", "verdict"),
    [
        (100, 100, "unchanged"),
        (100, 102, "unchanged"),
        (100, 104, "regression"),
        (100, 90, "improvement"),
        (0, 0, "unchanged"),
        (0, 5, "regression"),
        (5, 0, "improvement"),
    ],
)
def test_exact_metrics_are_compared_as_numbers(base: float, head: float, verdict: str) -> None:
    result = report(exact(base, head), EXACT)
    (found,) = result.findings
    assert found.verdict == verdict
    assert result.family.size == 0
    if base:
        assert (found.ratio.low, found.ratio.high, found.ratio.method) == (head / base, head / base, "exact")


@pytest.mark.parametrize(
    ("base", "head", "within"),
    [
        (100, 101, reasons.ExactWithin),
        (101, 100, reasons.ExactWithin),
        (100, 104, reasons.BelowFloor),
        (104, 100, reasons.BelowFloor),
    ],
)
def test_an_exact_change_is_below_the_floor_where_it_is_beyond_the_threshold(
    base: float, head: float, within: type
) -> None:
    found = finding(exact(base, head), EXACT + "floor = 5\n")
    verdict = "unchanged" if within is reasons.ExactWithin else "inconclusive"
    assert (found.verdict, type(found.reason)) == (verdict, within)


def test_from_zero_only_a_floor_can_tell() -> None:
    floor = EXACT + "floor = 3\n"
    assert finding(exact(0, 5), floor).verdict == "regression"
    assert finding(exact(0, 2), floor).verdict == "inconclusive"
    measured = [*builds("base", [[[0.0]]] * 5), *builds("head", [[[v]] for v in NOISE])]
    assert finding(measured, '[gate]\nfloor = "1us"').verdict == "regression"
    assert finding(measured, '[gate]\nfloor = "2s"').verdict == "inconclusive"
    assert finding(measured, "[gate]\nfloor = 0").ratio.estimate is None


def test_an_exact_metric_that_shows_spread_is_measured() -> None:
    lines = [
        execution(s, [v + 0.1 * (b % 2)], build=b, metric="count", unit="", better="lower")
        for s, v in (("base", 10), ("head", 10))
        for b in range(5)
    ]
    found = finding(lines, EXACT)
    assert found.ratio.method == "fieller"
    assert found.warnings == [NotExact("values")]


@pytest.mark.parametrize("spread", ["base", "head"])
def test_an_exact_metric_that_shows_spread_on_one_side_is_measured(spread: str) -> None:
    lines = [
        execution(s, [10 + (0.1 * (b % 2) if s == spread else 0)], build=b, metric="count", unit="", better="lower")
        for s in ("base", "head")
        for b in range(5)
    ]
    assert finding(lines, EXACT).warnings == [NotExact("values")]


@pytest.mark.parametrize("statistic", ["mean", "p50"])
@pytest.mark.parametrize(
    ("size", "ratio"), [(LARGEST / 4, 1.0), (LARGEST / 4, 2.0), (SMALLEST * 2, 1.0), (SMALLEST * 2, 2.0)]
)
def test_values_at_the_bounds_have_a_ratio(size: float, ratio: float, statistic: str) -> None:
    benchmark = '[gate]\nfloor = 0\n[[benchmark]]\nname = "bench"\ncommand = "x"\ninstrument = "values"\n'
    toml = f'{benchmark}[benchmark.metric.time]\nstatistics = ["{statistic}"]'
    sides = [
        [
            [[scale * noise * (1 + 0.001 * i + 1e-8 * (e + 3 * k)) for i in range(20)] for e in range(3)]
            for noise in NOISE
        ]
        for k, scale in enumerate((size, size * ratio))
    ]
    found = finding([*builds("base", sides[0]), *builds("head", sides[1])], toml)
    assert found.verdict == ("unchanged" if ratio == 1 else "regression")
    assert found.ratio.estimate == pytest.approx(ratio)


LABEL = "the label perf-accepted of #12"
ACCEPT = '[[accept]]\nbenchmark = "bench"\nup_to = "{}"\nuntil = {}\nreason = "see #123"\n'


@pytest.mark.parametrize(
    ("up_to", "until", "verdict"),
    [
        ("30%", "2026-12-31", "accepted"),
        ("20%", "2026-11-20", "accepted"),
        ("8%", "2026-12-31", "regression"),
        ("30%", "2026-11-19", "regression"),
    ],
)
def test_an_accepted_regression_passes_up_to_its_size_until_its_date(up_to: str, until: str, verdict: str) -> None:
    result = report(pair(1.2), ACCEPT.format(up_to, until))
    (found,) = result.findings
    assert found.verdict == verdict
    assert result.exit_code == (verdict == "regression")
    assert (found.accepted is not None) == (verdict == "accepted")
    if found.accepted:
        assert found.reason == reasons.AcceptedByEntry(up_to=float(up_to[:-1]) / 100, until=until, reason="see #123")
    else:
        # one that is too small for it is not passed over in silence
        outgrown = Accepted(up_to=0.08, until=until, reason="see #123") if up_to == "8%" else None
        assert isinstance(found.reason, reasons.Exceeds) and found.reason.outgrown == outgrown
    assert any(isinstance(w, ExpiredAccept) for w in result.warnings) == (until < "2026-11-20")


@pytest.mark.parametrize(("head", "verdict"), [(108, "accepted"), (109, "regression")])
def test_an_exact_regression_is_accepted_up_to_its_size(head: float, verdict: str) -> None:
    (found,) = report(exact(100, head), EXACT + ACCEPT.format("8%", "2026-12-31")).findings
    assert found.verdict == verdict


@pytest.mark.parametrize(
    ("glob", "more", "told"),
    [
        ("go/Prase", {}, True),
        ("go/Par*", {}, False),
        # what other tools name, and a part of what was measured, nobody can say
        ("*/Prase", {}, False),
        ("go/Prase", {"shard": "1/2"}, False),
        ("go/Prase", {"benchmarks": {"base": [], "head": []}}, False),
    ],
)
def test_a_rule_about_a_case_that_a_suite_does_not_have_is_told(glob: str, more: dict[str, Any], told: bool) -> None:
    toml = '[[benchmark]]\nname = "go"\ncommand = "go test"\ninstrument = "go"\n'
    run = {"type": "run", "benchmarks": {"base": ["go"], "head": ["go"]}, **more}
    result = report([run, *pair(1.0, benchmark="go/Parse")], f'{toml}[[override]]\nbenchmark = "{glob}"\nwarn = "9%"\n')
    found = [each for each in result.warnings if isinstance(each, MatchesNothing)]
    assert [(each.table, each.glob, each.known[0]) for each in found] == [("override", glob, "go/Parse")] * told


def test_a_label_lets_every_regression_pass_and_the_verdict_says_so() -> None:
    result = report(pair(1.2), label=LABEL)
    (found,) = result.findings
    assert (found.verdict, result.verdict, result.exit_code) == ("accepted", "pass", 0)
    assert found.accepted is not None and (found.accepted.up_to, found.accepted.until) == (None, None)
    assert found.reason == reasons.AcceptedByLabel(label=LABEL, outgrown=None)
    assert result.summary == outcomes.SomeAccepted(count=1, findings=1, labels=[LABEL])


def test_an_accept_entry_is_named_before_the_label_and_one_that_is_exceeded_beside_it() -> None:
    (covered,) = report(pair(1.2), ACCEPT.format("30%", "2026-12-31"), label=LABEL).findings
    assert covered.accepted is not None and covered.accepted.reason == "see #123"
    (exceeded,) = report(pair(1.2), ACCEPT.format("8%", "2026-12-31"), label=LABEL).findings
    assert exceeded.accepted is not None and exceeded.accepted.reason == LABEL
    outgrown = Accepted(up_to=0.08, until="2026-12-31", reason="see #123")
    assert exceeded.reason == reasons.AcceptedByLabel(label=LABEL, outgrown=outgrown)


@pytest.mark.parametrize("label", [None, LABEL])
def test_a_label_changes_nothing_but_regressions(label: str | None) -> None:
    (found,) = report(pair(1.0), label=label).findings
    assert (found.verdict, found.accepted) == ("unchanged", None)


def test_the_headline_names_a_benchmark_once_and_says_at_which_settings() -> None:
    def place(*ratios: float) -> outcomes.Place:
        lines = [line for size, ratio in enumerate(ratios) for line in pair(ratio, factors={"size": size})]
        (only,) = _worst(report(lines))
        return only

    at = outcomes.Place(
        benchmark="bench", metric="time", statistic="mean", most={"size": 4}, findings=5, of=5, varied=1
    )
    assert place(1.2, 1.21, 1.22, 1.23, 1.24) == at
    assert place(1.2, 1.21, 0.8) == msgspec.structs.replace(at, most={"size": 1}, findings=2, of=3)
    alone = msgspec.structs.replace(at, most={"size": 2}, findings=1, of=3)
    assert place(0.8, 0.8, 1.2) == alone
    lines = [line for i in range(5) for line in pair(1.2 + i / 100, benchmark=f"b{i}")]
    five = report(lines)
    assert [(place.benchmark, place.metric) for place in _worst(five)] == [("b4", None), ("b3", None), ("b2", None)]
    assert isinstance(five.summary, outcomes.Regressed)
    assert (five.summary.count, five.summary.findings, five.summary.more) == (5, 5, 2)


def _worst(result: Report) -> list[outcomes.Place]:
    assert isinstance(result.summary, outcomes.Regressed)
    return result.summary.worst


FAILURE = {
    "type": "failure",
    "kind": "execution",
    "benchmark": "broken",
    "side": "head",
    "build": 0,
    "execution": 0,
    "status": "exit 1",
}


@pytest.mark.parametrize(
    ("lines", "toml", "verdict", "code"),
    [
        (pair(1.0), "", "pass", 0),
        (pair(1.2), "", "regression", 1),
        ([*pair(1.2), FAILURE], "", "regression", 1),
        ([*pair(1.0), FAILURE], "", "error", 4),
        ([*pair(1.03), FAILURE], "", "error", 4),
        (pair(1.03), "", "pass", 0),
        (pair(1.03), '[gate]\ndetectable = "threshold"', "inconclusive", 0),
        (pair(1.03), '[gate]\ninconclusive = "fail"\ndetectable = "10%"', "pass", 0),
        (pair(1.03), '[gate]\ninconclusive = "fail"', "inconclusive", 3),
        (pair(0.8), "", "pass", 0),
        ([], "", "error", 4),
        ([FAILURE], "", "error", 4),
        ([*pair(1.0), *side(1.0, side="base", benchmark="gone")], "", "error", 4),
        ([*pair(1.0), *side(1.0, side="base", benchmark="gone")], '[gate]\nmissing = "pass"', "pass", 0),
        (side(1.0, side="base", benchmark="gone"), '[gate]\nmissing = "pass"', "error", 4),
        ([*pair(1.0), *side(1.0, side="head", benchmark="fresh")], "", "pass", 0),
    ],
)
def test_the_reports_verdict_by_its_order_of_precedence(
    lines: list[dict[str, Any]], toml: str, verdict: str, code: int
) -> None:
    result = report(lines, toml)
    assert (result.verdict, result.exit_code) == (verdict, code)


def test_the_family_is_what_was_measured_and_holm_shares_the_error() -> None:
    alone = finding(pair(1.045), '[gate]\nthreshold = "3%"')
    crowd = [line for k in range(40) for line in pair(1.0, benchmark=f"b{k}")]
    result = report([*pair(1.045), *crowd], '[gate]\nthreshold = "3%"')
    among = next(f for f in result.findings if f.benchmark == "bench")
    assert result.family.size == 41
    assert alone.p == among.p
    assert among.decided_at.confidence == pytest.approx(1 - 0.05 / 41)
    assert among.ratio.low == alone.ratio.low
    none = report([*pair(1.045), *crowd], '[gate]\nthreshold = "3%"\nfamily = "none"')
    assert all(f.decided_at.confidence == pytest.approx(0.95) for f in none.findings)


def test_p_agrees_with_the_interval_at_the_threshold() -> None:
    found = finding(pair(1.045))
    assert found.p is not None
    again = finding(pair(1.045), f"[gate]\nconfidence = {1 - found.p}")
    assert again.ratio.low == pytest.approx(1.03)


def test_metrics_that_are_not_decided_are_shown() -> None:
    toml = '[[benchmark]]\nname = "bench"\ncommand = "x"\ninstrument = "spawn"\n'
    result = report([*pair(1.0), *pair(2.0, metric="memory", unit="B")], toml)
    assert [f.metric for f in result.findings] == ["time"]
    assert [(r.metric, round(r.ratio.estimate or 0, 3)) for r in result.recorded] == [("memory", 2.0)]
    assert result.verdict == "pass"
    decided = report([*pair(1.0), *pair(2.0, metric="memory", unit="B")], toml + '[plan]\nmetrics = ["memory"]')
    assert [f.metric for f in decided.findings] == ["memory"]
    assert decided.verdict == "regression"


def test_a_small_p_from_few_builds_is_said_to_rest_on_normality() -> None:
    assert any(isinstance(w, NormalTail) for w in finding(pair(1.5)).warnings)


def test_a_thousand_cases_at_three_builds_are_covered_and_quick() -> None:
    lines = []
    for k in range(300):
        for name, scale in (("base", 1.0), ("head", 1.05)):
            effects = RNG.normal(0, 0.02, 3)
            nested = [
                [list(scale * (1 + b + RNG.normal(0, 0.01) + RNG.normal(0, 0.01, 10))) for _ in range(5)]
                for b in effects
            ]
            lines += builds(name, nested, benchmark=f"b{k}")
    found = report(lines).findings
    inside = sum(f.ratio.low < 1.05 < f.ratio.high for f in found if f.ratio.low and f.ratio.high)
    assert 0.92 <= inside / 300 <= 0.995


def test_a_head_of_zeros_is_an_improvement_and_hides_nothing() -> None:
    zero = [*builds("base", [[[v]] for v in NOISE], benchmark="z"), *builds("head", [[[0.0]]] * 5, benchmark="z")]
    result = report([*zero, *pair(1.5)])
    assert {f.benchmark: f.verdict for f in result.findings} == {"z": "improvement", "bench": "regression"}
    assert result.findings[0].ratio.df == 4
    assert result.exit_code == 1


def test_a_side_with_one_session_against_several_has_no_interval() -> None:
    lines = [*side(1.0, side="base"), *side(1.0, side="base", session=1), *side(1.06, side="head")]
    found = finding(lines)
    assert (found.verdict, found.ratio.kind) == ("inconclusive", "withheld")
    assert found.reason == reasons.OneUnit(unit="session", sides=["head"])
    assert [v.level for v in found.variance.base][-1] == "session"


@pytest.mark.parametrize(
    ("base", "head", "threshold"),
    [(100, 107, "7%"), (100, 114, "14%"), (1000, 1029, "2.9%"), (5, 5, "0%"), (10, 11, "10%")],
)
def test_an_exact_change_of_just_the_threshold_is_unchanged(base: float, head: float, threshold: str) -> None:
    found = finding(exact(base, head), EXACT + f'threshold = "{threshold}"\n')
    assert (found.verdict, found.not_worse) == ("unchanged", True)


def test_a_missing_shard_is_an_error_whatever_the_policy() -> None:
    shard = {"type": "run", "shard": "1/2"}
    assert report([shard, *pair(1.0)], '[gate]\nmissing = "pass"').exit_code == 4


def test_unchanged_is_decided_at_the_nominal_level() -> None:
    lines = [line for k in range(4) for line in pair(1.0, benchmark=f"b{k}")]
    for found in report(lines).findings:
        assert found.verdict == "unchanged"
        assert found.decided_at.confidence == pytest.approx(0.95)
        assert (found.decided_at.low, found.decided_at.high) == (found.ratio.low, found.ratio.high)


def test_the_headline_names_the_metric_where_a_benchmark_has_several() -> None:
    lines = [line for m, r in (("a", 1.2), ("b", 1.5), ("c", 1.0)) for line in pair(r, metric=m)]
    assert [(place.benchmark, place.metric) for place in _worst(report(lines))] == [("bench", "b"), ("bench", "a")]


def test_a_bootstrap_over_few_builds_reports_and_does_not_decide() -> None:
    few = finding(pair(1.5, 6), '[gate]\ninterval = "bootstrap"')
    assert (few.verdict, few.not_worse, few.ratio.method) == ("inconclusive", False, "bootstrap")
    assert few.ratio.low is not None and few.ratio.low > 1.03
    assert few.reason == reasons.FewForBootstrap(needs=10, has=6, unit="build")
    assert finding(pair(1.0, 6), '[gate]\ninterval = "bootstrap"').verdict == "inconclusive"
    for interval in ("bootstrap", "bootstrap-bca"):
        assert finding(pair(1.5, 10), f'[gate]\ninterval = "{interval}"').verdict == "regression"
    assert finding(pair(1.5, 6), '[gate]\ninterval = "bootstrap"\nfamily = "none"').verdict == "regression"


def test_benjamini_and_hochberg_over_a_report() -> None:
    lines = [line for k, ratio in enumerate((1.06, 1.05, 1.055, 1.0)) for line in pair(ratio, benchmark=f"b{k}")]
    result = report(lines, '[gate]\nthreshold = "3%"\nfamily = "bh"')
    rejected = [f for f in result.findings if f.verdict == "regression"]
    assert len(rejected) == 3
    assert [f.decided_at.confidence for f in rejected] == pytest.approx([1 - 0.05 * 3 / 4] * 3)


def test_a_run_that_ends_before_its_plan_was_stopped_by_the_budget() -> None:
    run = {"type": "run", "config": {"plan": {"builds": 6}}}
    assert report([run, *pair(1.0)]).stopped == "budget"
    assert report([run, *pair(1.0, 6)]).stopped is None
    assert report(pair(1.0)).stopped is None
    failure = {"type": "failure", "kind": "build", "side": "head", "build": 5, "status": "exit 1"}
    assert report([run, *pair(1.0), failure]).stopped is None


@pytest.mark.parametrize(
    ("rules", "name"), [("base", "base"), ("head with gate.floor=0", "head with gate.floor=0"), (None, "the run")]
)
def test_the_rules_of_a_run_keep_their_name(rules: str | None, name: str) -> None:
    assert policy_at(Run(rules=rules), Config()).source == name


@pytest.mark.parametrize(
    ("stops", "stopped"),
    [
        (["budget"], "budget"),
        (["finished"], None),
        (["build-failure"], None),
        # at the last of the looks, which the budget may have cut
        (["settled"], "budget"),
        ([None], "budget"),
        # interrupted, then resumed
        ([], None),
        (["budget", "finished"], None),
        (["finished", "budget"], "budget"),
    ],
)
def test_a_run_that_says_why_it_ended_is_believed(stops: list[str | None], stopped: str | None) -> None:
    run = {"type": "run", "config": {"plan": {"builds": 6}}}
    states: list[dict[str, Any]] = [{"type": "host", "when": "begin"}]
    states += [{"type": "host", "when": "end", "stop": stop} for stop in stops]
    assert report([run, *pair(1.0), *states]).stopped == stopped


def test_two_sides_that_are_zero_come_last_and_one_build_of_each_is_named() -> None:
    zero = [*builds("base", [[[0.0]]], benchmark="z"), *builds("head", [[[0.0]]], benchmark="z")]
    result = report([*zero, *builds("base", [[[1.0]]]), *builds("head", [[[1.5]]])])
    assert [f.reason for f in result.findings] == [reasons.OneUnit(unit="build", sides=["base", "head"])] * 2
    assert [f.benchmark for f in ordered(result.findings)] == ["bench", "z"]
