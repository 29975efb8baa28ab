"""Programs whose start takes long: what is tried, by trials of them."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from gate.commands.init.found import Found, Proposed, Rank
from gate.commands.init.long import Shorter
from gate.commands.init.tree import Tree

TIMES = "import time\nprint(time.perf_counter(), 'ms')\n"


def project(tmp_path: Path, text: str, name: str = "bench.py") -> tuple[Found, Tree]:
    """Make a script, and what init writes of it first."""
    (tmp_path / name).write_text(text)
    program = "node" if name.endswith(".js") else "python"
    measured = Proposed("bench", [program, name], [], rank=Rank.BENCHMARK)
    return Found("generic", "here", [measured]), Tree(tmp_path, (name,), (), git=True)


def trial(seconds: float, *cases: str, cut: float | None = None, failed: bool = False) -> Mapping[str, Any]:
    """The JSON of a trial of one benchmark."""
    return {
        "failure": None,
        "benchmarks": [
            {
                "benchmark": "bench",
                "failures": [{"status": "no values"}] if failed else [],
                "longer_than": cut,
                "iteration": seconds,
                "cases": [{"metric": each, "decided": "." not in each} for each in cases],
            }
        ],
    }


def next_of(shorter: Shorter, found: Found, told: Mapping[str, Any]) -> Found:
    made = shorter.next(found, told)
    assert made is not None
    return made[0]


def test_what_is_short_stays(tmp_path: Path) -> None:
    found, tree = project(tmp_path, TIMES)
    assert Shorter(tree).next(found, trial(2.0, "time")) is None


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
    assert next_of(shorter, printed, trial(1.0, "a", "b")) == found
    assert shorter.next(found, trial(1.0, "time")) is None
    assert Shorter(tree).next(replace(found, others=("unseen",)), trial(1.0, "time")) is None
