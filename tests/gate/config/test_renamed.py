"""Benchmarks that head runs under another name: paired only where nothing else can be meant."""

from __future__ import annotations

from typing import Literal

import pytest

from gate.config.config_text import read_source
from gate.config.resolve import Settings, resolve
from gate.config.rules import threshold_of
from gate.model.warnings.setup import MeasuringChanged, Renamed


def bench(name: str, command: str = "run", more: str = "") -> str:
    return f'[[benchmark]]\nname = "{name}"\ncommand = "{command}"\n{more}'


METRIC = '[benchmark.metric.latency]\nunit = "{unit}"\nbetter = "{better}"\n'
VALUES = 'instrument = "values"\n'


def settled(base: str, head: str, rules: Literal["base", "head"] = "base") -> Settings:
    return resolve(read_source(base, "base: perfgate.toml"), read_source(head, "head: perfgate.toml"), rules=rules)


def renamed(settings: Settings) -> list[Renamed]:
    return [each for each in settings.warnings if isinstance(each, Renamed)]


@pytest.mark.parametrize(("rules", "name", "other"), [("base", "old", "new"), ("head", "new", "old")])
def test_a_renamed_benchmark_has_the_name_that_the_rules_know(
    rules: Literal["base", "head"], name: str, other: str
) -> None:
    settings = settled(bench("old") + bench("same", "s"), bench("same", "s") + bench("new"), rules)
    assert renamed(settings) == [Renamed("old", "new")]
    assert {side: sorted(names) for side, names in settings.benchmarks.items()} == {
        "base": sorted((name, "same")),
        "head": sorted((name, "same")),
    }
    assert [b.name for b in settings.rules.benchmark if b.name != "same"] == [name]
    assert settings.renamed == {other: name}


def test_a_rename_evades_no_rule_of_base() -> None:
    base = '[[override]]\nbenchmark = "old"\nthreshold = "1%"\n[[override]]\nbenchmark = "noisy-*"\nthreshold = "50%"\n'
    settings = settled(base + bench("old"), bench("noisy-new"))
    (benchmark,) = settings.rules.benchmark
    assert threshold_of(settings.rules, benchmark.name, "time", "mean") == 0.01


def test_what_else_changes_with_the_name_is_said() -> None:
    settings = settled(bench("old"), bench("new", more="warmup = 3\n"))
    assert renamed(settings) == [Renamed("old", "new")]
    (changed,) = [each for each in settings.warnings if isinstance(each, MeasuringChanged)]
    assert [each.name for each in changed.changes] == ["warmup"]


def test_a_suite_is_renamed_with_its_cases() -> None:
    suite = 'instrument = "go"\n'
    settings = settled(bench("old", "go test", suite), bench("new", "go test", suite))
    assert settings.benchmarks == {"base": ["old"], "head": ["old"]}


MISSING: dict[str, tuple[str, str]] = {
    "another command": (bench("old", "a"), bench("new", "b")),
    "another instrument": (bench("old"), bench("new", more='instrument = "hyperfine"\n')),
    "a service": (bench("old"), bench("new", more='service = { command = "serve", ready = "tcp:80" }\n')),
    "another unit": (
        bench("old", more=VALUES + METRIC.format(unit="s", better="lower")),
        bench("new", more=VALUES + METRIC.format(unit="B", better="lower")),
    ),
    "another direction": (
        bench("old", more=VALUES + METRIC.format(unit="s", better="lower")),
        bench("new", more=VALUES + METRIC.format(unit="s", better="higher")),
    ),
    "another part of a suite": (
        bench("old", "go test", 'instrument = "go"\ninclude = ["a*"]\n'),
        bench("new", "go test", 'instrument = "go"\ninclude = ["b*"]\n'),
    ),
    "two that it may be": (bench("old"), bench("one") + bench("two")),
    "two that may be it": (bench("one") + bench("two"), bench("new")),
    "two on both sides": (bench("one") + bench("two"), bench("three") + bench("four")),
}


@pytest.mark.parametrize("what", MISSING)
def test_anything_else_stays_missing(what: str) -> None:
    base, head = MISSING[what]
    settings = settled(base, head)
    assert renamed(settings) == [] and settings.renamed == {}
    assert not set(settings.benchmarks["base"]) & set(settings.benchmarks["head"])
