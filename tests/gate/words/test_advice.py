"""What a warning says to do is true: who does it has the warning no more, or the table says why nobody here does it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gate.commands.study.plan import design_warnings
from gate.config.config_text import read_source
from gate.config.parse import parse
from gate.config.resolve import resolve
from gate.config.treatments import model_factors, treatments
from gate.model.warnings import checkout as c
from gate.model.warnings import measured as m
from gate.model.warnings import setup as s
from gate.model.warnings.base import Base
from gate.run.duration import budget_warnings
from gate.store.memory import Costs
from gate.writing import sentences as ways
from harness.loop.schedule import schedule
from tests.gate.model.test_sentences import WARNINGS
from tests.support.following import Decided, Measured, go, noisy

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
STUDY = (
    '[study.factor]\nopt = ["a", "b"]\n[build]\ncommand = "make OPT={opt}"\n[[benchmark]]\nname = "a"\ncommand = "x"\n'
)


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


def of_study(line: str) -> Situation:
    config = parse(read_source(f"[study]\n{line}\n{STUDY}", "perfgate.toml"))
    assert config.study is not None
    built = (config.build,)
    design = SimpleNamespace(
        study=config.study, planned=treatments(config.study, *built), factors=model_factors(config.study, *built)
    )
    return lambda _: design_warnings(design, None)  # type: ignore[arg-type]  # no project stands behind it


def of_rules(line: str) -> Situation:
    file = read_source(TOML.replace("[plan]", f"{line}\n[plan]"), "perfgate.toml")
    return lambda _: resolve(file, file, rules="head").warnings


def of_budget(budget: str) -> Situation:
    """A host that remembers a round of 35 s."""
    config = parse(read_source(TOML.replace("[plan]", f'[plan]\nbudget = "{budget}"'), "perfgate.toml"))
    costs = {"bench": Costs(build=10.0, start=5.0, iteration=2.5 / 3, warmup=0.0)}
    return lambda folder: budget_warnings(
        schedule({"base": ["bench"], "head": ["bench"]}, 6, 1, 7), folder, config, costs
    )


def named(first: str, second: str) -> Situation:
    return of(Decided({"a.txt": go([1.0, 2.0]), "b.txt": go([1.5, 2.5])}, (first, second)))


METRIC = "[benchmark.metric.n]"
VALUES, WORSE = f'"values"\n{METRIC}\nbetter = "lower"', 'better = "lower"\n'
ACCEPT = '[[accept]]\nbenchmark = "a"\nup_to = "9%"\nuntil = 2026-01-01\nreason = "b"\n'
FOLLOWED: list[tuple[type[Base], Situation, Situation, str]] = [
    (m.SidesByOrder, named("a.txt", "b.txt"), named("base=a.txt", "head=b.txt"), "base=FILE and head=FILE"),
    (m.UndecidedBenchmarks, setting('plan.metrics=["x"]'), setting('plan.metrics=["x", "n"]'), "`metrics` in `[plan]`"),
    (
        m.UndecidedBenchmarks,
        with_lines(VALUES, '"spawn"'),
        with_lines(VALUES, VALUES.replace("values", "spawn")),
        "[benchmark.metric.NAME]",
    ),
    *(
        (
            m.UnknownDirection,
            with_lines(WORSE, ""),
            of(replace(SLOWER, toml=TOML.replace(WORSE, "")).follow(way)),
            "[[override]]",
        )
        for way in ways.ways_of_direction("n")
    ),
    (m.UnknownUnit, slower(unit="usec"), slower(unit="us"), 'write "us"'),
    (m.TwoSessions, setting("plan.sessions=2"), setting("plan.sessions=3"), "a third session"),
    (s.ExpiredAccept, slower(toml=TOML + ACCEPT), slower(), "remove it"),
    (s.ReadOn, of_rules('show = "not-worse"'), of_rules('detectable = "threshold"'), 'detectable = "threshold"'),
    (s.BudgetHoldsFew, of_budget("30s"), of_budget("4m"), "--set plan.budget=4m"),
    (s.OneReplicate, of_study("replicates = 1"), of_study("replicates = 3"), "study.replicates = 3"),
    (s.BuiltOnce, of_study("builds = 1"), of_study("builds = 5"), "study.builds = 5"),
]
"""A kind of warning, a situation that has it, the same once its advice was followed, and which part of it that was."""
NOT_FOLLOWED: dict[type, str] = {
    m.MeasuredSeparately: "`perfgate check` measures in turns: no file of it has the warning",
    m.IdenticalBuilds: "a linker and its flags: docs/layout.md",
    m.BuildNeedsGit: "tests/e2e/test_ways.py",
    m.NoneOfBuilds: "tests/gate/decide/test_limits.py",
    m.ForeignValues: "how to read it, nothing to do",
    s.LeftBehind: "a folder that perfgate may not remove",
    s.LfsPointers: "Git LFS",
    s.StartedByShim: "a version manager",
    s.ControlsAlarm: "another machine",
    s.NothingRemembered: "calibrating takes an hour: tests/e2e",
    c.SubmoduleAbsent: "a step of a workflow",
    c.SubmoduleLacksCommit: "a step of a workflow",
    c.PointersCheckedOut: "a step of a workflow",
    c.TokenLeft: "a step of a workflow",
    c.CheckoutChanged: "a step of a workflow",
    s.OneSessionEach: "a job on another runner",
}
"""Warnings with advice that no test here follows, and why."""
ADVICE = re.compile(r"`|\b(set|add|write|raise|remove|name|declare|make|measure|choose|run `)\b(?! by)", re.IGNORECASE)
NO_ADVICE = {"of-run", "set-up-differently", "measuring-changed", "build-changed", "memory-of-other-setup", "one-tree"}
"""Kinds whose sentences quote commands of the project or another warning, or name a set-up."""


@pytest.mark.parametrize(("kind", "before", "after", "said"), FOLLOWED)
def test_who_follows_it_has_the_warning_no_more(
    kind: type[Base], before: Situation, after: Situation, said: str, tmp_path: Path
) -> None:
    found = [each for each in before(tmp_path) if isinstance(each, kind)]
    assert found
    assert said in found[0].sentence()
    assert not [each for each in after(tmp_path) if isinstance(each, kind)]


def test_every_warning_with_advice_is_followed_or_says_why_not() -> None:
    advising = {
        type(warning) for warning, said in WARNINGS
        if type(warning).__struct_config__.tag not in NO_ADVICE and ADVICE.search(said)
    }  # fmt: skip
    followed = {kind for kind, *_ in FOLLOWED}
    assert advising <= followed | set(NOT_FOLLOWED), advising - followed - set(NOT_FOLLOWED)
    assert not followed & set(NOT_FOLLOWED)
