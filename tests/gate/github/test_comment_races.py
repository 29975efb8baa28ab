"""Several runs publish at once: in every order of their requests one comment is left, and it shows the newest run."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import cast

import pytest
from msgspec.structs import replace

from gate.github.comment import Comment, Conversation, Marker, Posted, User, settle
from tests.gate.github.test_stamp import stamp

HEAD = "a" * 40
ME, OTHER = "github-actions[bot]", "mallory"


def marker(run: int, job: str = "a.yml/b") -> Marker:
    return Marker("gate", HEAD, stamp(run, job=job))


def text(run: int) -> str:
    return f"{marker(run).text}\nbody of {run}"


def author(comment: Comment) -> str:
    return comment.user.login if comment.user else ""


@dataclass
class Wall:
    """The comments of a pull request in memory, for requests that arrive one after the other."""

    comments: list[Comment] = field(default_factory=list)

    def add(self, body: str, author: str = ME) -> Comment:
        number = 1 + max((one.id for one in self.comments), default=0)
        made = Comment(number, f"#{number}", body, User(author, "Bot" if author == ME else "User"))
        self.comments.append(made)
        return made

    def visible(self) -> list[str]:
        gone = ("Superseded by #", "Not shown here, since another job has the same name: #")
        return [one.text for one in self.comments if author(one) == ME and not one.text.startswith(gone)]


class Order:
    """Lets one of several threads at a time do one request, in an order that choose(the ready ones) decides."""

    def __init__(self, names: list[int], choose: Callable[[list[int]], int]) -> None:
        self.turns = {name: threading.Semaphore(0) for name in names}
        self.back = threading.Semaphore(0)
        self.done = dict.fromkeys(names, 0)
        self.alive = set(names)
        self.waiting: dict[int, dict[int, int]] = {}
        self.choose = choose

    def turn(self, name: int) -> None:
        """Wait for a turn; what follows is the request."""
        self.back.release()
        self.turns[name].acquire()
        self.done[name] += 1

    def pause(self, name: int) -> None:
        """Wait until each other one has done the request that it is at: that is all a pause promises."""
        self.waiting[name] = {other: self.done[other] + 1 for other in self.alive if other != name}
        self.turn(name)

    def ready(self) -> list[int]:
        stuck = {name for name in self.waiting if name in self.alive}
        free = [
            name
            for name in sorted(self.alive)
            if all(
                self.done[other] >= count or other not in self.alive or other in stuck
                for other, count in self.waiting.get(name, {}).items()
            )
        ]
        return free or sorted(self.alive)

    def run(self, works: dict[int, Callable[[], None]]) -> None:
        def guarded(name: int, work: Callable[[], None]) -> None:
            try:
                self.turn(name)
                work()
            finally:
                self.alive.discard(name)
                self.back.release()

        threads = [threading.Thread(target=guarded, args=item, daemon=True) for item in works.items()]
        for thread in threads:
            thread.start()
            self.back.acquire()
        while self.alive:
            name = self.choose(self.ready())
            self.waiting.pop(name, None)
            self.turns[name].release()
            self.back.acquire()
        for thread in threads:
            thread.join()


@dataclass
class Actor:
    """One run's view of the wall."""

    wall: Wall
    order: Order
    name: int

    def comments(self) -> list[Comment]:
        self.order.turn(self.name)
        return list(self.wall.comments)

    def comment(self, number: int) -> Comment | None:
        self.order.turn(self.name)
        return next((one for one in self.wall.comments if one.id == number), None)

    def create(self, body: str) -> Comment:
        self.order.turn(self.name)
        return self.wall.add(body)

    def edit(self, number: int, body: str) -> bool:
        self.order.turn(self.name)
        places = [place for place, one in enumerate(self.wall.comments) if one.id == number]
        for place in places:
            self.wall.comments[place] = replace(self.wall.comments[place], body=body)
        return bool(places)

    def is_mine(self, comment: Comment) -> bool:
        return author(comment) == ME


def race(before: list[tuple[str, str]], runs: list[int], choose: Callable[[list[int]], int]) -> Wall:
    """Let runs publish at once on a wall that has comments already: (author, body)."""
    wall = Wall()
    for author, body in before:
        wall.add(body, author)
    order = Order(runs, choose)
    posted: dict[int, Posted] = {}

    def publish(run: int) -> Callable[[], None]:
        def work() -> None:
            actor = Actor(wall, order, run)
            posted[run] = settle(cast("Conversation", actor), marker(run), f"body of {run}", lambda: order.pause(run))

        return work

    order.run({run: publish(run) for run in runs})
    assert set(posted) == set(runs)
    assert posted[max(runs)].did != "older"
    return wall


def all_orders(before: list[tuple[str, str]], runs: list[int], most: int) -> Iterator[Wall]:
    """Go through all orders, each once: the last choice that could have been another one is, until none could."""
    prefix: list[int] = []
    for _ in range(most):
        taken: list[tuple[int, int]] = []

        def choose(ready: list[int], taken: list[tuple[int, int]] = taken, prefix: list[int] = prefix) -> int:
            place = prefix[len(taken)] if len(taken) < len(prefix) else 0
            taken.append((place, len(ready)))
            return ready[place]

        yield race(before, runs, choose)
        while taken and taken[-1][0] + 1 == taken[-1][1]:
            taken.pop()
        if not taken:
            return
        prefix = [place for place, _ in taken]
        prefix[-1] += 1
    raise AssertionError(f"more than {most} orders")


STARTS = {
    "no comment": [],
    "an older run's": [(ME, text(1))],
    "somebody quotes it": [(OTHER, text(9)), (ME, f"> {text(9)}")],
    "two of ours": [(ME, text(2)), (OTHER, "hm"), (ME, text(1))],
}


def check(wall: Wall, before: list[tuple[str, str]], newest: int) -> None:
    """See that one comment is left with a marker, that it shows the newest run, and that others' are untouched."""
    assert [body for body in wall.visible() if not body.startswith(">")] == [text(newest)]
    others = [body for author, body in before if author == OTHER]
    assert [one.text for one in wall.comments if author(one) == OTHER] == others


@pytest.mark.promise
@pytest.mark.parametrize("before", STARTS.values(), ids=STARTS)
def test_two_runs_in_every_order(before: list[tuple[str, str]]) -> None:
    for wall in all_orders(before, [3, 4], most=40_000):
        check(wall, before, newest=4)


@pytest.mark.parametrize("before", STARTS.values(), ids=STARTS)
def test_runs_in_many_orders(before: list[tuple[str, str]]) -> None:
    for seed in range(100):
        runs = [3, 4] if seed % 3 else [3, 4, 5]
        wall = race(before, runs, random.Random(seed).choice)
        check(wall, before, newest=runs[-1])


def test_of_two_jobs_with_one_name_exactly_one_is_refused_and_the_other_is_seen() -> None:
    jobs = {1: "a.yml/b/linux", 2: "a.yml/b/mac"}
    for seed in range(100):
        wall, posted = Wall(), dict[int, Posted]()
        order = Order(list(jobs), random.Random(seed).choice)

        def publish(name: int, wall: Wall = wall, order: Order = order, posted: dict[int, Posted] = posted) -> None:
            actor, mine = Actor(wall, order, name), marker(7, jobs[name])
            posted[name] = settle(cast("Conversation", actor), mine, f"of {name}", lambda: order.pause(name))

        order.run({name: lambda name=name: publish(name) for name in jobs})  # type: ignore[misc]  # bound at once
        refused = [name for name, each in posted.items() if each.did == "taken"]
        assert len(refused) == 1, seed
        [kept] = set(jobs) - set(refused)
        assert wall.visible() == [f"{marker(7, jobs[kept]).text}\nof {kept}"], seed
        # it holds the result of one job only, so it supersedes nothing of the other's
        assert not any(one.text.startswith("Superseded") for one in wall.comments), seed
