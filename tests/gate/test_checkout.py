"""Links that a commit put where perfgate writes: a pull request would say what is overwritten and removed."""

import io
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gate.checkout import refuse_tracked, text_of
from gate.cli.main import main
from gate.evidence.records import Appender
from gate.model import UserError
from gate.report.outputs import make_folder, write
from gate.run.run_folder import make_room
from gate.store.history_records import write_new
from tests.support.project import Project

SAID = "is a link that git tracks (to {}), and perfgate writes nothing through it"


@pytest.fixture
def linked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A checkout whose commit has the link .perfgate to the user's own directory, which has a folder "runs"."""
    project = Project(tmp_path / "p")
    for number in range(14):
        (tmp_path / f"own/runs/{number:02}").mkdir(parents=True)
        (tmp_path / f"own/runs/{number:02}/file").write_text("x")
    (tmp_path / "own/report.html").write_text("mine")
    project.write("perfgate.toml", '[plan]\nbudget = "10s"\n[[benchmark]]\nname = "a"\ncommand = "true"\n')
    (project.top / ".perfgate").symlink_to(tmp_path / "own")
    project.git("add", "-A", "-f")
    project.commit("head")
    monkeypatch.chdir(project.top)
    return project


def own(tmp_path: Path) -> dict[str, str]:
    return {str(p.relative_to(tmp_path)): p.read_text() for p in (tmp_path / "own").rglob("*") if p.is_file()}


@pytest.mark.parametrize("argv", [["check"], ["measure"], ["check", "--out", ".perfgate/deep"]])
def test_nothing_is_changed_through_a_committed_link(linked: Project, tmp_path: Path, argv: list[str]) -> None:
    linked.write("perfgate.toml", (linked.top / "perfgate.toml").read_text() + "\n")
    linked.commit("again")
    before, err = own(tmp_path), io.StringIO()
    assert main(argv, io.StringIO(), err) == 2
    assert SAID.format(tmp_path / "own") in err.getvalue()
    assert own(tmp_path) == before


@pytest.mark.parametrize("file", [".perfgate/memory.sqlite", "memory.sqlite"])
@pytest.mark.parametrize("given", [("--history", "{}"), ("--set", "gate.history={}"), ()])
def test_the_memory_of_a_host_is_in_no_place_that_a_commit_names(
    linked: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, given: tuple[str, ...]
) -> None:
    (linked.top / "memory.sqlite").symlink_to(tmp_path / "own/memory.sqlite")
    linked.git("add", "memory.sqlite")
    linked.commit("a link of its own")
    if not given:
        monkeypatch.setenv("PERFGATE_HISTORY", file)
    before, err = own(tmp_path), io.StringIO()
    for command in ("check", "calibrate"):
        out = ["--out", str(tmp_path / "out")]
        assert main([command, *out, *(each.format(file) for each in given)], io.StringIO(), err) == 2
    assert err.getvalue().count("through it: remove it, or name another place (--history)\n") == 2
    assert own(tmp_path) == before


def test_whatever_writes_below_it_refuses(linked: Project, tmp_path: Path) -> None:
    (linked.top / "real").mkdir()
    (linked.top / "real/report.json").write_text("{}")
    (linked.top / "real/runs").symlink_to(tmp_path / "own/runs")
    (linked.top / "real/measurements.jsonl").symlink_to(tmp_path / "own/new")
    # by a link of the user's own to one of the commit
    (linked.top / "mine").symlink_to(".perfgate")
    (linked.top / "real/out.jsonl.partial").symlink_to(tmp_path / "own/report.html")
    os.mkfifo(tmp_path / "pipe")
    (linked.top / "real/page.html").symlink_to(tmp_path / "pipe")
    linked.git("add", "-f", "real")
    before = own(tmp_path)
    writers: list[Callable[[], object]] = [
        lambda: make_folder(Path("mine/x")),
        lambda: write(Path(".perfgate/x"), "x"),
        lambda: make_room(Path("real")),
        lambda: Appender(Path("real/measurements.jsonl")),
        lambda: write(Path("real/page.html"), "x"),
        lambda: write_new(Path("real/runs/x.json"), b"x"),
    ]
    for writer in writers:
        with pytest.raises(UserError, match="is a link that git tracks"):
            writer()
    assert own(tmp_path) == before


@pytest.mark.parametrize("name", ["../../own", "..", ".x", "a/b", "/own", "", "x" * 101, "a\n"])
def test_a_run_that_a_commit_left_names_no_folder_elsewhere(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "below/out"
    folder.mkdir(parents=True)
    (folder / "measurements.jsonl").write_text(json.dumps({"type": "run", "schema": 1, "id": name}) + "\n")
    make_room(folder)
    assert [str(each.relative_to(tmp_path)) for each in tmp_path.rglob("*.jsonl")] == [
        "below/out/runs/unknown/measurements.jsonl"
    ]


def test_links_of_the_users_own_are_followed(linked: Project, tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (linked.top / "mine").symlink_to(tmp_path / "disk")
    for path in ("mine", "mine/deep", "absent/x", str(tmp_path / "disk"), "perfgate.toml"):
        refuse_tracked(Path(path))
    # a circle
    (linked.top / "round").symlink_to("round")
    refuse_tracked(Path("round/x"))
    linked.git("rm", "-q", "--cached", ".perfgate")
    refuse_tracked(Path(".perfgate"))


def test_a_file_of_a_checkout_is_read_only_where_it_ends(linked: Project, tmp_path: Path) -> None:
    """A commit can make a configuration a link to a device or to a file of the user's, and a build makes pipes."""
    (tmp_path / "own.toml").write_text("x")
    linked.write("text", "\ufeffy\n")
    os.mkfifo(linked.top / "pipe")
    for name, target in (("a", "text"), ("b", "/dev/zero"), ("c", "pipe"), ("d", "../own.toml"), ("e", "e")):
        (linked.top / name).symlink_to(target)
    assert text_of(linked.top / "a") == text_of(Path("text")) == "y\n"
    for name in ("b", "c", "d", "e", "pipe", ".git", "absent"):
        with pytest.raises(OSError, match=r"no regular file|a link leads out of the checkout"):
            text_of(linked.top / name)


@pytest.mark.parametrize("target", ["/dev/zero", "../own.toml"])
def test_a_configuration_that_is_a_link_to_elsewhere_is_refused(linked: Project, tmp_path: Path, target: str) -> None:
    (tmp_path / "own.toml").write_text("[tool.perfgate]\n")
    (linked.top / "perfgate.toml").unlink()
    (linked.top / "pyproject.toml").symlink_to(target)
    linked.git("add", "-A", "pyproject.toml", "perfgate.toml")
    linked.commit("head")
    err = io.StringIO()
    assert main(["check", "--out", str(tmp_path / "out"), "--head", "HEAD"], io.StringIO(), err) == 2
    sha = linked.sha()[:12]
    assert err.getvalue() == (
        f"perfgate: pyproject.toml at {sha} is a link that leads out of the repository: commit the file itself\n"
    )


def test_without_git_a_link_in_a_checkout_is_not_followed(linked: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.devnull)
    refuse_tracked(Path("real"))
    with pytest.raises(UserError, match="git is not on PATH"):
        refuse_tracked(Path(".perfgate"))
