"""Statuses of a commit: several jobs and runs write at once, and no later or other job's state is lost."""

from __future__ import annotations

import random
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from gate.github.comment import Posted
from gate.github.publishing.publish import _Status, set_status
from gate.github.stamp import Stamp, stamp_on
from gate.github.transport import Problem, Task
from tests.gate.github.test_comment_races import Order
from tests.gate.github.test_stamp import stamp
from tests.support.forge import FakeGitHub

HEAD = "a" * 40
URL = "https://github.example/run"


# --- in every order ---------------------------------------------------------------------------------------------------


class Actor:
    """A transport to a list of statuses in memory, which is read and written in turns."""

    def __init__(self, wall: list[_Status], order: Order, name: int) -> None:
        self.wall, self.order, self.name = wall, order, name
        self.patience = SimpleNamespace(settle=lambda: order.pause(name))

    def listed(self, *_: object) -> list[_Status]:
        self.order.turn(self.name)
        return list(self.wall)

    def send(self, _task: object, _method: str, _path: str, body: dict[str, Any], _kind: object) -> None:
        self.order.turn(self.name)
        self.wall.append(_Status(1 + len(self.wall), **body))


def race(stamps: dict[int, Stamp], choose: Callable[[list[int]], int]) -> tuple[list[_Status], dict[int, Posted]]:
    wall, placed = list[_Status](), dict[int, Posted]()
    if len({each.job for each in stamps.values()}) == 1:
        wall.append(_Status(1, "pending", "perfgate", "of before", stamp(1).on(URL)))
    order = Order(list(stamps), choose)

    def work(name: int) -> Callable[[], None]:
        def settled() -> None:
            forge: Any = SimpleNamespace(transport=Actor(wall, order, name), repository="acme/widget")
            placed[name] = set_status(forge, HEAD, "perfgate", stamps[name], "success", f"of {name}", URL)

        return settled

    order.run({name: work(name) for name in stamps})
    return wall, placed


def test_of_several_runs_the_newest_is_seen() -> None:
    for seed in range(100):
        stamps = {run: stamp(run) for run in ((2, 3) if seed % 3 else (2, 3, 4))}
        wall, placed = race(stamps, random.Random(seed).choice)
        newest = max(stamps)
        assert wall[-1].description == f"of {newest}", seed
        assert placed[newest].did == "updated"


def test_of_two_jobs_with_one_name_exactly_one_is_refused_and_the_other_is_seen() -> None:
    for seed in range(100):
        stamps = {2: stamp(2, job="a.yml/b/linux"), 3: stamp(2, job="a.yml/b/mac")}
        wall, placed = race(stamps, random.Random(seed).choice)
        refused = [name for name, each in placed.items() if each.did == "taken"]
        assert len(refused) == 1, seed
        [kept] = set(stamps) - set(refused)
        assert wall[-1].description == f"of {kept}", seed
        assert placed[refused[0]].by == stamps[kept]


# --- on GitHub --------------------------------------------------------------------------------------------------------


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
