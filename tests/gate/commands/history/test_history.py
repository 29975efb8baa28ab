"""perfgate history: add, list and export as a user runs them, in a repository of two commits."""

import csv
import gzip
import io
import json
import os
from pathlib import Path

import msgspec
import pytest

from gate.cli.main import main
from gate.codes import Exit
from gate.commands.history.recorded import COLUMNS
from gate.model import UserError
from gate.model.history import Controls
from gate.run.memory import pushing
from gate.stats.levels import e_value
from gate.store.history_records import FolderStore
from gate.store.memory import Session, Sessions
from harness.source.git import git_of
from tests.gate.github import test_event as event
from tests.gate.store.records import record, sha
from tests.support import runs
from tests.support.project import Project
from tests.support.runs import Shape, host_lines, measured, names, run_line

REF = "refs/perfgate/history"


def run(*argv: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    return main(("history", *argv), out, err), out.getvalue(), err.getvalue()


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    made = Project(tmp_path / "p")
    made.write("README", "x")
    made.commit("First")
    made.write("README", "y")
    made.commit("Second, after it")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.chdir(made.top)
    return made


def measure(project: Project, base: str = "HEAD^", head: str = "HEAD", *, cases: int = 2, id_: str = "run-1") -> None:
    """Leave a run of two commits in .perfgate."""
    shape = Shape(cases=cases)
    sides = {side: {"ref": ref, "sha": project.git("rev-parse", ref)} for side, ref in (("base", base), ("head", head))}
    lines = [run_line(names(shape), shape, id=id_, **sides), *measured(shape), *host_lines()]
    runs.write(project.top / ".perfgate", iter(lines))


def test_adds_lists_and_adds_once(project: Project) -> None:
    measure(project)
    head, base = project.sha()[:10], project.git("rev-parse", "HEAD^")[:10]
    assert run("add") == (0, f"Recorded {head} against {base}: 2 cases; {REF} holds 1 record\n", "")
    code, said, _ = run("add", ".perfgate")
    assert (code, said) == (0, f"{head} is recorded already, of the same measurements: {REF} holds 1 record\n")
    code, said, err = run()
    assert (code, err, said[-17:]) == (0, "", "Second, after it\n")
    assert said.startswith(f"{REF}: 1 record, 2 cases, 1 class of machine, ")
    # explaining it later changes none of its values, and neither does packing it
    file = project.top / ".perfgate" / "measurements.jsonl"
    profiled = [f'{{"type":"unprofiled","benchmark":"{number}","kind":"failed"}}\n' for number in range(2)]
    file.write_text(file.read_text() + "".join(profiled))
    packed = project.top / "kept.jsonl.gz"
    packed.write_bytes(gzip.compress(file.read_bytes()))
    for each in (file, packed):
        code, said, err = run("add", str(each))
        assert (code, "recorded already" in said, err) == (0, True, "")
    # a report stands for the measurements beside it
    report = project.top / ".perfgate" / "report.json"
    report.write_text('{"findings": []}')
    assert "recorded already" in run("add", str(report))[1]
    (project.top / ".perfgate" / "measurements.jsonl").unlink()
    code, _, err = run("add", str(report))
    assert (code, "without its measurements.jsonl beside it" in err) == (Exit.USAGE, True)
    # the same run with other values
    report.unlink()
    measure(project, cases=3)
    code, _, err = run("add")
    assert (code, "holds other measurements of run run-1" in err) == (Exit.USAGE, True)


def test_says_what_controls_of_all_runs_prove(project: Project) -> None:
    measure(project)
    run("add", "--history", "history")
    (kept,) = FolderStore(Path("history")).read().records
    assert kept.controls is not None and kept.controls.count == 2
    told = f"{kept.controls.alarmed} of 2 controls of the last run showed a regression, 0.05 would by chance. "
    assert told in run("--history", "history")[1]
    # a machine on which every control alarms
    faulty = Controls(count=2, alarmed=2, e_value=e_value(2, 2))
    for number in range(1, 4):
        FolderStore(Path("history")).add(msgspec.structs.replace(record(number), controls=faulty))
    said = run("--history", "history")[1]
    assert "\nWarning: more than chance explains since run run-3 of 2026-01-01 (e-value" in said
    project.write("perfgate.toml", '[gate]\nhistory = "history"\n')
    out = io.StringIO()
    main(("doctor", "--json", "-"), out, out)
    (found,) = (each for each in json.loads(out.getvalue())["checks"] if each["name"] == "controls")
    assert found["state"] == "warn" and "since run run-3" in found["value"]
    assert "no builds, layouts or head itself" in found["why"]


def test_what_a_dry_run_a_control_and_a_base_beside_the_head_say(project: Project) -> None:
    measure(project)
    code, said, _ = run("add", "--dry-run")
    assert (code, json.loads(said)["subject"]) == (0, "Second, after it")
    assert run()[0] == Exit.USAGE
    measure(project, base="HEAD")
    assert "against itself, as a control" in run("add")[1]
    assert "  control  " in run()[1]
    project.git("checkout", "-q", "-b", "other", "HEAD^")
    project.write("README", "z")
    project.commit("Beside")
    measure(project, base="main", id_="run-2")
    code, said, err = run("add")
    assert (code, said[:9]) == (0, "Recorded ")
    assert "is no ancestor of" in err


def test_pushes_where_it_is_told_to(project: Project, tmp_path: Path) -> None:
    measure(project)
    project.git("init", "-q", "--bare", str(tmp_path / "r"))
    project.git("remote", "add", "origin", str(tmp_path / "r"))
    assert run("add", "--push")[1].endswith("Pushed to origin\n")
    assert project.git("ls-remote", "origin", REF).split()[0] == project.git("rev-parse", REF)


def test_the_place_has_one_name_everywhere(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measure(project)
    project.write("perfgate.toml", '[gate]\nhistory = "configured"\n')
    monkeypatch.setenv("PERFGATE_HISTORY", str(tmp_path / "environment"))
    assert "; configured holds 1 record\n" in run("add")[1]
    assert "; refs/x holds 1 record\n" in run("add", "--history", "refs/x")[1]
    project.write("perfgate.toml", "")
    assert f"; {tmp_path / 'environment'} holds 1 record\n" in run("add")[1]
    # what machines remember lies beside the records, and is none
    Sessions(tmp_path / "environment").add(
        Session(id="s", created="2026-11-20T09:00:00Z", kind="check", project="p", host={}, commit=None), []
    )
    assert run()[1].startswith(f"{tmp_path / 'environment'}: 1 record, 2 cases")


def test_refuses_in_one_line(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*argv: str) -> str:
        code, said, err = run(*argv)
        assert (code, said, err.count("\n")) == (Exit.USAGE, "", 1)
        return err

    for said, *argv in (
        (".perfgate", "add"),
        (f"{REF}: no such ref",),
        ("write the whole name of a ref", "--history", "refs/x y"),
        ("write the whole name of a ref", "--history", "refs/../x"),
        ("h is a folder, which has no remote", "add", "--history", "h", "--push"),
        ("name a file", "export"),
        ("no such ref", "export", "--csv", "-"),
        ("no such folder", "--history", "none"),
    ):
        assert said in refused(*argv)
    monkeypatch.chdir(project.top.parent)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(project.top.parent.parent))
    assert "no git repository here (GIT_DIR is ignored)" in refused()


def folder(tmp_path: Path) -> Path:
    store = FolderStore(tmp_path / "h")
    for number in range(3):
        store.add(record(number, cases=2))
    return tmp_path / "h"


def test_exports_a_row_for_each_commit_and_case_and_replaces_a_file_whole(tmp_path: Path) -> None:
    place, file = folder(tmp_path), tmp_path / "x.csv"
    code, said, _ = run("export", "--history", str(place), "--csv", "-")
    rows = list(csv.DictReader(io.StringIO(said)))
    assert (code, len(rows)) == (0, 6)
    assert list(rows[0]) == [*COLUMNS]
    assert {row["commit"] for row in rows} == {record(number).commit for number in range(3)}
    wanted = {"log_ratio": "0.01", "log_ratio_df": "3.0", "control": "false", "base_var_build": "1e-05"}
    assert rows[0].items() >= wanted.items()
    # exp(0.01 +- t(3; 97.5%) sqrt(1.25e-5)), the quantile from Fisher's table
    assert float(rows[0]["ratio_low"]) == pytest.approx(0.998749, abs=2e-6)
    assert float(rows[0]["ratio_high"]) == pytest.approx(1.021479, abs=2e-6)
    file.write_text("of another day")
    assert run("export", "--history", str(place), "--csv", str(file))[0] == 0
    assert file.read_text() == said
    assert sorted(each.name for each in tmp_path.iterdir()) == ["h", "x.csv"]


def test_what_cannot_be_read_is_named_and_the_rest_is_there(tmp_path: Path) -> None:
    place = folder(tmp_path)
    damaged = sorted(place.glob("*/*.json"))[1]
    damaged.write_text('{"schema": 5}')
    code, said, err = run("--history", str(place))
    assert code == Exit.USAGE
    assert "2 records" in said
    assert f"{damaged}: schema 5 is newer than this perfgate reads (1): use a newer perfgate" in err
    code, said, err = run("export", "--history", str(place), "--csv", "-")
    assert (code, said.count("\n")) == (Exit.USAGE, 1 + 4)
    assert str(damaged) in err


def test_every_column_is_documented() -> None:
    page = (Path(__file__).parents[4] / "docs" / "history.md").read_text()
    # head's are named once, as those of base
    assert [name for name in COLUMNS if not name.startswith("head") and f"`{name}`" not in page] == []


def test_only_a_workflow_of_the_default_branch_pushes_to_its_server(project: Project, tmp_path: Path) -> None:
    def workflow(name: str, ref: str = "refs/heads/main") -> dict[str, str]:
        group = {
            "base_sha": sha("base"), "head_sha": sha("head"), "base_ref": "refs/heads/x", "head_ref": "refs/heads/y",
        }  # fmt: skip
        payload = {**event.run(), **event.pull(), "merge_group": group}
        more = {"GITHUB_ACTIONS": "true", "GITHUB_REF": ref, "GITHUB_TOKEN": "secret"}
        return event.Told(tmp_path).environment(name, payload, **more)

    git = git_of(project.top)
    project.git("remote", "add", "origin", "https://ghe.example.org/acme/widget")
    project.git("remote", "add", "elsewhere", "https://elsewhere.example/acme/widget")
    environment = workflow("push")
    assert "AUTHORIZATION: basic" in str(pushing(git, "origin", environment).environment)
    assert pushing(git, "elsewhere", environment) == pushing(git, "origin", {}) == git
    for name in ("pull_request", "pull_request_target", "merge_group", "workflow_run"):
        with pytest.raises(UserError, match="only a push, schedule or dispatch on the default branch"):
            pushing(git, "origin", workflow(name))
    with pytest.raises(UserError, match="push on refs/heads/feature"):
        pushing(git, "origin", workflow("push", "refs/heads/feature"))
