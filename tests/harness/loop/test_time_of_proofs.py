"""What time proofs have, and first builds beyond the budget: fakes of trees, commands and tracers, on a clock of a test."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from gate.config.study import Setting
from gate.model import Build, Cut, HostState, Same, Side, Unproved
from harness.loop.measure import MeasuredRounds
from harness.process.execute import Command, ProcessEnd
from harness.trace.watcher import Accesses
from tests.harness.loop.test_measure import REAL, Bench, FakeBuilder, adding, builds, executions
from tests.support.fakes import NO_FACTORS, FakeExecutor, taking

EMPTY = frozenset[str]()
NOTHING = Accesses(EMPTY, EMPTY, EMPTY, EMPTY, EMPTY, EMPTY, EMPTY, ())


class FakeTrace:
    """Sees that a command reads nothing."""

    def wrap(self, command: Command) -> Command:
        return command

    def accesses(self) -> Accesses:
        return NOTHING


@pytest.fixture(autouse=True)
def traced(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def tracing(*_: object, **__: object) -> Iterator[FakeTrace]:
        yield FakeTrace()

    monkeypatch.setattr("harness.loop.probe.tracing", tracing)


@dataclass
class Standing(FakeBuilder):
    """Trees of both sides that differ in README.md, a file that is built and one of git's; ahead: sides built before."""

    top: Path = Path()
    ahead: set[Side] = field(default_factory=set)

    def roots(self) -> Mapping[Side, Path] | None:
        trees: dict[Side, Path] = {"base": self.top / "base", "head": self.top / "head"}
        for side, tree in trees.items():
            for name in ("README.md", "target/app.d", ".git/index"):
                (tree / name).parent.mkdir(parents=True, exist_ok=True)
                (tree / name).write_text(side)
        return trees

    def committed(self) -> frozenset[str]:
        return frozenset({"README.md"})

    def root(self) -> Path:
        return Path("/trees/at")

    def since(self) -> float:
        return 0.0

    @property
    def work(self) -> Path:
        return self.top

    def read(self, side: Side, factors: Mapping[str, Setting], paths: Iterable[str]) -> None:
        """No artifact is known by what reads it."""

    def is_ahead(self, side: Side, build: int, seed: int, factors: Mapping[str, Setting]) -> bool:
        return side in self.ahead and build == 0

    def build(self, side: Side, build: int, seed: int, factors: Mapping[str, Setting] = NO_FACTORS) -> Any:
        if not self.is_ahead(side, build, seed, factors):
            return super().build(side, build, seed, factors)
        self.latest[side,] = build
        return Build(side=side, build=build, seed=seed, seconds=self.seconds)


def bench_of(tmp_path: Path, takes: Mapping[str, float], budget: float, **more: Any) -> tuple[Bench, FakeExecutor]:
    """Give a run of benchmarks whose starts take so many seconds; on head a second longer."""
    bench = Bench(tmp_path, budget=budget, names=list(takes), builds=1, executions=1)
    bench.builder = Standing(clock=bench.clock, top=tmp_path / "trees", **more)

    def answer(command: Command) -> ProcessEnd:
        name = next(name for name in takes if name in command.argv)
        seconds = takes[name] + ("/head/" in str(command.directory))
        return taking(seconds, bench.clock).answer(command)

    return bench, FakeExecutor(answer)


def proofs(bench: Bench) -> list[str]:
    return sorted(record.benchmark for record in bench.appended if isinstance(record, Same))


def run(bench: Bench, executor: FakeExecutor, overtime: float = 0.0) -> MeasuredRounds:
    return bench.measure(executor, adding(bench.appended), environments=REAL, no_proofs=None, overtime=overtime)


LONG = {"long": 40.0} | {f"quick{n}": 1.0 for n in range(10)}


@pytest.mark.parametrize(
    ("takes", "budget", "build", "overtime", "unproved", "ends"),
    [
        # half of the budget holds both starts: base leaves head all that it does not need
        ({"suite": 80.0}, 330.0, 1.0, 0.0, None, 2 * 1.0 + 80.0 + 81.0),
        ({"suite": 80.0}, 300.0, 1.0, 0.0, 75.0, None),
        # by equal shares of 200 s each of 11 has 9 a side; the long one needs 40
        (LONG, 400.0, 1.0, 0.0, None, None),
        # 10 s are left after the builds: 5 for base
        ({"suite": 8.0}, 60.0, 25.0, 0.0, 5.0, None),
        # first builds and proofs go on beyond the budget, of which they have what is left of twice of it
        ({"suite": 2.0}, 30.0, 20.0, 30.0, None, 2 * 20.0 + 2.0 + 3.0),
        ({"suite": 5.0}, 30.0, 24.0, 24.0, None, 2 * 24.0 + 5.0 + 6.0),
    ],
)
def test_what_time_proofs_have(
    tmp_path: Path, takes: dict[str, float], budget: float, build: float, overtime: float,
    unproved: float | None, ends: float | None,
) -> None:  # fmt: skip
    bench, executor = bench_of(tmp_path, takes, budget, seconds=build)
    measured = run(bench, executor, overtime)
    if unproved is None:
        assert (proofs(bench), executions(bench.appended), measured.stop) == (sorted(takes), [], "finished")
        assert measured.unproved == {}
    else:
        assert measured.unproved == {"suite": Unproved(kind="too-long", seconds=unproved)}
    assert ends in (None, bench.clock.now)


def test_nothing_is_measured_beyond_the_budget_and_no_first_build_goes_beyond_what_is_allowed(tmp_path: Path) -> None:
    bench, executor = bench_of(tmp_path, {"suite": 20.0}, 30.0, seconds=20.0)
    measured = run(bench, executor, overtime=30.0)
    last = bench.rounds[0].builds[1].side
    # the proof was given up, since base has half of half the budget: no execution of 20 s took 7.5
    cut = Cut(phase="build", side=last, build=0, seconds=0.0)
    assert (measured.stop, measured.rounds, measured.cut) == ("budget", 0, cut)
    assert (len(builds(bench.appended)), executions(bench.appended)) == (2, [])
    bench, executor = bench_of(tmp_path, {"suite": 1.0}, 30.0, seconds=50.0)
    measured = run(bench, executor, overtime=30.0)
    assert measured.cut == Cut(phase="build", side=bench.rounds[0].builds[1].side, build=0, seconds=10.0, beyond=30.0)
    assert bench.clock.now == 60.0


@pytest.mark.parametrize("ahead", ["base", "head"])
def test_a_build_that_was_made_before_is_recorded_whatever_ends_the_other(tmp_path: Path, ahead: Side) -> None:
    bench, executor = bench_of(tmp_path, {"suite": 1.0}, 30.0, seconds=50.0, ahead={ahead})
    measured = run(bench, executor)
    other: Side = "head" if ahead == "base" else "base"
    assert builds(bench.appended) == [(ahead, 0)]
    assert measured.cut == Cut(phase="build", side=other, build=0, seconds=30.0)
    assert not [record for record in bench.appended if isinstance(record, HostState)]
