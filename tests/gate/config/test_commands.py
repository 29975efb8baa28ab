"""Commands of a study that would not do what its factors say: words behind a script, {factor} inside quotes."""

import json
from collections.abc import Iterator

import pytest

from tests.gate.config.reading import error, study

PLAIN = "[study.factor]\na = [0, 1]\nb = [0, 1]\n"
GIVING = '[study.factor.a]\nx = {}\ny = { args = ["--y"] }\n'


def benchmark(command: str | list[str], more: str = "") -> str:
    # a string of JSON is one of TOML
    return f'[[benchmark]]\nname = "s"\ncommand = {json.dumps(command)}\n{more}'


@pytest.mark.parametrize(
    "command",
    [
        "prog {output} | cat",
        "prog; true",
        "cd b && prog",
        "(prog)",
        "prog &",
        "prog # as it is",
        "prog\nprog",
        "f() { x",
    ],
)
def test_words_do_not_stand_behind_several_commands_or_a_comment(command: str) -> None:
    why = (
        "args of a cannot follow several shell commands or a comment: "
        "write the command as a list, or put {a} where it belongs"
    )
    assert error(benchmark(command) + GIVING) == f"perfgate.toml:3: benchmark[0].command: {why}"
    # where no setting has words, and in what the study does not measure, all of it stays
    assert study(benchmark(command) + PLAIN).factor
    assert study(f'{benchmark(command)}[study]\nbenchmarks = ["t"]\n{GIVING}').factor


@pytest.mark.parametrize(
    "command",
    [
        ["sh", "-c", "x; y"], "prog", "python3 -c 'a; b'", 'x "$(y; z | t)" > log 2>&1', "A=1 x $(nproc; true)", "x a#b",
        "x a\\;b", "\n x \\\n y \n", 'x "a # b" ${v#c}',
    ],
)  # fmt: skip
def test_words_stand_behind_one_command(command: str | list[str]) -> None:
    assert study(benchmark(command) + GIVING).factor


@pytest.mark.parametrize(
    "command",
    ['x "{a}"', "x '{a}' y", "x {b} \"it's {a}\"", 'x "$(y "{a}")"', "x # it's\ny '{a}'", 'x "\\"{a}\\""', "x '{a}", "x '\\' '{a}'"],
)  # fmt: skip
def test_a_factor_inside_quotes_is_refused(command: str) -> None:
    why = "{a} is inside quotes: remove them, perfgate quotes the value"
    assert error(benchmark(command) + PLAIN) == f"perfgate.toml:3: benchmark[0].command: {why}"


def places() -> Iterator[tuple[str, str]]:
    yield "[build]\ncommand = 'make \"{a}\"'\n" + PLAIN, "perfgate.toml:2: build.command"
    for key, path in (
        ("service = { command = 's \"{a}\"', ready = 'log:x' }", "service.command"),
        ("service = { command = 's', ready = 'command:t \"{a}\"' }", "service.ready"),
        ("load = { command = 'l \"{a}\"' }", "load.command"),
    ):
        yield benchmark("x", f"{key}\n") + PLAIN, f"perfgate.toml:4: benchmark[0].{path}"
        factor = f"[study.factor.l]\nx = {{}}\ny = {{ {key} }}\n[study.factor]\na = [0, 1]\n"
        yield factor, f"perfgate.toml:3: study.factor.l.y.{path}"


@pytest.mark.parametrize(("text", "path"), list(places()))
def test_every_command_is_looked_at(text: str, path: str) -> None:
    assert error(text) == f"{path}: {{a}} is inside quotes: remove them, perfgate quotes the value"


@pytest.mark.parametrize(
    "command",
    [
        # outside of them; and a $(...) in quotes begins anew
        "x {a} 'b'", 'x "$(y {a})"', 'x "$(y "b" {a})" "c"', "x it\\'s {a}", "x # it's\ny {a}", 'x "" {a}""',
        # no factor
        "x '{c}' \"{seed} {output} {side}\"",
        # no shell
        ["x", '"{a}"'],
    ],
)  # fmt: skip
def test_what_is_not_inside_quotes(command: str | list[str]) -> None:
    assert study(benchmark(command) + PLAIN + 'side = ["base", "head"]\n').factor
