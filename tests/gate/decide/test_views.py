"""Views: which are decided, how they share the error, which of them settles, and the one finding that they give."""

import datetime
from typing import Any

import msgspec
import numpy as np
import pytest

from gate.config.config_text import read_source
from gate.config.parse import parse
from gate.config.rules import Policy
from gate.config.types import Benchmark, Config, Gate
from gate.decide.design import design_of
from gate.decide.estimates import questions_of, subjects_of
from gate.decide.report import decide, judge_looks
from gate.decide.stopping import look
from gate.evidence.gather import gather
from gate.evidence.lines import Inputs, Located
from gate.formats.google_benchmark import is_sharp
from gate.model import Case, Commit, Report, Run
from gate.model.history import CreepRun, Pin
from gate.model.reasons import Exceeds
from gate.model.warnings.estimates import CarryOver
from gate.planning.basis import from_readings
from gate.stats.centers import reduce_to
from gate.writing.units import Quantity, Share
from tests.support import turns
from tests.support.lines import execution, located
from tests.support.turns import Turns, drawn, evidence, of_starts

TODAY = datetime.date(2026, 11, 20)


def policy(toml: str = "", names: tuple[str, ...] = ("parse",), **gate: Any) -> Policy:
    """Rules of commands that spawn starts."""
    config = parse(read_source(toml, "test")) if toml else Config()
    own = {b.name for b in config.benchmark}
    more = [Benchmark(name=name, command="x", instrument="spawn") for name in names if name not in own]
    rules = msgspec.structs.replace(Gate(floor=Quantity.parse("0"), threshold=Share(0.03)), **gate)
    return Policy(msgspec.structs.replace(config, gate=rules, benchmark=[*config.benchmark, *more]), "test", TODAY)


def report(setting: Turns, seed: int = 1, rules: Policy | None = None, **more: Any) -> Report:
    cases = drawn(np.random.default_rng(seed), setting, **more)
    return decide(evidence(cases), rules or policy())


def asked(cases: list[Case], rules: Policy | None = None) -> list[list[tuple[str, str]]]:
    found = questions_of(cases, (rules or policy()).config)
    return [[(case.metric, statistic) for case, statistic in views] for views in found]


def command(one_task: bool | None = True, **changes: Any) -> list[Case]:
    time, active = drawn(np.random.default_rng(0), Turns(rounds=2), one_task=one_task)
    return [msgspec.structs.replace(case, **changes) for case in (time, active)]


def of(metric: str, benchmark: str = "parse", **changes: Any) -> Case:
    side = of_starts(np.ones((2, 5)))
    return msgspec.structs.replace(turns.view(benchmark, metric, side, side, one_task=None), **changes)


MEAN = [[("time", "mean")]]
ACTIVE_AND_TIME = [[("active", "typical"), ("time", "mean")]]
TIME_ALONE = [[("time", "typical"), ("time", "mean")]]
BENCH = '[[benchmark]]\nname = "parse"\ncommand = "x"\n'
NAMED = f'{BENCH}metric.time.statistics = ["mean", "typical", "p50"]'
SUITE = '[[benchmark]]\nname = "suite"\ncommand = "x"\ninstrument = "google-benchmark"'
THREE = [[("time", name)] for name in ("mean", "typical", "p50")]
FEW = of_starts(np.ones((2, 4)))


def of_suite(name: str) -> list[Case]:
    return [of("time", name), of("cpu_time", name, sharp=is_sharp(name), decided=is_sharp(name))]


@pytest.mark.parametrize(
    ("cases", "toml", "expected"),
    [
        (command(), "", ACTIVE_AND_TIME),
        (command()[::-1], "", ACTIVE_AND_TIME),
        # of several tasks wall time alone is decided
        (command(False), "", TIME_ALONE),
        (command(None), "", TIME_ALONE),
        ([of("time")], "", TIME_ALONE),
        # without turns every statistic is as before, and where the time is no time, a count, or without a direction
        ([of("time", turns=False)], "", MEAN),
        ([of("time", unit="B")], "", MEAN),
        ([of("time", exact=True)], "", MEAN),
        ([of("time", decided=False)], "", []),
        # few pairs a round have no typical value of their own
        ([of("time", base=FEW, head=FEW)], "", MEAN),
        # who names statistics gets a verdict on each; another rule of the metric names none
        ([of("time")], NAMED, THREE),
        ([of("time", turns=False)], NAMED, THREE),
        ([of("time")], f'{BENCH}metric.time.threshold = "5%"', TIME_ALONE),
        # processor time stands beside the time of a suite unless its author wants wall time
        (of_suite("suite/BM_sort/1024"), SUITE, [[("cpu_time", "typical"), ("time", "mean")]]),
        (of_suite("suite/BM_sort/real_time"), SUITE, TIME_ALONE),
        (of_suite("suite/BM_sort/manual_time/threads:2"), SUITE, TIME_ALONE),
        ([of("time", "other"), of("rss", "other", unit="B")], SUITE, [*TIME_ALONE, [("rss", "mean")]]),
    ],
)
def test_what_answers_one_question(cases: list[Case], toml: str, expected: list[list[tuple[str, str]]]) -> None:
    assert asked(cases, policy(toml)) == expected


@pytest.mark.parametrize(("one_task", "why"), [(False, "tasks"), (None, "sharper")])
def test_active_time_of_several_tasks_is_recorded(one_task: bool | None, why: str) -> None:
    found = report(Turns(), one_task=one_task)
    (finding,) = found.findings
    assert [each.metric for each in found.recorded] == ["active"]
    assert finding.view is not None and finding.view.why == why


def test_a_file_of_before_decides_as_before() -> None:
    time = drawn(np.random.default_rng(3), Turns(wall=0.02))[0]
    before = evidence([msgspec.structs.replace(time, turns=False, one_task=None)])
    found = decide(before, policy())
    (finding,) = found.findings
    assert (finding.statistic, finding.view, finding.beside, found.family.size) == ("mean", None, [], 1)
    # the only view of its question has the whole error
    (subject,) = subjects_of(before, policy())
    assert (subject.role, subject.weight) == (None, 1.0)


def lines(**run: Any) -> list[Located]:
    """What a run of a command holds, which spawn starts."""
    config = {"benchmark": [{"name": "parse", "command": "x", "instrument": "spawn"}]}
    found: list[dict[str, Any]] = [{"type": "run", "seed": 1, "config": config, **run}]
    rng = np.random.default_rng(0)
    for build in range(3):
        for number in range(4):
            for side in ("base", "head"):
                line = execution(
                    side, [1 + rng.random()], build=build, execution=number, benchmark="parse", own=0.99, seconds=1.0
                )
                line["metrics"]["active"] = {
                    "unit": "s", "values": [1 + rng.random()], "view_of": "time", "sharp": True,
                }  # fmt: skip
                found.append(line)
    return located(*found)


def test_the_lines_of_a_run_say_which_metrics_are_decided() -> None:
    assert asked(gather(lines(), policy().config).cases) == MEAN
    # a plan that names time means it as by default, and a list of what builds have leaves benchmarks as they are; of a
    # benchmark it is wall time alone
    for rules, wanted in (
        ("", ACTIVE_AND_TIME),
        ('[plan]\nmetrics = ["time", "size"]', ACTIVE_AND_TIME),
        ('[plan]\nmetrics = ["time", "size", "build-time"]', ACTIVE_AND_TIME),
        ('[plan]\nmetrics = ["size", "build-time"]', ACTIVE_AND_TIME),
        ('[plan]\nmetrics = ["memory"]', []),
        (f'[plan]\nmetrics = ["memory"]\n{BENCH}metrics = ["time"]', MEAN),
        (f'{BENCH}metrics = ["time"]', MEAN),
    ):
        named = policy(rules)
        assert asked([case for case in gather(lines(turns=True), named.config).cases if case.decided], named) == wanted


def test_a_plan_goes_by_one_view_of_each_question() -> None:
    for run, statistic in (({"turns": True}, "typical"), ({}, "mean")):
        found = from_readings([Inputs(lines(**run), [], [])], ["run"], policy(), ())
        assert [each.statistic for each in found.known] == [statistic]
        assert found.size == 1


def test_one_finding_a_benchmark_with_the_other_view_beside_it() -> None:
    found = report(Turns(change=1.06))
    (finding,) = found.findings
    assert (finding.metric, finding.statistic, finding.verdict) == ("active", "typical", "regression")
    assert finding.ratio.estimate == pytest.approx(1.06, abs=0.01)
    assert [(each.metric, each.statistic) for each in finding.beside] == [("time", "mean")]
    assert finding.view is not None and finding.view.why == "sharper"
    assert finding.view.times == pytest.approx(10, rel=0.6)
    assert (found.family.size, found.exit_code, found.recorded) == (1, 1, [])
    assert finding.beside[0].beside == [] and finding.beside[0].view is None
    # one question, and two comparisons that share its error
    assert isinstance(finding.reason, Exceeds) and finding.reason.comparisons == 2


def test_a_tail_of_head_alone_turns_the_dull_view_red() -> None:
    # a tenth of the starts takes twice as long: the mean of a side grows by a tenth
    found = report(Turns(tail=0.1, wall=0.02, starts=50))
    (finding,) = found.findings
    assert (finding.metric, finding.statistic, finding.verdict) == ("time", "mean", "regression")
    assert finding.view is not None and finding.view.why == "regression"
    assert [each.verdict for each in finding.beside] != ["regression"]
    assert found.exit_code == 1
    # of two that show a regression the sharp one decides
    (finding,) = report(Turns(change=1.3, wall=0.03)).findings
    assert [finding.verdict, finding.beside[0].verdict, finding.metric] == ["regression", "regression", "active"]


def test_the_sharp_view_alone_settles() -> None:
    cases = drawn(np.random.default_rng(4), Turns(wall=0.5))
    first = msgspec.structs.replace(evidence(cases), rounds=msgspec.structs.replace(evidence(cases).rounds, done=4))
    assert look(first, policy()) == {"parse"}
    (finding,) = decide(first, policy()).findings
    assert finding.verdict in ("unchanged", "no-sign") and finding.stopped is not None
    assert finding.beside[0].verdict == "inconclusive"
    assert decide(first, policy()).verdict == "pass"
    # by wall time alone it would be open
    alone = msgspec.structs.replace(first, cases=[msgspec.structs.replace(cases[0], turns=False)])
    assert look(alone, policy()) == frozenset()


def judged_by(setting: Turns, rules: Policy, seed: int = 1) -> dict[str, Any]:
    found = evidence(drawn(np.random.default_rng(seed), setting))
    subjects = subjects_of(found, rules)
    return {each.subject.case.metric: each for each in judge_looks(subjects, design_of(found, rules, subjects))[0]}


@pytest.mark.parametrize(("wall", "weights"), [(0.1, (0.8, 0.2)), (0.01, (0.5, 0.5))])
def test_a_view_twice_as_sharp_gets_four_fifths_of_the_error(wall: float, weights: tuple[float, float]) -> None:
    found = judged_by(Turns(wall=wall, starts=50), policy())
    active, time = found["active"], found["time"]
    assert (active.subject.weight, time.subject.weight) == weights
    assert (active.regression.alpha, time.regression.alpha) == pytest.approx(tuple(0.05 * each for each in weights))
    assert active.subject.settles != time.subject.settles


def test_what_a_change_or_a_later_round_does_moves_no_weight() -> None:
    def weights(cases: list[Case]) -> list[float]:
        return [each.weight for each in subjects_of(evidence(cases), policy())]

    quiet = drawn(np.random.default_rng(5), Turns(starts=50))
    slower = drawn(np.random.default_rng(5), Turns(starts=50, change=5.0))
    assert weights(quiet) == weights(slower) == [0.8, 0.2]
    # active time of all later rounds is far noisier than wall time
    active = quiet[1]
    noise = np.random.default_rng(6).lognormal(0, 3, len(active.head.values))
    noise[: int(active.head.counts[1][0])] = 1.0
    wild = msgspec.structs.replace(active.head, values=active.head.values * noise)
    assert weights([quiet[0], msgspec.structs.replace(active, head=wild)]) == [0.8, 0.2]


def test_questions_and_not_views_share_the_error() -> None:
    names = tuple(f"b{k}" for k in range(4))
    rng = np.random.default_rng(7)
    cases = [case for k, name in enumerate(names) for case in drawn(rng, Turns(change=1.2 if k == 2 else 1.0), name)]
    found = decide(evidence(cases), policy(names=names))
    assert found.family.size == len(found.findings) == 4
    assert [each.benchmark for each in found.findings] == list(names)
    worst = next(each for each in found.findings if each.verdict == "regression")
    # Holm's first step, four fifths of it, spent at its look
    alphas = [each for each in subjects_of(evidence(cases), policy(names=names)) if each.case.benchmark == "b2"]
    assert worst.benchmark == "b2" and [each.weight for each in alphas] == [0.8, 0.2]
    assert worst.decided_at.confidence > 1 - 0.05 * 0.8 / 4


@pytest.mark.parametrize("family", ["holm", "none"])
def test_a_view_is_red_exactly_where_its_adjusted_p_is_below_the_error(family: str) -> None:
    for seed in range(8):
        found = judged_by(Turns(change=1.04, active=0.03, wall=0.03, layout=0.01), policy(family=family), seed)
        for each in found.values():
            assert each.regression.rejected == (each.regression.p_adjusted < 0.05)


def test_an_accept_of_a_time_covers_its_views_and_one_of_a_view_that_view() -> None:
    entry = '[[accept]]\nbenchmark = "parse"\nup_to = "20%"\nuntil = 2030-01-01\nreason = "known"\n'
    slower = Turns(change=1.06)
    assert report(slower, rules=policy(entry)).findings[0].verdict == "accepted"
    # as of a project that names what was decided before there were views
    for more in ('metric = "time"\n', 'metric = "time"\nstatistic = "mean"\n', 'metric = "active"\n'):
        assert report(slower, rules=policy(entry + more)).findings[0].verdict == "accepted"
    assert report(slower, rules=policy(entry + 'metric = "memory"\n')).findings[0].verdict == "regression"
    # of a tail that the mean alone shows
    tail = Turns(tail=0.1, wall=0.02, starts=50)
    accepted = report(tail, rules=policy(entry.replace("20%", "60%"))).findings[0]
    assert (accepted.metric, accepted.verdict) == ("time", "accepted")
    # a regression that nothing covers comes before one that is accepted
    both = report(Turns(change=1.3, wall=0.03), rules=policy(entry.replace("20%", "60%") + 'metric = "active"\n'))
    assert (both.findings[0].metric, both.findings[0].verdict) == ("time", "regression")


def test_the_overall_change_is_that_of_one_view_of_all() -> None:
    names = tuple(f"b{k}" for k in range(5))
    rng = np.random.default_rng(8)
    cases = [case for name in names for case in drawn(rng, Turns(change=1.1), name)]
    (overall,) = decide(evidence(cases), policy(names=names)).overall
    assert (overall.metric, overall.cases, overall.ratio.method) == ("active", 5, "paired")
    assert overall.ratio.estimate == pytest.approx(1.1, abs=0.005)
    # of wall time by two views that are about as sharp: whichever decides each
    cases = [case for name in names for case in drawn(rng, Turns(wall=0.02), name, one_task=False)]
    found = decide(evidence(cases, looks=False), policy(names=names))
    assert {each.statistic for each in found.findings} == {"typical", "mean"}
    times = [case for case in cases if case.metric == "time"]
    reduced = [reduce_to(case.base, case.head, "typical", exact=False) for case in times]
    wanted = np.exp(np.mean([each.head.mean - each.base.mean for each in reduced]))
    assert found.overall[0].ratio.estimate == pytest.approx(float(wanted))


def test_nights_are_judged_by_one_view_whatever_each_shows() -> None:
    commit = Commit(ref="main", sha="a" * 40)
    creep = CreepRun(pin=Pin(against="v1", tag="v1", sha="a" * 40, commits=3), cases=[], unused=None)
    cases = drawn(np.random.default_rng(1), Turns(tail=0.1, wall=0.02, starts=50))
    run = Run(created="2026-11-20T09:00:00Z", seed=1, turns=True, creep=creep, base=commit, head=commit)
    found = decide(msgspec.structs.replace(evidence(cases), run=run), policy())
    assert [each.metric for each in found.findings] == ["active"]


def test_variances_are_shared_by_view() -> None:
    quiet, wild = tuple(f"quiet{k}" for k in range(5)), tuple(f"wild{k}" for k in range(5))
    rng = np.random.default_rng(9)
    of_one = [case for name in quiet for case in drawn(rng, Turns(), name)]
    of_several = [case for name in wild for case in drawn(rng, Turns(wall=1.0), name, one_task=False)]

    def intervals(cases: list[Case]) -> list[Any]:
        found = evidence(cases, looks=False)
        decided = decide(msgspec.structs.replace(found, layouts="common"), policy(names=(*quiet, *wild)))
        return [each.ratio for each in decided.findings if each.benchmark in quiet]

    # both are typical values, of active time and of wall time
    alone = intervals(of_one)
    assert {each.method for each in alone} == {"paired-shared"}
    assert intervals([*of_one, *of_several]) == alone


def test_what_could_have_shown_goes_by_the_share_of_the_view() -> None:
    cases = drawn(np.random.default_rng(11), Turns())
    (finding,) = decide(evidence(cases, looks=False), policy()).findings
    toml = '[plan]\nmetrics = ["active"]\n[[benchmark]]\nname = "parse"\ncommand = "x"\nmetric.active.statistics = ["typical"]'
    # four fifths of 5%
    alone = decide(evidence(cases[1:], looks=False), policy(toml, confidence=0.96)).findings[0]
    assert (finding.statistic, alone.statistic) == ("typical", "typical")
    assert finding.detectable == pytest.approx(alone.detectable)


def test_carry_over_is_warned_of_in_the_view_that_decides() -> None:
    time, active = drawn(np.random.default_rng(2), Turns(starts=20))
    orders = active.head.orders
    assert orders is not None and active.base.orders is not None
    after_base = np.isin(orders - 1, active.base.orders)
    slower = msgspec.structs.replace(active.head, values=active.head.values * np.where(after_base, 1.03, 1.0))
    (finding,) = decide(evidence([time, msgspec.structs.replace(active, head=slower)]), policy()).findings
    assert [each.side for each in finding.warnings if isinstance(each, CarryOver)] == ["head"]
    assert not any(isinstance(each, CarryOver) for each in finding.beside[0].warnings)


@pytest.mark.parametrize("interval", ["fieller", "fieller-kj", "bootstrap", "fieller-moderated"])
def test_the_typical_value_is_paired_by_rounds_whatever_the_means_are(interval: str) -> None:
    looks = interval != "bootstrap"
    cases = drawn(np.random.default_rng(10), Turns(change=1.1))
    (finding,) = decide(evidence(cases, looks=looks), policy(interval=interval, family="none")).findings
    assert (finding.metric, finding.ratio.method, finding.verdict) == ("active", "paired", "regression")
