"""A traced command begins, runs and ends as it would by itself, and nothing of the tracer is left."""

import os
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from harness.process.execute import Command, ProcessExecutor
from harness.trace.trace import TracedExecutor, Tracer, tracer_here, tracing
from tests.support.traced import compiled, needs_gcc, seen, traced, words

ISOLATES = subprocess.run(["unshare", "-rm", "true"], capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize(
    ("command", "status"),
    [
        ("exit 3", "exit 3"),
        ("kill -SEGV $$", "signal SIGSEGV"),
        ("exit 127", "exit 127"),
        ("yes | head -n 1", ""),
        ("sleep 5 & exit 4", "exit 4"),
    ],
)
def test_a_command_ends_as_it_would(command: str, status: str, tmp_path: Path, tracer: Tracer) -> None:
    outcome, _ = traced(command, tmp_path, tracer)
    assert outcome.status == status
    untraced = ProcessExecutor().run(Command(words(command), tmp_path, {"PATH": os.environ["PATH"]}, 60))
    assert (untraced.status, untraced.unstarted, untraced.code) == (status, outcome.unstarted, outcome.code)
    assert traced(("./nothing",), tmp_path, tracer)[0].fault == 127


def test_a_time_out_ends_all_of_it_and_nothing_is_left(
    tmp_path: Path, tracer: Tracer, over_once: Callable[[Path], None]
) -> None:
    over_once(tmp_path / "done")
    threads, descriptors = threading.active_count(), len(list(Path("/proc/self/fd").iterdir()))
    outcome, accesses = traced("cat data; : > done; sleep 600 & sleep 600", tmp_path, tracer, timeout=60)
    assert outcome.timed_out
    assert str(tmp_path / "data") in accesses.read
    assert threading.active_count() == threads
    assert len(list(Path("/proc/self/fd").iterdir())) == descriptors
    assert sorted(path.name for path in tmp_path.iterdir()) == ["done", "printed"]


@pytest.mark.parametrize(
    "command",
    [
        "tr '\\0' '\\n' < /proc/self/environ | grep -v '^PWD='; locale",
        "grep -E 'SigIgn|SigBlk' /proc/self/status",
        "ls /proc/self/fd; ulimit -a; umask; nice",
    ],
)
def test_a_command_finds_what_it_would_find_untraced(command: str, tmp_path: Path, tracer: Tracer) -> None:
    environment = {"PATH": os.environ["PATH"], "X": "a=b\nc"}
    traced(command, tmp_path, tracer, environment=environment)
    printed = (tmp_path / "printed").read_text()
    ProcessExecutor().run(Command(words(command), tmp_path, environment, 60, stdout=tmp_path / "printed"))
    assert printed == (tmp_path / "printed").read_text()


def test_a_signal_is_the_commands_to_answer(tmp_path: Path, tracer: Tracer) -> None:
    with tracing(tmp_path, tracer=tracer) as trace:
        script = "trap 'echo ended > out; exit 0' TERM; echo > ready; while :; do sleep 0.05; done"
        command = Command(words(script), tmp_path, {"PATH": os.environ["PATH"]}, 60)
        service = TracedExecutor(ProcessExecutor(), trace).start(command, tmp_path / "log")
        while not (tmp_path / "ready").exists():
            time.sleep(0.02)
        service.stop(10)
        assert (tmp_path / "out").exists()


@pytest.mark.endtoend
@needs_gcc
def test_what_a_signal_interrupts_is_no_proof(tmp_path: Path, tracer: Tracer) -> None:
    source = """#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/time.h>
static void ignore(int number) { (void)number; }
int main(void) {
    struct sigaction action = {.sa_handler = ignore};
    struct itimerval often = {{0, 300}, {0, 300}};
    struct stat found;
    sigaction(SIGALRM, &action, 0);
    setitimer(ITIMER_REAL, &often, 0);
    int interrupted = 0;
    for (int i = 0; i < 3000; i++) interrupted |= stat("data", &found) && errno == EINTR;
    setitimer(ITIMER_REAL, &(struct itimerval){0}, 0);
    stat("data", &found);
    return interrupted;
}"""
    (tmp_path / "data").touch()
    outcome, accesses = traced([compiled(source, tmp_path)], tmp_path, tracer)
    assert accesses.disturbed == (outcome.status == "exit 1")
    assert outcome.status == ("exit 1" if tracer == "seccomp" else "")


def test_a_stopped_process_can_go_on_and_a_long_path_is_no_hindrance(tmp_path: Path, tracer: Tracer) -> None:
    (tmp_path / "data").touch()
    # until it has gone on: it may be told before it has stopped
    command = """rm -f ended; sh -c 'kill -STOP $$; cat data; : > ended' &
        until [ -e ended ]; do sleep 0.05; kill -CONT $! || true; done; wait $!"""
    assert str(tmp_path / "data") in seen(command, tmp_path, tracer).read
    place = tmp_path / ("x" * 120) / ("y" * 120)
    place.mkdir(parents=True)
    assert str(place / "data") in seen("test -e data || true", place, tracer).read


@pytest.mark.skipif(not ISOLATES, reason="needs unshare to make namespaces")
def test_paths_are_those_of_the_command_whatever_stands_before(tmp_path: Path) -> None:
    (tmp_path / "data").symlink_to("/mnt/here")
    mounted = f"mount -t tmpfs none /mnt; cd {tmp_path}; touch /mnt/there; ln -s there /mnt/here; exec "
    with tracing(tmp_path) as trace:
        wrapped = trace.wrap(Command(("/bin/cat", "data"), tmp_path, {"PATH": os.environ["PATH"]}, 60))
        before = ("unshare", "-rm", "sh", "-c", f'{mounted} "$@"', "sh")
        outcome = ProcessExecutor().run(replace(wrapped, argv=(*before, *wrapped.argv)))
        accesses = trace.accesses()
    assert (outcome.status, accesses.doubts) == ("", ())
    assert {str(tmp_path / "data"), "/mnt/here", "/mnt/there"} <= accesses.read


def test_one_tracer_can_stand_in_another(tmp_path: Path, tracer: Tracer) -> None:
    (tmp_path / "data").touch()
    with tracing(tmp_path) as outer, tracing(tmp_path, tracer=tracer) as inner:
        command = Command(("cat", "data"), tmp_path, {"PATH": os.environ["PATH"]}, 60)
        outcome = ProcessExecutor().run(outer.wrap(inner.wrap(command)))
        assert outcome.status == ""
        assert inner.tracers == {"ptrace"}  # the kernel tells only one of both
        assert inner.accesses().doubts == ()
        assert str(tmp_path / "data") in inner.accesses().read & outer.accesses().read


def test_this_host_can_trace_and_all_commands_of_a_trace_are_joined(tmp_path: Path, tracer: Tracer) -> None:
    assert tracer_here() == "seccomp"
    environment = {"PATH": os.environ["PATH"]}
    with tracing(tmp_path, tracer=tracer) as trace:
        for name in ("a", "b"):
            command = Command(("cat", name), tmp_path, environment, 60.0)
            ProcessExecutor().run(trace.wrap(command))
        assert {str(tmp_path / "a"), str(tmp_path / "b")} <= trace.accesses().read
