"""The measuring loop with treatments: what they get, what a failure takes out, the budget, and resuming."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gate.config.study import SettingTable, Study
from gate.config.treatments import PlannedTreatment, spread, treatments
from gate.config.types import Benchmark, BuildTable
from gate.model import SIDES, Build, Execution, Failure, HostState, Metric, Record, Run, Side
from gate.model.case import canonical
from harness.instruments.protocol import Collected, Context, Unusable
from harness.loop.events import RoundStarted, StepFinished, StepStarted
from harness.loop.measure import MeasuredRounds
from harness.loop.schedule import Round, design_schedule
from harness.process.execute import ProcessEnd
from tests.harness.loop.test_measure import Bench as BenchOfGate
from tests.harness.loop.test_measure import FakeBuilder, FakeInstrument, executions, failures

STUDY = Study(
    factor={
        "load": [1, 8],
        "opt": {"O2": SettingTable(build_env={"CFLAGS": "-O2"}), "O3": SettingTable(env={"THREADS": "4"})},
        "side": ["base", "head"],
    }
)
OF_HEAD = Study(factor={name: table for name, table in STUDY.factor.items() if name != "side"})
Place_ = tuple[str, Side, str, int, int]


class FakeSuite(FakeInstrument):
    """Names x and y; of y there is nothing where it is told."""

    def collect(self, benchmark: Benchmark, context: Context, outcome: ProcessEnd) -> Collected:
        value = {"time": Metric(unit="s", values=[float(context.seed)])}
        status = self.fails(benchmark, context)
        return Collected(
            {"x": value} if status else {"x": value, "y": value}, {"y": Unusable(status, "")} if status else {}
        )


@dataclass
class Bench(BenchOfGate):
    """A study of fakes: benchmarks a and b at 8 treatments, 5 replicates in 2 rounds, a second each execution."""

    names: Sequence[str] = ("a", "b")
    builder: FakeBuilder = field(default_factory=lambda: FakeBuilder(failing=3.0))
    study: Study = STUDY
    replicates: int = 5
    shares: Sequence[int] = ()

    @property
    def planned(self) -> tuple[PlannedTreatment, ...]:
        return treatments(self.study, BuildTable(command="make"))

    @property
    def rounds(self) -> tuple[Round, ...]:
        return design_schedule(self.names, self.planned, self.shares or spread(self.replicates, 2), seed=4)

    @property
    def table(self) -> dict[str, Benchmark]:
        return {
            name: Benchmark(name=name, command=["run", "{load}", "{seed}"], instrument=self.kind) for name in self.names
        }

    def run(self, records: Iterable[Record] = (), **options: Any) -> MeasuredRounds:
        own = {side: {"S": side, "THREADS": "1"} for side in SIDES}
        return super().run(records, environments=own, **options)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def places(records: Iterable[Record]) -> list[Place_]:
    return [(e.benchmark, e.side, canonical(e.factors), e.build, e.execution) for e in executions(records)]


def wanted(rounds: Sequence[Round]) -> list[Place_]:
    return [(s.benchmark, s.side, canonical(s.factors), s.build, s.execution) for r in rounds for s in r.executions]


def at(load: int, opt: str) -> str:
    return canonical({"load": load, "opt": opt})


def fails_at(load: int, opt: str, side: Side, name: str = "b", after: int = 0) -> Callable[[Benchmark, Context], str]:
    """Fail one benchmark at one treatment, but for its first executions."""
    seen = Counter[str]()

    def fails(benchmark: Benchmark, context: Context) -> str:
        here = context.environment["PERFGATE_FACTOR_LOAD"], context.environment["PERFGATE_FACTOR_OPT"]
        if (benchmark.name, context.side, *here) != (name, side, str(load), opt):
            return ""
        seen["executions"] += 1
        return "exit 1" if seen["executions"] > after else ""

    return fails


def test_a_study_follows_its_schedule_and_an_execution_gets_what_its_treatment_gives(bench: Bench) -> None:
    assert bench.run() == MeasuredRounds(2, 2, "finished", 5, 5)
    expected: list[tuple[object, ...]] = []
    for each in bench.rounds:
        expected += [(b.side, b.build, b.seed, b.factors) for b in each.builds]
        expected += [(s.benchmark, s.side, s.build, s.execution, s.order, s.factors) for s in each.executions]
    found: list[tuple[object, ...]] = [
        (r.side, r.build, r.seed, r.factors)
        if isinstance(r, Build)
        else (r.benchmark, r.side, r.build, r.execution, r.order, r.factors)
        for r in bench.appended
        if isinstance(r, (Build, Execution))
    ]
    assert found == expected
    assert len(bench.appended) == len(expected) == 8 + 80
    # side is no setting: it has a field of its own
    assert {tuple(e.factors) for e in executions(bench.appended)} == {("load", "opt")}
    # a study of head alone never builds base
    alone = Bench(bench.tmp_path, study=OF_HEAD)
    assert alone.run() == MeasuredRounds(2, 2, "finished", 5, 5)
    assert places(alone.appended) == wanted(alone.rounds)
    assert Counter(call[0] for call in alone.builder.calls) == {"head": 4}
    steps = [step for each in bench.rounds for step in each.executions]
    for step, command, context in zip(steps, bench.instrument.commands, bench.instrument.contexts, strict=True):
        load, opt = step.factors["load"], step.factors["opt"]
        assert command == ["run", str(load), "{seed}"]
        assert context.environment == {
            "S": step.side,
            "THREADS": "4" if opt == "O3" else "1",
            "PERFGATE_FACTOR_LOAD": str(load),
            "PERFGATE_FACTOR_OPT": opt,
        }
        assert context.directory == Path(f"/trees/{step.side}/{opt}/{step.build}")
        assert (context.side, context.seed, context.padding) == (step.side, step.seed, step.padding)
        assert context.treatment == canonical(step.factors)


def test_a_failed_execution_takes_out_its_benchmark_at_its_treatment(bench: Bench) -> None:
    bench.instrument.fails = fails_at(8, "O2", "base", after=2)
    assert bench.run() == MeasuredRounds(2, 2, "finished", 5, 5)
    (failure,) = failures(bench.appended)
    assert (failure.kind, failure.benchmark, failure.side, failure.build, failure.execution, failure.status) == (
        "execution", "b", "base", 0, 2, "exit 1",
    )  # fmt: skip
    assert failure.factors == {"load": 8, "opt": "O2"}
    out = ("b", "base", at(8, "O2"))
    assert places(bench.appended) == [p for p in wanted(bench.rounds) if p[:3] != out or p[3:] in ((0, 0), (0, 1))]


def test_a_failed_build_takes_out_the_treatments_that_need_it(bench: Bench) -> None:
    bench.builder.broken = {("base", "O2", 1)}
    assert bench.run() == MeasuredRounds(2, 2, "finished", 5, 5)
    (failure,) = failures(bench.appended)
    assert (failure.kind, failure.side, failure.build, failure.factors) == ("build", "base", 1, {"opt": "O2"})
    assert places(bench.appended) == [
        p for p in wanted(bench.rounds) if p[3] == 0 or p[1] == "head" or p[2] in (at(1, "O3"), at(8, "O3"))
    ]
    # also where it failed only when it was made again
    again = Bench(bench.tmp_path, builder=FakeBuilder(failing=3.0, broken={("head", "O3", 0)}))
    assert again.run(bench.appended[:6]) == MeasuredRounds(2, 2, "finished", 5, 5)
    assert [f.factors for f in failures(again.appended)] == [{"opt": "O3"}]
    assert not [p for p in places(again.appended) if p[1] == "head" and p[2] in (at(1, "O3"), at(8, "O3"))]


def test_what_failed_or_nothing_needs_any_more_is_not_built(bench: Bench) -> None:
    broken = FakeBuilder(failing=3.0, broken={("base", "O2", 0), ("base", "O2", 1)})
    failing = Bench(bench.tmp_path, builder=broken)
    failing.run()
    assert len(failures(failing.appended)) == 1
    assert [call[2] for call in failing.builder.calls if call[:2] == ("base", canonical({"opt": "O2"}))] == [0]
    bench.instrument.fails = lambda benchmark, context: (
        "no" if context.side == "head" and context.environment["PERFGATE_FACTOR_OPT"] == "O3" else ""
    )
    bench.run()
    assert len(failures(bench.appended)) == 4
    assert [call[2] for call in bench.builder.calls if call[:2] == ("head", canonical({"opt": "O3"}))] == [0]
    # where all failed measuring ends: the replicate in which it did was begun, and there is nothing left of it to make
    none = Bench(bench.tmp_path, instrument=FakeInstrument(lambda benchmark, context: "no values"))
    unbuilt = Bench(bench.tmp_path)
    unbuilt.builder.broken = {(side, opt, 0) for side in SIDES for opt in ("O2", "O3")}
    for ended, count in ((none, 16), (unbuilt, 4)):
        assert ended.run() == MeasuredRounds(0, 2, "failed", 1, 5)
        assert len(failures(ended.appended)) == count
        assert not executions(ended.appended)


def test_a_suite_loses_what_failed_at_that_treatment_only(bench: Bench) -> None:
    bench.kind = "go"
    bench.instrument = FakeSuite(fails_at(8, "O2", "head"))
    assert bench.run() == MeasuredRounds(2, 2, "finished", 5, 5)
    (failure,) = failures(bench.appended)
    assert (failure.benchmark, failure.side, failure.factors) == ("b/y", "head", {"load": 8, "opt": "O2"})
    lines = executions(bench.appended)
    assert len(lines) == 160 - 5
    assert {e.lines for e in lines if e.suite == "b" and (e.side, canonical(e.factors)) == ("head", at(8, "O2"))} == {1}
    assert {e.lines for e in lines if e.suite == "a"} == {2}


# --- the budget -----------------------------------------------------------------------------------------------------


# 4 builds of a second a round; 16 executions of a second a replicate; 3 replicates in the first round, 2 in the second
@pytest.mark.parametrize(
    ("budget", "rounds", "replicates"),
    [(20, 0, 1), (35, 0, 1), (36, 0, 2), (52, 1, 3), (71, 1, 3), (72, 1, 4), (87, 1, 4), (88, 2, 5)],
)
def test_the_budget_ends_between_replicates(tmp_path: Path, budget: float, rounds: int, replicates: int) -> None:
    bench = Bench(tmp_path, budget=budget)
    assert bench.run() == MeasuredRounds(rounds, 2, "finished" if rounds == 2 else "budget", replicates, 5)
    assert places(bench.appended) == wanted(bench.rounds)[: 16 * replicates]
    # nothing is built for a round that does not begin
    assert len(bench.builder.calls) == (8 if replicates > 3 else 4)


def test_the_budget_ends_a_replicate_and_the_time_of_failures_counts(tmp_path: Path) -> None:
    for budget, replicates, made in ((3.5, 0, 0), (10.5, 0, 6)):
        bench = Bench(tmp_path, budget=budget)
        measured = bench.run()
        assert (measured.stop, measured.replicates, measured.cut is None) == ("budget", replicates, False)
        assert places(bench.appended) == wanted(bench.rounds)[:made]
        assert failures(bench.appended) == []
    # 3 builds, 12 executions, and 3 s of the failed build: 18 s, and the next replicate takes 12
    for budget, replicates in ((29.9, 1), (30, 2)):
        bench = Bench(tmp_path, budget=budget, builder=FakeBuilder(failing=3.0, broken={("base", "O2", 0)}))
        assert bench.run().replicates == replicates


# each step takes a second, the 4 builds of a round as well; those of a replicate that goes on are made again
@pytest.mark.parametrize(
    ("kept", "budget", "made", "replicates"),
    [
        (17, 34.9, 32, 2),  # the rest of the second replicate is made; another one would take 16 s
        (17, 35, 48, 3),
        (17, 10, 23, 1),  # too little for the rest
        (16, 10, 22, 1),  # a replicate that does not fit begins all the same, where nothing else was made
        (48, 20, 64, 4),
        (48, 19, 63, 3),
        (48, 35.9, 64, 4),
        (48, 36, 80, 5),
    ],
)
def test_what_goes_on_has_a_new_budget(tmp_path: Path, kept: int, budget: float, made: int, replicates: int) -> None:
    whole = Bench(tmp_path)
    whole.run()
    bench = Bench(tmp_path, budget=budget)
    builds = [record for record in whole.appended if isinstance(record, Build)]
    left: list[Record] = [*builds[:4], *executions(whole.appended)[:kept]]
    measured = bench.run([*left, HostState(when="end", stop="budget")])
    assert (measured.stop, measured.replicates) == ("finished" if made == 80 else "budget", replicates)
    assert places(left + bench.appended) == wanted(bench.rounds)[:made]


# --- resuming -------------------------------------------------------------------------------------------------------


def small(tmp_path: Path) -> Bench:
    return Bench(tmp_path, replicates=3)


def with_failing_treatment(tmp_path: Path) -> Bench:
    def fails(benchmark: Benchmark, context: Context) -> str:
        here = context.environment["PERFGATE_FACTOR_LOAD"] == "8" and "head/O2/1" in str(context.directory)
        return "exit 1" if here and benchmark.name == "a" else ""

    return replace(small(tmp_path), instrument=FakeInstrument(fails))


def with_failing_from_the_start(tmp_path: Path) -> Bench:
    fails = lambda _, context: "exit 1" if context.environment["PERFGATE_FACTOR_LOAD"] == "8" else ""  # noqa: E731
    return replace(small(tmp_path), instrument=FakeInstrument(fails))


def with_failing_builds(tmp_path: Path) -> Bench:
    broken = FakeBuilder(failing=3.0, broken={("head", "O3", 0), ("base", "O2", 1)})
    return replace(small(tmp_path), builder=broken)


@pytest.mark.parametrize("make", [small, with_failing_treatment, with_failing_from_the_start, with_failing_builds])
@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.nightly)])
def test_resume_at_every_cut_gives_the_same_records(tmp_path: Path, make: Callable[[Path], Bench], every: int) -> None:
    whole = make(tmp_path)
    finished = whole.run()
    seeds = {(b.side, canonical(b.factors), b.build): b.seed for each in whole.rounds for b in each.builds}
    for cut in range(0, len(whole.appended) + 1, every):
        before = whole.appended[:cut]
        rest = make(tmp_path)
        rest.builder.free = {(r.side, canonical(r.factors), r.build) for r in before if isinstance(r, Build)}
        assert rest.run([Run(seed=4), *before]) == finished
        assert before + rest.appended == whole.appended
        # what was built again has the seed it had, and only what is needed was built
        assert all(seeds[call[:3]] == call[3] for call in rest.builder.calls)
        needed = {(e.side, canonical({"opt": e.factors["opt"]}), e.build) for e in executions(rest.appended)}
        needed |= {
            (f.side or "head", canonical({"opt": f.factors["opt"]}), f.build or 0) for f in failures(rest.appended)
        }
        recorded = {(r.side, canonical(r.factors), r.build) for r in rest.appended if isinstance(r, Build)}
        assert {call[:3] for call in rest.builder.calls} == needed | recorded


def test_settings_that_were_read_from_a_file_are_the_same(bench: Bench) -> None:
    # JSON of another writer may say 8.0
    bench.run()
    cut = len(bench.appended) // 2
    floats = [
        msgspec.structs.replace(record, factors={**record.factors, "load": float(record.factors["load"])})
        if isinstance(record, Execution)
        else record
        for record in bench.appended[:cut]
    ]
    rest = Bench(bench.tmp_path)
    rest.run(floats)
    assert rest.appended == bench.appended[cut:]


# --- progress -------------------------------------------------------------------------------------------------------


def test_progress_names_the_settings(bench: Bench) -> None:
    bench.instrument.fails = fails_at(8, "O2", "base")
    bench.run()
    assert [event for event in bench.events if isinstance(event, RoundStarted)] == [
        RoundStarted(0, 2, 48),
        RoundStarted(1, 2, 30),
    ]
    started = [event for event in bench.events if isinstance(event, StepStarted)]
    finished = [event for event in bench.events if isinstance(event, StepFinished)]
    assert [(e.side, e.benchmark, e.factors) for e in started] == [(e.side, e.benchmark, e.factors) for e in finished]
    assert [e.factors for e in started[:4]] == [b.factors for b in bench.rounds[0].builds]
    made = [record for record in bench.appended if not isinstance(record, Build)]
    assert [e.factors for e in started if e.benchmark] == [
        record.factors for record in made if isinstance(record, (Execution, Failure))
    ]
    (failure,) = failures(bench.appended)
    assert [e.factors for e in finished if e.failure is failure] == [{"load": 8, "opt": "O2"}]
