import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from harness.instruments import launcher
from harness.instruments.spawn import launched
from harness.process.affinity import before_others
from harness.process.execute import Command, ProcessExecutor
from harness.process.forkserver import Launch, LaunchSide, LaunchStart

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processors and priorities are Linux's")
OWN = sorted(os.sched_getaffinity(0)) if sys.platform == "linux" else []
REPORT = "import os; print(sorted(os.sched_getaffinity(0)))"


def run(directory: Path, cpus: str | None = None) -> str:
    """What the process saw, or why it could not start."""
    out = directory / "out"
    command = Command((sys.executable, "-I", "-c", REPORT), directory, dict(os.environ), 30, out, cpus=cpus)
    status = ProcessExecutor().run(command).status
    return status or out.read_text().strip()


def test_processors_are_the_process_s_alone(tmp_path: Path) -> None:
    last = OWN[-1]
    for cpus, seen in ((str(last), [last]), (",".join(map(str, OWN)), OWN), (f"{last}-{last}", [last]), (None, OWN)):
        assert run(tmp_path, cpus) == f"{seen}"
    assert sorted(os.sched_getaffinity(0)) == OWN


@pytest.mark.parametrize("cpus", ["60000", "99999999999", "0-99999999999", "65535-65536"])
def test_a_processor_that_is_not_there(tmp_path: Path, cpus: str) -> None:
    status = run(tmp_path, cpus=cpus)
    assert status.startswith(f'cannot start: cpus = "{cpus}": processor ')
    assert " is not available here; available: " in status
    assert not (tmp_path / "out").read_text()


def test_what_cannot_be_used_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = Command(("no-such",), tmp_path, dict(os.environ), 30, cpus=str(OWN[0]))
    assert ProcessExecutor().run(command).status == 'cannot start: there is no program "no-such"'
    monkeypatch.setattr("harness.process.affinity.sys.platform", "darwin")
    assert run(tmp_path, cpus="0") == 'cannot start: cpus = "0" is not supported on this system'


SEEN = """
import os, time
end = time.monotonic() + 20
while (group := open("/proc/self/autogroup").read().split()[-1]) != "-20" and time.monotonic() < end:
    time.sleep(0.02)
print(os.getpriority(os.PRIO_PROCESS, 0), group, file=open("seen", "w"))
"""


@pytest.mark.parametrize("forked", [True, False])
def test_what_is_started_goes_before_others_where_the_user_may_say_so(tmp_path: Path, forked: bool) -> None:
    refused = subprocess.run(["nice", "-n", "-20", "true"], check=True, capture_output=True).stderr
    if not Path("/proc/self/autogroup").exists() or refused or os.getpriority(os.PRIO_PROCESS, 0):
        pytest.skip("absent: autogroups, the right to weigh them, or a nice value that nobody chose")
    command = Command((sys.executable, "-I", "-c", SEEN), tmp_path, dict(os.environ), 30)
    if forked:
        side = LaunchSide(command.argv, command.environment, tmp_path)
        command = launched(Launch(Path(launcher.__file__), tmp_path / "result", (side,), (LaunchStart(),)), 30)
    with before_others(), closing(ProcessExecutor()) as executor:
        assert executor.run(command).status == ""
        assert bool(executor._servers) == forked
    assert (tmp_path / "seen").read_text() == "-20 -20\n"
    assert os.getpriority(os.PRIO_PROCESS, 0) == 0


@pytest.mark.parametrize("own", [0, 5])
def test_a_nice_value_that_was_chosen_stays_and_what_is_refused_is_left(
    own: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def refuse(_which: int, _who: int, priority: int) -> None:
        asked.append(priority)
        if priority < own:
            raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "getpriority", lambda *_: own)
    monkeypatch.setattr(os, "setpriority", refuse)
    with before_others():
        assert set(asked) == ({-20} if own == 0 else {own})


def test_what_cannot_be_taken_back_hides_no_error_of_what_was_started(monkeypatch: pytest.MonkeyPatch) -> None:
    granted = iter([True, False])

    def once(*_: int) -> None:
        if not next(granted):
            raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "getpriority", lambda *_: 3)
    monkeypatch.setattr(os, "setpriority", once)
    with pytest.raises(ValueError, match="changed"), before_others():
        raise ValueError("changed")
