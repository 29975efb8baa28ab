import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gate.config.types import Benchmark, MetricRules
from gate.model import Metric
from harness.instruments.declaration import FoundInstrument
from harness.instruments.perf_stat import PerfStat, find_perf
from harness.instruments.protocol import Context, Unusable
from harness.process.execute import ProcessEnd
from tests.harness.instruments.conftest import collected, install

DATA = Path(__file__).parents[2] / "data" / "perf"
# stands for perf where the host has none: it writes a captured output and starts the command, as perf does
FAKE = """#!/bin/sh
test "$1" = version && { echo perf version 6.1.187; exit; }
while test "$1" != --; do test "$1" = -o && file=$2; shift; done; shift
cp "%s" "$file"
"$@"
code=$?
test $code -gt 128 && { echo "$1: Segmentation fault" >&2; exit 0; }
exit $code
"""


def fake(tmp_path: Path, name: str = "virtual") -> FoundInstrument:
    found = find_perf(install(tmp_path / "bin", perf=FAKE % (DATA / f"{name}.txt")))
    assert isinstance(found, FoundInstrument), found
    return found


def counts(found: FoundInstrument | str) -> tuple[str, ...]:
    assert isinstance(found, FoundInstrument)
    assert isinstance(found.instrument, PerfStat)
    return found.instrument.events


def measured(found: FoundInstrument, context: Context, command: str | list[str], **options: Any) -> Any:
    each = Benchmark(name="b", command=command, instrument="perf_stat", **options)
    return collected(found.instrument, each, context)


def test_each_iteration_is_a_process_start(tmp_path: Path, context: Context) -> None:
    # what is said in the middle, or by another program, is no signal
    said = "echo out; echo sh: Segmentation fault >&2; echo other: Aborted >&2"
    found = measured(fake(tmp_path), context, f"echo x >> starts; {said}", warmup=1)
    seconds = 29916487 * 1e-9
    assert found["time"] == Metric(unit="s", better="lower", values=[seconds] * 3, dropped=[seconds])
    assert found["page-faults"] == Metric(unit="", better="lower", values=[211] * 3, dropped=[211])
    assert found.keys() == {"time", "task-clock", "page-faults", "context-switches"}
    assert (tmp_path / "starts").read_text() == "x\n" * 4


def test_the_call(tmp_path: Path, context: Context) -> None:
    each = Benchmark(name="b", command=["./b", "{seed}", "a b"], instrument="perf_stat")
    perf = PerfStat("/bin/perf", ("task-clock", "cycles"))
    command = perf.prepare(each, context)
    assert command.argv[:3] == (sys.executable, "-I", "-S")
    assert command.argv[4:] == (
        *(str(context.scratch / "perf"), "3", "", "/bin/perf", "stat", "-x", ";", "-e", "task-clock,cycles"),
        *("--", "./b", "17", "a b"),
    )
    assert command.environment["PERFGATE_PADDING"] == "xxxxx"


@pytest.mark.parametrize(
    ("script", "status", "starts"),
    [
        ("echo x >> starts; echo why >&2; exit 3", "exit 3", 1),
        ("echo x >> starts; test $(wc -l < starts) -lt 2 || exit 4", "exit 4", 2),
        ("echo x >> starts; kill -SEGV $$", "signal SIGSEGV", 1),
    ],
)
def test_the_program_failed(tmp_path: Path, context: Context, script: str, status: str, starts: int) -> None:
    found = measured(fake(tmp_path), context, ["sh", "-c", script])
    assert isinstance(found, Unusable)
    assert found.status == status
    assert ("why" in found.stderr) is ("why" in script)
    assert (tmp_path / "starts").read_text() == "x\n" * starts


def test_a_program_that_is_not_there(tmp_path: Path, context: Context) -> None:
    said = "Workload failed: No such file or directory\n"
    perf = PerfStat("/bin/perf", ("task-clock",))
    each = Benchmark(name="b", command=["./b"], instrument="perf_stat")
    (context.scratch / "perf").write_text('{"runs": 1, "code": 255}')
    outcome = ProcessEnd("", "", 0.1, f"before\n{said}")
    assert perf.collect(each, context, outcome) == Unusable('cannot start: there is no program "./b"', "before\n", True)
    assert perf.collect(each, context, ProcessEnd("", "", 0.1, "mine\n")) == Unusable("exit 255", "mine\n")


def test_a_counter_that_is_lost_or_never_was(tmp_path: Path, context: Context) -> None:
    rules = {"cycles": MetricRules()}
    why = "cycles not supported, instructions not supported"
    assert measured(fake(tmp_path), context, ["true"], metric=rules) == Unusable(f"no values of 'cycles' ({why})", "")
    perf = PerfStat("/bin/perf", ("task-clock", "cycles"))
    each = Benchmark(name="b", command=["./b"], instrument="perf_stat")
    for name in ("perf", "perf.0", "perf.1"):
        (context.scratch / name).unlink(missing_ok=True)
    context = replace(context, iterations=2)
    (context.scratch / "perf").write_text('{"runs": 2, "code": 0}')
    row = "2.00;msec;task-clock;2000000;100.00;;\n"
    (context.scratch / "perf.0").write_text(f"{row}5;;cycles;5;100.00;;\n")
    (context.scratch / "perf.1").write_text(f"{row}<not counted>;;cycles;0;0.00;;\n")
    outcome = ProcessEnd("", "", 0.1, "")
    assert perf.collect(each, context, outcome) == {
        "task-clock": Metric(unit="s", better="lower", values=[0.002, 0.002])
    }
    declared = Benchmark(name="b", command=["./b"], instrument="perf_stat", metric=rules)
    assert perf.collect(declared, context, outcome) == Unusable("no values of 'cycles' (cycles not counted)", "")


@pytest.mark.parametrize(
    ("counters", "runs", "why"),
    [
        ("2.00;msec;task-clock;2000000;100.00;;\n", 3, "perf stat's output is cut off: it has no cycles"),
        (
            "2.00;msec;task-clock;2000000;100.00;;\n5;;cycles;5;100.00;;\n",
            2,
            "perf_stat gave 2 of 3 values: its result is cut off",
        ),
    ],
)
def test_a_result_that_is_cut_off(context: Context, counters: str, runs: int, why: str) -> None:
    perf = PerfStat("/bin/perf", ("task-clock", "cycles"))
    (context.scratch / "perf").write_text(f'{{"runs": {runs}, "code": 0}}')
    for run in range(runs):
        (context.scratch / f"perf.{run}").write_text(counters)
    each = Benchmark(name="b", command=["./b"], instrument="perf_stat")
    assert perf.collect(each, context, ProcessEnd("", "", 0.1, "")) == Unusable(why, "")


def test_perf_or_the_launcher_itself_failed(context: Context) -> None:
    perf = PerfStat("/bin/perf", ("task-clock",))
    each = Benchmark(name="b", command=["./b"], instrument="perf_stat")
    assert perf.collect(each, context, ProcessEnd("exit 1", "", 0.1, "Traceback", 1)) == Unusable(
        "perf_stat: exit 1", "Traceback"
    )
    assert perf.collect(each, context, ProcessEnd("time-out after 1s", "", 1.0, "")) == Unusable(
        "time-out after 1s", ""
    )
    assert perf.collect(each, context, ProcessEnd("", "", 0.1, "")) == Unusable("perf_stat: no result", "")
    (context.scratch / "perf").write_text('{"runs": 1, "code": 0}')
    (context.scratch / "perf.0").write_text("garbage\n")
    found = perf.collect(each, context, ProcessEnd("", "", 0.1, ""))
    assert found == Unusable("perf stat's output is not as expected: 'garbage'", "")


def test_what_the_host_counts(tmp_path: Path) -> None:
    whole = fake(tmp_path)
    assert whole.version == "6.1.187"
    assert counts(whole) == ("duration_time", "task-clock", "page-faults", "context-switches")
    assert whole.limits == ("leaves out cycles and instructions (not supported on this machine)",)
    user = fake(tmp_path, "user")
    assert counts(user) == ("duration_time", "task-clock", "page-faults")
    assert "leaves out context-switches (no permission to count the kernel on this machine)" in user.limits
    assert any(limit.startswith("counts page-faults outside the kernel only (") for limit in user.limits)
    assert counts(fake(tmp_path, "hybrid")) == ("duration_time", "task-clock", "cycles", "instructions")
    assert str(find_perf({"PATH": str(tmp_path)})).startswith("perf is not installed (Debian: linux-perf")


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("echo 'WARNING: perf not found for kernel 6.8.0-138' >&2; exit 2", "install linux-tools-$(uname -r)"),
        ("echo 'No permission to enable task-clock event.' >&2; exit 255", "sudo sysctl kernel.perf_event_paranoid=1"),
        ("echo 'something else' >&2; echo >&2; exit 9", "stat fails: something else"),
        ("exit 9", "stat fails: it says nothing"),
        ("exit 0", "perf counts nothing on this machine"),
    ],
)
def test_a_perf_that_cannot_be_used(tmp_path: Path, script: str, why: str) -> None:
    found = find_perf(install(tmp_path, perf=script))
    assert isinstance(found, str)
    assert why in found
    assert "\n" not in found
