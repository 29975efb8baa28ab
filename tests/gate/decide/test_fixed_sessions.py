"""`gate.sessions = "fixed"`: each machine goes by its own rounds, and one verdict is over all of them."""

import math
import re
import statistics
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from gate.config.config_text import ConfigError, read_source
from gate.config.parse import parse
from gate.decide.next_steps import next_step
from gate.model import Report, reasons
from gate.model.warnings.estimates import DependsOnMachine
from gate.stats.ratio import Rounds
from gate.stats.shared_variance import share_variance
from gate.writing.units import format_share
from tests.gate.decide import decided as support
from tests.gate.decide.decided import COUNTS, MEDIAN, Lines, both, counted, on_machines
from tests.support.warned import kinds, texts

FIXED = '[gate]\nthreshold = "3%"\nsessions = "fixed"\n'
RANDOM = '[gate]\nthreshold = "3%"\nsessions = "random"\n'
COMMON = {"gate": {"sessions": "fixed"}, "build": {"layouts": "common"}}
HOSTS = ("amd", "arm", "old")


def judged(lines: Lines, toml: str = FIXED) -> Report:
    return support.decided(lines, toml)


def only(lines: Lines, toml: str = FIXED) -> Any:
    return support.only(lines, toml)


def run(session: int, sessions: int, **more: Any) -> dict[str, Any]:
    sides = {"base": {"sha": "a"}, "head": {"sha": "b"}}
    of = {"session": session, "sessions": sessions, "host": {"hostname": HOSTS[session]}}
    return {"type": "run", **of, **sides, **more}


def means(lines: Lines, name: str = "bench") -> npt.NDArray[np.float64]:
    """Of one benchmark, shape (base and head, machines, rounds)."""
    found: dict[tuple[str, int], list[float]] = {}
    for line in lines:
        if line["benchmark"] == name:
            found.setdefault((line["side"], line["session"]), []).append(line["metrics"]["time"]["values"][0])
    return np.array([[own for (of, _), own in found.items() if of == side] for side in ("base", "head")])


def without(lines: Lines, **place: Any) -> Lines:
    return [line for line in lines if any(line[key] != value for key, value in place.items())]


def test_what_five_machines_show_is_a_regression_over_them() -> None:
    """Each shows 12 to 40% more, and so nobody knows what a sixth would show: that is another question."""
    ratios = [1.12, 1.15, 1.22, 1.31, 1.40]
    lines = on_machines(ratios, seed=20, benchmark="slower")
    lines += [line for k in range(9) for line in on_machines([1.0] * 5, seed=k, benchmark=f"same-{k}")]
    found, *same = judged(lines).findings
    assert (found.verdict, {f.verdict for f in same}) == ("regression", {"unchanged"})
    assert [each.ratio.low is not None and each.ratio.low > 1.03 for each in found.sessions] == [True] * 5
    assert [each.ratio.estimate for each in found.sessions] == pytest.approx(ratios, rel=0.02)
    for toml in (RANDOM, '[gate]\nthreshold = "3%"\n'):
        sampled = judged(lines, toml).findings[0]
        assert (sampled.verdict, sampled.sessions) == ("inconclusive", [])


def test_the_interval_and_the_p_are_those_of_the_formula() -> None:
    lines = on_machines([1.2, 1.25, 1.18], spread=0.03)
    found = only(lines)
    base, head = means(lines)
    logs = np.log(head / base).tolist()
    mean = statistics.mean(statistics.mean(own) for own in logs)
    parts = [statistics.variance(own) / 5 / 9 for own in logs]
    df = sum(parts) ** 2 / sum(part**2 / 4 for part in parts)
    half = stats.t.ppf(0.975, df) * math.sqrt(sum(parts))
    assert (found.ratio.method, found.ratio.df) == ("fixed-sessions", pytest.approx(df))
    limits = (found.ratio.low, found.ratio.estimate, found.ratio.high)
    assert limits == pytest.approx([math.exp(mean + k * half) for k in (-1, 0, 1)])
    assert found.p == pytest.approx(2 * stats.t.sf((mean - math.log(1.03)) / math.sqrt(sum(parts)), df))
    own = stats.ttest_1samp(logs[2], 0).confidence_interval(0.95)
    third = found.sessions[2]
    assert (third.session, third.rounds, third.ratio.df) == (2, 5, 4)
    assert (third.ratio.low, third.ratio.high) == pytest.approx((math.exp(own.low), math.exp(own.high)))


@pytest.mark.parametrize(
    ("ratio", "verdict", "of_a_rate"),
    [(1.2, "regression", "improvement"), (1.0, "unchanged", "unchanged"), (0.8, "improvement", "regression")],
)
def test_the_verdicts_are_those_of_every_interval(ratio: float, verdict: str, of_a_rate: str) -> None:
    assert only(on_machines([ratio] * 3)).verdict == verdict
    assert only(on_machines([ratio] * 3, better="higher", unit="1/s")).verdict == of_a_rate


def test_one_session_is_judged_as_ever() -> None:
    fixed, sampled = (judged(on_machines([1.1]), toml) for toml in (FIXED, RANDOM))
    assert (fixed.findings, fixed.warnings) == (sampled.findings, sampled.warnings)
    assert fixed.findings[0].sessions == []


# --- a machine that cannot be judged ----------------------------------------------------------------------------------


def test_a_machine_with_two_rounds_is_named_with_its_number() -> None:
    second = [{**line, "session": 1} for line in on_machines([1.3], rounds=2)]
    # the lines of both runs stand in one file here, so the second run is the host of session 1
    lines = [run(0, 2), *on_machines([1.3]), run(1, 2), *second]
    found = only(lines)
    few = reasons.FewRoundsThere(needs=3, has=2)
    assert found.reason == reasons.OnMachine(session=1, host="arm", why=few)
    assert (found.verdict, found.ratio.kind, found.not_worse) == ("inconclusive", "withheld", False)
    assert [each.ratio.kind for each in found.sessions] == ["bounded", "withheld"]
    assert found.ratio.estimate == pytest.approx(1.3, rel=0.02)
    assert only(lines, RANDOM).ratio.kind == "bounded"


def valued(value: Callable[[str], float | None], build: int | None = None) -> Lines:
    """Three machines, of which the second has another value of a side in a build, or in all."""
    lines = on_machines([1.2] * 3)
    for line in lines:
        new = value(line["side"]) if line["session"] == 1 and build in (None, line["build"]) else None
        line["metrics"]["time"]["values"] = [new] if new is not None else line["metrics"]["time"]["values"]
    return lines


NEITHER, THREE = reasons.FewRoundsThere(needs=3, has=0), on_machines([1.3] * 3)


@pytest.mark.parametrize(
    ("lines", "toml", "session", "why"),
    [
        (without(THREE, session=2), "", 2, NEITHER),
        (without(THREE, session=2, side="head"), "", 2, NEITHER),
        (without(THREE, session=2, side="base"), "", 2, NEITHER),
        (without(counted([(10, 11), (20, 22), (30, 33)]), session=2, side="head"), COUNTS, 2, NEITHER),
        # no logarithm is taken of what is not above 0
        (valued({"base": 0.0}.get, 0), "", 1, reasons.ZERO_VALUE),
        (valued({"head": 0.0}.get, 0), "", 1, reasons.ZERO_VALUE),
        (valued({"base": -0.1}.get, 0), "", 1, reasons.NEGATIVE_VALUES),
        (valued({"head": -0.1}.get, 0), "", 1, reasons.NEGATIVE_VALUES),
        # a timer that shows no spread
        (valued({"base": 0.1, "head": 0.12}.get), "", 1, reasons.NO_SPREAD),
    ],
)
def test_what_one_machine_lacks_is_named_and_not_dropped(lines: Lines, toml: str, session: int, why: Any) -> None:
    whole = on_machines([1.3] * 3, benchmark="whole")
    short, other = judged([*lines, *whole], FIXED + toml).findings
    assert (short.verdict, short.reason) == ("inconclusive", reasons.OnMachine(session=session, host=None, why=why))
    assert len(short.sessions) == 3 or toml
    assert other.verdict == "regression"


def test_a_session_that_was_to_measure_and_is_missing_leaves_no_verdict() -> None:
    second = [{**line, "session": 1} for line in on_machines([1.3], seed=8)]
    report = judged([run(0, 3), *on_machines([1.3]), run(1, 3), *second])
    assert report.verdict == "error"
    assert [failure.status for failure in report.failures] == ["session 2 of 3 is missing"]
    assert isinstance(report.findings[0].reason, reasons.OnMachine)
    # nor sides from different machines
    lines = [line for line in on_machines([1.3] * 2) if (line["session"] == 0) == (line["side"] == "base")]
    assert only(lines).reason == reasons.DIFFERENT_SESSIONS


def test_a_round_that_one_side_lost_is_left_out_and_said() -> None:
    whole = on_machines([1.2] * 2, rounds=6)
    found = only(without(whole, session=1, side="head", build=2))
    neither = only(without(whole, session=1, build=2))
    assert found.ratio == neither.ratio
    assert (found.base.counts.build, found.head.counts.build, found.sessions[1].rounds) == (11, 11, 5)
    left = ["1 round of session 1 is left out: only one side has values there"]
    assert texts(found.warnings, "rounds-left-out") == left
    assert "rounds-left-out" not in kinds(neither.warnings)


def test_a_quantile_with_too_few_values_on_one_machine_names_it() -> None:
    rng = np.random.default_rng(5)

    def found(*counts: int) -> Any:
        lines: Lines = []
        for session, count in enumerate(counts):
            base, head = ([[(mean * rng.normal(1, 0.01, count)).tolist()] for _ in range(4)] for mean in (1.0, 1.3))
            lines += both(base, head, session=session)
        return only(lines, FIXED + MEDIAN)

    assert found(20, 20).verdict == "regression"
    few = reasons.FewValues(statistic="p50", needs=20, has=12)
    assert found(20, 12).reason == reasons.OnMachine(session=1, host=None, why=few)


# --- counts -----------------------------------------------------------------------------------------------------------


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
    found = only(counted(sides), FIXED + COUNTS)
    assert (found.ratio.method, found.verdict, len(found.sessions)) == ("exact", verdict, 2)
    assert found.ratio.low == found.ratio.high == pytest.approx(ratio)
    assert found.sessions[1].ratio.estimate == pytest.approx(sides[1][1] / sides[1][0])
    # those that differ from machine to machine say so
    own = [head / base for base, head in sides if base]
    said = [f"{format_share(each - 1, sign=True)} on session {own.index(each)}" for each in (min(own), max(own))]
    assert found.warnings == ([] if min(own) == max(own) else [DependsOnMachine(*said)])


# --- what is said beside the verdict ----------------------------------------------------------------------------------


def test_a_change_that_depends_on_the_machine_is_a_warning_and_decides_nothing() -> None:
    found, alike = only(on_machines([1.2, 1.2, 1.6])), only(on_machines([1.2, 1.2, 1.2]))
    (warning,) = (w for w in found.warnings if isinstance(w, DependsOnMachine))
    assert re.match(r"\+(19|20)\.\d% on session [01]", warning.least), warning
    assert (warning.most.partition(" on ")[2], found.verdict) == ("session 2", "regression")
    assert not any(isinstance(w, DependsOnMachine) for w in alike.warnings)
    # and two given ones need no third
    assert ["two-sessions" in kinds(judged(on_machines([1.1, 1.1]), toml).warnings) for toml in (RANDOM, FIXED)] == [
        True,
        False,
    ]


def test_builds_of_all_machines_count_and_more_on_each_are_what_is_lacking() -> None:
    lines = on_machines([1.4] * 2, rounds=3)
    assert only(lines).verdict == "regression"
    report = judged(lines, FIXED + "min_builds = 7\n")
    (found,), step = report.findings, next_step(report)
    # a fourth round on each machine makes eight
    few = reasons.FewBuilds(needs=7, has=6)
    assert (found.verdict, found.reason, found.more_builds) == ("inconclusive", few, 1)
    assert step is not None and (step.kind, step.details["builds"]) == ("more-builds", 4)
    # of a wide interval, too
    lines = on_machines([1.1, 1.1], spread=0.05, rounds=4)
    report = judged(lines)
    (found,), step = report.findings, next_step(report)
    assert isinstance(found.reason, reasons.TooNoisy) and not found.reason.hopeless
    assert found.more_builds is not None and found.more_builds > 0
    assert step is not None and (step.kind, step.details["builds"]) == ("more-builds", 4 + found.more_builds)
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
    assert fixed.base.value - fixed.base.low < 0.05 * (sampled.base.value - sampled.base.low)
    assert [each.level for each in fixed.variance.base] == ["build"]
    assert [each.level for each in sampled.variance.base] == ["build", "session"]
    assert fixed.variance.base[0] == sampled.variance.base[0]


def test_the_overall_change_and_recorded_metrics_are_over_the_same_machines() -> None:
    lines = [*on_machines([1.1, 1.3, 1.2], benchmark="a"), *on_machines([1.2, 1.5, 1.1], benchmark="b", seed=4)]
    (fixed,), (sampled,) = (judged(lines, toml).overall for toml in (FIXED, RANDOM))
    assert (fixed.ratio.method, fixed.level, fixed.units) == ("fixed-sessions", "build", 15)
    assert fixed.ratio.estimate == pytest.approx(sampled.ratio.estimate, rel=1e-3)
    by_machine = np.log([[1.1, 1.3, 1.2], [1.2, 1.5, 1.1]]).mean()
    assert fixed.ratio.estimate == pytest.approx(math.exp(by_machine), rel=0.02)
    for overall, narrow in ((fixed, True), (sampled, False)):
        assert overall.ratio.low is not None and overall.ratio.high is not None
        assert (overall.ratio.high - overall.ratio.low < 0.05) == narrow
    shown = on_machines([1.2] * 2)
    for line, more in zip(shown, on_machines([1.1, 1.3], metric="memory", unit="B"), strict=True):
        line["metrics"] |= more["metrics"]
    (recorded,) = judged(shown, FIXED + '[plan]\nmetrics = ["time"]\n').recorded
    assert recorded.ratio.method == "fixed-sessions"


def test_looks_take_the_first_rounds_of_each_machine() -> None:
    looks: Lines = [{"type": "look", "look": number, "settled": []} for number in (4, 8)]
    found = only([*on_machines([1.5, 1.4], rounds=8), *looks])
    assert (found.verdict, found.decided_at.look, found.decided_at.looks) == ("regression", 1, 2)
    assert [each.rounds for each in found.sessions] == [4, 4]


def test_a_setting_that_belongs_to_one_machine_is_judged_there_alone() -> None:
    """A factor whose settings are machines: each has its own finding, and no other machine is missed."""
    study = {"factor": {"host": {"old": {"session": 0}, "new": {"session": 1}}}}
    lines = [{**line, "factors": {"host": ("old", "new")[line["session"]]}} for line in on_machines([1.2, 1.3])]
    found = judged([run(0, 2, config={"study": study}), *lines]).findings
    assert {f.factors["host"]: (f.verdict, [at.session for at in f.sessions]) for f in found} == {
        "old": ("regression", [0]), "new": ("regression", [1]),
    }  # fmt: skip


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
        for line in on_machines([1.0, 1.02, 1.0], seed=k, spread=spread, benchmark=f"b{k}")
    ]
    common = [run(k, 3, config=COMMON) for k in range(3)]
    plain = {f.benchmark: f for f in judged([*(run(k, 3) for k in range(3)), *lines]).findings}
    known = judged([*common, *lines]).findings
    assert {f.ratio.method for f in plain.values()} == {"fixed-sessions"}
    assert {f.ratio.method for f in known} == {"fixed-sessions-shared"}
    # written out: each machine's variance of D is weighed with those of the other cases there
    logs = {f.benchmark: np.log(means(lines, f.benchmark)) for f in known}
    shared = [
        share_variance([
            Rounds(0.0, 0.0, float((d[1] - d[0])[m].var(ddof=1)), float((d[1] + d[0])[m].var(ddof=1)), 1.0, 1.0, 5)
            for d in logs.values()
        ])
        for m in range(3)
    ]  # fmt: skip
    for number, (finding, d) in enumerate(zip(known, logs.values(), strict=True)):
        of_machines = [each[number] for each in shared if each is not None]
        parts = [of.variance / 5 / 9 for of in of_machines]
        df = sum(parts) ** 2 / sum(v**2 / of.df for v, of in zip(parts, of_machines, strict=True))
        mean, half = float((d[1] - d[0]).mean()), stats.t.ppf(0.975, df) * math.sqrt(sum(parts))
        assert (finding.ratio.low, finding.ratio.high) == pytest.approx((math.exp(mean - half), math.exp(mean + half)))
        # each machine by itself stays as it is
        assert finding.sessions == plain[finding.benchmark].sessions
    few = judged([*common, *(line for line in lines if line["build"] < 4)]).findings
    assert {f.ratio.method for f in few} == {"fixed-sessions"}


def test_a_case_too_noisy_on_one_machine_keeps_its_own_variance_there() -> None:
    lines = [line for k in range(30) for line in on_machines([1.0, 1.0], seed=k, benchmark=f"b{k}")]
    for line in lines:
        if (line["benchmark"], line["session"]) == ("b0", 1):
            # what one side gains the other loses, so that the ratio varies and the mean of both does not
            away = 0.02 * (-1) ** line["build"] * (1 if line["side"] == "base" else -1)
            line["metrics"]["time"]["values"] = [0.2 * (1 + away)]
    found = judged([*(run(k, 2, config=COMMON) for k in range(2)), *lines]).findings
    assert {f.ratio.method for f in found} == {"fixed-sessions-shared"}
    for finding in found:
        base, head = np.log(means(lines, finding.benchmark))
        assert finding.ratio.estimate == pytest.approx(math.exp(float((head - base).mean())))
