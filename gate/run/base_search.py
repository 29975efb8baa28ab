"""What base runs before anything of head has; and of a base that is broken, what head is compared with instead.

Base is tried by its own configuration, or built as head says where it has none; a change that repairs base can pass.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

import msgspec

from gate.config.types import Benchmark
from gate.model import UNBUILT, Commit, Cut, Failure, Side, UserError
from gate.model.records import working_ancestor
from gate.model.warnings.setup import BaseBroken
from gate.run.first_comparison import keep_on_base, lacking
from gate.run.hints import was_exhausted
from gate.run.job import Job
from gate.run.project import overlaid_sources, with_base
from gate.run.workshop import Workshop
from gate.words.failures import error, sentence
from harness.errors import SourceError
from harness.loop.execution import Executions, Unmeasured
from harness.loop.measure import cut_at
from harness.loop.schedule import BuildStep, ExecutionStep
from harness.process.budget import BudgetEndedError
from harness.process.process_groups import NOT_STARTED
from harness.source.base_and_head import SideSource, Sources, fetch_all
from harness.source.repository import checkout_hint
from harness.source.tracked import facts_of, restore

SECONDS = 30.0
"""That the first starts take of all benchmarks together, but for the least of each; and at most this share of the
budget. What still runs then has started."""
_SHARE = 0.05
_LEAST = 0.5


@dataclass(frozen=True, slots=True)
class Started:
    """What came of a side's first build, and of the first start of each of its benchmarks.

    runs: the benchmarks that start, or suites of which some cases do. failures: of those that fail. broken: each failed
    twice alike, by itself. built: its build succeeded. begun: when it began, in nanoseconds. cut: where the budget
    ended it, which tells nothing else. unstarted: no program of those that failed could be started.
    """

    runs: frozenset[str]
    failures: tuple[Failure, ...]
    broken: bool
    built: bool
    begun: int
    cut: Cut | None = None
    unstarted: bool = False


def try_side(made: Workshop, side: Side = "base") -> tuple[Workshop, Started]:
    """Build a side, and start each of its benchmarks once; what fails is tried once more in the same way.

    Returns what goes on in the same trees, which are as the build has left them, or empty; and what came of it.

    Raises:
        OSError: perfgate's own files cannot be written.
        SourceError: the side's tree cannot be made.
    """
    begun, at = time.time_ns(), list[BuildStep | ExecutionStep]()
    try:
        return _try_side(made, side, begun, at.append)
    except BudgetEndedError as error:
        if error.phase == "comparison":
            # an execution, though it has no instrument, whose seconds the cut has
            error.phase = "execution"
            made.conditions.budget.note("start", -error.seconds)
        nothing = Started(frozenset(), (), broken=False, built=False, begun=begun, cut=cut_at(at[-1], error))
        return made.afresh(made.job), nothing


def _try_side(
    made: Workshop, side: Side, begun: int, begin: Callable[[BuildStep | ExecutionStep], None]
) -> tuple[Workshop, Started]:
    step = _build_step(made, side)
    begin(step)
    record = made.builder.build_ahead(side, 0, step.seed, step.factors)
    if isinstance(record, Failure):
        fault = made.builder.fault(side, step.factors)
        # while the tree stands: a disk that it fills is full, and what the build made is there
        own = _is_own(made, record, fault)
        again, second = made.afresh(made.job), None
        if own:
            second = again.builder.build(step.side, 0, step.seed, step.factors)
        alike = isinstance(second, Failure) and second.kind == record.kind
        alike = alike and again.builder.fault(step.side, step.factors) == fault
        record = _flaky(record) if own and not alike else record
        return again.afresh(made.job), Started(frozenset(), (record,), broken=alike, built=False, begun=begun)
    before = facts_of(made.trees.made(side).path)
    steps, executions = _first_steps(made, side), made.executions(1)
    benchmarks = {b.name: b for b in made.job.project.settings.sides[side].benchmark}
    # a port or another program may be why one with a service or a load fails: it is taken to run, and fails as ever
    runs = {name for name in steps if benchmarks[name].service is not None or benchmarks[name].load is not None}
    steps = {name: each for name, each in steps.items() if name not in runs}
    failures, broken, unstarted = list[Failure](), True, True
    budget = made.conditions.budget
    end = time.monotonic() + min(SECONDS, _SHARE * budget.limit)
    with ExitStack() as stack:
        stack.enter_context(budget.timed("start"))
        stack.callback(executions.end_round)
        for number, (name, each) in enumerate(steps.items()):
            begin(each)
            share = max(_LEAST, (end - time.monotonic()) / (len(steps) - number))
            ran = _start(made, executions, benchmarks[name], each, share)
            if ran.failure is None or ran.ended:
                runs.add(name)
                continue
            kept = str(made.builder.kept(side, each.building))
            failure = msgspec.structs.replace(ran.failure, directory=kept)
            own = alike = _is_own(made, ran.failure, ran.fault)
            if own:
                repeated = _start(made, executions, benchmarks[name], each, share)
                alike = repeated.failure is not None and not repeated.ended and repeated.fault == ran.fault
            if alike and benchmarks[name].measured.suite:
                directory = made.builder.directory(each.side, each.building)
                # one case of it fails: the others can be compared
                runs |= {name} if executions.make(benchmarks[name], each, directory).executions else set()
            failures.append(_flaky(failure) if own and not alike else failure)
            broken, unstarted = broken and alike, unstarted and ran.fault in NOT_STARTED
    # what the first starts have left there the other side's tree does not have
    whole = restore(made.trees.made(side).path, before)
    broken, unstarted = broken and bool(failures), unstarted and bool(failures)
    found = Started(frozenset(runs), tuple(failures), broken=broken, built=True, begun=begun, unstarted=unstarted)
    if not whole:
        budget.note("again", (record.seconds or 0.0) + (record.checked or 0.0) + (record.setup or 0.0))
        made = made.afresh(made.job)
    return made, found


def _flaky(failure: Failure) -> Failure:
    return msgspec.structs.replace(failure, hint="tried again in the same way it did not fail so: it is not reliable")


def _start(
    made: Workshop, executions: Executions, benchmark: Benchmark, step: ExecutionStep, seconds: float
) -> Unmeasured:
    return executions.run_unmeasured(benchmark, step, made.builder.directory(step.side, step.building), seconds=seconds)


def _is_own(made: Workshop, failure: Failure, fault: int | None) -> bool:
    """Return whether a program failed by itself, and by what its commit holds, as far as that shows.

    No signal, time-out or full disk had it fail, nor a file of the checkout that git does not track.
    """
    if failure.kind not in (*UNBUILT, "execution") or fault is None or was_exhausted(failure.stderr):
        return False
    here = msgspec.structs.replace(failure, directory=str(made.trees.found(failure.side or "base")))
    return not checkout_hint(made.trees.repository)(here, fault in NOT_STARTED)


def _build_step(made: Workshop, side: Side = "base") -> BuildStep:
    return next(step for step in made.job.rounds[0].builds if step.side == side)


def _first_steps(made: Workshop, side: Side = "base") -> Mapping[str, ExecutionStep]:
    """Return a side's first execution of each benchmark; of base only those that head has too."""
    steps: dict[str, ExecutionStep] = {}
    for step in made.job.rounds[0].executions:
        if step.side == side:
            steps.setdefault(step.benchmark, step)
    return steps


# --- base has no configuration ----------------------------------------------------------------------------------------


def try_without_config(made: Workshop) -> tuple[set[str], Failure | None] | None:
    """Build base as head says, and execute each benchmark there once; None: the budget has ended.

    Returns those that it runs, and what became of the first that it does not.

    Raises: OSError: perfgate's own files cannot be written.
    """
    repository, revision = made.trees.repository, made.trees.sources.base.revision
    where = str(repository.prefix)
    if not (
        where == "." or repository.git.maybe("rev-parse", "--verify", "--quiet", f"{revision}:{where}") is not None
    ):
        return set(), None
    try:
        built = _build_step(made)
        record = made.builder.build("base", 0, built.seed, built.factors)
        if isinstance(record, Failure):
            return set(), record
        benchmarks = {b.name: b for b in made.job.project.settings.sides["base"].benchmark}
        steps = _first_steps(made)
        directory = made.builder.directory("base", built.factors)
        executions = made.executions(1)
        runs: set[str] = set()
        failures: list[Failure] = []
        try:
            for name, step in steps.items():
                done = executions.make(benchmarks[name], step, directory)
                runs |= {name} if done.executions else set()
                failures += done.failures if not done.executions else []
        finally:
            executions.end_round()
        return runs, next(iter(failures), None)
    except BudgetEndedError:
        return None


# --- base is broken ---------------------------------------------------------------------------------------------------


MOST = 5
"""Ancestors that are tried."""
_BUDGET = "the budget ended before one of its ancestors worked: raise it"

Start = Callable[[Job, Sources, Side], Started]
"""Builds a side of a job, with these sources, and starts its benchmarks."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The job that is measured, with another base where that was broken, and what failed before it."""

    job: Job
    base_failures: Sequence[Failure] = ()
    """They count against the gate."""
    head_failures: Sequence[Failure] = ()
    """What fails on head too, though nothing is measured of it."""


@dataclass(frozen=True, slots=True)
class _Found:
    """What a search came to.

    job: with the base that head is compared with, in the benchmarks that it runs; None: no commit runs any. tried: how
    many ancestors were. unclear: why that does not say that base and its ancestors are broken: what counts as failed.
    """

    job: Job | None
    tried: int
    unclear: Sequence[Failure] = ()


def choose_base(job: Job, first: Started, start: Start) -> Comparison:
    """Find what to compare head with: base's nearest ancestor that works, or else the nearest that runs something.

    Nothing of head has run before every commit was tried that may take base's place. Only then is base tried with the
    files that its own [build] overlay takes from head: where that works, it is compared as ever.

    first: how base is broken.

    Raises:
        OSError: perfgate's own files cannot be written.
        UserError: the command line names a program that neither side has.
    """
    found = _search(job, first, start)
    overlaid = overlaid_sources(job.project)
    if overlaid.base.revision != job.project.sources.base.revision:
        came = start(job, overlaid, "base")
        if came.built and not came.failures:
            return Comparison(job)
    if found.unclear:
        return Comparison(job, found.unclear)
    failure, base = first.failures[0], job.project.sources.base.commit.sha
    why = BaseBroken(
        base=base, failed=failure.kind, benchmark=failure.benchmark, status=failure.status,
        output=tuple(filter(None, (error(failure),))), tried=found.tried,
        compared=found.job.project.sources.base.commit.sha if found.job is not None else None,
    )  # fmt: skip
    if found.job is not None:
        return Comparison(found.job.told(why))
    head = start(job, job.project.sources, "head")
    if first.unstarted and head.unstarted and job.project.asked.given is not None:
        neither = f"{sentence(head.failures[0])}; nor does it start on base"
        raise UserError(f"{neither}: name an executable program that git tracks or the build makes")
    if head.failures:
        # nothing is repaired, and both are told, whichever would be built first
        return Comparison(job, first.failures, head.failures)
    again = start(job, job.project.sources, "base")
    if not again.failures:
        # such as a server that did not answer for a while: by now it is head that may break base
        now = _BUDGET if again.cut is not None else "works now: it is not reliable"
        return Comparison(job, _hinted(first, now, "base was broken when it was tried first"))
    project, nothing = lacking(job.project, failure, alone=job.part is None, broken=why)
    return Comparison(job.of(project).told(nothing))


def _search(job: Job, first: Started, start: Start) -> _Found:
    """Try base's first-parent ancestors, the nearest first, until one works.

    Jobs that share a gate must choose alike, and each starts its own benchmarks only: there a commit works that builds.
    """
    several = job.part is not None
    best = _cut(job, first) if first.runs else None
    if several and first.built:
        return _Found(best, 0)
    repository, base = job.project.repository, job.project.sources.base
    listed = repository.git.line("rev-list", "--first-parent", f"--max-count={MOST + 1}", base.revision)
    shas = listed.split()[1:]
    for steps, sha in enumerate(shas, 1):
        candidate = _on(job, sha, steps)
        if candidate is None:
            continue
        try:
            came = start(candidate, candidate.project.sources, "base")
        except SourceError:  # it lacks the folder of the project, or a submodule that cannot be had
            continue
        works = came.built and not came.failures
        if (works and came.runs) or (several and came.built):
            return _Found(_cut(candidate, came), steps)
        if came.cut is not None:
            return _Found(None, steps, _hinted(first, _BUDGET))
        if not (works or came.broken):
            why = f"its ancestor {sha[:12]} fails in another way: {sentence(came.failures[0])}"
            return _Found(None, steps, _hinted(first, why))
        if best is None and came.runs:
            best = _cut(candidate, came)
    # raw, because in a shallow clone git hides the parents that it does not have
    oldest = ("cat-file", "commit", [base.revision, *shas][-1])
    cut = repository.shallow and len(shas) < MOST
    if cut and b"\nparent " in repository.git.run(*oldest).partition(b"\n\n")[0]:
        advice = fetch_all(repository) or "fetch more of its history"
        why = f"this shallow clone has no ancestor of it to compare head with: {advice}"
        return _Found(None, len(shas), _hinted(first, why))
    return _Found(best, len(shas))


def _hinted(first: Started, why: str, what: str = "base itself is broken") -> list[Failure]:
    return [msgspec.structs.replace(each, hint=f"{what}, and {why}") for each in first.failures]


def _on(job: Job, sha: str, steps: int) -> Job | None:
    """Return the job with an ancestor as base; None: its configuration is wrong, measures otherwise or is not there."""
    ref = job.project.sources.base.commit.ref or "base"
    source = SideSource(Commit(ref=f"an ancestor of {ref}", sha=sha), sha)
    try:
        project = with_base(job.project, source, working_ancestor(ref, steps))
    except UserError:
        return None
    project = replace(project, settings=job.treated.with_baseline(project.settings))
    return job.of(project)


def _cut(job: Job, came: Started) -> Job:
    return job.of(keep_on_base(job.project, came.runs))
