"""Statuses and check runs: several jobs and runs write at once, and no later or other job's state is lost."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from gate.github.client import Forge
from gate.github.problems import Problem, Task
from gate.github.publishing.commit import Check, Entry, Placed, Status, set_status, settle, show_check
from gate.github.stamp import Stamp, parse, read_address
from tests.gate.github.test_comment_races import Order
from tests.support.forge import FakeGitHub
from tests.support.forge.clock import hurried

HEAD = "a" * 40
URL = "https://github.example/run"


@dataclass(frozen=True)
class Shows:
    state: str


def stamp(run: int, *, attempt: int = 1, job: str = "a.yml/b", use: str = "u") -> Stamp:
    return Stamp(run=run, attempt=attempt, by_run=run, by_attempt=attempt, job=job, use=use)


# --- in every order ---------------------------------------------------------------------------------------------------


@dataclass
class Wall:
    """A list of states in memory; patches: whether an entry can be changed, as a check run can."""

    patches: bool
    entries: list[Entry[Shows]] = field(default_factory=list)


@dataclass
class Actor:
    wall: Wall
    order: Order
    name: int

    def read(self) -> list[Entry[Shows]]:
        self.order.turn(self.name)
        return list(reversed(self.wall.entries))

    def write(self, stamp: Stamp, shows: Shows, over: Entry[Shows] | None) -> None:
        self.order.turn(self.name)
        if over is not None and self.wall.patches:
            place = next(i for i, each in enumerate(self.wall.entries) if each.id == over.id)
            self.wall.entries[place] = Entry(over.id, stamp, shows)
        else:
            self.wall.entries.append(Entry(1 + len(self.wall.entries), stamp, shows))


def race(stamps: dict[int, Stamp], patches: bool, choose: Callable[[list[int]], int]) -> tuple[Wall, dict[int, Placed]]:
    before = [Entry(1, stamp(1), Shows("of before"))] if len({each.job for each in stamps.values()}) == 1 else []
    wall, placed = Wall(patches, before), dict[int, Placed]()
    order = Order(list(stamps), choose)

    def work(name: int) -> Callable[[], None]:
        def settled() -> None:
            actor = Actor(wall, order, name)
            placed[name] = settle(actor, stamps[name], Shows(f"of {name}"), lambda: order.pause(name))

        return settled

    order.run({name: work(name) for name in stamps})
    return wall, placed


@pytest.mark.parametrize("patches", [False, True])
def test_of_several_runs_the_newest_is_seen(patches: bool) -> None:
    for seed in range(300):
        stamps = {run: stamp(run) for run in ((2, 3) if seed % 3 else (2, 3, 4))}
        wall, placed = race(stamps, patches, random.Random(seed).choice)
        newest = max(stamps)
        assert wall.entries[-1].shows.state == f"of {newest}", seed
        assert placed[newest].did == "set"


@pytest.mark.parametrize("patches", [False, True])
def test_of_two_jobs_with_one_name_exactly_one_is_refused_and_the_other_is_seen(patches: bool) -> None:
    for seed in range(300):
        stamps = {2: stamp(2, job="a.yml/b/linux"), 3: stamp(2, job="a.yml/b/mac")}
        wall, placed = race(stamps, patches, random.Random(seed).choice)
        refused = [name for name, each in placed.items() if each.did == "taken"]
        assert len(refused) == 1, seed
        [kept] = set(stamps) - set(refused)
        assert wall.entries[-1].shows.state == f"of {kept}", seed
        assert placed[refused[0]].by == stamps[kept]


# --- on GitHub --------------------------------------------------------------------------------------------------------


@pytest.fixture
def github(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeGitHub]:
    with FakeGitHub() as made:
        hurried(monkeypatch, made)
        yield made
        assert made.violations == []


def forge(github: FakeGitHub) -> Forge:
    return Forge(api_url=github.url, token=github.token, repository="acme/widget", patience=600)


def put(
    github: FakeGitHub, state: Any, by: Stamp, *, sha: str = HEAD, context: str = "perfgate", said: str = "x"
) -> str:
    return set_status(forge(github), sha, context, by, Status(state, said, URL)).did


def states(github: FakeGitHub) -> list[str]:
    return [each["state"] for each in github.statuses]


def test_a_status_says_what_it_is_told(github: FakeGitHub) -> None:
    put(github, "pending", stamp(1), context="y" * 300, said=f"a\nb {'x' * 200}")
    [made] = github.statuses
    assert (made["sha"], made["state"], made["context"]) == (HEAD, "pending", "y" * 254 + "…")
    assert made["description"] == f"a b {'x' * 135}…" and len(made["description"]) == 140
    found = read_address(made["target_url"])
    assert (found.plain, found.stamp) == (URL, stamp(1))
    assert put(github, "pending", stamp(1), context="Y" * 300, said="x") == "set"
    assert len(github.statuses) == 1, "what is there is not set again"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (stamp(6), stamp(5)),
        (stamp(5, attempt=2), stamp(5)),
        # of a cancelled run, of another attempt of it, beside a newer run on the same commit
        (stamp(6), stamp(5, attempt=2)),
    ],
)
def test_an_older_state_never_replaces_a_newer_one(github: FakeGitHub, first: Stamp, second: Stamp) -> None:
    put(github, "failure", first)
    assert put(github, "success", second) == "older"
    assert states(github) == ["failure"]
    show(github, "failure", first)
    assert show(github, "success", second) == "older"
    assert [each["conclusion"] for each in github.checks] == ["failure"]


@pytest.mark.parametrize("other", [stamp(5, job="a.yml/c"), stamp(5, use="v"), stamp(9, job="c.yml/b")])
def test_another_job_s_red_stays_red(github: FakeGitHub, other: Stamp) -> None:
    put(github, "failure", stamp(5))
    assert put(github, "success", other) == "taken"
    assert states(github) == ["failure"]
    show(github, "failure", stamp(5))
    assert show(github, "success", other) == "taken"
    assert show(github, None, other) == "taken"
    assert [each["conclusion"] for each in github.checks] == ["failure"]


def test_what_somebody_else_set_is_replaced_and_other_names_do_not_matter(github: FakeGitHub) -> None:
    post = forge(github).transport.send
    for context in ("perfgate", "perfgate/x"):
        body = {"state": "success", "context": context, "target_url": stamp(9).on(URL) if "x" in context else URL}
        post(Task("set", ""), "POST", f"/repos/acme/widget/statuses/{HEAD}", body, dict[str, Any])
    assert put(github, "failure", stamp(5)) == "set"
    assert (github.statuses[-1]["context"], states(github)[-1]) == ("perfgate", "failure")


@pytest.mark.parametrize("what", ["cut-after", "cut", 502, 429])
def test_a_status_is_set_once_in_trouble_too(github: FakeGitHub, what: int | str) -> None:
    put(github, "pending", stamp(4))
    github.fail("POST", "/statuses/", what)
    assert put(github, "success", stamp(5)) == "set"
    assert states(github) == ["pending", "success"]


def test_a_status_that_is_not_taken(github: FakeGitHub) -> None:
    with pytest.raises(Problem, match="that is not a full commit id"):
        put(github, "success", stamp(1), sha="../../x")
    github.fail("POST", "/statuses/", 502, times=None)
    with pytest.raises(Problem, match="cannot set the status of aaaaaaaaaaaa: GitHub answers with 502"):
        put(github, "success", stamp(1))
    github.faults.clear()
    github.permissions["statuses"] = "read"
    with pytest.raises(Problem) as caught:
        put(github, "success", stamp(1))
    assert caught.value.permission == "statuses: write"
    assert github.statuses == []


# --- check runs -------------------------------------------------------------------------------------------------------


def show(github: FakeGitHub, conclusion: str | None, by: Stamp, name: str = "perfgate") -> str:
    return show_check(forge(github), HEAD, name, by, Check(conclusion, "title", "summary", URL)).did


def seen(github: FakeGitHub) -> tuple[str, str | None]:
    """What GitHub shows of several check runs of one name."""
    last = github.checks[-1]
    return last["status"], last["conclusion"]


def test_a_check_is_in_progress_and_then_concluded(github: FakeGitHub) -> None:
    assert show(github, None, stamp(5)) == "set"
    assert seen(github) == ("in_progress", None)
    assert show(github, "success", stamp(5)) == "set"
    [check] = github.checks
    assert (check["status"], check["conclusion"], check["head_sha"]) == ("completed", "success", HEAD)
    assert parse(check["external_id"]) == stamp(5)
    # a new run begins anew
    assert show(github, None, stamp(6)) == "set"
    assert seen(github) == ("in_progress", None) and len(github.checks) == 2


def test_an_older_run_that_opened_its_check_later_hides_nothing(github: FakeGitHub) -> None:
    show(github, None, stamp(6))
    assert show(github, None, stamp(5)) == "older"
    assert show(github, "success", stamp(5)) == "older"
    show(github, "failure", stamp(6))
    assert seen(github) == ("completed", "failure")


def test_the_older_run_s_conclusion_is_not_seen_beside_the_newer_one(github: FakeGitHub) -> None:
    show(github, None, stamp(5))
    show(github, None, stamp(6))
    assert show(github, "success", stamp(5)) == "older"
    assert seen(github) == ("in_progress", None)


def test_a_killed_run_s_check_is_hidden_by_its_next_attempt(github: FakeGitHub) -> None:
    show(github, None, stamp(5))
    show(github, None, stamp(5, attempt=2))
    assert show(github, "failure", stamp(5, attempt=2)) == "set"
    assert seen(github) == ("completed", "failure")


def test_a_copy_of_our_check_is_concluded_with_it(github: FakeGitHub) -> None:
    """Another run had hidden ours, and put a copy over its own."""
    show(github, None, stamp(6))
    github.checks.append({**github.checks[0], "id": 9999})
    show(github, "failure", stamp(6))
    assert {each["conclusion"] for each in github.checks} == {"failure"}


def test_a_check_without_the_permission(github: FakeGitHub) -> None:
    del github.permissions["checks"]
    with pytest.raises(Problem) as caught:
        show(github, None, stamp(5))
    assert caught.value.permission == "checks: write"
