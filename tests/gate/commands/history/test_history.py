"""perfgate history: add, list and export as a user runs them, in a repository of two commits."""

import csv
import io
import json
import os
from pathlib import Path

import msgspec
import pytest

from gate.cli.main import main
from gate.codes import Exit
from gate.commands.history.export import COLUMNS
from gate.model import UserError
from gate.model.history import Controls
from gate.run.place import pushing
from gate.stats.subsample import e_value
from gate.store.folder import FolderStore
from gate.store.memory import Session, Sessions
from harness.source.git import git_of
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
    assert (code, err) == (0, "")
    assert said.startswith(f"{REF}: 1 record, 2 cases, 1 class of machine, ")
    assert said.endswith("Second, after it\n")
    # the same run with other values
    measure(project, cases=3)
    code, _, err = run("add")
    assert code == Exit.USAGE
    assert "holds other measurements of run run-1" in err


def test_says_what_controls_of_all_runs_prove(project: Project) -> None:
    measure(project)
    run("add", "--history", "history")
    (kept,) = FolderStore(Path("history")).read().records
    assert kept.controls is not None
    assert kept.controls.count == 2
    assert (
        f"{kept.controls.alarmed} of 2 controls of the last run showed a regression, 0.05 would by chance. "
        in run("--history", "history")[1]
    )
    # a machine on which every control alarms
    faulty = Controls(count=2, alarmed=2, e_value=e_value(2, 2))
    for number in range(1, 4):
        FolderStore(Path("history")).add(msgspec.structs.replace(record(number), controls=faulty), 100)
    said = run("--history", "history")[1]
    assert "\nWarning: more than chance explains since run run-3 of 2026-01-01 (e-value" in said
    project.write("perfgate.toml", '[gate]\nhistory = "history"\n')
    out = io.StringIO()
    main(("doctor", "--json", "-"), out, out)
    (found,) = (each for each in json.loads(out.getvalue())["checks"] if each["name"] == "controls")
    assert found["state"] == "warn"
    assert "since run run-3" in found["value"]
    assert "no builds, layouts or head itself" in found["why"]


def test_a_report_stands_for_the_measurements_beside_it(project: Project) -> None:
    measure(project)
    report = project.top / ".perfgate" / "report.json"
    report.write_text('{"findings": []}')
    assert run("add", str(report))[0] == 0
    assert "recorded already" in run("add")[1]
    (project.top / ".perfgate" / "measurements.jsonl").unlink()
    code, _, err = run("add", str(report))
    assert code == Exit.USAGE
    assert "without its measurements.jsonl beside it" in err


def test_a_run_of_one_commit_is_a_control(project: Project) -> None:
    measure(project, base="HEAD")
    assert "against itself, as a control" in run("add")[1]
    assert "  control  " in run()[1]


def test_says_what_a_base_beside_the_head_means(project: Project) -> None:
    project.git("checkout", "-q", "-b", "other", "HEAD^")
    project.write("README", "z")
    project.commit("Beside")
    measure(project, base="main")
    code, said, err = run("add")
    assert code == 0
    assert said.startswith("Recorded")
    assert "is no ancestor of" in err


def test_a_dry_run_shows_the_record_and_writes_nothing(project: Project) -> None:
    measure(project)
    code, said, _ = run("add", "--dry-run")
    assert code == 0
    assert json.loads(said)["subject"] == "Second, after it"
    assert run()[0] == Exit.USAGE


def test_keeps_as_many_as_it_is_told(project: Project) -> None:
    said = []
    for number in range(3):
        measure(project, id_=f"run-{number}")
        said.append(run("add", "--keep", "2")[1])
    assert ["Dropped the oldest 1 record, beyond --keep 2\n" in each for each in said] == [False, False, True]


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
    for old, new in (("--folder", "write --history DIR"), ("--ref", "write --history REF")):
        code, _, err = run("add", old, "x")
        assert code == Exit.USAGE and f"{old} is not an option; {new}" in err


def test_pushes(project: Project, tmp_path: Path) -> None:
    project.git("init", "-q", "--bare", str(tmp_path / "r"))
    project.git("remote", "add", "origin", str(tmp_path / "r"))
    measure(project)
    assert run("add", "--push")[1].endswith("Pushed to origin\n")
    assert project.git("ls-remote", "origin", REF).split()[0] == project.git("rev-parse", REF)


@pytest.mark.parametrize(
    ("argv", "why"),
    [
        (("add",), ".perfgate"),
        ((), f"{REF}: no such ref"),
        (("--history", "refs/x y"), "write the whole name of a ref"),
        (("--history", "refs/../x"), "write the whole name of a ref"),
        (("add", "--history", "h", "--push"), "h is a folder, which has no remote"),
        (("export",), "name a file"),
        (("export", "--csv", "-"), "no such ref"),
        (("--history", "none"), "no such folder"),
    ],
)
def test_refuses_in_one_line(project: Project, argv: tuple[str, ...], why: str) -> None:
    code, said, err = run(*argv)
    assert (code, said) == (Exit.USAGE, "")
    assert why in err
    assert err.count("\n") == 1


def test_wants_a_repository_for_a_ref(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    code, _, err = run()
    assert code == Exit.USAGE
    assert "no git repository here (GIT_DIR is ignored)" in err


def folder(tmp_path: Path) -> Path:
    store = FolderStore(tmp_path / "h")
    for number in range(3):
        store.add(record(number, cases=2), 10)
    return tmp_path / "h"


def test_exports_a_row_for_each_commit_and_case(tmp_path: Path) -> None:
    place = folder(tmp_path)
    code, said, _ = run("export", "--history", str(place), "--csv", "-")
    rows = list(csv.DictReader(io.StringIO(said)))
    assert (code, len(rows)) == (0, 6)
    assert list(rows[0]) == [column.name for column in COLUMNS]
    assert {row["commit"] for row in rows} == {record(number).commit for number in range(3)}
    row = rows[0]
    assert (row["log_ratio"], row["log_ratio_df"], row["control"], row["base_var_build"]) == (
        "0.01",
        "3.0",
        "false",
        "1e-05",
    )
    # exp(0.01 +- t(3; 97.5%) sqrt(1.25e-5)), the quantile from Fisher's table
    assert float(row["ratio_low"]) == pytest.approx(0.998749, abs=2e-6)
    assert float(row["ratio_high"]) == pytest.approx(1.021479, abs=2e-6)


def test_a_table_is_written_whole_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    place, file = folder(tmp_path), tmp_path / "x.csv"
    file.write_text("of another day")
    assert run("export", "--history", str(place), "--csv", str(file))[0] == 0
    assert file.read_text() == run("export", "--history", str(place), "--csv", "-")[1]
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
    for column in (each for each in COLUMNS if not each.name.startswith("head")):
        # several of one kind stand in one line
        (line,) = (each for each in page.splitlines() if each[:2] == "- " and f"`{column.name}`" in each.split(": ")[0])
        assert f" ({column.kind}): " in line
        assert line.count("`, `") or line.endswith(f": {column.about}")
    assert "- `head`, `head_...`: the same of head\n" in page


def test_a_workflow_pushes_with_its_token_to_its_server_alone(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git = git_of(project.top)
    project.git("remote", "add", "origin", "https://github.example/o/p")
    project.git("remote", "add", "elsewhere", "https://elsewhere.example/o/p")
    environment = workflow(tmp_path, "push")
    with_token = pushing(git, "origin", environment)
    assert "AUTHORIZATION: basic" in str(with_token.environment)
    assert pushing(git, "elsewhere", environment) == git
    assert pushing(git, "origin", {}) == git


@pytest.mark.parametrize("name", ["pull_request", "pull_request_target", "merge_group", "workflow_run"])
def test_no_pull_request_writes_the_history(project: Project, tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match="only a push, schedule or dispatch on the default branch"):
        pushing(git_of(project.top), "origin", workflow(tmp_path, name))


def test_no_other_branch_writes_the_history(project: Project, tmp_path: Path) -> None:
    environment = {**workflow(tmp_path, "push"), "GITHUB_REF": "refs/heads/feature"}
    with pytest.raises(UserError, match="push on refs/heads/feature"):
        pushing(git_of(project.top), "origin", environment)


def workflow(folder: Path, name: str) -> dict[str, str]:
    """The environment of a workflow of an event."""
    sides = {
        side: {"ref": side, "sha": sha(side), "repo": {"full_name": "o/p", "clone_url": "https://github.example/o/p"}}
        for side in ("base", "head")
    }
    group = {
        f"{side}_{key}": sha(side) if key == "sha" else f"refs/heads/{side}" for side in sides for key in ("sha", "ref")
    }
    event = {
        "repository": {"full_name": "o/p", "default_branch": "main"},
        "pull_request": {"number": 1, **sides},
        "merge_group": group,
        "workflow_run": {
            "id": 1, "run_attempt": 1, "head_sha": sha("head"), "head_branch": "main", "event": "pull_request",
            "conclusion": "success", "name": "x", "path": "x.yml", "head_repository": {"full_name": "o/p"},
        },
    }  # fmt: skip
    (folder / "event.json").write_text(json.dumps(event))
    return {
        "GITHUB_ACTIONS": "true",
        "GITHUB_EVENT_NAME": name,
        "GITHUB_EVENT_PATH": str(folder / "event.json"),
        "GITHUB_REPOSITORY": "o/p",
        "GITHUB_REF": "refs/heads/main",
        "GITHUB_SHA": sha("head"),
        "GITHUB_RUN_ID": "1",
        "GITHUB_SERVER_URL": "https://github.example",
        "GITHUB_TOKEN": "secret",
    }
