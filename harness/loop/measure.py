"""The measuring loop: for each step execute, parse, append; between rounds ask whether to go on; resumes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby
from pathlib import Path

import msgspec

from gate.config.types import Benchmark
from gate.model.case import canonical
from gate.model.names import SIDES, Side
from gate.model.records import AfterRound, Build, Cut, Execution, Failure, Look, Record, Stop, Turn
from gate.model.sameness import Unproved, UnprovedKind
from harness.build.builder import TreeBuilder
from harness.loop import events
from harness.loop.execution import Executed, Executions
from harness.loop.ledger import Ledger
from harness.loop.outside import Outside, Tree, tree_of
from harness.loop.probe import Probe
from harness.loop.schedule import BuildStep, ExecutionStep, Pair, Round
from harness.loop.turns import Lengths, Turns
from harness.process.budget import BudgetEndedError

Append = Callable[..., None]
"""Writes records, all of them or none, before it returns."""


@dataclass(frozen=True, slots=True)
class MeasuredRounds:
    """How far measuring came, and why it ended."""

    rounds: int
    """Those that are complete."""
    planned: int
    """Rounds."""
    stop: Stop
    replicates: int = 0
    """Of a study, those that are complete."""
    planned_replicates: int = 0
    """Replicates that the study plans; 0: no study."""
    cut: Cut | None = None
    """The step that the budget ended; None: it ended between two rounds, or not at all."""
    unproved: Mapping[str, Unproved] = field(default_factory=dict, hash=False)
    """By benchmark, why it was measured."""
    built: bool = field(default=False, compare=False)
    """Whether both sides were built since the run was started or resumed."""


class Loop:
    """The rounds of a run: runs what is not yet recorded, and appends a record after each step.

    In the gate a failed execution ends its benchmark on both sides, a failed build ends measuring; a tree whose tracked
    files changed is as one that could not be built. A round other than the first does not begin when the slowest so far
    does not fit what is left of the budget; the first, which may have built more, counts for the second only. In the
    rounds of a designed experiment a failed execution ends its benchmark at that treatment, a failed build all
    treatments that need it, and whether it fits is asked before each replicate but the first that is begun or
    completed. Whatever goes on when the budget ends is ended and not recorded.
    """

    def __init__(
        self, rounds: Sequence[Round], benchmarks: Mapping[Side, Mapping[str, Benchmark]], builder: TreeBuilder,
        executions: Executions, append: Append, *, turns: Turns, lengths: Lengths, progress: events.Progress,
        records: Sequence[Record] = (), after_round: AfterRound | None = None, no_proofs: UnprovedKind | None = "off",
        began_at: int | None = None,
    ) -> None:  # fmt: skip
        """Begin.

        Args:
            benchmarks: by side and name, as that side's file has them.
            records: what an interrupted run of the same schedule left; its steps are not run again, but a side that
                still has executions to make is built again with its seed, which is not recorded twice. In the gate what
                they took counts against the budget, and a run that the budget ended stays ended. A designed experiment
                goes on with a new budget.
            after_round: asked after every round which benchmarks need no more; its answers are appended, and replayed
                from the records. None: the design is fixed.
            no_proofs: why no benchmark is proved the same on both sides; None: it is tried.
            turns: makes what goes start by start.
            lengths: how many values an execution of anything else has, which also lays out the rounds.
            began_at: when something of the project ran first, in nanoseconds; None: nothing did.
        """
        self._rounds = lengths.rounds(rounds, records)
        self._benchmarks = benchmarks
        self._builder = builder
        self._executions = executions
        self._turns = turns
        self._lengths = lengths
        self._append = append
        self._budget = executions.conditions.budget
        self._after_round = after_round
        self._progress = progress
        self._is_study = bool(rounds) and rounds[0].replicates > 0
        suites = {b.name for side in benchmarks.values() for b in side.values() if b.measured.suite}
        self._ledger = Ledger(records, executions.conditions.session, suites, study=self._is_study)
        self._step: BuildStep | ExecutionStep | None = None
        self._executed = False
        self._has_built = False
        """Whether both sides were built since the run was started or resumed, and may be measured."""
        self._late: BuildStep | None = None
        """The first build in which the budget ended, which went on beyond it."""
        self._last: BuildStep | None = None
        """The last build, if it ran alone and in this run."""
        self._empty: set[tuple[Side, str, str]] = set()
        self._replicates = 0
        self._unproved: dict[str, Unproved] = {}
        self._no_proofs = no_proofs
        began_at = began_at or time.time_ns()
        self._probe = Probe(executions, builder, benchmarks, no_proofs=no_proofs, begun=began_at)
        self._outside = Outside(executions, builder, benchmarks, began_at)
        if not self._is_study:
            self._budget.resume(self._ledger.seconds)

    def record_failures(self, failures: Sequence[Failure]) -> None:
        """Record failures from before or after the rounds, each benchmark of a side once."""
        known = {(each.side, each.benchmark) for each in self._ledger.records if isinstance(each, Failure)}
        self._add(*(each for each in failures if (each.side, each.benchmark) not in known))

    def run(self, cut: Cut | None = None) -> MeasuredRounds:
        """Measure.

        cut: where the budget has ended before the first round; None: it has not.

        Raises: OSError: a record cannot be appended; what was appended before stays.
        """
        if cut is not None:
            return self._measured(0, "budget", cut)
        for number in range(len(self._rounds)):
            try:
                stop = self._round(number)
            except BudgetEndedError as error:
                step = self._step
                if self._late is not None and isinstance(step, ExecutionStep):
                    # what it took is in its record
                    step, error.phase, error.seconds, error.setup = self._late, "build", 0.0, 0.0
                cut = None if step is None else cut_at(step, error, self._executions.unmeasured_seconds)
                return self._measured(number, "budget", cut)
            if stop is not None:
                ended = self._ledger.ended
                return self._measured(number, stop, ended.cut if ended else None)
            if number == 0:
                self._record_proofs()
            self._look(number)
        steps = [step for each in self._rounds_ahead(0) for step in each.executions]
        all_failed = bool(steps) and all(map(self._ledger.is_failed, steps))
        return self._measured(len(self._rounds), "failed" if all_failed else "finished")

    def _measured(self, rounds: int, stop: Stop, cut: Cut | None = None) -> MeasuredRounds:
        self._record_proofs()
        replicates = sum(each.replicates for each in self._rounds) if self._is_study else 0
        return MeasuredRounds(
            rounds, len(self._rounds), stop, self._replicates, replicates, cut, self._unproved, self._has_built,
        )  # fmt: skip

    def _round(self, number: int) -> Stop | None:
        """Run a round part by part; return why measuring stops, or None."""
        # a part may lay out the round anew (self._rounds); its build and replicates stay, so planned is read for those
        built, planned = False, self._rounds[number]
        try:
            for part in self._all_parts(number, planned):
                stop = self._reason_to_stop(number, part)
                if stop is not None:
                    return stop
                if self._ledger.pending(part):
                    if not built and not self._build_all(self._rounds[number]):
                        return "build-failure"
                    started = time.time_ns()
                    if number == 0 and not self._is_study:
                        self._examine(part)
                    # only the first builds and the proofs may need more, and nothing is measured in that time
                    self._budget.allow(0.0)
                    if not self._has_built:
                        with self._budget.timed("outside"):
                            goes_on = self._check_outside(planned, part, started)
                        if not goes_on:
                            return "build-failure"
                    built = self._has_built = True
                    # what would meet the other side's build fails before either of its sides is measured
                    for step in self._firsts(part):
                        if not self._ledger.is_failed(step):
                            self._fail_if_foreign(step)
                    self._execute_all(self._shortened(part) if number == 0 else part)
                self._replicates += bool(planned.replicates)
        finally:
            self._executions.end_round()
            # after an interruption too: --resume goes on with what is recorded of the round
            unchanged = self._check_trees(planned.build)
        return None if unchanged or self._is_study else "build-failure"

    def _rounds_ahead(self, number: int) -> Sequence[Round]:
        """Return the rounds from a number on; of the gate only two, since later ones have the same steps."""
        return self._rounds[number:] if self._is_study else self._rounds[number : number + 2]

    def _all_parts(self, number: int, each: Round) -> Iterator[Sequence[ExecutionStep]]:
        """Divide a round, and come to its parts again for what seemed to be the same on both sides before they ran."""
        yield from self._parts(number, each)
        broken = self._probe.broken() if number == 0 else {}
        for name, why in broken.items():
            self._ledger.prove(name, holds=False)
            self._unproved[name] = why
        if broken:
            proved = len(self._probe.proved)
            self._progress(events.ProbeFinished(proved, proved + len(broken), broken))
            yield from self._parts(number, each)

    def _record_proofs(self) -> None:
        """Record what is proved, and after the first round fail what is not any more: it has no values."""
        for name, why in self._probe.broken().items():
            self._ledger.prove(name, holds=False)
            self._unproved[name] = why
            session = self._executions.conditions.session
            self._add(Failure(kind="unproved", benchmark=name, session=session, status=why.sentence()))
        # each is recorded once
        self._add(*(each for each in self._probe.proved.values() if each not in self._ledger.records))

    def _parts(self, number: int, each: Round) -> Iterator[Sequence[ExecutionStep]]:
        """Yield what is run as a whole: the replicates of a study; otherwise the round.

        In the first round the first starts come first: what they take decides how many executions the round has, so it
        is laid out again after each.
        """
        if each.replicates:
            yield from (tuple(steps) for _, steps in groupby(each.executions, key=lambda step: step.execution))
            return
        for i in range(len(each.first)):
            current = self._rounds[0]
            # what an earlier part ran is no longer pending
            yield current.executions[: current.first[i]]
            self._rounds = self._lengths.lay_out(self._ledger.records)
            if self._has_built and self._ledger.pending(self._rounds[0].executions):
                self._progress(events.LaidOut(executions=len(self._rounds[0].executions)))
        yield self._rounds[number].executions

    def _check_trees(self, build: int) -> bool:
        """Record a failure for each tree whose tracked files changed; return whether none did."""
        executed, self._executed = self._executed, False
        changed = self._builder.changed(build, executed=executed)
        for failure in changed:
            self._add(failure)
            self._progress(events.StepFinished(failure.side or "head", None, failure, failure.factors))
        return not changed

    def _reason_to_stop(self, number: int, part: Sequence[ExecutionStep]) -> Stop | None:
        """Say why a part of a round is not to be run, if it is not."""
        ledger, rounds = self._ledger, self._rounds_ahead(number)
        changed = ledger.changed is not None and ledger.changed <= self._rounds[number].build
        if not self._is_study and (changed or (ledger.build_failed and ledger.pending(part))):
            return "build-failure"
        if any(each.executions for each in rounds):
            if all(map(ledger.is_failed, chain.from_iterable(each.executions for each in rounds))):
                return "failed"
            if all(map(ledger.is_out, chain.from_iterable(each.executions for each in rounds))):
                return "settled"
        if ledger.ended and ledger.pending(part):
            return "budget"
        if not part:
            return None
        build, execution = part[0].build, part[0].execution
        # the first part of a round begins with its builds
        recorded = ledger.begun(build, execution or None)
        # an experiment that goes on has a new budget, so that one too small for a replicate still comes further
        first = not self._has_built if self._is_study else number == 0 and execution == 0
        return None if first or recorded or ledger.fits(self._budget.left, builds=execution == 0) else "budget"

    def _build_all(self, each: Round) -> bool:
        """Build what a round needs; tell whether measuring goes on."""
        ledger = self._ledger
        pending = ledger.pending(each.executions)
        first = ledger.pending(each.executions[: each.first[0]]) if each.first else ()
        self._progress(events.RoundStarted(each.build, len(self._rounds), len(first or pending)))
        needed = {(step.side, canonical(step.building)) for step in pending}
        # of a treatment that is out in an experiment nothing more is built; the gate records all builds of a round
        wanted = [
            build
            for build in each.builds
            if (build.side, canonical(build.factors)) in needed or not (self._is_study or ledger.built(build))
        ]
        # what is made already is recorded whatever comes of the others
        wanted.sort(key=lambda step: not self._builder.is_ahead(step.side, step.build, step.seed, step.factors))
        # the gate ends at the first that fails
        return all(self._build(build) or self._is_study for build in wanted)

    def _examine(self, steps: Sequence[ExecutionStep]) -> None:
        """Compare the sides of what is to be measured, and take out what fails or is the same."""
        pairs, benchmarks = list[Pair](), self._benchmarks["base"]
        for pair in self._first_pairs(steps):
            name = pair["base"].benchmark
            compares_output = benchmarks[name].same_output is not False
            if name not in self._unproved and (self._no_proofs is None or compares_output):
                pairs.append(pair)
        if not pairs:
            return
        self._progress(events.ProbeStarted(len(pairs), self._probe.seconds))
        identical = 0
        with self._budget.timed("probe"):
            for name, found in self._probe.examine(pairs, self._begin):
                if isinstance(found, Unproved):
                    self._unproved[name] = found
                elif isinstance(found, Failure):
                    self._add(found)
                else:
                    self._ledger.prove(name)
                    identical += 1
        for pair in pairs:
            for side in SIDES:
                seen = self._probe.seen.get((pair[side].benchmark, side))
                if seen is not None:
                    self._builder.read(side, pair[side].building, (seen.read | seen.executed) - seen.written)
        self._progress(events.ProbeFinished(identical, len(pairs), dict(self._unproved)))

    def _first_pairs(self, steps: Sequence[ExecutionStep]) -> list[Pair]:
        """Return the first step on each side of what both have and nothing is measured of yet."""
        sides: dict[tuple[str, str], dict[Side, ExecutionStep]] = {}
        for step in self._ledger.pending(steps):
            # what was measured before an interruption has been looked at
            if not self._ledger.is_begun(step.benchmark):
                sides.setdefault((step.benchmark, canonical(step.factors)), {}).setdefault(step.side, step)
        return [each for each in sides.values() if len(each) == len(SIDES)]

    def _shortened(self, steps: Sequence[ExecutionStep]) -> Sequence[ExecutionStep]:
        """Find out how short turns may be, and return the steps of the first round by these."""
        lengths, found = self._lengths, list[Turn]()

        def begin(step: ExecutionStep) -> Path:
            self._begin(step)
            return self._builder.directory(step.side, step.building)

        pairs = [each for each in self._first_pairs(steps) if lengths.is_open(each["base"].benchmark)]
        if not pairs:
            return steps
        with self._budget.timed("start"):
            for pair in pairs:
                if (turn := lengths.found(pair, begin)) is not None:
                    self._add(turn)
                    found.append(turn)
        self._rounds = lengths.rounds(self._rounds, found)
        self._progress(events.LaidOut(found))
        first = self._rounds[0].first
        return self._rounds[0].executions[: first[0] if first else None]

    def _check_outside(self, each: Round, steps: Sequence[ExecutionStep], started: int) -> bool:
        """Know from now on what each build leaves outside its tree, if one does; tell whether measuring goes on.

        started: when the first benchmark was executed, in nanoseconds.
        """
        first = self._firsts(steps)
        whole = {place: met for place, met in self._probe.seen.items() if place not in self._probe.cut}
        path = self._outside.suspects(first, whole, started, self._last, self._begin)
        if path is None:
            return True
        self._progress(events.OutsideFound(path))
        trees = set(map(tree_of, first))
        for step in [step for step in each.builds if tree_of(step) in trees and step is not self._last]:
            self._step = step
            self._progress(events.StepStarted(step.side, None, step.factors))
            self._outside.look()
            record = self._builder.afresh(step.side, step.build, step.seed, step.factors)
            self._outside.built(step)
            failure = record if isinstance(record, Failure) else None
            self._progress(events.StepFinished(step.side, None, failure, step.factors))
            if failure is not None:
                self._add(failure)
            if not (self._check_trees(step.build) and failure is None) and not self._is_study:
                return False
        return True

    def _firsts(self, steps: Sequence[ExecutionStep]) -> list[ExecutionStep]:
        """Return the first that is to be run of each benchmark in each tree."""
        firsts: dict[tuple[str, Tree], ExecutionStep] = {}
        for step in self._ledger.pending(steps):
            firsts.setdefault((step.benchmark, tree_of(step)), step)
        return list(firsts.values())

    def _fail_if_foreign(self, step: ExecutionStep) -> bool:
        """Fail a benchmark that would read what another side's build left; return whether it failed."""
        failure = self._outside.differs(step)
        if failure is not None:
            self._add(failure)
            self._progress(events.StepFinished(step.side, step.benchmark, failure, step.factors))
        return failure is not None

    def _begin(self, step: ExecutionStep) -> None:
        self._step = step
        self._executed = True

    def _execute_all(self, steps: Sequence[ExecutionStep]) -> None:
        """Run pending steps in order: turns of a benchmark together, everything else one by one."""

        def together(step: ExecutionStep) -> tuple[str, int]:
            # what is run in one go: the starts of a benchmark by turns, else one execution
            return step.benchmark, -1 if self._turns.takes(step) else step.order

        for _, group in groupby(self._ledger.pending(steps), together):
            left = list(group)
            while left:
                first = left[0]
                # a suite of which nothing is wanted on either side need not run again
                sides = (first.side,) if self._is_study else SIDES
                if all((side, first.benchmark, canonical(first.factors)) in self._empty for side in sides):
                    break
                each_side = {each.side: each for each in left}.values()
                if self._ledger.is_out(first) or any(map(self._fail_if_foreign, each_side)):
                    break
                self._begin(first)
                self._progress(events.StepStarted(first.side, first.benchmark, first.factors))
                if self._turns.takes(first):
                    own = {step.side: self._benchmarks[step.side][step.benchmark] for step in left}
                    made = self._turns.make(own, left)
                    step = left[len(made) - 1]
                    directory = self._builder.directory(step.side, step.building)
                    made[-1] = self._executions.with_printed_reason(made[-1], own[step.side], step, directory)
                else:
                    benchmark, iterations = self._lengths.asked(first)
                    directory = self._builder.directory(first.side, first.building)
                    made = [self._executions.make(benchmark, first, directory, iterations)]
                self._note(left, made)
                left = left[len(made) :]

    def _note(self, steps: Sequence[ExecutionStep], made: Sequence[Executed]) -> None:
        """Record what came out of steps, all of it or none, and tell of each."""
        records: list[Record] = []
        told: list[list[Failure]] = []
        for step, found in zip(steps, made, strict=False):
            # of a suite's benchmark that has failed neither values nor more failures are wanted
            failures = [
                msgspec.structs.replace(failure, directory=str(self._builder.kept(step.side, step.building)))
                for failure in found.failures
                if not self._ledger.has_failed(failure)
            ]
            executions = [each for each in found.executions if not self._ledger.has_failed(each)]
            if any(each.suite for each in executions):
                executions = [msgspec.structs.replace(each, lines=len(executions)) for each in executions]
            records += [*failures, *executions]
            told.append(failures)
        self._add(*records)
        for step, found, failures in zip(steps, made, told, strict=False):
            if not found.executions and not found.failures:
                self._empty.add((step.side, step.benchmark, canonical(step.factors)))
            # a suite that only the other side has did not fail
            failed = failures and not found.executions and self._ledger.has_failed(failures[0])
            whole = failures[0] if failed else None
            self._progress(events.StepFinished(step.side, step.benchmark, whole, step.factors))

    def _build(self, step: BuildStep) -> bool:
        self._step = step
        self._progress(events.StepStarted(step.side, None, step.factors))
        self._outside.look()
        ahead = self._builder.is_ahead(step.side, step.build, step.seed, step.factors)
        record = self._builder.build(step.side, step.build, step.seed, step.factors)
        self._outside.built(step)
        if not ahead:
            self._last = None if isinstance(record, Build) and record.cached else step
        if isinstance(record, Failure):
            self._add(record)
            self._progress(events.StepFinished(step.side, None, record, step.factors))
            self._check_trees(step.build)
            return False
        if self._late is None and self._budget.is_over:
            self._late = step
        if not self._ledger.built(step):
            self._add(record)
        self._progress(events.StepFinished(step.side, None, None, step.factors))
        return self._check_trees(step.build)

    def _look(self, number: int) -> None:
        """Ask after a round which benchmarks need no more; of a resumed run, replay its answer."""
        ledger = self._ledger
        if number < len(ledger.looks):
            ledger.settle(ledger.looks[number].settled)
            return
        measured = {step.benchmark: step for step in self._rounds[number].executions}
        if self._after_round is not None and measured.keys() - ledger.identical:
            before = set(filter(ledger.is_out, measured.values()))
            begin = self._budget.clock()
            settled = self._after_round(ledger.records)
            took = self._budget.clock() - begin
            ledger.settle(settled)
            self._add(Look(look=number + 1, settled=sorted(settled), seconds=took))
            out = set(filter(ledger.is_out, measured.values()))
            self._progress(events.LookTaken(len(out - before), len(measured) - len(out)))

    def _add(self, *records: Record) -> None:
        """Append records and note them; the first execution of the run also gets what was spent before it."""
        first = next((record for record in records if isinstance(record, Execution)), None)
        if first is not None and not self._ledger.made:
            told = msgspec.structs.replace(first, before=sum(self._budget.aside.values()) or None)
            records = tuple(told if each is first else each for each in records)
        self._append(*records)
        for record in records:
            self._ledger.note(record)


def cut_at(step: BuildStep | ExecutionStep, ended: BudgetEndedError, unmeasured: Sequence[float] = ()) -> Cut | None:
    """Say where the budget ended; None: between two parts of a step.

    unmeasured: the seconds of each execution until then that was not measured.
    """
    if ended.phase is None:
        return None
    execution = step if isinstance(step, ExecutionStep) else None
    return Cut(
        phase=ended.phase, side=step.side, benchmark=execution.benchmark if execution else None, build=step.build,
        execution=execution.execution if execution else None, seconds=ended.seconds, setup=ended.setup,
        beyond=ended.beyond, compared=len(unmeasured), comparing=sum(unmeasured),
    )  # fmt: skip
