"""How long the rest of a run takes, by the events of the loop."""

import pytest

from gate.run.progress import Pace
from harness.loop.events import (
    Event,
    LaidOut,
    LookTaken,
    ProbeFinished,
    RoundStarted,
    StepFinished,
    StepStarted,
)


def paced(*told: tuple[float, Event]) -> Pace:
    pace = Pace(0.0)
    for now, event in told:
        pace.take(event, now)
    return pace


def ran(benchmark: str | None, following: float | None = None, *, more: bool = False) -> StepFinished:
    return StepFinished("base", benchmark, None, {}, following, more=more)


BUILT = (
    (0.0, RoundStarted(0, 3, 4, 2, {"a": 6, "b": 6})),
    (0.0, StepStarted("base", None)),
    (20.0, ran(None, 1.0)),
    (40.0, ran(None, 1.0)),
)


def test_nothing_is_foretold_before_each_benchmark_ran() -> None:
    assert paced(*BUILT).remaining() is None
    assert paced(*BUILT, (41.0, ran("a"))).remaining() is None
    # 5 of a, 5 of b, and two later rounds of two builds that link as long as the check said
    assert paced(*BUILT, (41.0, ran("a")), (43.0, ran("b"))).remaining() == pytest.approx(5 + 5 * 2 + 4 * 1.0)
    # 2 of a, 2 of b and two links
    assert paced(*BUILT, (41.0, ran("a")), (43.0, ran("b"))).later_round() == pytest.approx(2 + 2 * 2 + 2 * 1.0)


def test_nothing_is_foretold_before_the_starts_are_counted() -> None:
    begun = ((0.0, RoundStarted(0, 3, 4, 2, {"a": 600}, counted=True)), *BUILT[1:], (41.0, ran("a")))
    assert paced(*begun).remaining() is None
    told = (42.0, ProbeFinished(0, 1, {"a": 599}))
    assert paced(*begun, told).remaining() is None
    assert paced(*begun, told, (42.0, LaidOut(executions=20, left={"a": 59}))).remaining() == pytest.approx(
        59 + 4 * 1.0
    )


def test_first_builds_do_not_count_for_later_ones() -> None:
    second = (
        (41.0, ran("a")),
        (43.0, ran("b")),
        (50.0, LookTaken(0, 2)),
        (50.0, RoundStarted(1, 3, 4, 2, {"a": 4, "b": 4})),
        (53.0, ran(None)),
    )
    # 4 of a, 4 of b; a build of this round, two of the next, 3 s each; a look after it
    assert paced(*BUILT, *second).remaining() == pytest.approx(4 + 8 + 3 * 3 + 7)


def test_what_the_probe_took_out_takes_no_time() -> None:
    proved = (46.0, ProbeFinished(1, 2, {"a": 6}))
    # perfgate's own work before the step belongs to it, the probe does not
    assert paced(*BUILT, proved, (46.5, StepStarted("base", "a")), (47.0, ran("a"))).remaining() == pytest.approx(
        5 * 1.0 + 4 * 1.0
    )
    assert paced(*BUILT, (46.0, ProbeFinished(2, 2, {}))).remaining() == 0
    # short turns are more executions, of another length
    short = (46.0, LaidOut(left={"a": 60}))
    assert paced(*BUILT, short, (46.0, StepStarted("base", "a")), (46.1, ran("a"))).remaining() == pytest.approx(
        59 * 0.1 + 4 * 1.0
    )


def test_starts_that_are_told_of_together_share_what_they_took() -> None:
    first = (44.0, ran("b", more=True))
    assert paced(*BUILT, (41.0, ran("a")), first).remaining() is None
    # 4 s for two of b: 4 are left
    assert paced(*BUILT, (41.0, ran("a")), first, (45.0, ran("b"))).remaining() == pytest.approx(5 + 4 * 2 + 4 * 1.0)
