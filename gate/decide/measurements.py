"""Measurements -> report, as check, decide and report do it."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from gate.cli.groups import RulesOptions
from gate.config.rules import Policy, matches
from gate.config.types import Config
from gate.decide import decide, look
from gate.decide.policy import policy_at, policy_of
from gate.evidence.gather import gather
from gate.evidence.inputs import MEASUREMENTS, Inputs
from gate.evidence.looks import planned_looks
from gate.evidence.records import Located
from gate.evidence.runs import run_of
from gate.model import AfterRound, Evidence, Execution, Look, Record, Report, Round, Run, Same, UserError
from gate.model.report import NextPlan
from gate.model.warnings.measured import SelectedOnly


class Decided(msgspec.Struct, frozen=True, eq=False):
    """A report, and what it was decided over."""

    report: Report
    inputs: Inputs
    evidence: Evidence
    policy: Policy
    options: RulesOptions
    """What was asked for, beside the policy that came of it."""


def decide_inputs(inputs: Inputs, options: RulesOptions, *, label: str | None = None) -> Decided:
    """Decide over measurements by the rules that the options name, otherwise by those of the run.

    label: what accepts every regression, in words.

    Raises:
        UserError: files that contradict each other, or rules that cannot be read.
    """
    run = run_of(inputs.records)
    return decide_by(inputs, replace(policy_of(run, options), label=label), options)


def decide_by(inputs: Inputs, policy: Policy, options: RulesOptions) -> Decided:
    """Decide over measurements by a policy; options: what was asked for, for its selection and for what a page says.

    Raises:
        UserError: files that contradict each other, or a selection of nothing.
    """
    evidence = gather(inputs.records, policy.config, options.benchmarks, policy.measured)
    found = evidence.cases or evidence.identical or evidence.failures or evidence.new
    if options.benchmarks and not found:
        names = sorted({name for r in inputs.records if (name := getattr(r.record, "benchmark", None))})
        given = " ".join(options.benchmarks)
        raise UserError(f"{given}: matches none of {', '.join(names) or 'nothing'}", option="benchmark")
    warnings = [*evidence.warnings, *_selection(inputs, options), *inputs.warnings]
    warned = replace(evidence, warnings=warnings)
    report = decide(warned, policy)
    folders = (str(file.parent if file.name == MEASUREMENTS else file) for file in inputs.files)
    # who typed no command, as in a workflow, has none of these files
    again = [*options.typed] or (["decide", *folders] if report.run.typed else None)
    plan = _next_plan(inputs, policy, options) if report.verdict == "inconclusive" and not report.run.imported else None
    return Decided(replace(report, run=replace(report.run, again=again, plan=plan)), inputs, evidence, policy, options)


def _next_plan(inputs: Inputs, policy: Policy, options: RulesOptions) -> NextPlan | None:
    from gate.planning.basis import from_readings
    from gate.planning.plan import advised

    try:
        found = advised(from_readings([inputs], ["this run"], policy, options.benchmarks))
    except UserError:
        return None
    return None if found is None else NextPlan(found.looks[-1], found.executions, found.iterations, found.most)


def _selection(inputs: Inputs, options: RulesOptions) -> list[SelectedOnly]:
    """Warn where only a part of what was measured is decided: who looks for long enough finds a significant one."""
    measured = {e.benchmark for located in inputs.records if isinstance(e := located.record, (Execution, Same))}
    selected = [name for name in measured if any(matches(glob, name) for glob in options.benchmarks)]
    if not options.benchmarks or len(selected) == len(measured):
        return []
    return [SelectedOnly(len(selected), len(measured))]


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
        if done not in looks:
            return frozenset()
        # the loop knows what it measured; the run line, which holds what is remembered, is not among it
        measured = [record for record in records if not isinstance(record, Run)]
        located = [Located(record, "this run", number) for number, record in enumerate([run, *measured], 1)]
        evidence = gather(located, config, measured=config)
        rounds = Round(done=done, planned=looks[-1])
        return look(replace(evidence, looks=looks, rounds=rounds), policy)

    return after_round
