"""Measurements -> report with the plan that would settle it, as check, decide and report do it."""

from __future__ import annotations

from contextlib import suppress

from msgspec.structs import replace

from gate.cli.groups import RulesOptions
from gate.config.rules import Policy, matches
from gate.decide.decided import Decided
from gate.decide.policy import policy_of
from gate.decide.report import decide
from gate.evidence.gather import gather
from gate.evidence.inputs import MEASUREMENTS
from gate.evidence.records import Inputs
from gate.evidence.runs import run_of
from gate.model import Execution, Same, UserError
from gate.model.report import NextPlan
from gate.model.warnings.measured import SelectedOnly
from gate.writing.phrases import none_of


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
        raise UserError(f"{given}: {none_of(given, names)}", option="benchmark")
    # who looks for long enough finds a significant one among parts of what was measured
    measured = {e.benchmark for located in inputs.records if isinstance(e := located.record, (Execution, Same))}
    selected = [name for name in measured if any(matches(glob, name) for glob in options.benchmarks)]
    part = bool(options.benchmarks) and len(selected) < len(measured)
    warnings = [*evidence.warnings, *([SelectedOnly(len(selected), len(measured))] if part else []), *inputs.warnings]
    warned = replace(evidence, warnings=warnings)
    report = decide(warned, policy)
    folders = (str(file.parent if file.name == MEASUREMENTS else file) for file in inputs.files)
    # who typed no command, as in a workflow, has none of these files
    again = [*options.typed] or (["decide", *folders] if report.run.typed else None)
    plan = None
    if report.verdict == "inconclusive" and not report.run.imported:
        from gate.planning.basis import from_readings
        from gate.planning.plan import advised

        with suppress(UserError):
            cheapest = advised(from_readings([inputs], ["this run"], policy, options.benchmarks))
            if cheapest is not None:
                plan = NextPlan(cheapest.looks[-1], cheapest.executions, cheapest.iterations, cheapest.most)
    return Decided(replace(report, run=replace(report.run, again=again, plan=plan)), inputs, evidence, policy, options)
