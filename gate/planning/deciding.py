"""Measurements -> report with the plan that would settle it, as check, decide and report do it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from msgspec.structs import replace

from gate.cli.groups import RulesOptions
from gate.config.rules import Policy
from gate.decide.policy import policy_of
from gate.decide.report import Decided, decide_by
from gate.evidence.lines import Inputs
from gate.evidence.runs import run_of
from gate.model import UserError
from gate.model.report import NextPlan


def decide_inputs(inputs: Inputs, options: RulesOptions, *, label: str | None = None) -> Decided:
    """Decide over measurements by the rules that the options name, otherwise by those of the run.

    label: what accepts every regression, in words.

    Raises: UserError: files that contradict each other, or rules that cannot be read.
    """
    run = run_of(inputs.records)
    return decide_by(inputs, replace(policy_of(run, options), label=label), options, next_plan)


def next_plan(inputs: Inputs, policy: Policy, benchmarks: Sequence[str]) -> NextPlan | None:
    """Return the cheapest plan that would settle what measurements leave open; None: there is none, or none is known.

    benchmarks: globs of those that are decided.
    """
    from gate.planning.basis import from_readings
    from gate.planning.plan import advised

    with suppress(UserError):
        cheapest = advised(from_readings([inputs], ["this run"], policy, benchmarks))
        if cheapest is not None:
            return NextPlan(cheapest.looks[-1], cheapest.executions, cheapest.iterations, cheapest.most)
    return None
