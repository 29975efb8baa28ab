"""perfgate calibrate: what it says, and the whole of it on a small project."""

import json
import subprocess
from pathlib import Path

import msgspec
import numpy as np
import pytest

from gate.cli.groups import RulesOptions
from gate.commands.calibrate.calibrate import Calibration, document, render, session_of
from gate.config.config_text import from_tables
from gate.config.parse import parse
from gate.document.terminal import Screen
from gate.document.terminal import render as render_text
from gate.model import Commit, Record, Run
from gate.model.warnings.base import Said
from gate.run import project as run_project
from gate.store.learning import setups_of
from gate.store.memory import HistoryError, Learned, Sessions
from tests.support.lines import builds, located
from tests.support.project import SHELL_CONFIG as SHORT
from tests.support.project import Project, quick, repository

# --- what it says -----------------------------------------------------------------------------------------------------


def session(rounds: int = 20) -> tuple[Calibration, list[Learned]]:
    rng = np.random.default_rng(3)
    exact = {"size": {"unit": "B", "exact": True}}
    benchmarks = [
        {"name": "parse", "command": "./parse", "instrument": "values"},
        {"name": "size", "command": "./size", "instrument": "values", "metric": exact},
    ]
    plan = {"executions": 2, "iterations": 3}
    config = parse(from_tables({"gate": {"threshold": "3%"}, "benchmark": benchmarks, "plan": plan}, "test"))
    lines = []
    for side in ("base", "head"):
        values = 1 + 0.004 * rng.normal(size=(rounds, 1, 1)) + 0.01 * rng.normal(size=(rounds, 2, 3))
        lines += builds(side, values.tolist(), benchmark="parse", seconds=5.0)
        lines += builds(side, [[[4096]]] * rounds, benchmark="size", metric="size", unit="B")
        lines += builds(side, [[[0.01]]] * rounds, benchmark="coarse")
    records: list[Record] = [line.record for line in located(*lines)]
    run = Run(
        id="20261120T090000Z-abcdef",
        created="2026-11-20T09:00:00Z",
        head=Commit(ref="main", sha="1234567890abcdef"),
        host={"cpu": "Z80", "cores": 2, "memory": 2**30, "fingerprint": "abc"},
        config={"plan": {"builds": 20}},
        warnings=[Said("plan.builds = 20 is below gate.min_builds = 30", "few-builds")],
    )
    return session_of([run, *records], run, config, setups_of(config, {}))


def test_what_was_learned_level_by_level() -> None:
    made, _ = session()
    (found,) = made.findings
    assert (found.benchmark, found.metric, found.statistic) == ("parse", "time", "mean")
    # drawn with 1% per iteration, nothing per execution, 0.4% per build
    assert found.added["iteration"] == pytest.approx(0.01, rel=0.15)
    assert found.added["execution"] is not None and found.added["execution"] < 0.004
    assert found.added["build"] == pytest.approx(0.004, rel=0.6)
    truth = (2 * (0.004**2 + 0.01**2 / 6)) ** 0.5
    assert found.round == pytest.approx(truth, rel=0.5)
    assert found.df == 19
    squares = found.remembered
    assert squares.iteration is not None and squares.execution is not None and squares.build is not None
    assert found.added["iteration"] == pytest.approx(squares.iteration.value**0.5)
    rest = max(squares.build.value - squares.execution.value / 2, 0.0)
    assert found.added["build"] == pytest.approx(rest**0.5)
    assert made.left_out == ["coarse time"]
    assert made.rounds.done == 20
    assert not any("plan.builds" in warning for warning in made.warnings)
    assert msgspec.json.decode(render(made), type=Calibration) == made
    assert set(json.loads(render(made))) == set(Calibration.__struct_fields__)
    assert json.loads(render(msgspec.structs.replace(made, history="/home/\udcff")))["history"] == "/home/\\udcff"


def text(found: Calibration) -> str:
    return render_text(document(found, ".perfgate/calibration"), Screen(False, 100, 100))


def test_the_text_says_all_of_it() -> None:
    made, _ = session()
    kept = msgspec.structs.replace(made, sessions=1, history="/state/history")
    shown = text(msgspec.structs.replace(kept, layouts="independent"))
    plain = " ".join(shown.split())
    for words in (
        "Calibrated: the noise of 1 benchmark on this host, from 20 rounds",
        "20 rounds of 2 starts x 3 values of each",
        "parse time 1.0% none 0.44% 0.84% 19 value",
        "1 session. Several days show how noise changes from day to day, a longer one does not. The weight of a session",
    ):
        assert words in plain
    common = "1 session, for plans and for the error rate. Intervals use what checks of the default branch remember"
    assert common in " ".join(text(kept).split())
    nothing, learned = session(rounds=1)
    assert learned == []
    assert text(nothing).startswith("Not calibrated: nothing could be learned\n")


# --- the project ------------------------------------------------------------------------------------------------------


# What is learned of executions takes two of them.
CONFIG = SHORT.replace("executions = 1", "executions = 2")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """One commit, on a machine that is no CI."""
    made = repository(tmp_path / "widget", {"perfgate.toml": CONFIG, **quick(0.001)})
    for name in ("CI", "GITHUB_BASE_REF", "GITHUB_EVENT_NAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(made.top)
    return made


def looked(head: str | None) -> run_project.Project:
    with run_project.open_itself(head, RulesOptions()) as found:
        assert found.sources.base == found.sources.head
        assert found.settings.warnings == []
        return found


def test_both_sides_are_head_also_where_it_mends_its_config(project: Project) -> None:
    sha = project.sha()
    found = looked(None)
    assert (found.sources.head.commit.sha, found.sources.head.commit.dirty) == (sha, False)
    # the working tree as it is, with a config that nobody committed yet
    project.write("perfgate.toml", CONFIG.replace('"bench"', '"renamed"'))
    found = looked(None)
    assert found.sources.head.commit.dirty
    assert found.sources.base.revision != sha
    assert found.settings.benchmarks == {"base": ["renamed"], "head": ["renamed"]}
    found = looked("HEAD")
    assert (found.sources.base.revision, found.settings.benchmarks["base"]) == (sha, ["bench"])
    project.write("perfgate.toml", "[gate]\nnonsense = 1\n")
    project.commit()
    project.write("perfgate.toml", CONFIG)
    assert looked(None).settings.benchmarks["base"] == ["bench"]


# --- the command ------------------------------------------------------------------------------------------------------


def calibrate(project: Project, *argv: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return project.perfgate("calibrate", "--seed", "1", *argv, cwd=project.top, **environment)


# Two gates never measure at once on one machine: on one worker they do not wait for each other.
measures = pytest.mark.xdist_group("measures")
FROM_2 = "Calibrated: the noise of 1 benchmark on this host, from 2 rounds\n"


@measures
@pytest.mark.endtoend
def test_it_announces_the_starts_that_it_counts(project: Project) -> None:
    project.write("perfgate.toml", '[[benchmark]]\nname = "bench"\ncommand = "true"\n')
    project.commit()
    done = calibrate(project, "--set", "plan.builds=2", "--set", "plan.budget=10s")
    assert done.returncode == 0, done.stderr
    assert "against itself: 1 benchmark x 2 builds x 1 to 200 starts (" in done.stderr


@measures
def test_it_measures_remembers_and_says_so(project: Project, tmp_path: Path) -> None:
    home = {"PERFGATE_HISTORY": "", "XDG_STATE_HOME": str(tmp_path / "state")}
    done = calibrate(project, "--set", "plan.builds=5", "--json", str(tmp_path / "out.json"), **home)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Calibrated: the noise of 1 benchmark on this host, from 5 rounds\n")
    assert "against itself: 1 benchmark x 5 builds x 2 starts x 4 values of each" in done.stderr
    assert "1 h 00 min" in done.stderr  # 4 x the budget of a check
    history = tmp_path / "state/perfgate/history"
    found = json.loads((tmp_path / "out.json").read_text())
    ((session, learned),) = Sessions(history).of_host(found["host"]["fingerprint"])
    assert session.id == found["session"]
    assert session.kind == "calibration"
    assert session.commit == project.sha()
    assert learned.setup.command == "sh bench.sh {output}"
    assert learned.remembered.rounds == 5
    assert learned.remembered.contrast is not None and learned.remembered.contrast.df == 4
    assert learned.costs.start is not None and learned.costs.start > 0
    assert (found["history"], found["sessions"]) == (str(history), 1)
    # beside the run of a check, and out of git's sight
    assert (project.top / ".perfgate/calibration/measurements.jsonl").exists()
    assert project.git("status", "--porcelain") == ""
    # the session of a resumed run is the same one
    done = calibrate(project, "--set", "plan.builds=5", "--resume", "--quiet", **home)
    assert (done.returncode, done.stdout.count("\n")) == (0, 1)
    assert done.stdout == "Calibrated: the noise of 1 benchmark on this host, from 5 rounds\n"
    assert len(Sessions(history).of_host(found["host"]["fingerprint"])) == 1


@measures
def test_in_a_pull_request_it_measures_and_remembers_nothing(project: Project, tmp_path: Path) -> None:
    head = {"ref": "x", "sha": "a" * 40}
    (tmp_path / "event.json").write_text(json.dumps({"pull_request": {"number": 7, "head": head, "base": head}}))
    event = {"NAME": "pull_request", "PATH": str(tmp_path / "event.json")}
    github = {"REPOSITORY": "acme/widget", "SHA": "a" * 40, "REF": "refs/pull/7/merge", "RUN_ID": "1"}
    github |= {f"EVENT_{name}": value for name, value in event.items()}
    history, out = tmp_path / "history", tmp_path / "out.json"
    environment = {f"GITHUB_{name}": value for name, value in github.items()}
    done = calibrate(project, "--set", "plan.builds=2", "--history", str(history), "--json", str(out), **environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(FROM_2)
    why = "only runs on the default branch are, and this is a pull_request event of refs/pull/7/merge"
    assert f"perfgate: warning: this calibration will not be remembered: {why}" in done.stderr
    assert json.loads(out.read_text())["history"] is None
    assert not history.exists()


@measures
def test_a_failure_is_an_error_and_the_others_are_learned(project: Project) -> None:
    broken = '[[benchmark]]\nname = "broken"\ncommand = "exit 3"\ninstrument = "spawn"\n'
    # a history in the checkout is no change of head's
    project.write("perfgate.toml", CONFIG.replace("[gate]", '[gate]\nhistory = "noise"') + broken)
    project.commit()
    done = calibrate(project, "--set", "plan.builds=2")
    assert done.returncode == 4
    assert "broken failed on" in done.stdout
    assert "exit 3" in done.stdout
    assert FROM_2 in done.stdout
    assert (project.top / "noise").exists()
    assert not looked(None).sources.head.commit.dirty


@measures
def test_nothing_learned_is_an_error(project: Project) -> None:
    project.write("bench.sh", "exit 1\n")
    done = calibrate(project, "--set", "plan.builds=2", "--quiet")
    assert (done.returncode, done.stdout) == (4, "Not calibrated: nothing could be learned\n")


@measures
def test_a_history_that_fails_loses_nothing(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> bool:
        raise HistoryError("h: the disk is full")

    asked = ("--set", "plan.builds=3", "--history", str(tmp_path / "h"))
    with monkeypatch.context() as patched:
        patched.setattr(Sessions, "add", refuse)
        done = calibrate(project, *asked)
    assert done.returncode == 4
    assert "h: the disk is full; the measurements are kept" in done.stderr
    assert "\nkept" not in done.stdout
    file = project.top / ".perfgate/calibration/measurements.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[: len(lines) // 2]))
    done = calibrate(project, *asked, "--resume")
    assert done.returncode == 0
    assert "3 rounds of" in done.stdout
    assert "\nkept" in done.stdout
    assert len(file.read_bytes().splitlines()) >= len(lines)


def test_what_cannot_work_is_refused_before_measuring(project: Project, tmp_path: Path) -> None:
    (tmp_path / "h").write_text("junk" * 100)
    for argv in (("--history", str(tmp_path / "h")), ("--json", str(tmp_path)), ("--head", "nowhere")):
        assert calibrate(project, "--set", "plan.builds=2", *argv).returncode == 2
    done = calibrate(project, "--dry-run", "--set", "plan.builds=3", "--set", "plan.budget=60s")
    assert done.returncode == 0
    assert "\n  build, 6 times: no command, a fresh checkout is the build\n" in done.stdout
    assert "in all: 6 builds, 12 starts, " in done.stdout
    assert "1 min" in done.stdout
    assert not (tmp_path / "history").exists()
    assert not (project.top / ".perfgate").exists()
