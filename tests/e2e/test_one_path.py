"""Where both sides stand while they are built and measured, as a user meets it: kept, and beside a server."""

from pathlib import Path

import pytest

from tests.support.project import Project, repository

pytestmark = pytest.mark.endtoend

CONFIG = """\
[plan]
builds = 2
executions = 1
iterations = 2
[gate]
sameness = "off"
[build]
command = "cp source built; pwd >> $NOTES/built-in"
git = "off"
write = ["$NOTES"]
[[benchmark]]
name = "x"
command = "cat built; pwd >> $NOTES/ran-in; @RUN"
instrument = "spawn"
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    notes = tmp_path / "notes"
    notes.mkdir()
    # the sandbox of root's runs is another user's
    notes.chmod(0o777)
    return repository(tmp_path / "repo", *({"source": content} for content in "12"))


def measure(project: Project, run: str, more: str = "", *arguments: str, **own: str) -> tuple[int, str]:
    """Run, in place of @RUN, and more of the benchmark's table."""
    project.write("perfgate.toml", CONFIG.replace("@RUN", run) + more)
    options = ("--config", "perfgate.toml", "--base", "HEAD~1", *arguments)
    done = project.perfgate("measure", *options, cwd=None, NOTES=str(project.top.parent / "notes"), **own)
    return done.returncode, done.stderr


def test_a_server_that_outlives_an_execution_gives_both_sides_a_path(project: Project) -> None:
    server = "pwd >> $NOTES/served-in; exec python3 -m http.server --bind 127.0.0.1 {port}"
    more = f'service = {{ command = "{server}", ready = "tcp:{{port}}", per = "build" }}\n'
    code, said = measure(project, "true", more)
    assert code == 0, said
    built, ran, served = (
        set((project.top.parent / "notes" / name).read_text().split()) for name in ("built-in", "ran-in", "served-in")
    )
    assert {Path(place).name for place in served} == {"base", "head"}
    assert len({len(place) for place in served}) == 1
    assert served == built == ran


def test_kept_trees_have_the_names_of_their_sides(project: Project, tmp_path: Path) -> None:
    (tmp_path / "scratch").mkdir()
    run = "[ $PERFGATE_SIDE = base ] || exit 3"
    code, said = measure(project, run, "", "--keep", TMPDIR=str(tmp_path / "scratch"))
    assert code == 4, said
    (failure,) = project.records("failure")
    tree = Path(failure["directory"])
    assert (tree / "built").read_text() == "2"
    assert (Path(str(tree).replace("/head", "/base")) / "built").read_text() == "1"
