"""What is shown while a run measures."""

from __future__ import annotations

import io

import pytest

from gate.model import Unproved
from gate.run.progress import Progress
from harness.loop.events import BothStarted, Event, ProbeFinished, RoundStarted, StepStarted


class Terminal(io.StringIO):
    """What is written to it is seen at once."""

    def isatty(self) -> bool:
        """Return that it is one."""
        return True


def test_why_a_benchmark_is_measured_is_said_at_once() -> None:
    log = io.StringIO()
    progress = Progress(log)
    why = {name: Unproved(kind="changed", path="README.md") for name in "abcde"}
    progress(ProbeFinished(1, 6, {}, why))
    progress.close()
    lines = [line.removeprefix("perfgate: ") for line in log.getvalue().splitlines()]
    assert lines == [
        "1 of 6 run the same program on the same data: not measured",
        *(f"{name} is measured: README.md, which it opens or looks at, differs" for name in "abc"),
        "2 more benchmarks are measured: the report says why",
    ]


@pytest.mark.parametrize(
    ("event", "shown"),
    [
        (BothStarted(), "round 1 of 3: building base and head"),
        (StepStarted("base", None), "round 1 of 3: building base"),
        (StepStarted("head", "parse", {"clients": 8}), "round 1 of 3: parse (clients=8) on head"),
    ],
)
def test_a_line_that_is_written_over_names_the_step(event: Event, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    progress = Progress(terminal)
    progress(RoundStarted(0, 3, 4, 2, {"parse": 6}))
    progress(event)
    progress.close()
    assert terminal.getvalue().split("perfgate: ")[-1].removesuffix("\r\x1b[K") == shown
