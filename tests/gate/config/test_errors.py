"""Every error names its file, its line and what to do, all of a file at once; the messages are literal on purpose."""

from pathlib import Path

import pytest

from gate.config.config_text import (
    ConfigError,
    line_of,
    project_source,
    read_source,
)
from gate.config.parse import parse
from gate.config.resolve import tables_of
from gate.config.types import Config, Detectable
from gate.config.wrong import closest
from gate.writing.units import Share
from tests.gate.config.reading import config, error
from tests.support.project import CONFIG, Project

CASES = (Path(__file__).parents[2] / "data/config/errors.txt").read_text(encoding="utf-8").split("----\n")
"""Each a file, and below it what is said of it."""


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rpartition("=> ")[2][:70].strip())
def test_errors(case: str) -> None:
    text, _, said = case.partition("=> ")
    assert error(text) == said.removesuffix("\n").replace("\n=> ", "\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[plan]\nbuilds = " + "1" * 5000, "perfgate.toml: cannot be read: Exceeds the limit (4300 digits) for integer string conversion: value has 5000 digits"),
        ("[plan]\nbuilds = " + "[" * 5000, "perfgate.toml: cannot be read: maximum recursion depth exceeded"),
        # without a newline at its end
        ('a = 1\n\nb = """x\n\n', "perfgate.toml:4: not valid TOML: Unterminated string"),
    ],
)  # fmt: skip
def test_texts_that_are_no_toml_at_all(text: str, message: str) -> None:
    assert error(text) == message


BENCHMARK = "[[benchmark]]\nname = 'a'\ncommand = 'true {n}'\n"
FACTOR = "[study.factor]\nn = [1, 2]\n"


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


# --- what a file says: the example of the design, defaults, places, pyproject.toml ------------------------------------


EXAMPLE = (Path(__file__).parents[2] / "data/config/gate.toml").read_text(encoding="utf-8")


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


OURS = '[gate]\nthreshold = "3%"\n'
TABLE = '[tool.perfgate.gate]\nthreshold = "3%"\n'


def test_one_of_two_configurations_is_refused() -> None:
    with pytest.raises(ConfigError, match="keep one of them"):
        project_source(OURS, TABLE)
