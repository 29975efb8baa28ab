"""The toolbox of hostile pull requests: a project, its two commits, and who runs `perfgate check` on it.

An attack is a file of its own: it commits base and head, checks, and says what must not have happened. Every attack runs
as whoever runs the tests; if that is root, also as an ordinary user. As root some run at night only: OF_ANYBODY.
"""

import os
import pwd
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from gate.removal import remove_tree
from harness.sandbox.sandbox import examined
from tests.harness.sandbox.conftest import arena as arena
from tests.harness.sandbox.conftest import sandbox as sandbox
from tests.support.project import Project, environment

ROOT = Path(__file__).parents[2]
USER = 61000 + os.getpid() % 4000
"""Of nobody in particular: an ordinary user, if root runs the tests. Tests beside these have another, whose processes count alone."""
_OF_ROOT = f"{pwd.getpwuid(0).pw_dir}/"
OF_ANYBODY = ("artifact_links", "not_seen", "unseen_inputs", "written", "written_meanwhile")
"""What is proved, followed and written is the same whoever runs perfgate: no right of root's has a part in it."""
PLAN = "[plan]\nbuilds = 2\nexecutions = 1\niterations = 2\n"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whole checks by two users take their time (make endtoend)."""
    for item in items:
        if isinstance(item, pytest.Function) and "stage" in item.fixturenames:
            item.add_marker(pytest.mark.endtoend)
            as_root = os.geteuid() == 0 and item.callspec.params["stage"] == "as it is"
            if as_root and item.path.stem.removeprefix("test_") in OF_ANYBODY:
                item.add_marker(pytest.mark.nightly)


def started_by(uid: int | None) -> list[str]:
    """Return how perfgate is started by a user, who may not reach the environment of these tests."""
    names = (sys.executable, f"/usr/bin/python{sys.version_info.major}.{sys.version_info.minor}")
    paths = [str(ROOT), *(each for each in sys.path if each.endswith("site-packages"))]
    start = f"import sys; sys.path[:0] = {paths!r}; sys.argv[0] = 'perfgate'; import runpy; runpy.run_module('gate', run_name='__main__')"
    for python in names if uid is not None else ():
        try:
            subprocess.run([python, "-I", "-c", "import ctypes"], user=uid, group=uid, extra_groups=[], check=True)
        except (OSError, subprocess.SubprocessError):
            continue
        return [python, "-I", "-B", "-c", start]
    if uid is not None:
        pytest.skip("no Python that another user can start")
    return [sys.executable, "-I", "-B", "-m", "gate"]


class Stage:
    """A project with a hostile head.

    root: of all that is here. home: of who runs perfgate. code, shown, report: of the last check.
    """

    def __init__(self, root: Path, uid: int | None) -> None:
        self.root, self.home, self.uid = root, root / "home", uid
        self._python = started_by(uid)
        self.home.mkdir()
        self.project = Project(root / "project")
        self.code, self.shown = -1, ""
        self.memory: Path | None = None

    def commit(self, config: str, both: Mapping[str, str], head: Mapping[str, str]) -> None:
        """Make the two commits: what both have, and what is head's."""
        for files in ({"perfgate.toml": config, ".gitignore": ".perfgate\n", **both}, head):
            for name, text in files.items():
                self.project.write(name, text)
            self.project.commit()

    def check(
        self, *arguments: str, seconds: float = 200.0, before: Callable[[], None] | None = None, **more: str
    ) -> None:
        """Run the check as the user, who owns all that is here; before: what its process does first."""
        with self.started(*arguments, before=before, **more) as process:
            try:
                shown, told = process.communicate(timeout=seconds)
            except BaseException:
                process.kill()
                raise
        self.code, self.shown = process.returncode, shown + told

    def started(self, *arguments: str, before: Callable[[], None] | None = None, **more: str) -> subprocess.Popen[str]:
        """Start the check, and do not wait for it."""
        own = self.uid if self.uid is not None else os.getuid()
        for parent, folders, files in os.walk(self.root):
            for name in (".", *folders, *files):
                os.lchown(f"{parent}/{name}", own, own)
        words = arguments or ("check", "--base", "HEAD~1", "--head", "HEAD", "--quiet")
        # what another user cannot look into is no place for programs
        found = [each for each in os.environ["PATH"].split(":") if self.uid is None or not each.startswith(_OF_ROOT)]
        variables = {
            "HOME": str(self.home), "TMPDIR": str(self.root), "PATH": ":".join(found), **self.project.own(), **more,
        }  # fmt: skip
        return subprocess.Popen(
            [*self._python, *words], cwd=self.project.top, env=environment(**variables), stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, user=self.uid, group=self.uid,
            extra_groups=[] if self.uid is not None else None, preexec_fn=before,
        )  # fmt: skip

    def in_memory(self) -> Path:
        """Return a directory in memory, which goes with the stage."""
        self.memory = Path(tempfile.mkdtemp(prefix="hostile-", dir="/dev/shm"))
        os.chown(self.memory, *[os.getuid() if self.uid is None else self.uid] * 2)
        return self.memory

    @property
    def report(self) -> dict[str, Any]:
        return self.project.report()

    def verdict(self, benchmark: str) -> str:
        """Return the verdict of a benchmark."""
        found = [each["verdict"] for each in self.report["findings"] if each["benchmark"] == benchmark]
        return found[0] if found else "none"


@pytest.fixture(params=["as it is", "a user"])
def stage(request: pytest.FixtureRequest) -> Iterator[Stage]:
    """Give an empty project, outside what other users cannot enter."""
    if not examined("auto").on:
        pytest.skip("there is no sandbox on this system")
    if request.param == "a user" and os.geteuid() != 0:
        pytest.skip("these tests run as an ordinary user already")
    root = Path(tempfile.mkdtemp(prefix="hostile-"))
    made: Stage | None = None
    try:
        made = Stage(root, USER if request.param == "a user" else None)
        yield made
    finally:
        for each in (root, made.memory if made is not None else None):
            remove_tree(each) if each else None
