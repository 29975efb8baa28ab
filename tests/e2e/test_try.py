"""perfgate try as a user runs it, in a process of its own: what it says, and that a signal ends it cleanly."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.support import project as support
from tests.support.project import Project

pytestmark = pytest.mark.endtoend

MAKEFILE = "app: main.o work.o\n\t$(CC) -o $@ main.o work.o\n"
MAIN = "int work(int);\nint main(void) { return work(2000000) == 0; }\n"
WORK = "int work(int n) { volatile int s = 1; for (int i = 0; i < n; i++) s += i & 3; return s; }\n"
CONFIG = """\
[plan]
builds = {min = 4, max = 8}
[build]
command = "rm -f app && make -s app"
artifacts = ["app"]
[[benchmark]]
name = "app"
command = ["./app"]
instrument = "spawn"
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A program of two objects, and one commit."""
    made = support.repository(tmp_path / "a project", {"Makefile": MAKEFILE, "main.c": MAIN, "work.c": WORK})
    made.write("perfgate.toml", CONFIG)
    return made


def test_a_program_that_is_linked(project: Project, tmp_path: Path) -> None:
    file = tmp_path / "try.json"
    done = project.process("try", "--json", str(file), XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert done.returncode == 0, done.stdout + done.stderr
    text = " ".join(done.stdout.split())
    assert "build of app: " in text
    assert "later builds link again what this one compiled" in text
    found = json.loads(file.read_text())
    assert found["built"]["later"] > 0
    assert [case["metric"] for case in found["benchmarks"][0]["cases"] if case["decided"]] == ["active"]
    assert project.git("status", "--porcelain") == "?? perfgate.toml"


def test_a_signal_ends_it_and_nothing_stays(project: Project, tmp_path: Path) -> None:
    project.write("perfgate.toml", CONFIG.replace('["./app"]', '["sleep", "50"]'))
    env = support.environment(**project.own(), TMPDIR=str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    with subprocess.Popen(
        support.perfgate("try"), cwd=project.top, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as trying:
        assert trying.stderr is not None
        for line in trying.stderr:
            if "trying app" in line:
                break
        time.sleep(0.5)
        os.kill(trying.pid, signal.SIGINT)
        out, err = trying.communicate(timeout=60)
    assert (trying.returncode, out) == (130, "")
    assert err == "perfgate: SIGINT: nothing was measured\n"
    assert project.git("status", "--porcelain") == "?? perfgate.toml"
