"""What fits a budget, by trials: shorter starts of a program, the cases of a large suite, and counts."""

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gate.commands.init.fit import CHOOSES, Shorter, by_cpu_time, fitted, representatives
from gate.commands.init.found import Amount, Found, Proposed, Rank
from gate.commands.init.mend import lesson
from gate.commands.init.tree import Tree

TIMES = "import time\nprint(time.perf_counter(), 'ms')\n"


def project(tmp_path: Path, text: str, name: str = "bench.py") -> tuple[Found, Tree]:
    """Make a script, and what init writes of it first."""
    (tmp_path / name).write_text(text)
    program = "node" if name.endswith(".js") else "python"
    measured = Proposed("bench", [program, name], [], rank=Rank.BENCHMARK)
    return Found("generic", "here", [measured]), Tree(tmp_path, (name,), (), git=True)


def trial(
    seconds: float, *cases: str, cut: float | None = None, failed: bool = False, spread: float = 0.01, values: int = 5
) -> Mapping[str, Any]:
    """The JSON of a trial of one benchmark."""
    return {
        "failure": None,
        "benchmarks": [
            {
                "benchmark": "bench",
                "failures": [{"status": "no values"}] if failed else [],
                "longer_than": cut,
                "iteration": seconds,
                "cases": [
                    {
                        "benchmark": "bench",
                        "metric": each,
                        "decided": "." not in each,
                        "mean": 1.0,
                        "spread": spread,
                        "values": values,
                    }
                    for each in cases
                ],
            }
        ],
    }


def next_of(shorter: Shorter, found: Found, told: Mapping[str, Any]) -> Found:
    made = shorter.next(found, told)
    assert made is not None
    return made[0]


@pytest.mark.parametrize(
    ("told", "stays"),
    [
        # one of four changes: the whole changes by a quarter of that, and if all do by as much
        (trial(2.0, *"abcd", spread=0.019), True),
        (trial(2.0, *"abcd", spread=0.021), False),
        # of one that it prints the whole says as much; what has another name each time is no result
        (trial(2.0, "a", spread=0.001), False),
        (trial(2.0, *"abcd", spread=0.001, values=1), False),
        (trial(2.0, failed=True), False),
    ],
)
def test_of_what_is_short_its_results_are_read_where_they_show_more_than_the_whole(
    tmp_path: Path, told: Mapping[str, Any], stays: bool
) -> None:
    found, tree = project(tmp_path, TIMES)
    shorter = Shorter(tree)
    printed = next_of(shorter, found, trial(2.0, "time"))
    assert printed.benchmark.form == "printed"
    step = shorter.next(printed, told)
    assert (step is None) == stays
    assert stays or next_of(shorter, printed, told) == found
    assert shorter.next(found, trial(2.0, "time")) is None
    # a failure comes first
    assert Shorter(tree).next(found, trial(0.0, failed=True)) is None


def test_what_a_trial_saw_printed_in_time_is_what_is_wanted(tmp_path: Path) -> None:
    found, tree = project(tmp_path, TIMES)
    shorter = Shorter(tree)
    # also where it did not end at all
    printed = next_of(shorter, found, trial(0.0, cut=60.0))
    named = next_of(shorter, printed, trial(0.0, "a", "b", "b.fastest", cut=20.0))
    assert named.benchmark.include == ["a", "b"]
    assert named.rows[0].became.startswith("left out")
    assert shorter.next(named, trial(18.0, "a", "b")) is None


def test_what_prints_all_of_it_in_time_is_whole(tmp_path: Path) -> None:
    found, tree = project(tmp_path, TIMES)
    shorter = Shorter(tree)
    printed = next_of(shorter, found, trial(16.0, "time"))
    assert shorter.next(printed, trial(16.0, "a", "b")) is None


def test_what_prints_no_times_is_timed_as_a_whole(tmp_path: Path) -> None:
    found, tree = project(tmp_path, TIMES)
    shorter = Shorter(tree)
    printed = next_of(shorter, found, trial(40.0, "time"))
    assert next_of(shorter, printed, trial(0.0, failed=True)) == found
    assert shorter.next(found, trial(40.0, "time")) is None
    # nor is one asked that takes no times
    silent, tree = project(tmp_path, "print('5 ms')\n")
    assert Shorter(tree).next(silent, trial(40.0, "time")) is None


def test_what_is_measured_instead_begins_anew_and_takes_what_its_module_loads(tmp_path: Path) -> None:
    found, _ = project(tmp_path, TIMES)
    names = ("bench.py", "tests/other.py", "tests/options.py")
    (tmp_path / "tests").mkdir()
    (tmp_path / names[1]).write_text("from .options import *\n")
    (tmp_path / names[2]).write_text(TIMES)
    shorter = Shorter(Tree(tmp_path, names, (), git=True))
    assert shorter.next(found, trial(0.0, failed=True)) is None
    other = replace(found, benchmarks=[replace(found.benchmark, command=["python", "-m", "tests.other"])])
    assert next_of(shorter, other, trial(0.0, cut=60.0)).benchmark.form == "printed"


def test_of_a_suite_without_a_list_the_test_cases_that_are_quick_enough_are_run_together(tmp_path: Path) -> None:
    tree = Tree(tmp_path, (), (), git=True)
    parts = tuple(f"case {at}" for at in range(20))
    nano = Proposed("b", ["./b", f"--test-case={','.join(parts)}", "--no-skip"], [], "values", "nanobench", parts=parts)
    other = Proposed("c", ["./c"], [], "values", "nanobench")
    late = {"failures": [], "cases": [], "longer_than": 60.0, "iteration": 0.0, "execution": 60.0}
    quick = {**late, "longer_than": None, "cases": [{"metric": "time"}]}
    whole = Found("cmake", "here", [nano, other])
    shorter = Shorter(tree)
    assert Shorter(tree).next(whole, {"failure": None, "benchmarks": [{**quick, "benchmark": "b"}]}) is None
    apart = next_of(shorter, whole, {"failure": None, "benchmarks": [{**late, "benchmark": "b"}]})
    # as many as a file may have, from the whole suite
    *tried, last = apart.benchmarks
    assert (len(tried), last) == (12, other)
    assert tried[-1].command == ["./b", "--test-case=case 18", "--no-skip"]
    times = {"b-1": 4.0, "b-2": 0.5, "b-3": 0.6, "b-12": 0.7, "b-11": 9.0}
    told = [{**quick, "benchmark": name, "execution": seconds} for name, seconds in times.items()]
    failed = {**quick, "benchmark": "b-4", "failures": ["exit 1"], "execution": 0.1}
    joined = next_of(shorter, apart, {"failure": None, "benchmarks": [*told, failed, {**late, "benchmark": "b-5"}]})
    assert joined.benchmarks == [
        replace(nano, command=["./b", "--test-case=case 1,case 3,case 18", "--no-skip"], parts=joined.benchmark.parts),
        other,
    ]
    assert joined.rows[-1].what == "17 of 20 test cases"
    assert shorter.next(joined, {"failure": None, "benchmarks": [{**quick, "benchmark": "b"}]}) is None


def test_where_no_test_case_ends_in_time_they_stay_apart(tmp_path: Path) -> None:
    # Catch2's own choice is the first word
    catch = Proposed("b", ["./b", "[bench]", "--out", "{output}"], [], "values", "catch2", parts=("x", "y"))
    late = {"failures": [], "cases": [], "longer_than": 60.0, "iteration": 0.0, "execution": 60.0}
    shorter = Shorter(Tree(tmp_path, (), (), git=True))
    apart = next_of(shorter, Found("cmake", "here", [catch]), {"benchmarks": [{**late, "benchmark": "b"}]})
    assert [each.command for each in apart.benchmarks] == [["./b", x, "--out", "{output}"] for x in "xy"]
    assert shorter.next(apart, {"benchmarks": [{**late, "benchmark": f"b-{at}"} for at in (1, 2)]}) is None


def test_what_runs_other_packages_too_is_read_by_the_times_that_it_prints(tmp_path: Path) -> None:
    found, tree = project(tmp_path, f"from other_one import x\n{TIMES}")
    found = replace(found, name="own", others=("other_one", "unseen"))
    shorter = Shorter(tree)
    printed = next_of(shorter, found, trial(1.0, "time"))
    assert (printed.benchmark.form, printed.benchmark.include) == ("printed", [])
    assert shorter.next(printed, trial(1.0, "own", "other_one"), compares=True) is None
    # where nothing that it prints tells them apart it is what it was
    assert next_of(shorter, printed, trial(1.0, "a", "b", spread=0.1)) == found
    assert shorter.next(found, trial(1.0, "time")) is None


def test_a_first_start_is_not_waited_for_where_the_times_that_are_printed_can_be_read(tmp_path: Path) -> None:
    found, tree = project(tmp_path, TIMES)
    shorter = Shorter(tree)
    assert shorter.patience(found) == 12.0
    # it prints none after all: its whole run is waited for
    printed = next_of(shorter, found, trial(0.0, cut=12.0))
    assert shorter.patience(printed) == math.inf
    silent, tree = project(tmp_path, "print(1)", "silent.py")
    assert Shorter(tree).patience(silent) == math.inf


def found(command: list[str] | str, instrument: str = "spawn", **fields: Any) -> Found:
    """One benchmark."""
    return Found("python", "here", [Proposed("a", command, [], instrument)], **fields)


def chosen_of(suited: Found, told: Mapping[str, Any]) -> tuple[Found, int, int]:
    made = representatives(suited, told)
    assert made is not None
    return made


def suite(names: list[str], instrument: str) -> Mapping[str, Any]:
    """A trial of many cases; those further back are faster."""
    cases = []
    for n, name in enumerate(names):
        # those of formats are read by the instrument values
        of = ("a", f"{name}.median") if instrument in ("divan", "libtest") else (f"a/{name}", "time")
        cases.append({"benchmark": of[0], "metric": of[1], "mean": 1.0 / (1 + n), "decided": True})
    return {"benchmarks": [{"benchmark": "a", "instrument": instrument, "cases": cases}]}


@pytest.mark.parametrize(
    ("instrument", "command", "names", "after"),
    [
        ("google-benchmark", ["./b"], [f"BM_{g}/{n}" for g in "xy" for n in range(30)], ["BM_x/29", "BM_y/29"]),
        ("criterion", ["./b", "--bench"], [f"{g}/{n}" for g in "xy" for n in range(30)], ["x/29", "y/29"]),
        ("go", ["./b", "-test.bench=."], [f"Benchmark{g}/{n}" for g in "XY" for n in range(30)], ["BenchmarkX/29", "BenchmarkY/29"]),
        ("asv", "x &&\npython -m perfgate_asv b", [f"m.time_{g}({n})" for g in "xy" for n in range(30)], ["m.time_x(29)", "m.time_y(29)"]),
        ("divan", ["./b", "--bench"], [f"{g}::{n}" for g in "xy" for n in range(30)], ["x::29", "y::29"]),
        ("libtest", ["./b", "--bench"], [f"{g}::b{n}" for g in "xy" for n in range(30)], ["x::b29", "y::b29"]),
        ("jmh", ["java", "-jar", "b.jar"], [f"o.{g}.m:{{n={n}}}:avgt" for g in "XY" for n in range(30)], "-p n=29 ^(o\\.X\\.m|o\\.Y\\.m)$"),
        # where another parameter is the fastest of each, one of them for all
        ("jmh", ["java", "-jar", "b.jar"], [f"o.X.m:{{n={n}}}:avgt" for n in range(30)] + [f"o.Y.m:{{n={n}}}:avgt" for n in range(29, -1, -1)], "-p n=29 ^(o\\.X\\.m|o\\.Y\\.m)$"),
        ("pytest-benchmark", "set -e\npython -m pytest -q t/b.py", [f"t/b.py::test_{g}[{n}]" for g in "xy" for n in range(30)], "pytest -q 't/b.py::test_x[29]' 't/b.py::test_y[29]'"),
    ],
)  # fmt: skip
def test_the_fastest_of_each(
    instrument: str, command: list[str] | str, names: list[str], after: str | list[str]
) -> None:
    suited = found(command, instrument)
    if instrument in ("divan", "libtest"):
        suited = replace(suited, benchmarks=[replace(suited.benchmark, instrument="values", form=instrument)])
    few, chosen, total = chosen_of(suited, suite(names, instrument))
    assert (chosen, total) == (2, 60)
    if isinstance(after, str):
        own = few.benchmark.command
        assert after in (own if isinstance(own, str) else " ".join(own))
        assert few.benchmark.include == []
    else:
        assert (few.benchmark.include, few.benchmark.command) == (after, command)
    assert few.rows[0].what == "58 of 60 cases"


def test_of_a_suite_that_took_too_long_a_few_of_its_own_list_are_chosen() -> None:
    names = [f"g{n % 20}/{n}" for n in range(60)]
    told = {"benchmarks": [{"benchmark": "a", "cases": [], "failures": [], "longer_than": 60.0, "names": names}]}
    few, *counts = chosen_of(found(["./b"], "criterion"), told)
    assert (counts, len(few.benchmark.include)) == ([8, 60], 8)


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How many programs want a processor, of which there are two: one."""
    now = [1.0]
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    monkeypatch.setattr("os.getloadavg", lambda: (now[0], 9.0, 9.0))
    return now


HOOKED = {"NODE_OPTIONS": f"--import=data:,{CHOOSES}"}


def late(seconds: float, printed: list[str], names: list[str]) -> Mapping[str, Any]:
    """A trial whose start was ended, with what it had printed by then and the suite's own list."""
    cases = [{"benchmark": "a", "metric": name, "mean": 1e-6, "decided": True} for name in printed]
    own = {"benchmark": "a", "cases": cases, "failures": [], "longer_than": seconds, "names": names}
    return {"benchmarks": [own], "cost": {**costs(1, 2 * seconds), "least": True}}


@pytest.mark.parametrize(
    ("printed", "names", "chosen"),
    [
        # half a second each: two seconds of them, of the whole list where there is one
        (120, [f"m{n}::a" for n in range(216)], 4),
        (120, [], 4),
        # 5 s each: eight rounds of both sides hold two
        (12, [f"m{n}::a" for n in range(216)], 2),
        (12, [], 2),
        # one of 30 s; and what had none by then
        (2, [], 1),
        (0, [f"m{n}::a" for n in range(216)], 1),
    ],
)
@pytest.mark.usefixtures("load")
def test_of_what_was_ended_as_many_are_chosen_as_its_pace_allows(printed: int, names: list[str], chosen: int) -> None:
    libtest = replace(found(["./b"]).benchmark, instrument="values", form="libtest")
    suited = replace(found([], amount=Amount(1, 1, budget=30)), benchmarks=[libtest])
    told = late(60.0, [f"m{n}::a" for n in range(printed)], names)
    assert "no values within" in lesson(told)["a"]
    few, count, total = chosen_of(suited, told)
    assert (count, total, len(few.benchmark.include)) == (chosen, len(names) or printed, chosen)
    assert {*few.benchmark.include} <= {*names} or not names
    # it has time for them in the usual budget
    assert few.plan.budget == 4
    # if that is late too nothing else can be chosen of one
    again = representatives(few, late(60.0, [], names)) if chosen == 1 else None
    assert again is None


def test_what_is_loaded_into_a_script_chooses_among_its_names(load: list[float]) -> None:
    names = [f"own: case {n}" for n in range(20)]
    cases = [{"benchmark": "a", "metric": name, "mean": 1e-6, "decided": True} for name in names]
    # 10 s a start, both sides twice: a fifth of that
    told = {"benchmarks": [{"benchmark": "a", "cases": cases}], "cost": costs(1, 20.0), "plans": {}}
    suited = found(["node", "b.js"], "values", environment=HOOKED, amount=Amount(1, 1, budget=20))
    few, chosen, total = chosen_of(suited, told)
    assert (chosen, total, few.plan.budget) == (4, 20, 4)
    assert few.benchmark.include == [names[n] for n in (0, 13, 18, 5)]
    assert representatives(few, {**told, "cost": costs(1, 4.0)}) is None
    # it is slow because of other programs: each has a third of a processor
    load[0] = 6.0
    assert chosen_of(suited, told)[1] == 8
    # a script that nothing is loaded into stays whole
    assert representatives(replace(suited, environment={}), told) is None


@pytest.mark.parametrize(("start", "chosen"), [(4.9, None), (10.0, 8), (20.0, 8), (100.0, 4)])
def test_of_cases_that_each_start_processes_as_many_are_chosen_as_make_a_short_start(
    start: float, chosen: int | None, load: list[float]
) -> None:
    load[0] = 1.0
    names = [f"wpt_{n:02}" for n in range(35)]
    told = {**suite(names, "pyperf"), "cost": costs(1, 2 * start), "plans": {}}
    made = representatives(found(["./b", "--min-time=0.01"], "pyperf", amount=Amount(1, 5)), told)
    assert (made[1] if made else None) == chosen
    assert made is None or {*made[0].benchmark.include} < {*names}


def test_of_what_no_budget_holds_as_many_are_chosen_as_one_has_room_for() -> None:
    many = suite([f"o.C{n % 8}.m:{{k=a{n}}}:avgt" for n in range(30)], "jmh")
    # leaner counts of which a budget holds few are of some help
    for executions, leaner, count in (
        (400.0, None, 3),
        (400.0, 5, 8),
        (400.0, 8, None),
        (1e5, None, 1),
        (70.0, None, None),
    ):
        told = {**many, "cost": costs(0, executions), "plans": {"leaner": leaner and {"builds": leaner}}}
        made = representatives(found(["java"], "jmh"), told)
        assert (made[1] if made else None) == count
    # of one whose spread is not known as many as fit twelve times
    hurried = {**many["benchmarks"][0], "hurried": True}
    told = {"benchmarks": [hurried], "cost": costs(0, 80.0), "plans": {"fit": {"finds": None}}}
    assert chosen_of(found(["java"], "jmh", amount=Amount(1, 5)), told)[1:] == (6, 30)
    # where nothing is decided nothing is chosen
    nothing = {**suite([], "criterion"), "cost": costs(0, 1e5), "plans": {}}
    assert representatives(found(["./b"], "criterion"), nothing) is None


@pytest.mark.parametrize(
    ("instrument", "option"),
    [("go", "-test.benchtime=20ms"), ("google-benchmark", "--benchmark_min_time=0.02"), ("asv", "--sample-time=0.02")],
)
def test_slow_cases_are_left_out_before_a_budget_grows(instrument: str, option: str) -> None:
    # where leaner counts fit only what takes most of the time for little
    for slow, lean, chosen in ((1, None, 9), (4, None, 6), (6, None, 4), (1, 12, 9), (4, 12, None)):
        means = {f"Benchmark{n}": 2.0 if n < slow else 1e-6 for n in range(10)}
        cases = [{"benchmark": f"a/{n}", "metric": "time", "mean": each, "decided": True} for n, each in means.items()]
        told = {
            "benchmarks": [{"benchmark": "a", "instrument": "go", "cases": cases}],
            "cost": {"once": 20.0, "builds": 4.0, "executions": 60.0 * slow + 100.0, "least": False},
            "plans": {"leaner": lean and {"builds": lean}, "enough": 1500.0},
        }
        made = representatives(found(["./b", option], instrument), told)
        assert (made[1:] if made else None) == (chosen and (chosen, 10))
        assert not made or made[0].benchmark.include == [f"Benchmark{n}" for n in range(slow, 10)]


@pytest.mark.parametrize(("finds", "chosen"), [(0.05, None), (0.5, (9, 10)), (None, (9, 10))])
def test_a_few_slow_cases_are_left_out_where_a_plan_that_fits_finds_little(
    finds: float | None, chosen: tuple[int, int] | None
) -> None:
    means = {f"Benchmark{n}": 2.0 if n < 1 else 1e-6 for n in range(10)}
    cases = [{"benchmark": f"a/{n}", "metric": "time", "mean": each, "decided": True} for n, each in means.items()]
    told = {
        "benchmarks": [{"benchmark": "a", "instrument": "go", "cases": cases}],
        "cost": {"once": 5.0, "builds": 4.0, "executions": 20.0, "least": False},
        "plans": {"fit": {"builds": 5, "finds": finds}, "leaner": {"builds": 5}},
    }
    made = representatives(found(["./b", "-test.benchtime=20ms"], "go"), told)
    assert (made[1:] if made else None) == chosen


# less than twice as noisy; it waits; active time decides; another instrument has other times
@pytest.mark.parametrize(
    "change", [{}, {"spread": 0.09}, {"user": 0.8}, {"decided": False}, {"instrument": "hyperfine"}]
)
def test_cpu_time_decides_where_the_time_of_several_tasks_is_too_noisy(change: dict[str, Any]) -> None:
    of: dict[str, Any] = {"spread": 0.12, "user": 0.95, "decided": True, "instrument": "spawn", **change}
    before = found(["./bench"], of["instrument"])
    times = [("time", 2.0, of["spread"], of["decided"]), ("user", of["user"], 0.05, False)]
    times += [("system", 0.0, 0.05, False), ("active", 1.0, 0.05, False)]
    cases = [
        dict(zip(("metric", "mean", "spread", "decided"), each, strict=True)) | {"benchmark": "a"} for each in times
    ]
    after, named = by_cpu_time(before, {"benchmarks": [{"benchmark": "a", "cases": cases}]})
    assert (after.benchmark.metrics, named) == (([], []) if change else (["user"], ["a"]))
    assert replace(after, benchmarks=before.benchmarks) == before


def test_a_small_suite_is_measured_whole_and_few_of_many_cases_are_executed_as_often() -> None:
    assert representatives(found(["./b"], "criterion"), suite(["x", "y"], "criterion")) is None
    # no filter of it is known
    assert representatives(found(["./b"], "hyperfine"), suite([f"c{n}" for n in range(60)], "hyperfine")) is None
    names = [f"Benchmark{g}/{n}" for g in "XY" for n in range(30)]
    few, chosen, _ = chosen_of(found(["./b", "-test.benchtime=10ms"], "go", amount=Amount(2, 5)), suite(names, "go"))
    assert (chosen, few.plan.executions) == (2, 10)


def costs(builds: float, executions: float, starts: int | None = None) -> Mapping[str, Any]:
    """What a round costs."""
    own = {} if starts is None else {"a": starts}
    return {"once": 0.0, "builds": builds, "executions": executions, "least": False, "starts": own}


@pytest.mark.parametrize(
    ("instrument", "before", "cost", "plans", "after"),
    [
        # long builds: two executions are no burden beside them
        ("go", Amount(2, 5), costs(90, 9), {}, Amount(2, 5)),
        ("go", Amount(2, 5), costs(90, 9), {"leaner": {"executions": 1, "iterations": 3}}, Amount(1, 3)),
        # twelve rounds in four minutes
        ("go", Amount(10, 5), costs(2, 100), {}, Amount(1, 5)),
        ("go", Amount(10, 5), costs(2, 50), {}, Amount(3, 5)),
        # more where little is found and there is room
        ("go", Amount(2, 5), costs(2, 2), {"fit": {"budget": 240.0, "finds": 0.07}}, Amount(2, 5)),
        ("go", Amount(2, 5), costs(2, 2), {"fit": {"budget": 240.0, "finds": 0.3}}, Amount(7, 5)),
        ("go", Amount(2, 5), costs(2, 4), {"fit": {"budget": 240.0, "finds": None}}, Amount(3, 5)),
        # starts count themselves; a long one needs no other before it
        ("spawn", Amount(2, 5, 1), costs(2, 40, 2), {"leaner": {"executions": 1, "iterations": 3}}, Amount(2, 5)),
        ("spawn", Amount(2, 5, 1), costs(2, 40, 10), {}, Amount(2, 5, 1)),
    ],
)  # fmt: skip
def test_counts_are_those_that_give_a_verdict_in_four_minutes(
    instrument: str, before: Amount, cost: Mapping[str, Any], plans: Mapping[str, Any], after: Amount
) -> None:
    assert fitted(found(["x"], instrument, amount=before), {"cost": cost, "plans": plans}).plan == after


def test_what_a_trial_found_too_little_is_written_larger() -> None:
    cost = costs(90, 90)
    told: dict[str, Any] = {"cost": cost, "plans": {"enough": 1510.0}, "built": {"seconds": 250.0}}
    made = fitted(found(["x"], "jmh", amount=Amount(1, 5)), told)
    assert (made.plan.budget, made.timeout) == (26, "30m")
    # nobody waits that long for a pull request
    told["plans"] = {"enough": 2400.0}
    assert fitted(found(["x"], "jmh", amount=Amount(1, 5)), told).plan.budget == 4
    # the first builds come beside it, as the trial says
    told["plans"] = {"fit": {"budget": 360.0, "finds": 0.05}}
    assert fitted(found(["x"], "jmh", amount=Amount(1, 5)), told).plan.budget == 6


def test_what_asks_for_many_times_the_values_of_the_others_is_not_chosen() -> None:
    counts = {f"group{n}/a": 4000 if n == 3 else 40 for n in range(80)}
    cases = [
        {"benchmark": f"a/{name}", "metric": "time", "mean": 1.0, "decided": True, "values": each}
        for name, each in counts.items()
    ]
    told = {"benchmarks": [{"benchmark": "a", "instrument": "criterion", "cases": cases}]}
    few = {**told, "benchmarks": [{**told["benchmarks"][0], "cases": cases[:41]}]}
    for each in (told, few):
        made = representatives(found(["./b"], "criterion"), each)
        assert made is not None
        assert len(made[0].benchmark.include) == 8
        assert "group3/a" not in made[0].benchmark.include


@pytest.mark.parametrize(
    ("spread", "count"),
    # 192 s of rounds hold 100 values of 1.92 s, each of both sides: of a change of 10% by 4.5 standard errors
    [(0.01, 16), (0.04, 15), (0.05, 9), (0.3, 8), (None, 8)],
)
def test_of_more_groups_than_there_is_room_for_the_largest_are_chosen_first(spread: float | None, count: int) -> None:
    small = [f"BenchmarkA{n:02}" for n in range(30)]
    names = [*small, *(f"BenchmarkX/{n}" for n in range(20)), *(f"BenchmarkY/{n}" for n in range(2))]
    cases = [
        # one of them varies so much that nothing would be found
        {
            "benchmark": f"a/{name}",
            "metric": "time",
            "decided": True,
            "mean": 1e-3,
            "spread": spread and (0.9 if name == small[29] else spread),
        }
        for name in names
    ]
    told: dict[str, Any] = {"benchmarks": [{"benchmark": "a", "cases": cases}], "cost": costs(1, 100.0)}
    told["plans"] = {"fit": {"budget": 240.0, "finds": 0.1}, "leaner": {"builds": 8}}
    few, chosen, total = chosen_of(found(["./b"], "go", amount=Amount(1, 1)), told)
    assert (chosen, total) == (count, 52)
    assert {"BenchmarkX/0", "BenchmarkY/0"} <= {*few.benchmark.include}
    # the others are spread over the rest
    rest = [name for name in few.benchmark.include if name in small]
    assert (len(rest), rest[0]) == (chosen - 2, small[0])
    assert len(rest) > 4 and rest[-1] > small[20]
    assert spread not in (0.01, 0.04, 0.05) or small[29] not in rest
