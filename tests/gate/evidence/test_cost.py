"""Where the time of a run went, by its records."""

from typing import Any

from gate.evidence.cost import cost_of, spent
from gate.evidence.records import read
from gate.model import Cost, Record
from tests.support.lines import execution, text


def records(*lines: dict[str, Any]) -> list[Record]:
    return [located.record for located in read("a file", text(lines).encode()).records]


def build(side: str, number: int, seconds: float, **more: Any) -> dict[str, Any]:
    return {"type": "build", "side": side, "build": number, "seconds": seconds, **more}


BEGIN = {"type": "host", "when": "begin"}
BUILT = (
    build("base", 0, 20.0, setup=5.0, checked=1.0),
    build("head", 0, 22.0, setup=6.0, checked=1.5),
    build("base", 1, 1.0, relinked=True),
    build("head", 1, 2.0, relinked=True),
)
RAN = tuple(execution(side, [1.0], benchmark="b", seconds=3.0) for side in ("base", "head"))
LOOK = {"type": "look", "look": 1, "settled": [], "seconds": 0.5}


def end(**more: Any) -> dict[str, Any]:
    return {"type": "host", "when": "end", **more}


def test_a_set_up_that_failed_is_part_of_set_up() -> None:
    failed = {"type": "failure", "kind": "setup", "side": "head", "build": 0, "seconds": 4.0}
    assert (cost_of(records(failed)).setup, cost_of(records({**failed, "kind": "build"})).compile) == (4.0, 4.0)


def test_every_second_is_of_one_part() -> None:
    found = cost_of(records(BEGIN, *BUILT, *RAN, LOOK, end(seconds=80.0, probe=4.0)))
    assert found == Cost(
        setup=11.0, compile=42.0, link=5.5, probe=4.0, measure=6.0, decide=0.5, other=11.0, total=80.0,
        compiled=2, linked=2,
    )  # fmt: skip
    assert spent(found) == 80.0


def test_what_a_run_does_beside_its_steps_has_parts() -> None:
    aside = {
        "start": 1.0,
        "probe": 4.0,
        "keep": 2.0,
        "again": 0.5,
        "outside": 3.0,
        "trees": 0.25,
        "of a newer perfgate": 9.0,
    }
    found = cost_of(records(BEGIN, *BUILT, *RAN, LOOK, end(seconds=80.0, probe=4.0, aside=aside)))
    assert (found.start, found.keep, found.again, found.outside, found.trees) == (1.0, 2.0, 0.5, 3.0, 0.25)
    assert found.other == 11.0 - 6.75
    # what comes once is no part of what each execution costs
    assert (found.before, found.between) == (4.0 + 1.0 + 3.0, 11.0 - 6.75 + 0.5 + 0.25)
    # a run that was resumed has two ends
    twice = cost_of(records(BEGIN, *BUILT, end(seconds=70.0, aside=aside), BEGIN, *RAN, end(seconds=9.0, aside=aside)))
    assert (twice.start, twice.trees) == (2.0, 0.5)


def test_what_was_profiled_after_the_end_is_part_of_the_whole() -> None:
    profile = {
        "type": "profile", "benchmark": "b", "side": "base", "profiler": "perf", "unit": "s", "seconds": 3.0,
        "frames": [{"function": "f"}], "stacks": [{"frames": [0], "cost": 1.0}],
    }  # fmt: skip
    none = {"type": "unprofiled", "benchmark": "c", "kind": "failed", "seconds": 2.0}
    before = cost_of(records(BEGIN, *BUILT, *RAN, end(seconds=80.0)))
    found = cost_of(records(BEGIN, *BUILT, *RAN, end(seconds=80.0), profile, none))
    assert (found.profile, found.total, found.other) == (5.0, 85.0, before.other)


def test_a_part_of_a_run_that_was_killed_leaves_the_total_open() -> None:
    killed = cost_of(records(BEGIN, *BUILT[:2], BEGIN, *BUILT[2:], *RAN, end(seconds=9.0)))
    assert (killed.total, killed.other) == (None, None)
    assert spent(killed) == 11.0 + 42.0 + 5.5 + 6.0
    resumed = cost_of(records(BEGIN, *BUILT, end(seconds=70.0, probe=1.0), BEGIN, *RAN, end(seconds=9.0)))
    assert (resumed.total, resumed.probe) == (79.0, 1.0)


def test_what_failed_and_what_the_budget_cut_took_time_too() -> None:
    failed = {"type": "failure", "kind": "build", "side": "head", "build": 0, "status": "exit 1", "seconds": 7.0}
    assert cost_of(records(build("base", 0, 20.0), failed)).compile == 27.0
    cut = {"phase": "execution", "side": "base", "benchmark": "b", "build": 0, "execution": 0, "seconds": 2.0}
    assert cost_of(records(*RAN, end(stop="budget", rounds=0, cut=cut))).measure == 8.0
    setting_up = {"phase": "setup", "side": "base", "build": 0, "seconds": 2.0}
    assert cost_of(records(end(stop="budget", rounds=0, cut=setting_up))).setup == 2.0
    # the seconds of the probe are all its own
    comparing = {"phase": "comparison", "side": "base", "benchmark": "b", "build": 0, "execution": 0, "seconds": 2.0}
    found = cost_of(records(end(stop="budget", rounds=0, cut=comparing, probe=5.0)))
    assert (found.probe, found.measure) == (5.0, None)


def test_nothing_is_known_of_nothing() -> None:
    found = cost_of([])
    assert (found.total, spent(found)) == (None, None)
