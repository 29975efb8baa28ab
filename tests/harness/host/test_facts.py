"""What is known of the machine, and that only one gate measures on it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gate.model.warnings.setup import Differing
from harness.errors import LockError
from harness.host.facts import UNKNOWN, Facts, cpu_model, differences, facts, fingerprint, unsupported_platform
from harness.host.lock import host_lock, lock_file

ROOT = Path(__file__).parents[3]


def test_facts_are_json_and_complete() -> None:
    known = facts()
    assert json.loads(json.dumps(known)) == known
    assert set(known) == {
        "os",
        "kernel",
        "machine",
        "cpu",
        "cores",
        "affinity",
        "memory",
        "hostname",
        "python",
        "boot_id",
        "fingerprint",
    }
    assert all(value != "" for value in known.values())
    assert facts()["fingerprint"] == known["fingerprint"]


def test_the_fingerprint_knows_the_make_and_not_the_machine() -> None:
    known = facts() | {"cpu": "x", "cores": 8, "memory": 16 * 2**30}
    same = known | {"hostname": "other", "boot_id": "other", "kernel": "9", "python": "3.99", "affinity": 1}
    assert fingerprint(same) == fingerprint(known)
    assert fingerprint(known | {"memory": 16 * 2**30 - 2**28}) == fingerprint(known)
    changes: list[Facts] = [{"cpu": "y"}, {"cores": 4}, {"memory": 8 * 2**30}, {"machine": "z80"}, {"memory": UNKNOWN}]
    for change in changes:
        assert fingerprint(known | change) != fingerprint(known)


def test_the_fingerprint_is_the_one_that_histories_hold() -> None:
    # what was calibrated by an earlier perfgate stays usable: this hash does not change
    known: Facts = {"cpu": "x", "cores": 8, "memory": 16 * 2**30, "machine": "x86_64", "os": "Linux"}
    assert fingerprint(known) == "f46a24c003593beb4ec7b0d478741bb8ecfb42e788e9d4b87c4d3cf536667339"


@pytest.mark.parametrize(
    ("sold", "seen"),
    [(1, 0.93), (1, 1.0), (2, 1.91), (7, 6.76), (8, 7.5), (8, 7.75), (16, 15.49), (16, 15.51), (24, 23.45), (24, 23.55),
     (32, 30.6), (64, 62.49), (64, 62.51), (512, 503.4)],
)  # fmt: skip
def test_what_the_kernel_keeps_of_the_memory_is_no_other_machine(sold: int, seen: float) -> None:
    known = facts()
    assert fingerprint(known | {"memory": int(seen * 2**30)}) == fingerprint(known | {"memory": sold * 2**30})


def test_what_differs_between_two_machines_is_named() -> None:
    known = facts() | {"cpu": "x", "cores": 8, "memory": 16 * 2**30, "machine": "x86_64", "os": "Linux"}
    rebooted = known | {"boot_id": "other", "kernel": "9", "hostname": "other", "memory": 16 * 2**30 - 2**28}
    assert differences(known, rebooted) == []
    assert differences(known, known | {"cpu": "y", "memory": 31 * 2**30 + 4096}) == [
        Differing("cpu", "x", "y"),
        Differing("memory", "16 GiB", "32 GiB"),
    ]
    assert differences(known, known | {"cores": 4, "machine": "aarch64", "os": "Darwin"}) == [
        Differing("cores", "8", "4"),
        Differing("architecture", "x86_64", "aarch64"),
        Differing("system", "Linux", "Darwin"),
    ]
    assert differences({}, known)[2] == Differing("memory", "unknown", "16 GiB")


def test_differences_and_fingerprints_agree() -> None:
    known = facts()
    for change in (
        {},
        {"cpu": "y"},
        {"cores": 99},
        {"memory": 2**50},
        {"machine": "z80"},
        {"os": "x"},
        {"kernel": "x"},
    ):
        other = known | change
        assert (differences(known, other) == []) == (fingerprint(known) == fingerprint(other))


@pytest.mark.parametrize(
    ("text", "model"),
    [
        (
            "processor\t: 0\nmodel\t\t: 1\nmodel name\t: AMD EPYC  9V74 80-Core\nbogomips\t: 5\n\n",
            "AMD EPYC 9V74 80-Core",
        ),
        (
            "processor\t: 0\nBogoMIPS\t: 50\nCPU implementer\t: 0x41\nCPU part\t: 0xd49\n",
            "ARM implementer 0x41 part 0xd49",
        ),
        ("processor\t: 0\ncpu\t\t: POWER9, altivec supported\n", "POWER9, altivec supported"),
    ],
)
def test_the_processors_name(text: str, model: str) -> None:
    assert cpu_model(text) == model


def test_only_windows_is_refused() -> None:
    assert unsupported_platform("linux") is None
    assert unsupported_platform("darwin") is None
    refused = unsupported_platform("win32")
    assert refused is not None
    assert "\n" not in refused


# --- the lock -------------------------------------------------------------------------------------------------------

HOLD = """
import sys
from pathlib import Path
from harness.host.lock import host_lock
with host_lock(lambda holder: print("waits for", holder, flush=True), Path("/some/project"), Path(sys.argv[1])):
    print("holds", flush=True)
    sys.stdin.read()
"""


def holder(path: Path) -> subprocess.Popen[str]:
    """Start a process that holds the lock until its standard input ends."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    argv = [sys.executable, "-c", HOLD, str(path)]
    return subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)


def release(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.close()


def first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_the_second_waits_and_is_told_for_whom(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    told: list[str] = []
    with holder(path) as process:
        assert first_line(process) == "holds"

        def waiting(holder: str) -> None:
            told.append(holder)
            release(process)

        with host_lock(waiting, tmp_path, path):
            assert process.wait(30) == 0
    assert len(told) == 1
    assert told[0].startswith(f"process {process.pid} in /some/project since 20")


def test_a_free_lock_is_taken_without_a_word(tmp_path: Path) -> None:
    told: list[str] = []
    for _ in range(2):
        with host_lock(told.append, tmp_path, tmp_path / "lock"):
            held = json.loads((tmp_path / "lock").read_text())
            assert held["pid"] == os.getpid()
    assert told == []
    assert (tmp_path / "lock").stat().st_mode & 0o777 == 0o666
    assert (tmp_path / "lock").read_text() == ""


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    with holder(tmp_path / "lock") as process:
        first_line(process)
        process.send_signal(signal.SIGKILL)
        process.wait()
    told: list[str] = []
    with host_lock(told.append, tmp_path, tmp_path / "lock"):
        assert told == []


def test_children_do_not_keep_the_lock(tmp_path: Path) -> None:
    with host_lock(print, tmp_path, tmp_path / "lock"):
        child = subprocess.Popen(["sleep", "60"], close_fds=False)
    try:
        begin = time.monotonic()
        with host_lock(print, tmp_path, tmp_path / "lock"):
            assert time.monotonic() - begin < 5
    finally:
        child.kill()
        child.wait()


def test_a_lock_file_that_was_removed_while_waiting(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with holder(path) as process:
        first_line(process)

        def waiting(_: str) -> None:
            path.unlink()
            release(process)

        with host_lock(waiting, tmp_path, path):
            assert path.exists(), "the lock that is held is the one that others find"
            assert process.wait(30) == 0


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ("\x1b]0;evil\x07", "another perfgate"),
        ('{"pid": 5, "directory": "/a\\u001b[31m\\n", "since": "now"}', "process 5 in /a?[31m? since now"),
        ("[]", "another perfgate"),
    ],
)
def test_what_others_wrote_is_shown_with_care(tmp_path: Path, content: str, shown: str) -> None:
    path = tmp_path / "lock"
    told: list[str] = []
    with holder(path) as process:
        first_line(process)
        path.write_text(content)

        def waiting(holder: str) -> None:
            told.append(holder)
            release(process)

        with host_lock(waiting, tmp_path, path):
            pass
    assert told == [shown]


def test_odd_lock_files(tmp_path: Path) -> None:
    link, folder, pipe = tmp_path / "link", tmp_path / "folder", tmp_path / "pipe"
    link.symlink_to(tmp_path / "target")
    folder.mkdir()
    os.mkfifo(pipe)
    for path in (link, folder, pipe):
        with pytest.raises(LockError, match="remove it; perfgate makes a new one"), host_lock(print, tmp_path, path):
            pass
    assert not (tmp_path / "target").exists()
    with pytest.raises(LockError, match="cannot be made"), host_lock(print, tmp_path, tmp_path / "absent/lock"):
        pass


@pytest.mark.skipif(os.geteuid() != 0, reason="needs two users")
def test_two_users_share_one_lock(tmp_path: Path) -> None:
    # as /tmp is, where fs.protected_regular forbids O_CREAT on a file of another user
    sticky = Path("/tmp") / f"perfgate-test-{os.getpid()}"
    sticky.mkdir()
    sticky.chmod(0o1777)
    path = sticky / "lock"
    try:
        for mode in (0o666, 0o644):
            path.touch()
            path.chmod(mode)
            os.chown(path, 4321, 4321)
            with host_lock(print, tmp_path, path):
                pass
            path.unlink()
            path.touch()
            path.chmod(mode)
            child = os.fork()
            if child == 0:
                os.setgid(4321)
                os.setuid(4321)
                try:
                    with host_lock(print, tmp_path, path):
                        os._exit(0)
                finally:
                    os._exit(1)
            assert os.waitpid(child, 0)[1] == 0
            path.unlink()
    finally:
        path.unlink(missing_ok=True)
        sticky.rmdir()


def test_the_lock_is_where_the_machine_says() -> None:
    assert lock_file({"PERFGATE_LOCK": "/shared/lock"}) == Path("/shared/lock")
    assert lock_file({}) == lock_file({"PERFGATE_LOCK": "", "TMPDIR": "/elsewhere"}) == Path("/tmp/perfgate.lock")
