"""What is shown while a run measures, and how long the rest of it takes."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable
from typing import Any, TextIO, TypeVar

import pytest

from gate.model import SIDES, Turn, Unproved
from gate.run import live_lines
from gate.run.live_lines import Live, Steps, bar_line
from gate.run.progress import Pace, Progress
from gate.writing.plain import columns
from harness.loop.events import (
    Event,
    LaidOut,
    LookTaken,
    ProbeFinished,
    RoundStarted,
    StepFinished,
    StepStarted,
)
from tests.support.screen import Terminal

WIDTHS = [10, 25, 45, 60, 80, 120, 200]


@pytest.fixture(autouse=True)
def person(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal of a person."""
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("TERM", "xterm")


def wide(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setattr(live_lines, "_columns", lambda _: width)


def two_rounds() -> list[Event]:
    found: list[Event] = []
    for build, left in ((0, 6), (1, 4)):
        found.append(RoundStarted(build, 3, 2, 2, {"parse": left}))
        for side in SIDES:
            for what in (None, "parse"):
                found += [StepStarted(side, what), StepFinished(side, what, None)]
    return found


S = TypeVar("S", bound=TextIO)


def shown(stream: S, events: Iterable[Event], *, close: bool = True, **options: Any) -> S:
    """Show events on a stream."""
    progress = Progress(stream, **options)
    for event in events:
        progress(event)
    if close:
        progress.close()
    return stream


def logged(*events: Event, **options: Any) -> list[str]:
    lines = shown(io.StringIO(), events, **options).getvalue().splitlines()
    assert all(line.startswith("perfgate: ") for line in lines)
    return [line.removeprefix("perfgate: ") for line in lines]


def test_why_a_benchmark_is_measured_is_said_at_once() -> None:
    why = {name: Unproved(kind="changed", path="README.md") for name in "abcde"}
    assert logged(ProbeFinished(1, 6, {}, why)) == [
        "1 of 6 run the same program on the same data: not measured",
        *(f"{name} is measured: README.md, which it opens or looks at, differs" for name in "abc"),
        "2 more benchmarks are measured: the report says why",
    ]


def test_how_short_turns_are_is_said_before_they_are_taken() -> None:
    few = [Turn(benchmark=name, executions=10, iterations=1, starting=0.04) for name in "abcd"]
    said = "by turns of 1 value (starting takes 4% of the time)"
    assert logged(LaidOut(few), LaidOut()) == [*(f"{name}: {said}" for name in "abc"), f"1 more benchmark: {said}"]


@pytest.mark.parametrize(
    ("event", "running"),
    [
        (StepStarted("base", None), "building base"),
        (StepStarted("head", "parse", {"clients": 8}), "parse (clients=8) on head"),
    ],
)
def test_a_terminal_shows_the_round_and_the_step(event: Event, running: str) -> None:
    terminal = shown(Terminal(), [RoundStarted(0, 3, 4, 2, {"parse": 6}), event], close=False)
    bar, below = terminal.screen.lines
    assert bar.startswith("round 1 of 3  ───") and bar.endswith("  0%")
    assert below == f"  running  {running}"


@pytest.mark.parametrize("width", WIDTHS)
def test_no_line_reaches_the_end_of_the_terminal(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    wide(monkeypatch, width)
    last = StepStarted("head", "a benchmark with a 長い name that goes on and on and on")
    terminal = shown(Terminal(), [*two_rounds(), last], close=False, budget=lambda: 900.0, early=True)
    assert all(columns(line) < width for line in terminal.getvalue().split("\x1b[J")[-1].rstrip("\r").split("\n"))


def test_a_plan_that_fills_its_budget_has_no_number_of_rounds() -> None:
    text = "\n".join(logged(*two_rounds(), budget=lambda: 30.0, early=True, fills=True))
    assert "round 2: " in text
    assert " of 3" not in text and "rounds" not in text and "would take" not in text


def test_lines_stay_above_the_block_and_nothing_else_is_left() -> None:
    terminal = shown(Terminal(), [*two_rounds(), LookTaken(1, 2), StepStarted("base", None)])
    assert terminal.screen.lines == ["perfgate: round 2 of 3: 1 benchmark decided, 2 still open", ""]
    assert terminal.screen.column == 0
    # a cursor that is hidden would stay so after kill -9
    assert "\x1b[?25" not in terminal.getvalue()


@pytest.mark.parametrize(("before", "after"), [(80, 40), (40, 80), (120, 25)])
def test_a_block_that_the_terminal_wraps_anew_is_erased_whole(
    before: int, after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Terminal()
    wide(monkeypatch, before)
    block = Live(terminal)
    block.show("x" * 79, "y" * 30, "z" * 5)
    wide(monkeypatch, after)
    begun = len(terminal.getvalue())
    block.close()
    lines = [min(79, before - 1), min(30, before - 1)]
    assert terminal.getvalue()[begun:] == f"\r\x1b[{sum(-(-each // after) for each in lines)}A\x1b[J"


@pytest.mark.parametrize(("name", "value"), [("CI", "true"), ("TERM", "dumb"), ("TERM", "")])
def test_what_is_no_persons_terminal_gets_plain_lines(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)
    terminal, log = (shown(stream, two_rounds()) for stream in (Terminal(), io.StringIO()))
    assert "\x1b" not in terminal.getvalue() and "\r" not in terminal.getvalue()
    assert log.getvalue().startswith("perfgate: round 1 of 3: 2 starts\n")
    assert terminal.getvalue() == log.getvalue()


def test_a_terminal_without_unicode_gets_ascii() -> None:
    class Ascii(Terminal):
        encoding = "ascii"

    terminal = Ascii()
    Live(terminal).show(bar_line("try", 0.5, "", 60), "  running  naïve on head")
    assert terminal.getvalue().isascii()
    assert "####" in terminal.getvalue() and "----" in terminal.getvalue()


def test_quiet_shows_nothing_and_one_of_many_only_a_block() -> None:
    events = [*two_rounds(), LookTaken(1, 0)]
    many = shown(Terminal(), events, close=False, lines=False, title="1a2b3c")
    assert shown(Terminal(), events, quiet=True).getvalue() == ""
    assert logged(*events, lines=False) == []
    assert many.screen.lines[0].startswith("1a2b3c: round 2 of 3  ━━")


def test_steps_are_counted_on_a_terminal_and_lines_elsewhere() -> None:
    terminal, log = Terminal(), io.StringIO()
    for stream in (terminal, log):
        steps = Steps(Live(stream), "try", 3)
        steps("building head")
        steps("trying parse")
    assert log.getvalue() == "perfgate: building head\nperfgate: trying parse\n"
    bar, running = terminal.screen.lines
    assert bar.startswith("try  ━━━") and bar.endswith(" 33%  step 2 of 3")
    assert running == "  running  trying parse"


@pytest.mark.skipif(sys.platform == "win32", reason="a pseudo terminal")
def test_the_width_is_that_of_the_stream_not_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl
    import pty
    import struct
    import termios

    monkeypatch.setenv("COLUMNS", "300")
    ours, theirs = pty.openpty()
    fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 61, 0, 0))
    with os.fdopen(theirs, "w") as stream:
        assert Live(stream).width == 60
    os.close(ours)


@pytest.mark.parametrize(
    ("left", "said"),
    [
        # a minute of builds, ten seconds of one execution: a later round takes 20 s of two, and 10 s of two links
        (200.0, "3 min 10 s left at most, 4 min 20 s for 7 rounds in all"),
        (80.0, ("warning: the budget of 2 min 30 s holds 3 rounds, and 5 are needed, judging by the first one "
         "(3 min 20 s): set `--set plan.budget=4m`, or measure less")),
        (5.0, ("warning: the budget of 1 min 15 s holds no round, and 5 are needed, judging by the first one "
         "(3 min 20 s): set `--set plan.budget=4m`, or measure less")),
    ],
)  # fmt: skip
def test_a_budget_of_too_few_rounds_is_told_in_the_first(
    left: float, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr("gate.run.progress.time.monotonic", lambda: now[0])
    log = io.StringIO()
    progress = Progress(log, budget=lambda: left, early=True, fills=True, needed=5, limit=left + 70.0)
    build = StepFinished("base", None, None, {}, 5.0)
    for at, event in (
        (0.0, RoundStarted(0, 7, 2, 2, {"parse": 14})),
        (30.0, build),
        (60.0, build),
        (70.0, StepFinished("base", "parse", None, {})),
    ):
        now[0] = at
        progress(event)
    assert log.getvalue().splitlines()[-1] == f"perfgate: {said}"


# --- how long the rest takes ------------------------------------------------------------------------------------------


def ran(benchmark: str | None, following: float | None = None, *, more: bool = False) -> StepFinished:
    return StepFinished("base", benchmark, None, {}, following, more=more)


def paced(*told: tuple[float, Event], round_: RoundStarted | None = None) -> Pace:
    """The pace after the two first builds, 20 s each, and what was told since."""
    begun = round_ or RoundStarted(0, 3, 4, 2, {"a": 6, "b": 6})
    pace = Pace(0.0)
    first: list[tuple[float, Event]] = [(0.0, begun), (0.0, StepStarted("base", None)), (20.0, ran(None, 1.0))]
    for now, event in (*first, (40.0, ran(None, 1.0)), *told):
        pace.take(event, now)
    return pace


BOTH: list[tuple[float, Event]] = [(41.0, ran("a")), (43.0, ran("b"))]


def test_nothing_is_foretold_before_each_benchmark_ran_and_its_starts_are_counted() -> None:
    assert paced().remaining() is None
    assert paced(BOTH[0]).remaining() is None
    # 5 of a, 5 of b, and two later rounds of two builds that link as long as the check said
    assert paced(*BOTH).remaining() == pytest.approx(5 + 5 * 2 + 4 * 1.0)
    # 2 of a, 2 of b and two links
    assert paced(*BOTH).later_round() == pytest.approx(2 + 2 * 2 + 2 * 1.0)
    counted = RoundStarted(0, 3, 4, 2, {"a": 600}, counted=True)
    told: list[tuple[float, Event]] = [BOTH[0], (42.0, ProbeFinished(0, 1, {"a": 599}))]
    assert paced(BOTH[0], round_=counted).remaining() is None
    assert paced(*told, round_=counted).remaining() is None
    laid = (42.0, LaidOut(executions=20, left={"a": 59}))
    assert paced(*told, laid, round_=counted).remaining() == pytest.approx(59 + 4 * 1.0)


def test_first_builds_do_not_count_for_later_ones() -> None:
    second: list[tuple[float, Event]] = [
        (50.0, LookTaken(0, 2)),
        (50.0, RoundStarted(1, 3, 4, 2, {"a": 4, "b": 4})),
        (53.0, ran(None)),
    ]
    # 4 of a, 4 of b; a build of this round, two of the next, 3 s each; a look after it
    assert paced(*BOTH, *second).remaining() == pytest.approx(4 + 8 + 3 * 3 + 7)


def test_what_the_probe_took_out_takes_no_time() -> None:
    # perfgate's own work before the step belongs to it, the probe does not
    proved = (46.0, ProbeFinished(1, 2, {"a": 6}))
    begun = (46.5, StepStarted("base", "a"))
    assert paced(proved, begun, (47.0, ran("a"))).remaining() == pytest.approx(5 * 1.0 + 4 * 1.0)
    assert paced((46.0, ProbeFinished(2, 2, {}))).remaining() == 0
    # short turns are more executions, of another length
    short = (46.0, LaidOut(left={"a": 60}))
    begun = (46.0, StepStarted("base", "a"))
    assert paced(short, begun, (46.1, ran("a"))).remaining() == pytest.approx(59 * 0.1 + 4 * 1.0)


def test_starts_that_are_told_of_together_share_what_they_took() -> None:
    first = (44.0, ran("b", more=True))
    assert paced(BOTH[0], first).remaining() is None
    # 4 s for two of b: 4 are left
    assert paced(BOTH[0], first, (45.0, ran("b"))).remaining() == pytest.approx(5 + 4 * 2 + 4 * 1.0)
