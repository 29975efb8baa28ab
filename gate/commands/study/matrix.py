"""perfgate study plan --matrix: the jobs of a study on several runners, for the matrix of a workflow."""

from __future__ import annotations

import json
from typing import TextIO

from gate.cli.groups import RulesOptions
from gate.cli.values import MOST_JOBS
from gate.commands.study.design import open_design
from gate.commands.study.options import StudyOptions
from gate.config.treatments import Job, jobs, labels_of
from gate.model import UserError


def run(options: StudyOptions, rules: RulesOptions, out: TextIO) -> int:
    """Print one line of JSON: {"include": [{"session", "sessions", "runner", "label", "name"}, ...]}.

    runner is what runs-on takes, null where no factor names one; label is the same as the option --runner has it.

    Raises:
        UserError: no [study], a config that is wrong, or more jobs than a workflow may have.
    """
    with open_design(options.base, options.head, rules) as design:
        found = jobs(design.study, design.planned, options.sessions or design.project.settings.rules.plan.sessions)
    if len(found) > MOST_JOBS:
        raise UserError(
            f"this study has {len(found)} jobs, and a matrix has at most {MOST_JOBS}: ask for fewer with --sessions"
        )
    out.write(json.dumps({"include": [_job(each) for each in found]}, separators=(",", ":")) + "\n")
    return 0


def _job(job: Job) -> dict[str, object]:
    label = ",".join(labels_of(job.runner)) if job.runner is not None else ""
    session = f"session {job.session} of {job.sessions}"
    return {
        "session": job.session,
        "sessions": job.sessions,
        "runner": job.runner,
        "label": label,
        "name": f"{label}, {session}" if label else session,
    }
