"""The profiler of a benchmark is chosen by what is there and what time is left; both sides get the same, or neither."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gate.config.types import Benchmark, BuildTable
from gate.formats.parts.output import OutputError
from gate.model import SIDES
from gate.model.profile import Frame, Profile, Unprofiled
from harness.build.conditions import Conditions, Recipe
from harness.instruments.protocol import Context
from harness.instruments.spawn import Spawn
from harness.loop.execution import Executions
from harness.loop.profiled import WantedProfile, profiled
from harness.loop.schedule import execution_step
from harness.process.budget import BoundedExecutor, Budget
from harness.process.execute import Command
from harness.profilers.profiler import Absent, Costs, Effort, Profiler, Sampled, Tool, Workload
from tests.support.fakes import Clock, FakeExecutor, taking

MAIN = Frame("main")


@dataclass
class Fake(Profiler):
    """A profiler that starts nothing more."""

    name: str = "fake"
    rank: int = 1
    fitting: bool = True
    tool: Tool | Absent = field(default_factory=lambda: Tool("/usr/bin/fake", "fake 1"))
    taking: Effort = field(default_factory=lambda: Effort(2, 10.0))
    readable: bool = True

    def fits(self, subject: Workload) -> bool:
        return self.fitting

    def find(self, caller: Mapping[str, str]) -> Tool | Absent:
        return self.tool

    def effort(self, subject: Workload) -> Effort:
        return self.taking

    def wrap(self, found: Tool, subject: Workload, context: Context, command: Command) -> Command:
        return command

    def read(self, subject: Workload, context: Context) -> Costs:
        if not self.readable:
            raise OutputError("unreadable")
        return {(MAIN,): 1.0}

    def sampled(self, subject: Workload, executions: list[Costs]) -> Sampled:
        return Sampled({(MAIN,): float(len(executions))}, "s")


def run(
    tmp_path: Path, profilers: Sequence[Profiler], *, seconds: float = 1.0, limit: float = 100.0
) -> tuple[list[Profile | Unprofiled], FakeExecutor]:
    clock = Clock()
    budget, executor = Budget(limit, clock), taking(seconds, clock)
    recipes = {side: Recipe(BuildTable(), {"PATH": "/bin"}) for side in SIDES}
    conditions = Conditions(BoundedExecutor(executor, budget), recipes, {}, tmp_path, budget=budget)
    benchmark = Benchmark(name="b", command=["./b"], instrument="spawn", warmup=3)
    wanted = WantedProfile(
        name="b",
        steps={side: execution_step("b", side, 0, 0, 0, 7, None, "independent") for side in SIDES},
        benchmarks=dict.fromkeys(SIDES, benchmark),
        directories=lambda _: tmp_path,
        seconds=1.0,
        execution=3.0,
    )
    found = profiled(wanted, profilers, lambda n, _: Executions(conditions, {"spawn": Spawn()}, n or 1), budget, {})
    return list(found), executor


def test_both_sides_do_the_same_with_one_seed(tmp_path: Path) -> None:
    found, executor = run(tmp_path, [Fake()])
    assert [(type(each), each.side) for each in found if isinstance(each, Profile)] == [
        (Profile, "base"), (Profile, "head"),
    ]  # fmt: skip
    assert len(executor.commands) == 4
    assert len({command.environment["PERFGATE_SEED"] for command in executor.commands}) == 1
    assert [each.stacks[0].cost for each in found if isinstance(each, Profile)] == [2.0, 2.0]


def only(found: list[Profile | Unprofiled]) -> Unprofiled:
    (why,) = found
    assert isinstance(why, Unprofiled)
    return why


def test_one_that_is_absent_or_takes_too_long_leaves_it_to_another_one(tmp_path: Path) -> None:
    absent = Fake("absent", tool=Absent("apt install absent"))
    why = only(run(tmp_path, [absent])[0])
    assert (why.kind, why.profiler, why.install) == ("no-profiler", "absent", "apt install absent")
    found, _ = run(tmp_path, [absent, Fake()])
    assert {each.profiler for each in found} == {"fake"}
    slow = Fake("slow", taking=Effort(1, 60.0, 1))
    why = only(run(tmp_path, [slow])[0])
    assert (why.kind, why.profiler) == ("budget", "slow")
    found, _ = run(tmp_path, [slow, Fake()])
    assert {each.profiler for each in found} == {"fake"}


def test_where_none_can_be_used_it_is_said_why(tmp_path: Path) -> None:
    found, executor = run(tmp_path, [Fake(fitting=False)])
    assert only(found).kind == "unsupported"
    assert executor.commands == []
    why = only(run(tmp_path, [Fake()], seconds=40.0)[0])
    assert (why.kind, why.profiler) == ("budget", "fake")
    why = only(run(tmp_path, [Fake(readable=False)])[0])
    assert (why.kind, why.detail) == ("failed", "unreadable")
