"""`gate.sessions = "fixed"`: each machine goes by its own rounds, and one verdict is over all of them."""

import math
import statistics
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from gate.config.config_text import ConfigError, read_source
from gate.config.parse import parse
from gate.decide.next_steps import next_step
from gate.model import Finding, Report, reasons
from gate.model.warnings.estimates import DependsOnMachine, RatioBySession, RoundsLeftOut, SessionsDiffer
from gate.model.warnings.measured import TwoSessions
from gate.stats.round_ratio import Rounds, share_variance
from tests.gate.decide.decided import decided
from tests.support.lines import builds

FIXED = '[gate]\nsessions = "fixed"\n'
RANDOM = '[gate]\nsessions = "random"\n'
SPEEDS = (1.0, 2.0, 0.7, 5.0, 0.3)
HOSTS = ("amd", "arm", "old", "slow", "fast")
COUNTS = """\
[[benchmark]]
name = "bench"
command = "x"
instrument = "values"
[benchmark.metric.n]
unit = ""
exact = true
"""

Lines = list[dict[str, Any]]


def judged(lines: Lines, toml: str = FIXED) -> Report:
    rules = toml if "threshold" in toml else (toml or "[gate]\n").replace("[gate]\n", '[gate]\nthreshold = "3%"\n')
    return decided(lines, rules)


def only(lines: Lines, toml: str = FIXED) -> Finding:
    (found,) = judged(lines, toml).findings
    return found


def on_machines(
    ratios: list[float], rounds: int = 5, spread: float = 0.01, seed: int = 3, name: str = "bench", **more: Any
) -> Lines:
    """Measure on machines of other speeds, each with a ratio of its own."""
    rng = np.random.default_rng(seed)
    return [
        {**line, "session": session}
        for session, (ratio, speed) in enumerate(zip(ratios, SPEEDS, strict=False))
        for side, scale in (("base", 0.1 * speed), ("head", 0.1 * speed * ratio))
        for line in builds(
            side, [[[float(scale * rng.normal(1, spread))]] for _ in range(rounds)], benchmark=name, **more
        )
    ]


def run(session: int, sessions: int, **more: Any) -> dict[str, Any]:
    sides = {"base": {"sha": "a"}, "head": {"sha": "b"}}
    return (
        {"type": "run", "session": session, "sessions": sessions, "host": {"hostname": HOSTS[session]}} | sides | more
    )


def means(lines: Lines, side: str) -> list[list[float]]:
    found: dict[int, list[float]] = {}
    for line in lines:
        if line["side"] == side:
            found.setdefault(line["session"], []).append(line["metrics"]["time"]["values"][0])
    return list(found.values())


def test_what_five_machines_show_is_a_regression_over_them() -> None:
    """Each shows 12 to 40% more, and so nobody knows what a sixth would show: that is another question."""
    ratios = [1.12, 1.15, 1.22, 1.31, 1.40]
    lines = [line for k in range(9) for line in on_machines([1.0] * 5, seed=k, name=f"same-{k}")]
    lines += on_machines(ratios, seed=20, name="slower")
    verdicts = {toml: {f.benchmark: f.verdict for f in judged(lines, toml).findings} for toml in (FIXED, RANDOM, "")}
    assert verdicts[FIXED]["slower"] == "regression"
    assert verdicts[RANDOM]["slower"] == verdicts[""]["slower"] == "inconclusive"
    assert {verdict for name, verdict in verdicts[FIXED].items() if name != "slower"} == {"unchanged"}
    found = next(f for f in judged(lines).findings if f.benchmark == "slower")
    assert [each.ratio.low is not None and each.ratio.low > 1.03 for each in found.sessions] == [True] * 5
    assert [each.ratio.estimate for each in found.sessions] == pytest.approx(ratios, rel=0.02)


def test_the_interval_and_the_p_are_those_of_the_formula() -> None:
    lines = on_machines([1.2, 1.25, 1.18], spread=0.03)
    found = only(lines)
    logs = [
        [math.log(y / x) for x, y in zip(*both, strict=True)]
        for both in zip(means(lines, "base"), means(lines, "head"), strict=True)
    ]
    mean = statistics.mean(statistics.mean(own) for own in logs)
    parts = [statistics.variance(own) / 5 / 9 for own in logs]
    df = sum(parts) ** 2 / sum(part**2 / 4 for part in parts)
    half = stats.t.ppf(0.975, df) * math.sqrt(sum(parts))
    assert found.ratio.method == "fixed-sessions"
    assert found.ratio.df == pytest.approx(df)
    limits = (found.ratio.low, found.ratio.estimate, found.ratio.high)
    assert limits == pytest.approx([math.exp(mean + k * half) for k in (-1, 0, 1)])
    assert found.p == pytest.approx(2 * stats.t.sf((mean - math.log(1.03)) / math.sqrt(sum(parts)), df))
    own = stats.ttest_1samp(logs[2], 0).confidence_interval(0.95)
    third = found.sessions[2]
    assert (third.session, third.rounds, third.ratio.df) == (2, 5, 4)
    assert (third.ratio.low, third.ratio.high) == pytest.approx((math.exp(own.low), math.exp(own.high)))


@pytest.mark.parametrize(("ratio", "verdict"), [(1.2, "regression"), (1.0, "unchanged"), (0.8, "improvement")])
def test_the_verdicts_are_those_of_every_interval(ratio: float, verdict: str) -> None:
    assert only(on_machines([ratio] * 3)).verdict == verdict
    turned = on_machines([ratio] * 3, better="higher", unit="1/s")
    assert only(turned).verdict == {"regression": "improvement", "improvement": "regression"}.get(verdict, verdict)


def test_one_session_is_judged_as_ever() -> None:
    lines = on_machines([1.1])
    assert only(lines, FIXED) == only(lines, RANDOM)
    assert only(lines).sessions == []
    assert judged(lines).warnings == judged(lines, RANDOM).warnings


def test_sessions_that_are_a_sample_say_nothing_of_each() -> None:
    assert only(on_machines([1.1, 1.2, 1.3]), RANDOM).sessions == []


# --- a machine that cannot be judged ----------------------------------------------------------------------------------


def test_a_machine_with_two_rounds_is_named_with_its_number() -> None:
    lines = [run(0, 2), *on_machines([1.3]), run(1, 2)]
    lines += [{**line, "session": 1} for line in on_machines([1.3], rounds=2)]
    found = only([*lines])
    few = reasons.FewRoundsThere(needs=3, has=2)
    # the lines of both runs stand in one file here, so the second run is the host of session 1
    assert found.reason == reasons.OnMachine(session=1, host="arm", why=few)
    assert (found.verdict, found.ratio.kind, found.not_worse) == ("inconclusive", "withheld", False)
    assert [each.ratio.kind for each in found.sessions] == ["bounded", "withheld"]
    assert found.ratio.estimate == pytest.approx(1.3, rel=0.02)
    assert only([*lines], RANDOM).ratio.kind == "bounded"


@pytest.mark.parametrize("gone", ["head", "base"])
def test_a_machine_without_a_round_of_both_sides_is_never_dropped(gone: str) -> None:
    lines = [line for line in on_machines([1.3] * 3) if (line["session"], line["side"]) != (2, gone)]
    found = only(lines)
    assert found.reason == reasons.OnMachine(session=2, host=None, why=reasons.FewRoundsThere(needs=3, has=0))
    assert (found.ratio.estimate, len(found.sessions)) == (None, 3)


def test_a_benchmark_that_one_machine_did_not_measure_has_no_verdict() -> None:
    lines = [*on_machines([1.3] * 3, name="whole"), *on_machines([1.3] * 2, name="short")]
    whole, short = judged(lines).findings
    assert (whole.verdict, short.verdict) == ("regression", "inconclusive")
    assert short.reason == reasons.OnMachine(session=2, host=None, why=reasons.FewRoundsThere(needs=3, has=0))


def test_a_session_that_was_to_measure_and_is_missing_leaves_no_verdict() -> None:
    lines = [run(0, 3), *on_machines([1.3]), run(1, 3)]
    lines += [{**line, "session": 1} for line in on_machines([1.3], seed=8)]
    report = judged(lines)
    assert report.verdict == "error"
    assert [failure.status for failure in report.failures] == ["session 2 of 3 is missing"]
    assert isinstance(report.findings[0].reason, reasons.OnMachine)


def test_sides_from_different_machines_are_not_compared() -> None:
    lines = [line for line in on_machines([1.3] * 2) if (line["session"] == 0) == (line["side"] == "base")]
    assert only(lines).reason == reasons.DifferentSessions()


def test_a_round_that_one_side_lost_is_left_out_and_said() -> None:
    whole = on_machines([1.2] * 2, rounds=6)
    lost = [line for line in whole if (line["session"], line["side"], line["build"]) != (1, "head", 2)]
    neither = [line for line in whole if (line["session"], line["build"]) != (1, 2)]
    found, without = only(lost), only(neither)
    assert found.ratio == without.ratio
    assert (found.base.counts.build, found.head.counts.build, found.sessions[1].rounds) == (11, 11, 5)
    assert RoundsLeftOut(1, (1,)) in found.warnings
    assert not any(isinstance(each, RoundsLeftOut) for each in without.warnings)


@pytest.mark.parametrize(
    ("value", "why"), [(0.0, reasons.ZeroValue()), (-0.1, reasons.NegativeValues())], ids=["zero", "negative"]
)
@pytest.mark.parametrize("side", ["base", "head"])
def test_no_logarithm_is_taken_of_what_is_not_above_0(side: str, value: float, why: object) -> None:
    lines = on_machines([1.2] * 3)
    at = next(line for line in lines if (line["session"], line["side"], line["build"]) == (1, side, 0))
    at["metrics"]["time"]["values"] = [value]
    found = only(lines)
    assert (found.verdict, found.reason) == (
        "inconclusive",
        reasons.OnMachine(session=1, host=None, why=why),  # type: ignore[arg-type]  # one of its two
    )


def test_a_machine_whose_timer_shows_no_spread_has_no_interval() -> None:
    lines = on_machines([1.2] * 2)
    for line in lines:
        if line["session"] == 1:
            line["metrics"]["time"]["values"] = [0.1 if line["side"] == "base" else 0.12]
    assert only(lines).reason == reasons.OnMachine(session=1, host=None, why=reasons.NoSpread())


def test_a_quantile_with_too_few_values_on_one_machine_names_it() -> None:
    toml = FIXED + '[[benchmark]]\nname = "bench"\ncommand = "x"\nmetric.time.statistics = ["p50"]'
    rng = np.random.default_rng(5)

    def lines(many: tuple[int, int]) -> Lines:
        return [
            {**line, "session": session}
            for session, count in enumerate(many)
            for side, scale in (("base", 1.0), ("head", 1.3))
            for line in builds(side, [[(scale * rng.normal(1, 0.01, count)).tolist()] for _ in range(4)])
        ]

    assert only(lines((20, 20)), toml).verdict == "regression"
    few = reasons.FewValues(statistic="p50", needs=20, has=12)
    assert only(lines((20, 12)), toml).reason == reasons.OnMachine(session=1, host=None, why=few)


# --- counts -----------------------------------------------------------------------------------------------------------


def counts(sides: list[tuple[float, float]]) -> Lines:
    return [
        {**line, "session": session}
        for session, values in enumerate(sides)
        for side, value in zip(("base", "head"), values, strict=True)
        for line in builds(side, [[[value]]], metric="n", unit="", better="lower")
    ]


@pytest.mark.parametrize(
    ("sides", "verdict", "ratio"),
    [
        ([(1000, 1100), (2000, 2200)], "regression", 1.1),
        ([(1000, 1000), (2000, 2000)], "unchanged", 1.0),
        # a machine that counts nothing says nothing against it
        ([(0, 0), (2000, 2200)], "regression", 1.1),
        # as a sample these would have a spread over machines
        ([(1000, 1100), (2000, 2220)], "regression", math.sqrt(1.1 * 1.11)),
        ([(1000, 1020), (2000, 2020)], "unchanged", math.sqrt(1.02 * 1.01)),
    ],
)
def test_counts_are_numbers_on_each_machine(sides: list[tuple[float, float]], verdict: str, ratio: float) -> None:
    found = only(counts(sides), FIXED + COUNTS)
    assert (found.ratio.method, found.verdict) == ("exact", verdict)
    assert found.ratio.low == found.ratio.high == pytest.approx(ratio)
    assert len(found.sessions) == 2
    assert found.sessions[1].ratio.estimate == pytest.approx(sides[1][1] / sides[1][0])


def test_counts_that_differ_from_machine_to_machine_say_so() -> None:
    found = only(counts([(1000, 1100), (2000, 2220)]), FIXED + COUNTS)
    (warning,) = found.warnings
    assert isinstance(warning, DependsOnMachine)
    assert (warning.least.session, warning.most.session) == (0, 1)
    assert (warning.least.ratio, warning.most.ratio) == pytest.approx((1.1, 1.11))
    assert only(counts([(1000, 1100), (2000, 2200)]), FIXED + COUNTS).warnings == []


def test_a_count_that_one_machine_lacks_has_no_verdict() -> None:
    lines = [line for line in counts([(10, 11), (20, 22), (30, 33)]) if (line["session"], line["side"]) != (2, "head")]
    assert only(lines, FIXED + COUNTS).reason == reasons.OnMachine(
        session=2, host=None, why=reasons.FewRoundsThere(needs=3, has=0)
    )


# --- what is said beside the verdict ----------------------------------------------------------------------------------


def test_a_change_that_depends_on_the_machine_is_a_warning_and_decides_nothing() -> None:
    found = only(on_machines([1.2, 1.2, 1.6]))
    (warning,) = (w for w in found.warnings if isinstance(w, DependsOnMachine))
    assert warning.least.ratio == pytest.approx(1.2, rel=0.02)
    assert warning.most.session == 2
    assert found.verdict == "regression"
    alike = only(on_machines([1.2, 1.2, 1.2]))
    told = [*found.warnings, *alike.warnings]
    # machines that are not a sample may differ as they like
    assert not any(isinstance(w, (RatioBySession, SessionsDiffer)) for w in told)
    assert not any(isinstance(w, DependsOnMachine) for w in alike.warnings)
    sampled = only(on_machines([1.2, 1.2, 1.6]), RANDOM).warnings
    assert {type(w) for w in sampled} >= {RatioBySession, SessionsDiffer}


def test_two_given_machines_need_no_third() -> None:
    lines = on_machines([1.1, 1.1])
    assert TwoSessions() in judged(lines, RANDOM).warnings
    assert TwoSessions() not in judged(lines).warnings


def test_the_builds_of_all_machines_count_for_min_builds() -> None:
    lines = on_machines([1.4] * 2, rounds=3)
    assert only(lines).verdict == "regression"
    found = only(lines, FIXED + "min_builds = 7\n")
    assert (found.verdict, found.reason) == ("inconclusive", reasons.FewBuilds(needs=7, has=6))
    # a fourth round on each machine makes eight
    assert found.more_builds == 1
    step = next_step(judged(lines, FIXED + "min_builds = 7\n"))
    assert step is not None
    assert (step.kind, step.details["builds"]) == ("more-builds", 4)


def test_more_builds_on_each_machine_are_what_a_wide_interval_lacks() -> None:
    lines = on_machines([1.1, 1.1], spread=0.05, rounds=4)
    report = judged(lines)
    (found,) = report.findings
    assert isinstance(found.reason, reasons.TooNoisy) and not found.reason.hopeless
    assert found.more_builds is not None and found.more_builds > 0
    step = next_step(report)
    assert step is not None and step.kind == "more-builds"
    assert step.details["builds"] == 4 + found.more_builds
    assert only(lines, RANDOM).more_builds is None


def test_a_floor_is_a_change_on_a_machine_in_the_middle() -> None:
    lines = on_machines([1.2, 1.2])
    # 0.1 s and 0.2 s: 20% of their geometric mean are 28 ms
    assert only(lines, FIXED + 'floor = "20ms"\n').verdict == "regression"
    assert only(lines, FIXED + 'floor = "40ms"\n').reason == reasons.BelowFloor(threshold=0.03, floor=0.04, unit="s")


def test_the_sides_and_the_variances_leave_out_how_machines_differ() -> None:
    lines = on_machines([1.2] * 3)
    fixed, sampled = only(lines), only(lines, RANDOM)
    assert fixed.base.value == pytest.approx(sampled.base.value)
    assert fixed.base.low is not None and sampled.base.low is not None
    assert fixed.base.value - fixed.base.low < 0.05 * (sampled.base.value - sampled.base.low)
    assert [each.level for each in fixed.variance.base] == ["build"]
    assert [each.level for each in sampled.variance.base] == ["build", "session"]
    assert fixed.variance.base[0] == sampled.variance.base[0]


def test_the_overall_change_is_over_the_same_machines() -> None:
    lines = [*on_machines([1.1, 1.3, 1.2], name="a"), *on_machines([1.2, 1.5, 1.1], name="b", seed=4)]
    (fixed,), (sampled,) = (judged(lines, toml).overall for toml in (FIXED, RANDOM))
    assert (fixed.ratio.method, fixed.level, fixed.units) == ("fixed-sessions", "build", 15)
    assert fixed.ratio.estimate == pytest.approx(sampled.ratio.estimate, rel=1e-3)
    by_machine = np.log([[1.1, 1.3, 1.2], [1.2, 1.5, 1.1]]).mean()
    assert fixed.ratio.estimate == pytest.approx(math.exp(by_machine), rel=0.02)
    for overall, narrow in ((fixed, True), (sampled, False)):
        assert overall.ratio.low is not None and overall.ratio.high is not None
        assert (overall.ratio.high - overall.ratio.low < 0.05) == narrow


def test_recorded_metrics_are_over_the_same_machines() -> None:
    lines = [*on_machines([1.2] * 2), *on_machines([1.1, 1.3], metric="memory", unit="B")]
    merged: dict[tuple[Any, ...], dict[str, Any]] = {}
    for line in lines:
        place = (line["side"], line["session"], line["build"])
        merged.setdefault(place, {**line, "metrics": {}})["metrics"].update(line["metrics"])
    (recorded,) = judged([*merged.values()], FIXED + '[plan]\nmetrics = ["time"]\n').recorded
    assert recorded.ratio.method == "fixed-sessions"


def test_looks_take_the_first_rounds_of_each_machine() -> None:
    lines = on_machines([1.5, 1.4], rounds=8)
    looks: Lines = [{"type": "look", "look": number, "settled": []} for number in (4, 8)]
    found = only([*lines, *looks])
    assert (found.verdict, found.decided_at.look, found.decided_at.looks) == ("regression", 1, 2)
    assert [each.rounds for each in found.sessions] == [4, 4]


# --- factors ----------------------------------------------------------------------------------------------------------


def test_a_setting_that_belongs_to_one_machine_is_judged_there_alone() -> None:
    """A factor whose settings are machines: each has its own finding, and no other machine is missed."""
    study = {"factor": {"host": {"old": {"session": 0}, "new": {"session": 1}}}}
    lines = [run(0, 2, config={"study": study}), *on_machines([1.2, 1.3])]
    for line in lines[1:]:
        line["factors"] = {"host": ("old", "new")[line["session"]]}
    found = {f.factors["host"]: f for f in judged(lines).findings}
    assert {name: (f.verdict, [at.session for at in f.sessions]) for name, f in found.items()} == {
        "old": ("regression", [0]), "new": ("regression", [1]),
    }  # fmt: skip


# --- the rules --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("interval", ["fieller", "fieller-paired", "fieller-moderated", "bootstrap"])
def test_an_interval_that_is_not_over_machines_is_refused(interval: str) -> None:
    with pytest.raises(ConfigError) as refused:
        parse(read_source(f'[gate]\nsessions = "fixed"\ninterval = "{interval}"\n', "perfgate.toml"))
    assert str(refused.value) == (
        f'perfgate.toml:2: gate.sessions: "fixed" has its own interval: remove gate.interval = "{interval}"'
    )


def test_with_common_layouts_many_cases_share_the_variance_of_each_machine() -> None:
    lines = [
        line
        for k, spread in enumerate((0.01, 0.01, 0.02, 0.02, 0.03, 0.04))
        for line in on_machines([1.0, 1.02, 1.0], seed=k, spread=spread, name=f"b{k}")
    ]
    plain = {f.benchmark: f for f in judged([*(run(k, 3) for k in range(3)), *lines]).findings}
    config = {"gate": {"sessions": "fixed"}, "build": {"layouts": "common"}}
    known = judged([*(run(k, 3, config=config) for k in range(3)), *lines]).findings
    assert {f.ratio.method for f in plain.values()} == {"fixed-sessions"}
    assert {f.ratio.method for f in known} == {"fixed-sessions-shared"}
    # written out: each machine's variance of D is weighed with those of the other cases there
    logs = {f.benchmark: np.log(rounds_by_machine(lines, f.benchmark)) for f in known}
    shared = [
        share_variance(
            [
                Rounds(0.0, 0.0, float((d[1] - d[0])[m].var(ddof=1)), float((d[1] + d[0])[m].var(ddof=1)), 1.0, 1.0, 5)
                for d in logs.values()
            ]
        )
        for m in range(3)
    ]
    for number, (name, d) in enumerate(logs.items()):
        finding = next(f for f in known if f.benchmark == name)
        of_machines = [each[number] for each in shared if each is not None]
        parts = [of.variance / 5 / 9 for of in of_machines]
        df = sum(parts) ** 2 / sum(v**2 / of.df for v, of in zip(parts, of_machines, strict=True))
        mean = float((d[1] - d[0]).mean())
        half = stats.t.ppf(0.975, df) * math.sqrt(sum(parts))
        assert (finding.ratio.low, finding.ratio.high) == pytest.approx((math.exp(mean - half), math.exp(mean + half)))
        # each machine by itself stays as it is
        assert finding.sessions == plain[name].sessions
    few = [line for line in lines if line["build"] < 4]
    assert {f.ratio.method for f in judged([*(run(k, 3, config=config) for k in range(3)), *few]).findings} == {
        "fixed-sessions"
    }


def test_a_case_too_noisy_on_one_machine_keeps_its_own_variance_there() -> None:
    lines = [line for k in range(30) for line in on_machines([1.0, 1.0], seed=k, name=f"b{k}")]
    for line in lines:
        if (line["benchmark"], line["session"]) == ("b0", 1):
            # what one side gains the other loses, so that the ratio varies and the mean of both does not
            away = 0.02 * (-1) ** line["build"] * (1 if line["side"] == "base" else -1)
            line["metrics"]["time"]["values"] = [0.2 * (1 + away)]
    config = {"gate": {"sessions": "fixed"}, "build": {"layouts": "common"}}
    found = judged([*(run(k, 2, config=config) for k in range(2)), *lines]).findings
    assert {f.ratio.method for f in found} == {"fixed-sessions-shared"}
    for finding in found:
        base, head = np.log(rounds_by_machine(lines, finding.benchmark))
        assert finding.ratio.estimate == pytest.approx(math.exp(float((head - base).mean())))


def rounds_by_machine(lines: Lines, name: str) -> npt.NDArray[np.float64]:
    """Of one benchmark, shape (base and head, machines, rounds)."""
    return np.array([means([line for line in lines if line["benchmark"] == name], side) for side in ("base", "head")])
