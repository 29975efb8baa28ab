"""[study] in a file: what parses, as tables and schema, and whose it is."""

import json
from pathlib import Path

import pytest

from gate.config.config_text import ConfigError, ConfigText, from_tables, read_source
from gate.config.parse import parse
from gate.config.resolve import effective, resolve
from gate.config.schema import to_tables
from gate.config.study import Load, Study
from gate.config.types import Config
from gate.writing.units import Duration
from tests.gate.config.reading import study
from tests.gate.config.test_resolve import SCHEMA, VALIDATOR

BENCH = '[[benchmark]]\nname = "latency"\ncommand = "./latency {clients}"\ninstrument = "values"\n'
EXAMPLE = (Path(__file__).parents[2] / "data/config/study.toml").read_text(encoding="utf-8")


def source(text: str, name: str = "perfgate.toml") -> ConfigText:
    return read_source(text, name)


def test_every_key_parses_and_settings_keep_their_type() -> None:
    found = study(EXAMPLE)
    assert (found.replicates, found.builds, found.iterations, found.order) == (5, 3, 10, 2)
    assert found.budget == Duration(3600)
    assert found.exclude == [{"clients": 1, "load": "busy"}]
    assert list(found.factor) == ["clients", "rate", "side", "load", "sched", "opt", "machine", "boot"]
    kinds = {"clients": [int, int], "rate": [float, int], "side": [str, str]}
    assert {name: [type(setting) for setting in found.factor[name]] for name in kinds} == kinds
    load = found.factor["load"]
    assert isinstance(load, dict)
    assert load["busy"].load == Load(command="./build/busy")


TWO = '[study.factor]\na = [1, 2]\nb = ["x", "y"]\n'


def test_what_looks_wrong_and_is_not() -> None:
    excluded = '[study.factor.a]\nx = {}\ny = {cpus = "0"}\n[study.factor.b]\nz = {}\nw = {cpus = "1"}\n'
    assert study(f'{excluded}[study]\nexclude = [{{a = "y", b = "w"}}]').exclude == [{"a": "y", "b": "w"}]
    # a suite whose command can have a prefix, or that is not asked to have one
    suite = '[[benchmark]]\nname = "s"\ncommand = "{}"\ninstrument = "go"\n[study.factor.a]\nx = {{}}\ny = {{{}}}'
    for command, gives in (("go test ./...", 'prefix = ["nice"]'), ("cd b && go test", 'cpus = "0"')):
        assert study(suite.format(command, gives)).factor
    # a placeholder that {factor} leaves a port
    ready = '[[benchmark]]\nname = "s"\ncommand = "x"\nservice = {command = "s", ready = "tcp:808{a}"}\n'
    assert study(f"{ready}[study.factor]\na = [0, 1]").factor
    # one side can be left out where nothing is gated
    assert study(f'{TWO}side = ["head", "base"]\n[study]\nexclude = [{{side = "base", a = 2}}]').exclude


def test_a_study_written_as_tables_reads_back_as_itself() -> None:
    config = parse(source(EXAMPLE + BENCH))
    for each in (config, Config()):
        assert parse(from_tables(json.loads(json.dumps(to_tables(each))), "run"), lenient=True) == each
    # a setting is written as in the file, without what it does not give
    assert to_tables(config)["study"]["factor"]["sched"]["other"] == {"value": "other"}
    # a later version may have written keys that are unknown
    later = {"study": {"factor": {"a": {"x": {"later": 1}, "y": {}}}, "another": 2}}
    assert parse(from_tables(later, "run"), lenient=True).study == study("[study.factor.a]\nx = {}\ny = {}")


def test_the_schema_accepts_the_example_and_refuses_what_is_no_design() -> None:
    VALIDATOR.validate(source(EXAMPLE).tables)
    factors: list[object] = [{"a": [1]}, {"1a": [1, 2]}, {"a": {"x": {}}}, {"a": [1, True]}]
    wrong: list[object] = [*({"factor": each} for each in factors), {"replicates": 0}, {"exclude": [{"a": []}]}]
    wrong.append({"factor": {"a": {"x": {"pre": []}, "y": {}}}})
    assert not any(VALIDATOR.is_valid({"study": each}) for each in wrong)
    assert SCHEMA["$defs"]["Study"]["properties"]["budget"]["default"] == "1h"


BASE = source(BENCH + "[study.factor]\nclients = [1, 2]\n", "base: perfgate.toml")
HEAD = source(BENCH + "[study.factor]\nclients = [1, 8]\n", "head: perfgate.toml")
NONE = source(BENCH, "base: perfgate.toml")


def test_the_study_is_that_of_the_rules_on_both_sides() -> None:
    for settings, clients in (
        (resolve(BASE, HEAD, rules="base"), [1, 2]),
        (resolve(BASE, HEAD, rules="head"), [1, 8]),
        (resolve(NONE, HEAD, rules="head"), [1, 8]),
        (resolve(BASE, HEAD, rules=source("[study.factor]\nclients = [3, 4]", "rules.toml")), [3, 4]),
    ):
        studies = [settings.rules.study, *(config.study for config in settings.sides.values())]
        assert [found and found.factor for found in studies] == [{"clients": clients}] * 3
        assert settings.warnings == []
    assert resolve(NONE, HEAD, rules="base").sides["head"].study is None


def test_a_study_can_be_set() -> None:
    sets = ["study.replicates=3", "study.exclude=[{clients = 1}]"]
    settings = resolve(NONE, HEAD, rules="head", sets=sets)
    assert settings.rules.study is not None
    assert (settings.rules.study.replicates, settings.rules.study.exclude) == (3, [{"clients": 1}])
    origins = {key: origin for key, (_, origin) in effective(settings).items()}
    assert origins["study.replicates"] == "option --set"
    assert origins["study.factor.clients"] == "head: perfgate.toml:6"
    assert origins["study.order"] == "default"
    assert effective(resolve(NONE, NONE, rules="head"))["study"][0] is None
    given = resolve(NONE, NONE, rules="head", sets=["study.factor={clients = [1, 2]}"])
    assert given.rules.study == Study(factor={"clients": [1, 2]})


@pytest.mark.parametrize(
    ("rules", "option", "message"),
    [
        ("head", "study.replicate=3", "--set study.replicate=3: study.replicate: unknown key; did you mean replicates?"),
        ("head", "study.replicates=x", '--set study.replicates=x: study.replicates: expected a whole number, got "x"; write e.g. replicates = 5'),
        ("head", "study.builds=9", "head: perfgate.toml: study.builds: 9 rounds cannot share 5 replicates: at most one build a replicate"),
        ("base", "study.replicates=3", "--set study.replicates: base: perfgate.toml has no [study]"),
        ("head", 'study.benchmarks=["x*"]', '--set: study.benchmarks: "x*" matches none of latency'),
    ],
)  # fmt: skip
def test_a_wrong_set_option_is_named(rules: str, option: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        resolve(NONE, HEAD, rules="base" if rules == "base" else "head", sets=[option])
    assert str(caught.value) == message
