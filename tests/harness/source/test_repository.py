"""What git knows of the files of a project: hints at those that a tree lacks, and what a study compares of a commit."""

from pathlib import Path

import pytest

from gate.model import Failure
from harness.source import repository
from harness.source.repository import checkout_hint, find_repository, sources_of
from tests.support.project import Project

ONLY = "the checkout has only files that git tracks; "


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A checkout with ignored and untracked files; its worktree is the empty directory beside it."""
    (tmp_path / "tree").mkdir()
    made = Project(tmp_path / "checkout")
    made.write(".gitignore", "*.json\ndata/few/\nbuild/\nnode_modules\n")
    for name in ("src/main.c", "data/large.json", "data/few/x y.csv", "build/app", "node_modules/dep/i.js"):
        made.write(name, "")
    made.commit()
    made.write("notes.txt", "")
    return made.top


def hint(project: Path, command: str, stderr: str = "", *, unstarted: bool = False) -> str | None:
    tree = str(project.parent / "tree")
    return checkout_hint(find_repository(project))(
        Failure(kind="execution", command=command, stderr=stderr, directory=tree), unstarted
    )


@pytest.mark.parametrize(
    ("command", "stderr", "hinted"),
    [
        # the folder that is ignored is what to share
        (
            "./bench 'data/few/x y.csv'",
            "'data/few/x y.csv': not found",
            '"data/few/x y.csv" is ignored by git: add "data/few/" to [build] share, or make it in [build] setup',
        ),
        (
            "node bench.js",
            "Error: Cannot find module 'dep'",
            '"node_modules" is ignored by git: add it to [build] share, or make it in [build] setup',
        ),
        # a program that no build made is not to be shared
        ("./build/app x", "", '"build/app" is ignored by git: make it in [build] command'),
        (
            "wc notes.txt",
            "wc: notes.txt: No such file or directory",
            '"notes.txt" is not tracked by git: commit it, add it to [build] share, or make it in [build] setup',
        ),
    ],
)
def test_what_to_do(project: Path, command: str, stderr: str, hinted: str) -> None:
    assert hint(project, command, stderr, unstarted=not stderr) == ONLY + hinted


SHARE_IT = ONLY + '"data/large.json" is ignored by git: add it to [build] share, or make it in [build] setup'


@pytest.mark.parametrize(
    ("command", "stderr"),
    [
        ("./bench data/large.json", ""),
        ("./bench --in=./data/large.json", ""),
        ("cat data/large.json | ./bench", ""),
        ("./bench", "FileNotFoundError: [Errno 2] No such file or directory: 'data/large.json'"),
        ("./bench", "./run.sh: line 3: data/large.json: No such file or directory"),
        ("./bench", 'Error: ENOENT: no such file or directory, open "TREE/data/large.json"'),
        ("./bench", "cannot open CHECKOUT/data/large.json (missing)"),
        ("./bench", "could not open `data/large.json'."),
    ],
)
def test_a_data_file(project: Path, command: str, stderr: str) -> None:
    text = stderr.replace("TREE", str(project.parent / "tree")).replace("CHECKOUT", str(project))
    assert hint(project, command, stderr=text) == SHARE_IT


@pytest.mark.parametrize(
    ("command", "unstarted", "stderr"),
    [
        ("make build", False, "error: syntax error in src/main.c"),
        ("./bench src/main.c", False, "src/main.c: no such file"),
        ("./bench", False, "nowhere.json: No such file or directory"),
        ("./bench", False, "read data/large.json, then crashed"),
        ("./bench '", True, ""),
        ("", True, ""),
        ("./bench ../data/large.json /data/large.json", True, "\0 not found"),
    ],
)
def test_nothing_speaks_for_a_missing_file(project: Path, command: str, unstarted: bool, stderr: str) -> None:
    assert hint(project, command, stderr, unstarted=unstarted) is None


def test_what_is_there_is_not_missing_and_little_is_asked(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project.parent / "tree" / "data").mkdir()
    (project.parent / "tree" / "data" / "large.json").touch()
    assert hint(project, "./bench data/large.json", stderr="other: not found") is None
    asked: list[str] = []
    monkeypatch.setattr(repository, "kept_out", lambda _, path: asked.append(path))
    told = checkout_hint(find_repository(project))
    failure = Failure(kind="build", stderr=" ".join(f"w{i}" for i in range(10_000)) + " not found")
    assert told(failure, False) is None
    assert asked == []
    tree = Failure(kind="build", stderr=failure.stderr, directory=str(project.parent / "tree"))
    assert told(tree, False) is None
    assert len(asked) == 400


# --- what a study compares: all but perfgate's own configuration ------------------------------------------------------


@pytest.fixture
def sources(tmp_path: Path) -> Project:
    sources = Project(tmp_path / "repo")
    sources.write("bench.py", "1")
    sources.write("perfgate.toml", "[study]")
    sources.write("pyproject.toml", '[project]\nname = "x"\n[tool.perfgate.plan]\nbuilds = 2\n')
    sources.commit()
    return sources


def identity(sources: Project, *configs: str) -> str:
    return sources_of(find_repository(sources.top), "HEAD", configs)


def changed(sources: Project, name: str, text: str, *configs: str) -> bool:
    before = identity(sources, *configs)
    sources.write(name, text)
    sources.commit()
    return identity(sources, *configs) != before


def test_what_a_study_compares_is_all_but_the_configuration_of_perfgate(sources: Project) -> None:
    assert not changed(sources, "perfgate.toml", "[study]\nreplicates = 9")
    assert not changed(sources, "pyproject.toml", '[project]\nname = "x"\n[tool.perfgate.plan]\nbuilds = 3\n')
    assert changed(sources, "pyproject.toml", '[project]\nname = "y"\n[tool.perfgate.plan]\nbuilds = 3\n')
    assert changed(sources, "pyproject.toml", '[project]\nname = "y"\n')
    assert changed(sources, "pyproject.toml", "no TOML")
    assert changed(sources, "bench.py", "2")
    assert changed(sources, "sub/perfgate.toml", "[study]")
    assert changed(sources, "new.py", "")
    # nor what an option names as such
    assert changed(sources, "rules/bench.toml", "1")
    assert not changed(sources, "rules/bench.toml", "2", "rules/bench.toml")
    assert changed(sources, "rules/bench.toml", "3")
