"""What a thread can do once it is inside: as an ordinary user, and as the user that root's commands become."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.sandbox import landlock
from harness.sandbox.enter import enter
from harness.sandbox.landlock import DEVICE, READ
from tests.support.project import executable

pytestmark = pytest.mark.skipif(landlock.version() < landlock.LEAST, reason="Landlock is Linux's")
NOBODY = 65534
ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes another user")


def inside(action: Callable[[], object], user: int) -> object:
    """What an action gives inside, or its OSError."""
    got: list[object] = []
    ruleset = landlock.ruleset([("/", READ), (Path("/dev/null"), DEVICE)])

    def run() -> None:
        try:
            enter(ruleset, user)
            got.append(action())
        except OSError as error:
            got.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    os.close(ruleset)
    return got[0]


def shell(script: str, user: int) -> str:
    """The exit status and output of a script that is started inside."""

    def run() -> str:
        done = subprocess.run(["/bin/sh", "-c", script], capture_output=True, text=True, timeout=30)
        return f"{done.returncode} {done.stdout.strip()}"

    return str(inside(run, user))


@ROOT
def test_root_becomes_another_user_that_reads_and_finds_what_root_may(tmp_path: Path) -> None:
    kept = 1 << 2  # CAP_DAC_READ_SEARCH
    status = shell("id -u; id -g; id -G; sed -n 's/^Cap\\(Eff\\|Prm\\|Bnd\\):.//p' /proc/self/status", user=NOBODY)
    code, user, group, groups, permitted, effective, _ = status.split()
    assert (code, user, group, groups) == ("0", *[str(NOBODY)] * 3)
    assert int(permitted, 16) == int(effective, 16) and int(effective, 16) in (0, kept)
    assert os.geteuid() == 0, "the other threads are root still"
    # Gcc asks access(2) whether there is a linker, and access(2) counts capabilities only with a secure bit.
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    program = executable(closed / "program", "#!/bin/sh\necho ran\n")
    assert shell(f"'{program}'", user=NOBODY) == "0 ran"
    asked = [sys.executable, "-I", "-c", "import os, sys; print(os.access(sys.argv[1], os.X_OK))", str(program)]
    assert inside(lambda: subprocess.run(asked, capture_output=True, text=True).stdout, user=NOBODY) == "True\n"


def test_a_hidden_process_belongs_to_root() -> None:
    script = (
        "import os, sys; sys.path[:0] = sys.argv[1:]; from harness.sandbox.enter import hide\n"
        "print(os.stat('/proc/self/mem').st_uid); hide(); print(os.stat('/proc/self/mem').st_uid)"
    )
    program = [sys.executable, "-I", "-c", script, str(Path(landlock.__file__).parents[2])]
    user = NOBODY if os.geteuid() == 0 else -1
    told = inside(lambda: subprocess.run(program, capture_output=True, text=True).stdout, user=user)
    assert told == f"{user if user >= 0 else os.geteuid()}\n0\n"
