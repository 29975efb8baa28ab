"""Every error names its file, its line and what to do; the messages are literal on purpose."""

import msgspec
import pytest

from gate.config.config_text import ConfigError, line_of, project_source, read_source
from gate.config.parse import parse
from gate.config.types import Config, Detectable
from gate.units import Share
from tests.gate.config.reading import config, error

METRIC = '[[benchmark]]\nname = "a"\ncommand = "x"\ninstrument = "values"\n[benchmark.metric.l]\n'
EXAMPLE = """\
[gate]
threshold    = "3%"
floor        = "1us"
confidence   = 0.95
interval     = "auto"
family       = "holm"
inconclusive = "pass"
missing      = "fail"
min_builds   = 5

[[override]]
benchmark = "suite/parse-*"
threshold = "10%"

[[accept]]
benchmark = "encode"
up_to  = "8%"
until  = 2026-12-31
reason = "new checksum, see #123"

[plan]
builds = {min = 4, max = 12}
executions = 5
iterations = 10
budget = "15m"
metrics = ["time"]

[build]
setup     = "npm ci"
share     = ["data/"]
overlay   = ["bench/"]
command   = "make clean all"
artifacts = ["build/app"]
timeout   = "10m"

[env]
pass = ["LD_LIBRARY_PATH"]
set  = { LC_ALL = "C" }

[[benchmark]]
name       = "parse-large"
command    = ["./build/app", "parse", "data/large.json"]
instrument = "hyperfine"
warmup     = 1

[[benchmark]]
name       = "request"
command    = "./build/load --out {output}"
instrument = "values"
[benchmark.metric.latency]
unit = "s"
better = "lower"
statistics = ["mean"]
threshold = "5%"
exact = false
"""


@pytest.fixture(params=["as msgspec words it", "as a later msgspec words it"])
def words_of_msgspec(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    convert = msgspec.convert

    def reworded(raw: object, kind: type) -> object:
        try:
            return convert(raw, kind)
        except msgspec.ValidationError:
            raise msgspec.ValidationError("no") from None

    if request.param.startswith("as a later"):
        monkeypatch.setattr(msgspec, "convert", reworded)


def test_the_example_of_the_design() -> None:
    found = config(EXAMPLE)
    assert found.gate.threshold == 0.03
    assert float(found.plan.budget) == 900
    assert found.accept[0].until.isoformat() == "2026-12-31"
    assert found.env.pass_ == ["LD_LIBRARY_PATH"]
    assert found.benchmark[1].metric["latency"].threshold == 0.05


def test_an_empty_file_is_all_defaults() -> None:
    assert config("") == Config()
    assert config("\ufeff# with a byte order mark\r\n") == Config()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[gate]\nthresold = "3%"', "perfgate.toml:2: gate.thresold: unknown key; did you mean threshold?"),
        ("[gat]", "perfgate.toml:1: gat: unknown key; did you mean gate?"),
        ("[gate]\n\n# a comment\nthreshold = [\n  1,\n]", 'perfgate.toml:4: gate.threshold: expected a share such as "3%", got [1]'),
        ('[gate]\ninterval = "zz"', 'perfgate.toml:2: gate.interval: "zz" is not one of "auto", "fieller", "fieller-kj", "fieller-paired", "fieller-moderated", "paired", "paired-shared", "bootstrap", "bootstrap:RRN", "bootstrap:RNN", "bootstrap:FLAT", "bootstrap-bca", "bootstrap-bca:RRN", "bootstrap-bca:RNN", "bootstrap-bca:FLAT"'),
        ("[gate]\nconfidence = 95", "perfgate.toml:2: gate.confidence: expected a number below 1, got 95; write e.g. confidence = 0.95"),
        ('[plan]\nbuilds = "x"', 'perfgate.toml:2: plan.builds: expected a whole number or a table, got "x"; write e.g. builds = {min = 4}'),
        ('[gate]\ndetectable = "0%"', 'perfgate.toml:2: gate.detectable: write a size above 0, or "threshold"'),
        ('[gate]\ndetectable = "2%"', "perfgate.toml:2: gate.detectable: 2% is not above the threshold, so a change of this size could never show: write a larger one"),
        ('[[override]]\ndetectable = "2%"', "perfgate.toml:2: override[0].detectable: 2% is not above the threshold, so a change of this size could never show: write a larger one"),
        (
            '[gate]\nthreshold = 0\ninconclusive = "fail"\ndetectable = "10%"\n[[override]]\ndetectable = "threshold"',
            'perfgate.toml:6: override[0].detectable: inconclusive = "fail" needs a threshold above 0: with 0 nothing is ever the same; or detectable = "10%"',
        ),
        ('[[override]]\nthreshold = "5%"\ndetectable = "4%"', "perfgate.toml:3: override[0].detectable: 4% is not above the threshold, so a change of this size could never show: write a larger one"),
        ("[plan]\nbuilds = {min = 5, max = 4}", "perfgate.toml:2: plan.builds: min = 5 is above max = 4"),
        ("[plan]\nbuilds = {max = 5}", "perfgate.toml:2: plan.builds: needs the key min; write e.g. min = 4"),
        ("[plan]\nbuilds = {min = 1, max = 4}", "perfgate.toml:2: plan.builds.min: expected a whole number of 2 or more, got 1; write e.g. min = 4"),
        (METRIC + 'statistics = ["mean", "median"]', 'perfgate.toml:6: benchmark[0].metric.l.statistics: "median" is not a statistic: write mean, typical, p50, p99 or p99.9'),
        (METRIC + 'unit = "usec"', 'perfgate.toml:6: benchmark[0].metric.l.unit: "usec" is not a known unit: did you mean "us"?'),
        (METRIC + 'statistics = ["p0"]', 'perfgate.toml:6: benchmark[0].metric.l.statistics: "p0" is not a quantile: write p50, p99 or p99.9'),
        ("[plan]\nexecutions = 2.5", "perfgate.toml:2: plan.executions: expected a whole number, got 2.5; write e.g. executions = 5"),
        ("[plan]\nmetrics = [1]", 'perfgate.toml:2: plan.metrics: expected a list of strings, got [1]; write e.g. metrics = ["time"]'),
        ('[[accept]]\nbenchmark = "a"\nup_to = "8%"\nuntil = "soon"\nreason = "x"', 'perfgate.toml:4: accept[0].until: expected a date, got "soon"; write e.g. until = 2026-12-31'),
        ('[[accept]]\nbenchmark = "a"\nup_to = "8%"\nuntil = 2026-12-31\nreason = ""', 'perfgate.toml:5: accept[0].reason: is empty; write e.g. reason = "new checksum, see #123"'),
        ("[plan]\nbuilds = 0", "perfgate.toml:2: plan.builds: expected a whole number of 1 or more, got 0; write e.g. builds = {min = 4}"),
        ('[plan]\nbudget = "15x"', "perfgate.toml:2: plan.budget: 'x' in '15x' is not a unit of time: use \"s\", \"m\" or \"h\""),
        ("plan = 3", "perfgate.toml:1: plan: expected a table, got 3"),
        ("benchmark = 1", "perfgate.toml:1: benchmark: expected [[benchmark]] tables, got 1"),
        ('[[benchmark]]\nname = "a"', 'perfgate.toml:1: benchmark[0]: needs the key command; write e.g. command = "./build/app data.json"'),
        ('[[benchmark]]\nname = "a"\ncommand = " "', 'perfgate.toml:3: benchmark[0].command: is empty; write e.g. command = "./program"'),
        (
            '[[benchmark]]\nname = "a"\ncommand = "x"\n\n[[benchmark]]\nname = "a"\ncommand = "y"',
            'perfgate.toml:6: benchmark[1].name: "a" is already the name of benchmark[0]: choose another name',
        ),
        (
            '[[benchmark]]\nname = "a"\ncommand = "x"\n[benchmark.metric.time]\nexact = true',
            "perfgate.toml:4: benchmark[0].metric: spawn measures nothing exact; exact is for counts and sizes of the other instruments",
        ),
        ("[build]\nsetup = []", "perfgate.toml:2: build.setup: is empty; leave the key out, or write a command"),
        ('[build]\nrelink = " "', "perfgate.toml:2: build.relink: is empty; leave the key out, or write a command"),
        ('[build]\nwrite = ["a\\u0000"]', "perfgate.toml:2: build.write[0]: holds a NUL character"),
        ('[[override]]\nbenchmark = "a"\nmetric = "b"', 'perfgate.toml:1: override[0]: changes nothing; add e.g. threshold = "5%"'),
        ('[build]\nshare = ["../x"]', 'perfgate.toml:2: build.share: "../x" is not a path inside the project'),
        (
            '[gate]\nthreshold = 0\ninconclusive = "fail"',
            'perfgate.toml:3: gate.inconclusive: inconclusive = "fail" needs a threshold above 0: with 0 nothing is ever the same; or detectable = "10%"',
        ),
        *[
            (f'[[benchmark]]\nname = "a"\ncommand = "x {{port}}"\n{line}', f"perfgate.toml:4: benchmark[0].{message}")
            for line, message in [
                ('warmup = "no"', 'warmup: "no" is neither a whole number from 0 to 10,000,000 nor "auto"'),
                ("warmup = -1", 'warmup: -1 is neither a whole number from 0 to 10,000,000 nor "auto"'),
                ('cpus = "one"', 'cpus: "one" is not a list of processors: write 0, 2-3 or 0,2'),
                ('cpus = "0-100000"', 'cpus: "0-100000" is not a list of processors: write 0, 2-3 or 0,2'),
                ("priority = 30", "priority: expected a whole number of 19 or less, got 30; write e.g. priority = 0"),
                ('column = "ms"', "column: is for the values instrument, not for spawn"),
                ('instrument = "hyperfin"', 'instrument: "hyperfin" is not an instrument; did you mean hyperfine?'),
                ('instrument = "common"', 'instrument: "common" is not an instrument; known: hyperfine, spawn, values, perf_stat, callgrind, pytest-benchmark, pyperf, google-benchmark, go, criterion, jmh, asv'),
                ('instrument = "zzz"', 'instrument: "zzz" is not an instrument; known: hyperfine, spawn, values, perf_stat, callgrind, pytest-benchmark, pyperf, google-benchmark, go, criterion, jmh, asv'),
                ('traits = {exact = true}', "traits: unknown key; did you mean metrics?"),
                ('format = "hlog"', "format: is for the values instrument, not for spawn"),
                ('format = "hlog"\ninstrument = "values"\ncolumn = "ms"', "format: cannot be used with column, which reads a CSV file"),
                ('format = "go"\ninstrument = "values"', 'format: "go" is not one of benchmark_js, catch2, divan, hlog, libtest, nanobench, values, vitest'),
                ("warmup = 99999999999999999999", 'warmup: 99999999999999999999 is neither a whole number from 0 to 10,000,000 nor "auto"'),
                ('timeout = "9000h"', "timeout: '9000h' is longer than a year"),
                ('against = ""', 'against: is empty; write e.g. against = "./program"'),
                ('same_output = "a\\u0000"', "same_output: holds a NUL character"),
                ('load = {command = " "}', 'load.command: is empty; write e.g. command = "./program"'),
                ('service = {command = ["a\\u0000"], ready = "log:x"}', "service.command[0]: holds a NUL character"),
                ('service = {command = "s", ready = "udp:1"}', 'service.ready: "udp:1" begins with none of tcp:, http://, log:, command:'),
                ('service = {command = "s", ready = "log:"}', 'service.ready: "log:" has nothing after the colon'),
                ('service = {command = "s", ready = "tcp:abc"}', 'service.ready: "tcp:abc": write tcp:{port}, tcp:8080 or tcp:HOST:8080'),
                ('load = "sleep 1"', 'load: expected a table, got "sleep 1"; write e.g. load = {command = "./build/load --port {port}"}'),
                ('load = {command = "x", cpus = "3-1"}', 'load.cpus: "3-1": 3-1 ends before it starts'),
                ('success_column = "ok"', 'success_column: unknown key; write column = {value = "...", success = "..."}'),
                ('column = {success = "ok"}\ninstrument = "values"', 'column: needs the key value; write e.g. value = "..."'),
                ('column = ""\ninstrument = "values"', "column: is empty: name a column of the header line"),
                ('service = {command = "s"}', 'service: needs ready = "tcp:PORT", "http://...", "log:TEXT" or "command:...", which shows that it is up'),
                ('prepare = ""', 'prepare: is empty; write e.g. prepare = "./program"'),
                ('cleanup = "x"\ninstrument = "values"', "cleanup: is for spawn, which starts the command itself, not for values"),
                ('include = ["a*"]', "include: is for suites (pytest-benchmark, pyperf, google-benchmark, go, criterion, jmh, and values), not for spawn"),
                ('exclude = ["a*"]', "exclude: is for suites (pytest-benchmark, pyperf, google-benchmark, go, criterion, jmh, and values), not for spawn"),
            ]
        ],
        (
            '[[benchmark]]\nname = "a"\ncommand = "x"\ninstrument = "go"\n[[benchmark]]\nname = "a/b"\ncommand = "x"',
            'perfgate.toml:6: benchmark[1].name: "a/b" could be one that the suite "a" names: choose another name',
        ),
        ("[plan]\nbuilds = " + "1" * 5000, "perfgate.toml: cannot be read: Exceeds the limit (4300 digits) for integer string conversion: value has 5000 digits"),
        ("[plan]\nbuilds = " + "[" * 5000, "perfgate.toml: cannot be read: maximum recursion depth exceeded"),
        ("[plan]\nbudget = " + "1" * 400, "perfgate.toml:2: plan.budget: a number of that many digits is out of range"),
        ("[gate]\nthreshold = " + "1" * 400, "perfgate.toml:2: gate.threshold: a number of that many digits is out of range"),
        ("x = [", "perfgate.toml:1: not valid TOML: Invalid value (`x`)"),
        ("[gate]\nwarn = 1\nwarn = 2", "perfgate.toml:3: not valid TOML: Cannot overwrite a value (`warn`)"),
        ("[gate]\n[plan]\n[gate]", "perfgate.toml:3: not valid TOML: Cannot declare ('gate',) twice (`[gate]`)"),
        ('a = 1\n\nb = """x\n\n', "perfgate.toml:4: not valid TOML: Unterminated string"),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("words_of_msgspec")
def test_errors(text: str, message: str) -> None:
    assert error(text) == message


def test_a_place_is_the_line_where_the_statement_begins() -> None:
    text = '# top\n[a]\nx = """\ny\n"""\n\n# about z\nz = {b = 1}\n[[c]]\nd = 1\n[[c]]\n"e f" = 2\n'
    lines = [("a", "x"), ("a", "z", "b"), ("c", 0), ("c", 1, "e f"), ("nothing",)]
    assert [line_of(text, path) for path in lines] == [3, 8, 9, 12, None]


def test_pyproject_holds_the_same_keys() -> None:
    text = '[project]\nname = "x"\n\n[tool.perfgate.gate]\nthreshold = "x%"\n'
    source = project_source(None, text, "base")
    assert source is not None
    with pytest.raises(ConfigError, match=r"^base: pyproject.toml:5: gate.threshold: 'x%' is not a share: write "):
        parse(source)
    assert project_source(None, '[project]\nname = "perfgate"\n') is None
    with pytest.raises(ConfigError, match="keep one of them"):
        project_source("", text)


def test_a_threshold_of_0_may_stay_open_where_no_sign_is_enough() -> None:
    text = '[gate]\ninconclusive = "fail"\n[[override]]\nbenchmark = "a"\nthreshold = 0\ndetectable = "10%"\n'
    assert parse(read_source(text, "perfgate.toml")).override[0].detectable == Share(0.1)
    # an override that another one gives a smaller threshold
    # as `show` had it, which is read on
    old = parse(read_source(text.replace('detectable = "10%"', 'show = "no-sign"'), "perfgate.toml"))
    assert old == parse(read_source(text, "perfgate.toml"))
    assert parse(read_source('[gate]\nshow = "not-worse"\n', "perfgate.toml")).gate.detectable == Detectable(0)
    # the default, of a size that depends on the metric, where it does not have to win
    for line, size in (("", None), ('inconclusive = "fail"\n', Detectable(0.1))):
        assert parse(read_source(f'[gate]\nshow = "no-sign"\n{line}', "perfgate.toml")).gate.detectable == size
    large = parse(read_source('[gate]\nthreshold = "12%"\ninconclusive = "fail"\nshow = "no-sign"\n', "perfgate.toml"))
    other = parse(read_source('[gate]\nthreshold = "12%"\n[[override]]\nshow = "no-sign"\n', "perfgate.toml"))
    assert large.gate.detectable == other.override[0].detectable == Share(0.24)
    with pytest.raises(ConfigError, match=r'gate\.show: unknown key; write detectable = "threshold"'):
        parse(read_source('[gate]\nshow = "all"\n', "perfgate.toml"))
    text = '[[override]]\nthreshold = "1%"\n[[override]]\ndetectable = "2%"\n'
    assert parse(read_source(text, "perfgate.toml")).override[1].detectable == Share(0.02)
