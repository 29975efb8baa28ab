import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from harness.process.execute import (
    Command,
    ProcessEnd,
    ProcessExecutor,
    clean_environment,
    environment_difference,
    find_program,
)
from harness.process.process_groups import KEPT, alive
from tests.support.project import executable, until

ENVIRONMENT = {"PATH": os.environ["PATH"]}


def run(directory: Path, *argv: str, timeout: float = 30, **options: object) -> ProcessEnd:
    return ProcessExecutor().run(Command(argv, directory, ENVIRONMENT, timeout, **options))  # type: ignore[arg-type]


def shell(directory: Path, script: str, timeout: float = 30, **options: object) -> ProcessEnd:
    return run(directory, "sh", "-c", script, timeout=timeout, **options)


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look after a process more often than is worth it elsewhere."""
    monkeypatch.setattr("harness.process.execute._TICK", 0.02)


def gone(pid: int) -> bool:
    """Wait until a process has ended; a zombie has."""
    until(lambda: not alive(pid, None), 5)
    return True


@pytest.fixture
def pid_of(tmp_path: Path) -> Iterator[Callable[[str], int]]:
    """Read a pid that a script wrote into a file; what is left of them is ended after the test."""
    pids = []

    def read(name: str) -> int:
        pids.append(int((tmp_path / name).read_text()))
        return pids[-1]

    yield read
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize(
    ("script", "status", "code", "fault"),
    [
        ("exit 0", "", None, None),
        ("exit 3", "exit 3", 3, 3),
        # as of a signal that ended what a shell had started
        ("exit 137", "exit 137 (SIGKILL)", 137, None),
        ("exit 255", "exit 255", 255, None),
        ("./missing", "exit 127", 127, 127),
        ("./", "exit 126", 126, 126),
        ("kill -SEGV $$", "signal SIGSEGV", None, None),
        ("kill -TERM $$", "signal SIGTERM", None, None),
        ("kill -40 $$", "signal 40", None, None),
        ("exec sleep 30", "time-out after 1s", None, None),
    ],
)
def test_how_a_program_ended_in_words_and_as_a_code(
    tmp_path: Path, script: str, status: str, code: int | None, fault: int | None
) -> None:
    outcome = shell(tmp_path, script, timeout=1 if "sleep" in script else 60)
    assert (outcome.status, outcome.code, outcome.fault) == (status, code, fault)
    assert outcome.unstarted == (code in (126, 127))


def test_what_cannot_start(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("data")
    executable(tmp_path / "nonsense", "\0\1\2")
    executable(tmp_path / "orphan", "#!/nowhere/interpreter\n")
    outcomes = {
        argv: run(tmp_path, argv)
        for argv in ("./missing", "no-such-program", "./plain", "./nonsense", "./orphan", ".", "a\0b", "\ud800")
    }
    assert all(each.unstarted and each.code is None for each in outcomes.values())
    # what is not there is a fault of the command, what perfgate cannot give is none
    assert (outcomes["./missing"].fault, outcomes["./plain"].fault) == (127, 127)
    assert run(tmp_path, "true", cpus="99999").fault is None
    assert not run(tmp_path / "nowhere", "true").begun
    statuses = {argv: each.status for argv, each in outcomes.items()}
    assert statuses == {
        "./missing": 'cannot start: there is no program "./missing"',
        "no-such-program": 'cannot start: there is no program "no-such-program"',
        "./plain": 'cannot start: "./plain" is not executable',
        "./nonsense": 'cannot start: "./nonsense" is neither a program of this machine nor does it begin with #!',
        "./orphan": 'cannot start: the interpreter that "./orphan" names in its first line does not exist',
        ".": 'cannot start: "." is not executable',
        "a\0b": "cannot start: embedded null byte",
        "\ud800": statuses["\ud800"],
    }
    assert statuses["\ud800"].startswith("cannot start: ")
    assert "does not exist" in run(tmp_path / "nowhere", "true").status
    assert run(tmp_path, "true", "x" * 10_000_000).status == "cannot start: argument list too long"


def test_what_a_program_finds_when_it_starts(tmp_path: Path) -> None:
    program = executable(tmp_path / "bin" / "tool", "#!/bin/sh\nexit 7\n")
    command = Command(("tool",), tmp_path, {"PATH": "bin"}, 30)
    assert ProcessExecutor().run(command).status == "exit 7"
    assert find_program("tool", {"PATH": str(program.parent)}) == str(program.resolve())
    assert find_program("tool", ENVIRONMENT) is None
    outcome = shell(tmp_path, "echo said >&2; sleep 0.1")
    assert (outcome.status, outcome.stderr, len(outcome.started)) == ("", "said\n", len("2026-11-20T09:00:00.000Z"))
    assert outcome.seconds >= 0.1
    place = tmp_path / "with space 🐢"
    place.mkdir()
    out = tmp_path / "out"
    command = Command(("sh", "-c", 'env; pwd -P; cat; echo "$0"', "a b\n'c'"), place, {"X": "1"} | ENVIRONMENT, 30, out)
    assert ProcessExecutor().run(command).status == ""
    lines = out.read_text().splitlines()
    assert f"PWD={place}" in lines
    assert "X=1" in lines
    assert not any(line.startswith("HOME=") for line in lines)
    # standard input is empty
    assert lines[-3:] == [str(place.resolve()), "a b", "'c'"]
    # Python ignores SIGPIPE, and an ignored signal is inherited
    script = "import signal; raise SystemExit(signal.getsignal(signal.SIGINT) is None)"
    assert run(tmp_path, sys.executable, "-c", script).status == ""
    assert shell(tmp_path, "kill -PIPE $$").status == "signal SIGPIPE"


@pytest.mark.parametrize("trap", ["", "trap '' TERM"])
def test_a_time_out_ends_the_whole_group(
    tmp_path: Path, pid_of: Callable[[str], int], over_once: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch,
    trap: str,
) -> None:  # fmt: skip
    monkeypatch.setattr("harness.process.execute._GRACE", 0.2)
    over_once(tmp_path / "done")
    script = f"""{trap}
        echo busy >&2; echo $$ > self
        ({trap}
        : > done; while :; do sleep 1; done) & echo $! > child; wait"""
    outcome = shell(tmp_path, script, timeout=60)
    assert outcome.status == "time-out after 1m"
    assert outcome.stderr == "busy\n"
    assert outcome.seconds >= 60
    assert gone(pid_of("self"))
    assert gone(pid_of("child"))


def test_children_left_behind_in_the_group_are_ended(tmp_path: Path, pid_of: Callable[[str], int]) -> None:
    outcome = shell(tmp_path, "sleep 60 & echo $! > child; (trap '' TERM; sleep 60) & echo $! > stubborn; exit 0")
    assert outcome.status == ""
    assert gone(pid_of("child"))
    assert gone(pid_of("stubborn"))


DAEMON = """
import os, signal, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        BEHAVIOUR
        open("daemon.new", "w").write(str(os.getpid()))
        os.rename("daemon.new", "daemon")
        time.sleep(60)
    os._exit(0)
while not os.path.exists("daemon"):
    time.sleep(0.005)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has subreapers")
@pytest.mark.parametrize(
    ("behaviour", "then"),
    [
        ("", ""),
        ("signal.signal(signal.SIGTERM, signal.SIG_IGN)", ""),
        ("os.chdir('..'); os.chdir('work')", ""),
        ("", "time.sleep(600)"),
    ],
)
def test_a_daemon_that_left_the_group_is_ended_and_reaped(
    tmp_path: Path, pid_of: Callable[[str], int], over_once: Callable[[Path], None], behaviour: str, then: str
) -> None:
    (tmp_path / "work").mkdir()
    # tests before this one may have left some
    children = Path("/proc/thread-self/children")
    before = set(children.read_text().split())
    if then:
        over_once(tmp_path / "work/daemon")
    outcome = run(tmp_path / "work", sys.executable, "-c", DAEMON.replace("BEHAVIOUR", behaviour) + then, timeout=60)
    assert outcome.status == ("time-out after 1m" if then else "")
    # not even as a zombie: nobody but this process could reap it
    assert not Path(f"/proc/{pid_of('work/daemon')}").exists()
    assert set(children.read_text().split()) <= before


def test_what_others_started_is_left_alone_and_no_files_stay_open(tmp_path: Path) -> None:
    others = subprocess.Popen(["sleep", "60"])
    ended = subprocess.Popen(["true"])
    try:
        os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
        assert shell(tmp_path, "sleep 0.1").status == ""
        assert others.poll() is None
        assert ended.wait() == 0
    finally:
        others.kill()
        others.wait()
    shell(tmp_path, "exit 1")
    open_files = len(list(Path("/dev/fd").iterdir()))
    for _ in range(5):
        shell(tmp_path, "exit 1")
        run(tmp_path, "./missing")
    assert len(list(Path("/dev/fd").iterdir())) == open_files


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has subreapers")
def test_orphans_are_reaped_while_the_execution_goes_on(tmp_path: Path) -> None:
    # none of the orphans that it has made may still be there, though a child of others has ended before them
    ended = subprocess.Popen(["true"])
    os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
    script = """
import os, time

def children():
    tasks = f"/proc/{os.getppid()}/task"
    return {pid for task in os.listdir(tasks) for pid in open(f"{tasks}/{task}/children").read().split()}

before = children()
for _ in range(50):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os._exit(0)
        os._exit(0)
    os.wait()
end = time.monotonic() + 20
while (left := children() - before) and time.monotonic() < end:
    time.sleep(0.01)
raise SystemExit(len(left))
"""
    assert run(tmp_path, sys.executable, "-c", script).status == ""
    assert ended.wait() == 0


def test_one_that_is_stopped_or_has_stopped_itself_ends_at_the_time_out(tmp_path: Path) -> None:
    script = "trap 'echo woken >&2; exit 0' TERM; kill -STOP $$"
    outcome = shell(tmp_path, script, timeout=1)
    assert outcome.status == "time-out after 1s"
    # to see SIGTERM
    assert outcome.stderr == "woken\n"


def test_a_complaint_ends_the_group_and_is_the_status(tmp_path: Path, pid_of: Callable[[str], int]) -> None:
    asked = []

    def complaint() -> str:
        asked.append(1)
        return "something else broke" if (tmp_path / "child").exists() and len(asked) > 1 else ""

    command = Command(("sh", "-c", "sleep 60 & echo $! > new; mv new child; wait"), tmp_path, ENVIRONMENT, 30)
    outcome = ProcessExecutor().run(command, complaint)
    assert outcome.status == "something else broke"
    assert gone(pid_of("child"))
    # it counts also when the process has ended before anybody asked
    for script in ("exit 0", "exit 3"):
        command = Command(("sh", "-c", script), tmp_path, ENVIRONMENT, 30)
        assert ProcessExecutor().run(command, lambda: "the service is gone").status == "the service is gone"


def test_the_end_of_a_long_standard_error_is_kept_and_does_not_fill_the_disk(tmp_path: Path) -> None:
    script = """
import os, time
block = (b"x" * 1023 + b"\\n") * 1024
for _ in range(100):
    os.write(2, block)
end = time.monotonic() + 60
while os.fstat(2).st_blocks * 512 > 64 << 20 and time.monotonic() < end:
    time.sleep(0.01)
os.write(2, b"the end \\xff %d" % (os.fstat(2).st_blocks * 512 >> 20))
"""
    outcome = run(tmp_path, sys.executable, "-c", script)
    assert outcome.status == ""
    said, _, megabytes = outcome.stderr.rpartition(" ")
    assert said.endswith("x\nthe end \ufffd")
    assert len(outcome.stderr) == KEPT
    assert int(megabytes) < 65


def test_standard_output_goes_to_a_file_with_a_limit(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert shell(tmp_path, "echo 1", stdout=out, max_stdout=1000).status == ""
    assert out.read_text() == "1\n"
    outcome = shell(tmp_path, "yes", stdout=out, max_stdout=1000)
    assert outcome.status == "more than 1000 bytes on standard output"


def test_an_exception_ends_the_group_and_goes_on(tmp_path: Path, pid_of: Callable[[str], int]) -> None:
    def handler(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    def send() -> None:
        while not (tmp_path / "done").exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGUSR1)

    before = signal.signal(signal.SIGUSR1, handler)
    try:
        sender = threading.Thread(target=send)
        sender.start()
        with pytest.raises(KeyboardInterrupt):
            shell(tmp_path, "sleep 60 & echo $! > child; echo $$ > self; : > done; wait")
    finally:
        sender.join()
        signal.signal(signal.SIGUSR1, before)
    assert gone(pid_of("self"))
    assert gone(pid_of("child"))


def test_the_environment_is_without_secrets_and_shows_none_in_a_difference() -> None:
    secret = [
        "GITHUB_TOKEN", "GITHUB_SHA", "github_sha", "ACTIONS_CACHE_URL", "RUNNER_TEMP", "INPUT_BASE", "NPM_TOKEN",
        "my_secret", "DB_PASSWORD", "AWS_CREDENTIALS", "API_KEY", "monkey", "GIT_DIR", "GIT_INDEX_FILE",
        "GIT_WORK_TREE", "GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_0", "GIT_CONFIG_VALUE_0", "GIT_PREFIX", "PWD", "OLDPWD",
    ]  # fmt: skip
    kept = ["PATH", "HOME", "LANG", "MY_GITHUB", "GIT_AUTHOR_NAME", "GIT_SSL_CAINFO", "CI", "PERFGATE_X"]
    caller = dict.fromkeys(secret + kept, "v")
    assert clean_environment(caller) == dict.fromkeys(kept, "v")
    # names can be let through, and values added
    more = clean_environment(caller, ["API_KEY", "ABSENT"], {"LANG": "C", "NEW_TOKEN": "x"})
    assert more == {**dict.fromkeys(kept, "v"), "API_KEY": "v", "LANG": "C", "NEW_TOKEN": "x"}
    assert caller["LANG"] == "v"
    caller = {"API_KEY": "hidden", "LC_ALL": "de", "HOME": "/h", "PWD": "/p"}
    environment = clean_environment(caller, (), {"LC_ALL": "C"}) | {"PERFGATE_SEED": "7", "PERFGATE_PADDING": "xxx"}
    assert environment_difference(caller, environment) == {"API_KEY": "", "LC_ALL": "C", "PERFGATE_SEED": "7"}
    assert environment_difference(caller, caller) == {}
