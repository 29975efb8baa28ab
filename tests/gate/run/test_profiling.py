"""What regressed is profiled by the job that measured it, once, and nothing is where nothing regressed."""

import errno
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from gate.codes import Exit
from gate.model import UserError
from gate.run import profiling
from gate.run.profiling import profile_run
from harness.errors import SourceError
from tests.support.project import Project, repository

pytestmark = [pytest.mark.endtoend, pytest.mark.xdist_group("measures")]

# the values tell the verdict, and the work what a profile sees
BENCH = """\
import os, random, sys
random.seed(int(os.environ["PERFGATE_SEED"]))

def common():
    return sum(i * i for i in range(300_000))

def culprit():
    return [i for i in range(WORK)]

with open(sys.argv[1], "w") as out:
    for _ in range(int(os.environ["PERFGATE_ITERATIONS"])):
        common(), culprit()
        out.write(f"{SPEED * random.gauss(1, 0.01)}\\n")
"""
CONFIG = f"""\
[gate]
threshold = "5%"
min_builds = 3
explain = true
[plan]
sandbox = "off"
builds = 3
executions = 1
iterations = 1
[[benchmark]]
name = "bench"
command = [{json.dumps(sys.executable)}, "bench.py", "{{output}}"]
instrument = "values"
"""
OURS = ("harness.profilers", "harness.loop.profiled", "gate.run.profiling")


def bench(speed: float, work: int) -> str:
    return BENCH.replace("SPEED", str(speed)).replace("WORK", str(work))


def made(tmp_path: Path, speed: float = 1.5, config: str = CONFIG, *, work: int = 10) -> Project:
    first = {"perfgate.toml": config, "bench.py": bench(1.0, 10)}
    return repository(tmp_path / "project", first, {"bench.py": bench(speed, work)})


def lines(project: Project, *kinds: str, folder: str = ".perfgate") -> list[dict[str, Any]]:
    text = (project.top / folder / "measurements.jsonl").read_text()
    return [line for line in map(json.loads, text.splitlines()) if line["type"] in (kinds or ("profile", "unprofiled"))]


def without_profiles(project: Project) -> None:
    file = project.top / ".perfgate/measurements.jsonl"
    kept = [line for line in file.read_text().splitlines(keepends=True) if '"type":"profile"' not in line]
    file.write_text("".join(kept))


def own(line: dict[str, Any]) -> dict[str, float]:
    found: dict[str, float] = {}
    for stack in line["stacks"]:
        name = line["frames"][stack["frames"][-1]]["function"]
        found[name] = found.get(name, 0.0) + stack["cost"]
    return found


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.profilers.python._SECONDS", 0.1)


def test_a_regression_has_a_profile_of_both_sides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.profilers.python._SECONDS", 0.5)
    project = made(tmp_path, work=1_500_000)
    done = project.perfgate("check", "--base", "HEAD~1", "--head", "HEAD")
    assert done.returncode == 1, done.stdout + done.stderr
    base, head = lines(project)
    assert (base["side"], head["side"], base["profiler"], base["unit"]) == ("base", "head", "python", "s")
    grown = {name: cost - own(base).get(name, 0.0) for name, cost in own(head).items()}
    worst = max(grown, key=lambda name: grown[name])
    assert "culprit" in worst
    assert {frame["file"] for frame in head["frames"] if "culprit" in frame["function"]} == {"bench.py"}
    assert "bench" in done.stderr and "profiling" in done.stderr and "perfgate explain" not in done.stderr
    # of no account to a verdict: the same without them
    assert project.perfgate("decide", ".perfgate").stdout.splitlines()[0] == done.stdout.splitlines()[0]
    assert str(tmp_path) not in json.dumps([base, head])


def test_a_pass_costs_nothing(tmp_path: Path) -> None:
    project = made(tmp_path, speed=1.0)
    kept = {name: sys.modules.pop(name) for name in [*sys.modules] if name.startswith(OURS)}
    try:
        done = project.perfgate("check", "--base", "HEAD~1", "--head", "HEAD", "--set", "gate.sameness=off")
        assert done.returncode == 0, done.stdout + done.stderr
        assert not [name for name in sys.modules if name.startswith(OURS)]
    finally:
        sys.modules.update(kept)
    assert lines(project) == []


@pytest.mark.endtoend
def test_an_improvement_is_not_profiled_and_neither_is_what_is_not_asked_for(tmp_path: Path) -> None:
    project = made(tmp_path, speed=0.5)
    project.perfgate("check", "--base", "HEAD~1", "--head", "HEAD")
    assert {f["verdict"] for f in project.report()["findings"]} == {"improvement"}
    assert lines(project) == []
    project.perfgate("check", "--base", "HEAD", "--head", "HEAD~1", "--set", "gate.explain=false")
    assert {f["verdict"] for f in project.report()["findings"]} == {"regression"}
    assert lines(project) == []


@pytest.mark.usefixtures("quick")
def test_resume_profiles_what_is_missing_and_only_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = made(tmp_path)

    def killed(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no space left")

    with monkeypatch.context() as patch:
        patch.setattr(profiling, "profiles_of", killed)
        project.perfgate("check", "--base", "HEAD~1", "--head", "HEAD")
    assert lines(project) == [] and len(lines(project, "execution")) == 6
    assert project.perfgate("decide", ".perfgate").returncode == 1
    done = project.perfgate("check", "--base", "HEAD~1", "--head", "HEAD", "--resume")
    assert done.returncode == 1, done.stdout + done.stderr
    assert len(lines(project)) == 2 and len(lines(project, "execution")) == 6
    project.perfgate("check", "--base", "HEAD~1", "--head", "HEAD", "--resume")
    assert len(lines(project)) == 2


@pytest.mark.usefixtures("quick")
def test_a_finished_run_is_profiled_afterwards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = made(tmp_path)
    project.perfgate("check", "--base", "HEAD~1", "--head", "HEAD", "--set", "gate.explain=false")
    project.write("bench.py", "raise SystemExit(1)")
    monkeypatch.chdir(project.top)
    for name, value in project.own().items():
        monkeypatch.setenv(name, value)
    found = profile_run(Path(".perfgate"), [], sys.stderr, quiet=True)
    assert [type(each).__name__ for each in found] == ["Profile", "Profile"]
    assert len(lines(project)) == 2
    assert profile_run(Path(".perfgate"), ["bench"], sys.stderr, quiet=True) == []
    without_profiles(project)
    (tmp_path / "taken").mkdir()
    with monkeypatch.context() as own:
        own.setenv("PERFGATE_LOCK", str(tmp_path / "taken"))
        with pytest.raises(UserError, match=r"the lock file .* is not a regular file: remove it") as held:
            profile_run(Path(".perfgate"), [], sys.stderr, quiet=True)
    assert held.value.exit_code == Exit.ERROR, "no mistake in the command line"
    project.git("tag", "kept", "HEAD")
    project.git("checkout", "-q", "--orphan", "other")
    project.git("tag", "-d", "kept")
    project.git("branch", "-D", "main")
    project.git("reflog", "expire", "--expire=now", "--all")
    project.git("gc", "-q", "--prune=now")
    with pytest.raises(SourceError):
        profile_run(Path(".perfgate"), [], sys.stderr, quiet=True)


@pytest.mark.usefixtures("quick")
@pytest.mark.endtoend
@pytest.mark.parametrize(
    ("parts", "own"),
    [
        (("--shard=1/2", "--shard=2/2"), [{("bench", 0)}, {("other", 0)}]),
        (("--session=0", "--session=1"), [{("bench", 0), ("other", 0)}, {("bench", 1), ("other", 1)}]),
    ],
    ids=["shards", "sessions"],
)
def test_a_job_profiles_its_own(tmp_path: Path, parts: tuple[str, ...], own: list[set[tuple[str, int]]]) -> None:
    two = CONFIG + CONFIG[CONFIG.index("[[benchmark]]") :].replace('name = "bench"', 'name = "other"')
    project = made(tmp_path, config=two)
    common = ("--base", "HEAD~1", "--head", "HEAD", "--seed", "3")
    more = ("--sessions", "2") if "session" in parts[0] else ()
    for number, part in enumerate(parts):
        project.perfgate("measure", *common, part, *more, "--out", f"part{number}")
    found = [lines(project, folder=f"part{number}") for number in range(2)]
    assert sorted(map(sorted, [{(line["benchmark"], line["session"]) for line in part} for part in found])) == list(
        map(sorted, own)
    )
    assert [len(part) for part in found] == [2 * len(each) for each in own]
    assert project.perfgate("decide", "part0", "part1").returncode in (0, 1)


def test_a_program_that_fails_under_its_profiler_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.profilers.python._SAMPLER", tmp_path / "sampler.py")
    (tmp_path / "sampler.py").write_text("import os; os._exit(3)")
    project = made(tmp_path)
    project.perfgate("check", "--base", "HEAD~1", "--head", "HEAD")
    (line,) = lines(project)
    assert (line["type"], line["kind"], line["profiler"]) == ("unprofiled", "failed", "python")
    assert line["detail"].startswith("exit 3")
