"""Where both sides stand while they are built and measured, as a user meets it: kept, killed, resumed, beside a server."""

import subprocess
from pathlib import Path

import pytest

from tests.support.project import Project

pytestmark = pytest.mark.endtoend

CONFIG = """\
[plan]
builds = 2
executions = 1
iterations = 2
[gate]
sameness = "off"
[build]
command = "echo $$ > $NOTES/build-$PERFGATE_SIDE-$PERFGATE_BUILD; cp source built; pwd >> $NOTES/built-in"
git = "off"
write = ["$NOTES"]
[[benchmark]]
name = "x"
command = "cat built; pwd >> $NOTES/ran-in; @RUN"
instrument = "spawn"
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path / "repo")
    (tmp_path / "notes").mkdir()
    # the sandbox of root's runs is another user's
    (tmp_path / "notes").chmod(0o777)
    for content in ("1", "2"):
        made.write("source", content)
        configure(made)
        made.commit(content)
    return made


def configure(project: Project, *, run: str = "true", more: str = "") -> None:
    text = CONFIG.replace("@RUN", run)
    project.write("perfgate.toml", text + more)


def notes(project: Project) -> Path:
    return project.top.parent / "notes"


def places(project: Project, name: str) -> set[str]:
    return set((notes(project) / name).read_text().split())


def measure(project: Project, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    variables = {"NOTES": str(notes(project)), **more}
    return project.perfgate(
        "measure", "--config", "perfgate.toml", "--base", "HEAD~1", *arguments, cwd=None, **variables
    )


def test_all_is_built_and_executed_at_one_path(project: Project) -> None:
    done = measure(project)
    assert done.returncode == 0, done.stderr
    assert len(places(project, "built-in")) == 1
    assert places(project, "built-in") == places(project, "ran-in")


def test_a_server_that_outlives_an_execution_gives_both_sides_a_path(project: Project) -> None:
    server = "pwd >> $NOTES/served-in; exec python3 -m http.server --bind 127.0.0.1 {port}"
    more = f'service = {{ command = "{server}", ready = "tcp:{{port}}", per = "build" }}\n'
    configure(project, more=more)
    done = measure(project)
    assert done.returncode == 0, done.stderr
    found = places(project, "served-in")
    assert {Path(place).name for place in found} == {"base", "head"}
    assert len({len(place) for place in found}) == 1
    assert found == places(project, "built-in") == places(project, "ran-in")


def test_a_tool_that_keeps_things_by_path_gives_both_sides_one(project: Project) -> None:
    configure(project, run=": bazel; echo ${POETRY_VIRTUALENVS_IN_PROJECT-unset} >> $NOTES/told")
    done = measure(project)
    assert done.returncode == 0, done.stderr
    assert {Path(place).name for place in places(project, "built-in")} == {"base", "head"}
    assert places(project, "told") == {"unset"}
    project.write("poetry.lock", "")
    configure(project, run="echo ${POETRY_VIRTUALENVS_IN_PROJECT-unset} >> $NOTES/told")
    done = measure(project)
    assert done.returncode == 0, done.stderr
    assert places(project, "told") == {"unset", "true"}


def test_kept_trees_have_the_names_of_their_sides(project: Project, tmp_path: Path) -> None:
    (tmp_path / "scratch").mkdir()
    configure(project, run="[ $PERFGATE_SIDE = base ] || exit 3")
    done = measure(project, "--keep", TMPDIR=str(tmp_path / "scratch"))
    assert done.returncode == 4, done.stderr
    (failure,) = project.records("failure")
    tree = Path(failure["directory"])
    assert (tree / "built").read_text() == "2"
    assert (Path(str(tree).replace("/head", "/base")) / "built").read_text() == "1"
