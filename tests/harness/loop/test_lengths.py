"""How short turns are: by what starting costs, before the first value, and the same when a run goes on."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gate.config.types import Benchmark, Plan
from gate.model import SIDES, Execution, Metric, Record, Side, Turn
from harness.instruments.protocol import Context, Unusable
from harness.loop.events import LaidOut
from harness.loop.measure import MeasuredRounds
from harness.loop.schedule import Round, schedule
from harness.loop.turns import fewest
from harness.process.execute import Command, ProcessEnd
from tests.harness.loop.test_measure import Bench, FakeBuilder
from tests.support.fakes import Clock, FakeExecutor


@pytest.mark.parametrize(
    ("starting", "value", "executions", "iterations", "most", "few"),
    [
        # starting takes a tenth of the time at 9 values of its length
        (1.0, 9.0, 5, 10, 0.1, 1),
        (1.0, 8.9, 5, 10, 0.1, 2),
        (1.0, 1.0, 5, 10, 0.1, 10),
        (1.0, 0.9, 5, 10, 0.1, 10),
        (1.0, 2.0, 5, 10, 0.1, 5),
        (1.0, 19.0, 5, 10, 0.05, 1),
        (1.0, 18.9, 5, 10, 0.05, 2),
        # all values of a build are divided, not those of an execution
        (1.0, 5.0, 2, 5, 0.1, 2),
        (1.0, 5.0, 3, 7, 0.1, 3),
        (0.0, 1.0, 5, 10, 0.1, 1),
        # no value takes any time: of a program that does not heed how many are wanted
        (1.0, 0.0, 5, 10, 0.1, 10),
        (1.2, -0.2, 5, 10, 0.1, 10),
        (0.0, 1.0, 5, 1, 0.1, 1),
    ],
)
def test_the_fewest_values_of_which_starting_takes_its_share(
    starting: float, value: float, executions: int, iterations: int, most: float, few: int
) -> None:
    assert fewest(starting, value, Plan(executions=executions, iterations=iterations), most) == few


class Asked:
    """Gives as many values as it is asked for, or as a benchmark gives always."""

    def __init__(self, always: int | None) -> None:
        self._always = always

    def prepare(self, benchmark: Benchmark, context: Context) -> Command:
        warmup = benchmark.warmup if benchmark.warmup != "auto" else 0
        argv = (benchmark.name, context.side, str(context.iterations), str(warmup))
        return Command(argv, context.directory, dict(context.environment), 1e6)

    def collect(self, benchmark: Benchmark, context: Context, outcome: ProcessEnd) -> dict[str, Metric] | Unusable:
        if outcome.status:
            return Unusable(outcome.status, outcome.stderr)
        warmup = benchmark.warmup if benchmark.warmup != "auto" else 0
        count = self._always or context.iterations
        return {"time": Metric(unit="s", values=[1.0] * count, dropped=[2.0] * warmup)}


def test_values_stay_as_many_as_planned_in_turns_as_short_as_starting_allows(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    assert rig.tried() == MeasuredRounds(2, 2, "finished")
    (turn,) = rig.turns
    assert (turn.benchmark, turn.executions, turn.iterations) == ("a", 10, 1)
    assert turn.starting == pytest.approx(0.05 / 1.05)
    assert rig.appended.index(turn) < next(n for n, each in enumerate(rig.appended) if isinstance(each, Execution))
    assert sorted(rig.made()) == [(side, build, n, 1) for side in SIDES for build in range(2) for n in range(10)]
    sides = [side for side, *_ in rig.made()]
    assert all(sides[at : at + 4] in (["base", "head", "head", "base"], ["head", "base", "base", "head"])
               for at in range(0, 40, 4))  # fmt: skip
    # both sides were tried alike, and it counts as first starts
    assert rig.calls[:4] == [("base", "1", "0"), ("base", "3", "0"), ("head", "3", "0"), ("head", "1", "0")]
    assert rig.builder.budget.aside["start"] == pytest.approx(2 * 1.05 + 2 * 3.05)
    (told,) = [each for each in rig.events if isinstance(each, LaidOut) and each.turns]
    assert told.turns == [turn]


@pytest.mark.parametrize(
    ("changes", "few"),
    [
        ({"start": 0.2}, 2),
        ({"start": 1.0}, 5),
        # a first value that takes twice as long is none like the others, nor is what is dropped
        ({"first": 1.0}, 5),
        ({"warmup": 1}, 5),
        # an instrument that measures any command may cost half as much
        ({"start": 0.1, "kind": "hyperfine"}, 2),
        ({"start": 0.05, "kind": "hyperfine"}, 1),
        # a program or a tool that gives another number of values keeps its executions
        ({"always": 10}, 5),
        ({"always": 1}, 5),
        ({"fails": "head"}, 5),
        # trying takes a small part of what is left of the budget
        ({"budget": 100.0}, 5),
    ],
)
def test_how_short_turns_are(tmp_path: Path, changes: dict[str, object], few: int) -> None:
    rig = Rig(tmp_path, **changes)  # type: ignore[arg-type]  # one of its fields
    rig.tried()
    assert [turn.iterations for turn in rig.turns] == ([few] if few < 5 else [])
    if few == 5 and not rig.fails:
        assert {values for _, _, _, values in rig.made()} == {rig.always or 5}
        assert len(rig.made()) == 8


@dataclass
class Rig(Bench):
    """A run of one benchmark, of which an execution takes `start` and for each value `value` seconds of the clock."""

    names: Sequence[str] = ("a",)
    kind: str = "values"
    builder: FakeBuilder = field(default_factory=lambda: FakeBuilder(seconds=0.0))
    plan: Plan = field(default_factory=lambda: Plan(builds=2, executions=2, iterations=5))
    start: float = 0.05
    value: float = 1.0
    warmup: int = 0
    always: int | None = None
    fails: Side | None = None
    first: float = 0.0
    """What the first value of an execution takes more."""
    calls: list[tuple[str, ...]] = field(default_factory=list)

    @property
    def rounds(self) -> Sequence[Round]:
        return self.counted(())

    def counted(self, made: Sequence[Record]) -> Sequence[Round]:
        starts = {each.benchmark: each.executions for each in made if isinstance(each, Turn)}
        return schedule({side: ["a"] for side in SIDES}, 2, self.plan.executions, 4, starts=starts)

    @property
    def table(self) -> dict[str, Benchmark]:
        return {"a": Benchmark(name="a", command=["a"], instrument=self.kind, warmup=self.warmup)}

    def answer(self, command: Command) -> ProcessEnd:
        _, side, values, warmup = command.argv
        self.calls.append((side, values, warmup))
        took = self.start + self.first + (int(values) + int(warmup)) * self.value
        self.clock.now += took
        return ProcessEnd("exit 1" if side == self.fails else "", "2026-01-01T00:00:00Z", took, "why")

    def tried(self, divided: Sequence[str] = ("a",), cut: int | None = None) -> MeasuredRounds:
        """Measure; divided: where turns may be shorter. cut: interrupted after so many records."""
        self.clock, self.divided, before = Clock(), divided, list(self.appended)

        def append(*more: Record) -> None:
            if cut is not None and len(self.appended) >= cut:
                raise KeyboardInterrupt
            self.appended.extend(more)

        return self.measure(FakeExecutor(self.answer), append, Asked(self.always), records=before)

    @property
    def turns(self) -> list[Turn]:
        return [each for each in self.appended if isinstance(each, Turn)]

    def made(self) -> list[tuple[Side, int, int, int | None]]:
        """Name the executions by side, build and number, with how many values they have."""
        found = [each for each in self.appended if isinstance(each, Execution)]
        return [(e.side, e.build, e.execution, len(e.metrics["time"].values)) for e in found]


@dataclass
class Busy(Rig):
    """On a host where other programs hold up the longer executions, so that starting seems to take nothing."""

    held_up: Sequence[float] = ()
    """Seconds that each execution of several values waits, in order; then none does."""

    def answer(self, command: Command) -> ProcessEnd:
        made = super().answer(command)
        several = sum(values != "1" for _, values, _ in self.calls)
        if command.argv[2] != "1" and several <= len(self.held_up):
            self.clock.now += self.held_up[several - 1]
        return made


@pytest.mark.parametrize(
    "held_up",
    [
        # a start of less than nothing, once and again; a short one that is not one the second time
        [0.4] * 4,
        [0.25, 0.25, 0.15, 0.15],
        [0.15, 0.15],
    ],
)
def test_where_other_programs_disturb_no_turn_is_shorter(tmp_path: Path, held_up: Sequence[float]) -> None:
    # half of an execution of one value is its start
    rig = Busy(tmp_path, start=0.1, value=0.1, held_up=held_up)
    rig.tried()
    assert rig.turns == []


def test_what_the_rules_do_not_divide_is_not_tried_and_a_run_of_before_keeps_its_executions(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.tried(divided=())
    assert (rig.turns, rig.events.count(LaidOut([])), rig.calls[0][1]) == ([], 0, "5")
    old = Rig(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        old.tried(divided=(), cut=4)
    old.tried()
    assert old.turns == []
    assert {values for _, _, _, values in old.made()} == {5}


def test_a_command_is_warmed_up_once_a_build(tmp_path: Path) -> None:
    rig = Rig(tmp_path, kind="hyperfine", warmup=2)
    rig.tried()
    measured = rig.calls[4:]
    assert [(side, warmup) for side, _, warmup in measured if warmup != "0"] == [
        (side, "2") for build in range(2) for side in dict.fromkeys(side for side, *_ in measured[20 * build :])
    ]
    assert {values for _, values, _ in measured} == {"1"}


def test_a_run_that_goes_on_has_the_same_turns(tmp_path: Path) -> None:
    whole = Rig(tmp_path)
    whole.tried()
    for cut in (2, 3, 8, 23):
        rig = Rig(tmp_path)
        with pytest.raises(KeyboardInterrupt):
            rig.tried(cut=cut)
        known = len(rig.turns)
        rig.calls.clear()
        # a machine that is slower by now does not change it
        rig.start = 0.05 if not known else 3.0
        rig.tried()
        assert rig.turns == whole.turns
        assert rig.made() == whole.made()
        assert ("base", "3", "0") not in rig.calls or not known
