"""What is shown while a run measures, and how long the rest of it takes."""

import io
import os
import sys
from collections.abc import Iterable
from typing import Any, TextIO, TypeVar

import pytest

from gate.model import SIDES, Turn, Unproved
from gate.run import live_lines
from gate.run.live_lines import Live, Steps, bar_line
from gate.run.progress import Progress
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
    for build in range(2):
        found.append(RoundStarted(build, 3, 2))
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
    assert logged(ProbeFinished(1, 6, why)) == [
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
    terminal = shown(Terminal(), [RoundStarted(0, 3, 4), event], close=False)
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


def test_the_time_that_is_left_is_that_of_rounds_like_the_latest(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("gate.run.progress.time.monotonic", lambda: now[0])
    terminal = Terminal()
    progress = Progress(terminal, budget=lambda: 900.0 - now[0])
    seen = []
    for at, event in (
        (0.0, RoundStarted(0, 3, 2)),
        (1.0, StepStarted("base", "parse")),
        (60.0, RoundStarted(1, 3, 2)),
        (90.0, StepStarted("base", "parse")),
        # of a run that goes on nothing is known of the round before
        (90.0, RoundStarted(5, 7, 2)),
        (95.0, StepStarted("base", "parse")),
    ):
        now[0] = at
        progress(event)
        if isinstance(event, StepStarted):
            seen.append(terminal.screen.lines[0].rpartition("%  ")[2])
    assert seen == ["at most 14 min 59 s left", "about 1 min 30 s left", "at most 13 min 25 s left"]
