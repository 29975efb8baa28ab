import contextlib
import itertools
import os
import re
import signal
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gate.config.study import Setting, Study
from gate.config.treatments import PlannedTreatment
from gate.config.types import Benchmark, BuildTable, Load, Perturbation, Plan, Service
from gate.model import SIDES, Build, Cut, Execution, Failure, HostState, Look, Metric, Phase, Record, Run, Side
from gate.model.case import canonical
from gate.writing.units import Duration, Quantity
from harness.build.conditions import Conditions, Recipe
from harness.instruments.go import Go
from harness.instruments.protocol import Collected, Context, Instrument, Unusable
from harness.instruments.values import Values
from harness.loop import execution
from harness.loop.events import LaidOut, LookTaken, RoundStarted, StepFinished, StepStarted
from harness.loop.execution import Executions, Scratch
from harness.loop.ledger import Ledger
from harness.loop.measure import Append, Loop, MeasuredRounds
from harness.loop.schedule import ExecutionStep, Round, schedule
from harness.loop.turns import Lengths, Turns
from harness.process.budget import BoundedExecutor, Budget
from harness.process.execute import Command, Executor, ProcessEnd, ProcessExecutor
from tests.support.fakes import NO_FACTORS, Clock, FakeExecutor, NoTrees, taking
from tests.support.seeds import some

NAMES = ["a", "b", "c"]
Key = tuple[str, Side, int, int]
FAKE: Mapping[Side, Mapping[str, str]] = {side: {"S": side} for side in SIDES}
REAL: Mapping[Side, Mapping[str, str]] = {side: {"PATH": os.environ["PATH"]} for side in SIDES}


@dataclass
class FakeBuilder(NoTrees):
    """Keeps what was built; broken: (side, settings ..., build) that fail. Each build has a directory of its own.

    seconds: of the clock that a build takes. failing: that one takes which fails, if they are recorded. free: builds
    that take no time, where a test compares what is measured with what an uninterrupted run measures.
    """

    broken: set[tuple[object, ...]] = field(default_factory=set)
    seconds: float = 1.0
    failing: float | None = None
    free: set[tuple[object, ...]] = field(default_factory=set)
    clock: Clock = field(default_factory=Clock)
    budget: Budget = field(default_factory=Budget)
    calls: list[Any] = field(default_factory=list)
    """Side, settings where there are any, build and seed of each."""
    latest: dict[tuple[object, ...], int] = field(default_factory=dict)
    asked: list[tuple[int, bool]] = field(default_factory=list)
    changes: dict[tuple[int, bool], list[Side]] = field(default_factory=dict)
    """Trees that are found to be changed, by the question."""

    def changed(self, build: int, *, executed: bool) -> list[Failure]:
        self.asked.append((build, executed))
        sides = self.changes.pop((build, executed), [])
        return [Failure(kind="tree", side=side, build=build, status="a") for side in sides]

    def build(self, side: Side, build: int, seed: int, factors: Mapping[str, Setting] = NO_FACTORS) -> Build | Failure:
        named = (side, canonical(factors), build) if factors else (side, build)
        self.calls.append((*named, seed))
        self.latest[(side, *factors.values())] = build
        broken = (side, *factors.values(), build) in self.broken
        took = self.failing if broken and self.failing is not None else self.seconds
        with self.budget.phase("build"):
            self.clock.pass_within(self.budget, 0.0 if named in self.free else took)
        if broken:
            return Failure(
                kind="build", side=side, build=build, factors=dict(factors), status="exit 2", stderr="no",
                command="make", seconds=self.failing,
            )  # fmt: skip
        return Build(side=side, build=build, seed=seed, seconds=self.seconds, factors=dict(factors))

    def directory(self, side: Side, factors: Mapping[str, Setting] = NO_FACTORS) -> Path:
        place = (side, *factors.values())
        return Path("/trees", *map(str, place), str(self.latest[place]))


@dataclass
class FakeInstrument:
    """Gives one value, or fails for the (benchmark, side, seed-independent count) it is told."""

    fails: Callable[[Benchmark, Context], str] = lambda benchmark, context: ""
    contexts: list[Context] = field(default_factory=list)
    commands: list[str | list[str]] = field(default_factory=list)

    def prepare(self, benchmark: Benchmark, context: Context) -> Command:
        self.contexts.append(context)
        self.commands.append(benchmark.command)
        environment = {**context.environment, "PERFGATE_OUTPUT": "/scratch/output", "PERFGATE_PADDING": "x"}
        return Command((benchmark.name,), context.directory, environment, 1e6)

    def collect(
        self, benchmark: Benchmark, context: Context, outcome: ProcessEnd
    ) -> dict[str, Metric] | Collected | Unusable:
        status = self.fails(benchmark, context)
        return Unusable(status, outcome.stderr) if status else {"time": Metric(unit="s", values=[float(context.seed)])}


@dataclass
class Bench:
    """A run of fakes: builds x executions of a, b and c, one second each."""

    tmp_path: Path
    builds: int = 3
    executions: int = 2
    budget: float = 1e9
    seconds: float = 1.0
    names: Sequence[str] = tuple(NAMES)
    builder: FakeBuilder = field(default_factory=FakeBuilder)
    instrument: FakeInstrument = field(default_factory=FakeInstrument)
    appended: list[Record] = field(default_factory=list)
    events: list[object] = field(default_factory=list)
    perturb: list[Perturbation] = field(default_factory=lambda: ["environment"])
    kind: str = "hyperfine"
    clock: Clock = field(default_factory=Clock)
    study: Study | None = None
    plan: Plan = field(default_factory=lambda: Plan(iterations=3))
    divided: Sequence[str] = ()
    """Benchmarks whose turns may be shorter than planned."""

    @property
    def planned(self) -> Sequence[PlannedTreatment]:
        return ()

    @property
    def rounds(self) -> Sequence[Round]:
        return schedule({side: list(self.names) for side in SIDES}, self.builds, self.executions, seed=4)

    @property
    def table(self) -> dict[str, Benchmark]:
        return {
            name: Benchmark(name=name, command=["run", name, "{seed}", "{output}"], instrument=self.kind)
            for name in self.names
        }

    def run(self, records: Iterable[Record] = (), **options: Any) -> MeasuredRounds:
        return self.measure(taking(self.seconds, self.clock), adding(self.appended), records=list(records), **options)

    def measure(
        self,
        executor: Executor,
        append: Append,
        instrument: Instrument | None = None,
        *,
        table: Mapping[str, Benchmark] | None = None,
        environments: Mapping[Side, Mapping[str, str]] = FAKE,
        scratch: Path | None = None,
        overtime: float = 0.0,
        **options: Any,
    ) -> MeasuredRounds:
        """Measure with these in the place of the fakes."""
        options.setdefault("progress", self.events.append)
        build = BuildTable(perturb=self.perturb)
        budget = Budget(self.budget, self.clock)
        budget.allow(overtime)
        conditions = Conditions(
            BoundedExecutor(executor, budget),
            {side: Recipe(build, environments[side]) for side in SIDES},
            {"TOKEN": "hidden", "S": "caller"},
            scratch or self.tmp_path,
            self.tmp_path / "shims",
            study=self.study,
            budget=budget,
        )
        self.builder.clock, self.builder.budget = self.clock, budget
        instruments: dict[str, Instrument] = {self.kind: instrument or self.instrument}
        hint = lambda failure, unstarted: f"hint {failure.kind} {unstarted}"  # noqa: E731
        made = Executions(conditions, instruments, self.plan.iterations, self.planned, hint=hint)
        own = dict.fromkeys(SIDES, table or self.table)
        turns, lengths = Turns(made, self.builder, ()), Lengths(made, own, self.divided, self.plan, self.counted)
        return Loop(self.rounds, own, self.builder, made, append, turns=turns, lengths=lengths, **options).run()

    def counted(self, made: Sequence[Record]) -> Sequence[Round]:
        raise NotImplementedError("of a bench whose first starts are counted")


def adding(records: list[Record]) -> Append:
    return lambda *more: records.extend(more)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def executions(records: Iterable[Record]) -> list[Execution]:
    return [record for record in records if isinstance(record, Execution)]


def failures(records: Iterable[Record]) -> list[Failure]:
    return [record for record in records if isinstance(record, Failure)]


def builds(records: Iterable[Record]) -> list[tuple[Side, int]]:
    return [(record.side, record.build) for record in records if isinstance(record, Build)]


def keys(records: Iterable[Record]) -> list[Key]:
    return [(e.benchmark, e.side, e.build, e.execution) for e in executions(records)]


def planned(bench: Bench) -> list[Key]:
    return [(s.benchmark, s.side, s.build, s.execution) for each in bench.rounds for s in each.executions]


def test_a_run_follows_its_schedule_and_each_execution_gets_its_side_seed_padding_and_an_empty_directory(
    bench: Bench,
) -> None:
    assert bench.run() == MeasuredRounds(3, 3, "finished")
    expected: list[tuple[object, ...]] = []
    for each in bench.rounds:
        expected += [(b.side, b.build, b.seed) for b in each.builds]
        expected += [(s.benchmark, s.side, s.build, s.execution, s.order) for s in each.executions]
    found: list[tuple[object, ...]] = [
        (r.side, r.build, r.seed) if isinstance(r, Build) else (r.benchmark, r.side, r.build, r.execution, r.order)
        for r in bench.appended
        if isinstance(r, (Build, Execution))
    ]
    assert found == expected
    assert len(bench.appended) == len(expected)
    first = executions(bench.appended)[0]
    assert (first.started, first.seconds, first.warmup) == ("2026-01-01T00:00:00Z", 1.0, 0)
    steps = [step for each in bench.rounds for step in each.executions]
    contexts = bench.instrument.contexts
    assert [(c.side, c.seed, c.padding, c.iterations) for c in contexts] == [
        (s.side, s.seed, s.padding, 3) for s in steps
    ]
    assert [c.directory for c in contexts] == [Path(f"/trees/{s.side}/{s.build}") for s in steps]
    assert all(c.environment == {"S": c.side} for c in contexts)
    assert len({c.scratch for c in contexts}) == len(contexts)
    # a longer path would shift what lies above it on the stack
    assert len({len(str(c.scratch)) for c in contexts}) == 1
    assert [path for side in bench.tmp_path.iterdir() for path in side.iterdir()] == []


def test_a_failed_execution_ends_its_benchmark_on_both_sides(bench: Bench) -> None:
    bench.instrument.fails = lambda benchmark, context: (
        "exit 3" if benchmark.name == "b" and context.side == "head" and "1" in str(context.directory) else ""
    )
    assert bench.run() == MeasuredRounds(3, 3, "finished")
    (failure,) = failures(bench.appended)
    after = bench.appended[bench.appended.index(failure) :]
    assert not [e for e in executions(after) if e.benchmark == "b"]
    assert sorted(key for key in keys(bench.appended) if key[0] != "b") == sorted(
        key for key in planned(bench) if key[0] != "b"
    )
    seed = next(
        s.seed
        for s in bench.rounds[1].executions
        if (s.benchmark, s.side, s.execution) == ("b", "head", failure.execution)
    )
    assert failure == Failure(
        kind="execution",
        benchmark="b",
        side="head",
        build=1,
        execution=failure.execution,
        status="exit 3",
        stderr="said",
        seconds=1.0,
        command=f"run b {seed} perfgate-output",
        directory="/trees/head/1",
        environment={"S": "head", "TOKEN": "", "PERFGATE_OUTPUT": "perfgate-output"},
        hint="hint execution False",
    )


def test_reading_the_output_has_the_time_limit_of_the_execution(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(benchmark: Benchmark, context: Context) -> str:
        for _ in itertools.count():
            # what handles bad output must not swallow the end
            with contextlib.suppress(Exception):
                float("x")
        return ""

    monkeypatch.setattr(execution, "_LEAST_TO_READ", 0.05)
    bench.instrument.fails = endless
    bench.seconds = 1e6
    before = signal.getsignal(signal.SIGALRM)
    assert bench.run() == MeasuredRounds(1, 3, "failed")
    assert {failure.status for failure in failures(bench.appended)} == {
        "time-out after 10m: the program had ended, and its output was still being read"
    }
    assert signal.getsignal(signal.SIGALRM) is before


@pytest.mark.parametrize("rounds", [1, 3])
def test_when_every_benchmark_failed_nothing_more_is_built(tmp_path: Path, rounds: int) -> None:
    bench = Bench(tmp_path, builds=rounds)
    bench.instrument.fails = lambda benchmark, context: "no values"
    assert bench.run() == MeasuredRounds(1, rounds, "failed")
    assert (len(failures(bench.appended)), len(builds(bench.appended))) == (3, 2)


@pytest.mark.parametrize("side", ["base", "head"])
def test_a_failed_build_ends_measuring(bench: Bench, side: Side) -> None:
    bench.builder.broken = {(side, 1)}
    assert bench.run() == MeasuredRounds(1, 3, "build-failure")
    assert bench.appended[-1] == Failure(kind="build", side=side, build=1, status="exit 2", stderr="no", command="make")
    assert {key[2] for key in keys(bench.appended)} == {0}
    # on resume it stays failed
    again = Bench(bench.tmp_path)
    assert again.run(bench.appended) == MeasuredRounds(1, 3, "build-failure")
    assert again.appended == []


def test_trees_are_looked_at_after_each_build_and_each_round_also_where_something_ends_it(bench: Bench) -> None:
    bench.run()
    assert bench.builder.asked == [(build, executed) for build in range(3) for executed in (False, False, True)]
    # nothing ran
    again = Bench(bench.tmp_path)
    again.run(bench.appended)
    assert not any(executed for _, executed in again.builder.asked)
    ended = Bench(bench.tmp_path, budget=5)
    ended.builder.changes = {(0, True): ["base"]}
    assert ended.run().stop == "budget"
    assert [(each.side, each.build) for each in failures(ended.appended)] == [("base", 0)]

    def interrupted(benchmark: Benchmark, context: Context) -> str:
        raise KeyboardInterrupt

    ended = Bench(bench.tmp_path)
    ended.builder.changes = {(0, True): ["head"]}
    ended.instrument.fails = interrupted
    with pytest.raises(KeyboardInterrupt):
        ended.run()
    assert [(each.side, each.build) for each in failures(ended.appended)] == [("head", 0)]


@pytest.mark.parametrize("executed", [False, True])
def test_a_tree_that_changed_ends_measuring(bench: Bench, executed: bool) -> None:
    bench.builder.changes = {(1, executed): ["base", "head"]}
    assert bench.run() == MeasuredRounds(1, 3, "build-failure")
    assert [(each.kind, each.side, each.build) for each in failures(bench.appended)] == [
        ("tree", "base", 1),
        ("tree", "head", 1),
    ]
    # what was measured is recorded all the same; the first build of the round ended it where it was found by then
    assert {key[2] for key in keys(bench.appended)} == ({0, 1} if executed else {0})
    assert len([each for each in builds(bench.appended) if each[1] == 1]) == (2 if executed else 1)
    again = Bench(bench.tmp_path)
    assert again.run(bench.appended) == MeasuredRounds(1, 3, "build-failure")
    assert again.appended == []


# 2 builds and 12 executions a round: 14 s
@pytest.mark.parametrize(("budget", "rounds"), [(14, 1), (27.9, 1), (28, 2), (41.9, 2), (42, 3), (1000, 3)])
def test_a_round_that_does_not_fit_the_budget_does_not_begin(tmp_path: Path, budget: float, rounds: int) -> None:
    bench = Bench(tmp_path, budget=budget)
    assert bench.run() == MeasuredRounds(rounds, 3, "finished" if rounds == 3 else "budget")
    assert keys(bench.appended) == [key for key in planned(bench) if key[2] < rounds]


def test_the_time_of_failed_executions_and_between_steps_counts(tmp_path: Path) -> None:
    # round 0: 2 builds, 8 executions of a and b, and 1 failed one of c; 11 s, of which 10 s in records
    bench = Bench(tmp_path, budget=20.5)
    bench.instrument.fails = lambda benchmark, context: "no" if benchmark.name == "c" else ""
    assert bench.run() == MeasuredRounds(1, 3, "budget")
    bench = Bench(tmp_path, budget=28)
    bench.run(progress=lambda event: setattr(bench.clock, "now", bench.clock.now + 0.01))
    assert len(executions(bench.appended)) == 12


@pytest.mark.parametrize(
    ("budget", "made", "phase", "seconds"),
    [(0.5, 0, "build", 0.5), (1.75, 0, "build", 0.75), (2.25, 0, "execution", 0.25), (13.5, 11, "execution", 0.5)],
)
def test_the_budget_ends_the_first_round(
    tmp_path: Path, budget: float, made: int, phase: Phase, seconds: float
) -> None:
    bench = Bench(tmp_path, budget=budget)
    measured = bench.run()
    first = bench.rounds[0]
    step = first.executions[made] if phase == "execution" else first.builds[int(budget > 1)]
    cut = Cut(
        phase=phase,
        side=step.side,
        benchmark=step.benchmark if isinstance(step, ExecutionStep) else None,
        build=0,
        execution=step.execution if isinstance(step, ExecutionStep) else None,
        seconds=seconds,
    )
    assert measured == MeasuredRounds(0, 3, "budget", cut=cut)
    assert keys(bench.appended) == planned(bench)[:made]
    # what the budget ended is no failure
    assert failures(bench.appended) == []
    assert bench.clock.now == budget


@pytest.mark.parametrize(("budget", "side", "compared"), [(2.25, "base", 0), (3.25, "head", 1)])
def test_the_budget_ends_the_comparison_of_outputs(tmp_path: Path, budget: float, side: Side, compared: int) -> None:
    bench = Bench(tmp_path, budget=budget)
    table = {name: msgspec.structs.replace(each, same_output=True) for name, each in bench.table.items()}
    measured = bench.measure(printing(bench.clock), adding(bench.appended), table=table)
    first = next(step for step in bench.rounds[0].executions)
    cut = Cut(
        phase="comparison", side=side, benchmark=first.benchmark, build=0, execution=first.execution, seconds=0.25,
        compared=compared, comparing=float(compared),
    )  # fmt: skip
    assert measured == MeasuredRounds(0, 3, "budget", cut=cut)
    assert failures(bench.appended) == []


def printing(clock: Clock) -> FakeExecutor:
    """Make an executor whose commands print one word in one second."""
    inner = taking(1.0, clock)

    def answer(command: Command) -> ProcessEnd:
        if command.stdout is not None:
            command.stdout.write_text("word\n")
        return inner.answer(command)

    return FakeExecutor(answer)


def test_a_later_round_that_takes_longer_is_ended_by_the_budget(tmp_path: Path) -> None:
    bench = Bench(tmp_path, budget=30)

    def slower(benchmark: Benchmark, context: Context) -> str:
        bench.builder.seconds = 10.0
        return ""

    bench.instrument.fails = slower
    measured = bench.run()
    assert (measured.rounds, measured.stop, measured.cut and measured.cut.phase) == (1, "budget", "build")
    assert bench.clock.now == 30


def test_a_resumed_run_has_what_the_budget_left_it(tmp_path: Path) -> None:
    whole = Bench(tmp_path)
    whole.run()
    # killed in the second round: 14 s of the first, 2 builds and 2 executions; the builds are made again
    cut = next(i for i, r in enumerate(whole.appended) if isinstance(r, Execution) and r.build == 1) + 2
    for budget, more, rounds in ((24.5, 4, 1), (30, 10, 2), (43.9, 10, 2), (44, 22, 3)):
        bench = Bench(tmp_path, budget=budget)
        assert bench.run(whole.appended[:cut]).rounds == rounds
        assert keys(whole.appended[:cut] + bench.appended) == planned(bench)[: 14 + more]


def test_a_run_that_the_budget_ended_stays_ended(tmp_path: Path) -> None:
    whole = Bench(tmp_path, budget=20)
    measured = whole.run()
    assert (measured.rounds, measured.stop) == (1, "budget")
    end = HostState(when="end", stop=measured.stop, rounds=measured.rounds, cut=measured.cut)
    again = Bench(tmp_path, budget=1e9)
    assert again.run([*whole.appended, end]) == measured
    assert (again.appended, again.builder.calls) == ([], [])
    first = Bench(tmp_path, budget=5)
    ended = first.run()
    end = HostState(when="end", stop="budget", rounds=0, cut=ended.cut)
    assert Bench(tmp_path, budget=1e9).run([*first.appended, end]) == ended


@dataclass
class FakeSuite(FakeInstrument):
    """Names x, y and z, whatever the benchmark; broken: (side, count of executions so far) -> those without values."""

    broken: Callable[[Side, int], set[str]] = lambda side, count: set()

    def collect(
        self, benchmark: Benchmark, context: Context, outcome: ProcessEnd
    ) -> dict[str, Metric] | Collected | Unusable:
        status = self.fails(benchmark, context)
        if status:
            return Unusable(status, outcome.stderr)
        broken = self.broken(context.side, len(self.contexts))
        value = {"time": Metric(unit="s", values=[float(context.seed)], dropped=[0.0])}
        return Collected(
            {name: value for name in "xyz" if name not in broken}, {name: Unusable(f"no {name}", "") for name in broken}
        )


def broken_bench(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path)
    bench.instrument.fails = lambda benchmark, context: (
        "exit 1" if benchmark.name == "b" and "head/1" in str(context.directory) else ""
    )
    return bench


def unbuildable_bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path, builder=FakeBuilder(broken={("head", 2)}))


@dataclass
class CountedBench(Bench):
    """The first start of a says what one costs, and the first two how many it has in a round."""

    names: Sequence[str] = ("a", "b")

    def laid_out(self, count: int) -> Sequence[Round]:
        return schedule(
            {side: list(self.names) for side in SIDES}, 2, 2, seed=4, starts={"a": count}, first={"a": (1, 2)}
        )

    @property
    def rounds(self) -> Sequence[Round]:
        return self.laid_out(5)

    def counted(self, made: Sequence[Record]) -> Sequence[Round]:
        first = [each for each in executions(made) if each.build == 0 and each.execution < 2]
        of_a = len([each for each in first if each.benchmark == "a"])
        assert 2 <= of_a <= 4
        return self.laid_out(5 if of_a < 4 else 7)


def test_the_first_starts_say_how_many_all_rounds_have(tmp_path: Path) -> None:
    bench = CountedBench(tmp_path)
    assert bench.run() == MeasuredRounds(2, 2, "finished", built=True)
    wanted = [s for each in bench.laid_out(7) for s in each.executions]
    assert [(e.benchmark, e.side, e.build, e.execution, e.order) for e in executions(bench.appended)] == [
        (s.benchmark, s.side, s.build, s.execution, s.order) for s in wanted
    ]
    tried, said = (event for event in bench.events if isinstance(event, LaidOut) and event.executions)
    first, *later = [event for event in bench.events if isinstance(event, RoundStarted)]
    # what is expected before the count is not said
    assert first.executions == 2 + 2
    assert [event.executions for event in later] == [14 + 4]
    assert (tried.executions, said.executions) == (10 + 4, 14 + 4)


def counted_alone(tmp_path: Path) -> Bench:
    """All that was expected before the count is made long before all that it comes to."""
    return CountedBench(tmp_path, names=("a",))


class LookedAt(Bench):
    """Settles a, then b; a run that goes on replays its looks."""

    def run(self, records: Iterable[Record] = (), **options: Any) -> MeasuredRounds:
        return super().run(records, after_round=settle({"a"}, {"b"}), **options)


def lacking_suite(tmp_path: Path) -> Bench:
    lacking = FakeSuite(broken=lambda side, count: {"y"} if side == "head" else set())
    return Bench(tmp_path, names=["s", "t"], kind="go", seconds=6.0, instrument=lacking)


def is_within(records: Sequence[Record], cut: int) -> bool:
    """Whether a cut divides the lines of a suite's execution, which are written together."""
    before, after = executions(records[cut - 1 : cut]), executions(records[cut : cut + 1])
    return [e.order for e in before] == [e.order for e in after] != []


RESUMED = [Bench, broken_bench, unbuildable_bench, CountedBench, counted_alone, LookedAt, lacking_suite]


@pytest.mark.parametrize("make", some(RESUMED, 3, pytest.mark.endtoend))
def test_resume_at_every_cut_gives_the_same_records(tmp_path: Path, make: Callable[[Path], Bench]) -> None:
    whole = make(tmp_path)
    finished = whole.run()
    # what a suite cannot measure is written with what it can
    broken = {i + 1 for i, r in enumerate(whole.appended) if isinstance(r, Failure) and "/" in str(r.benchmark)}
    for cut in range(len(whole.appended) + 1):
        if is_within(whole.appended, cut) or cut in broken:
            continue
        before = whole.appended[:cut]
        rest = make(tmp_path)
        assert rest.run([Run(seed=4), *before]) == finished
        assert before + rest.appended == whole.appended
        # what was built again has the seed it had, and only sides that are needed were built
        seeds = {(b.side, b.build): b.seed for each in whole.rounds for b in each.builds}
        assert all(seeds[side, build] == seed for side, build, seed in rest.builder.calls)
        needed: set[tuple[Side | None, int | None]] = {(s, b) for _, s, b, _ in keys(rest.appended)}
        needed |= {(f.side, f.build) for f in failures(rest.appended)}
        built = {(side, build) for side, build, _ in rest.builder.calls}
        assert built == needed | set(builds(rest.appended))


def test_a_build_that_fails_only_when_made_again_ends_measuring_and_records_of_others_do_not_count(
    bench: Bench,
) -> None:
    other = Execution(benchmark="a", side="base", session=1, build=0, execution=0, metrics={})
    missing = Failure(kind="missing", benchmark="a")
    failed = Failure(kind="execution", benchmark="b", session=1)
    bench.run([other, Build(side="base", session=1, build=0), failed, missing])
    assert keys(bench.appended) == planned(bench)
    again = Bench(bench.tmp_path)
    again.builder.broken = {("base", 0), ("head", 0)}
    assert again.run(bench.appended[:3]) == MeasuredRounds(0, 3, "build-failure")
    assert [type(record) for record in again.appended] == [Failure]


# --- looks ----------------------------------------------------------------------------------------------------------


def settle(*rounds: set[str]) -> Callable[[Sequence[Record]], frozenset[str]]:
    def after_round(records: Sequence[Record]) -> frozenset[str]:
        done = max(e.build for e in executions(records))
        return frozenset(rounds[done] if done < len(rounds) else set())

    return after_round


def test_settled_benchmarks_need_no_more(bench: Bench) -> None:
    assert bench.run(after_round=settle({"a"}, {"b"})) == MeasuredRounds(3, 3, "finished")
    out = {"a": 1, "b": 2, "c": 3}
    assert keys(bench.appended) == [key for key in planned(bench) if key[2] < out[key[0]]]
    looks = [record for record in bench.appended if isinstance(record, Look)]
    assert looks == [Look(look=n, settled=own, seconds=0.0) for n, own in enumerate((["a"], ["b"], []), 1)]
    # when all are, measuring ends
    assert Bench(bench.tmp_path).run(after_round=settle({"a", "c"}, {"b"})) == MeasuredRounds(2, 3, "settled")


# --- suites -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def suites(tmp_path: Path) -> Bench:
    return Bench(tmp_path, names=["s", "t"], kind="go", seconds=6.0, instrument=FakeSuite())


def test_a_suite_gives_a_line_for_each_benchmark_that_it_names(suites: Bench) -> None:
    assert suites.run() == MeasuredRounds(3, 3, "finished")
    lines = executions(suites.appended)
    assert [(e.suite, e.side, e.build, e.execution) for e in lines[::3]] == planned(suites)
    assert all(
        {e.benchmark for e in lines[i : i + 3]} == {f"{lines[i].suite}/{n}" for n in "xyz"} for i in range(0, 72, 3)
    )
    assert {(e.lines, e.seconds, e.warmup) for e in lines} == {(3, 2.0, 1)}
    assert [e.order for e in lines] == [i // 3 for i in range(72)]


def test_what_a_suite_cannot_measure_fails_alone_and_once(suites: Bench) -> None:
    suites.instrument = FakeSuite(broken=lambda side, count: {"y"} if count > 7 and side == "head" else set())
    assert suites.run() == MeasuredRounds(3, 3, "finished")
    assert sorted((f.benchmark, f.side, f.status) for f in failures(suites.appended)) == [
        ("s/y", "head", "no y"),
        ("t/y", "head", "no y"),
    ]
    lines = executions(suites.appended)
    assert [(e.suite, e.side, e.build, e.execution) for e in lines if e.benchmark.endswith("x")] == planned(suites)
    first = {str(f.benchmark): suites.appended.index(f) for f in failures(suites.appended)}
    after = [e for name, i in first.items() for e in executions(suites.appended[i:]) if e.suite == name[0]]
    assert {e.benchmark[1:] for e in after} == {"/x", "/z"}
    assert {e.lines for e in after} == {2}


def test_a_suite_that_failed_as_a_whole_or_each_of_whose_benchmarks_did_is_over(suites: Bench) -> None:
    suites.instrument.fails = lambda benchmark, context: "exit 2" if benchmark.name == "s" else ""
    assert suites.run() == MeasuredRounds(3, 3, "finished")
    assert [(f.benchmark, f.status) for f in failures(suites.appended)] == [("s", "exit 2")]
    assert {e.suite for e in executions(suites.appended)} == {"t"}
    suites.appended.clear()
    suites.instrument = FakeSuite(broken=lambda side, count: set("xyz") if side == "head" else set())
    assert suites.run() == MeasuredRounds(1, 3, "failed")
    assert {f.benchmark for f in failures(suites.appended)} == {f"{s}/{n}" for s in "st" for n in "xyz"}


def test_a_suite_of_which_nothing_is_wanted_is_run_once_on_each_side(suites: Bench) -> None:
    class Unwanted(FakeSuite):
        def collect(self, benchmark: Benchmark, context: Context, outcome: ProcessEnd) -> Collected:
            found = super().collect(benchmark, context, outcome)
            assert isinstance(found, Collected)
            return Collected({}, {}) if benchmark.name == "s" else found

    suites.instrument = Unwanted()
    assert suites.run() == MeasuredRounds(3, 3, "finished")
    assert failures(suites.appended) == []
    assert {e.suite for e in executions(suites.appended)} == {"t"}
    unwanted = [event for event in suites.events if isinstance(event, StepStarted) and event.benchmark == "s"]
    assert {event.side for event in unwanted} == {"base", "head"}
    assert len(unwanted) < 4


def test_a_suite_is_settled_when_all_that_it_names_is(suites: Bench) -> None:
    after_round = settle({"s/x", "s/y", "t/x"}, {"s/z"})
    suites.run(after_round=after_round)
    last = executions(r for r in suites.appended if isinstance(r, Execution) and r.build == 2)
    assert {e.suite for e in last} == {"t"}
    assert [e for e in suites.events if isinstance(e, LookTaken)] == [LookTaken(0, 2), LookTaken(1, 1), LookTaken(0, 1)]


# --- progress and the end -------------------------------------------------------------------------------------------


def test_progress(tmp_path: Path) -> None:
    bench = Bench(tmp_path, builds=1, executions=1, names=["a"])
    bench.instrument.fails = lambda benchmark, context: "exit 1" if context.side == "head" else ""
    bench.run()
    assert bench.events[0] == RoundStarted(0, 1, 2)
    steps = bench.events[1:]
    assert all(isinstance(event, StepStarted) for event in steps[::2])
    assert all(isinstance(event, StepFinished) for event in steps[1::2])
    assert StepStarted("base", None) in steps
    assert StepFinished("base", None, None) in steps
    (failure,) = failures(bench.appended)
    assert StepFinished("head", "a", failure) in steps


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError("disk full")])
def test_an_interrupt_or_a_full_disk_is_passed_on_and_loses_nothing(
    bench: Bench, error: BaseException | type[BaseException]
) -> None:
    kept: list[Record] = []

    def append(*records: Record) -> None:
        if len(kept) == 9:
            raise error
        kept.extend(records)

    with pytest.raises(error if isinstance(error, type) else type(error)):
        bench.measure(taking(1.0, bench.clock), append)
    assert [path for side in bench.tmp_path.iterdir() for path in side.iterdir()] == []
    whole, rest = Bench(bench.tmp_path), Bench(bench.tmp_path)
    whole.run()
    rest.run(kept)
    assert kept + rest.appended == whole.appended


def test_output_that_grows_beyond_its_limit_ends_the_program(tmp_path: Path) -> None:
    benchmark = Benchmark(
        name="b",
        command="yes 1 > {output}",
        instrument="values",
        max_output=Quantity.parse("1MB"),
        timeout=Duration(60),
    )

    class Here(FakeBuilder):
        def directory(self, side: Side, factors: Mapping[str, Setting] = NO_FACTORS) -> Path:
            return tmp_path

    records: list[Record] = []
    bench = Bench(tmp_path, builds=1, executions=1, names=["b"], perturb=[], kind="values", builder=Here())
    bench.measure(ProcessExecutor(), adding(records), Values(), table={"b": benchmark}, environments=REAL)
    (failure,) = failures(records)
    assert failure.status == "the output is longer than max_output (1000000 bytes)"


def test_a_failed_execution_is_repeated_with_all_that_it_needs(tmp_path: Path) -> None:
    benchmark = Benchmark(
        name="s",
        command=["go", "test", "./a b"],
        instrument="go",
        service=Service(command="./serve {port}", ready="log:up", timeout=Duration(0.1)),
        load=Load(command=["./busy", "{seed}"]),
    )
    bench = Bench(tmp_path, names=["s"], kind="go", executions=1)
    executor = FakeExecutor(lambda command: ProcessEnd("exit 1", "", 1.0, ""))
    bench.measure(executor, adding(bench.appended), Go(), table={"s": benchmark})
    (failure,) = failures(bench.appended)
    service, load, command = str(failure.command).splitlines()
    assert re.fullmatch(r"\./serve [0-9]{5} &  # beside it", service)
    assert re.fullmatch(r"\./busy [0-9]+ &  # beside it", load)
    assert command.startswith("go test './a b' -bench=. ")
    assert str(tmp_path / "scratch") not in command


# --- parts of the loop ------------------------------------------------------------------------------------------------


def test_each_execution_finds_an_empty_directory_under_a_new_name_of_the_same_length(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path)
    names = set()
    for _ in range(5):
        directory = scratch.fresh()
        assert list(directory.iterdir()) == []
        names.add(directory.name)
        (directory / "output").write_text("1\n")
        (directory / "more").mkdir()
        (directory / "more" / "file").touch()
        (directory / "link").symlink_to("/etc")
    assert len(names) == 5
    assert {len(name) for name in names} == {12}
    assert len(list(tmp_path.iterdir())) == 1
    scratch.clear()
    assert list(tmp_path.iterdir()) == []
    assert scratch.fresh().is_dir()
    # a program that removes its directory costs nobody theirs
    scratch = Scratch(tmp_path)
    scratch.fresh().rmdir()
    assert list(scratch.fresh().iterdir()) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may delete anything")
def test_what_cannot_be_emptied_is_left_behind(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path)
    first = scratch.fresh()
    (first / "output").touch()
    first.chmod(0o500)
    second = scratch.fresh()
    assert second != first
    assert list(second.iterdir()) == []
    first.chmod(0o700)


def of_round(**how: Any) -> list[Record]:
    builds = [Build(side=side, build=0, seconds=20.0, setup=2.0, **how) for side in SIDES]
    runs = [Execution(benchmark="b", side=side, build=0, execution=0, seconds=3.0, metrics={}) for side in SIDES]
    return [*builds, *runs]


def test_what_the_next_round_is_expected_to_take() -> None:
    # it links where the first build was linked again
    ledger = Ledger(of_round(checked=1.0), 0)
    assert ledger.fits(8.0)
    assert not ledger.fits(7.9)
    assert not Ledger(of_round(), 0).fits(45.9)
    assert Ledger(of_round(), 0).fits(46.0)
    # a cold first round is no measure for the third
    later = [Build(side=side, build=1, seconds=1.0) for side in SIDES]
    ran = [Execution(benchmark="b", side=side, build=1, execution=0, seconds=3.0, metrics={}) for side in SIDES]
    ledger = Ledger([*of_round(), *later, *ran], 0)
    assert ledger.fits(8.0)
    assert not ledger.fits(7.9)
    # a resumed run has used what its builds took together
    assert Ledger(of_round(checked=1.0), 0).seconds == 2 * 23 + 6
