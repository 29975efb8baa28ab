"""What a warning says to do is true: who does it has the warning no more."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gate.config.config_text import read_source
from gate.config.parse import parse
from gate.config.resolve import resolve
from gate.model import SIDES
from gate.run.duration import budget_warnings
from gate.writing import sentences as ways
from harness.loop.schedule import schedule
from tests.support.following import Decided, Measured, go, noisy
from tests.support.lines import execution, text
from tests.support.warned import texts

TOML = """\
[gate]
threshold = "3%"
[plan]
builds = 6
executions = 1
iterations = 3
[[benchmark]]
name = "bench"
command = "x"
instrument = "values"
[benchmark.metric.n]
better = "lower"
"""
SLOWER = Measured(TOML, noisy(1.2))


Situation = Callable[[Path], list[Any]]
"""The warnings of a run in a folder."""


def of(subject: Measured | Decided) -> Situation:
    return lambda folder: subject.check(folder).warnings


def slower(**changes: Any) -> Situation:
    return of(replace(SLOWER, **changes))


def setting(*sets: str) -> Situation:
    return slower(options=tuple(word for each in sets for word in ("--set", each)))


def with_lines(old: str, new: str) -> Situation:
    return slower(toml=TOML.replace(old, new))


def of_rules(line: str) -> Situation:
    file = read_source(TOML.replace("[plan]", f"{line}\n[plan]"), "perfgate.toml")
    return lambda _: resolve(file, file, rules="head").warnings


def of_budget(budget: str) -> Situation:
    """A folder whose last run took 35 s a round."""
    config = parse(read_source(TOML.replace("[plan]", f'[plan]\nbudget = "{budget}"'), "perfgate.toml"))
    last = text([
        line
        for side in SIDES
        for line in (
            {"type": "build", "side": side, "build": 0, "seconds": 10.0},
            execution(side, [1.0] * 3, benchmark="bench", seconds=7.5),
        )
    ])  # fmt: skip

    def warned(folder: Path) -> list[Any]:
        folder.mkdir(exist_ok=True)
        (folder / "measurements.jsonl").write_text(last)
        return budget_warnings(schedule({"base": ["bench"], "head": ["bench"]}, 6, 1, 7), folder, config)

    return warned


def named(first: str, second: str) -> Situation:
    return of(Decided({"a.txt": go([1.0, 2.0]), "b.txt": go([1.5, 2.5])}, (first, second)))


METRIC = "[benchmark.metric.n]"
VALUES, WORSE = f'"values"\n{METRIC}\nbetter = "lower"', 'better = "lower"\n'
ACCEPT = '[[accept]]\nbenchmark = "a"\nup_to = "9%"\nuntil = 2026-01-01\nreason = "b"\n'
# fmt: off
FOLLOWED: list[tuple[str, Situation, Situation, str]] = [
    ("sides-by-order", named("a.txt", "b.txt"), named("base=a.txt", "head=b.txt"), "base=FILE and head=FILE"),
    ("undecided-benchmarks", setting('plan.metrics=["x"]'), setting('plan.metrics=["x", "n"]'), "`metrics` in `[plan]`"),
    ("undecided-benchmarks", with_lines(VALUES, '"spawn"'), with_lines(VALUES, VALUES.replace("values", "spawn")), "[benchmark.metric.NAME]"),
    *(("unknown-direction", with_lines(WORSE, ""), of(replace(SLOWER, toml=TOML.replace(WORSE, "")).follow(way)), "[[override]]") for way in ways.ways_of_direction("n")),
    ("unknown-unit", slower(unit="usec"), slower(unit="us"), 'write "us"'),
    ("two-sessions", setting("plan.sessions=2"), setting("plan.sessions=3"), "a third session"),
    ("expired-accept", slower(toml=TOML + ACCEPT), slower(), "remove it"),
    ("read-on", of_rules('show = "not-worse"'), of_rules('detectable = "threshold"'), 'detectable = "threshold"'),
    ("budget-holds-few", of_budget("30s"), of_budget("4m"), "--set plan.budget=4m"),
]
# fmt: on
"""A kind of warning, a situation that has it, the same once its advice was followed, and which part of it that was."""


@pytest.mark.parametrize(("kind", "before", "after", "said"), FOLLOWED)
def test_advice_removes_its_warning(kind: str, before: Situation, after: Situation, said: str, tmp_path: Path) -> None:
    assert said in texts(before(tmp_path), kind)[0]
    assert texts(after(tmp_path), kind) == []
