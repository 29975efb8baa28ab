"""Gates made from the rounds of a calibration: how often they fail without a change, and which changes they find."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from gate.config.rules import Policy, most_builds
from gate.config.types import Builds, Config, Gate
from gate.decide import decide
from gate.decide.design import choose, statistics_of
from gate.model import Case, Evidence, Report, Round
from gate.model.case import case_id
from gate.stats.proportion import Proportion, clopper_pearson
from gate.stats.subsample import of_builds

Judge = Callable[[Evidence, Policy], Report]

MOST_TRIES = 60
"""Gates that are decided for each injected change: with many benchmarks not every one is tried in every gate."""


@dataclass(frozen=True, slots=True)
class Found:
    """How often one injected change of one benchmark was called a regression."""

    change: float
    tries: Proportion


@dataclass(frozen=True, slots=True)
class Gates:
    """What disjoint groups of rounds say."""

    rounds: int
    """Of each gate."""
    failed: Proportion
    """Of all gates."""
    inconclusive: int
    """Those among the failed that had no answer."""
    power: tuple[Found, ...]
    """Of each injected change."""


def gates_of(cases: Sequence[Case], config: Config, inject: Sequence[float], judge: Judge = decide) -> Gates:
    """Decide gates of disjoint groups of rounds, as they are and with a change put into one benchmark's head.

    Args:
        cases: of one commit against itself.
        config: the rules and the plan of a check; accepted regressions do not count here, since they would hide false
            alarms.
        inject: changes, 0.05 for 5% worse.
    """
    size = gate_rounds(config)
    decided = [case for case in cases if case.decided]
    rounds = _complete(decided)
    groups = [set(rounds[i : i + size]) for i in range(0, len(rounds) - size + 1, size)]
    policy = Policy(
        msgspec.structs.replace(config, accept=[], gate=_as_a_check(config, decided)),
        "calibration",
        datetime.datetime.now(tz=datetime.UTC).date(),
    )
    gates = [[_cut(case, group) for case in decided] for group in groups]
    reports = [judge(_evidence(gate, size), policy) for gate in gates]
    failed = [report for report in reports if report.exit_code != 0]
    return Gates(
        rounds=size,
        failed=clopper_pearson(len(failed), len(gates)),
        inconclusive=sum(report.verdict == "inconclusive" for report in failed),
        power=tuple(_power(change, gates, size, policy, judge) for change in inject) if gates else (),
    )


def gate_rounds(config: Config) -> int:
    """Count the rounds of one gate: what a check measures at least before it may call a regression."""
    builds = config.plan.builds
    return max(config.gate.min_builds, builds.min if isinstance(builds, Builds) else builds)


def _as_a_check(config: Config, cases: Sequence[Case]) -> Gate:
    """Name the interval that a check of the plan has: a gate of so few rounds by itself would have another one."""
    gate = config.gate
    if gate.interval != "auto":
        return gate
    size = sum(len(statistics_of(config, case.benchmark, case.metric)) for case in cases)
    chosen = choose(gate, most_builds(config.plan), size, config.build.layouts)
    return msgspec.structs.replace(gate, interval="paired-shared" if chosen.shares else chosen.method)


def _complete(cases: Sequence[Case]) -> list[tuple[int, int]]:
    """List the rounds that every case has on both sides, in order."""
    sides = [set(side.builds) for case in cases for side in (case.base, case.head)]
    return sorted(set.intersection(*sides)) if sides else []


def _cut(case: Case, builds: set[tuple[int, int]]) -> Case:
    return msgspec.structs.replace(
        case, base=of_builds(case.base, builds.__contains__), head=of_builds(case.head, builds.__contains__)
    )


def _evidence(cases: Sequence[Case], rounds: int) -> Evidence:
    return Evidence(
        run=None,
        cases=list(cases),
        failures=[],
        new=[],
        rounds=Round(done=rounds, planned=rounds),
        looks=[],
        seconds=None,
        slowest_round=None,
        builds=[],
        states=[],
        warnings=[],
    )


def _power(change: float, gates: Sequence[Sequence[Case]], size: int, policy: Policy, judge: Judge) -> Found:
    # what is compared as a number is found for sure, and says nothing
    pairs = [(gate, i) for gate in gates for i, case in enumerate(gate) if not case.exact]
    drawn = np.random.default_rng(0).permutation(len(pairs))[:MOST_TRIES].tolist()
    kept = [pairs[k] for k in sorted(drawn)]
    found = sum(_is_found(gate, i, change, size, policy, judge) for gate, i in kept)
    return Found(change, clopper_pearson(found, len(kept)))


def _is_found(gate: Sequence[Case], i: int, change: float, size: int, policy: Policy, judge: Judge) -> bool:
    worse = [worsened(case, change) if k == i else case for k, case in enumerate(gate)]
    case = gate[i]
    return any(
        finding.verdict == "regression"
        for finding in judge(_evidence(worse, size), policy).findings
        if case_id(finding) == case_id(case)
    )


def worsened(case: Case, change: float) -> Case:
    """Make every value of head worse by a change: 0.05 multiplies a time by 1.05 and divides a rate by it."""
    factor = 1 + change if case.better == "lower" else 1 / (1 + change)
    head = case.head
    worse = msgspec.structs.replace(head, values=head.values * factor, step=head.step * factor)
    return msgspec.structs.replace(case, head=worse)
