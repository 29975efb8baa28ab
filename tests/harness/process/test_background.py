import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.process.execute import Command, ProcessExecutor
from harness.process.process_groups import Background, StartError, start_time
from harness.source.workdir import RUNNING
from tests.support.fakes import Clock
from tests.support.project import until

ENVIRONMENT = {"PATH": os.environ["PATH"]}
linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has subreapers")


@pytest.fixture
def executor(tmp_path: Path) -> Iterator[ProcessExecutor]:
    made = ProcessExecutor(tmp_path / RUNNING)
    yield made
    made.close()


def shell(directory: Path, script: str) -> Command:
    return Command(("sh", "-c", script), directory, ENVIRONMENT, 30)


def start(executor: ProcessExecutor, directory: Path, script: str) -> Background:
    return executor.start(shell(directory, script), directory / "log")


def told(path: Path) -> str:
    """Wait for a line in a file."""
    until(lambda: path.exists() and path.read_text().endswith("\n"))
    return path.read_text()


def ended(background: Background) -> str:
    until(lambda: not background.alive())
    return background.status()


def exists(pid: str) -> bool:
    return Path(f"/proc/{int(pid)}").exists()


def test_it_lives_until_it_is_stopped_with_its_group(executor: ProcessExecutor, tmp_path: Path) -> None:
    background = start(executor, tmp_path, "echo out; echo err >&2; sleep 60 & echo $! > child; wait")
    child = told(tmp_path / "child")
    assert background.alive()
    assert background.status() == ""
    for _ in range(2):
        background.stop(5)
        assert not background.alive()
        assert background.status() == "signal SIGTERM"
    assert not exists(child)
    assert (tmp_path / "log").read_text() == "out\nerr\n"
    # a group whose leader has ended; and one that nobody stops, which ends with the executor
    led = start(executor, tmp_path, "sleep 60 & echo $! > led")
    assert ended(led) == "exit 0"
    child = told(tmp_path / "led")
    assert exists(child)
    led.stop(5)
    assert not exists(child)
    left = start(executor, tmp_path, "sleep 60")
    executor.close()
    assert not left.alive()


@pytest.mark.parametrize("script", ["trap '' TERM; echo > up; while :; do sleep 0.1; done", "echo > up; kill -STOP $$"])
def test_stubborn_ones_are_killed_after_the_grace(
    executor: ProcessExecutor, tmp_path: Path, script: str, patience: Clock
) -> None:
    background = start(executor, tmp_path, script)
    told(tmp_path / "up")
    background.stop(50)
    assert background.status() in ("signal SIGKILL", "signal SIGTERM")
    assert patience.now <= 50


def test_what_cannot_start_says_why(executor: ProcessExecutor, tmp_path: Path) -> None:
    open_files = 0
    for _ in range(2):
        open_files = len(list(Path("/dev/fd").iterdir()))
        with pytest.raises(StartError, match=r'^cannot start: there is no program "no-such"$'):
            executor.start(Command(("no-such",), tmp_path, ENVIRONMENT, 30), tmp_path / "log")
    assert len(list(Path("/dev/fd").iterdir())) == open_files


def test_its_log_does_not_fill_the_disk(executor: ProcessExecutor, tmp_path: Path) -> None:
    script = "import os, time; [os.write(1, b'x' * (1 << 20)) for _ in range(70)]; print('the end'); time.sleep(60)"
    background = executor.start(
        Command((sys.executable, "-u", "-c", script), tmp_path, ENVIRONMENT, 30), tmp_path / "log"
    )
    until(lambda: (tmp_path / "log").read_bytes().endswith(b"the end\n"))
    assert background.alive()
    assert (tmp_path / "log").stat().st_blocks * 512 <= 128 * 1024
    assert (tmp_path / "log").read_bytes().endswith(b"xthe end\n")
    background.stop(1)


DAEMON = """
import os, time
environment = dict(os.environ)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        script = "import os, time; print(os.getpid(), file=open('NAME', 'w')); time.sleep(60)"
        os.execve("/usr/bin/env", ["env", *FLAGS, PYTHON, "-c", script], environment)
    os._exit(0)
os.wait()
time.sleep(60)
"""


def daemon(name: str, flags: list[str] | None = None) -> str:
    return DAEMON.replace("NAME", name).replace("FLAGS", repr(flags or [])).replace("PYTHON", repr(sys.executable))


@linux
def test_an_execution_ends_its_own_daemons_and_not_those_of_a_service(
    executor: ProcessExecutor, tmp_path: Path
) -> None:
    command = Command((sys.executable, "-c", daemon("of-service")), tmp_path, ENVIRONMENT, 30)
    service = executor.start(command, tmp_path / "log")
    # the service's daemon comes while the execution runs
    script = daemon("of-execution").replace("time.sleep(60)\n", "") + (
        "while not all(os.path.exists(n) and open(n).read() for n in ('of-service', 'of-execution')): time.sleep(0.01)"
    )
    outcome = executor.run(Command((sys.executable, "-c", script), tmp_path, ENVIRONMENT, 20))
    assert (outcome.status, outcome.stderr) == ("", "")
    assert not exists((tmp_path / "of-execution").read_text())
    assert exists((tmp_path / "of-service").read_text())
    assert service.alive()
    service.stop(5)
    assert not exists((tmp_path / "of-service").read_text())


@linux
def test_two_companions_end_each_its_own_and_the_last_one_all(executor: ProcessExecutor, tmp_path: Path) -> None:
    started = []
    for name, flags in (("a", None), ("b", None), ("hidden", ["-i"])):
        script = daemon(name, flags)
        command = Command((sys.executable, "-c", script), tmp_path, ENVIRONMENT, 30)
        started.append(executor.start(command, tmp_path / f"log-{name}"))
        told(tmp_path / name)
    started[0].stop(5)
    assert [exists((tmp_path / name).read_text()) for name in ("a", "b", "hidden")] == [False, True, True]
    started[2].stop(5)
    started[1].stop(5)
    # one that wiped its environment cannot be separated from others' before
    assert [exists((tmp_path / name).read_text()) for name in ("a", "b", "hidden")] == [False, False, False]


@linux
def test_all_that_run_are_named(executor: ProcessExecutor, tmp_path: Path) -> None:
    background = start(executor, tmp_path, "echo $$ > service; sleep 60")
    service = told(tmp_path / "service").strip()
    outcome = executor.run(
        shell(
            tmp_path,
            'echo $$ > execution; until grep -q "^$$ " .perfgate-running; do sleep 0.01; done; cp .perfgate-running names',
        )
    )
    assert outcome.status == ""
    names = (tmp_path / "names").read_text().splitlines()
    assert names[0] == f"{service} {start_time(int(service))}"
    assert names[1].startswith((tmp_path / "execution").read_text().strip() + " ")
    background.stop(1)


def test_an_exception_while_a_service_lives_leaves_it_to_whoever_stops_it(
    executor: ProcessExecutor, tmp_path: Path
) -> None:
    background = start(executor, tmp_path, "sleep 60")

    def complaint() -> str:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        executor.run(shell(tmp_path, "echo $$ > execution; sleep 60"), complaint)
    with pytest.raises(ProcessLookupError):
        os.kill(int(told(tmp_path / "execution")), 0)
    assert background.alive()
