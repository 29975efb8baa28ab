import os
import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gate.config.types import Benchmark, MetricRules
from gate.model import Metric
from gate.writing.units import Duration
from harness.instruments.declaration import FoundInstrument, choose
from harness.instruments.hyperfine import Hyperfine, find_hyperfine
from harness.instruments.protocol import Context, Unusable
from harness.instruments.spawn import Spawn
from harness.instruments.values import Values
from harness.process.execute import Command, ProcessEnd
from tests.harness.instruments.conftest import collected, install
from tests.support.fakes import FakeExecutor

DATA = Path(__file__).parents[2] / "data" / "hyperfine"
VERSIONS = ["1.15.0", "1.20.0", "2.0.0"]
Measure = Callable[..., dict[str, Metric] | Unusable]
ENVIRONMENT = {"PATH": os.environ["PATH"]}


def hyperfine(version: str) -> Hyperfine:
    return Hyperfine("/opt/hyperfine", tuple(map(int, version.split("."))))


def benchmark(command: str | list[str], **options: Any) -> Benchmark:
    return Benchmark(name="b", command=command, **options)


def test_the_call(context: Context) -> None:
    each = benchmark(["./a b", "it's {seed} {x}", "🐢\n"], warmup=2, timeout=Duration(9))
    command = hyperfine("1.15.0").prepare(each, context)
    assert command.argv == (
        *("/opt/hyperfine", "-N", "--runs", "5", "--warmup", "0", "--style", "none", "--output", "inherit"),
        *("--export-json", str(context.scratch / "result.json"), "--"),
        shlex.join(["./a b", "it's 17 {x}", "🐢\n"]),
    )
    assert command.environment == ENVIRONMENT | {
        "PERFGATE_SIDE": "head",
        "PERFGATE_SEED": "17",
        "PERFGATE_PADDING": "xxxxx",
    }
    assert (command.timeout, command.stdout) == (9, None)
    text = hyperfine("2.0.0").prepare(benchmark("./a {seed} && b"), context).argv[-1]
    assert shlex.split(text) == ["sh", "-c", "./a 17 && b"]


def answer(context: Context, version: str, case: str, **options: Any) -> dict[str, Metric] | Unusable:
    """Replay a captured call."""
    each, tool = benchmark(["program"], **options), hyperfine(version)

    def reply(command: Command) -> ProcessEnd:
        if case.endswith("json"):
            shutil.copy(DATA / f"{version}.{case}".replace("..", "."), context.scratch / "result.json")
            return ProcessEnd("", "", 1.0, "")
        (context.scratch / "result.json").touch()
        return ProcessEnd("exit 1", "", 1.0, (DATA / f"{version}.{case}.txt").read_text(), 1)

    return tool.collect(each, context, FakeExecutor(reply).run(tool.prepare(each, context)))


@pytest.mark.parametrize("version", VERSIONS)
def test_captured_results(context: Context, version: str) -> None:
    found = answer(context, version, ".json", warmup=1)
    assert not isinstance(found, Unusable)
    # before 1.21 memory is a running maximum, and before 2.0 user and system are means: not per run, not taken
    assert set(found) == ({"time", "user", "system", "memory"} if version == "2.0.0" else {"time"})
    assert all((len(metric.values), len(metric.dropped)) == (3, 1) for metric in found.values())
    more = answer(context, version, ".json", warmup=2)
    assert more == Unusable("hyperfine gave 4 of 5 values: its result is cut off", "")
    lacking = answer(context, "1.15.0", ".json", warmup=1, metric={"user": MetricRules()})
    assert lacking == Unusable("no values of 'user' (hyperfine 1.15.0 gives time for each run)", "")


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("exit", Unusable("exit 3", "problem\n")),
        ("signal", Unusable("ended by a signal", "unfinished")),
        ("missing", Unusable('cannot start: there is no program "program"', "", True)),
    ],
)
def test_captured_failures(context: Context, version: str, case: str, expected: Unusable) -> None:
    assert answer(context, version, case) == expected


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (ProcessEnd("exit 1", "", 1, "Error: disk full\n", 1), Unusable("hyperfine: exit 1", "Error: disk full\n")),
        (ProcessEnd("exit 2", "", 1, "error: unexpected", 2), Unusable("hyperfine: exit 2", "error: unexpected")),
        (ProcessEnd("time-out after 10m", "", 600, "slow"), Unusable("time-out after 10m", "slow")),
        (ProcessEnd("", "", 1, ""), Unusable("hyperfine wrote no result", "")),
    ],
)
def test_what_is_not_the_commands_fault(context: Context, outcome: ProcessEnd, expected: Unusable) -> None:
    assert hyperfine("1.20.0").collect(benchmark(["x"]), context, outcome) == expected


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Put perfgate's Python into an environment without hyperfine; returns the folder of its programs."""
    folder = tmp_path / "environment" / "bin"
    folder.mkdir(parents=True)
    monkeypatch.setattr(sys, "executable", str(folder / "python"))
    return folder


def test_the_one_that_came_with_perfgate_is_first(tmp_path: Path, nowhere: Path) -> None:
    caller = install(tmp_path / "bin", hyperfine="echo hyperfine 1.20.0")
    found = FoundInstrument(Hyperfine(str((tmp_path / "bin" / "hyperfine").resolve()), (1, 20, 0)), "1.20.0")
    assert find_hyperfine(caller) == found
    install(nowhere, hyperfine="echo hyperfine 2.0.0")
    assert find_hyperfine(caller) == FoundInstrument(Hyperfine(str(nowhere / "hyperfine"), (2, 0, 0)), "2.0.0")
    assert find_hyperfine({"PATH": ""}) == find_hyperfine(caller)


@pytest.mark.usefixtures("nowhere")
def test_which_hyperfine_is_used(tmp_path: Path) -> None:
    assert find_hyperfine({"PATH": str(tmp_path)}) == "hyperfine is not installed"
    old = find_hyperfine(install(tmp_path / "old", hyperfine="echo hyperfine 1.13.0"))
    assert old == "hyperfine 1.13.0 is older than 1.14"
    # a Python package of this name is about physics
    other = find_hyperfine(install(tmp_path / "other", hyperfine="echo usage: spectra; exit 2"))
    assert str(other).endswith("/other/hyperfine is not the benchmarking tool hyperfine")
    assert isinstance(find_hyperfine(install(tmp_path / "broken", hyperfine="")), str)
    caller = install(tmp_path / "bin", hyperfine=f"touch '{tmp_path}/asked'; echo hyperfine 2.0.0")
    assert choose(["values", "spawn"], caller).warnings == ()
    assert not (tmp_path / "asked").exists()
    chosen = choose(["hyperfine"], caller)
    assert isinstance(chosen.by_name["hyperfine"], Hyperfine)
    assert (chosen.warnings, chosen.versions) == ((), {"hyperfine": "2.0.0"})
    chosen = choose(["hyperfine", "spawn", "values"], {"PATH": str(tmp_path)})
    assert isinstance(chosen.by_name["hyperfine"], Spawn)
    assert isinstance(chosen.by_name["spawn"], Spawn)
    assert isinstance(chosen.by_name["values"], Values)
    said = "hyperfine is not installed: measured with the built-in spawn"
    assert [each.sentence() for each in chosen.warnings] == [said]


# --- the real tool --------------------------------------------------------------------------------------------------


@pytest.fixture
def measured(context: Context) -> Measure:
    """Measure with the hyperfine of this host."""
    found = find_hyperfine(os.environ)
    if isinstance(found, str):
        pytest.skip(f"absent: hyperfine ({found})")
    real = found.instrument

    def measure(command: str | list[str], **options: Any) -> dict[str, Metric] | Unusable:
        measured: dict[str, Metric] | Unusable = collected(real, benchmark(command, **options), context)
        return measured

    return measure


def test_real_times_and_strange_words(measured: Measure, context: Context) -> None:
    found = measured(["sleep", "0.05"], warmup=1)
    assert not isinstance(found, Unusable)
    assert (len(found["time"].values), len(found["time"].dropped)) == (3, 1)
    assert all(0.05 <= value < 1 for value in found["time"].values)
    words = ["a b", "it's", '"q"', "new\nline", "$HOME", "{x}", "\\", "🐢", "", "--runs", "-N"]
    found = measured(["sh", "-c", 'printf "%s|" "$@" > words', "sh", *words])
    assert not isinstance(found, Unusable)
    assert (context.directory / "words").read_text() == "".join(f"{word}|" for word in words)
    assert not isinstance(measured("test 'a b' = \"a b\" && test {seed} = 17"), Unusable)


def test_real_failures(measured: Measure) -> None:
    assert measured("echo out; echo why >&2; exit 3") == Unusable("exit 3", "why\n")
    assert measured("kill -SEGV $$") == Unusable("ended by a signal", "")
    assert measured(["./no such"]) == Unusable('cannot start: there is no program "./no such"', "", True)
    assert measured(["sleep", "60"], timeout=Duration(0.3)) == Unusable("time-out after 0.3s", "")
