"""An absolute limit of head and a change that is marked: how often each is said though it is not so, and what it does.

Sizes of artifacts and the time of builds are cases as others are (docs/method.md, limits and metrics of builds).
"""

import math
from typing import Any

import msgspec
import numpy as np
import pytest

from gate.config.config_text import ConfigError, from_tables
from gate.config.parse import parse
from gate.config.rules import Policy
from gate.decide.report import decide
from gate.decide.stopping import interim_check
from gate.evidence.gather import gather
from gate.model import Finding, Look, Report, RoundsDone, Run, reasons
from gate.model.warnings.estimates import NotExact
from gate.report.formats import html, junit, markdown
from gate.report.formats import text as terminal
from tests.gate.decide.decided import TODAY, both, policy_by
from tests.support import simulate
from tests.support.lines import execution, located
from tests.support.warned import kinds, texts

CASES = 1200
LOOKS = (4, 6, 8, 12)
ALPHA = 0.1


def drawn(head: float, better: str, looks: tuple[int, ...], effects: simulate.Effects, seed: int) -> Any:
    """Draw cases of base 1 s and head in 12 builds, with what differs between builds far above the rest."""
    rng = np.random.default_rng([45, seed, len(looks)])
    found = simulate.evidence([
        (simulate.sample(rng, effects, (0.02, 0, 0.01), (12, 1, 5)),
         simulate.sample(rng, effects, (0.02, 0, 0.01), (12, 1, 5), head))
        for _ in range(CASES)
    ])  # fmt: skip
    cases = [msgspec.structs.replace(case, better=better) for case in found.cases]
    return msgspec.structs.replace(found, cases=cases, looks=list(looks), rounds=RoundsDone(done=12, planned=12))


def judged(evidence: Any, **gate: Any) -> list[Finding]:
    tables = {"gate": {"confidence": 1 - ALPHA, "family": "none", "interval": "fieller", **gate}}
    return decide(evidence, policy_by(tables)).findings


def at_most(count: int, of: int) -> None:
    promise = ALPHA / 2
    assert count / of <= promise + 3 * math.sqrt(promise * (1 - promise) / of), f"{count} of {of}"


def slowed(rng: np.random.Generator, n: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Skew rates as what disturbs a host does: seldom much lower, never much higher."""
    return -simulate.skewed(rng, n)


@pytest.mark.promise
@pytest.mark.parametrize(
    ("better", "looks", "effects"),
    [
        ("lower", (), simulate.normal),
        ("lower", LOOKS, simulate.normal),
        ("higher", (), simulate.normal),
        ("higher", LOOKS, simulate.normal),
        ("lower", LOOKS, simulate.skewed),
        ("higher", (), slowed),
    ],
)
def test_a_head_at_its_limit_seldom_breaks_it(better: str, looks: tuple[int, ...], effects: simulate.Effects) -> None:
    # with a threshold that many are settled by, so that the look at which a head is judged goes with its values
    found = judged(drawn(1.0, better, looks, effects, 1), limit="1s", threshold="2%")
    broken = [f for f in found if f.limit is not None and f.limit.state == "broken"]
    assert broken  # otherwise the test sees nothing
    at_most(len(broken), CASES)
    assert all(f.verdict == "regression" and isinstance(f.reason, reasons.BeyondLimit) for f in broken)


@pytest.mark.promise
@pytest.mark.parametrize("better", ["lower", "higher"])
@pytest.mark.parametrize("looks", [(), LOOKS])
def test_a_change_as_large_as_warn_is_marked_seldom(better: str, looks: tuple[int, ...]) -> None:
    found = judged(
        drawn(1.02 if better == "lower" else 1 / 1.02, better, looks, simulate.normal, 2), warn="2%", threshold="4%"
    )
    marked = [f for f in found if "beyond-warn" in kinds(f.warnings)]
    assert marked
    at_most(len(marked), CASES)
    assert not any(f.verdict in ("regression", "improvement") for f in marked)


@pytest.mark.promise
def test_the_limits_of_a_report_share_its_error() -> None:
    every = drawn(1.0, "lower", (), simulate.normal, 3)
    reports = [msgspec.structs.replace(every, cases=every.cases[i : i + 6]) for i in range(0, CASES, 6)]
    failing = sum(
        any(f.limit is not None and f.limit.state == "broken" for f in judged(each, limit="1s", family="holm"))
        for each in reports
    )
    at_most(failing, len(reports))


# --- what they do -----------------------------------------------------------------------------------------------------


def timed(head: float, sd: float = 0.002, count: int = 8, **more: Any) -> list[dict[str, Any]]:
    rng = np.random.default_rng(7)
    base, values = ([[(mean * (1 + sd * rng.normal(size=4))).tolist()] for _ in range(count)] for mean in (0.1, head))
    return both(base, values, **more)


def report(lines: list[dict[str, Any]], label: str | None = None, **tables: Any) -> Report:
    config = parse(from_tables({"gate": {"interval": "fieller"}, **tables}, "test"))
    policy = Policy(config, "test", TODAY, label=label, measured=config)
    return decide(gather(located(*lines), config, measured=config), policy)


def metric(**rules: Any) -> dict[str, Any]:
    named = {"name": "bench", "command": "x", "instrument": "values", "metric": {"time": rules}}
    return {"benchmark": [named]}


@pytest.mark.parametrize(
    ("head", "rules", "state", "verdict"),
    [
        (0.1002, {"limit": "99ms"}, "broken", "regression"),  # though nothing changed
        (0.09, {"limit": "80ms"}, "broken", "regression"),  # though it improved
        (0.1002, {"limit": "101ms"}, "kept", "unchanged"),
        (0.1002, {"limit": "100.2ms"}, "open", "unchanged"),
        (0.1002, {"limit": 99, "unit": "ms"}, "broken", "regression"),  # in the unit of the metric
        (0.1002, {"limit": "99ms", "better": "higher"}, "kept", "unchanged"),
        (0.1002, {"limit": "102ms", "better": "higher"}, "broken", "regression"),
        (0.12, {"limit": "101ms"}, "broken", "regression"),
    ],
)
def test_a_limit_is_of_head_alone(head: float, rules: dict[str, Any], state: str, verdict: str) -> None:
    found = report(timed(head), **metric(**rules))
    (finding,) = found.findings
    assert finding.limit is not None
    assert (finding.limit.state, finding.verdict) == (state, verdict)
    assert found.exit_code == (1 if verdict == "regression" else 0)
    if isinstance(finding.reason, reasons.BeyondLimit):
        assert (finding.reason.threshold is not None) == (head == 0.12)
    # it needs as many builds as a regression
    (finding,) = report(timed(head, count=4), **metric(**rules)).findings
    assert finding.limit is not None and finding.limit.state != "broken"


def test_limits_come_from_the_metric_then_the_last_override_then_the_gate_and_a_label_accepts_them_too() -> None:
    tables: dict[str, Any] = {"gate": {"interval": "fieller", "limit": "1s", "warn": "1%"}}
    tables["override"] = [{"benchmark": "b*", "limit": "2s"}, {"metric": "size", "limit": "3MB", "warn": "0.5%"}]
    for more, at, warn in (({}, 2.0, 0.01), (metric(limit="4s", warn="0.1%"), 4.0, 0.001)):
        (found,) = report(timed(0.1), **tables, **more).findings
        assert found.limit is not None and (found.limit.at, found.warn) == (at, warn)
    entry, lines = {"benchmark": "bench", "up_to": "50%", "until": TODAY, "reason": "known"}, timed(0.12)
    # an entry accepts a change alone
    assert report(lines, accept=[entry]).verdict == "pass"
    assert report(lines, accept=[entry], **metric(limit="0.1s")).verdict == "regression"
    accepted = report(lines, label="the label perf-accepted of #1", **metric(limit="0.1s"))
    assert (accepted.verdict, accepted.findings[0].verdict) == ("pass", "accepted")


@pytest.mark.parametrize("better", ["lower", "higher"])
@pytest.mark.parametrize(
    ("worse", "floor", "marked"), [(1.02, "0", True), (1.005, "0", False), (1.02, "5ms", False), (0.98, "0", False)]
)
def test_a_change_beyond_warn_is_marked_and_passes(better: str, worse: float, floor: str, marked: bool) -> None:
    gate = {"interval": "fieller", "threshold": "5%", "warn": "1%", "floor": floor}
    head = 0.1 * worse if better == "lower" else 0.1 / worse
    found = report(timed(head, 0.001), gate=gate, **metric(better=better))
    assert found.exit_code == 0
    said = "worse by more than the 1% from which the rules warn"
    assert texts(found.findings[0].warnings, "beyond-warn") == [said] * marked
    # a mark never fails, so it needs no more builds than its interval: a run may be settled before min_builds
    few = report(timed(head, 0.001, count=4), gate=gate, **metric(better=better))
    assert (few.exit_code, texts(few.findings[0].warnings, "beyond-warn")) == (0, [said] * marked)


def test_what_can_never_be_said_is_refused() -> None:
    for tables, where in (
        ({"gate": {"threshold": "3%", "warn": "3%"}}, r"gate\.warn"),
        ({"override": [{"threshold": "3%", "warn": "4%"}]}, r"override\[0\]\.warn"),
        ({"gate": {"limit": "5 widgets"}}, r"gate\.limit"),
    ):
        with pytest.raises(ConfigError, match=where):
            parse(from_tables(tables, "test"))


# --- builds -----------------------------------------------------------------------------------------------------------


def made(side: str, build: int, size: int, seconds: float = 10.0, **more: Any) -> dict[str, Any]:
    return {
        "type": "build", "side": side, "build": build, "seconds": seconds, "sizes": {"app": size},
        "artifacts": {"app": f"sha256:{size}"}, **more,
    }  # fmt: skip


def sized(head: list[int], metrics: list[str] | None, **gate: Any) -> Report:
    lines = [made(side, b, size) for b, each in enumerate(head) for side, size in (("base", 1000), ("head", each))]
    tables: dict[str, Any] = {"build": {"command": "make"}, "plan": {} if metrics is None else {"metrics": metrics}}
    return report([*lines, *timed(0.1)], gate={"interval": "fieller", **gate}, **tables)


def test_sizes_are_decided_where_they_are_asked_for_and_build_time_is_shown() -> None:
    plain = sized([1100] * 8, None)
    assert [f.metric for f in plain.findings] == ["time"]
    assert [(r.benchmark, r.metric, r.unit) for r in plain.recorded] == [("build", "build-time", "s")]
    asked = sized([1100] * 8, ["time", "size", "build-time"])
    assert [(f.benchmark, f.metric, f.verdict) for f in asked.findings][1:] == [
        ("app", "size", "regression"), ("build", "build-time", "inconclusive"),
    ]  # fmt: skip
    assert asked.findings[1].ratio.method == "exact"
    assert asked.exit_code == 1


@pytest.mark.parametrize(
    ("head", "gate", "verdict"),
    [
        ([1000] * 8, {}, "unchanged"),
        ([1010] * 8, {}, "unchanged"),
        ([1021] * 8, {}, "regression"),
        ([1021], {}, "regression"),  # bytes are counted: one build proves them
        ([900] * 8, {}, "improvement"),
        ([1010] * 8, {"limit": "1005B"}, "regression"),
        ([1010] * 8, {"limit": "1010B"}, "unchanged"),
    ],
)
def test_bytes_are_compared_as_numbers(head: list[int], gate: dict[str, Any], verdict: str) -> None:
    (finding,) = [f for f in sized(head, ["time", "size"], **gate).findings if f.metric == "size"]
    assert finding.verdict == verdict


def test_builds_of_one_commit_that_differ_in_bytes_are_measured_and_say_so() -> None:
    found = sized([1000 + 3 * (b % 3) for b in range(8)], ["time", "size"])
    (finding,) = [f for f in found.findings if f.metric == "size"]
    assert finding.verdict == "unchanged" and finding.ratio.method != "exact"
    assert any(isinstance(w, NotExact) for w in finding.warnings)


def test_builds_alone_are_no_measuring_and_what_has_no_size_or_time_is_said() -> None:
    config: dict[str, Any] = {"build": {"command": "make"}, "plan": {"metrics": ["size"]}}
    assert report([made(side, 0, 5) for side in ("base", "head")], **config).verdict == "error"
    lines = [execution(side, [0.1], build=b) for side in ("base", "head") for b in range(6)]
    (said,) = texts(report(lines, plan={"metrics": ["time", "size"]}).warnings, "none-of-builds")
    assert said.startswith("plan.metrics names size, and no built file of both sides is known: ")
    # build-time is of builds that compile
    compiled = [10.0, 1.0, 1.0]
    lines = [made(side, b, 9, s, relinked=b > 0) for side in ("base", "head") for b, s in enumerate(compiled)]
    tables: dict[str, Any] = {"build": {"command": "make"}, "plan": {"metrics": ["time", "build-time"]}}
    (finding,) = [f for f in report([*lines, *timed(0.1)], **tables).findings if f.metric == "build-time"]
    assert (finding.base.counts.build, finding.verdict) == (1, "inconclusive")
    (said,) = texts(finding.warnings, "linked-builds")
    assert said.startswith("4 of 6 builds only linked again and do not count: ")


@pytest.mark.parametrize(("limit", "settled"), [(None, {"bench"}), ("500ms", set()), ("50ms", set())])
def test_a_limit_is_asked_about_though_the_ratio_is_settled(limit: str | None, settled: set[str]) -> None:
    # head is as base is: after round 4 nothing of the ratio is open, and no limit is judged below min_builds
    tables: dict[str, Any] = {"plan": {"builds": {"min": 4, "max": 12}}, "gate": {"limit": limit} if limit else {}}
    after_round = interim_check(Run(created="2026-11-20T09:00:00Z", config=tables), parse(from_tables(tables, "test")))
    assert after_round is not None
    records = [each.record for each in located(*timed(0.1, count=4))]
    looks = [Look(look=number) for number in (1, 2, 3)]
    assert after_round([*records, *looks]) == settled


def test_every_format_shows_a_limit_a_size_and_the_time_of_builds() -> None:
    lines = [made(side, b, 1000, 10.0 + b / 10) for side in ("base", "head") for b in range(6)]
    tables: dict[str, Any] = {"build": {"command": "make"}, "plan": {"metrics": ["time", "size", "build-time"]}}
    found = report([*lines, *timed(0.1)], gate={"limit": "50ms"}, **tables)
    for said in (html.written(found), markdown.comment(found), junit.written(found), terminal.written(found)):
        assert "limit of 50 ms" in " ".join(said.split()) and "build-time" in said and "size" in said
