"""The lock of the host: one at a time, waited for with a limit, its holder named by what it wrote while it lives."""

import fcntl
import json
import os
import pwd
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from harness.errors import LockError
from harness.host.lock import LockHolder, NotFreeError, host_lock, lock_file

ROOT = Path(__file__).parents[3]
# waits for the lock, says for whom and when it has it, and holds it until its standard input ends
HOLD = """
import sys
from pathlib import Path
from harness.host import lock
from harness.host.lock import LockHolder
claim = LockHolder.own("perfgate check", sys.argv[2], Path("/some/project"), Path("/some/project/.perfgate"))
lock._PAUSE = 0.01
def waiting(holder):
    print("waits", holder and holder.pid, flush=True)
with lock.host_lock(claim, Path(sys.argv[1]), wait=60, waiting=waiting):
    print("holds", flush=True)
    sys.stdin.read()
"""


def locked(
    path: Path, wait: float = 60.0, waiting: Callable[[LockHolder | None], None] = print
) -> AbstractContextManager[None]:
    claim = LockHolder.own("perfgate check", "run-8", path.parent, path.parent / ".perfgate")

    return host_lock(claim, path, wait=wait, waiting=waiting)


def holder(path: Path) -> subprocess.Popen[str]:
    """Start a process that holds the lock until its standard input ends."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    argv = [sys.executable, "-c", HOLD, str(path), "run-7"]
    return subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)


def release(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.close()


def first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_the_second_waits_and_is_told_for_whom(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    told: list[LockHolder | None] = []
    with holder(path) as process:
        assert first_line(process) == "holds"

        def waiting(holder: LockHolder | None) -> None:
            told.append(holder)
            release(process)

        with locked(path, waiting=waiting):
            assert process.wait(30) == 0
    (claim,) = told
    user = pwd.getpwuid(os.geteuid()).pw_name
    assert claim is not None
    assert str(claim).startswith(f"process {process.pid} (user {user}, `perfgate check`), measuring since 20")
    assert str(claim).endswith("Z, run run-7")
    assert (claim.directory, claim.folder) == ("/some/project", "/some/project/.perfgate")


def test_a_free_lock_is_taken_without_a_word_and_children_do_not_keep_it(tmp_path: Path) -> None:
    told: list[LockHolder | None] = []
    # as that of a killed process is
    with holder(tmp_path / "lock") as process:
        first_line(process)
        process.kill()
        process.wait()
    for _ in range(2):
        with locked(tmp_path / "lock", waiting=told.append):
            held = json.loads((tmp_path / "lock").read_text())
            assert held["pid"] == os.getpid()
    assert told == []
    assert (tmp_path / "lock").stat().st_mode & 0o777 == 0o666
    assert (tmp_path / "lock").read_text() == ""
    with locked(tmp_path / "lock"):
        child = subprocess.Popen(["sleep", "60"], close_fds=False)
    try:
        with locked(tmp_path / "lock", wait=0):
            pass
    finally:
        child.kill()
        child.wait()


def test_a_lock_file_that_was_removed_while_waiting(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with holder(path) as process:
        first_line(process)

        def waiting(_: LockHolder | None) -> None:
            path.unlink()
            release(process)

        with locked(path, waiting=waiting):
            assert path.exists(), "the lock that is held is the one that others find"
            assert process.wait(30) == 0


def record(**changes: object) -> str:
    names = ("user", "since", "command", "run", "directory", "folder")
    return json.dumps({"pid": 1, "started": None, **dict.fromkeys(names, "x"), **changes})


CONTENTS = {
    "none": None,
    "control characters": "\x1b]0;evil\x07",
    "a list": "[]",
    "a process that has ended": record(pid=2**22 + 1),
    "one whose number is used again": record(started="0"),
    "no number": record(pid="x"),
}


@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS)
def test_what_the_file_says_counts_only_of_a_living_process(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "lock"
    # by whoever holds it without a word about itself, or with somebody else's
    with path.open("w") as stranger:
        fcntl.flock(stranger, fcntl.LOCK_EX)
        path.write_text(content or "")
        with pytest.raises(NotFreeError) as held, locked(path, wait=0):
            pass
    assert held.value.holder is None
    assert str(held.value) == f"a process that did not register as perfgate holds {path}"


def test_a_folder_whose_name_is_no_text_is_measured_in(tmp_path: Path) -> None:
    claim = LockHolder.own("perfgate check", "run-8", tmp_path / "caf\udce9", tmp_path / "caf\udce9" / ".perfgate")
    with host_lock(claim, tmp_path / "lock", wait=0, waiting=print):
        assert json.loads((tmp_path / "lock").read_text())["directory"] == f"{tmp_path}/caf\\xe9"


def test_what_a_holder_wrote_is_shown_with_care_and_where_the_lock_is() -> None:
    shown = str(LockHolder(7, "ann", None, "now\x1b[31m", "evil\n" + "x" * 500, "\x07", "/a\x1b[31m\n", "/"))
    assert shown.isprintable()
    assert len(shown) <= 300
    assert lock_file({"PERFGATE_LOCK": "/shared/lock"}) == Path("/shared/lock")
    assert lock_file({}) == lock_file({"PERFGATE_LOCK": "", "TMPDIR": "/elsewhere"}) == Path("/tmp/perfgate.lock")


def as_another_user(path: Path, user: int) -> str:
    """Take a lock as another user; returns what is said."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.setgid(user)
        os.setuid(user)
        try:
            with locked(path, wait=0):
                os.write(writing, b"holds")
        except LockError as error:
            os.write(writing, str(error).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as said:
        text = said.read()
    os.waitpid(child, 0)
    return text


def test_odd_lock_files(tmp_path: Path) -> None:
    link, folder, pipe = tmp_path / "link", tmp_path / "folder", tmp_path / "pipe"
    link.symlink_to(tmp_path / "target")
    folder.mkdir()
    os.mkfifo(pipe)
    for path in (link, folder, pipe):
        with pytest.raises(LockError, match=r"(is a link|is not a regular file): remove it, or name"), locked(path):
            pass
    assert not (tmp_path / "target").exists()
    with pytest.raises(LockError, match=r"cannot be made .*: name another"), locked(tmp_path / "absent/lock"):
        pass
    (tmp_path / "file").touch()
    with pytest.raises(LockError, match=r"cannot be opened .*: name another"), locked(tmp_path / "file/lock"):
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
            with locked(path):
                pass
            path.unlink()
            path.touch()
            path.chmod(mode)
            assert as_another_user(path, 4321) == "holds"
            path.unlink()
        path.touch(0o600)
        os.chown(path, 4321, 4321)
        said = as_another_user(path, 4322)
    finally:
        path.unlink(missing_ok=True)
        sticky.rmdir()
    assert said.startswith(f"the lock file {path} of user 4321 cannot be opened (Permission denied): have user 4321 or")
