"""What `perfgate try` learned of the time that steps take, kept for the first line of the next check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from gate.config.rules import goes_by_starts, is_counted, repeats_of
from gate.config.types import Config
from gate.model import Side
from gate.report.outputs import write
from harness.loop.schedule import Round

FILE = "trial.json"


class TrialTimes(msgspec.Struct, frozen=True):
    """Seconds of steps, about."""

    first: Mapping[Side, float]
    """Of the first build of a side, with checkout and set-up."""
    later: float
    """Of each later build."""
    executions: Mapping[str, float]
    """Of one execution as planned, by benchmark."""
    iterations: int
    """So many were planned."""
    each: Mapping[str, float]
    """What one of them adds to an execution, by benchmark."""
    starts: Mapping[str, int] = {}
    """Starts a side of a round, of the commands that base and head start by turns."""
    leaner: tuple[int, int] | None = None
    """Executions and iterations with which enough builds fit the budget, where those of the plan leave too few."""


def tried(folder: Path) -> TrialTimes | None:
    """Read what the last trial learned; None: there was none, or it was another version's."""
    with suppress(OSError, msgspec.MsgspecError):
        return msgspec.json.decode((folder / FILE).read_bytes(), type=TrialTimes)
    return None


def keep_times(times: TrialTimes, folder: Path) -> None:
    """Keep what a trial learned, and of benchmarks that it did not try what another one of the same plan did.

    It is called by who holds the machine: of two trials at once the second adds to what the first has learned.

    times: of the trial. folder: of runs, which exists.

    Raises:
        UserError: it cannot be written.
    """
    before = tried(folder)
    if before is not None and before.iterations == times.iterations:
        kept = {key: {**getattr(before, key), **getattr(times, key)} for key in ("executions", "each", "starts")}
        times = msgspec.structs.replace(times, **kept)
    write(folder / FILE, msgspec.json.encode(times).decode() + "\n")


def trial_seconds(rounds: Sequence[Round], config: Config, folder: Path) -> float | None:
    """Return how long rounds take by the last trial; None: there was none, or it did not try all that they execute.

    config: the rules in force now.
    """
    times = tried(folder)
    if times is None:
        return None
    total = 0.0
    for number, each in enumerate(rounds):
        total += sum(times.later if number else times.first[step.side] for step in each.builds)
        for step in each.executions:
            if step.benchmark not in times.executions:
                return None
            each_more = times.each.get(step.benchmark, 0.0)
            if goes_by_starts(config, step.benchmark) and each_more:
                expected = repeats_of(config, step.benchmark).executions
                counted = is_counted(config, step.benchmark)
                total += each_more * (times.starts.get(step.benchmark, expected) / expected if counted else 1.0)
            else:
                total += times.executions[step.benchmark] + (config.plan.iterations - times.iterations) * each_more
    return total
