"""The rules of the verdict (docs/method.md), each on data made for it."""

import tomllib
from typing import Any

import pytest

from gate.config.types import Config
from gate.decide.importance import ordered
from gate.decide.policy import policy_at
from gate.model import Accepted, Finding, Report, Run, outcomes, reasons
from gate.model.bounds import LARGEST, SMALLEST
from tests.gate.decide.decided import Lines, both, decided, ones
from tests.support.kalibera_jones import TABLE_V_NEW, TABLE_V_OLD
from tests.support.lines import builds
from tests.support.warned import kinds, texts

# five builds whose means differ by about 1%, around 1
NOISE = [0.99, 1.0, 1.01, 1.005, 0.995]
FAILURE = {
    "type": "failure", "kind": "execution", "benchmark": "broken", "side": "head", "build": 0, "execution": 0,
    "status": "exit 1",
}  # fmt: skip
ONE_UNIT = reasons.OneUnit(unit="build", sides=["base", "head"])
LABEL = "the label perf-accepted of #12"
ACCEPT = '[[accept]]\nbenchmark = "bench"\nup_to = "{}"\nuntil = {}\nreason = "see #123"\n'
OUTGROWN = Accepted(up_to=0.08, until="2026-12-31", reason="see #123")


def side(name: str, scale: float = 1.0, count: int = 5, **more: Any) -> Lines:
    nested = [[[scale * NOISE[b % 5] * (1 + 0.001 * e)] for e in range(2)] for b in range(count)]
    return builds(name, nested, **{"better": "lower", **more})


def pair(ratio: float, count: int = 5, scale: float = 1.0, **more: Any) -> Lines:
    return [*side("base", scale, count, **more), *side("head", scale * ratio, count, **more)]


def many(*ratios: float) -> Lines:
    return [line for k, ratio in enumerate(ratios) for line in pair(ratio, benchmark=f"b{k}")]


def report(lines: Lines, toml: str = "", label: str | None = None) -> Report:
    # the made data has the same noise on both sides, which a pairing would take away
    rules = tomllib.loads(toml)
    return decided(lines, rules | {"gate": {"threshold": "3%", "interval": "fieller"} | rules.get("gate", {})}, label)


def finding(lines: Lines, toml: str = "") -> Finding:
    (found,) = report(lines, toml).findings
    return found


@pytest.mark.parametrize(
    ("ratio", "verdict"), [(1.2, "regression"), (1.0, "unchanged"), (0.8, "improvement"), (1.029, "no-sign")]
)
def test_the_four_verdicts_and_their_mirror(ratio: float, verdict: str) -> None:
    assert finding(pair(ratio)).verdict == verdict
    # where higher is better the inverse ratio is judged: time and rate agree
    assert finding(pair(1 / ratio, better="higher")).verdict == verdict


def test_not_worse_alone_is_inconclusive_but_never_fails() -> None:
    # an improvement too uncertain to call, certain not to be a regression
    lines = ones((1.0, 1.08, 0.92, 1.05, 0.95), (0.93, 0.99, 0.86, 0.96, 0.9))
    result = report(lines, '[gate]\ninconclusive = "fail"')
    (f,) = result.findings
    assert (f.verdict, f.not_worse) == ("inconclusive", True)
    assert (result.verdict, result.exit_code) == ("inconclusive", 0)


def test_below_min_builds_nothing_is_called() -> None:
    found = finding(pair(1.5, 4))
    assert (found.verdict, found.reason) == ("inconclusive", reasons.FewBuilds(needs=5, has=4))
    assert found.p_adjusted is None
    assert finding(pair(1.5, 4), "[gate]\nmin_builds = 4").verdict == "regression"
    assert finding(pair(1.0, 4)).verdict == "unchanged"


@pytest.mark.parametrize(
    ("lines", "toml", "verdict", "reason"),
    [
        (pair(1.05), '[gate]\nthreshold = "20%"', "unchanged", reasons.RealWithin(threshold=0.2)),
        (both([[[1.0, 2.0], [1.5]]], [[[1.0, 2.0], [1.5]]]), "", "inconclusive", ONE_UNIT),
        (ones([1.0], [1.0]), "", "inconclusive", ONE_UNIT),
        (ones([0.012345] * 5, [0.02469] * 5), "", "inconclusive", reasons.NO_SPREAD),
        (both([[[-1.0, 2.0]]] * 5, [[[-1.0, 2.0]]] * 5), "", "inconclusive", reasons.NEGATIVE_VALUES),
        # an improvement says as well that it lacks builds
        (pair(0.5, 4), "", "inconclusive", reasons.FewBuilds(needs=5, has=4)),
        ([*side("base"), *side("head", 1.5, session=1)], "", "inconclusive", reasons.DIFFERENT_SESSIONS),
        (
            [*side("base"), *side("base", session=1), *side("head", 1.06)],
            "", "inconclusive", reasons.OneUnit(unit="session", sides=["head"]),
        ),
    ],
)  # fmt: skip
def test_a_verdict_has_its_reason(lines: Lines, toml: str, verdict: str, reason: object) -> None:
    found = finding(lines, toml)
    assert (found.verdict, found.reason) == (verdict, reason)
    # without two builds of a session on both sides, or a ratio, there is no interval
    has_interval = isinstance(reason, (reasons.RealWithin, reasons.FewBuilds))
    assert (found.ratio.kind == "bounded", found.not_worse) == (has_interval, has_interval)


def test_a_floor_keeps_tiny_changes_from_failing() -> None:
    lines = pair(1.5, scale=1e-8)
    assert finding(lines, '[gate]\nfloor = "1ns"').verdict == "regression"
    found = finding(lines, '[gate]\nfloor = "1us"')
    assert (found.verdict, found.not_worse) == ("inconclusive", False)
    assert found.floor == pytest.approx(1e-6)
    assert found.reason == reasons.BelowFloor(threshold=0.03, floor=found.floor or 0.0, unit="s")
    # the interval of the difference holds the floor: neither shown
    found = finding(lines, '[gate]\nfloor = "5ns"')
    assert found.verdict == "inconclusive" and isinstance(found.reason, reasons.FloorOpen)


def test_k_and_js_table_v() -> None:
    lines = both(TABLE_V_OLD, TABLE_V_NEW)
    found = finding(lines, '[gate]\ninterval = "fieller-kj"')
    assert found.ratio.low == pytest.approx(0.109834376, abs=5e-10)
    assert found.ratio.high == pytest.approx(1.72530157, abs=5e-9)
    assert (found.ratio.method, found.ratio.df) == ("fieller-kj", 2)
    found = finding(lines, '[gate]\ninterval = "fieller-kj"\nconfidence = 0.99')
    assert (found.ratio.kind, found.ratio.low, found.ratio.high) == ("line", None, None)
    assert (found.verdict, found.reason) == ("inconclusive", reasons.UNBOUNDED)


@pytest.mark.parametrize("statistic", ["mean", "p50"])
@pytest.mark.parametrize("size", [LARGEST / 4, SMALLEST * 2])
def test_values_at_the_bounds_have_a_ratio(size: float, statistic: str) -> None:
    benchmark = '[gate]\nfloor = 0\n[[benchmark]]\nname = "bench"\ncommand = "x"\ninstrument = "values"\n'
    toml = f'{benchmark}[benchmark.metric.time]\nstatistics = ["{statistic}"]'
    for ratio, verdict in ((1.0, "unchanged"), (2.0, "regression")):
        sides = [
            [
                [[scale * noise * (1 + 0.001 * i + 1e-8 * (e + 3 * k)) for i in range(20)] for e in range(3)]
                for noise in NOISE
            ]
            for k, scale in enumerate((size, size * ratio))
        ]
        found = finding(both(*sides), toml)
        assert found.verdict == verdict
        assert found.ratio.estimate == pytest.approx(ratio)


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
    assert (found.verdict, result.exit_code) == (verdict, verdict == "regression")
    assert (found.accepted is not None) == (verdict == "accepted")
    if found.accepted:
        assert found.reason == reasons.AcceptedByEntry(up_to=float(up_to[:-1]) / 100, until=until, reason="see #123")
    else:
        # one that is too small for it is not passed over in silence
        assert isinstance(found.reason, reasons.Exceeds)
        assert found.reason.outgrown == (OUTGROWN if up_to == "8%" else None)
    assert ("expired-accept" in kinds(result.warnings)) == (until < "2026-11-20")


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
    found = texts(result.warnings, "matches-nothing")
    assert [f'[[override]] benchmark = "{glob}"' in each and "go/Parse" in each for each in found] == [True] * told


def test_a_label_lets_every_regression_pass_and_the_verdict_says_so() -> None:
    result = report(pair(1.2), label=LABEL)
    (found,) = result.findings
    assert (found.verdict, result.verdict, result.exit_code) == ("accepted", "pass", 0)
    assert found.accepted is not None and (found.accepted.up_to, found.accepted.until) == (None, None)
    assert found.reason == reasons.AcceptedByLabel(label=LABEL, outgrown=None)
    assert result.summary == outcomes.SomeAccepted(count=1, findings=1, labels=[LABEL])
    # an entry is named before it, and one that is exceeded beside it
    (covered,) = report(pair(1.2), ACCEPT.format("30%", "2026-12-31"), label=LABEL).findings
    assert covered.accepted is not None and covered.accepted.reason == "see #123"
    (exceeded,) = report(pair(1.2), ACCEPT.format("8%", "2026-12-31"), label=LABEL).findings
    assert exceeded.accepted is not None and exceeded.accepted.reason == LABEL
    assert exceeded.reason == reasons.AcceptedByLabel(label=LABEL, outgrown=OUTGROWN)
    # and it changes nothing else
    (same,) = report(pair(1.0), label=LABEL).findings
    assert (same.verdict, same.accepted) == ("unchanged", None)


def test_the_summary_names_what_regressed_most_first() -> None:
    found = report(many(1.2, 1.21, 1.22, 1.23, 1.0)).summary
    assert found == outcomes.Regressed(count=4, findings=5, worst=["b3", "b2", "b1", "b0"])
    # a benchmark once, whichever of its metrics
    lines = [line for m, r in (("a", 1.2), ("b", 1.5), ("c", 1.0)) for line in pair(r, metric=m)]
    assert report(lines).summary == outcomes.Regressed(count=2, findings=3, worst=["bench"])


GONE = side("base", benchmark="gone")


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
        ([*pair(1.0), *GONE], "", "error", 4),
        ([*pair(1.0), *GONE], '[gate]\nmissing = "pass"', "pass", 0),
        (GONE, '[gate]\nmissing = "pass"', "error", 4),
        ([*pair(1.0), *side("head", benchmark="fresh")], "", "pass", 0),
        # a missing shard is an error whatever the policy
        ([{"type": "run", "shard": "1/2"}, *pair(1.0)], '[gate]\nmissing = "pass"', "error", 4),
    ],
)
def test_the_reports_verdict_by_its_order_of_precedence(lines: Lines, toml: str, verdict: str, code: int) -> None:
    result = report(lines, toml)
    assert (result.verdict, result.exit_code) == (verdict, code)


def test_the_family_is_what_was_measured_and_holm_shares_the_error() -> None:
    alone = finding(pair(1.045))
    crowd = many(*[1.0] * 40)
    result = report([*pair(1.045), *crowd])
    among = next(f for f in result.findings if f.benchmark == "bench")
    assert result.family.size == 41
    assert (alone.p, alone.ratio.low) == (among.p, among.ratio.low)
    assert among.decided_at.confidence == pytest.approx(1 - 0.05 / 41)
    none = report([*pair(1.045), *crowd], '[gate]\nfamily = "none"')
    assert all(f.decided_at.confidence == pytest.approx(0.95) for f in none.findings)
    # p is the level at which the interval ends at the threshold
    assert alone.p is not None
    assert finding(pair(1.045), f"[gate]\nconfidence = {1 - alone.p}").ratio.low == pytest.approx(1.03)


def test_metrics_that_are_not_decided_are_shown() -> None:
    toml = '[[benchmark]]\nname = "bench"\ncommand = "x"\ninstrument = "spawn"\n'
    lines = [*pair(1.0), *pair(2.0, metric="memory", unit="B")]
    result = report(lines, toml)
    assert ([f.metric for f in result.findings], result.verdict) == (["time"], "pass")
    assert [(r.metric, round(r.ratio.estimate or 0, 3)) for r in result.recorded] == [("memory", 2.0)]
    named = report(lines, toml + '[plan]\nmetrics = ["memory"]')
    assert ([f.metric for f in named.findings], named.verdict) == (["memory"], "regression")


def test_a_head_of_zeros_is_an_improvement_and_hides_nothing_and_two_such_sides_come_last() -> None:
    result = report([*ones(NOISE, [0.0] * 5, benchmark="z"), *pair(1.5)])
    assert {f.benchmark: f.verdict for f in result.findings} == {"z": "improvement", "bench": "regression"}
    assert (result.findings[0].ratio.df, result.exit_code) == (4, 1)
    result = report([*ones([0.0], [0.0], benchmark="z"), *ones([1.0], [1.5])])
    assert [f.reason for f in result.findings] == [ONE_UNIT] * 2
    assert [f.benchmark for f in ordered(result.findings)] == ["bench", "z"]


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
    states: Lines = [{"type": "host", "when": "begin"}, *({"type": "host", "when": "end", "stop": s} for s in stops)]
    assert report([run, *pair(1.0), *states]).stopped == stopped


def test_a_run_that_does_not_say_was_stopped_by_the_budget_where_it_ends_before_its_plan() -> None:
    run = {"type": "run", "config": {"plan": {"builds": 6}}}
    failure = {"type": "failure", "kind": "build", "side": "head", "build": 5, "status": "exit 1"}
    found = [[run, *pair(1.0)], [run, *pair(1.0, 6)], pair(1.0), [run, *pair(1.0), failure]]
    assert [report(lines).stopped for lines in found] == ["budget", None, None, None]


@pytest.mark.parametrize(("rules", "name"), [("head with gate.floor=0", "head with gate.floor=0"), (None, "the run")])
def test_the_rules_of_a_run_keep_their_name(rules: str | None, name: str) -> None:
    assert policy_at(Run(rules=rules), Config()).source == name
