"""Whose rules and commands count, what head changes of them, and the schema that says what a file may hold."""

import datetime
import json
from collections.abc import Sequence

import jsonschema
import pytest

from gate.config.config_text import ConfigError, ConfigText, from_tables, read_source
from gate.config.parse import parse
from gate.config.resolve import Settings, effective, resolve
from gate.config.rules import threshold_of
from gate.config.schema import json_schema, to_tables
from gate.model import SIDES, Side
from gate.model.warnings.setup import BASE_WITHOUT_CONFIG, BuildChanged, Differing, MeasuringChanged, Renamed
from tests.gate.config.test_errors import EXAMPLE
from tests.support.warned import texts

BENCH = '[[benchmark]]\nname = "{0}"\ncommand = "{1}"\n'


def source(text: str, name: str = "perfgate.toml") -> ConfigText:
    return read_source(text, name)


BASE = source(
    '[gate]\nthreshold = "3%"\n' + BENCH.format("a", "old") + BENCH.format("gone", "g"), "base: perfgate.toml"
)
HEAD = source('[gate]\nthreshold = "9%"\n' + BENCH.format("new", "n") + BENCH.format("a", "new"), "head: perfgate.toml")


def of_both(base: str, head: str, rules: Side = "base") -> Settings:
    return resolve(source(base, "base: perfgate.toml"), source(head, "head: perfgate.toml"), rules=rules)


@pytest.mark.parametrize(("side", "threshold"), [("base", 0.03), ("head", 0.09)])
def test_rules_come_from_the_side_named_and_commands_from_each_side(side: Side, threshold: float) -> None:
    settings = resolve(BASE, HEAD, rules=side)
    assert settings.rules.gate.threshold == threshold
    assert [b.command for b in settings.sides["base"].benchmark] == ["old", "g"]
    assert settings.benchmarks == {"base": ["a", "gone"], "head": ["new", "a"]}
    assert [b.name for b in settings.rules.benchmark] == ["a", "gone", "new"]


def test_the_report_learns_that_head_changes_rules_and_commands() -> None:
    warnings = resolve(BASE, HEAD, rules="base").warnings
    changes = (Differing("command", "old", "new"),)
    assert [each.sentence() for each in warnings] == [
        "head changes the rules (gate.threshold); the rules of base apply", MeasuringChanged("a", changes).sentence(),
    ]  # fmt: skip
    assert resolve(BASE, BASE, rules="base").warnings == []
    shows = source('[gate]\nthreshold = "3%"\n[[override]]\nshow = "not-worse"\n')
    settings = resolve(shows, shows, rules="head")
    (said,) = texts(settings.warnings, "read-on")
    assert said.startswith("the key show at perfgate.toml:4 is read on: ")
    assert effective(settings)["override[0].detectable"][1] == "perfgate.toml:4"


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
def test_head_that_builds_otherwise_is_told(base: str, head: str, key: tuple[str, str | None, str] | None) -> None:
    benchmark = BENCH.format("a", "x")
    found = of_both(f"{base}\n{benchmark}", f"{head}\n{benchmark}").warnings
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
    warnings = of_both(BENCH.format("a", "x"), BENCH.format("a", "x") + key).warnings
    assert [each.name for w in warnings if isinstance(w, MeasuringChanged) for each in w.changes] == changed
    assert len(warnings) == len(changed)


def test_a_side_without_a_config_falls_back_to_the_other() -> None:
    assert resolve(None, HEAD, rules="base").warnings == [BASE_WITHOUT_CONFIG]
    assert resolve(None, HEAD, rules="base").rules.gate.threshold == 0.09
    with pytest.raises(ConfigError, match="perfgate init"):
        resolve(None, None, rules="head")


def test_a_file_wins_over_both_sides_and_set_over_everything() -> None:
    only = source('[gate]\nthreshold = "1%"')
    settings = resolve(BASE, HEAD, rules="base", config=only, sets=["gate.threshold=2%", "plan.builds=7"])
    assert (settings.rules.gate.threshold, settings.rules.plan.builds) == (0.02, 7)
    assert settings.benchmarks == {"base": [], "head": []}
    # rules alone may come from one
    settings = resolve(BASE, HEAD, rules=source('[gate]\nthreshold = "4%"', "rules.toml"))
    assert (settings.rules.gate.threshold, settings.benchmarks["base"]) == (0.04, ["a", "gone"])


def test_what_builds_may_write_besides_their_trees_is_of_the_rules() -> None:
    benchmark = BENCH.format("a", "x")
    base, head = source(f'[build]\nwrite = ["~/.b"]\n{benchmark}'), source(f'[build]\nwrite = ["~/.h"]\n{benchmark}')
    bare, silent, file = source(benchmark), source(""), source('[build]\nwrite = ["~/.f"]')
    cases: list[tuple[ConfigText | None, ConfigText, Side | ConfigText, list[str] | None]] = [
        (base, head, "base", ["~/.b"]), (base, head, "head", ["~/.h"]), (bare, head, "base", None),
        (base, bare, "head", None), (base, head, file, ["~/.f"]), (base, head, silent, ["~/.b"]), (None, head, "base", ["~/.h"]),
    ]  # fmt: skip
    for left, right, rules, counts in cases:
        settings = resolve(left, right, rules=rules)
        assert [settings.sides[side].build.write for side in SIDES] == [counts, counts]
        assert settings.rules.build.write == counts
        changed = texts(settings.warnings, "rules-changed")
        assert ["(build.write)" in each for each in changed] == ([True] if left is not None else [])
    in_force = effective(resolve(bare, head, rules="base"))
    assert in_force["build.write"] == (None, "default")


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
    told = texts(resolve(given, given, rules="head").warnings, "matches-nothing")
    assert [f' = "{glob}" matches no' in each for each in told] == ([True] if glob else [])
    assert all(each.startswith("perfgate.toml:") and any(name in each for name in known) for each in told)


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
def test_a_metric_is_refused_at_its_place_in_the_file_that_has_it_or_as_the_option_gave_it(rules: Side) -> None:
    base = BENCH.format("gone", "x") + BENCH.format("a", "x")
    head = BENCH.format("new", "x") + BENCH.format("b", "x") + 'metrics = ["x*"]\n'
    with pytest.raises(ConfigError, match=r'^head: perfgate.toml:\d: benchmark\[1\].metrics: "x\*" matches none of'):
        of_both(base, head, rules)
    given = source(BENCH.format("a", "x"))
    with pytest.raises(ConfigError, match=r'^--set: plan.metrics: "tmie" matches nothing: did you mean time'):
        resolve(given, given, rules=rules, sets=['plan.metrics=["tmie"]'])


def test_both_files_are_validated_whatever_the_rules() -> None:
    with pytest.raises(ConfigError, match=r"^head: perfgate.toml:2: gate.x: unknown key"):
        resolve(BASE, source("[gate]\nx = 1", "head: perfgate.toml"), rules="base")


def test_where_values_come_from() -> None:
    origins = {key: of for key, (_, of) in effective(resolve(BASE, HEAD, rules="base", sets=["plan.builds=7"])).items()}
    assert origins["gate.threshold"] == "base: perfgate.toml:2"
    assert origins["gate.family"] == "default"
    assert origins["plan.builds"] == "option --set"
    assert origins["benchmark[0].command"] == "head: perfgate.toml:8"
    assert origins["benchmark[1].command"] == "base: perfgate.toml:8"
    assert origins["benchmark[2].name"] == "head: perfgate.toml:4"
    only = source('[gate]\nthreshold = "4%"\n')
    assert effective(resolve(only, only, rules="head"))["benchmark"][1] == "default"


# --- tables and the schema --------------------------------------------------------------------------------------------

SCHEMA = json_schema()
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def test_a_config_written_as_tables_reads_back_as_itself() -> None:
    config = parse(source(EXAMPLE))
    tables = json.loads(json.dumps(to_tables(config)))
    assert parse(from_tables(tables, "run"), lenient=True) == config
    VALIDATOR.validate({k: v for k, v in tables.items() if k not in ("override", "benchmark", "plan", "build")})


def test_the_schema_accepts_the_example_and_refuses_unknown_keys() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    VALIDATOR.validate(json.loads(json.dumps(source(EXAMPLE).tables, default=datetime.date.isoformat)))
    wrong: list[object] = [
        {"gat": {}}, {"gate": {"thresold": 1}}, {"plan": {"builds": 0}}, {"benchmark": [{"name": "x"}]},
    ]  # fmt: skip
    assert not any(VALIDATOR.is_valid(each) for each in wrong)
    assert SCHEMA["$defs"]["Gate"]["properties"]["threshold"]["default"] == "2%"


@pytest.mark.parametrize(
    ("table", "key", "values"),
    [
        ("gate", "threshold", ("3%", " 3 %", "+3%", "1e-2%", "0.03", ".5", "150%", 0.03, 0, 1, 3, "3")),
        ("gate", "threshold", ("1", ".", "3.5.1%", "-3%", "x", True, [1])),
        ("plan", "budget", ("15m", "1h30m", "90 s", "1.5h", 90, 0, -1, "15", "15M", "abc", "", "m", True)),
        ("gate", "floor", ("1us", "4 KiB", "7", 7, 0.5, ".5s", "-1us", "us", "", True, -1)),
    ],
)
def test_the_schema_and_the_parser_agree(table: str, key: str, values: Sequence[object]) -> None:
    for value in values:
        assert accepted(table, key, value) == VALIDATOR.is_valid({table: {key: value}}), value


def accepted(table: str, key: str, value: object) -> bool:
    try:
        parse(from_tables({table: {key: value}}, "test"))
    except ConfigError:
        return False
    return True


def test_metrics_are_as_the_rules_have_them_on_both_sides() -> None:
    bench = BENCH.format("b", "x") + 'instrument = "values"\n'
    base = bench + '[benchmark.metric.rate]\nunit = "req/s"\nbetter = "higher"\n'
    for rules in SIDES:
        settings = of_both(base, bench + "[benchmark.metric.extra]\n", rules)
        sides = {side: settings.sides[side].benchmark[0].metric for side in SIDES}
        # head must give what base gives; base need not give what only head declares
        assert (list(sides["base"]), list(sides["head"])) == (["rate"], ["rate", "extra"])
        assert {metrics["rate"].unit for metrics in sides.values()} == {"req/s"}
        settings = of_both(base, bench + '[benchmark.metric.rate]\nunit = "op/s"\n', rules)
        units = {settings.sides[side].benchmark[0].metric["rate"].unit for side in SIDES}
        assert units == {"req/s" if rules == "base" else "op/s"}


# --- benchmarks that head runs under another name: paired only where nothing else can be meant ------------------------


def bench(name: str, command: str = "run", more: str = "") -> str:
    return BENCH.format(name, command) + more


def renamed(settings: Settings) -> list[Renamed]:
    return [each for each in settings.warnings if isinstance(each, Renamed)]


@pytest.mark.parametrize(("rules", "name", "other"), [("base", "old", "new"), ("head", "new", "old")])
def test_a_renamed_benchmark_has_the_name_that_the_rules_know(rules: Side, name: str, other: str) -> None:
    settings = of_both(bench("old") + bench("same", "s"), bench("same", "s") + bench("new"), rules)
    assert renamed(settings) == [Renamed("old", "new")]
    both = sorted((name, "same"))
    assert {side: sorted(names) for side, names in settings.benchmarks.items()} == {"base": both, "head": both}
    assert [b.name for b in settings.rules.benchmark if b.name != "same"] == [name]
    assert settings.renamed == {other: name}


def test_a_rename_evades_no_rule_of_base() -> None:
    rules = (
        '[[override]]\nbenchmark = "old"\nthreshold = "1%"\n[[override]]\nbenchmark = "noisy-*"\nthreshold = "50%"\n'
    )
    settings = of_both(rules + bench("old"), bench("noisy-new"))
    (benchmark,) = settings.rules.benchmark
    assert threshold_of(settings.rules, benchmark.name, "time", "mean") == 0.01


def test_what_else_changes_with_the_name_is_said_and_a_suite_is_renamed_with_its_cases() -> None:
    settings = of_both(bench("old"), bench("new", more="warmup = 3\n"))
    assert renamed(settings) == [Renamed("old", "new")]
    (changed,) = [each for each in settings.warnings if isinstance(each, MeasuringChanged)]
    assert [each.name for each in changed.changes] == ["warmup"]
    suite = 'instrument = "go"\n'
    settings = of_both(bench("old", "go test", suite), bench("new", "go test", suite))
    assert settings.benchmarks == {"base": ["old"], "head": ["old"]}


def metric(unit: str, better: str) -> str:
    return f'instrument = "values"\n[benchmark.metric.latency]\nunit = "{unit}"\nbetter = "{better}"\n'


def part(glob: str) -> str:
    return f'instrument = "go"\ninclude = ["{glob}"]\n'


MISSING: dict[str, tuple[str, str]] = {
    "another command": (bench("old", "a"), bench("new", "b")),
    "another instrument": (bench("old"), bench("new", more='instrument = "hyperfine"\n')),
    "a service": (bench("old"), bench("new", more='service = { command = "serve", ready = "tcp:80" }\n')),
    "another unit": (bench("old", more=metric("s", "lower")), bench("new", more=metric("B", "lower"))),
    "another direction": (bench("old", more=metric("s", "lower")), bench("new", more=metric("s", "higher"))),
    "another part of a suite": (bench("old", "go test", part("a*")), bench("new", "go test", part("b*"))),
    "two that it may be": (bench("old"), bench("one") + bench("two")),
    "two that may be it": (bench("one") + bench("two"), bench("new")),
    "two on both sides": (bench("one") + bench("two"), bench("three") + bench("four")),
}


@pytest.mark.parametrize("what", MISSING)
def test_anything_else_stays_missing(what: str) -> None:
    settings = of_both(*MISSING[what])
    assert renamed(settings) == [] and settings.renamed == {}
    assert not set(settings.benchmarks["base"]) & set(settings.benchmarks["head"])
