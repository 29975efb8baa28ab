"""Stamps: which job's state and how late, read back wherever it was put."""

from __future__ import annotations

import pytest

from gate.github.stamp import Stamp, any_job_of, job_of, stamp_on

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
