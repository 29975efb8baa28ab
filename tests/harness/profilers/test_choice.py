"""Which profiler fits a benchmark, what is said where none can be used, and the bounds of a profile."""

import os
from collections import defaultdict
from pathlib import Path

import pytest

from gate.config.types import Benchmark
from gate.formats.parts.output import OutputError
from gate.model.profile import DEEPEST, LONGEST, MOST_FRAMES, MOST_STACKS, Frame
from gate.run.profiling import profilers
from harness.profilers.callgrind import PROFILER as CALLGRIND
from harness.profilers.perf import PROFILER as PERF
from harness.profilers.pprof import PROFILER as PPROF
from harness.profilers.pprof import operations
from harness.profilers.profiler import Absent, Costs, Places, Workload, fold, is_go
from tests.support.project import executable


def subject(directory: Path, command: list[str] | str, instrument: str = "spawn", seconds: float = 0.1) -> Workload:
    benchmark = Benchmark(name="bench", command=command, instrument=instrument)
    line = "pkg/BenchmarkX/n=1.5" if instrument == "go" else ""
    return Workload(benchmark, line, seconds, seconds, directory, dict(os.environ))


@pytest.mark.parametrize(
    ("command", "instrument", "names"),
    [
        (["./app"], "spawn", ["callgrind", "perf"]),
        ("./app | wc", "hyperfine", ["callgrind", "perf"]),
        (["./app"], "callgrind", ["callgrind", "perf"]),
        (["./goapp"], "spawn", ["perf"]),
        (["python3", "x.py"], "spawn", ["python"]),
        ("cd src && python3.12 -m bench", "spawn", ["python"]),
        ("pypy3 x.py", "spawn", ["python"]),
        (["./script", "1"], "spawn", ["python"]),
        ("./app --name python.txt", "spawn", ["callgrind", "perf"]),
        (["./bench"], "google-benchmark", ["callgrind"]),
        ("go test -bench . ./x", "go", ["pprof"]),
        ("pytest bench", "pytest-benchmark", ["python"]),
        (["java", "-jar", "x.jar"], "spawn", []),
        (["node", "x.js"], "spawn", []),
        ("cargo bench", "criterion", []),
        ("./gradlew jmh", "jmh", []),
    ],
)
def test_which_profilers_fit(tmp_path: Path, command: list[str] | str, instrument: str, names: list[str]) -> None:
    (tmp_path / "app").write_bytes(b"\x7fELF" + bytes(100))
    (tmp_path / "script").write_text("#!/usr/bin/env python3\n")
    (tmp_path / "goapp").write_bytes(b"\x7fELF" + bytes(100) + b"\xff Go buildinf:")
    is_go.cache_clear()
    assert [each.name for each in profilers() if each.fits(subject(tmp_path, command, instrument))] == names


@pytest.mark.parametrize(
    ("manager", "command"), [("apt", "apt install valgrind"), ("pacman", "pacman -S valgrind"), ("brew", "")]
)
def test_an_absent_tool_names_what_installs_it_where_that_is_known(tmp_path: Path, manager: str, command: str) -> None:
    executable(tmp_path / manager, "#!/bin/sh\n")
    found = CALLGRIND.find({"PATH": str(tmp_path)})
    assert isinstance(found, Absent)
    assert found.install.removeprefix("sudo ") == command
    assert isinstance(PERF.find({"PATH": str(tmp_path)}), Absent)


def test_both_sides_do_the_same_operations(tmp_path: Path) -> None:
    of = subject(tmp_path, "go test", "go", seconds=2e-6)
    assert operations(of) == 10_000_000
    assert operations(subject(tmp_path, "go test", "go", seconds=1000.0)) == 1
    assert PPROF.effort(of).executions == 1


def test_files_are_named_as_in_the_project(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a.c").write_text("")
    own = dict.fromkeys((f"{tmp_path}/src/a.c", "/somewhere/it/was/built/src/a.c", "src/a.c"), "src/a.c")
    libraries = {
        "/usr/lib/python3.11/json/decoder.py": "/json/decoder.py", "": "",
        "/opt/venv/lib/python3.12/site-packages/x/y.py": "/x/y.py",
        "./malloc/./malloc/malloc.c": "/malloc/malloc/malloc.c",
    }  # fmt: skip
    assert {path: Places(tmp_path).of(path) for path in own | libraries} == own | libraries


def own(costs: Costs) -> dict[str, float]:
    """Fold, and give the own cost of each function."""
    frames, stacks = fold(costs)
    assert len(stacks) <= MOST_STACKS and len(frames) <= MOST_FRAMES
    found: dict[str, float] = defaultdict(float)
    for stack in stacks:
        found[frames[stack.frames[-1]].function] += stack.cost
    return found


def test_the_total_and_own_costs_stay_where_stacks_are_too_many() -> None:
    leaves = [Frame(f"leaf{n}") for n in range(10)]
    costs: Costs = {
        (Frame("main"), Frame(f"caller{n}"), leaves[n % 10]): 1.0 + n / 1e4 for n in range(MOST_STACKS + 500)
    }
    found = own(costs)
    for n in range(10):
        wanted = sum(cost for stack, cost in costs.items() if stack[-1] == leaves[n])
        assert found[f"leaf{n}"] == pytest.approx(wanted)


def test_a_function_whose_stacks_are_all_left_out_goes_to_its_caller() -> None:
    big: Costs = {(Frame("main"), Frame(f"f{n}")): 10.0 for n in range(MOST_STACKS - 1)}
    found = own({**big, (Frame("main"),): 10.0, (Frame("main"), Frame("small")): 1.0})
    assert found["main"] == pytest.approx(11.0)


def test_functions_are_bounded_and_a_deep_stack_is_shortened_in_its_middle() -> None:
    deep: Costs = {
        tuple(Frame(f"f{n}-{depth}") for depth in range(DEEPEST)): 1.0 for n in range(2 * MOST_FRAMES // DEEPEST)
    }
    assert sum(own(deep).values()) == pytest.approx(len(deep))
    frames, stacks = fold({tuple(Frame(f"f{n}") for n in range(1000)): 1.0})
    (stack,) = stacks
    assert len(stack.frames) == DEEPEST
    assert frames[stack.frames[0]].function == "f0"
    assert frames[stack.frames[-1]].function == "f999"


def test_names_are_short_and_plain_and_methods_of_a_template_stay_apart() -> None:
    frames, _ = fold({(Frame("x" * 10_000, "a/" * 1000), Frame("evil\x1b[31m\n", "")): 1.0})
    assert all(len(frame.function) <= LONGEST and len(frame.file) <= LONGEST for frame in frames)
    assert not any(character in frame.function for frame in frames for character in "\x1b\n")
    owner = f"std::map<{'std::vector<long>, ' * 50}long>"
    frames, _ = fold({(Frame(f"{owner}::find(long)"),): 1.0, (Frame(f"{owner}::insert(long)"),): 1.0})
    assert sorted(frame.function.rpartition("::")[2] for frame in frames) == ["find(long)", "insert(long)"]


def test_nothing_is_refused() -> None:
    empty: list[Costs] = [{}, {(Frame("main"),): 0.0}]
    for costs in empty:
        with pytest.raises(OutputError):
            fold(costs)
