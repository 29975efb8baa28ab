"""What starts of a launch tell: active time, whose work it was, what outlived it; two sides by turns; an execution."""

import dataclasses
import os
import posix
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gate.config.types import Benchmark, MetricRules
from gate.model import Metric
from harness.instruments import launcher
from harness.instruments.protocol import Context, Unusable, words
from harness.instruments.spawn import LAUNCHER, RESULT, Spawn, Start, Starts, launched
from harness.process.execute import ProcessEnd, ProcessExecutor
from harness.process.forkserver import Launch, LaunchSide, LaunchStart

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the kernel tells no delays elsewhere")

ENVIRONMENT = {"PATH": os.environ["PATH"]}
PYTHON = (sys.executable, "-I", "-S", "-c")
BENCHMARK = Benchmark(name="b", command=["x"], instrument="spawn", warmup=1)
COMPUTES = "for _ in range(1_000_000): pass"
TWO_THREADS = """
import hashlib, threading
def work(): hashlib.pbkdf2_hmac("sha256", b"x", b"y", 400_000)
one = threading.Thread(target=work); one.start(); work(); one.join()
"""
UNREAPED = """
import os
pid = os.fork()
if not pid:
    for _ in range(2_000_000): pass
    os._exit(0)
os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
"""
Made = Callable[..., Starts]


@pytest.fixture
def executor(request: pytest.FixtureRequest) -> Iterator[ProcessExecutor]:
    made = ProcessExecutor()
    if getattr(request, "param", "") == "by itself":
        made._servers[LAUNCHER] = None
    yield made
    made.close()


# forked or not, a launcher does the same (tests/harness/process/test_forkserver.py): these end what it has started
BOTH = pytest.mark.parametrize("executor", ["forked", "by itself"], indirect=True)


@pytest.fixture
def made(executor: ProcessExecutor, tmp_path: Path) -> Made:
    """Make a launch of sides, or of commands, each a side; starts: numbers of sides, or whole starts."""

    def make(
        *each_side: Sequence[str] | LaunchSide, starts: Sequence[int | LaunchStart] = (0, 0), seconds: float = 0.0, step: int = 1,
        timeout: float = 0.0, benchmark: Benchmark = BENCHMARK,
    ) -> Starts:  # fmt: skip
        sides = tuple(
            each if isinstance(each, LaunchSide) else LaunchSide(tuple(each), ENVIRONMENT, tmp_path)
            for each in each_side
        )
        whole = [LaunchStart(each) if isinstance(each, int) else each for each in starts]
        (tmp_path / RESULT).unlink(missing_ok=True)
        launch = Launch(LAUNCHER, tmp_path / RESULT, sides, whole, seconds, step, timeout)
        return Spawn().starts([benchmark] * len(sides), launch, executor.run(launched(launch, 30.0)))

    return make


def good(found: Starts) -> list[Start]:
    assert found.failed is None, found
    return found.made


def value(start: Start, metric: str) -> float:
    (only,) = start.metrics[metric].values
    return only


def test_active_time_is_what_a_program_computes_and_sleeps(made: Made) -> None:
    script = f"import time; time.sleep(0.1)\n{COMPUTES}"
    for start in good(made([*PYTHON, script])):
        assert [start.metrics[name].unit for name in ("time", "active")] == ["s", "s"]
        assert value(start, "user") + 0.1 <= value(start, "active") + 0.02
        assert value(start, "active") <= value(start, "time")
        assert not start.outlived


@pytest.mark.endtoend
def test_active_time_does_not_count_how_long_others_had_the_processor(made: Made, tmp_path: Path) -> None:
    # both on one processor: what one waits for is what the other one runs
    number = min(os.sched_getaffinity(0))
    pin = f"import os; os.sched_setaffinity(0, {{{number}}});"
    busy = f"import os; {pin}\nwhile True: pass"
    script = textwrap.dedent(f"""
        import os, subprocess, sys
        if os.path.exists("busy"):
            os.unlink("busy")
            if not os.fork():
                os.execv(sys.executable, [sys.executable, "-I", "-S", "-c", {busy!r}])
        {pin}
        for _ in range(3_000_000): pass
    """)
    (tmp_path / "busy").touch()
    disturbed, alone = good(made([*PYTHON, script]))
    assert disturbed.outlived
    assert value(disturbed, "time") - value(disturbed, "active") > 0.2 * value(alone, "user")


@pytest.mark.endtoend
@pytest.mark.parametrize(
    ("command", "least", "most"),
    [
        ([*PYTHON, COMPUTES], 0.95, 1.0),
        (["sh", "-c", f"{sys.executable} -I -S -c '{COMPUTES}'; :"], 0.0, 0.3),
        # hashing lets the other thread run
        ([*PYTHON, TWO_THREADS], 0.3, 0.75),
        # nobody waits for the child, whose work the system then counts for nobody
        ([*PYTHON, UNREAPED], 0.0, 0.6),
    ],
    ids=["one task", "child of a shell", "two threads", "child that nobody reaps"],
)
def test_own_is_the_share_of_the_first_task(made: Made, command: list[str], least: float, most: float) -> None:
    for start in good(made(command)):
        assert start.own is not None
        assert least <= start.own <= most
        assert not start.outlived


@BOTH
@pytest.mark.parametrize(
    "leave", ["sleep 60 & echo $! > pid", "(setsid sh -c 'trap : TERM; echo $$ > pid; while :; do sleep 60; done' &)"]
)
def test_what_outlives_a_command_is_told_and_ended_before_the_next_start(
    made: Made, tmp_path: Path, leave: str
) -> None:
    check = 'if [ -e pid ] && kill -0 "$(cat pid)"; then exit 7; fi; rm -f pid'
    found = good(made(["sh", "-c", f"{check}; {leave}; while [ ! -s pid ]; do :; done"], ["sh", "-c", check],
                      starts=[0, 1, 0, 0, 1]))  # fmt: skip
    assert [(start.side, start.outlived) for start in found] == [
        (0, True),
        (1, False),
        (0, True),
        (0, True),
        (1, False),
    ]


def test_what_outlives_one_side_alone_is_ended_too_and_a_launch_ends_after_its_time_with_a_whole_step(
    made: Made,
) -> None:
    check = 'if [ -e pid ] && kill -0 "$(cat pid)"; then exit 7; fi; sleep 60 & echo $! > pid'
    assert [start.outlived for start in good(made(["sh", "-c", check], starts=[0, 0, 0]))] == [True] * 3
    found = good(made(["sleep", "0.05"], ["true"], starts=[0, 1, 1, 0] * 100, seconds=0.1, step=4))
    assert len(found) == 4
    alone = good(made(["sleep", "0.05"], starts=[0] * 100, seconds=0.08, step=3))
    assert len(alone) == 3


def test_a_shell_that_starts_one_program_becomes_it(made: Made, tmp_path: Path) -> None:
    (tmp_path / "work.py").write_text(COMPUTES)
    program = f"{sys.executable} -I -S work.py"
    context = Context(tmp_path, ENVIRONMENT, "base", seed=17, padding=5, iterations=1, scratch=tmp_path)
    shares = [
        start.own
        for command in (program, f"{program} > told 2>&1", f"{program} && :")
        for start in good(made(words(Benchmark(name="b", command=command), context), starts=[0]))
    ]
    assert [share is not None and share > 0.9 for share in shares] == [True, True, False]
    # of a suite perfgate reads which tool it is
    suite = Benchmark(name="b", command=program, instrument="pyperf")
    assert words(suite, context) == ("sh", "-c", program)


def test_sides_take_turns_each_with_its_own_command(made: Made, tmp_path: Path) -> None:
    script = 'printf "%s " "$0" "$MORE" >> order'
    own = LaunchStart(1, {"MORE": "x"}, ("sh", "-c", script, "other"))
    found = good(made(["sh", "-c", script, "base"], ["sh", "-c", script, "head"], starts=[0, 1, 1, 0, own, 0]))
    assert [start.side for start in found] == [0, 1, 1, 0, 1, 0]
    assert (tmp_path / "order").read_text() == "base  head  head  base  other x base  "
    assert {name for start in found for name in start.metrics} == {"time", "active", "user", "system"}
    assert all(len(metric.values) == 1 and not metric.dropped for each in found for metric in each.metrics.values())


def test_what_a_drill_adds_is_spent_and_counted_as_the_programs_own(made: Made, tmp_path: Path) -> None:
    sides = (LaunchSide(("sleep", "0.1"), ENVIRONMENT, tmp_path, slowdown=each) for each in (0.0, 0.5))
    as_it_is, longer = good(made(*sides, starts=[0, 1]))
    assert value(as_it_is, "user") < 0.05 <= value(longer, "user")
    assert value(longer, "time") >= 0.15
    assert value(longer, "active") >= 0.15
    assert longer.own == pytest.approx(1, abs=0.1)


def test_the_memory_of_each_side_is_its_own(made: Made) -> None:
    block = "x = b'x' * 100_000_000"
    # the larger one first: what is told is no maximum so far
    small, large = good(made([*PYTHON, "import os"], [*PYTHON, block], starts=[1, 0]))[::-1]
    assert 110e6 > value(large, "memory") - (value(small, "memory") if "memory" in small.metrics else 8e6) > 85e6


def test_the_start_that_fails_is_the_last_one(made: Made, tmp_path: Path) -> None:
    count = 'echo x >> count; test "$(wc -l < count)" -lt 2 || { echo second >&2; exit 4; }'
    found = made(["true"], ["sh", "-c", count], starts=[0, 1, 1, 0])
    assert [start.side for start in found.made] == [0, 1]
    assert (found.failed, found.side) == (Unusable("exit 4", "second\n"), 1)
    killed = made(["true"], ["sh", "-c", "kill -SEGV $$"], starts=[0, 1, 1, 0])
    assert (killed.failed, killed.side, len(killed.made)) == (Unusable("signal SIGSEGV", ""), 1, 1)


@BOTH
def test_a_start_that_takes_too_long_ends_the_launch(made: Made, tmp_path: Path) -> None:
    slow = 'echo x >> count; test "$(wc -l < count)" -lt 2 || { echo $$ > pid; exec sleep 60; }'
    found = made(["true"], ["sh", "-c", slow], starts=[0, 1, 0, 1, 0], timeout=1.5)
    assert [start.side for start in found.made] == [0, 1, 0]
    assert (found.failed, found.side) == (Unusable("time-out after 1.5s", ""), 1)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


@BOTH
def test_what_cannot_start(made: Made, tmp_path: Path) -> None:
    gone = LaunchSide(("true",), ENVIRONMENT, tmp_path / "gone")
    nowhere = LaunchSide(("true",), ENVIRONMENT, tmp_path, None, {tmp_path / "gone": tmp_path / "place"})
    other = LaunchStart(1, argv=("./other",))
    no_place = f"cannot start: {tmp_path / 'gone'} cannot stand at {tmp_path / 'place'}: no such file or directory"
    for head, start, before, status in (
        (["./missing"], 1, 1, 'cannot start: there is no program "./missing"'),
        (["true"], other, 1, 'cannot start: there is no program "./other"'),
        (gone, 1, 0, f"cannot start: the directory {tmp_path / 'gone'} does not exist"),
        (nowhere, 1, 1, no_place),
        # a command that ends what started it
        (["sh", "-c", "kill -KILL $PPID"], 1, 1, "spawn: the process that starts the command has ended"),
    ):
        found = made(["true"], head, starts=[0, start])
        assert (len(found.made), found.side) == (before, 1)
        assert found.failed is not None
        assert (found.failed.status, found.failed.unstarted) == (status, status.startswith("cannot"))


@BOTH
@pytest.mark.parametrize("fails", [False, True])
def test_both_sides_stand_at_one_path_and_are_set_aside(made: Made, tmp_path: Path, fails: bool) -> None:
    place = tmp_path / "tree"
    for name in ("base", "head"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "name").write_text(name)
    script = "pwd > seen; cat name >> all" + ("; test $(cat name) = base || exit 3" if fails else "")
    sides = (
        LaunchSide(("sh", "-c", script), ENVIRONMENT, place, None, {tmp_path / name: place})
        for name in ("base", "head")
    )
    found = made(*sides, starts=[0, 1, 1, 0])
    assert all("active" in start.metrics for start in found.made)
    assert (len(found.made), found.failed and found.failed.status) == ((1, "exit 3") if fails else (4, None))
    times = 1 if fails else 2
    assert [(tmp_path / name / "all").read_text() for name in ("base", "head")] == ["base" * times, "head" * times]
    assert {(tmp_path / name / "seen").read_text() for name in ("base", "head")} == {f"{place}\n"}
    assert not place.exists()


# ns, user, system, rss, delay, waited, ran, rest, outlived, side
RUN = (30_000_000, 0.008, 0.002, 20_000, 4_000_000, 6_000_000, 10_000_000, 0.0, 0, 0)


def read(tmp_path: Path, *runs: tuple[float, ...], benchmark: Benchmark = BENCHMARK) -> Starts:
    """Read a result that was written by hand."""
    (tmp_path / RESULT).write_bytes(msgspec.json.encode({"runs": runs, "own": [9000], "failed": None}))
    launch = Launch(LAUNCHER, tmp_path / RESULT, (LaunchSide(("x",), {}, tmp_path),), [LaunchStart()] * len(runs))
    return Spawn().starts([benchmark], launch, ProcessEnd("", "", 0.1, ""))


def test_the_values_of_a_start(tmp_path: Path) -> None:
    (start,) = good(read(tmp_path, RUN))
    found = {name: metric.values for name, metric in start.metrics.items()}
    assert found == pytest.approx({"time": [0.03], "active": [0.02], "user": [0.008], "system": [0.002],
                                   "memory": [20_000 * 1024]})  # fmt: skip
    assert start.own == pytest.approx(1.0)
    # active time is at least what the first task ran
    # whoever measures was stopped while the program ran
    (start,) = good(read(tmp_path, (*RUN[:5], 25_000_000, *RUN[6:])))
    assert value(start, "active") == pytest.approx(0.01)
    # without delays there is none
    unknown = (*RUN[:4], -1, -1, -1, *RUN[7:])
    first, second = good(read(tmp_path, RUN, unknown))
    assert "active" not in first.metrics
    assert first.own == pytest.approx(1.0)
    assert second.own is None
    asked = msgspec.structs.replace(BENCHMARK, metric={"active": MetricRules()})
    failed = read(tmp_path, unknown, benchmark=asked).failed
    assert failed is not None
    assert failed.status == "no values of 'active'"
    # active time that cannot be is a failure of the measuring
    cannot = read(tmp_path, RUN, (*RUN[:5], 26_000_000, 0, *RUN[7:]), RUN)
    assert len(cannot.made) == 1
    assert cannot.failed is not None
    assert cannot.failed.status.startswith("spawn: ")
    context = Context(tmp_path, {}, "base", 0, 0, 3, tmp_path)
    collected = Spawn().collect(msgspec.structs.replace(BENCHMARK, warmup=0), context, ProcessEnd("", "", 0.1, ""))
    assert collected == cannot.failed


@pytest.mark.parametrize(("program", "ended", "late"), [("true", True, 20_000_000), ("sleep", False, 0)])
def test_what_delays_the_launcher_until_the_program_has_ended(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, program: str, ended: bool, late: int
) -> None:
    # a start of a short program: others run in the launcher's place until after its end, or only during its run
    told = tmp_path / "schedstat"
    told.write_text("1 3000000 1")
    argv, spawn = [program, *([] if ended else ["0.1"])], posix.posix_spawnp

    def late_spawn(*arguments: Any, **options: Any) -> int:
        process = spawn(*arguments, **options)
        if ended:
            os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT)
        told.write_text("1 23000000 2")
        return process

    own = os.open(told, os.O_RDONLY)
    monkeypatch.setattr(posix, "posix_spawnp", late_spawn)
    once = launcher._starter((argv, dict(os.environb), b".", ([], []), [], 0.0, ()), [(0, {}, None)], own, -1)
    failed, run = once(0)
    os.close(own)
    assert (failed, run[5]) == (None, late)


@pytest.mark.parametrize("sides", [1, 2])
def test_what_stands_before_and_after_each_start(made: Made, tmp_path: Path, sides: int) -> None:
    def found(prepare: str, command: str, cleanup: str) -> Starts:
        around = (("sh", "-c", prepare), ("sh", "-c", cleanup))
        side = LaunchSide(("sh", "-c", command), ENVIRONMENT, tmp_path, around=around)
        return made(*[side] * sides, starts=[n % sides for n in range(4)])

    # the input is there once, and what prepares it is no part of the time
    four = good(
        found("sleep 0.4; touch food; echo p >> all", "mv food eaten && echo c >> all", "rm eaten; echo e >> all")
    )
    assert len(four) == 4
    assert all(value(start, "time") < 0.4 for start in four)
    assert (tmp_path / "all").read_text().split() == ["p", "c", "e"] * 4
    for prepare, cleanup, status in (
        ("exit 3", "true", "prepare failed: exit 3"), ("true", "exit 4", "cleanup failed: exit 4"),
    ):  # fmt: skip
        failed = found(prepare, "true", cleanup).failed
        assert failed is not None
        assert failed.status == status


# --- an execution of several starts -----------------------------------------------------------------------------------


def measured(context: Context, command: str | list[str], **options: Any) -> dict[str, Metric] | Unusable:
    each, spawn = Benchmark(name="b", command=command, instrument="spawn", **options), Spawn()
    # as in a run: each execution has a scratch directory for itself
    context = dataclasses.replace(context, scratch=Path(tempfile.mkdtemp(dir=context.scratch)))
    return spawn.collect(each, context, ProcessExecutor().run(spawn.prepare(each, context)))


def measures(found: dict[str, Metric] | Unusable) -> dict[str, Metric]:
    assert not isinstance(found, Unusable), found
    return found


def test_the_times_and_the_memory_of_a_program(context: Context) -> None:
    found = measures(measured(context, ["sleep", "0.05"], warmup=1))
    elapsed, user, system = found["time"], found["user"], found["system"]
    assert [each.unit for each in (elapsed, user, system)] == ["s", "s", "s"]
    assert [each.better for each in (elapsed, user, system)] == ["lower"] * 3
    assert [(len(each.values), len(each.dropped)) for each in (elapsed, user, system)] == [(3, 1)] * 3
    assert all(value >= 0.05 for value in [*elapsed.values, *elapsed.dropped])
    assert all(0 <= value < 0.05 for value in [*user.values, *system.values])
    # memory below the launcher's own is not told
    assert set(measures(measured(context, ["true"]))) == {"time", "active", "user", "system"}
    refused = measured(context, ["true"], metric={"memory": MetricRules()})
    assert isinstance(refused, Unusable)
    assert refused.status.startswith("no values of 'memory' (spawn cannot measure memory below ")
    assert refused.status.endswith(" MiB, the launcher's own size)")


def test_the_environment_of_a_program_is_its_own_and_none_reaches_the_launcher(context: Context) -> None:
    script = 'env | sort > seen; cat > input; echo "$@" > arguments; ls -l /dev/fd > files; echo out; echo err >&2'
    measures(measured(context, ["sh", "-c", script, "sh", "a b", "{seed}", "{x}", "🐢\n'"]))
    seen = (context.directory / "seen").read_text().splitlines()
    assert set(seen) - {"_=/usr/bin/env"} == {
        f"PATH={ENVIRONMENT['PATH']}",
        f"PWD={context.directory}",
        "PERFGATE_SIDE=head",
        "PERFGATE_SEED=17",
        "PERFGATE_PADDING=xxxxx",
    }
    assert (context.directory / "input").read_text() == ""
    assert (context.directory / "arguments").read_text() == "a b 17 {x} 🐢\n'\n"
    # it has the default signals
    assert measured(context, "kill -PIPE $$") == Unusable("signal SIGPIPE", "")
    # a poisoned environment does not reach the launcher
    (context.directory / "os.py").write_text("raise SystemExit('not the real os')")
    (context.directory / "resource.py").write_text("raise SystemExit('not the real resource')")
    poison = {
        "PYTHONPATH": str(context.directory),
        "PYTHONHOME": "/nowhere",
        "PYTHONSTARTUP": "x",
        "PYTHONINSPECT": "1",
    }
    inner = Context(context.directory, ENVIRONMENT | poison, "base", 1, 0, 1, context.scratch)
    assert "time" in measures(measured(inner, ["true"]))


def test_the_locale_of_the_launchers_python_stays_its_own(context: Context) -> None:
    # a Python started under the C locale sets LC_CTYPE for itself and its children
    for given in ({}, *({"LC_CTYPE": each} for each in ("", "C", "POSIX", "de_DE.UTF-8"))):
        inner = Context(context.directory, ENVIRONMENT | given, "base", 1, 0, 1, context.scratch)
        measures(measured(inner, "env > seen"))
        seen = (context.directory / "seen").read_text().splitlines()
        assert [line for line in seen if line.startswith("LC_")] == [f"LC_CTYPE={each}" for each in given.values()]


def test_the_launcher_itself_failed(context: Context) -> None:
    each, spawn = Benchmark(name="b", command=["true"], instrument="spawn"), Spawn()
    outcome = ProcessEnd("exit 1", "", 0.1, "Traceback", 1)
    assert spawn.collect(each, context, outcome) == Unusable("spawn: exit 1", "Traceback")
    assert spawn.collect(each, context, ProcessEnd("signal SIGKILL", "", 0.1, "")) == Unusable("signal SIGKILL", "")
    assert spawn.collect(each, context, ProcessEnd("", "", 0.1, "")) == Unusable("spawn: no result", "")


@pytest.mark.skipif(not Path("/proc/thread-self/schedstat").exists(), reason="this kernel counts no waiting")
def test_active_time_of_several_starts_is_sharp_where_one_task_does_the_work(context: Context) -> None:
    work = "sum(range(10**6))"
    alone = measures(measured(context, [sys.executable, "-I", "-S", "-c", work]))
    child = measures(measured(context, ["sh", "-c", f"{sys.executable} -I -S -c '{work}'; true"]))
    assert [found["active"].view_of for found in (alone, child)] == ["time", "time"]
    assert [found["active"].sharp for found in (alone, child)] == [True, False]
