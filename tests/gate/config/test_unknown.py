"""What is suggested in place of a key that there is not: the right one, whichever table has it."""

import pytest

from gate.config.config_text import ConfigError, read_source
from gate.config.parse import parse
from gate.config.resolve import tables_of
from gate.config.wrong import closest

BENCHMARK = "[[benchmark]]\nname = 'a'\ncommand = 'true {n}'\n"
FACTOR = "[study.factor]\nn = [1, 2]\n"


def said(text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        parse(read_source(text, "perfgate.toml"))
    (error,) = caught.value.errors
    return str(error)


def of_study(line: str) -> str:
    text = said(f"{BENCHMARK}[study]\n{line} = 3\n{FACTOR}")
    start = f"perfgate.toml:5: study.{line}: unknown key; "
    assert text.startswith(start)
    return text.removeprefix(start)


@pytest.mark.parametrize(
    ("key", "right"),
    [
        ("budjet", "budget"), ("Budget", "budget"), ("bduget", "budget"), ("replicate", "replicates"),
        ("replicats", "replicates"), ("factors", "factor"), ("excludes", "exclude"),
        ("treatment", "treatments"), ("response", "responses"), ("benchmark", "benchmarks"), ("iteration", "iterations"),
    ],
)  # fmt: skip
def test_another_spelling(key: str, right: str) -> None:
    assert of_study(key) == f"did you mean {right}?"


def test_names_of_other_tools() -> None:
    assert of_study("sample_size") == "write plan.builds, and plan.starts of each"
    assert of_study("benchmark_max_time") == "write plan.budget: how often is found out within it"


@pytest.mark.parametrize(
    ("key", "tables"),
    [
        ("threshold", "[gate], [[override]] and [benchmark.metric.NAME]"), ("sessions", "[gate] and [plan]"),
        ("warmup", "[[benchmark]]"), ("command", "[build] and [[benchmark]]"), ("ready", None),
        ("artifacts", "[build]"),
    ],
)  # fmt: skip
def test_a_key_of_another_table(key: str, tables: str | None) -> None:
    tables = tables or "[study.factor.NAME.SETTING.service] and [benchmark.service]"
    assert of_study(key) == f"{key} is a key of {tables}"


@pytest.mark.parametrize("key", ["seed", "randomize", "x", "colour"])
def test_what_is_like_nothing_gets_the_list(key: str) -> None:
    assert of_study(key).startswith("known here: factor, ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"[studies]\n{BENCHMARK}", "perfgate.toml:1: studies: unknown key; did you mean study?"),
        (f"[stduy]\n{BENCHMARK}", "perfgate.toml:1: stduy: unknown key; did you mean study?"),
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
            f"{BENCHMARK}[study]\ngate = true\n{FACTOR}",
            ("perfgate.toml:5: study.gate: unknown key; the gate decides without factors: remove it, and run "
            "`perfgate study` to measure them"),
        ),
        (
            f"{BENCHMARK}[plan]\nauto = true",
            ("perfgate.toml:5: plan.auto: unknown key; a plan uses its budget: remove it, or write the [plan] that "
            "`perfgate plan` prints"),
        ),
        (
            f"{BENCHMARK}[gate]\nresampling = 'RNN'",
            'perfgate.toml:5: gate.resampling: unknown key; write it behind the interval: interval = "bootstrap:RRN"',
        ),
        (
            f'{BENCHMARK}[gate]\nshow = "never"',
            'perfgate.toml:5: gate.show: unknown key; write detectable = "threshold", or a size that must show',
        ),
        (
            f'{BENCHMARK}[plan]\npairing = "duet"',
            "perfgate.toml:5: plan.pairing: unknown key; base and head take turns: remove it",
        ),
    ],
)  # fmt: skip
def test_whole_messages(text: str, message: str) -> None:
    assert said(text) == message


@pytest.mark.parametrize(
    ("key", "instead"),
    [
        ("environment", "did you mean env?"), ("buildenv", "did you mean build_env?"), ("arg", "did you mean args?"),
        ("cpu", "did you mean cpus?"), ("server", "did you mean service?"),
    ],
)  # fmt: skip
def test_keys_of_a_setting(key: str, instead: str) -> None:
    text = said(f"{BENCHMARK}[study.factor]\nm = {{ a = {{ {key} = 1 }}, b = {{}} }}\nn = [1, 2]")
    assert text == f"perfgate.toml:5: study.factor.m.a.{key}: unknown key; {instead}"


def test_a_list_is_shown_with_the_value_that_was_given() -> None:
    text = said(f"{BENCHMARK}[study.factor]\nm = {{ a = {{ args = '-1' }}, b = {{}} }}\nn = [1, 2]")
    assert text.endswith('expected a list of strings, got "-1"; write e.g. args = ["-1"]')


@pytest.mark.parametrize(
    ("option", "why"),
    [
        ("study.replicats=3", "study.replicats: unknown key; did you mean replicates?"),
        (
            "plan.replicates=3",
            "plan.replicates: unknown key; replicates is a key of [study]",
        ),
        ("studdy.replicates=3", "did you mean study.replicates=3?"),
        ("replicates=3", "did you mean study.replicates=3?"),
        ("replicats=3", "did you mean study.replicates=3?"),
        ("budget=1h", "did you mean plan.budget=1h or study.budget=1h?"),
        ("study.plan.builds=3", "did you mean plan.builds=3?"),
        ("study.budget", "did you mean study.budget=VALUE?"),
        ("benchmark.command=x", "write TABLE.KEY=VALUE, with a table of gate, plan, build, env, study, creep"),
        ("=", "write TABLE.KEY=VALUE, with a table of gate, plan, build, env, study, creep"),
        ("a.b.c.d=1", "write TABLE.KEY=VALUE, with a table of gate, plan, build, env, study, creep"),
    ],
)
def test_options(option: str, why: str) -> None:
    with pytest.raises(ConfigError) as caught:
        tables_of([option])
    assert str(caught.value) == f"--set {option}: {why}"


def test_what_is_suggested_for_an_option_is_right() -> None:
    assert tables_of(["study.factor={n = [1,2]}"]) == {"study": {"factor": {"n": [1, 2]}}}


def test_words_that_are_merely_alike_are_not_suggested() -> None:
    known = ["gate", "override", "accept", "plan", "build", "env", "benchmark", "study"]
    assert closest("factor", known) is None
    assert closest("time", known) is None
    assert closest("", known) is None
    assert closest("e", known) is None
    assert closest("ENVIRONMENT", known) == "env"
