"""The looks of a check: between rounds, which benchmarks need no more."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

import msgspec

from gate.config.parse import parse
from gate.config.rules import Policy
from gate.config.source import from_tables
from gate.decide import look
from gate.evidence import gather
from gate.looks import planned_looks
from gate.model import AfterRound, Look, Record, Round, Run
from gate.records import Located


def looking(run: Run) -> AfterRound | None:
    """Return what a run asks after each round; None when its design is fixed.

    The rules are those of the run line, as for the report: a look and the report never judge by different ones.
    """
    config = parse(from_tables(run.config or {}, "the run's config"), lenient=True)
    if not planned_looks(config.plan, ()) or config.gate.interval.startswith("bootstrap"):
        return None
    policy = Policy(config, run.rules or "", datetime.datetime.now(tz=datetime.UTC).date())

    def after_round(records: Sequence[Record]) -> frozenset[str]:
        done = 1 + sum(isinstance(record, Look) for record in records)
        looks = planned_looks(config.plan, () if run.shard else records)
        if done not in looks:
            return frozenset()
        # the loop knows what it measured; the run line, which holds what is remembered, is not among it
        measured = [record for record in records if not isinstance(record, Run)]
        located = [Located(record, "this run", number) for number, record in enumerate([run, *measured], 1)]
        evidence = gather(located, config)
        rounds = Round(done=done, planned=looks[-1])
        return look(msgspec.structs.replace(evidence, looks=looks, rounds=rounds), policy)

    return after_round
