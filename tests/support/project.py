"""A small git repository with benchmarks, used as a user would: real git, real processes, the real command."""

import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import chdir
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from gate.cli.main import main
from gate.evidence.records import read
from gate.model import Record

BENCH = """\
import os, random, sys
random.seed(int(os.environ["PERFGATE_SEED"]))
with open(sys.argv[1], "w") as out:
    for _ in range(int(os.environ["PERFGATE_ITERATIONS"])):
        out.write(f"{SPEED * random.gauss(1, 0.01)}\\n")
"""

# The same without Python, which takes six times as long to start: twelve draws together are nearly normal.
SHELL_BENCH = """\
exec awk -v "seed=$((PERFGATE_SEED % 1000003))" -v "n=$PERFGATE_ITERATIONS" 'BEGIN {
    srand(seed)
    for (; n > 0; n--) {
        x = -6
        for (i = 0; i < 12; i++) x += rand()
        printf "%.9f\\n", SPEED * (1 + 0.01 * x)
    }
}' >"$1"
"""

CONFIG = """\
[gate]
threshold = "5%"
sameness = "off"
[plan]
sandbox = "off"
builds = 5
executions = 1
iterations = 4
[[benchmark]]
name = "bench"
command = "python3 bench.py {output}"
instrument = "values"
"""


"""Without the sandbox and the proof of sameness: they take half the time of a check, and few tests are about them."""
AS_BY_DEFAULT = ("--set", "plan.sandbox=auto", "--set", "gate.sameness=auto")
"""Those are."""
SHELL_CONFIG = CONFIG.replace("python3 bench.py", "sh bench.sh")
FEW = SHELL_CONFIG.replace("builds = 5", "builds = 2").replace("iterations = 4", "iterations = 1")
"""For what is about no verdict."""
ENOUGH = ("--set", "plan.builds=5")
"""Where it is."""


class Project:
    """A repository on branch main; bench.py prints random values around a speed."""

    def __init__(self, top: Path) -> None:
        """Make an empty repository at a path that does not exist yet."""
        self.top = top
        shutil.copytree(empty(), top)

    def git(self, *arguments: str) -> str:
        """Run git as somebody; returns what it prints."""
        person = ["-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"]
        # nothing here lives long enough to be tidied
        person += ["-c", "gc.auto=0", "-c", "maintenance.auto=false"]
        done = subprocess.run(
            ["git", *person, *arguments], cwd=self.top, capture_output=True, text=True, check=True, env=environment()
        )
        return done.stdout.strip()

    def sha(self, name: str = "HEAD") -> str:
        """Return the commit of HEAD or of a branch; without starting git where it is written down."""
        return written_down(self.top, name) or self.git("rev-parse", "--verify", name)

    def write(self, name: str, text: str) -> None:
        """Write a file, with its folders."""
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def commits(self, *messages: str, files: Callable[[str], dict[str, str]] = lambda message: {}) -> list[str]:
        """Commit what HEAD has once a message, with files of it, in one process; return the commits."""
        branch = self.git("symbolic-ref", "HEAD")
        begun = bool(self.git("for-each-ref", branch))
        stream = "".join(
            f"commit {branch}\ncommitter test <test@example.org> {1_700_000_000 + n} +0000\n"
            f"data {len(message)}\n{message}\n" + (f"from {branch}^0\n" if n == 0 and begun else "")
            + "".join(f"M 100644 inline {name}\ndata {len(text)}\n{text}\n" for name, text in files(message).items())
            for n, message in enumerate(messages)
        )  # fmt: skip
        subprocess.run(
            ["git", "fast-import", "--quiet"], cwd=self.top, input=stream, text=True, check=True, env=environment()
        )
        return self.git("rev-list", "--reverse", f"--max-count={len(messages)}", "HEAD").splitlines()

    def bench(self, speed: float, **more: str) -> None:
        """Set the speed of the benchmark in the working tree; more: other files."""
        for name, text in ({"bench.py": BENCH.replace("SPEED", str(speed))} | more).items():
            self.write(name, text)

    def quick(self, speed: float, **more: str) -> None:
        """Do the same with bench.sh, for SHELL_CONFIG."""
        for name, text in ({"bench.sh": SHELL_BENCH.replace("SPEED", str(speed))} | more).items():
            self.write(name, text)

    def commit(self, message: str = "change") -> str:
        """Commit everything and return the commit."""
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.sha()

    def perfgate(self, *arguments: str, cwd: Path | None = None, **more: str) -> subprocess.CompletedProcess[str]:
        """Run a command in the project, within this process; more: environment variables."""
        return inside(arguments, cwd or self.top, environment(**{**self.own(), **more}))

    def process(
        self, *arguments: str, cwd: Path | None = None, timeout: float | None = None, **more: str
    ) -> subprocess.CompletedProcess[str]:
        """Run perfgate in the project as a user does, in a process of its own; more: environment variables."""
        return subprocess.run(
            perfgate(*arguments),
            cwd=cwd or self.top,
            capture_output=True,
            text=True,
            check=False,
            timeout=timeout,
            env=environment(**{**self.own(), **more}),
        )

    def begin(self, *arguments: str, heard: bool = True, **more: str) -> subprocess.Popen[str]:
        """Start perfgate in a process of its own and go on; more: environment variables.

        heard: its outputs are pipes, which what outlives it may hold open.
        """
        to = subprocess.PIPE if heard else subprocess.DEVNULL
        env = environment(**{**self.own(), **more})
        return subprocess.Popen(perfgate(*arguments), cwd=self.top, env=env, text=True, stdout=to, stderr=to)

    def lines(self, folder: str | Path = ".perfgate") -> list[str]:
        """Read the lines of measurements that a run has written so far."""
        file = self.top / folder / "measurements.jsonl"
        return file.read_text().splitlines() if file.exists() else []

    def records(self, *kinds: str, folder: str | Path = ".perfgate") -> list[dict[str, Any]]:
        """Read what a run has measured, as JSON; kinds: of these types only, none: of all."""
        found = [json.loads(line) for line in self.lines(folder)]
        return [each for each in found if not kinds or each["type"] in kinds]

    def read(self, folder: str | Path = ".perfgate", said: str = "") -> list[Record]:
        """Return what was measured, as the gate reads it; said: by the run, if there is nothing."""
        file = self.top / folder / "measurements.jsonl"
        assert file.exists(), said
        return [located.record for located in read(str(file), file.read_bytes()).records]

    def own(self) -> dict[str, str]:
        """Give the variables of a test's own history and lock: what is remembered of this machine is not for tests."""
        return {"PERFGATE_HISTORY": str(self.top.parent / "history"), "PERFGATE_LOCK": str(self.top.parent / "lock")}

    def report(self) -> dict[str, Any]:
        """Read the report of the last run."""
        found: dict[str, Any] = json.loads((self.top / ".perfgate/report.json").read_text())
        return found

    def executions(self) -> list[tuple[str, str, int, int]]:
        """List the recorded executions: benchmark, side, build, execution."""
        names = ("benchmark", "side", "build", "execution")
        return [tuple(each[name] for name in names) for each in self.records("execution")]


def executable(path: Path, text: str = "#!/bin/sh\n") -> Path:
    """Write a program, and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def until(met: Callable[[], object], seconds: float = 300) -> None:
    """Wait until a condition is met."""
    deadline = time.monotonic() + seconds
    while not met():
        assert time.monotonic() < deadline, "no progress"
        time.sleep(0.005)


def written_down(top: Path, name: str = "HEAD") -> str | None:
    """Return the commit of HEAD or of a branch without starting git; None where no file of its own has it."""
    git = top / ".git"
    place = git / name if name == "HEAD" else git / "refs/heads" / name
    try:
        text = place.read_text(encoding="utf-8").strip()
        if text.startswith("ref: "):
            text = (git / text.removeprefix("ref: ")).read_text(encoding="utf-8").strip()
    except OSError:
        return None
    return text if len(text) == 40 else None


class Step(NamedTuple):
    """A commit to make; on a branch, files: name and text of what is written before."""

    branch: str
    message: str
    files: tuple[tuple[str, str], ...]


def committed(top: Path, *steps: Step) -> Project:
    """Make a project of these commits at a path that does not exist yet, the last checked out; git makes each once."""
    shutil.copytree(_committed_once(steps), top)
    made = object.__new__(Project)
    made.top = top
    # copies are other files than the index knows
    made.git("update-index", "-q", "--refresh")
    return made


_TEMPLATES = tempfile.TemporaryDirectory(prefix="perfgate-projects-")


@cache
def empty() -> Path:
    """Make an empty repository, once for all that are copied from it."""
    top = Path(_TEMPLATES.name, "empty")
    command = ["git", "init", "-q", "-b", "main", "--template=", str(top)]
    subprocess.run(command, check=True, env=environment())
    (top / ".git/info").mkdir()
    (top / ".git/hooks").mkdir()
    return top


@cache
def _committed_once(steps: tuple[Step, ...]) -> Path:
    made = Project(Path(tempfile.mkdtemp(dir=_TEMPLATES.name), "project"))
    for branch, message, files in steps:
        if branch != made.git("symbolic-ref", "--short", "HEAD"):
            made.git("switch", "-q", "-c", branch)
        for name, text in files:
            made.write(name, text)
        made.commit(message)
    return made.top


def inside(arguments: Sequence[str], cwd: Path, env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a command line in a directory and environment as a process would, but without starting one."""
    out, err = io.StringIO(), io.StringIO()
    # a temporary directory that another environment named is remembered
    with chdir(cwd), patch.dict(os.environ, env, clear=True), patch.object(tempfile, "tempdir", None):
        code = main(arguments, out, err)
    return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())


def perfgate(*arguments: str) -> list[str]:
    """Make the command line of perfgate, isolated as the console script is."""
    return [sys.executable, "-I", "-m", "gate", *arguments]


def environment(**more: str) -> dict[str, str]:
    """Take the caller's environment without CI, its git configuration and the test run's own names but for its lock."""
    ours = ("GIT_", "GITHUB_", "PERFGATE_", "PYTEST_")
    # without it they would wait for whoever holds the lock of the machine
    kept = {n: v for n, v in os.environ.items() if n == "PERFGATE_LOCK" or (n != "CI" and not n.startswith(ours))}
    return {**kept, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", **more}


def speed(factor: float) -> dict[str, str]:
    """Give bench.py of a speed."""
    return {"bench.py": BENCH.replace("SPEED", str(factor))}


def quick(factor: float) -> dict[str, str]:
    """Give bench.sh of a speed, for SHELL_CONFIG."""
    return {"bench.sh": SHELL_BENCH.replace("SPEED", str(factor))}


def repository(top: Path, *commits: Mapping[str, str]) -> Project:
    """Make a project of a commit for each of these sets of files, at a path that does not exist yet."""
    return committed(top, *(Step("main", "change", tuple(files.items())) for files in commits))


def python_benchmark(name: str) -> str:
    """Write the entry of a benchmark of that name whose program is BENCH's."""
    return f'[[benchmark]]\nname = "{name}"\ncommand = "python3 {name}.py {{output}}"\ninstrument = "values"\n'


def small_project(top: Path) -> Project:
    """Make a project of two commits that is measured in a moment."""
    return repository(top, {"perfgate.toml": FEW, **quick(1.0)}, quick(1.01))
