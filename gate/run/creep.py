"""A creep check in the making: its two sides, the nights that are remembered, and what this one adds to them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from gate.cli.groups import MeasureOptions, RulesOptions
from gate.config.config_text import ConfigError, from_tables
from gate.config.parse import parse
from gate.config.resolve import over, tables_of
from gate.config.rules import most_builds
from gate.config.types import Config
from gate.decide.creep import night_of
from gate.decide.policy import policy_at, read_rules
from gate.decide.report import decide_by
from gate.evidence.lines import Inputs, of_this_run
from gate.model import Record, Run, UserError
from gate.model.history import CaseNights, CreepRun
from gate.planning.deciding import next_plan
from gate.run.job import Job
from gate.run.memory import barred, history_path, project_name
from gate.run.project import Project, checkout, config_at, project_of, remember_outputs
from gate.store.memory import HistoryError, Session, Sessions
from harness.source.base_and_head import default_tip, pinned

_HOW = 'add `[creep]` with `against = "latest-tag"` or a commit (docs/creep.md), or `--set creep.against=REF`'


@contextlib.contextmanager
def open_creep(options: MeasureOptions, rules: RulesOptions, outputs: Collection[Path] = ()) -> Iterator[Project]:
    """Find the repository around the working directory, the pin and the tip of the default branch.

    The rules are those of the default branch's tip, whatever head is: a commit that is not merged yet never loosens
    them. Ends as open_project does.

    Raises: UserError: no repository, no [creep], no such tag or commit, or nothing that both sides measure.
    """
    if options.base is not None:
        raise UserError("does not go with --creep, whose base is the pin: `--set creep.against=REF`", option="base")
    if rules.rules in ("base", "head"):
        raise UserError(f"{rules.rules}: with --creep the rules are those of the default branch", option="rules")
    with checkout() as repository:
        remember_outputs(repository, outputs)
        tip = default_tip(repository, os.environ)
        file = rules.config or (Path(rules.rules) if rules.rules else None)
        if file is not None:
            text = read_rules(file, "config" if rules.config else "rules")
        elif (own := config_at(repository, tip.revision, "head")) is not None:
            text = replace(own, name=f"{tip.commit.ref}: {own.name.rpartition(': ')[2]}")
        else:
            raise ConfigError(
                "", f"{tip.commit.ref} has no perfgate.toml: run `perfgate init` to write one, and commit it"
            )
        creep = parse(over(text, from_tables(tables_of(rules.sets), "--set"))).creep
        if creep is None:
            raise ConfigError("", f"{text.name} has no [creep] table: {_HOW}")
        pin, sources = pinned(repository, tip, options.head, creep.against, creep.tags)
        yield _as_creep(replace(project_of(repository, sources, rules, given=text), pin=pin))


def _as_creep(project: Project) -> Project:
    """Give a project the rules of a creep check.

    Every night measures all rounds: an average of nights that ended early because of what they showed is no average.
    Inconclusive nights never fail.
    """
    settings = project.settings
    shared = set(settings.benchmarks["base"]) & set(settings.benchmarks["head"])
    if settings.benchmarks["head"] and not shared:
        pin = project.pin.name if project.pin else "base"
        raise UserError(
            f"[creep]: {pin} has none of head's benchmarks, so there is nothing to compare: pin a later commit, with "
            "`--set creep.against=REF`"
        )
    rules = settings.rules
    threshold = rules.creep.threshold if rules.creep is not None else None
    gate = msgspec.structs.replace(rules.gate, threshold=threshold or rules.gate.threshold, inconclusive="pass")
    plan = msgspec.structs.replace(rules.plan, builds=most_builds(rules.plan, early=False))
    changed: Config = msgspec.structs.replace(rules, gate=gate, plan=plan)
    return replace(project, settings=replace(settings, rules=changed))


# --- the nights -------------------------------------------------------------------------------------------------------


def with_nights(job: Job, option: Path | None) -> Job:
    """Give the run of a job the pin and the nights that are remembered; a resumed one has them; option: --history."""
    pin = job.project.pin
    if pin is None or job.run.creep is not None:
        return job
    unused, cases = None, list[CaseNights]()
    try:
        history = Sessions(history_path(option, job.project))
        cases = history.nights(project_name(job.project.repository), str((job.run.host or {}).get("fingerprint", "")))
    except HistoryError as error:
        unused = str(error)
    creep = CreepRun(pin=pin, cases=cases, unused=unused)
    return replace(job, run=msgspec.structs.replace(job.run, creep=creep))


def append_night(
    option: Path | None, project: Project, run: Run, records: Sequence[Record], *, allowed: bool = True
) -> list[str]:
    """Remember what this night showed of each case; return warnings.

    option: --history. run: its run line, records: all of its file. allowed: false where the caller knows of a reason
    not to; a workflow of a pull request is found out here.
    """
    if run.creep is None:
        return []
    why = barred(os.environ)
    if why is not None or not allowed:
        return [f"this night is not remembered: {why or 'this workflow may not write the history'}"]
    policy = policy_at(run, project.settings.rules)
    # its run line without the nights before: what this one shows by itself
    alone = msgspec.structs.replace(run, creep=None)
    own = Inputs(of_this_run(alone if isinstance(record, Run) else record for record in records), [], [])
    found = decide_by(own, policy, RulesOptions(), next_plan).report.findings
    cases = [
        CaseNights(
            benchmark=finding.benchmark, metric=finding.metric, statistic=finding.statistic, factors=finding.factors,
            nights=[night],
        )
        for each in found
        # which view decides may change, and each needs its nights
        for finding in each.views
        if (night := night_of(finding, run)) is not None
    ]  # fmt: skip
    session = Session(
        id=run.id or "", created=run.created or "", kind="night", project=project_name(project.repository),
        host=run.host or {}, commit=run.head.sha if run.head else None,
    )  # fmt: skip
    try:
        Sessions(history_path(option, project)).add(session, [], cases)
    except HistoryError as error:
        return [f"this night is not remembered: {error}"]
    return []
