"""Programs whose start takes long: what is tried, by trials of them."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gate.commands.init.found import Found, Measured, Rank
from gate.commands.init.long import Shorter
from gate.commands.init.tree import Tree

TIMES = "import time\nprint(time.perf_counter(), 'ms')\n"


def project(tmp_path: Path, text: str, name: str = "bench.py") -> tuple[Found, Tree]:
    """Make a script, and what init writes of it first."""
    (tmp_path / name).write_text(text)
    program = "node" if name.endswith(".js") else "python"
    measured = Measured("bench", [program, name], [], rank=Rank.BENCHMARK)
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
    found, tree = project(tmp_path, "import os\nn = int(os.environ.get('N', '1000'))\n" + TIMES)
    assert Shorter(found, tree).next(found, trial(2.0, "time")) is None


@pytest.mark.parametrize(
    ("name", "text", "first", "second"),
    [
        ("bench.py", "add_argument('--size', type=int)", "bench.py --size 10000", "bench.py --size 1000"),
        (
            "bench.py",
            "add_argument('-n', '--count', default=5_000, type=int)",
            "bench.py --count 500",
            "bench.py --count 50",
        ),
        ("bench.py", "os.environ.get('LOOPS', 700)", "env LOOPS=70 python bench.py", "env LOOPS=7 python bench.py"),
        ("bench.js", "const n = +process.argv[2] || 200000", "bench.js 20000", "bench.js 2000"),
        ("bench.py", "int(sys.argv[1]) if len(sys.argv) > 1 else 90", "bench.py 9", "bench.py 1"),
        ("bench.js", "const n = process.env.N || 300", "env N=30 node bench.js", "env N=3 node bench.js"),
    ],
)
def test_a_size_that_a_script_takes_gets_smaller_until_its_start_is_short(
    name: str, text: str, first: str, second: str, tmp_path: Path
) -> None:
    found, tree = project(tmp_path, f"{text}\n{TIMES}", name)
    shorter = Shorter(found, tree)
    once = next_of(shorter, found, trial(40.0, "time"))
    assert " ".join(once.benchmark.command).endswith(first)
    twice = next_of(shorter, once, trial(4.0, "time"))
    assert " ".join(twice.benchmark.command).endswith(second)
    assert shorter.next(twice, trial(0.5, "time")) is None


def test_a_size_that_is_refused_gives_way_to_the_printed_times(tmp_path: Path) -> None:
    found, tree = project(tmp_path, "add_argument('--size', type=int)\n" + TIMES)
    shorter = Shorter(found, tree)
    sized = next_of(shorter, found, trial(40.0, "time"))
    printed = next_of(shorter, sized, trial(0.0, failed=True))
    assert (printed.benchmark.form, printed.benchmark.command) == ("printed", ["python", "bench.py"])
    assert (printed.plan.executions, printed.plan.iterations, printed.plan.budget) == (1, 1, 5)


def test_what_a_trial_saw_printed_in_time_is_what_is_wanted(tmp_path: Path) -> None:
    found, tree = project(tmp_path, TIMES)
    shorter = Shorter(found, tree)
    # also where it did not end at all
    printed = next_of(shorter, found, trial(0.0, cut=60.0))
    named = next_of(shorter, printed, trial(0.0, "a", "b", "b.fastest", cut=20.0))
    assert named.benchmark.include == ["a", "b"]
    assert named.rows[0].became.startswith("left out")
    assert shorter.next(named, trial(18.0, "a", "b")) is None


def test_what_prints_all_of_it_in_time_is_whole(tmp_path: Path) -> None:
    found, tree = project(tmp_path, TIMES)
    shorter = Shorter(found, tree)
    printed = next_of(shorter, found, trial(16.0, "time"))
    assert shorter.next(printed, trial(16.0, "a", "b")) is None


def test_what_prints_no_times_is_timed_as_a_whole(tmp_path: Path) -> None:
    found, tree = project(tmp_path, TIMES)
    shorter = Shorter(found, tree)
    printed = next_of(shorter, found, trial(40.0, "time"))
    assert next_of(shorter, printed, trial(0.0, failed=True)) == found
    assert shorter.next(found, trial(40.0, "time")) is None
    # nor is one asked that takes no times
    silent, tree = project(tmp_path, "print('5 ms')\n")
    assert Shorter(silent, tree).next(silent, trial(40.0, "time")) is None


def test_what_is_measured_instead_begins_anew_and_takes_what_its_module_loads(tmp_path: Path) -> None:
    found, _ = project(tmp_path, TIMES)
    names = ("bench.py", "tests/other.py", "tests/options.py")
    (tmp_path / "tests").mkdir()
    (tmp_path / names[1]).write_text("from .options import *\n")
    (tmp_path / names[2]).write_text("parser.add_argument('--size', type=int)\n")
    shorter = Shorter(found, Tree(tmp_path, names, (), git=True))
    assert shorter.next(found, trial(0.0, failed=True)) is None
    other = replace(found, benchmarks=[replace(found.benchmark, command=["python", "-m", "tests.other"])])
    sized = next_of(shorter, other, trial(0.0, cut=60.0))
    assert sized.benchmark.command == ["python", "-m", "tests.other", "--size", "10000"]
