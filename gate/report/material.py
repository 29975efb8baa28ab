"""What a page shows beside its report: the values behind it, the files they came from, how to decide them again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from gate.cli.groups import RulesOptions
from gate.config.rules import matches
from gate.decide.policy import policy_of
from gate.decide.report import Decided
from gate.evidence.gather import gather
from gate.evidence.records import read_inputs
from gate.evidence.runs import as_in_file, run_of
from gate.model import Case, Execution, Report, Run, UserError
from gate.model.report import RunFacts


class Material(msgspec.Struct, frozen=True, eq=False):
    """What is at hand beside a report; each part may be empty.

    cases: with the values of both sides. files: names of those they were read from. executions: all that gave values,
    also of benchmarks without a finding. options: of the command line by which the measurements were decided, beside
    their names.
    """

    cases: Sequence[Case] = ()
    files: Sequence[str] = ()
    executions: Sequence[Execution] = ()
    options: Sequence[str] = ()


class Kept(msgspec.Struct, frozen=True):
    """A report as it was decided and written, and where the measurements would lie that it was decided over."""

    report: Report
    measurements: Path


Shown = Decided | Kept
"""What a format writes."""


def material_of(shown: Shown) -> Material:
    """Bring together the values, the files they came from, and how to decide them again.

    Beside a report that was kept there is nothing where the measurements are of another run, or cannot be read.
    """
    if isinstance(shown, Kept):
        # a pipe would wait for its writer
        if not shown.measurements.is_file():
            return Material()
        try:
            inputs, options = read_inputs([str(shown.measurements)]), RulesOptions()
            policy = policy_of(run_of(inputs.records), options)
            evidence = gather(inputs.records, policy.config, [], policy.measured)
        except UserError:
            return Material()
        if _identity(evidence.run) != _identity(shown.report.run):
            return Material()
    else:
        inputs, options, evidence = shown.inputs, shown.options, shown.evidence
    apart = evidence.run is not None and evidence.run.apart
    named = [("--config", str(options.config) if options.config else None), ("--rules", options.rules)]
    words = [word for name, value in named if value for word in (name, value)]
    words += [word for value in options.sets for word in ("--set", value)]
    return Material(
        cases=[as_in_file(case) for case in evidence.cases] if apart else evidence.cases,
        files=[file.name for file in inputs.files],
        executions=[
            e
            for located in inputs.records
            if isinstance(e := located.record, Execution)
            and (not options.benchmarks or any(matches(glob, e.benchmark) for glob in options.benchmarks))
        ],
        options=(words + [word for value in options.benchmarks for word in ("--benchmark", value)]),
    )


def _identity(run: Run | RunFacts | None) -> tuple[str | None, ...]:
    sides = (run.base, run.head) if run is not None else (None, None)
    return (run.id if run is not None else None, *(side.sha if side else None for side in sides))
