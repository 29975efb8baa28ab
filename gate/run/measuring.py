"""A run in the making: its folder, the machine it holds, and the measuring of its job."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TextIO, TypeVar

import msgspec

from gate.cli.groups import MeasureOptions, RulesOptions
from gate.config.types import Builds, Config
from gate.evidence.records import MEASUREMENTS, Appender
from gate.model import SIDES, AfterRound, HostState, Record, Run, Side, UnprovedKind
from gate.model.records import Stop
from gate.model.warnings import AnyWarning, typed
from gate.model.warnings.hosts import UnfitHost
from gate.run.base_search import Comparison, Started, choose_base, try_side, try_without_config
from gate.run.first_comparison import keep_on_base, lacking, may_lack
from gate.run.interruption import Folder, orderly
from gate.run.job import Job, by_starts, counted, divisible, now, prepare
from gate.run.live_lines import Live, Steps, say_line
from gate.run.locked import WaitingLines, record_held
from gate.run.profiling import regressed
from gate.run.programs import open_programs, two_programs
from gate.run.progress import Progress
from gate.run.project import Project, open_project, overlaid_sources
from gate.run.run_folder import make_room, outputs_in, records_of, resumed
from gate.run.strict import refuse_unfit_for, shim_warnings, strictly
from gate.run.workshop import Workshop, one_path, workshop
from gate.words.failures import sentence
from gate.words.reports import commit
from harness.errors import LockError
from harness.host.fitness.counters import state
from harness.host.fitness.examination import standing_problems
from harness.host.lock import LockHolder, NotFreeError, host_lock, lock_file
from harness.loop.measure import Loop, MeasuredRounds
from harness.loop.turns import Lengths, Turns
from harness.process.budget import Budget
from harness.source.base_and_head import Sources
from harness.source.trees import Trees, open_trees
from harness.source.workdir import WorkDirectory

T = TypeVar("T")
InterimCheck = Callable[[Run, Config], AfterRound | None]
"""Makes, from a run line and the rules in force, what is asked after each round; None: nothing is."""


@contextmanager
def open_run(
    options: MeasureOptions, default: Path, err: TextIO, *, quiet: bool, folder: Folder | None = None
) -> Iterator[Measuring]:
    """Open a run in the working directory; until it is closed, a signal or a full disk ends it in an orderly way.

    options: what is measured and how. default: the folder of the run below the project's directory, where the options
    name none. err: takes what is said while it measures. quiet: nothing is said but errors. folder: that of several
    runs; None: one run has it.

    Raises: EndedError: a signal, or the measurements cannot be written; what was written stays.
    """
    folder = folder or Folder(options.out, default, resume=options.resume)
    with orderly(folder), ExitStack() as held:
        yield Measuring(options, folder, err, held, quiet=quiet)


class Measuring:
    """A run in the making: its folder, and from its first measurement until it is closed the machine."""

    def __init__(self, options: MeasureOptions, folder: Folder, err: TextIO, held: ExitStack, *, quiet: bool) -> None:
        """Begin; held: takes what is held until the run is closed. See open_run."""
        self._options = options
        self._folder = folder
        self._err = err
        self._held = held
        self._quiet = quiet
        self._holding = False
        self._one_of_many = False
        self._gates = False
        """Whether it measures the gate of a change, whose base may be broken."""

    def quietly(self) -> Measuring:
        """Return the same run, that writes no line while it measures: for one of many jobs."""
        made = Measuring(self._options, self._folder, self._err, self._held, quiet=self._quiet)
        made._holding = self._holding
        made._one_of_many = True
        return made

    def outputs(self, others: Collection[Path] = ()) -> list[Path]:
        """Name what will be written, as far as it is known before the project is; others: beside the folder."""
        return [*others, *(outputs_in(self._options.out) if self._options.out else [])]

    def enter(self, opened: AbstractContextManager[T]) -> T:
        """Return what was opened, until the run is closed: a project."""
        return self._held.enter_context(opened)

    def folder_for(self, project: Project) -> Path:
        """Return the folder of a run of this project; from now on it is known."""
        return self._folder.fix(project.repository.project)

    def lay_out(self, rules: RulesOptions, outputs: Collection[Path] = (), *, early: bool = True) -> Job:
        """Find the project around the working directory, and lay out what its gate measures.

        outputs: files that will be written beside the folder. early: whether looks may end it before the plan does.

        Raises: UserError: no project, nothing to measure, or a run that cannot be resumed.
        """
        programs = two_programs(self._options, rules)
        if programs is not None:
            project = self.enter(open_programs(programs, rules))
            return prepare(project, self._options, self._folder.fix(Path.cwd()), remembers=False, early=early)
        if self._options.creep:
            from gate.run.creep import open_creep, with_nights

            project = self.enter(open_creep(self._options, rules, self.outputs(outputs)))
            return with_nights(prepare(project, self._options, self.folder_for(project)), self._options.history)
        project = self.enter(open_project(self._options.base, self._options.head, rules, self.outputs(outputs)))
        self._gates = True
        return prepare(project, self._options, self.folder_for(project), early=early)

    def begin(self, job: Job, lines: Iterable[str]) -> None:
        """Make the folder of the run, and say what will be measured. Raises: UserError: it cannot be made."""
        self._folder.make(job.out)
        self._say(*lines)

    def measure(
        self, job: Job, interim_check: InterimCheck | None = None, *, explains: bool = False,
        seconds: float | None = None,
    ) -> tuple[Job, MeasuredRounds]:  # fmt: skip
        """Measure what is not yet recorded, and give the job with the folder that holds it, and how far it came.

        Every record is on disk before the next step begins. The machine is held from now on until the run is closed, so
        that no other gate in this checkout can move its files away while they are concluded on. If another one does not
        give it back in time, that is recorded as a failure.

        interim_check: asked between rounds; None: their number is fixed. explains: what regressed is profiled in the
        end, where the rules want it. seconds: the budget, with what is recorded of the job; None: that of its plan.

        Raises:
            UserError: sources or a shared path cannot be had; UnfitError with --strict.
            OSError: the measurements cannot be written; what was written stays.
            Interrupted: a signal ended it; what was measured stays.
        """
        repository = job.project.repository
        sources = overlaid_sources(job.project)
        # first of all, and not only when the machine is free: what a killed run left would disturb whoever measures
        repository.store.work.remove_leftovers()
        try:
            self.hold(job)
        except (NotFreeError, LockError) as error:
            held = record_held(job, error, self.waits(job), resume=self._options.resume)
            return held, MeasuredRounds(0, len(job.rounds), "failed")
        # before anything is moved, and after another gate had ended
        if self._options.strict:
            refuse_unfit_for(job)
        unfit = map(UnfitHost, standing_problems())
        warnings: list[AnyWarning] = [*unfit, *shim_warnings(job), *repository.store.work.left]
        self._say(*(f"warning: {warning.sentence()}" for warning in warnings))
        job = replace(job, run=_with_warnings(job.run, warnings))
        # only now, since another gate may have used the folder while this one waited
        records = resumed(job.out, job.run) if job.resumes else ()
        if not job.resumes:
            make_room(job.out)
        self._folder.begin()
        budget = Budget(float(job.project.settings.rules.plan.budget) if seconds is None else seconds)
        # a base that may be broken is built and started first, before anything of head runs
        is_new_gate = self._gates and not records and job.treated.study is None
        tries_base = is_new_gate and not may_lack(job.project) and _compares(job)
        with (
            self._saying_what_stays(repository.store.work),
            open_trees(
                repository,
                job.project.sources if tries_base else sources,
                share_paths=_shared(job),
                budget=budget,
                keep=self._options.keep,
                one_path=one_path(job.project),
                folder=job.project.folder,
            ) as trees,
            Appender(job.out / MEASUREMENTS) as append,
        ):
            measure_in_trees = partial(
                self._measure, trees=trees, append=append, records=records, interim_check=interim_check, budget=budget,
                explains=explains,
            )  # fmt: skip
            done = measure_in_trees(job, None if tries_base else Comparison(job))
            if isinstance(done, Started):
                comparison = self._choose_base(job, done, trees, budget)
                project = comparison.job.project
                trees.begin_again(overlaid_sources(project), _shared(comparison.job), one_path=one_path(project))
                done = measure_in_trees(comparison.job, comparison)
            if self._options.keep:
                self._say(f"the trees stay in {trees.directory}")
        assert not isinstance(done, Started)  # noqa: S101  # base is tried once
        return done

    def _choose_base(self, job: Job, broken: Started, trees: Trees, budget: Budget) -> Comparison:
        """Find what head is compared with in place of a base that is broken."""

        def start(job: Job, sources: Sources, side: Side) -> Started:
            self._say(f"trying {commit(sources.of(side).commit)}")
            trees.begin_again(sources, _shared(job), one_path=one_path(job.project))
            with workshop(job, trees, budget) as made, budget.timed("again"):
                return try_side(made, side)[1]

        self._say(f"base is broken: {sentence(broken.failures[0])}")
        found = choose_base(job, broken, start)
        self._say(*(each.sentence() for each in typed(found.job.run.warnings) if each not in job.run.warnings))
        return found

    @contextmanager
    def _saying_what_stays(self, work: WorkDirectory) -> Iterator[None]:
        before = len(work.left)
        try:
            yield
        finally:
            self._err.writelines(f"perfgate: warning: {each.sentence()}\n" for each in work.left[before:])

    def _measure(
        self, job: Job, comparison: Comparison | None, *, trees: Trees, append: Appender, records: Sequence[Record],
        interim_check: InterimCheck | None, budget: Budget, explains: bool,
    ) -> tuple[Job, MeasuredRounds] | Started:  # fmt: skip
        """Measure a job; return base's failures instead if it is tried first (comparison is None) and broken."""
        with workshop(job, trees, budget) as made, ExitStack() as stack:
            begun, cut = None, None
            if comparison is None:
                with closing(Live(self._err, quiet=self._quiet, lines=False)) as live:
                    live.show("base is built and its benchmarks are started, before anything of head runs")
                    made, found = try_side(made)
                if found.broken:
                    return found
                comparison, begun, cut = Comparison(job, found.failures), found.begun, found.cut
                overlaid = overlaid_sources(job.project)
                if overlaid.base.revision != trees.sources.base.revision:
                    trees.sources, made = overlaid, made.afresh(job)
            elif not records and job.treated.study is None and may_lack(job.project):
                made = self._drop_lacking(made)
                job = made.job
            if self._gates and not records and _why_no_proofs(job) is None:
                # a change that cannot affect a benchmark should be proved so even if base's build used up the budget:
                # head's build and the proofs may take that long again
                budget.allow(budget.used)
            begin = HostState(when="begin", session=job.session, time=now(), state=state())
            if not records:
                append(_with_warnings(job.run, trees.warnings), begin)
            else:
                # written before the first new record; a finished run that is resumed gets no line about this machine
                append.held = (begin,)
            settings = job.project.settings
            after_round = interim_check(job.run, settings.rules) if interim_check else None
            progress = stack.enter_context(closing(self._progress(job, budget, early=after_round is not None)))
            executions = made.executions(settings.rules.plan.iterations)
            benchmarks = {side: {b.name: b for b in settings.sides[side].benchmark} for side in SIDES}
            loop = Loop(
                job.rounds, benchmarks, made.builder, executions,
                strictly(job, append) if self._options.strict else append, records=records, after_round=after_round,
                progress=progress, no_proofs=_why_no_proofs(job), turns=Turns(executions, made.builder, by_starts(job)),
                lengths=Lengths(executions, benchmarks, divisible(job), settings.rules.plan, partial(counted, job)),
                began_at=begun,
            )  # fmt: skip
            loop.record_failures(comparison.base_failures)
            measured = loop.run(cut)
            loop.record_failures(comparison.head_failures)
            aside = dict(budget.aside)
            wrote_anything = not append.held
            if wrote_anything or measured.stop != _stop_of(records, job.session):
                append(
                    HostState(
                        when="end", session=job.session, time=now(), state=state(), stop=measured.stop,
                        rounds=measured.rounds, cut=measured.cut, unproved=dict(measured.unproved),
                        seconds=budget.elapsed, probe=aside.pop("probe", None), aside=aside,
                    )
                )  # fmt: skip
            if explains and settings.rules.gate.explain:
                progress.close()
                self._explain(made, append, measured)
        return job, measured

    def _explain(self, made: Workshop, append: Appender, measured: MeasuredRounds) -> None:
        """Profile what regressed, if anything did; only then what profiles is imported."""
        job = made.job
        records = records_of(job.out)
        found = regressed(records, job.run, job.project.settings.rules) if _compares(job) else []
        if found:
            from gate.run.profiling import profile_regressions

            # a build that the budget ended has left half a tree
            standing = measured.built and (measured.cut is None or measured.cut.phase == "execution")
            live = Live(self._err, quiet=self._quiet, lines=not self._one_of_many)
            with closing(Steps(live, "profiling", len(found))) as say:
                profile_regressions(made, append, records, found, built=standing, say=say)

    def _drop_lacking(self, made: Workshop) -> Workshop:
        """Leave base the benchmarks that it runs."""
        job = made.job
        self._say("base has no perfgate.toml: building it with head's, to see which of head's benchmarks it runs")
        found = try_without_config(made)
        if found is None or len(found[0]) == len(job.project.settings.benchmarks["base"]):
            return made.afresh(job)
        runs, failure = found
        if runs:
            return made.afresh(job.of(keep_on_base(job.project, runs)))
        project, why = lacking(job.project, failure, alone=job.part is None)
        self._say(why.sentence())
        made.trees.sources = project.sources
        return made.afresh(job.of(project).told(why))

    def hold(self, job: Job) -> None:
        """Hold the machine until the run is closed; where it is held already, for an earlier job, nothing is done.

        Raises:
            NotFreeError: another gate holds it, and did not release it in time.
            LockError: the lock file cannot be made or locked.
        """
        if self._holding:
            return
        command = " ".join(["perfgate", *sys.argv[1:2]])
        claim = LockHolder.own(command, job.run.id or "", job.project.repository.project, job.out)
        path, wait = lock_file(os.environ), self.waits(job)
        self._held.enter_context(host_lock(claim, path, wait=wait, waiting=WaitingLines(self._say, wait)))
        self._holding = True

    def waits(self, job: Job) -> float:
        """Return for how many seconds to wait for the machine."""
        return float(job.project.settings.rules.plan.budget) if self._options.wait is None else self._options.wait

    def _progress(self, job: Job, budget: Budget, *, early: bool) -> Progress:
        builds = job.project.settings.rules.plan.builds
        return Progress(
            self._err, quiet=self._quiet, lines=not self._one_of_many,
            title=commit(job.run.head) if self._one_of_many else "", budget=lambda: budget.left, early=early,
            fills=early and isinstance(builds, Builds) and builds.max is None,
        )  # fmt: skip

    def _say(self, *lines: str) -> None:
        if not self._quiet and not self._one_of_many:
            for line in lines:
                say_line(self._err, line)


def _stop_of(records: Sequence[Record], session: int) -> Stop | None:
    """Return why measuring ended before; None: it did not, but was interrupted."""
    own = [each.stop for each in records if isinstance(each, HostState) and each.session == session]
    return own[-1] if own else None


def _shared(job: Job) -> dict[Side, list[str]]:
    return {side: job.project.settings.sides[side].build.share for side in SIDES}


def _compares(job: Job) -> bool:
    sources = job.project.sources
    return sources.base.revision != sources.head.revision


def _why_no_proofs(job: Job) -> UnprovedKind | None:
    """Return why no benchmark of a job can be proved the same on both sides; None: it is tried."""
    sources, rules = job.project.sources, job.project.settings.rules
    if sources.base.revision == sources.head.revision:
        return "same-commit"
    return "off" if rules.gate.sameness == "off" or job.treated.study is not None else None


def _with_warnings(run: Run, more: Iterable[AnyWarning]) -> Run:
    return msgspec.structs.replace(run, warnings=[*run.warnings, *more])
