"""What a warning says to do is true: who does it has the warning no more, or the table says why nobody here does it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from gate.commands.study.plan import design_warnings
from gate.config.config_text import read_source
from gate.config.parse import parse
from gate.config.treatments import model_factors, treatments
from gate.model.warnings import AnyWarning
from gate.model.warnings import checkout as c
from gate.model.warnings import measured as m
from gate.model.warnings import setup as s
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


class Followed(NamedTuple):
    """A situation that has the warning, and the same once its advice was followed."""

    before: Callable[[Path], list[AnyWarning]]
    after: Callable[[Path], list[Any]]
    said: str
    """Which part of the sentence that was."""


def of(subject: Measured | Decided) -> Callable[[Path], list[Any]]:
    return lambda folder: subject.check(folder).warnings


def with_lines(old: str, new: str) -> Callable[[Path], list[Any]]:
    return of(replace(SLOWER, toml=SLOWER.toml.replace(old, new)))


def of_study(toml: str) -> Callable[[Path], list[Any]]:
    config = parse(read_source(toml, "perfgate.toml"))
    assert config.study is not None
    built = (config.build,)
    design = SimpleNamespace(
        study=config.study, planned=treatments(config.study, *built), factors=model_factors(config.study, *built)
    )
    return lambda _: design_warnings(design, None)  # type: ignore[arg-type]  # no project stands behind it


def of_budget(budget: str) -> Callable[[Path], list[Any]]:
    """A host that remembers a round of 35 s."""
    config = parse(read_source(TOML.replace("[plan]", f'[plan]\nbudget = "{budget}"'), "perfgate.toml"))
    costs = {"bench": Costs(build=10.0, start=5.0, iteration=2.5 / 3, warmup=0.0)}
    return lambda folder: budget_warnings(
        schedule({"base": ["bench"], "head": ["bench"]}, 6, 1, 7), folder, config, costs
    )


def named(first: str, second: str) -> Callable[[Path], list[Any]]:
    return of(Decided({"a.txt": go([1.0, 2.0]), "b.txt": go([1.5, 2.5])}, (first, second)))


METRIC = "[benchmark.metric.n]"
FOLLOWED: dict[type, list[Followed]] = {
    m.SidesByOrder: [Followed(named("a.txt", "b.txt"), named("base=a.txt", "head=b.txt"), "base=FILE and head=FILE")],
    m.UndecidedBenchmarks: [
        Followed(of(replace(SLOWER, options=("--set", 'plan.metrics=["x"]'))), of(replace(SLOWER, options=("--set", 'plan.metrics=["x", "n"]'))), "`metrics` in `[plan]`"),
        Followed(
            with_lines(f'"values"\n{METRIC}\nbetter = "lower"', '"spawn"'),
            with_lines(f'"values"\n{METRIC}\nbetter = "lower"', f'"spawn"\n{METRIC}\nbetter = "lower"'),
            "[benchmark.metric.NAME]",
        ),
    ],
    m.UnknownDirection: [
        Followed(
            with_lines('better = "lower"\n', ""),
            of(replace(SLOWER, toml=SLOWER.toml.replace('better = "lower"\n', "")).follow(way)),
            "[[override]]",
        )
        for way in ways.ways_of_direction("n")
    ],
    m.UnknownUnit: [
        Followed(of(replace(SLOWER, unit="usec")), of(replace(SLOWER, unit="us")), 'write "us"')
    ],
    m.TwoSessions: [
        Followed(
            of(replace(SLOWER, options=("--set", "plan.sessions=2"))),
            of(replace(SLOWER, options=("--set", "plan.sessions=3"))),
            "a third session",
        )
    ],
    s.ExpiredAccept: [
        Followed(
            of(replace(SLOWER, toml=f'{TOML}[[accept]]\nbenchmark = "a"\nup_to = "9%"\nuntil = 2026-01-01\nreason = "b"\n')),
            of(SLOWER),
            "remove it",
        )
    ],
    s.BudgetHoldsFew: [Followed(of_budget("30s"), of_budget("4m"), "--set plan.budget=4m")],
    s.OneReplicate: [Followed(of_study(f"[study]\nreplicates = 1\n{STUDY}"), of_study(f"[study]\nreplicates = 3\n{STUDY}"), "study.replicates = 3")],
    s.BuiltOnce: [Followed(of_study(f"[study]\nbuilds = 1\n{STUDY}"), of_study(f"[study]\nbuilds = 5\n{STUDY}"), "study.builds = 5")],
}  # fmt: skip
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


@pytest.mark.parametrize(("kind", "number"), [(kind, n) for kind, every in FOLLOWED.items() for n in range(len(every))])
def test_who_follows_it_has_the_warning_no_more(kind: type, number: int, tmp_path: Path) -> None:
    case = FOLLOWED[kind][number]
    found = [each for each in case.before(tmp_path) if isinstance(each, kind)]
    assert found
    assert case.said in found[0].sentence()
    assert not [each for each in case.after(tmp_path) if isinstance(each, kind)]


def test_every_warning_with_advice_is_followed_or_says_why_not() -> None:
    advising = {
        type(warning) for warning, said in WARNINGS
        if type(warning).__struct_config__.tag not in NO_ADVICE and ADVICE.search(said)
    }  # fmt: skip
    assert advising <= set(FOLLOWED) | set(NOT_FOLLOWED), advising - set(FOLLOWED) - set(NOT_FOLLOWED)
    assert not set(FOLLOWED) & set(NOT_FOLLOWED)
