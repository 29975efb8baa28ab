"""Stamps: which job's state and how late, read back wherever it was put; and the statuses that carry them."""

from typing import Any

import pytest

from gate.github.comment import Stamp, any_job_of, job_of, set_status, stamp_on
from gate.github.transport import Problem, Task
from tests.support.forge import FakeGitHub

URL = "https://github.example/acme/widget/actions/runs/5"


def stamp(
    run: int = 5, attempt: int = 1, *, by: tuple[int, int] | None = None, job: str = "a.yml/b", use: str = "u"
) -> Stamp:
    """Make a stamp; by: what decided, if not what measured."""
    by_run, by_attempt = by or (run, attempt)
    return Stamp(run=run, attempt=attempt, by_run=by_run, by_attempt=by_attempt, job=job, use=use)


@pytest.mark.parametrize(
    "one", [stamp(), stamp(10**17, 999, by=(10**17, 9)), stamp(job="a%20b.yml/c/%7B%22x%22%3A1%7D"), stamp(job="*/*")]
)
def test_a_stamp_is_read_back_from_addresses(one: Stamp) -> None:
    assert one.on(URL).partition("#")[0] == URL
    assert stamp_on(one.on(URL)) == one


@pytest.mark.parametrize(
    "address", ["", URL, f"{URL}#artifacts", f"{URL}#perfgate&run=5", f"{URL}#other&{stamp().text}"]
)
def test_an_address_without_a_stamp_has_none(address: str) -> None:
    assert stamp_on(address) is None


def environment(file: str = "perfgate.yml", job: str = "bench") -> dict[str, str]:
    return {"GITHUB_WORKFLOW_REF": f"acme/widget/.github/workflows/{file}@refs/pull/7/merge", "GITHUB_JOB": job}


def test_a_job_is_its_workflow_its_id_and_its_leg() -> None:
    assert job_of(environment()) == "perfgate.yml/bench"
    assert job_of(environment(), "linux_3.12") == "perfgate.yml/bench/linux_3.12"
    assert job_of({"GITHUB_WORKFLOW": "my gate", "GITHUB_JOB": "b"}) == "my%20gate/b"
    assert job_of({}) == "*/*"
    names = [job_of(environment(job="j" * 300 + end)) for end in ("a", "b")]
    assert names[0] != names[1] and all(stamp_on(stamp(job=name).on(URL)) for name in names)
    # a name is no pattern
    assert "*" not in job_of({"GITHUB_WORKFLOW": "*", "GITHUB_JOB": "*"})


OURS = stamp(5, 2)


@pytest.mark.parametrize(
    ("other", "relation"),
    [
        (stamp(5, 1), "ours"),
        (stamp(4, 9), "ours"),
        (OURS, "ours"),
        (stamp(5, 2, by=(7, 1)), "newer"),
        (stamp(5, 3), "newer"),
        (stamp(6, 1), "newer"),
        # a second use of the action in the same job
        (stamp(5, 2, use="v"), "taken"),
        (stamp(5, 1, job="a.yml/c"), "taken"),
        (stamp(5, 2, job="a.yml/b/leg"), "taken"),
        (stamp(4, 1, job="c.yml/b"), "taken"),
        (stamp(6, 1, job="c.yml/b"), "taken"),
    ],
)
def test_what_another_state_of_the_commit_is(other: Stamp, relation: str) -> None:
    assert OURS.against(other, same_commit=True) == relation


def test_on_another_commit_a_job_may_have_been_renamed() -> None:
    assert OURS.against(stamp(4, 1, job="a.yml/old"), same_commit=False) == "ours"
    assert OURS.against(stamp(6, 1, job="a.yml/new"), same_commit=False) == "newer"
    assert OURS.against(stamp(5, 1, job="a.yml/c"), same_commit=False) == "taken"


def test_what_is_published_of_a_run_is_that_run_s() -> None:
    """A fork's run is published by another workflow, which knows the file of the run."""
    measured = stamp(5, 2, job=job_of(environment()))
    for path, relation in (("perfgate.yml", "ours"), ("", "ours"), ("other.yml", "taken")):
        published = stamp(5, 2, by=(9, 1), job=any_job_of(path and f".github/workflows/{path}"))
        assert published.against(measured, same_commit=True) == relation


# --- statuses that carry them -----------------------------------------------------------------------------------------


HEAD = "a" * 40


def put(github: FakeGitHub, state: Any, by: Stamp, *, context: str = "perfgate", said: str = "x") -> str:
    return set_status(github.client(), HEAD, context, by, state, said, URL).did


def states(github: FakeGitHub) -> list[str]:
    return [each["state"] for each in github.statuses]


def test_a_status_says_what_it_is_told(github: FakeGitHub) -> None:
    put(github, "pending", stamp(1), said="a b")
    [made] = github.statuses
    assert (made["sha"], made["state"], made["context"], made["description"]) == (HEAD, "pending", "perfgate", "a b")
    assert (made["target_url"].partition("#")[0], stamp_on(made["target_url"])) == (URL, stamp(1))
    assert put(github, "pending", stamp(1), context="Perfgate") == "updated"
    assert len(github.statuses) == 1, "what is there is not set again"


def test_what_somebody_else_set_is_replaced_and_other_names_do_not_matter(github: FakeGitHub) -> None:
    post = github.client().transport.send
    for context in ("perfgate", "perfgate/x"):
        body = {"state": "success", "context": context, "target_url": stamp(9).on(URL) if "x" in context else URL}
        post(Task("set", ""), "POST", f"/repos/acme/widget/statuses/{HEAD}", body, dict[str, Any])
    assert put(github, "failure", stamp(5)) == "updated"
    assert (github.statuses[-1]["context"], states(github)[-1]) == ("perfgate", "failure")


def test_a_status_that_is_not_taken(github: FakeGitHub) -> None:
    github.fail("POST", "/statuses/", 502, times=None)
    with pytest.raises(Problem, match="cannot set the status of aaaaaaaaaaaa: GitHub answers with 502"):
        put(github, "success", stamp(1))
    github.faults.clear()
    github.permissions["statuses"] = "read"
    with pytest.raises(Problem) as caught:
        put(github, "success", stamp(1))
    assert caught.value.permission == "statuses: write"
    assert github.statuses == []
