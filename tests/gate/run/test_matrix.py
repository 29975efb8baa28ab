"""perfgate plan --matrix: the jobs of a gate on several runners."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from gate.cli.main import main
from tests.support.project import Project, repository


def config(names: str, plan: str = "") -> str:
    one = '[[benchmark]]\nname = "{}"\ncommand = "true"\n'
    return f"[plan]\n{plan}\n" + "".join(one.format(name) for name in names)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Base has the benchmarks a, b and c; head has b, c and d."""
    both = config("abc"), config("bcd", "shards = 2\nsessions = 3")
    made = repository(tmp_path / "project", *({"perfgate.toml": text} for text in both))
    monkeypatch.chdir(made.top)
    monkeypatch.delenv("CI", raising=False)
    return made


def planned(*options: str) -> list[dict[str, Any]]:
    out, err = io.StringIO(), io.StringIO()
    assert main(["plan", "--matrix", "--base", "HEAD~1", *options], out, err) == 0, err.getvalue()
    assert out.getvalue().count("\n") == 1
    found: list[dict[str, Any]] = json.loads(out.getvalue())["include"]
    return found


def refused(*options: str) -> str:
    out, err = io.StringIO(), io.StringIO()
    assert main(["plan", *options], out, err) == 2
    assert (out.getvalue(), err.getvalue().count("\n")) == ("", 1)
    return err.getvalue()


@pytest.mark.usefixtures("project")
def test_a_job_for_each_shard_in_each_session() -> None:
    jobs = planned()
    assert jobs[0] == {"shard": "1/2", "session": 0, "sessions": 3, "name": "shard 1 of 2, session 0"}
    assert [(job["shard"], job["session"]) for job in jobs] == [(f"{i}/2", s) for s in range(3) for i in (1, 2)]
    assert len({job["name"] for job in jobs}) == len(jobs)
    assert [job["shard"] for job in planned("--shards", "4", "--sessions", "1")] == ["1/4", "2/4", "3/4", "4/4"]


@pytest.mark.usefixtures("project")
def test_a_pull_request_does_not_lay_out_its_own_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    # base plans neither shards nor sessions
    assert len(planned()) == 1


@pytest.mark.usefixtures("project")
def test_a_shard_has_a_benchmark_and_a_matrix_at_most_256_jobs() -> None:
    said = refused("--matrix", "--base", "HEAD~1", "--shards", "5")
    assert said.startswith("perfgate: --shards 5: both sides have 4 benchmarks together, too few for 5 shards")
    said = refused("--matrix", "--base", "HEAD~1", "--set", "plan.shards=5")
    assert said.startswith("perfgate: plan.shards = 5: both sides have 4 benchmarks")
    assert "4 shards x 64 sessions" not in said
    assert len(planned("--shards", "4", "--sessions", "64")) == 256


def test_more_jobs_than_a_matrix_has_are_refused(project: Project) -> None:
    project.write("perfgate.toml", config("abcdefgh"))
    project.commit("more")
    said = refused("--matrix", "--shards", "8", "--sessions", "40")
    assert said.startswith("perfgate: 8 shards x 40 sessions are 320 jobs, and a matrix has at most 256")


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--shards", "2"), "--shards: needs --matrix"),
        (("--head", "HEAD"), "--head: needs --matrix"),
        (("--matrix", ".perfgate"), "--matrix: cannot be used with RUN"),
        (("--matrix", "--budget", "5m"), "--matrix: cannot be used with --budget"),
        (("--matrix", "--shards", "0"), "'0' is not a whole number from 1 to 256"),
        (("--matrix", "--sessions", "65"), "'65' is not a whole number from 1 to 64"),
        (("--matrix", "--benchmark", "x*"), "--benchmark x*: matches none of"),
    ],
)
def test_what_does_not_go_together_is_one_line(options: tuple[str, ...], said: str) -> None:
    assert said in refused(*options)


def test_nothing_needs_to_be_there_to_compare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = repository(tmp_path / "first", {"perfgate.toml": config("ab", "shards = 2")})
    monkeypatch.chdir(made.top)
    monkeypatch.delenv("CI", raising=False)
    out = io.StringIO()
    assert main(["plan", "--matrix"], out, io.StringIO()) == 0
    assert [job["shard"] for job in json.loads(out.getvalue())["include"]] == ["1/2", "2/2"]
