"""Commands with words before and behind, by a real shell; and those of a study that would not do what its factors say."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from gate.config.commands import extended, is_simple
from harness.instruments.protocol import arguments
from tests.gate.config.reading import error, study


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A PATH with `show`, which prints its arguments in brackets, and with `mark`, which says that it ran and starts what follows it."""
    folder = tmp_path / "it's a bin"
    folder.mkdir()
    for name, script in {
        "show": "printf '[%s]' \"$@\"; echo",
        # as sudo does, it passes on no file but the standard ones
        "mark": 'echo "mark $1"; shift; exec "$@" 3<&-',
    }.items():
        file = folder / name
        file.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        file.chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def said(command: str | list[str], path: str) -> list[str]:
    """Start a command as an instrument would."""
    argv = arguments(command, {"seed": "7", "output": "/tmp/out put's", "port": "80"})
    done = subprocess.run(argv, env={"PATH": path}, input="typed\n", capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("command", "said_by_it"),
    [
        ("show a 'b c'", "[a][b c][--x=y z]"),
        ("show {seed} {output}\n", "[7][/tmp/out put's][--x=y z]"),
        ("show a; show b", "[b][--x=y z]"),
        ("A=1 show it\\'s", "[it's][--x=y z]"),
        ("cd / && show $(pwd)", "[/][--x=y z]"),
        ('read line; show "$line" {output}', "[typed][/tmp/out put's][--x=y z]"),
    ],
)
def test_a_string_with_a_prefix_and_arguments(command: str, said_by_it: str, path: str) -> None:
    assert said(extended(command, [], ["--x=y z"]), path)[-1] == said_by_it
    assert extended(command, [], []) == command
    if is_simple(command):
        assert said(extended(command, ["mark", "it's"], ["--x=y z"]), path) == ["mark it's", said_by_it]


def test_words_may_hold_what_is_replaced_later_and_a_list_is_a_list(path: str) -> None:
    made = extended("show", ["mark", "a{seed}'s"], ["--o={output}", "", "{port}"])
    assert said(made, path) == ["mark a7's", "[--o=/tmp/out put's][][80]"]
    made = extended(["show", "a b"], ["mark", "it's"], ["{seed}"])
    assert made == ["mark", "it's", "show", "a b", "{seed}"]
    assert said(made, path) == ["mark it's", "[a b][7]"]


@pytest.mark.parametrize(
    ("simple", "commands"),
    [
        (True, ["./x a b", "  cargo bench --bench 'x y'", "./x > {output}", "./x $HOME", "./x > /dev/null 2>&1"]),
        # what may be several, or none that a prefix starts
        (False, ["", "A=1 ./x", "$X a", "'./a b' c", "cd x", "./x &", "./x &> y", "./x && y", "echo x", "./x | y"]),
        (False, ["./x $(y)", "./x `y`", "a\nb", "! ./x", "if x"]),
    ],
)
def test_what_is_surely_one_command(simple: bool, commands: list[str]) -> None:
    assert {command: is_simple(command) for command in commands} == dict.fromkeys(commands, simple)


# --- of a study -------------------------------------------------------------------------------------------------------

PLAIN = "[study.factor]\na = [0, 1]\nb = [0, 1]\n"
GIVING = '[study.factor.a]\nx = {}\ny = { args = ["--y"] }\n'


def benchmark(command: str | list[str], more: str = "") -> str:
    # a string of JSON is one of TOML
    return f'[[benchmark]]\nname = "s"\ncommand = {json.dumps(command)}\n{more}'


@pytest.mark.parametrize("command", ["prog {output} | cat", "prog; true", "prog # as it is", "prog\nprog", "A=1 prog"])
def test_words_do_not_stand_beside_more_than_a_plain_command(command: str) -> None:
    why = "args of a cannot stand behind more than a plain command: write it as a list"
    assert error(benchmark(command) + GIVING) == f"perfgate.toml:3: benchmark[0].command: {why}"
    # where no setting has words, and in what the study does not measure, all of it stays
    assert study(benchmark(command) + PLAIN).factor
    assert study(f'{benchmark(command)}[study]\nbenchmarks = ["t"]\n{GIVING}').factor
    assert study(benchmark(["sh", "-c", command]) + GIVING).factor


@pytest.mark.parametrize(
    "command",
    ['x "{a}"', "x '{a}' y", "x {b} \"it's {a}\"", 'x "$(y "{a}")"', 'x "$(y {a})"', 'x "$(y "b" {a})" "c"', "x # it's\ny '{a}'", 'x "\\"{a}\\""', "x '{a}", "x '\\' '{a}'"],
)  # fmt: skip
def test_a_factor_inside_quotes_is_refused(command: str) -> None:
    why = "{a} is inside quotes: remove them, perfgate quotes the value"
    assert error(benchmark(command) + PLAIN) == f"perfgate.toml:3: benchmark[0].command: {why}"


@pytest.mark.parametrize(
    "command",
    [
        # outside of them
        "x {a} 'b'", "x it\\'s {a}", "x # it's\ny {a}", 'x "" {a}""',
        # no factor
        "x '{c}' \"{seed} {output} {side}\"",
        # no shell
        ["x", '"{a}"'],
    ],
)  # fmt: skip
def test_what_is_not_inside_quotes(command: str | list[str]) -> None:
    assert study(benchmark(command) + PLAIN + 'side = ["base", "head"]\n').factor
