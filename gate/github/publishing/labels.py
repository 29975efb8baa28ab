"""The label of a pull request that accepts its regressions."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from gate.cli.groups import RulesOptions
from gate.decide.policy import policy_of
from gate.evidence.inputs import Inputs
from gate.evidence.runs import run_of
from gate.github.event import Event
from gate.github.publishing.forge import forge_of, problem_line
from gate.github.publishing.request import token_of


@dataclass(frozen=True, slots=True)
class Label:
    """What accepts regressions, in words; None: nothing does."""

    words: str | None
    warnings: tuple[str, ...]
    """Why the pull request could not be asked."""
    denied: bool = False
    """Because the token has no permission that a comment needs as well."""


def queued(event: Event) -> int | None:
    """Return the number of the pull request that a merge group is for; None: this is no merge group.

    The queue makes a branch for each pull request, on top of those before it, and names it so.
    """
    found = re.fullmatch(r"refs/heads/gh-readonly-queue/.+/pr-([1-9][0-9]{0,9})-[0-9a-f]{40,64}", event.ref)
    return int(found[1]) if found and event.name == "merge_group" else None


def accepted_by(wanted: str, pull: int, labels: Collection[str]) -> str | None:
    """Say in words that a label accepts; None: the pull request has none of this name, in whatever case."""
    present = wanted and wanted.casefold() in {label.casefold() for label in labels}
    return f"the label {wanted} of #{pull}" if present else None


def accepting_label(inputs: Inputs, pull: int, event: Event, environment: Mapping[str, str]) -> Label:
    """Ask the forge, now, whether the pull request has the label that the rules of the run name.

    Raises:
        UserError: the rules of the run cannot be read.
    """
    wanted = policy_of(run_of(inputs.records), RulesOptions()).config.gate.accept_label
    if not wanted or token_of(environment) is None:
        return Label(None, ())
    from gate.github.problems import Problem

    try:
        present = forge_of(event, environment).pull(pull).labels
    except Problem as problem:
        warning = problem_line(f"the labels of #{pull} cannot be read", problem)
        return Label(None, (warning,), denied=problem.permission is not None)
    return Label(accepted_by(wanted, pull, present), ())
