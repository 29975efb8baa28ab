"""A run that ended before one round was complete, or before a verdict was possible: what the report comes to."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from gate.config.rules import most_builds, repeats_of
from gate.config.types import Config, Gate
from gate.decide.estimates import BOOTSTRAP_BUILDS, needed_builds
from gate.decide.looks import Judged
from gate.decide.next_steps import not_by_builds
from gate.model import SIDES, Evidence, Finding, Run, Unfinished, outcomes


def budget_ended(spent: Unfinished, run: Run | None, config: Config) -> outcomes.BudgetEnded:
    """Say what a regression would take, if what was not reached takes as long as what was.

    It is the least: the step that the budget ended would have taken longer. Later builds may be links, and of no length
    where no build was done that tells whether they are.
    """
    cut = spent.cut
    preparing = _each(
        spent.setup, spent.builds + bool(cut.setup), cut.seconds if cut.phase in ("checkout", "setup") else 0.0
    )
    building = _each(spent.building, spent.builds, cut.seconds if cut.phase == "build" else 0.0)
    of_execution = cut.phase in ("service", "comparison", "execution")
    executing = _each(spent.executing, spent.executions, cut.seconds if of_execution else 0.0)
    names = (run.benchmarks if run else None) or {}
    both = {*names.get("base", ())} & {*names.get("head", ())}
    turns = run is not None and run.turns
    executions = sum(spent.turns.get(name) or repeats_of(config, name, turns=turns).executions for name in both)
    rounds = min(config.gate.min_builds, most_builds(config.plan))
    table = config.build
    may_link = table.command is not None and table.relink != "off" and "link-order" in table.perturb
    unknown = 0.0 if may_link else building
    following = unknown if spent.following is None else spent.following
    least = len(SIDES) * (preparing + building + (rounds - 1) * following + rounds * executions * executing)
    # what did not fit takes more than the budget, however little of it was done
    return outcomes.BudgetEnded(spent=spent, least=max(least, spent.budget), rounds=rounds)


def _each(total: float, count: int, ended: float) -> float:
    return max(total / max(1, count), ended)


def not_enough(
    findings: Sequence[Finding], judged: Sequence[Judged], gate: Gate, evidence: Evidence,
    stopped: Literal["budget"] | None,
) -> outcomes.NotEnoughMeasured | None:  # fmt: skip
    """Say that a run ended before there were the builds that a verdict needs; None: what is open is so for its noise.

    findings: in the order of `judged`. Result files of other tools have no plan that they could fall short of.
    """
    planned = planned_rounds(evidence)
    lacking: list[tuple[int, int]] = []
    for finding, each in zip(findings, judged, strict=True):
        found, builds = each.estimated, each.estimated.builds
        few = BOOTSTRAP_BUILDS if found.hold == "bootstrap" and found.unit == "build" else 0
        needed = 0 if found.exact else max(needed_builds(found, gate), few)
        # what was given up would have been measured on, if the plan had the builds
        given_up = finding.stopped is not None and (evidence.rounds.planned or 0) >= needed
        if finding.is_open and builds < needed and not given_up and not_by_builds(finding) is None:
            lacking.append((builds, needed))
    if not lacking or not planned:
        return None
    builds, needed = min(each[0] for each in lacking), max(each[1] for each in lacking)
    # an end is missing where measuring was interrupted
    open_ended = any(state.when == "begin" for state in {s.session: s for s in evidence.states}.values())
    ended: Literal["budget", "interrupted"] | None = stopped or ("interrupted" if open_ended else None)
    # a plan of so few builds is what somebody wants, and a warning says what it cannot show
    why = "plan" if ended is not None and planned < needed else ended
    if why is None:
        return None
    round_ = evidence.slowest_round
    return outcomes.NotEnoughMeasured(
        builds=builds, needed=needed, why=why, round=round_, seconds=_seconds(needed, round_, evidence, stopped),
        unit=judged[0].subject.top,
    )  # fmt: skip


def _seconds(needed: int, round_: float | None, evidence: Evidence, stopped: Literal["budget"] | None) -> float | None:
    """Return what the builds needed take, in one of several jobs, if those to come take as long as the slowest."""
    run, done = evidence.run, evidence.rounds.done
    if round_ is None:
        return None
    budget = evidence.budget or 0.0
    # the round that no longer fitted would have ended half of it later, on average
    least = budget + round_ / 2 if stopped else 0.0
    if evidence.pace is None or evidence.seconds is None:
        return max(least, round_ * math.ceil(needed / ((run.sessions if run else None) or 1)))
    # looks are laid out at the pace of the first round, which will be as slow again
    spent = max(evidence.seconds, budget if evidence.looks and done >= evidence.looks[-1] else 0.0)
    return max(least, spent + max(1, needed - done) * round_)


def planned_rounds(evidence: Evidence) -> int:
    """Count the rounds of the plan, those of all sessions; 0: not known. Looks within a budget may be fewer."""
    return max(evidence.rounds.planned or 0, evidence.most or 0)
