"""Every error names its file, its line and what to do, all of a file at once; the messages are literal on purpose."""

from pathlib import Path

import pytest

from gate.config.config_text import ConfigError
from gate.config.resolve import tables_of
from gate.config.wrong import closest
from tests.gate.config.reading import config, error
from tests.support.project import CONFIG, Project

METRIC = '[[benchmark]]\nname = "a"\ncommand = "x"\ninstrument = "values"\n[benchmark.metric.l]\n'
TWO = '[study.factor]\na = [1, 2]\nb = ["x", "y"]\n'
BENCHMARK = "[[benchmark]]\nname = 'a'\ncommand = 'true {n}'\n"
FACTOR = "[study.factor]\nn = [1, 2]\n"
READY = "[study.factor.NAME.SETTING.service] and [benchmark.service]"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[gate]\nthresold = "3%"', "perfgate.toml:2: gate.thresold: unknown key; did you mean threshold?"),
        ("[gate]\n\n# a comment\nthreshold = [\n  1,\n]", 'perfgate.toml:4: gate.threshold: expected a share such as "3%", got [1]'),
        ('[gate]\ninterval = "zz"', 'perfgate.toml:2: gate.interval: "zz" is not one of "auto", "fieller", "fieller-kj", "fieller-paired", "fieller-moderated", "paired", "paired-shared", "bootstrap", "bootstrap:RRN", "bootstrap:RNN", "bootstrap:FLAT", "bootstrap-bca", "bootstrap-bca:RRN", "bootstrap-bca:RNN", "bootstrap-bca:FLAT"'),
        ("[gate]\nconfidence = 95", "perfgate.toml:2: gate.confidence: expected a number below 1, got 95; write e.g. confidence = 0.95"),
        ('[plan]\nbuilds = "x"', 'perfgate.toml:2: plan.builds: expected a whole number or a table, got "x"; write e.g. builds = {min = 4}'),
        ('[gate]\ndetectable = "0%"', 'perfgate.toml:2: gate.detectable: write a size above 0, or "threshold"'),
        ('[gate]\ndetectable = "2%"', "perfgate.toml:2: gate.detectable: 2% is not above the threshold, so a change of this size could never show: write a larger one"),
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
        ('[build]\nwrite = ["a\\u0000"]', "perfgate.toml:2: build.write[0]: holds a NUL character"),
        ('[[override]]\nbenchmark = "a"\nmetric = "b"', 'perfgate.toml:1: override[0]: changes nothing; add e.g. threshold = "5%"'),
        ('[build]\nshare = ["../x"]', 'perfgate.toml:2: build.share: "../x" is not a path inside the project'),
        ('[build]\noverlay = ["/x"]', 'perfgate.toml:2: build.overlay: "/x" is not a path inside the project'),
        ('[build]\nartifacts = ["a/../../x"]', 'perfgate.toml:2: build.artifacts: "a/../../x" is not a path inside the project'),
        (
            '[gate]\nthreshold = 0\ninconclusive = "fail"',
            'perfgate.toml:3: gate.inconclusive: inconclusive = "fail" needs a threshold above 0: with 0 nothing is ever the same; or detectable = "10%"',
        ),
        *[
            (f'[[benchmark]]\nname = "a"\ncommand = "x {{port}}"\n{line}', f"perfgate.toml:4: benchmark[0].{message}")
            for line, message in [
                ('warmup = "no"', 'warmup: "no" is neither a whole number from 0 to 10,000,000 nor "auto"'),
                ('cpus = "one"', 'cpus: "one" is not a list of processors: write 0, 2-3 or 0,2'),
                ('column = "ms"', "column: is for the values instrument, not for spawn"),
                ('instrument = "hyperfin"', 'instrument: "hyperfin" is not an instrument; did you mean hyperfine?'),
                ('instrument = "zzz"', 'instrument: "zzz" is not an instrument; known: hyperfine, spawn, values, perf_stat, callgrind, pytest-benchmark, pyperf, google-benchmark, go, criterion, jmh, asv'),
                ('traits = {exact = true}', "traits: unknown key; did you mean metrics?"),
                ('format = "divan"', "format: is for the values instrument, not for spawn"),
                ('format = "divan"\ninstrument = "values"\ncolumn = "ms"', "format: cannot be used with column, which reads a CSV file"),
                ('format = "go"\ninstrument = "values"', 'format: "go" is not one of benchmark_js, catch2, divan, libtest, nanobench, values, vitest'),
                ("warmup = 99999999999999999999", 'warmup: 99999999999999999999 is neither a whole number from 0 to 10,000,000 nor "auto"'),
                ('timeout = "9000h"', "timeout: '9000h' is longer than a year"),
                ('against = ""', 'against: is empty; write e.g. against = "./program"'),
                ('service = {command = "s", ready = "udp:1"}', 'service.ready: "udp:1" begins with none of tcp:, http://, log:'),
                ('service = {command = "s", ready = "log:"}', 'service.ready: "log:" has nothing after the colon'),
                ('service = {command = "s", ready = "tcp:abc"}', 'service.ready: "tcp:abc": write tcp:{port}, tcp:8080 or tcp:HOST:8080'),
                ('load = "sleep 1"', 'load: expected a table, got "sleep 1"; write e.g. load = {command = "./build/load --port {port}"}'),
                ('load = {command = "x", cpus = "3-1"}', 'load.cpus: "3-1": 3-1 ends before it starts'),
                ('column = {success = "ok"}\ninstrument = "values"', 'column: needs the key value; write e.g. value = "..."'),
                ('column = ""\ninstrument = "values"', "column: is empty: name a column of the header line"),
                ('service = {command = "s"}', 'service: needs ready = "tcp:PORT", "http://..." or "log:TEXT", which shows that it is up'),
                ('cleanup = "x"\ninstrument = "values"', "cleanup: is for spawn, which starts the command itself, not for values"),
                ('include = ["a*"]', "include: is for suites (pytest-benchmark, pyperf, google-benchmark, go, criterion, jmh, and values), not for spawn"),
            ]
        ],
        (
            '[[benchmark]]\nname = "a"\ncommand = "x"\ninstrument = "go"\n[[benchmark]]\nname = "a/b"\ncommand = "x"',
            'perfgate.toml:6: benchmark[1].name: "a/b" could be one that the suite "a" names: choose another name',
        ),
        ("[plan]\nbuilds = " + "1" * 5000, "perfgate.toml: cannot be read: Exceeds the limit (4300 digits) for integer string conversion: value has 5000 digits"),
        ("[plan]\nbuilds = " + "[" * 5000, "perfgate.toml: cannot be read: maximum recursion depth exceeded"),
        ("[plan]\nbudget = " + "1" * 400, "perfgate.toml:2: plan.budget: a number of that many digits is out of range"),
        ("x = [", "perfgate.toml:1: not valid TOML: Invalid value (`x`)"),
        ("[gate]\nwarn = 1\nwarn = 2", "perfgate.toml:3: not valid TOML: Cannot overwrite a value (`warn`)"),
        ("[gate]\n[plan]\n[gate]", "perfgate.toml:3: not valid TOML: Cannot declare ('gate',) twice (`[gate]`)"),
        ('a = 1\n\nb = """x\n\n', "perfgate.toml:4: not valid TOML: Unterminated string"),
        # [study]
        ("[study]", "perfgate.toml:1: study: varies nothing: add [study.factor] with two settings or more of each factor"),
        # settings
        ("[study.factor]\na = 1", 'perfgate.toml:2: study.factor.a: expected a list of strings or numbers or a table, got 1; write e.g. a = ["..."]'),
        ("[study.factor]\na = [1]", "perfgate.toml:2: study.factor.a: has 1 setting: a factor has two or more"),
        ("[study.factor]\na = [1, 2, 1]", "perfgate.toml:2: study.factor.a: has the setting 1 twice"),
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
        ('[study.factor.a]\nx = {env = {"A=B" = "1"}}\ny = {}', 'perfgate.toml:2: study.factor.a.x.env."A=B": is not a name of an environment variable: it is empty, or holds = or NUL'),
        # runners and sessions
        ("[study.factor.a]\nx = {session = []}\ny = {session = 1}", "perfgate.toml:2: study.factor.a.x.session: names no session: write a number, the first is 0"),
        ("[study.factor.a]\nx = {session = [1, 1]}\ny = {session = 0}", "perfgate.toml:2: study.factor.a.x.session: names a session twice"),
        *[(f"[study.factor.a]\nx = {{runner = {runner}}}\ny = {{runner = 'r'}}", 'perfgate.toml:2: study.factor.a.x.runner: names no runner: write "label", or ["label", "label"] that one runner has') for runner in ('""', "[]", '["a", " "]', '"a,b"')],
        ('[study.factor.a]\nx = {runner = "r", session = 0}\ny = {session = 1}', "perfgate.toml:2: study.factor.a.x: is bound to a runner and to a session: use one factor for runners and another for sessions"),
        ("[study.factor.a]\nx = {session = 0}\ny = {}", "perfgate.toml:3: study.factor.a.y: x is bound to a session and y to nothing: bind every setting of a factor alike"),
        ('[study.factor.a]\nx = {runner = "r"}\ny = {runner = "s"}\n[study.factor.b]\nz = {runner = "r"}\nw = {runner = "s"}', "perfgate.toml:1: study.factor.a: no job measures a=x, b=w, which are bound to different runners: leave them out with study.exclude"),
        ("[study.factor.a]\nx = {session = 0}\ny = {session = 1}\n[study.factor.b]\nz = {session = [0, 1]}\nw = {session = 0}", "perfgate.toml:1: study.factor.a: no job measures a=y, b=w, which are bound to different sessions: leave them out with study.exclude"),
        # what cannot be together
        ('[study.factor.a]\nx = {}\ny = {cpus = "0"}\n[study.factor.b]\nz = {}\nw = {cpus = "1"}', "perfgate.toml:4: study.factor.b: a=y, b=w both give cpus: leave them out with study.exclude, or give it in one factor"),
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
        ('[[benchmark]]\nname = "s"\ncommand = "cd b && go test"\ninstrument = "go"\n[study.factor.a]\nx = {}\ny = {prefix = ["nice"]}', "perfgate.toml:3: benchmark[0].command: prefix of a cannot stand before more than a plain command: write it as a list"),
        ('[[benchmark]]\nname = "s"\ncommand = "x"\nservice = {command = "s", ready = "tcp:{a}"}\n[study.factor]\na = [0, 1]', 'perfgate.toml:4: benchmark[0].service.ready: "tcp:0": write tcp:{port}, tcp:8080 or tcp:HOST:8080'),
        # unknown keys: another spelling, a name of another tool, a key of another table
        *[
            (f"{BENCHMARK}[study]\n{key} = 3\n{FACTOR}", f"perfgate.toml:5: study.{key}: unknown key; {said}")
            for key, said in (
                *((key, f"did you mean {right}?") for key, right in (
                    ("Budget", "budget"), ("bduget", "budget"), ("factors", "factor"), ("treatment", "treatments"),
                )),
                ("sample_size", "write plan.builds, and plan.starts of each"),
                ("benchmark_max_time", "write plan.budget: how often is found out within it"),
                *((key, f"{key} is a key of {tables}") for key, tables in (
                    ("threshold", "[gate], [[override]] and [benchmark.metric.NAME]"), ("sessions", "[gate] and [plan]"),
                    ("warmup", "[[benchmark]]"), ("command", "[build] and [[benchmark]]"), ("ready", READY), ("artifacts", "[build]"),
                )),
            )
        ],
        (f"[studies]\n{BENCHMARK}", "perfgate.toml:1: studies: unknown key; did you mean study?"),
        (f"[factor]\nn = [1]\n{BENCHMARK}", "perfgate.toml:1: factor: unknown key; factor is a key of [study]"),
        (
            f"[plan]\nreplicates = 3\n{BENCHMARK}",
            "perfgate.toml:2: plan.replicates: unknown key; replicates is a key of [study]",
        ),
        (
            f"[gate]\nbuilds = 3\n{BENCHMARK}",
            "perfgate.toml:2: gate.builds: unknown key; builds is a key of [plan] and [study]",
        ),
        (
            f"{BENCHMARK}threshold = '3%'",
            ("perfgate.toml:4: benchmark[0].threshold: unknown key; threshold is a key of [benchmark.metric.NAME], [gate] "
            "and [[override]]"),
        ),
        (f"{BENCHMARK.replace('command', 'cmd')}", "perfgate.toml:3: benchmark[0].cmd: unknown key; did you mean command?"),
        (
            f'{BENCHMARK}[gate]\nshow = "never"',
            'perfgate.toml:5: gate.show: unknown key; write detectable = "threshold", or a size that must show',
        ),
        (
            f'{BENCHMARK}[plan]\npairing = "duet"',
            "perfgate.toml:5: plan.pairing: unknown key; base and head take turns: remove it",
        ),
        *[
            (
                f"{BENCHMARK}[study.factor]\nm = {{ a = {{ {key} = 1 }}, b = {{}} }}\nn = [1, 2]",
                f"perfgate.toml:5: study.factor.m.a.{key}: unknown key; did you mean {right}?",
            )
            for key, right in (
                ("environment", "env"), ("buildenv", "build_env"), ("server", "service"),
            )
        ],
        (
            f"{BENCHMARK}[study.factor]\nm = {{ a = {{ args = '-1' }}, b = {{}} }}\nn = [1, 2]",
            'perfgate.toml:5: study.factor.m.a.args: expected a list of strings, got "-1"; write e.g. args = ["-1"]',
        ),
    ],
)  # fmt: skip
def test_errors(text: str, message: str) -> None:
    assert error(text) == message


def test_what_is_like_nothing_gets_the_list() -> None:
    said = error(f"{BENCHMARK}[study]\ncolour = 3\n{FACTOR}")
    assert said.startswith("perfgate.toml:5: study.colour: unknown key; known here: factor, ")


@pytest.mark.parametrize(
    ("option", "why"),
    [
        ("study.replicats=3", "study.replicats: unknown key; did you mean replicates?"),
        (
            "plan.replicates=3",
            "plan.replicates: unknown key; replicates is a key of [study]",
        ),
        ("studdy.replicates=3", "did you mean study.replicates=3?"),
        ("replicats=3", "did you mean study.replicates=3?"),
        ("budget=1h", "did you mean plan.budget=1h or study.budget=1h?"),
        ("study.plan.builds=3", "did you mean plan.builds=3?"),
        ("study.budget", "did you mean study.budget=VALUE?"),
        ("benchmark.command=x", "write TABLE.KEY=VALUE, with a table of gate, plan, build, env, study, creep"),
        ("a.b.c.d=1", "write TABLE.KEY=VALUE, with a table of gate, plan, build, env, study, creep"),
    ],
)
def test_options(option: str, why: str) -> None:
    with pytest.raises(ConfigError) as caught:
        tables_of([option])
    assert str(caught.value) == f"--set {option}: {why}"


def test_what_is_suggested_is_right_and_not_merely_alike() -> None:
    assert tables_of(["study.factor={n = [1,2]}"]) == {"study": {"factor": {"n": [1, 2]}}}
    known = ["gate", "override", "accept", "plan", "build", "env", "benchmark", "study"]
    assert [closest(word, known) for word in ("factor", "time", "", "e")] == [None] * 4
    assert closest("ENVIRONMENT", known) == "env"


# --- all at once ------------------------------------------------------------------------------------------------------

WRONG = """\
[gate]
thresold = "3%"
confidence = 95

[plan]
executions = "many"
budget = "15 minuts"

[[benchmark]]
name = "a"

[[benchmark]]
name = "b"
command = "x"
timeout = -1
"""
LINES = [
    ":2: gate.thresold: unknown key; did you mean threshold?",
    ":3: gate.confidence: expected a number below 1, got 95; write e.g. confidence = 0.95",
    ':6: plan.executions: expected a whole number, got "many"; write e.g. executions = 5',
    ':7: plan.budget: \'minuts\' in \'15 minuts\' is not a unit of time: use "s", "m" or "h"',
    ':9: benchmark[0]: needs the key command; write e.g. command = "./build/app data.json"',
    ':15: benchmark[1].timeout: a time span is above 0, got -1: write "15m" or "90s"',
]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path / "project")
    made.bench(1.0)
    return made


def test_six_mistakes_are_six_lines(project: Project) -> None:
    project.write("perfgate.toml", WRONG)
    project.commit()
    for command in ("check", "config"):
        done = project.perfgate(command, "--base", "HEAD", "--head", "HEAD")
        assert (done.returncode, done.stdout) == (2, "")
        *found, last = done.stderr.splitlines()
        assert found == [f"perfgate: base and head: perfgate.toml{line}" for line in LINES]
        assert last == (
            "perfgate: to measure the change that fixes it, use --config perfgate.toml, which takes head's for both sides"
        )


def test_both_sides_and_every_option_are_told(project: Project) -> None:
    project.write("perfgate.toml", "[gate]\nx = 1\n")
    project.commit()
    project.write("perfgate.toml", CONFIG.replace("builds = 5", "builds = 0").replace("5%", "5x"))
    done = project.perfgate("check", "--base", "HEAD", "--set", "gate.familly=none", "--set", "plan.iterations=0")
    assert done.returncode == 2
    assert [line[:70] for line in done.stderr.splitlines()[:-1]] == [
        "perfgate: --set gate.familly=none: gate.familly: unknown key; did you mean family?"[:70],
        "perfgate: --set plan.iterations=0: plan.iterations: expected a whole number of 1 or more"[:70],
        "perfgate: base: perfgate.toml:2: gate.x: unknown key; known here: threshold, floor"[:70],
        "perfgate: head: perfgate.toml:2: gate.threshold: '5x' is not a share: write"[:70],
        "perfgate: head: perfgate.toml:6: plan.builds: expected a whole number of 1 or more"[:70],
    ]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        # a wrong key says nothing about the keys beside it, and what only follows from it is not told
        ('[[benchmark]]\nname = "a"\ncomand = "x"', ["benchmark[0].comand: unknown key; did you mean command?"]),
        (
            '[[benchmark]]\nname = "a"\ncommand = "x"\ninstrument = "value"\ncolumn = "ms"',
            ['benchmark[0].instrument: "value" is not an instrument; did you mean values?'],
        ),
        (
            '[[benchmark]]\nname = "a"\ncommand = "x"\nservice = {command = "s", ready = 8080}',
            ["benchmark[0].service.ready: expected a string, got 8080; write e.g. ready = \"...\""],
        ),
        (
            "[plan]\nbuilds = {max = 5}\n[study]\nreplicates = 0",
            [
                "plan.builds: needs the key min; write e.g. min = 4",
                "study.replicates: expected a whole number of 1 or more, got 0; write e.g. replicates = 5",
            ],
        ),
        # nor what keys that are right contradict
        (
            '[build]\nshare = ["../data"]\n[[benchmark]]\nname = "b"\ncommand = 3',
            ["benchmark[0].command: expected a string or a list of strings, got 3; write e.g. command = \"./build/app data.json\""],
        ),
    ],
)  # fmt: skip
def test_what_follows_from_a_mistake_is_not_a_second_one(text: str, lines: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        config(text)
    assert [str(each).split(": ", 1)[1] for each in caught.value.errors] == lines
