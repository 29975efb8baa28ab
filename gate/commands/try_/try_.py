"""A trial: one build of head and one execution of every benchmark, with what follows from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TextIO

import msgspec

from gate.cli.groups import MeasureOptions, OutputOptions
from gate.codes import Exit
from gate.commands.try_ import words
from gate.commands.try_.command import Options
from gate.commands.try_.executions import each_tried
from gate.commands.try_.plans import plans, round_cost
from gate.commands.try_.result import Built, RoundCost, Trial, Tried
from gate.config.commands import by_hand
from gate.config.types import Config
from gate.document import terminal
from gate.evidence.records import DEFAULT_FOLDER
from gate.model import SIDES, Build, Failure, UserError
from gate.model.warnings import AnyWarning, typed
from gate.model.warnings.setup import BudgetHoldsFew
from gate.report.outputs import deliver, require_writable, targets
from gate.run.job import Job, prepare, quantile_warnings
from gate.run.live_lines import Live, Steps
from gate.run.locked import not_free
from gate.run.measuring import Measuring, open_run
from gate.run.project import open_itself
from gate.run.refusal import refuse_unsafe
from gate.run.strict import refuse_unfit_for, shim_warnings
from gate.run.workshop import Workshop, workshop
from gate.writing.plain import visible
from gate.writing.units import Duration, format_duration
from harness.build.cache import KeptBuild
from harness.host.fitness.examination import examine, unfit
from harness.host.lock import NotFreeError
from harness.instruments.declaration import declared
from harness.process.budget import Budget
from harness.source.trees import open_trees

_FOLDER = Path(DEFAULT_FOLDER) / "try"
_SHORT = 0.005
"""Seconds below which the start of a process is most of its time: hyperfine warns below the same."""
_UNFIT = 2.0
"""How much longer a trial may take on a host that others use."""
_TWICE = 1.0, 120.0
"""Seconds of a full build that is made once more: a shorter one does not matter, and a longer one costs too much."""


class HeldError(UserError):
    """Another perfgate measures on this machine."""

    exit_code = Exit.ERROR


def run(options: Options, out: TextIO, err: TextIO) -> int:
    """Try what a check of head would measure; 0 where every benchmark gave values or takes long, otherwise 4.

    Raises:
        UserError: nothing to measure, or a config that is wrong; UnfitError with --strict; RefusedError where it may
            not run in this workflow; HeldError.
        EndedError: a signal.
    """
    refuse_unsafe()
    outputs = OutputOptions({"json": options.json} if options.json is not None else {}, options.quiet)
    measuring = MeasureOptions(head=options.head, strict=options.strict, wait=options.wait)
    require_writable(outputs)
    with open_run(measuring, _FOLDER, err, quiet=options.quiet) as making:
        project = making.enter(open_itself(options.head, options.rules, making.outputs(targets(outputs))))
        job = prepare(project, measuring, making.folder_for(project))
        if options.strict:
            refuse_unfit_for(job)
        trial = _tried(making, job, options, err)
    own = _rules(job, trial.cost, options)

    def text() -> str:
        if options.quiet:
            return "".join(f"{line}\n" for line in words.brief(trial))
        return terminal.render(words.document_of(trial, own, advises=options.advises), terminal.bounded(out))

    deliver(outputs.files, {"json": lambda: words.as_json(trial, own)}, text, out)
    return trial.exit_code


def _rules(job: Job, cost: RoundCost | None, options: Options) -> Config:
    """Return the rules of a check; of a file that is being written the budget holds the first builds, too."""
    rules = job.project.settings.rules
    if options.advises or cost is None:
        return rules
    budget = Duration(float(rules.plan.budget) + 60 * round(cost.once / 60))
    return msgspec.structs.replace(rules, plan=msgspec.structs.replace(rules.plan, budget=budget))


def _tried(making: Measuring, job: Job, options: Options, err: TextIO) -> Trial:
    repository, head = job.project.repository, job.project.settings.sides["head"]
    repository.store.work.remove_leftovers()
    try:
        making.hold(job)
    except NotFreeError as error:
        raise HeldError(not_free(error, making.waits(job), longer=True)) from None

    measured = {step.benchmark for step in job.rounds[0].executions if step.side == "head"}
    say = Steps(Live(err, quiet=options.quiet), "try", 1 + len(measured))
    # before anything is built: a build is load too
    host = {check.name: check.value for check in unfit(examine())}
    # what a round costs is found out now
    warnings: list[AnyWarning] = [w for w in typed(job.run.warnings) if not isinstance(w, BudgetHoldsFew)]
    warnings += shim_warnings(job)
    budget = Budget()
    with (
        open_trees(repository, job.project.sources, share_paths=dict.fromkeys(SIDES, head.build.share)) as trees,
        workshop(job, trees, budget) as made,
        closing(say),
    ):
        warnings += trees.warnings
        say(words.building(head.build))
        step = next(each for each in job.rounds[0].builds if each.side == "head")
        record = made.builder.build("head", 0, step.seed)
        begun = Trial(head=job.run.head, host=host, warnings=tuple(warnings))
        if isinstance(record, Failure):
            return msgspec.structs.replace(begun, failure=msgspec.structs.replace(record, directory=None))
        built = _built(job, record, made.builder.known("head"))
        if not built.relinks and not record.cached and built.command and _TWICE[0] <= built.seconds <= _TWICE[1]:
            # what compilers keep (Go, cargo) makes later builds shorter: one tells how much
            again = made.builder.build("head", 1, step.seed + 1)
            if isinstance(again, Failure):
                return msgspec.structs.replace(begun, failure=msgspec.structs.replace(again, directory=None))
            built = msgspec.structs.replace(built, later=again.seconds or 0.0)
        return _executed(made, built, begun, options, say)


def _executed(made: Workshop, built: Built, begun: Trial, options: Options, say: words.Say) -> Trial:
    """Execute the benchmarks, and put what follows from that into a trial."""
    job = made.job

    def tells(benchmark: str, number: int, of: int, seconds: float) -> None:
        say(f"trying {visible(benchmark)} ({number} of {of}), {format_duration(seconds)} at most")

    tried = list(each_tried(made, tells, _UNFIT if begun.host else 1.0, patience=options.patience))
    changed = next(iter(made.builder.changed(0, executed=True)), None)
    rules = _rules(job, round_cost(built, tried, job.project.settings.rules), options)
    # counts of starts are those of a budget
    cost = round_cost(built, tried, rules)
    return msgspec.structs.replace(
        begun,
        built=built,
        failure=changed,
        benchmarks=tuple(tried),
        cost=cost,
        plans=plans(cost, tried, rules) if cost else None,
        notes=tuple(notes_of(rules, tried)),
    )


def _built(job: Job, record: Build, kept: KeptBuild | None) -> Built:
    table = job.project.settings.sides["head"].build
    seconds = record.seconds or 0.0
    again = record.checked is not None or record.cached or table.relink not in ("auto", "off")
    relinks = record.full is None and again
    if table.command is None:
        # where a set-up stays nothing is made again; else every build is a checkout
        relinks, seconds = False, 0.0 if record.setup is not None else seconds
    return Built(
        command=by_hand(table.command, {"seed": str(record.seed)}) if table.command is not None else None,
        setup=record.setup,
        seconds=seconds,
        later=record.checked if relinks and record.checked is not None else seconds,
        relinks=relinks,
        full=record.full,
        artifacts=tuple(record.artifacts),
        needs_git=record.needs_git,
        compiled=kept.seconds if record.cached and kept is not None else None,
        kept=kept is not None,
    )


def notes_of(rules: Config, tried: Sequence[Tried]) -> Iterator[str]:
    """Say what to mind: quantiles, starts that take almost no time, and zeros."""
    yield from quantile_warnings(rules)
    for each in tried:
        name, cases = each.benchmark, [case for case in each.cases if case.decided and not case.exact]
        shortest = min((case.mean for case in each.cases if case.metric == "time"), default=_SHORT)
        if declared(each.instrument).any_command and shortest < _SHORT:
            yield (
                f"{name} takes {format_duration(shortest)}, and much of that is starting a process: give it more work, "
                'or have the program measure itself (instrument = "values")'
            )
        if zeros := [case.benchmark if case.benchmark != name else case.metric for case in cases if not case.mean]:
            yield f"{name}: {', '.join(zeros[:3])} is 0, of which no ratio can be told: leave it out (exclude)"
