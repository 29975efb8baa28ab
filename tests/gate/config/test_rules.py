"""What the rules say of a case: thresholds and floors, what is decided, what must show, how much may be measured."""

from typing import Any

import msgspec
import pytest

from gate.config.rules import (
    accepts_of,
    detectable_of,
    floor_of,
    is_decided,
    is_divisible,
    is_studied,
    matches,
    most_builds,
    threshold_of,
)
from gate.config.types import Config
from gate.evidence.aggregates import decided_by_name
from tests.gate.config.reading import config

RULES = config(
    """
[gate]
threshold = "3%"
floor = "2us"
[[override]]
benchmark = "suite/*"
threshold = "10%"
floor = "0"
[[override]]
benchmark = "suite/fast"
metric = "latency"
threshold = "20%"
[[accept]]
benchmark = "suite/*"
up_to = "8%"
until = 2026-12-31
reason = "r"
[[benchmark]]
name = "suite"
command = "x"
instrument = "values"
[benchmark.metric.latency]
[benchmark.metric.rate]
threshold = "1%"
floor = "5"
[[benchmark]]
name = "plain"
command = "x"
"""
)
OF_TIME = config(
    """
[[override]]
statistic = "mean"
threshold = "7%"
[[benchmark]]
name = "a"
command = "x"
[benchmark.metric.time]
threshold = "30%"
floor = 2
unit = "ms"
[[benchmark]]
name = "b"
command = "x"
[benchmark.metric.time]
[benchmark.metric.active]
threshold = "2%"
[[benchmark]]
name = "c"
command = "x"
[benchmark.metric.time]
statistics = ["mean", "typical"]
"""
)


@pytest.mark.parametrize(
    ("rules", "case", "threshold"),
    [
        # later overrides win over the gate, and are below the metric
        (RULES, ("other", "time", "mean"), 0.03),
        (RULES, ("suite/x", "time", "mean"), 0.10),
        (RULES, ("suite/fast", "latency", "mean"), 0.20),
        (RULES, ("suite/fast", "time", "mean"), 0.10),
        (RULES, ("suite/fast", "rate", "mean"), 0.01),
        # the rules of a metric hold for its views
        (OF_TIME, ("a", "time", "typical"), 0.3),
        (OF_TIME, ("a", "active", "typical"), 0.3),
        (OF_TIME, ("a", "cpu_time", "typical", "time"), 0.3),
        # its own come first, and those of the mean hold for the typical value that nobody named, not the other way round
        (OF_TIME, ("b", "active", "typical"), 0.02),
        (OF_TIME, ("b", "time", "typical"), 0.07),
        (OF_TIME, ("b", "time", "mean"), 0.07),
        (OF_TIME, ("c", "time", "mean"), 0.07),
        (OF_TIME, ("c", "time", "typical"), 0.02),
    ],
)
def test_the_threshold_of_a_case(rules: Config, case: tuple[str, ...], threshold: float) -> None:
    assert threshold_of(rules, *case) == threshold


KIB = '[[override]]\nfloor = "10KiB"\n'
PROGRAM = '[[benchmark]]\nname = "x"\ncommand = "x"\n'
IN_MS = f'{PROGRAM}instrument = "values"\n[benchmark.metric.t]\nunit = "ms"\nfloor = 2\n'


@pytest.mark.parametrize(
    ("rules", "case", "floor"),
    [
        # of its dimension only; an override of 0 takes it away
        (RULES, ("other", "time", "s"), 2e-6),
        (RULES, ("other", "memory", "B"), None),
        (RULES, ("suite/x", "rate", "ops/s"), 5),
        (RULES, ("suite/x", "time", "s"), None),
        # one of another dimension does not, and what no instrument is known of has none
        (config(KIB + PROGRAM), ("x", "time", "s"), 1e-6),
        (config(KIB), ("x", "time", "s"), None),
        (config(KIB), ("x", "memory", "B"), 10240),
        # a plain number is in the unit that a metric declares
        (config(IN_MS), ("x", "t", "s"), 0.002),
        (config("[gate]\nfloor = 3\n"), ("b", "t", "ops"), 3),
        (config("[gate]\nfloor = 3\n"), ("b", "t", "s"), None),
    ],
)
def test_the_floor_of_a_case(rules: Config, case: tuple[str, str, str], floor: float | None) -> None:
    benchmark, metric, unit = case
    assert floor_of(rules, benchmark, metric, "mean", unit) == (floor if floor is None else pytest.approx(floor))
    # that of a metric holds for its views
    assert floor_of(OF_TIME, "a", "active", "typical", "s") == pytest.approx(0.002)


def test_what_is_decided() -> None:
    assert is_decided(RULES, "plain", "time")
    assert not is_decided(RULES, "plain", "memory")
    assert is_decided(RULES, "suite/x", "anything")
    assert is_decided(Config(), "from a file without a config", "anything")
    text = f'[plan]\nmetrics = ["time", "size"]\n{PROGRAM.replace("x", "bin")}metrics = ["{{}}"]\n'
    # a benchmark's list of one metric is no list of builds' metrics
    own = config(text.format("size"))
    assert [each for each in ("size", "time", "active") if is_decided(own, "bin", each)] == ["size"]
    # the file bin/tool is no case of the benchmark "bin"
    own = config(text.format("time"))
    assert is_decided(decided_by_name(own), "bin/tool", "size") and not is_decided(own, "bin/tool", "size")


def test_globs() -> None:
    assert matches("a[1]", "a[1]")
    assert matches("suite/*", "suite/a/b")
    assert not matches("suite/*", "Suite/a")
    assert [a.reason for a in accepts_of(RULES, "suite/x", "time", "mean")] == ["r"]
    assert accepts_of(RULES, "plain", "time", "mean") == []


@pytest.mark.parametrize(
    ("globs", "studied"),
    [
        ('["*"]', ["x", "suite/a", "suite/b"]),
        ('["suite"]', ["suite/a", "suite/b"]),
        ('["suite/a*", "x*"]', ["x", "suite/a"]),
        ('["*b"]', ["suite/b"]),
    ],
)
def test_which_benchmarks_are_studied(globs: str, studied: list[str]) -> None:
    suite = '[[benchmark]]\nname = "suite"\ncommand = "go test"\ninstrument = "go"\n'
    own = config(f"{PROGRAM}{suite}[study]\nbenchmarks = {globs}\nfactor.a = [1, 2]")
    assert [name for name in ("x", "suite/a", "suite/b") if is_studied(own, name)] == studied


def test_the_most_rounds_of_a_plan() -> None:
    least, most = config("[plan]\nbuilds = {min = 4}\n"), config("[plan]\nbuilds = {min = 4, max = 30}\n")
    assert [most_builds(each.plan) for each in (least, most)] == [56, 30]
    assert [most_builds(each.plan, early=False) for each in (least, most)] == [12, 30]
    assert most_builds(config("[plan]\nbuilds = {min = 70}\n").plan) == 70


def test_what_must_show_in_a_pass_where_nothing_is_set() -> None:
    rules = config('[gate]\nthreshold = "3%"\n')
    # what other programs hardly disturb is worth twice the threshold
    assert detectable_of(rules, "a", "active", "typical", "time") == pytest.approx(0.06)
    assert detectable_of(rules, "a", "cpu_time", "typical", "time") == pytest.approx(0.06)
    assert detectable_of(rules, "a", "time", "mean") == pytest.approx(0.1)
    wide = config('[gate]\nthreshold = "8%"\n')
    for case in (("a", "time", "mean"), ("a", "active", "typical")):
        assert detectable_of(wide, *case) == pytest.approx(0.16)
    zero = config('[gate]\nthreshold = 0\n[[override]]\nbenchmark = "b"\ndetectable = "7%"\n')
    assert detectable_of(zero, "a", "active", "typical") == pytest.approx(0.1)
    assert detectable_of(zero, "b", "active", "typical") == pytest.approx(0.07)


@pytest.mark.parametrize(
    ("benchmark", "plan", "divisible"),
    [
        ({"instrument": "go"}, {}, True),
        ({"instrument": "values", "warmup": 3}, {}, True),
        ({"instrument": "hyperfine"}, {}, True),
        # start by start anyway, unless a load runs as long as an execution
        ({"instrument": "spawn"}, {}, False),
        ({"instrument": "spawn", "load": {"command": "x"}}, {}, True),
        # a steady state is looked for in one whole execution
        ({"instrument": "values", "warmup": "auto"}, {}, False),
        ({"instrument": "callgrind"}, {}, False),
        ({"instrument": "go"}, {"iterations": 1}, False),
    ],
)
def test_which_benchmarks_may_be_divided(benchmark: dict[str, Any], plan: dict[str, Any], divisible: bool) -> None:
    own = msgspec.convert({"benchmark": [{"name": "b", "command": "x", **benchmark}], "plan": plan}, Config)
    assert is_divisible(own, "b") is divisible
