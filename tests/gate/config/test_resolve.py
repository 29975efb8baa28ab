import datetime
import json

import jsonschema
import pytest

from gate.config.config_text import ConfigError, Source, from_tables, read_source
from gate.config.parse import parse
from gate.config.resolve import effective, resolve
from gate.config.rules import accepts_of, detectable_of, floor_of, is_decided, matches, most_builds, threshold_of
from gate.config.schema import json_schema, to_tables
from gate.config.types import Config
from gate.evidence.builds import decided_by_name
from gate.model import SIDES, Side
from gate.model.warnings.setup import (
    BaseWithoutConfig,
    BuildChanged,
    Differing,
    MatchesNothing,
    MeasuringChanged,
    ReadOn,
    RulesChanged,
)
from tests.gate.config.test_parse import EXAMPLE

BENCH = '[[benchmark]]\nname = "{0}"\ncommand = "{1}"\n'

VALIDATOR = jsonschema.Draft202012Validator(json_schema())


def source(text: str, name: str = "perfgate.toml") -> Source:
    return read_source(text, name)


BASE = source(
    '[gate]\nthreshold = "3%"\n' + BENCH.format("a", "old") + BENCH.format("gone", "g"), "base: perfgate.toml"
)
HEAD = source('[gate]\nthreshold = "9%"\n' + BENCH.format("new", "n") + BENCH.format("a", "new"), "head: perfgate.toml")


def test_rules_come_from_the_side_named_and_commands_from_each_side() -> None:
    for side, threshold in (("base", 0.03), ("head", 0.09)):
        settings = resolve(BASE, HEAD, rules="base" if side == "base" else "head")
        assert settings.rules.gate.threshold == threshold
        assert [b.command for b in settings.sides["base"].benchmark] == ["old", "g"]
        assert settings.benchmarks == {"base": ["a", "gone"], "head": ["new", "a"]}
        assert [b.name for b in settings.rules.benchmark] == ["a", "gone", "new"]


def test_the_report_learns_that_head_changes_rules_and_commands() -> None:
    warnings = resolve(BASE, HEAD, rules="base").warnings
    changes = (Differing("command", "old", "new"),)
    assert warnings == [RulesChanged(("gate.threshold",), "base"), MeasuringChanged("a", changes)]
    assert resolve(BASE, BASE, rules="base").warnings == []
    shows = source('[gate]\nthreshold = "3%"\n[[override]]\nshow = "not-worse"\n')
    assert resolve(shows, shows, rules="head").warnings == [ReadOn("perfgate.toml:4")]


@pytest.mark.parametrize(
    ("base", "head", "key"),
    [
        ('[build]\ncommand = "make"', '[build]\ncommand = "make fast"', ("build.command", "make", "make fast")),
        ("", '[build]\nsetup = "npm ci"', ("build.setup", None, "npm ci")),
        ("", '[build]\noverlay = ["bench"]', None),
        ("", '[env]\nset = {GOGC = "off"}', ("env.set.GOGC", None, "off")),
        ("", '[env]\npass = ["LD_LIBRARY_PATH"]', ("env.pass", None, "LD_LIBRARY_PATH")),
        ('[build]\ntimeout = "1m"', '[build]\ntimeout = "2m"', None),
    ],
)
def test_the_report_learns_that_head_builds_in_another_way(
    base: str, head: str, key: tuple[str, str | None, str] | None
) -> None:
    benchmark = BENCH.format("a", "x")
    found = resolve(source(f"{base}\n{benchmark}"), source(f"{head}\n{benchmark}"), rules="base").warnings
    assert found == ([BuildChanged((Differing(*key),))] if key else [])


@pytest.mark.parametrize(
    ("key", "changed"),
    [
        ('service = {command = "./server", ready = "tcp:80"}', ["service"]),
        ("warmup = 3", ["warmup"]),
        ('timeout = "1m"', []),
    ],
)
def test_the_report_learns_that_head_measures_in_another_way(key: str, changed: list[str]) -> None:
    benchmark = BENCH.format("a", "x")
    warnings = resolve(source(benchmark), source(benchmark + key), rules="base").warnings
    assert [each.name for w in warnings if isinstance(w, MeasuringChanged) for each in w.changes] == changed
    assert len(warnings) == len(changed)


def test_a_side_without_a_config_falls_back_to_the_other() -> None:
    assert resolve(None, HEAD, rules="base").warnings == [BaseWithoutConfig()]
    assert resolve(None, HEAD, rules="base").rules.gate.threshold == 0.09
    with pytest.raises(ConfigError, match="perfgate init"):
        resolve(None, None, rules="head")


def test_a_config_file_wins_over_both_sides_and_set_over_everything() -> None:
    settings = resolve(
        BASE, HEAD, rules="base", config=source('[gate]\nthreshold = "1%"'), sets=["gate.threshold=2%", "plan.builds=7"]
    )
    assert settings.rules.gate.threshold == 0.02
    assert settings.rules.plan.builds == 7
    assert settings.benchmarks == {"base": [], "head": []}


def test_what_builds_may_write_besides_their_trees_is_of_the_rules() -> None:
    benchmark = BENCH.format("a", "x")
    base, head = source(f'[build]\nwrite = ["~/.b"]\n{benchmark}'), source(f'[build]\nwrite = ["~/.h"]\n{benchmark}')
    bare, silent, file = source(benchmark), source(""), source('[build]\nwrite = ["~/.f"]')
    cases: list[tuple[Source | None, Source, Side | Source, list[str] | None]] = [
        (base, head, "base", ["~/.b"]), (base, head, "head", ["~/.h"]), (bare, head, "base", None),
        (base, bare, "head", None), (base, head, file, ["~/.f"]), (base, head, silent, ["~/.b"]), (None, head, "base", ["~/.h"]),
    ]  # fmt: skip
    for left, right, rules, counts in cases:
        settings = resolve(left, right, rules=rules)
        assert [settings.sides[side].build.write for side in SIDES] == [counts, counts]
        assert settings.rules.build.write == counts
        changed = [each.keys for each in settings.warnings if isinstance(each, RulesChanged)]
        assert changed == ([("build.write",)] if left is not None else [])
    in_force = {each.key: each for each in effective(resolve(bare, head, rules="base"))}
    assert (in_force["build.write"].value, in_force["build.write"].origin) == (None, "default")


def test_rules_may_come_from_a_file() -> None:
    settings = resolve(BASE, HEAD, rules=source('[gate]\nthreshold = "4%"', "rules.toml"))
    assert settings.rules.gate.threshold == 0.04
    assert settings.benchmarks["base"] == ["a", "gone"]


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("gate.threshold", "--set gate.threshold: did you mean gate.threshold=VALUE?"),
        ("threshold=3%", "--set threshold=3%: did you mean gate.threshold=3%?"),
        ("gate.thresold=3%", "--set gate.thresold=3%: gate.thresold: unknown key; did you mean threshold?"),
        (
            "plan.builds=x",
            '--set plan.builds=x: plan.builds: expected a whole number or a table, got "x"; write e.g. builds = {min = 4}',
        ),
        (
            "build.perturb=true",
            "--set build.perturb=true: build.perturb: expected a list, got true; write e.g. perturb",
        ),
    ],
)
def test_a_wrong_set_option_is_named(option: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        resolve(BASE, HEAD, rules="base", sets=[option])
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("rule", "glob", "known"),
    [
        ('[[override]]\nbenchmark = "b"', "b", ["a", "gone"]),
        ('[[override]]\nbenchmark = "gon*"', None, []),
        ('[[override]]\nbenchmark = "*"\nmetric = "tmie"', "tmie", ["time", "active", "user", "system", "memory"]),
        ('[[override]]\nbenchmark = "*"\nmetric = "t*"', None, []),
        ('[[override]]\nbenchmark = "gone"\nmetric = "own"', "own", ["time", "active", "user", "system", "memory"]),
        ('[[accept]]\nup_to = "9%"\nuntil = 2030-01-01\nreason = "x"\nbenchmark = "b"', "b", ["a", "gone"]),
        ('[[override]]\nbenchmark = "a"\nstatistic = "meen"', "meen", ["mean", "typical", "p50"]),
        ('[[override]]\nbenchmark = "a"\nstatistic = "p99.9"', None, []),
        # what is built, and what a suite holds, nobody knows yet
        ('[plan]\nmetrics = ["size", "time"]\n[[override]]\nbenchmark = "build/app"', None, []),
        (BENCH.format("go", "go test") + 'instrument = "go"\n[[override]]\nbenchmark = "*x"\nmetric = "y"', None, []),
        (BENCH.format("go", "go test") + 'instrument = "go"\n[[override]]\nbenchmark = "g/x"', "g/x", ["a", "gone", "go"]),
    ],
)  # fmt: skip
def test_a_rule_about_nothing_is_told(rule: str, glob: str | None, known: list[str]) -> None:
    text = BENCH.format("a", "x") + "[benchmark.metric.own]\n" + BENCH.format("gone", "g")
    given = source(f"{text}{rule}\n{'' if 'accept' in rule else 'warn = 0.09'}")
    told = [each for each in resolve(given, given, rules="head").warnings if isinstance(each, MatchesNothing)]
    assert [each.glob for each in told] == ([glob] if glob else [])
    assert all(list(each.known[: len(known)]) == known and each.place.startswith("perfgate.toml:") for each in told)


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ('[plan]\nmetrics = ["time", "tmie"]', 'perfgate.toml:5: plan.metrics: "tmie" matches nothing: did you mean time?'),
        ('[plan]\nmetrics = ["cpu"]', 'perfgate.toml:5: plan.metrics: "cpu" matches none of '),
        ('[[benchmark]]\nname = "b"\ncommand = "x"\nmetrics = ["u*", "x*"]', 'perfgate.toml:7: benchmark[1].metrics: "x*" '),
        ('[[benchmark]]\nname = "b"\ncommand = "x"\nmetrics = ["own"]\n[benchmark.metric.own]', None),
        ('[[benchmark]]\nname = "b"\ncommand = "x"\nmetrics = ["own"]\ninstrument = "go"', None),
        ('[plan]\nmetrics = ["own"]\n[[benchmark]]\nname = "b"\ncommand = "x"\ninstrument = "values"', None),
    ],
)  # fmt: skip
def test_a_metric_that_nothing_has_is_refused_before_measuring(key: str, message: str | None) -> None:
    given = source(f"{BENCH.format('a', 'x')}{key}")
    if message is None:
        resolve(given, given, rules="head")
        return
    with pytest.raises(ConfigError) as caught:
        resolve(given, given, rules="head")
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("rules", SIDES)
def test_a_metric_of_a_benchmark_is_refused_at_its_place_in_the_file_that_has_it(rules: Side) -> None:
    base = source(BENCH.format("gone", "x") + BENCH.format("a", "x"), "base: perfgate.toml")
    head = source(BENCH.format("new", "x") + BENCH.format("b", "x") + 'metrics = ["x*"]\n', "head: perfgate.toml")
    with pytest.raises(ConfigError, match=r'^head: perfgate.toml:\d: benchmark\[1\].metrics: "x\*" matches none of'):
        resolve(base, head, rules=rules)


def test_a_metric_of_an_option_is_refused_as_the_option_gave_it() -> None:
    given = source(BENCH.format("a", "x"))
    with pytest.raises(ConfigError, match=r'^--set: plan.metrics: "tmie" matches nothing: did you mean time'):
        resolve(given, given, rules="head", sets=['plan.metrics=["tmie"]'])


def test_both_files_are_validated_whatever_the_rules() -> None:
    with pytest.raises(ConfigError, match=r"^head: perfgate.toml:2: gate.x: unknown key"):
        resolve(BASE, source("[gate]\nx = 1", "head: perfgate.toml"), rules="base")


def test_where_values_come_from() -> None:
    origins = {s.key: s.origin for s in effective(resolve(BASE, HEAD, rules="base", sets=["plan.builds=7"]))}
    assert origins["gate.threshold"] == "base: perfgate.toml:2"
    assert origins["gate.family"] == "default"
    assert origins["plan.builds"] == "option --set"
    assert origins["benchmark[0].command"] == "head: perfgate.toml:8"
    assert origins["benchmark[1].command"] == "base: perfgate.toml:8"
    assert origins["benchmark[2].name"] == "head: perfgate.toml:4"


def test_a_config_written_as_tables_reads_back_as_itself() -> None:
    config = parse(source(EXAMPLE))
    tables = json.loads(json.dumps(to_tables(config)))
    assert parse(from_tables(tables, "run"), lenient=True) == config
    VALIDATOR.validate({k: v for k, v in tables.items() if k not in ("override", "benchmark", "plan", "build")})


def test_the_schema_accepts_the_example_and_refuses_unknown_keys() -> None:
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    VALIDATOR.validate(parse_example())
    wrong: list[object] = [
        {"gat": {}},
        {"gate": {"thresold": 1}},
        {"plan": {"builds": 0}},
        {"benchmark": [{"name": "x"}]},
    ]
    for bad in wrong:
        with pytest.raises(jsonschema.ValidationError):
            VALIDATOR.validate(bad)
    assert schema["$defs"]["Gate"]["properties"]["threshold"]["default"] == "2%"


def parse_example() -> object:
    return json.loads(json.dumps(source(EXAMPLE).tables, default=datetime.date.isoformat))


RULES = parse(
    source(
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
)


def test_later_overrides_win_over_the_gate_and_under_the_metric() -> None:
    found = {
        ("other", "time"): 0.03, ("suite/x", "time"): 0.10, ("suite/fast", "latency"): 0.20,
        ("suite/fast", "time"): 0.10, ("suite/fast", "rate"): 0.01,
    }  # fmt: skip
    assert {case: threshold_of(RULES, *case, "mean") for case in found} == found


OF_TIME = """
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


def test_the_rules_of_a_metric_hold_for_its_views() -> None:
    rules = parse(source(OF_TIME))
    assert threshold_of(rules, "a", "active", "typical") == threshold_of(rules, "a", "time", "typical") == 0.3
    assert threshold_of(rules, "a", "cpu_time", "typical", "time") == 0.3
    assert floor_of(rules, "a", "active", "typical", "s") == pytest.approx(0.002)
    # its own come first, and those of the mean hold for the typical value that nobody named
    assert threshold_of(rules, "b", "active", "typical") == 0.02
    assert threshold_of(rules, "b", "time", "typical") == 0.07
    assert threshold_of(rules, "c", "time", "mean") == 0.07
    assert threshold_of(rules, "c", "time", "typical") == 0.02
    # not the other way round
    assert threshold_of(rules, "b", "time", "mean") == 0.07


def test_a_floor_applies_to_its_dimension_only() -> None:
    assert floor_of(RULES, "other", "time", "mean", "s") == pytest.approx(2e-6)
    assert floor_of(RULES, "other", "memory", "mean", "B") is None
    assert floor_of(RULES, "suite/x", "rate", "mean", "ops/s") == 5
    # an override of 0 takes the floor away
    assert floor_of(RULES, "suite/x", "time", "mean", "s") is None
    # one of another dimension does not, and what no instrument is known of has none
    started = parse(source('[[override]]\nfloor = "10KiB"\n' + BENCH.format("x", "x")))
    assert floor_of(started, "x", "time", "mean", "s") == pytest.approx(1e-6)
    other = parse(source('[[override]]\nfloor = "10KiB"\n'))
    assert floor_of(other, "x", "time", "mean", "s") is None
    assert floor_of(other, "x", "memory", "mean", "B") == 10240


def test_a_plain_floor_of_a_metric_is_in_the_unit_it_declares() -> None:
    text = BENCH.format("b", "x") + 'instrument = "values"\n[benchmark.metric.t]\nunit = "ms"\nfloor = 2\n'
    assert floor_of(parse(source(text)), "b", "t", "mean", "s") == pytest.approx(0.002)
    count = parse(source("[gate]\nfloor = 3\n"))
    assert floor_of(count, "b", "t", "mean", "ops") == 3
    assert floor_of(count, "b", "t", "mean", "s") is None


def test_what_is_decided_by_default() -> None:
    assert is_decided(RULES, "plain", "time")
    assert not is_decided(RULES, "plain", "memory")
    assert is_decided(RULES, "suite/x", "anything")
    assert is_decided(Config(), "from a file without a config", "anything")


def test_what_a_benchmark_names_is_its_own_and_no_artifacts() -> None:
    text = '[plan]\nmetrics = ["time", "size"]\n' + BENCH.format("bin", "x") + 'metrics = ["size"]\n'
    read = parse(source(text))
    # its list of one metric is no list of builds' metrics
    assert [each for each in ("size", "time", "active") if is_decided(read, "bin", each)] == ["size"]
    # the file bin/tool is no case of the benchmark "bin"
    read = parse(source(text.replace('metrics = ["size"]', 'metrics = ["time"]')))
    assert is_decided(decided_by_name(read), "bin/tool", "size") and not is_decided(read, "bin/tool", "size")


def test_globs() -> None:
    assert matches("a[1]", "a[1]")
    assert matches("suite/*", "suite/a/b")
    assert not matches("suite/*", "Suite/a")
    assert [a.reason for a in accepts_of(RULES, "suite/x", "time", "mean")] == ["r"]
    assert accepts_of(RULES, "plain", "time", "mean") == []


@pytest.mark.parametrize(
    "value",
    ["3%", " 3 %", "+3%", "1e-2%", "0.03", ".5", "150%", 0.03, 0, 1, 3, "3", "1", ".", "3.5.1%", "-3%", "x", True, [1]],
)
def test_the_schema_and_the_parser_agree_on_shares(value: object) -> None:
    assert accepted("gate", "threshold", value) == valid("gate", "threshold", value)


@pytest.mark.parametrize("value", ["15m", "1h30m", "90 s", "1.5h", 90, 0, -1, "15", "15M", "abc", "", "m", True])
def test_the_schema_and_the_parser_agree_on_durations(value: object) -> None:
    assert accepted("plan", "budget", value) == valid("plan", "budget", value)


@pytest.mark.parametrize("value", ["1us", "4 KiB", "7", 7, 0.5, ".5s", "-1us", "us", "", True, -1])
def test_the_schema_and_the_parser_agree_on_amounts(value: object) -> None:
    assert accepted("gate", "floor", value) == valid("gate", "floor", value)


def accepted(table: str, key: str, value: object) -> bool:
    try:
        parse(from_tables({table: {key: value}}, "test"))
    except ConfigError:
        return False
    return True


def valid(table: str, key: str, value: object) -> bool:
    return VALIDATOR.is_valid({table: {key: value}})


def test_metrics_are_as_the_rules_have_them_on_both_sides() -> None:
    bench = BENCH.format("b", "x") + 'instrument = "values"\n'
    base = source(bench + '[benchmark.metric.rate]\nunit = "req/s"\nbetter = "higher"\n')
    head = source(bench + "[benchmark.metric.extra]\n")
    for rules, unit in (("base", "req/s"), ("head", "req/s")):
        settings = resolve(base, head, rules="base" if rules == "base" else "head")
        sides = {side: settings.sides[side].benchmark[0].metric for side in ("base", "head")}
        # head must give what base gives; base need not give what only head declares
        assert (list(sides["base"]), list(sides["head"])) == (["rate"], ["rate", "extra"])
        assert {metrics["rate"].unit for metrics in sides.values()} == {unit}
    other = source(bench + '[benchmark.metric.rate]\nunit = "op/s"\n')
    for rules, unit in (("base", "req/s"), ("head", "op/s")):
        settings = resolve(base, other, rules="base" if rules == "base" else "head")
        assert {settings.sides[side].benchmark[0].metric["rate"].unit for side in ("base", "head")} == {unit}


def test_a_config_without_benchmarks_has_origins_too() -> None:
    only = source('[gate]\nthreshold = "4%"\n')
    assert {s.key: s.origin for s in effective(resolve(only, only, rules="head"))}["benchmark"] == "default"


def test_the_most_rounds_of_a_plan() -> None:
    least, most = parse(source("[plan]\nbuilds = {min = 4}\n")), parse(source("[plan]\nbuilds = {min = 4, max = 30}\n"))
    assert [most_builds(each.plan) for each in (least, most)] == [56, 30]
    assert [most_builds(each.plan, early=False) for each in (least, most)] == [12, 30]
    assert most_builds(parse(source("[plan]\nbuilds = {min = 70}\n")).plan) == 70


def test_what_must_show_in_a_pass_where_nothing_is_set() -> None:
    rules = parse(source('[gate]\nthreshold = "3%"\n'))
    # what other programs hardly disturb is worth twice the threshold
    assert detectable_of(rules, "a", "active", "typical", "time") == pytest.approx(0.06)
    assert detectable_of(rules, "a", "cpu_time", "typical", "time") == pytest.approx(0.06)
    assert detectable_of(rules, "a", "time", "mean") == pytest.approx(0.1)
    wide = parse(source('[gate]\nthreshold = "8%"\n'))
    assert (
        detectable_of(wide, "a", "time", "mean") == detectable_of(wide, "a", "active", "typical") == pytest.approx(0.16)
    )
    zero = parse(source('[gate]\nthreshold = 0\n[[override]]\nbenchmark = "b"\ndetectable = "7%"\n'))
    assert detectable_of(zero, "a", "active", "typical") == pytest.approx(0.1)
    assert detectable_of(zero, "b", "active", "typical") == pytest.approx(0.07)
