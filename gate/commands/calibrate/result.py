"""The result of a calibration, as --json writes it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from gate.config.types import Config
from gate.decide.views import asked_of
from gate.evidence.gather import gather
from gate.evidence.records import Located
from gate.model import Commit, Failure, Layouts, Record, Remembered, Round, Run
from gate.model.case import CaseId, OfCase
from gate.model.warnings import AnyWarning
from gate.model.warnings.measured import IdenticalSides, SameCommit
from gate.model.warnings.setup import FewBuilds
from gate.store.learning import learn
from gate.store.memory import Costs, Learned, Setup

SCHEMA = 1
# that a commit is the same as itself, and that a calibration has another plan than a check, is no news
_NO_NEWS = (IdenticalSides, SameCommit, FewBuilds)


class Added(msgspec.Struct, frozen=True, kw_only=True):
    """The relative standard deviation that each level adds to those below; 0: nothing, None: it was not repeated."""

    iteration: float | None
    execution: float | None
    build: float | None


class Calibrated(OfCase, frozen=True, kw_only=True):
    """One finding."""

    added: Added
    """By level."""
    round: float | None
    """Of the difference of a round, which decides; both relative to the mean."""
    df: float | None
    costs: Costs
    remembered: Remembered


class Calibration(msgspec.Struct, frozen=True, kw_only=True):
    """One session of measuring a commit against itself."""

    schema: int
    session: str
    created: str
    commit: Commit | None
    host: dict[str, Any]
    layouts: Layouts
    """Of both sides of a round in a check; in the calibration itself they are independent."""
    rounds: Round
    executions: int
    iterations: int
    seconds: float | None
    findings: list[Calibrated]
    left_out: list[str]
    """Cases of which nothing is learned: they have no spread, too few builds, or values without a ratio."""
    failures: list[Failure]
    warnings: list[str]
    sessions: int | None
    """Of this host that remember the same, with this one; None: it was not kept."""
    history: str | None
    """The folder that remembers it; None: it was not kept."""


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """A calibration before it is kept: the report of it, and what the history is to hold."""

    calibration: Calibration
    learned: list[Learned]


def session_of(records: Sequence[Record], run: Run, config: Config, setups: Mapping[str, Setup]) -> Session:
    """Compute what the records of a calibration show.

    Args:
        run: its run line.
        config: the rules and the plan of a check.
        setups: how each benchmark is measured.
    """
    evidence = gather([Located(record, "this run", n) for n, record in enumerate(records, 1)], config)
    name, created = run.id or "", run.created or ""
    asked = asked_of(evidence.cases, config)
    learned = learn(asked, config, setups, records, session=name, created=created, both=True)
    known = {CaseId(one.benchmark, one.metric) for one in learned}
    calibration = Calibration(
        schema=SCHEMA,
        session=name,
        created=created,
        commit=run.head,
        host=run.host or {},
        layouts=config.build.layouts,
        rounds=evidence.rounds,
        executions=round(max((one.remembered.executions for one in learned), default=config.plan.executions)),
        iterations=round(max((one.remembered.iterations for one in learned), default=config.plan.iterations)),
        seconds=evidence.seconds,
        findings=[_calibrated(one) for one in learned],
        left_out=[
            f"{case.benchmark} {case.metric}"
            for case in {id(case): case for case, _ in asked}.values()
            if not case.exact and CaseId(case.benchmark, case.metric) not in known
        ],
        failures=evidence.failures,
        warnings=[*(each.sentence() for each in news(evidence.warnings))],
        sessions=None,
        history=None,
    )
    return Session(calibration=calibration, learned=learned)


def news(warnings: Sequence[AnyWarning]) -> list[AnyWarning]:
    """Leave out the warnings of a check that mean nothing here."""
    return [warning for warning in warnings if not isinstance(warning, _NO_NEWS)]


def _calibrated(one: Learned) -> Calibrated:
    r = one.remembered
    # take the levels apart: T2[i] = S2[i] - S2[i-1]/n[i-1] (Kalibera and Jones 2012, 7.6)
    found: dict[str, float | None] = {"iteration": None, "execution": None, "build": None}
    below, count = 0.0, 1.0
    for name, square, children in (
        ("iteration", r.iteration, r.iterations),
        ("execution", r.execution, r.executions),
        ("build", r.build, 1.0),
    ):
        if square is None:
            continue
        found[name] = math.sqrt(max(square.value - below / count, 0.0))
        below, count = square.value, children
    return Calibrated(
        benchmark=one.benchmark,
        metric=one.metric,
        factors=one.factors,
        statistic=one.statistic,
        added=Added(**found),
        round=None if r.contrast is None else math.sqrt(r.contrast.value),
        df=None if r.contrast is None else r.contrast.df,
        costs=one.costs,
        remembered=r,
    )


def render(calibration: Calibration) -> str:
    """Write a calibration as JSON, indented, ending with a newline."""
    return msgspec.json.format(msgspec.json.encode(calibration), indent=2).decode() + "\n"
