"""The line that says why a command failed: on standard error for people, as data for the action."""

from __future__ import annotations

from typing import TextIO

from gate.decide.ended_early import budget_ended
from gate.decide.next_steps import raise_budget
from gate.evidence.records import Located
from gate.evidence.unfinished import unfinished
from gate.github.runner import HandedOn
from gate.run.job import Job
from gate.run.run_folder import records_of


class Heard(HandedOn):
    """Hands text on, and keeps why the command ended badly."""

    why = ""


def say_why(err: TextIO, why: str, *, as_input: str | None = None) -> None:
    """Write why a command ends badly; as_input: the same for the action, whose inputs are no options."""
    err.write(f"perfgate: {why}\n")
    if isinstance(err, Heard):
        err.why = as_input or why


# --- a budget that ended before a round -------------------------------------------------------------------------------


def ended_before_a_round(job: Job) -> str | None:
    """Say what the budget of a run was spent on, if it ended before one round was complete; else None."""
    rules = job.project.settings.rules
    records = [Located(record, "this run", number) for number, record in enumerate(records_of(job.out), 1)]
    found = unfinished(records, float(rules.plan.budget))
    ended = budget_ended(found, job.run, rules) if found else None
    return f"{ended.sentence()}. {raise_budget(ended).text}" if ended else None
