"""What a command read, against strace, which is nobody of ours."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.process.execute import Command, ProcessExecutor
from harness.trace.trace import Tracer, tracing

pytestmark = pytest.mark.tools

ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "PYTHONDONTWRITEBYTECODE": "1"}
CALL = re.compile(r'\d+ +\w+\((?:\w+<([^<>]*)>, )?"((?:[^"\\]|\\.)*)"')
"""A call whose first argument, or the one after a descriptor, is a path."""


def sources(top: Path) -> None:
    names = [f"s{number}" for number in range(6)]
    rules = "".join(f"{name}.o: {name}.c head.h\n\t$(CC) -c {name}.c -o {name}.o\n" for name in names)
    (top / "Makefile").write_text(f"all: {' '.join(f'{name}.o' for name in names)}\n\tar cr lib.a *.o\n{rules}")
    (top / "head.h").write_text("#include <stdio.h>\n")
    for name in names:
        (top / f"{name}.c").write_text(f'#include "head.h"\nint {name}(void) {{ return 1; }}\n')


def repository(top: Path) -> None:
    sources(top)
    (top / "link").symlink_to("head.h")
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@b")
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "x")):
        subprocess.run([*git, *words], cwd=top, check=True)


def modules(top: Path) -> None:
    (top / "package/inner").mkdir(parents=True)
    (top / "package/inner/late.py").write_text("import json, sqlite3, email.message\n")
    (top / "main.py").write_text(
        "import subprocess, threading, os\n"
        "def run():\n    import package.inner.late\n    [os.path.exists(f'gone/{i}') for i in range(20)]\n"
        "threads = [threading.Thread(target=run) for _ in range(4)]\n"
        "[each.start() for each in threads]; [each.join() for each in threads]\n"
        "subprocess.run('cat main.py | sort | uniq -c > /dev/null; ls package/*', shell=True, check=True)\n"
    )


JOBS: dict[str, tuple[Callable[[Path], None], tuple[str, ...]]] = {
    "make": (sources, ("make", "-j4")),
    "git": (repository, ("sh", "-c", "git status --short; git log -p; git grep include; git diff HEAD")),
    "python": (modules, (sys.executable, "main.py")),
    "node": (modules, ("node", "-e", "require('fs').readdirSync('.'); require('os'); require('http')")),
}


def fresh(top: Path, fill: Callable[[Path], None]) -> None:
    shutil.rmtree(top, ignore_errors=True)
    top.mkdir()
    fill(top)


def stracing(argv: tuple[str, ...], top: Path) -> set[str]:
    """What strace saw, but for the files of processes: their numbers differ each time."""
    log = top.parent / "strace"
    command = ["strace", "-f", "-qq", "-y", "-s", "4096", "-e", "trace=%file", "-o", str(log), *argv]
    done = subprocess.run(command, cwd=top, env=ENVIRONMENT, check=False, capture_output=True)
    if done.returncode:
        pytest.skip(f"absent: strace that works ({done.stderr[-100:]!r})")
    found = {os.path.realpath(top / (call[1] or "") / call[2]) for call in CALL.finditer(log.read_text())}
    return {path for path in found if not path.startswith(("/proc/", "/dev/"))}


@pytest.mark.parametrize("tracer", ["seccomp", "ptrace"])
@pytest.mark.parametrize("job", JOBS)
def test_nothing_that_strace_sees_is_missed(job: str, tracer: Tracer, tmp_path: Path) -> None:
    fill, argv = JOBS[job]
    for tool in ("strace", argv[0], *(("git",) if job == "git" else ())):
        if shutil.which(tool) is None:
            pytest.skip(f"absent: {tool} (nothing was compared)")
    top = tmp_path / "top"
    both = []
    for _ in range(2):  # temporary names are drawn at random
        fresh(top, fill)
        both.append(stracing(argv, top))
    fresh(top, fill)
    with tracing(tmp_path, tracer=tracer) as trace:
        outcome = ProcessExecutor().run(trace.wrap(Command(argv, top, ENVIRONMENT, 120)))
        accesses = trace.accesses()
    assert (outcome.status, accesses.doubts) == ("", ())
    expected = both[0] & both[1]
    assert len(expected) > 10
    assert expected - accesses.read - accesses.written == set()
