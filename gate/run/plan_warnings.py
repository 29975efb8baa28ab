"""Warnings about a plan, given before time is spent on it."""

from __future__ import annotations

from gate.config.rules import most_builds
from gate.config.types import Builds, Config
from gate.decide.estimates import BOOTSTRAP_BUILDS
from gate.model import FEWEST_FOR_STEADY, Memory
from gate.model.case import quantile_of
from gate.model.warnings import AnyWarning
from gate.model.warnings import setup as warn
from gate.stats.centers import needed_values
from gate.stats.fixed_sessions import FEWEST_ROUNDS
from gate.units import plural


def plan_warnings(rules: Config, memory: Memory | None, sessions: int = 1) -> list[AnyWarning]:
    """Say what the rules and the plan ask for that cannot come out of it.

    memory: what is remembered of the machine. sessions: how often all of the plan is measured.
    """
    stops = not rules.gate.interval.startswith("bootstrap") and sessions == 1
    builds, needed = most_builds(rules.plan, early=stops), rules.gate.min_builds
    told: list[AnyWarning] = []
    if builds * sessions < needed:
        moderates = memory is not None and rules.gate.interval in ("auto", "fieller-moderated")
        exact = any(b.measured.exact or any(m.exact for m in b.metric.values()) for b in rules.benchmark)
        told.append(warn.FewBuilds(builds, needed, moderates, exact))
    if rules.gate.sessions == "fixed" and sessions > 1 and builds < FEWEST_ROUNDS:
        told.append(warn.FewBuildsPerMachine(builds, FEWEST_ROUNDS))
    if rules.gate.interval.startswith("bootstrap") and rules.gate.family == "holm" and builds < BOOTSTRAP_BUILDS:
        told.append(warn.FewBuildsForBootstrap(builds, BOOTSTRAP_BUILDS))
    if rules.gate.interval.startswith("bootstrap") and isinstance(rules.plan.builds, Builds):
        told.append(warn.NoLooksByBootstrap(builds))
    # a program that writes its own values may write more of them
    names = [b.name for b in rules.benchmark if b.warmup == "auto" and b.instrument != "values"]
    if names and rules.plan.iterations < FEWEST_FOR_STEADY:
        told.append(warn.FewIterationsForSteady(tuple(names), rules.plan.iterations, FEWEST_FOR_STEADY))
    return told


def quantile_warnings(rules: Config) -> list[str]:
    """Name the quantiles that the plan cannot judge, for before measuring.

    A program may write more values than the plan asks for, so the report says it only of what was measured.
    """
    per_build = rules.plan.executions * rules.plan.iterations
    texts = []
    for b in rules.benchmark:
        for name, metric in b.metric.items():
            for statistic in metric.compared:
                tau = quantile_of(statistic)
                needs = needed_values(tau) if tau is not None else 0
                if needs > per_build:
                    texts.append(
                        f"{b.name}: {statistic} of {name} needs {needs} values per build, the plan has {per_build} "
                        f"({plural(rules.plan.executions, 'start')} x {plural(rules.plan.iterations, 'value')})"
                    )
    return texts
