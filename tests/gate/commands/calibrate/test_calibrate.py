"""perfgate calibrate: what it says, and the whole of it on a small project."""

from __future__ import annotations

import dataclasses
import io
import json
import shutil
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from msgspec import structs

from gate.cli.groups import RulesOptions
from gate.commands.calibrate import calibrate
from gate.commands.calibrate import result as calibration_text
from gate.commands.calibrate.command import MeasuringOptions, Options, OutputOptions
from gate.commands.calibrate.result import Calibration, render, session_of
from gate.config.config_text import from_tables
from gate.config.parse import parse
from gate.config.types import Config
from gate.document.terminal import Screen
from gate.document.terminal import render as render_text
from gate.model import Commit, Record, Run, UserError
from gate.model.warnings.setup import FewBuilds
from gate.run import project as run_project
from gate.store.learning import setups_of
from gate.store.memory import HistoryError, Learned, Sessions
from tests.support.lines import builds, located
from tests.support.project import SHELL_CONFIG as SHORT
from tests.support.project import Project

RULES = RulesOptions()


def config(**tables: Any) -> Config:
    return parse(from_tables({"gate": {"threshold": "3%"}, **tables}, "test"))


# --- what it says -----------------------------------------------------------------------------------------------------


def session(rounds: int = 20, **tables: Any) -> tuple[Calibration, list[Learned]]:
    rng = np.random.default_rng(3)
    read = config(
        benchmark=[
            {"name": "parse", "command": "./parse", "instrument": "values"},
            {
                "name": "size",
                "command": "./size",
                "instrument": "values",
                "metric": {"size": {"unit": "B", "exact": True}},
            },
        ],
        plan={"executions": 2, "iterations": 3},
        **tables,
    )
    lines = []
    for side in ("base", "head"):
        values = 1 + 0.004 * rng.normal(size=(rounds, 1, 1)) + 0.01 * rng.normal(size=(rounds, 2, 3))
        lines += builds(side, values.tolist(), benchmark="parse", seconds=5.0)
        lines += builds(side, [[[4096]]] * rounds, benchmark="size", metric="size", unit="B")
        lines += builds(side, [[[0.01]]] * rounds, benchmark="coarse")
    records: list[Record] = [line.record for line in located(*lines)]
    run = Run(
        id="20261120T090000Z-abcdef", created="2026-11-20T09:00:00Z", head=Commit(ref="main", sha="1234567890abcdef"),
        host={"cpu": "Z80", "cores": 2, "memory": 2**30, "fingerprint": "abc"},
        config={"plan": {"builds": 20}}, warnings=[FewBuilds(20, 30, False, False)],
    )  # fmt: skip
    return session_of([run, *records], run, read, setups_of(read, {}))


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


def text(found: Calibration, *, color: bool = False, width: int = 100) -> str:
    return render_text(calibration_text.document(found, ".perfgate/calibration"), Screen(color, width, width))


def test_the_text_says_all_of_it() -> None:
    made, _ = session()
    kept = structs.replace(made, sessions=1)
    common = " ".join(text(kept).split())
    assert "parse time 1.0% none 0.44% 0.84% 19 value" in common
    assert (
        "1 session, for plans and for the error rate. Intervals use what checks of the default branch remember"
        in common
    )
    kept = structs.replace(kept, layouts="independent")
    shown = text(structs.replace(kept, history="/state/history"))
    assert "\x1b" not in shown
    plain = " ".join(shown.split())
    for words in (
        "Calibrated: the noise of 1 benchmark on this host, from 20 rounds",
        "main 1234567890, against itself",
        "20 rounds of 2 starts x 3 values of each",
        "Z80, 2 cores, 1 GiB",
        "parse time 1.0% none 0.44% 0.84% 19 value",
        "1 session. Several days show how noise changes from day to day, a longer one does not. The weight of a session",
        "gates `perfgate simulate .perfgate/calibration` shows how often they are wrong",
        "in /state/history as 20261120T090000Z-abcdef",
    ):
        assert words in plain
    assert max(len(line) for line in shown.splitlines()) <= 100
    assert "\x1b[1m" in text(kept, color=True)


@pytest.mark.parametrize("width", [44, 20])
def test_a_narrow_terminal_gets_all_of_it_too(width: int) -> None:
    shown = text(session()[0], width=width)
    assert all(len(line) <= width or " " not in line.strip() for line in shown.splitlines())
    assert all(share in shown for share in ("1.0%", "none", "0.44%", "0.84%"))


def test_nothing_learned_is_said() -> None:
    made, learned = session(rounds=1)
    assert learned == []
    shown = text(made)
    assert shown.startswith("Not calibrated: nothing could be learned\n")


def test_the_json_is_the_calibration() -> None:
    found = session()[0]
    assert msgspec.json.decode(render(found), type=Calibration) == found
    assert set(json.loads(render(found))) == set(Calibration.__struct_fields__)


# --- the project ------------------------------------------------------------------------------------------------------


# What is learned of executions takes two of them.
CONFIG = SHORT.replace("executions = 1", "executions = 2")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """One commit, on a machine that is no CI."""
    made = Project(tmp_path / "widget")
    made.quick(0.001, **{"perfgate.toml": CONFIG})
    made.commit()
    for name in ("CI", "PERFGATE_HISTORY", "XDG_STATE_HOME", "GITHUB_BASE_REF", "GITHUB_EVENT_NAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(made.top)
    return made


def looked(head: str | None) -> run_project.Project:
    with run_project.open_itself(head, RULES) as found:
        return found


def test_both_sides_are_head(project: Project) -> None:
    sha = project.sha()
    found = looked(None)
    assert found.sources.base == found.sources.head
    assert (found.sources.head.commit.sha, found.sources.head.commit.dirty) == (sha, False)
    assert found.settings.warnings == []
    # the working tree as it is, with a config that nobody committed yet
    project.write("perfgate.toml", CONFIG.replace('"bench"', '"renamed"'))
    found = looked(None)
    assert found.sources.base == found.sources.head
    assert found.sources.head.commit.dirty
    assert found.sources.base.revision != sha
    assert found.settings.benchmarks == {"base": ["renamed"], "head": ["renamed"]}
    assert found.settings.warnings == []
    found = looked("HEAD")
    assert (found.sources.base.revision, found.settings.benchmarks["base"]) == (sha, ["bench"])


def test_a_config_that_head_mends_is_not_read_as_it_was(project: Project) -> None:
    project.write("perfgate.toml", "[gate]\nnonsense = 1\n")
    project.commit()
    project.write("perfgate.toml", CONFIG)
    assert looked(None).settings.benchmarks["base"] == ["bench"]


# --- the command ------------------------------------------------------------------------------------------------------

OPTIONS = MeasuringOptions(
    head=None, builds=5, budget=None, out=None, seed=1, dry_run=False, resume=False, strict=False, wait=None,
    history=None,
)  # fmt: skip


def ran(*, json: str | None = None, quiet: bool = False, **options: Any) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    asked = dataclasses.replace(OPTIONS, **options)
    code = calibrate.run(Options(asked, RULES, OutputOptions(json=json, quiet=quiet)), out, err)
    return code, out.getvalue(), err.getvalue()


# Two gates never measure at once on one machine: on one worker they do not wait for each other.
measures = pytest.mark.xdist_group("measures")


@measures
def test_it_measures_remembers_and_says_so(project: Project, tmp_path: Path) -> None:
    code, out, err = ran(json=str(tmp_path / "out.json"))
    assert code == 0, err
    assert out.startswith("Calibrated: the noise of 1 benchmark on this host, from 5 rounds\n")
    assert "against itself: 1 benchmark x 5 builds x 2 starts x 4 values of each" in err
    assert "1 h 00 min" in err  # 4 x the budget of a check
    history = tmp_path / "home/.local/state/perfgate/history"
    found = json.loads((tmp_path / "out.json").read_text())
    (entry,) = Sessions(history).of_host(found["host"]["fingerprint"])
    assert entry.session.id == found["session"]
    assert entry.session.kind == "calibration"
    assert entry.session.commit == project.sha()
    assert entry.learned.setup.command == "sh bench.sh {output}"
    assert entry.learned.remembered.rounds == 5
    assert entry.learned.remembered.contrast is not None and entry.learned.remembered.contrast.df == 4
    assert entry.learned.costs.start is not None and entry.learned.costs.start > 0
    assert found["history"] == str(history)
    assert found["sessions"] == 1
    # beside the run of a check, and out of git's sight
    assert (project.top / ".perfgate/calibration/measurements.jsonl").exists()
    assert project.git("status", "--porcelain") == ""
    # the session of a resumed run is the same one
    code, out, _ = ran(resume=True, quiet=True)
    assert (code, out) == (0, "Calibrated: the noise of 1 benchmark on this host, from 5 rounds\n")
    assert len(Sessions(history).of_host(found["host"]["fingerprint"])) == 1


@measures
def test_in_a_pull_request_it_measures_and_remembers_nothing(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = {"ref": "x", "sha": "a" * 40}
    (tmp_path / "event.json").write_text(json.dumps({"pull_request": {"number": 7, "head": head, "base": head}}))
    for name, value in {
        "EVENT_NAME": "pull_request", "EVENT_PATH": str(tmp_path / "event.json"), "REPOSITORY": "acme/widget", "SHA": "a" * 40,
        "REF": "refs/pull/7/merge", "RUN_ID": "1",
    }.items():  # fmt: skip
        monkeypatch.setenv(f"GITHUB_{name}", value)
    code, out, err = ran(builds=2, history=tmp_path / "history", json=str(tmp_path / "out.json"))
    assert code == 0, err
    assert out.startswith("Calibrated: the noise of 1 benchmark on this host, from 2 rounds\n")
    assert (
        "perfgate: warning: this calibration will not be remembered: only runs on the default branch are, and this is a pull_request event of refs/pull/7/merge"
        in err
    )
    assert json.loads((tmp_path / "out.json").read_text())["history"] is None
    assert not (tmp_path / "history").exists()


@measures
def test_a_failure_is_an_error_and_the_others_are_learned(project: Project, tmp_path: Path) -> None:
    project.write(
        "perfgate.toml", CONFIG + '[[benchmark]]\nname = "broken"\ncommand = "exit 3"\ninstrument = "spawn"\n'
    )
    code, out, _ = ran(builds=2, history=tmp_path / "h")
    assert code == 4
    assert "broken failed on" in out
    assert "exit 3" in out
    assert "Calibrated: the noise of 1 benchmark" in out


@measures
def test_nothing_learned_is_an_error(project: Project, tmp_path: Path) -> None:
    project.write("bench.sh", "exit 1\n")
    code, out, _ = ran(builds=2, history=tmp_path / "h", quiet=True)
    assert (code, out) == (4, "Not calibrated: nothing could be learned\n")


@measures
def test_a_history_that_fails_afterwards_keeps_the_measurements(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> bool:
        raise HistoryError("h: the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(Sessions, "add", refuse)
        code, out, err = ran(builds=2, history=tmp_path / "h")
    assert code == 4
    assert "h: the disk is full; the measurements are kept" in err
    assert "\nkept" not in out
    code, out, _ = ran(builds=2, history=tmp_path / "h", resume=True)
    assert code == 0
    assert "\nkept" in out


def test_what_cannot_work_is_refused_before_measuring(project: Project, tmp_path: Path) -> None:
    (tmp_path / "h").write_text("junk" * 100)
    for options in ({"history": tmp_path / "h"}, {"json": str(tmp_path)}, {"head": "nowhere"}):
        with pytest.raises(UserError):
            ran(**options)
    assert not (project.top / ".perfgate").exists()


def test_a_dry_run_measures_nothing(project: Project, tmp_path: Path) -> None:
    code, out, _ = ran(dry_run=True, builds=3, budget=60.0)
    assert code == 0
    assert "\n  build, 6 times: no command, a fresh checkout is the build\n" in out
    assert "in all: 6 builds, 12 starts, " in out
    assert "1 min" in out
    assert not (tmp_path / "home").exists()
    assert not (project.top / ".perfgate").exists()


@measures
def test_a_history_in_the_checkout_is_no_change_of_heads(project: Project) -> None:
    project.write("perfgate.toml", CONFIG.replace("[gate]", '[gate]\nhistory = "noise"'))
    project.commit()
    code, _, err = ran(builds=2, quiet=True)
    assert code == 0, err
    assert (project.top / "noise").exists()
    assert not looked(None).sources.head.commit.dirty


@measures
def test_it_goes_on_where_it_was_interrupted(project: Project, tmp_path: Path) -> None:
    assert ran(builds=3, history=tmp_path / "h", quiet=True)[0] == 0
    file = project.top / ".perfgate/calibration/measurements.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[: len(lines) // 2]))
    shutil.rmtree(tmp_path / "h")
    code, out, _ = ran(builds=3, history=tmp_path / "h", resume=True)
    assert code == 0
    assert "3 rounds of" in out
    assert len(file.read_bytes().splitlines()) >= len(lines)
