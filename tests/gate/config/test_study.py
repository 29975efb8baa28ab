"""[study] in a file: what parses, and every error with its file, line and what to do; messages are literal on purpose."""

import json

import jsonschema
import pytest

from gate.config.config_text import ConfigError, Source, from_tables, read_source
from gate.config.parse import parse
from gate.config.resolve import effective, resolve
from gate.config.schema import json_schema, to_tables
from gate.config.study import Load, Study
from gate.config.types import Config
from gate.units import Duration
from tests.gate.config.reading import error, study

BENCH = '[[benchmark]]\nname = "latency"\ncommand = "./latency {clients}"\ninstrument = "values"\n'
EXAMPLE = """\
[study]
benchmarks = ["latency"]
responses  = ["latency"]
replicates = 5
builds     = 3
iterations = 10
budget     = "1h"
order      = 2
exclude    = [{ clients = 1, load = "busy" }]

[study.factor]
clients = [1, 8]
rate    = [0.5, 2]
side    = ["base", "head"]
[study.factor.load]
idle = {}
busy = { load = { command = "./build/busy" } }
[study.factor.sched]
other = { value = "other" }
fifo  = { prefix = ["chrt", "-f", "10"], env = { X = "1" }, args = ["--rt"], cpus = "0", priority = 5 }
[study.factor.opt]
O2 = { build_env = { CFLAGS = "-O2" } }
O3 = { build_env = { CFLAGS = "-O3" }, service = { command = "serve --port {port}", grace = "1s" } }
[study.factor.machine]
core2 = { runner = "core2" }
xeon  = { runner = ["self-hosted", "xeon"] }
[study.factor.boot]
first = { session = 0 }
later = { session = [1, 2] }
"""


def source(text: str, name: str = "perfgate.toml") -> Source:
    return read_source(text, name)


def test_every_key_parses_and_settings_keep_their_type() -> None:
    found = study(EXAMPLE)
    assert (found.replicates, found.builds, found.iterations, found.order) == (5, 3, 10, 2)
    assert found.budget == Duration(3600)
    assert found.exclude == [{"clients": 1, "load": "busy"}]
    assert list(found.factor) == ["clients", "rate", "side", "load", "sched", "opt", "machine", "boot"]
    assert [[type(setting) for setting in found.factor[name]] for name in ("clients", "rate", "side")] == [
        [int, int],
        [float, int],
        [str, str],
    ]
    load = found.factor["load"]
    assert isinstance(load, dict)
    assert load["busy"].load == Load(command="./build/busy")


def test_what_is_left_out_has_its_default() -> None:
    found = study("[study.factor]\na = [1, 2]")
    assert found == Study(factor={"a": [1, 2]})
    assert (found.replicates, found.builds, found.iterations, found.order) == (5, None, None, 2)
    assert (found.benchmarks, found.responses, found.exclude, found.treatments) == (["*"], None, [], None)
    assert parse(source("")).study is None


TWO = '[study.factor]\na = [1, 2]\nb = ["x", "y"]\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[study]", "perfgate.toml:1: study: varies nothing: add [study.factor] with two settings or more of each factor"),
        # settings
        ("[study.factor]\na = 1", 'perfgate.toml:2: study.factor.a: expected a list of strings or numbers or a table, got 1; write e.g. a = ["..."]'),
        ("[study.factor]\na = [1]", "perfgate.toml:2: study.factor.a: has 1 setting: a factor has two or more"),
        ("[study.factor]\na = [1, 2, 1]", "perfgate.toml:2: study.factor.a: has the setting 1 twice"),
        ('[study.factor]\na = [1, "1"]', "perfgate.toml:2: study.factor.a: has the setting 1 twice"),
        ("[study.factor]\na = [1, nan]", "perfgate.toml:2: study.factor.a: nan is not a setting: write a finite number or a string"),
        ('[study.factor]\na = ["x", "y\\n"]', "perfgate.toml:2: study.factor.a: the setting 'y\\n' holds a control character"),
        ('[study.factor]\na = ["x", "{port}"]', 'perfgate.toml:2: study.factor.a: "{port}" holds {port}, which is replaced in commands, prefix and args only'),
        # names
        ('[study.factor]\n"1a" = [1, 2]', "perfgate.toml:2: study.factor.1a: is not a name of a factor: use letters, digits, _ and -, beginning with a letter or _"),
        *[(f"[study.factor]\n{name} = [1, 2]", f"perfgate.toml:2: study.factor.{name}: {{{name}}} already has a meaning in commands: choose another name") for name in ("seed", "output", "port")],
        ("[study.factor]\na-b = [1, 2]\nA_b = [1, 2]", "perfgate.toml:3: study.factor.A_b: a-b and A_b would both be PERFGATE_FACTOR_A_B: rename one of them"),
        *[(f"[study.factor]\nside = {settings}", 'perfgate.toml:2: study.factor.side: means the side that is measured: write side = ["base", "head"], or rename the factor') for settings in ('["left", "right"]', '["base"]', '["base", "head", "old"]', "{base = {}, head = {}}")],
        # what a setting gives
        ('[study.factor.a]\nx = {value = "{seed}"}\ny = {}', 'perfgate.toml:2: study.factor.a.x.value: "{seed}" holds {seed}, which is replaced in commands, prefix and args only'),
        ('[study.factor.a]\nx = {prefix = [""]}\ny = {}', "perfgate.toml:2: study.factor.a.x.prefix: begins with an empty word: name the program to start"),
        ('[study.factor.a]\nx = {args = ["\\u0000"]}\ny = {}', "perfgate.toml:2: study.factor.a.x.args[0]: holds a NUL character"),
        ('[study.factor.a]\nx = {env = {"A=B" = "1"}}\ny = {}', 'perfgate.toml:2: study.factor.a.x.env."A=B": is not a name of an environment variable: it is empty, or holds = or NUL'),
        ('[study.factor.a]\nx = {cpus = "3-1"}\ny = {}', 'perfgate.toml:2: study.factor.a.x.cpus: "3-1": 3-1 ends before it starts'),
        ('[study.factor.a]\nx = {service = {command = "s", ready = "udp:1"}}\ny = {}', 'perfgate.toml:2: study.factor.a.x.service.ready: "udp:1" begins with none of tcp:, http://, log:, command:'),
        # runners and sessions
        ("[study.factor.a]\nx = {session = []}\ny = {session = 1}", "perfgate.toml:2: study.factor.a.x.session: names no session: write a number, the first is 0"),
        ("[study.factor.a]\nx = {session = [1, 1]}\ny = {session = 0}", "perfgate.toml:2: study.factor.a.x.session: names a session twice"),
        *[(f"[study.factor.a]\nx = {{runner = {runner}}}\ny = {{runner = 'r'}}", 'perfgate.toml:2: study.factor.a.x.runner: names no runner: write "label", or ["label", "label"] that one runner has') for runner in ('""', "[]", '["a", " "]', '"a,b"')],
        ('[study.factor.a]\nx = {runner = "r", session = 0}\ny = {session = 1}', "perfgate.toml:2: study.factor.a.x: is bound to a runner and to a session: use one factor for runners and another for sessions"),
        ("[study.factor.a]\nx = {session = 0}\ny = {}", "perfgate.toml:3: study.factor.a.y: x is bound to a session and y to nothing: bind every setting of a factor alike"),
        ('[study.factor.a]\nx = {session = 0}\ny = {runner = "r"}', "perfgate.toml:3: study.factor.a.y: x is bound to a session and y to a runner: bind every setting of a factor alike"),
        ('[study.factor.a]\nx = {runner = "r"}\ny = {runner = "s"}\n[study.factor.b]\nz = {runner = "r"}\nw = {runner = "s"}', "perfgate.toml:1: study.factor.a: no job measures a=x, b=w, which are bound to different runners: leave them out with study.exclude"),
        ("[study.factor.a]\nx = {session = 0}\ny = {session = 1}\n[study.factor.b]\nz = {session = [0, 1]}\nw = {session = 0}", "perfgate.toml:1: study.factor.a: no job measures a=y, b=w, which are bound to different sessions: leave them out with study.exclude"),
        # what cannot be together
        ('[study.factor.a]\nx = {}\ny = {cpus = "0"}\n[study.factor.b]\nz = {}\nw = {cpus = "1"}', "perfgate.toml:4: study.factor.b: a=y, b=w both give cpus: leave them out with study.exclude, or give it in one factor"),
        ('[study.factor.a]\nx = {}\ny = {env = {K = "0"}}\n[study.factor.b]\nz = {}\nw = {env = {K = "1"}}', "perfgate.toml:4: study.factor.b: a=y, b=w both give env K: leave them out with study.exclude, or give it in one factor"),
        # counts
        (f"{TWO}[study]\nreplicates = 0", "perfgate.toml:5: study.replicates: expected a whole number of 1 or more, got 0; write e.g. replicates = 5"),
        (f"{TWO}[study]\nreplicates = 2\nbuilds = 3", "perfgate.toml:6: study.builds: 3 rounds cannot share 2 replicates: at most one build a replicate"),
        (f"{TWO}[study]\nbenchmarks = []", "perfgate.toml:5: study.benchmarks: names no benchmark, so nothing would be measured"),
        # combinations
        (f"{TWO}[study]\nexclude = [{{}}]", "perfgate.toml:5: study.exclude[0]: is empty, and would leave out every treatment"),
        (f"{TWO}[study]\nexclude = [{{aa = 1}}]", 'perfgate.toml:5: study.exclude[0]: "aa" is not a factor; did you mean "a"?'),
        (f'{TWO}[study]\nexclude = [{{a = "1"}}]', 'perfgate.toml:5: study.exclude[0]: "1" is not a setting of a; did you mean 1?'),
        (f"{TWO}[study]\nexclude = [{{a = 7}}]", "perfgate.toml:5: study.exclude[0]: 7 is not a setting of a; known here: 1, 2"),
        (f"{TWO}[study]\nexclude = [{{a = 1}}, {{a = 2.0}}]", "perfgate.toml:5: study.exclude: leaves no treatment: exclude fewer"),
        (f"{TWO}[study]\ntreatments = []", "perfgate.toml:5: study.treatments: is empty: list treatments, or leave the key out"),
        (f"{TWO}[study]\ntreatments = [{{a = 1}}]", "perfgate.toml:5: study.treatments[0]: names no setting of b: a treatment has one of every factor"),
        (f'{TWO}[study]\ntreatments = [{{a = 1, b = "x"}}, {{b = "x", a = 1.0}}]', "perfgate.toml:5: study.treatments[1]: is the same as study.treatments[0]"),
        ("[study.factor]\n" + "\n".join(f"a{i} = [1, 2]" for i in range(14)), "perfgate.toml:1: study.factor: 16384 treatments are more than 10000: take fewer factors or settings, or a study.fraction of them"),
        ('[[benchmark]]\nname = "s"\ncommand = "cd b && go test"\ninstrument = "go"\n[study.factor.a]\nx = {}\ny = {prefix = ["nice"]}', "perfgate.toml:3: benchmark[0].command: a prefix of [study.factor] cannot precede several shell commands: write a list"),
        ('[[benchmark]]\nname = "s"\ncommand = "x"\nservice = {command = "s", ready = "tcp:{a}"}\n[study.factor]\na = [0, 1]', 'perfgate.toml:4: benchmark[0].service.ready: "tcp:0": write tcp:{port}, tcp:8080 or tcp:HOST:8080'),
    ],
)  # fmt: skip
def test_errors(text: str, message: str) -> None:
    assert error(text) == message


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
    tables = json.loads(json.dumps(to_tables(config)))
    assert parse(from_tables(tables, "run"), lenient=True) == config
    # a setting is written as in the file, without what it does not give
    assert tables["study"]["factor"]["sched"]["other"] == {"value": "other"}
    without = json.loads(json.dumps(to_tables(Config())))
    assert parse(from_tables(without, "run"), lenient=True) == Config()


def test_a_later_version_may_have_written_keys_that_are_unknown() -> None:
    tables = {"study": {"factor": {"a": {"x": {"later": 1}, "y": {}}}, "another": 2}}
    assert (
        parse(from_tables(tables, "run"), lenient=True).study
        == parse(from_tables({"study": {"factor": {"a": {"x": {}, "y": {}}}}}, "run")).study
    )


def test_the_schema_accepts_the_example_and_refuses_what_is_no_design() -> None:
    schema = json_schema()
    validator = jsonschema.Draft202012Validator(schema)
    validator.validate(source(EXAMPLE).tables)
    wrong: list[object] = [
        {"factor": {"a": [1]}},
        {"factor": {"1a": [1, 2]}},
        {"factor": {"a": {"x": {}}}},
        {"factor": {"a": {"x": {"pre": []}, "y": {}}}},
        {"factor": {"a": [1, True]}},
        {"replicates": 0},
        {"exclude": [{"a": []}]},
    ]
    for bad in wrong:
        with pytest.raises(jsonschema.ValidationError):
            validator.validate({"study": bad})
    assert schema["$defs"]["Study"]["properties"]["budget"]["default"] == "1h"


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
    origins = {setting.key: setting.origin for setting in effective(settings)}
    assert origins["study.replicates"] == "option --set"
    assert origins["study.factor.clients"] == "head: perfgate.toml:6"
    assert origins["study.order"] == "default"
    assert {s.key: s.value for s in effective(resolve(NONE, NONE, rules="head"))}["study"] is None
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
