"""A report and what it was decided over, and the looks of a run at what it measured so far."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from gate.cli.groups import RulesOptions
from gate.config.rules import Policy
from gate.config.types import Config
from gate.decide.policy import policy_at
from gate.decide.report import look
from gate.evidence.budget import planned_looks
from gate.evidence.gather import gather
from gate.evidence.records import Inputs, Located
from gate.model import AfterRound, Evidence, Look, Record, Report, Round, Run


class Decided(msgspec.Struct, frozen=True, eq=False):
    """A report, and what it was decided over."""

    report: Report
    inputs: Inputs
    evidence: Evidence
    policy: Policy
    options: RulesOptions
    """What was asked for, beside the policy that came of it."""


def looking(run: Run, config: Config) -> AfterRound | None:
    """Return what a run asks after each round; None when its design is fixed.

    config: what the run line holds, as for the report: a look and the report never judge by different rules.
    """
    if not planned_looks(config.plan, ()) or config.gate.interval.startswith("bootstrap"):
        return None
    policy = policy_at(run, config)

    def after_round(records: Sequence[Record]) -> frozenset[str]:
        done = 1 + sum(isinstance(record, Look) for record in records)
        looks = planned_looks(config.plan, () if run.shard else records, done)
        # after the first, what is measured is known: a name that no metric has ends it
        if done not in (1, *looks):
            return frozenset()
        # the loop knows what it measured; the run line, which holds what is remembered, is not among it
        measured = [record for record in records if not isinstance(record, Run)]
        located = [Located(record, "this run", number) for number, record in enumerate([run, *measured], 1)]
        evidence = gather(located, config, measured=config)
        rounds = Round(done=done, planned=looks[-1])
        return look(replace(evidence, looks=looks, rounds=rounds), policy)

    return after_round
