"""Several runs publish at once: in every order of their requests one comment and one status are left, of the newest."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec.structs import replace

from gate.github.comment import Comment, Conversation, Marker, Posted, User, settle
from gate.github.publishing.publish import _Status, set_status
from gate.github.stamp import Stamp
from tests.gate.github.test_stamp import stamp

HEAD, URL = "a" * 40, "https://github.example/run"
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


class Statuses:
    """A transport to a list of statuses in memory."""

    def __init__(self, wall: list[_Status], order: Order, name: int) -> None:
        self.wall, self.order, self.name = wall, order, name
        self.patience = SimpleNamespace(settle=lambda: order.pause(name))

    def listed(self, *_: object) -> list[_Status]:
        self.order.turn(self.name)
        return list(self.wall)

    def send(self, _task: object, _method: str, _path: str, body: dict[str, Any], _kind: object) -> None:
        self.order.turn(self.name)
        self.wall.append(_Status(1 + len(self.wall), **body))


Choose = Callable[[list[int]], int]


def race(wall: Wall | list[_Status], stamps: dict[int, Stamp], choose: Choose) -> dict[int, Posted]:
    """Let several publish at once on a wall."""
    order, posted = Order(list(stamps), choose), dict[int, Posted]()

    def publish(name: int) -> Callable[[], None]:
        def work() -> None:
            if isinstance(wall, Wall):
                talk, own = cast("Conversation", Actor(wall, order, name)), Marker("gate", HEAD, stamps[name])
                posted[name] = settle(talk, own, f"body of {name}", lambda: order.pause(name))
            else:
                forge: Any = SimpleNamespace(transport=Statuses(wall, order, name), repository="acme/widget")
                posted[name] = set_status(forge, HEAD, "gate", stamps[name], "success", f"body of {name}", URL)

        return work

    order.run({name: publish(name) for name in stamps})
    assert set(posted) == set(stamps)
    return posted


def commented(before: list[tuple[str, str]], runs: list[int], choose: Choose) -> Wall:
    """Let runs comment at once on a wall that has comments already: (author, body)."""
    wall = Wall()
    for author, body in before:
        wall.add(body, author)
    assert race(wall, {run: stamp(run) for run in runs}, choose)[max(runs)].did != "older"
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

        yield commented(before, runs, choose)
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
        check(commented(before, runs, random.Random(seed).choice), before, newest=runs[-1])


def test_of_several_runs_the_newest_status_is_seen() -> None:
    for seed in range(100):
        stamps = {run: stamp(run) for run in ((2, 3) if seed % 3 else (2, 3, 4))}
        wall = [_Status(1, "pending", "gate", "of before", stamp(1).on(URL))]
        placed = race(wall, stamps, random.Random(seed).choice)
        assert (wall[-1].description, placed[max(stamps)].did) == (f"body of {max(stamps)}", "updated"), seed


def test_of_two_jobs_with_one_name_exactly_one_is_refused_and_the_other_is_seen() -> None:
    stamps = {1: stamp(7, job="a.yml/b/linux"), 2: stamp(7, job="a.yml/b/mac")}
    for seed in range(200):
        wall: Wall | list[_Status] = Wall() if seed % 2 else []
        posted = race(wall, stamps, random.Random(seed).choice)
        [(refused, told)] = [(name, each) for name, each in posted.items() if each.did == "taken"]
        kept = 3 - refused
        assert told.by == stamps[kept], seed
        if isinstance(wall, Wall):
            assert wall.visible() == [f"{Marker('gate', HEAD, stamps[kept]).text}\nbody of {kept}"], seed
            # it holds the result of one job only, so it supersedes nothing of the other's
            assert not any(one.text.startswith("Superseded") for one in wall.comments), seed
        else:
            assert wall[-1].description == f"body of {kept}", seed
