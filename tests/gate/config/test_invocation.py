"""Commands with words before and behind: what the programs get, by a real shell, as the instruments start it."""

import os
import subprocess
from pathlib import Path

import pytest

from gate.config.commands import extended, is_simple
from harness.instruments.protocol import arguments


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


def test_words_may_hold_what_is_replaced_later(path: str) -> None:
    made = extended("show", ["mark", "a{seed}'s"], ["--o={output}", "", "{port}"])
    assert said(made, path) == ["mark a7's", "[--o=/tmp/out put's][][80]"]


def test_a_list_is_a_list(path: str) -> None:
    made = extended(["show", "a b"], ["mark", "it's"], ["{seed}"])
    assert made == ["mark", "it's", "show", "a b", "{seed}"]
    assert said(made, path) == ["mark it's", "[a b][7]"]


@pytest.mark.parametrize(
    ("command", "simple"),
    [
        ("./x a b", True),
        ("  cargo bench --bench 'x y'", True),
        ("./x > {output}", True),
        ("./x $HOME", True),
        ("", False),
        ("A=1 ./x", False),
        ("$X a", False),
        ("'./a b' c", False),
        ("cd x", False),
        ("./x > /dev/null 2>&1", True),
        ("./x &", False),
        ("./x &> y", False),
        ("./x && y", False),
        ("echo x", False),
        ("./x | y", False),
        ("./x $(y)", False),
        ("./x `y`", False),
        ("a\nb", False),
        ("! ./x", False),
        ("if x", False),
    ],
)
def test_what_is_surely_one_command(command: str, simple: bool) -> None:
    assert is_simple(command) == simple
