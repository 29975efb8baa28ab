"""No advice that cannot help: what the next step says is followed, and the outcome is another one."""

import datetime
import tomllib
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
import pytest

from gate.config.parse import parse
from gate.config.rules import Policy
from gate.config.source import from_tables
from gate.decide import decide
from gate.decide.steps import next_step
from gate.evidence.gather import gather
from gate.model import Report, Verdict, Whose, outcomes
from gate.words import reports
from gate.words.sentences import say
from tests.support.lines import builds, located

TODAY = datetime.date(2026, 11, 20)
BENCHMARK = '[[benchmark]]\nname = "enc"\ncommand = "x"\ninstrument = "values"\n'


class Situation(NamedTuple):
    """What was measured of the metric "leaks", and the rules."""

    base: Sequence[float]
    head: Sequence[float]
    rules: str = BENCHMARK + "[benchmark.metric.leaks]\n"
    builds: int = 6
    run: dict[str, Any] | None = None
    apart: bool = False
    """Whether head was measured in another session."""


def report(of: Situation) -> Report:
    """Decide over builds of these values; each build begins with another of them."""
    config = parse(from_tables(tomllib.loads(of.rules), "test"))
    lines = [
        line
        for side, values in (("base", of.base), ("head", of.head))
        for line in builds(
            side, [[[*values[k % len(values) :], *values[: k % len(values)]]] for k in range(of.builds)],
            benchmark="enc", metric="leaks", unit="", factors={},
        )
    ]  # fmt: skip
    for line in lines:
        line["session"] = int(of.apart and line["side"] == "head")
        # the first of a build counts twice, so that builds differ where values do
        measured = line["metrics"]["leaks"]["values"]
        measured.append(measured[0])
    evidence = gather(located(*([of.run] if of.run else []), *lines), config)
    return decide(evidence, Policy(config, "test", TODAY))


ZERO_SPREAD = Situation([0.0, 0.0], [2.0, 4.0])
ZERO_CONSTANT = Situation([0.0], [3.0])
FEW = Situation([1.0, 1.1], [1.0, 1.2], BENCHMARK + '[benchmark.metric.leaks]\nstatistics = ["p90"]\n')
HALF_ZERO = Situation(
    [*[0.0] * 20, 1.0, 1.1], [*[0.0] * 20, 2.0, 2.2], BENCHMARK + '[benchmark.metric.leaks]\nstatistics = ["p50"]\n'
)
SLOWER = Situation([1.0, 1.1], [2.0, 2.2])
FLOOR = Situation([1.0, 1.02], [1.5, 1.52], BENCHMARK + "[benchmark.metric.leaks]\nfloor = 2\n")


@pytest.mark.parametrize(
    ("before", "step", "after", "verdict"),
    [
        (
            ZERO_SPREAD,
            outcomes.DeclareZero(metric="leaks", floor=1.5, unit=""),
            ZERO_SPREAD._replace(rules='[[override]]\nmetric = "leaks"\nfloor = 1.5\n'),
            "regression",
        ),
        (
            ZERO_CONSTANT,
            outcomes.DeclareZero(metric="leaks", floor=None, unit=""),
            ZERO_CONSTANT._replace(rules=BENCHMARK + "[benchmark.metric.leaks]\nexact = true\n"),
            "regression",
        ),
        (
            Situation([0.0], [0.0]),
            outcomes.DeclareZero(metric="leaks", floor=None, unit=""),
            Situation([0.0], [0.0], BENCHMARK + "[benchmark.metric.leaks]\nexact = true\n"),
            "unchanged",
        ),
        (
            Situation([5.0], [6.0]),
            outcomes.DeclareExact(metric="leaks", rounded=True),
            Situation([5.0], [6.0], BENCHMARK + "[benchmark.metric.leaks]\nexact = true\n"),
            "regression",
        ),
        (
            FEW,
            outcomes.MoreValues(statistic="p90", has=3, needs=100, imported=False),
            FEW._replace(base=[1 + k / 1000 for k in range(100)], head=[1.2 + k / 1000 for k in range(100)]),
            "regression",
        ),
        (
            HALF_ZERO,
            outcomes.OtherStatistic(metric="leaks", statistic="p50"),
            HALF_ZERO._replace(rules=BENCHMARK + '[benchmark.metric.leaks]\nstatistics = ["mean"]\n'),
            "regression",
        ),
        (SLOWER._replace(apart=True), outcomes.MeasureTogether(), SLOWER, "regression"),
        (
            FLOOR,
            outcomes.LowerFloor(benchmark="enc", floor=2.0, unit="", share=2 / 1.01),
            FLOOR._replace(rules=BENCHMARK + "[benchmark.metric.leaks]\nfloor = 0\n"),
            "regression",
        ),
    ],
)
def test_who_follows_it_gets_a_verdict(
    before: Situation, step: outcomes.Step, after: Situation, verdict: Verdict
) -> None:
    found = report(before)
    assert found.findings[0].verdict == "inconclusive"
    assert next_step(found) == step
    assert report(after).findings[0].verdict == verdict


def test_of_result_files_no_plan_is_raised() -> None:
    imported = {"type": "run", "tools": ["go test"], "apart": True}
    # noise that no six builds see through
    noisy = Situation([1.0, 9.0, 2.0], [1.0, 2.0, 12.0], run=imported)
    step = next_step(report(noisy))
    assert isinstance(step, outcomes.ImportMore) and step.builds > noisy.builds


@pytest.mark.parametrize(("kind", "more"), [("base", True), ("head", False)])
def test_a_change_of_the_rules_says_when_it_counts(kind: Any, more: bool) -> None:
    found = report(ZERO_CONSTANT)
    policy = msgspec.structs.replace(found.policy, whose=Whose(kind))
    said = reports.next_step(msgspec.structs.replace(found, policy=policy))
    assert ("It counts once it is in the rules that decide, those of base" in said) is more


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (
            outcomes.GiveDirection(metric='a "b"'),
            (
                r'Add an `[[override]]` entry to perfgate.toml with `metric = "a \"b\""` and `better = "lower"` or '
                '`better = "higher"`'
            ),
        ),
        (
            outcomes.DeclareZero(metric="allocs/op", floor=None, unit=""),
            'If allocs/op is a count, write `exact = true` in `[benchmark.metric."allocs/op"]`: base is 0',
        ),
        (
            outcomes.DeclareZero(metric="pause", floor=1.5e-6, unit="s"),
            (
                "Say from which amount on pause is worth failing for, since base is 0: an `[[override]]` entry with "
                '`metric = "pause"` and, for example, `floor = "1.5 us"`'
            ),
        ),
        (
            outcomes.DeclareZero(metric="leaks", floor=2.5, unit="count"),
            (
                "Say from which amount on leaks is worth failing for, since base is 0: an `[[override]]` entry with "
                '`metric = "leaks"` and, for example, `floor = 2.5`'
            ),
        ),
        (
            outcomes.DeclareExact(metric="n", rounded=True),
            (
                "If n is a count or a size, write `exact = true` in `[benchmark.metric.n]`; of a time, let each value be of "
                "more work, or write more digits"
            ),
        ),
        (
            outcomes.DeclareExact(metric="n", rounded=False),
            (
                "If n is a count or a size, write `exact = true` in `[benchmark.metric.n]`; of a time, let each value be of "
                "more work, and see that each is of a run of its own"
            ),
        ),
        (
            outcomes.MoreValues(statistic="p99", has=60, needs=1000, imported=False),
            "Raise `plan.executions` or `plan.iterations` 17 times: p99 needs 1000 values of each build and has 60",
        ),
        (
            outcomes.MoreValues(statistic="p99", has=60, needs=1000, imported=True),
            "Measure more values in each build: p99 needs 1000 values of each build and has 60",
        ),
        (
            outcomes.OtherStatistic(metric="n", statistic="p50"),
            'Compare another statistic of n, such as `statistics = ["mean"]` in `[benchmark.metric.n]`: its p50 is 0',
        ),
        (
            outcomes.MeasureTogether(),
            "Measure base and head together, as `perfgate check` does: each was measured in sessions of its own",
        ),
        (
            outcomes.MoreMachines(sessions=1, builds=False),
            "More builds on this machine will not settle it: measure on more machines (`plan.sessions`)",
        ),
        # from 0 the floor is what decides
        (
            outcomes.LowerFloor(benchmark="a", floor=3.0, unit="", share=None),
            "If a change below 3 matters, lower the floor",
        ),
    ],
)
def test_it_names_the_key_and_a_number(step: outcomes.Step, expected: str) -> None:
    assert say(step) == expected
