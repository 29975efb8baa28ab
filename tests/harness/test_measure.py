import os
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from gate.config.types import Benchmark
from gate.model import Build, Execution, Failure, Look, Metric, Record, Run, Side
from harness.execute import Command, FakeExecutor, Outcome, ProcessExecutor
from harness.instruments.common import Context, Unusable
from harness.instruments.values import Values
from harness.measure import (
    Measured,
    RoundStarted,
    StepFinished,
    StepStarted,
    Tools,
    Work,
    measure,
)
from harness.schedule import schedule

NAMES = ["a", "b", "c"]
Key = tuple[str, Side, int, int]


@dataclass
class FakeBuilder:
    """Keeps what was built; broken: (side, build) that fail. Each build has a directory of its own."""

    broken: set[tuple[Side, int]] = field(default_factory=set)
    seconds: float = 1.0
    calls: list[tuple[Side, int, int]] = field(default_factory=list)
    latest: dict[Side, int] = field(default_factory=dict)

    def build(self, side: Side, build: int, seed: int) -> Build | Failure:
        self.calls.append((side, build, seed))
        self.latest[side] = build
        if (side, build) in self.broken:
            return Failure(kind="build", side=side, build=build, status="exit 2", stderr="no", command="make")
        return Build(side=side, build=build, seed=seed, seconds=self.seconds)

    def directory(self, side: Side) -> Path:
        return Path(f"/trees/{side}/{self.latest[side]}")


@dataclass
class FakeInstrument:
    """Gives one value, or fails for the (benchmark, side, seed-independent count) it is told."""

    fails: Callable[[Benchmark, Context], str] = lambda benchmark, context: ""
    contexts: list[Context] = field(default_factory=list)

    def prepare(self, benchmark: Benchmark, context: Context) -> Command:
        self.contexts.append(context)
        environment = {**context.environment, "PERFGATE_OUTPUT": "/scratch/output", "PERFGATE_PADDING": "x"}
        return Command((benchmark.name,), context.directory, environment, 1)

    def collect(self, benchmark: Benchmark, context: Context, outcome: Outcome) -> dict[str, Metric] | Unusable:
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

    @property
    def work(self) -> Work:
        table = {name: Benchmark(name=name, command=["run", name, "{seed}", "{output}"]) for name in self.names}
        return Work(
            rounds=schedule({"base": list(table), "head": list(table)}, self.builds, self.executions, seed=4),
            benchmarks={"base": table, "head": table},
            iterations=3,
            budget=self.budget,
            environments={"base": {"S": "base"}, "head": {"S": "head"}},
            caller={"TOKEN": "hidden", "S": "caller"},
            scratch=self.tmp_path,
        )

    def run(self, records: Iterable[Record] = (), **options: object) -> Measured:
        executor = FakeExecutor(lambda command: Outcome("", "2026-01-01T00:00:00Z", self.seconds, "said"))
        tools = Tools(
            executor, self.builder, {"hyperfine": self.instrument}, hint=lambda failure: f"hint {failure.kind}"
        )
        options.setdefault("progress", self.events.append)
        return measure(self.work, tools, self.appended.append, records=list(records), **options)  # type: ignore[arg-type]


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


def planned(work: Work) -> list[Key]:
    return [(s.benchmark, s.side, s.build, s.execution) for each in work.rounds for s in each.executions]


def test_a_run_follows_its_schedule(bench: Bench) -> None:
    work = bench.work
    assert bench.run() == Measured(3, 3, "finished")
    expected: list[tuple[object, ...]] = []
    for each in work.rounds:
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


def test_each_execution_gets_its_side_seed_padding_and_an_empty_directory(bench: Bench) -> None:
    bench.run()
    steps = [step for each in bench.work.rounds for step in each.executions]
    contexts = bench.instrument.contexts
    assert [(c.side, c.seed, c.padding, c.iterations) for c in contexts] == [
        (s.side, s.seed, s.padding, 3) for s in steps
    ]
    assert [c.directory for c in contexts] == [Path(f"/trees/{s.side}/{s.build}") for s in steps]
    assert all(c.environment == {"S": c.side} for c in contexts)
    assert len({c.scratch for c in contexts}) == len(contexts)
    # a longer path would shift what lies above it on the stack
    assert len({len(str(c.scratch)) for c in contexts}) == 1
    assert list(bench.tmp_path.iterdir()) == []


def test_a_failed_execution_ends_its_benchmark_on_both_sides(bench: Bench) -> None:
    bench.instrument.fails = lambda benchmark, context: (
        "exit 3" if benchmark.name == "b" and context.side == "head" and "1" in str(context.directory) else ""
    )
    assert bench.run() == Measured(3, 3, "finished")
    (failure,) = failures(bench.appended)
    after = bench.appended[bench.appended.index(failure) :]
    assert not [e for e in executions(after) if e.benchmark == "b"]
    assert sorted(key for key in keys(bench.appended) if key[0] != "b") == sorted(
        key for key in planned(bench.work) if key[0] != "b"
    )
    seed = next(
        s.seed
        for s in bench.work.rounds[1].executions
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
        command=f"run b {seed} perfgate-output",
        directory="/trees/head/1",
        environment={"S": "head", "TOKEN": "", "PERFGATE_OUTPUT": "perfgate-output"},
        hint="hint execution",
    )


def test_when_every_benchmark_failed_nothing_more_is_built(bench: Bench) -> None:
    bench.instrument.fails = lambda benchmark, context: "no values"
    assert bench.run() == Measured(1, 3, "failed")
    assert len(failures(bench.appended)) == 3
    assert len(builds(bench.appended)) == 2


def test_every_benchmark_failed_in_the_last_round(tmp_path: Path) -> None:
    bench = Bench(tmp_path, builds=1)
    bench.instrument.fails = lambda benchmark, context: "no values"
    assert bench.run() == Measured(1, 1, "failed")


@pytest.mark.parametrize("side", ["base", "head"])
def test_a_failed_build_ends_measuring(bench: Bench, side: Side) -> None:
    bench.builder.broken = {(side, 1)}
    assert bench.run() == Measured(1, 3, "build failure")
    assert bench.appended[-1] == Failure(
        kind="build", side=side, build=1, status="exit 2", stderr="no", command="make", hint="hint build"
    )
    assert {key[2] for key in keys(bench.appended)} == {0}
    # on resume it stays failed
    again = Bench(bench.tmp_path)
    assert again.run(bench.appended) == Measured(1, 3, "build failure")
    assert again.appended == []


# 2 builds and 12 executions a round: 14 s
@pytest.mark.parametrize(("budget", "rounds"), [(0.001, 1), (14, 1), (27.9, 1), (28, 2), (41.9, 2), (42, 3), (1000, 3)])
def test_the_budget(tmp_path: Path, budget: float, rounds: int) -> None:
    bench = Bench(tmp_path, budget=budget)
    assert bench.run() == Measured(rounds, 3, "finished" if rounds == 3 else "budget")
    assert keys(bench.appended) == [key for key in planned(bench.work) if key[2] < rounds]


def test_the_time_of_failed_executions_counts(tmp_path: Path) -> None:
    # round 0: 2 builds, 8 executions of a and b, and 1 failed one of c; 11 s, of which 10 s in records
    bench = Bench(tmp_path, budget=20.5)
    bench.instrument.fails = lambda benchmark, context: "no" if benchmark.name == "c" else ""
    assert bench.run() == Measured(1, 3, "budget")


def test_a_round_that_began_is_finished_on_resume_whatever_the_budget(tmp_path: Path) -> None:
    whole = Bench(tmp_path)
    whole.run()
    cut = next(i for i, r in enumerate(whole.appended) if isinstance(r, Execution) and r.build == 1) + 2
    bench = Bench(tmp_path, budget=1)
    assert bench.run(whole.appended[:cut]) == Measured(2, 3, "budget")
    assert keys(whole.appended[:cut] + bench.appended) == [key for key in planned(bench.work) if key[2] < 2]


def broken_bench(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path)
    bench.instrument.fails = lambda benchmark, context: (
        "exit 1" if benchmark.name == "b" and "head/1" in str(context.directory) else ""
    )
    return bench


def unbuildable_bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path, builder=FakeBuilder(broken={("head", 2)}))


@pytest.mark.parametrize("make", [Bench, broken_bench, unbuildable_bench])
def test_resume_at_every_cut_gives_the_same_records(tmp_path: Path, make: Callable[[Path], Bench]) -> None:
    whole = make(tmp_path)
    finished = whole.run()
    header = Run(seed=4)
    for cut in range(len(whole.appended) + 1):
        before = whole.appended[:cut]
        rest = make(tmp_path)
        assert rest.run([header, *before]) == finished
        assert before + rest.appended == whole.appended
        # what was built again has the seed it had, and only sides that are needed were built
        seeds = {(b.side, b.build): b.seed for each in whole.work.rounds for b in each.builds}
        assert all(seeds[side, build] == seed for side, build, seed in rest.builder.calls)
        needed: set[tuple[Side | None, int | None]] = {(s, b) for _, s, b, _ in keys(rest.appended)}
        needed |= {(f.side, f.build) for f in failures(rest.appended)}
        built = {(side, build) for side, build, _ in rest.builder.calls}
        assert built == needed | set(builds(rest.appended))


def test_resume_twice_at_random_cuts(tmp_path: Path) -> None:
    whole = Bench(tmp_path)
    whole.run()
    rng = random.Random(1)
    for _ in range(50):
        records: list[Record] = []
        for _ in range(4):
            part = Bench(tmp_path)
            part.run(records)
            records += part.appended[: rng.randrange(len(part.appended) + 1)]
        last = Bench(tmp_path)
        last.run(records)
        assert records + last.appended == whole.appended


def test_a_build_that_fails_only_when_made_again_ends_measuring(bench: Bench) -> None:
    bench.run()
    again = Bench(bench.tmp_path)
    again.builder.broken = {("base", 0), ("head", 0)}
    assert again.run(bench.appended[:3]) == Measured(0, 3, "build failure")
    assert [type(record) for record in again.appended] == [Failure]


def test_records_of_another_session_do_not_count(bench: Bench) -> None:
    other = Execution(benchmark="a", side="base", session=1, build=0, execution=0, metrics={})
    bench.run([other, Build(side="base", session=1, build=0), Failure(kind="execution", benchmark="b", session=1)])
    assert keys(bench.appended) == planned(bench.work)


def test_missing_benchmarks_of_the_gate_are_no_failed_ones(bench: Bench) -> None:
    bench.run([Failure(kind="missing", benchmark="a")])
    assert keys(bench.appended) == planned(bench.work)


# --- looks ----------------------------------------------------------------------------------------------------------


def test_without_looks_nothing_is_recorded_of_them(bench: Bench) -> None:
    bench.run()
    assert not [record for record in bench.appended if isinstance(record, Look)]


def settle(*rounds: set[str]) -> Callable[[Sequence[Record]], frozenset[str]]:
    def after_round(records: Sequence[Record]) -> frozenset[str]:
        done = max(e.build for e in executions(records))
        return frozenset(rounds[done] if done < len(rounds) else set())

    return after_round


def test_settled_benchmarks_need_no_more(bench: Bench) -> None:
    assert bench.run(after_round=settle({"a"}, {"b"})) == Measured(3, 3, "finished")
    out = {"a": 1, "b": 2, "c": 3}
    assert keys(bench.appended) == [key for key in planned(bench.work) if key[2] < out[key[0]]]
    looks = [record for record in bench.appended if isinstance(record, Look)]
    assert looks == [Look(look=1, settled=["a"]), Look(look=2, settled=["b"]), Look(look=3, settled=[])]


def test_when_all_are_settled_measuring_ends(bench: Bench) -> None:
    assert bench.run(after_round=settle({"a", "c"}, {"b"})) == Measured(2, 3, "settled")


def test_a_resumed_run_replays_its_looks(tmp_path: Path) -> None:
    whole = Bench(tmp_path)
    finished = whole.run(after_round=settle({"a"}, {"b"}))
    for cut in range(len(whole.appended) + 1):
        rest = Bench(tmp_path)
        assert rest.run(whole.appended[:cut], after_round=settle({"a"}, {"b"})) == finished
        assert whole.appended[:cut] + rest.appended == whole.appended


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
    assert StepFinished("base", None, 1.0, None) in steps
    (failure,) = failures(bench.appended)
    assert StepFinished("head", "a", 1.0, failure) in steps


def test_measuring_is_silent_by_default(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    bench = Bench(tmp_path)
    tools = Tools(FakeExecutor(lambda command: Outcome("", "", 1, "")), bench.builder, {"hyperfine": bench.instrument})
    assert measure(bench.work, tools, bench.appended.append).rounds == 3
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError("disk full")])
def test_an_interrupt_or_a_full_disk_is_passed_on_and_loses_nothing(
    bench: Bench, error: BaseException | type[BaseException]
) -> None:
    kept: list[Record] = []

    def append(record: Record) -> None:
        if len(kept) == 9:
            raise error
        kept.append(record)

    executor = FakeExecutor(lambda command: Outcome("", "2026-01-01T00:00:00Z", 1.0, "said"))
    tools = Tools(executor, bench.builder, {"hyperfine": bench.instrument})
    with pytest.raises(error if isinstance(error, type) else type(error)):
        measure(bench.work, tools, append)
    assert list(bench.tmp_path.iterdir()) == []
    whole, rest = Bench(bench.tmp_path), Bench(bench.tmp_path)
    whole.run()
    rest.run(kept)
    assert kept + rest.appended == whole.appended


def test_real_processes(tmp_path: Path) -> None:
    command = 'test "$PERFGATE_SEED" = {seed} && seq 1 $PERFGATE_ITERATIONS; test -e ./$PERFGATE_SIDE'
    table = {
        "good": Benchmark(name="good", command=command, instrument="values", warmup=1),
        "bad": Benchmark(name="bad", command=["echo", "nothing"], instrument="values"),
    }
    for side in ("base", "head"):
        (tmp_path / "trees" / side).mkdir(parents=True)
        (tmp_path / "trees" / side / side).touch()

    class Trees(FakeBuilder):
        def directory(self, side: Side) -> Path:
            return tmp_path / "trees" / side

    scratch = tmp_path / "scratch"
    scratch.mkdir()
    environment = {"PATH": os.environ["PATH"]}
    work = replace(
        Bench(tmp_path).work,
        rounds=schedule({"base": list(table), "head": list(table)}, 2, 2, seed=1),
        benchmarks={"base": table, "head": table},
        environments={"base": environment, "head": environment},
        scratch=scratch,
    )
    records: list[Record] = []
    done = measure(work, Tools(ProcessExecutor(), Trees(), {"values": Values()}), records.append)
    assert done == Measured(2, 2, "finished")
    found = executions(records)
    assert len(found) == 8
    assert all(e.metrics == {"time": Metric(unit="s", values=[2.0, 3.0], dropped=[1.0])} for e in found)
    (failure,) = failures(records)
    assert (failure.benchmark, failure.status) == ("bad", "line 1 of the output: 'nothing' is not a number")
