"""The line of a command without a report whose budget ended before one round was complete."""

from __future__ import annotations

from gate.decide.budget import budget_ended
from gate.decide.steps import raise_budget
from gate.evidence.records import Located
from gate.evidence.unfinished import unfinished
from gate.run.folder import records_of
from gate.run.job import Job


def ended_before_a_round(job: Job) -> str | None:
    """Say what the budget of a run was spent on, if it ended before one round was complete; else None."""
    rules = job.project.settings.rules
    records = [Located(record, "this run", number) for number, record in enumerate(records_of(job.out), 1)]
    found = unfinished(records, float(rules.plan.budget))
    ended = budget_ended(found, job.run, rules) if found else None
    return f"{ended.sentence()}. {raise_budget(ended).sentence()}" if ended else None
