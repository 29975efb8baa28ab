"""Between rounds: what a run asks, and which benchmarks need no more."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from gate.config.rules import Policy
from gate.config.types import Config
from gate.decide.design import design_of
from gate.decide.estimates import subjects_of
from gate.decide.policy import policy_at
from gate.decide.report import judge_looks
from gate.evidence.gather import gather
from gate.evidence.lines import of_this_run
from gate.evidence.time_spent import fewest_rounds, planned_looks
from gate.model import AfterRound, Look, Record, RoundsDone, Run
from gate.model.evidence import Evidence


def look(evidence: Evidence, policy: Policy) -> frozenset[str]:
    """Name the benchmarks that need no more executions after the rounds of the evidence.

    evidence.looks: the rounds of the looks planned; evidence.rounds.done: those that are complete. A benchmark is done
    when every finding of it is settled, when no look is left, or when no metric of any is decided.
    """
    subjects = subjects_of(evidence, policy)
    names = {subject.case.benchmark for subject in subjects}
    if evidence.cases and not subjects:
        # another round decides no more metrics
        return frozenset(case.benchmark for case in evidence.cases)
    if evidence.looks and evidence.rounds.done >= evidence.looks[-1]:
        return frozenset(names | {failure.benchmark for failure in evidence.failures if failure.benchmark})
    if evidence.rounds.done < min(evidence.looks, default=0):
        return frozenset()
    judged, _ = judge_looks(subjects, design_of(evidence, policy, subjects))
    # the loop knows of no failure that only the values of several executions show
    repeated = {failure.benchmark for failure in evidence.failures if failure.kind == "repeated" and failure.benchmark}
    return frozenset((names - {j.subject.case.benchmark for j in judged if not j.settled}) | repeated)


def interim_check(run: Run, config: Config) -> AfterRound | None:
    """Return what a run asks after each round; None when its design is fixed.

    config: what the run line holds, as for the report: a look and the report never judge by different rules.
    """
    fewest = fewest_rounds(config)
    if not planned_looks(config.plan, ()) or config.gate.interval.startswith("bootstrap"):
        return None
    policy = policy_at(run, config)

    def after_round(records: Sequence[Record]) -> frozenset[str]:
        done = 1 + sum(isinstance(record, Look) for record in records)
        looks = planned_looks(config.plan, () if run.shard else records, done, fewest)
        # after the first, what is measured is known: a name that no metric has ends it
        if done not in (1, *looks):
            return frozenset()
        # the loop knows what it measured; the run line, which holds what is remembered, is not among it
        measured = [record for record in records if not isinstance(record, Run)]
        evidence = gather(of_this_run([run, *measured]), config, measured=config)
        rounds = RoundsDone(done=done, planned=looks[-1])
        return look(replace(evidence, looks=looks, rounds=rounds), policy)

    return after_round
