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


def said(command: str | list[str], path: str, output: str = "/tmp/out put's", options: str = "") -> list[str]:
    """Start a command as an instrument would, with options that a suite adds at its end."""
    argv = arguments(command, {"seed": "7", "output": output, "port": "80"})
    if options:
        argv = (*argv[:-1], f"{argv[-1].rstrip()} {options}")
    done = subprocess.run(argv, env={"PATH": path}, input="typed\n", capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("command", "lines"),
    [
        # simple: the prefix stands before it
        ("show a 'b c'", ["mark it's", "[a][b c][--x=y z]"]),
        ("show {seed} {output}\n", ["mark it's", "[7][/tmp/out put's][--x=y z]"]),
        # several: the prefix holds for all of it, and the words go to the last
        ("show a; show b", ["mark it's", "[a]", "[b][--x=y z]"]),
        ("A=1; show \"$A\" '$A' {seed} {port}", ["mark it's", "[1][$A][7][80][--x=y z]"]),
        ("A=1 show it\\'s", ["mark it's", "[it's][--x=y z]"]),
        ("cd / && show $(pwd)", ["mark it's", "[/][--x=y z]"]),
        ("for i in 1 2; do show $i; done; show", ["mark it's", "[1]", "[2]", "[--x=y z]"]),
        ("# a comment\nshow a\n", ["mark it's", "[a][--x=y z]"]),
        # with {output}, which is quoted for the shell once
        ("true && show {output}", ["mark it's", "[/tmp/out put's][--x=y z]"]),
        ("show \"$(echo 'it)' \\\" PERFGATE)\" ; show {output} {seed}", ["mark it's", '[it) " PERFGATE]', "[/tmp/out put's][7][--x=y z]"]),
        # standard input is what it was
        ("read line; show \"$line\"", ["mark it's", "[typed][--x=y z]"]),
        ("read line; show \"$line\" {output}", ["mark it's", "[typed][/tmp/out put's][--x=y z]"]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("suite", [False, True])
def test_a_string_with_a_prefix_and_arguments(command: str, lines: list[str], suite: bool, path: str) -> None:
    assert said(extended(command, ["mark", "it's"], ["--x=y z"], suite=suite), path) == lines
    without = said(extended(command, [], ["--x=y z"], suite=suite), path)
    assert without == lines[1:]
    assert extended(command, [], [], suite=suite) == command


@pytest.mark.parametrize("command", ["show a", "show b; show a", "cd /; show a\n"])
def test_a_suites_options_come_behind_the_arguments(command: str, path: str) -> None:
    made = extended(command, ["mark", "1"], ["--x"], suite=True)
    assert said(made, path, options="--json='a b'")[-1] == "[a][--x][--json=a b]"


def test_words_may_hold_what_is_replaced_later(path: str) -> None:
    for command, shown in (("show", "[--o=/tmp/out put's]"), ("true; show", "[--o=/tmp/out put's]")):
        made = extended(command, ["mark", "a{seed}'s"], ["--o={output}", "", "{port}"], suite=False)
        assert said(made, path) == ["mark a7's", f"{shown}[][80]"]


def test_a_list_is_a_list(path: str) -> None:
    made = extended(["show", "a b"], ["mark", "it's"], ["{seed}"], suite=False)
    assert made == ["mark", "it's", "show", "a b", "{seed}"]
    assert said(made, path) == ["mark it's", "[a b][7]"]


def test_the_exit_code_and_a_signal_are_the_commands_own(path: str) -> None:
    for command in ("false", "exit 3", "exit 3 # {output}", "kill -9 $$"):
        codes = [
            subprocess.run(
                arguments(extended(command, prefix, [], suite=False), {"seed": "7", "output": "o", "port": "80"}),
                env={"PATH": path},
                capture_output=True,
                check=False,
            ).returncode
            for prefix in ([], ["mark", "1"])
        ]
        assert codes[0] == codes[1] != 0


def test_no_shell_waits_beside_the_command(path: str) -> None:
    argv = arguments(extended("echo $PPID; true", ["mark", "1"], [], suite=False), {"seed": "7"})
    done = subprocess.run(argv, env={"PATH": path}, capture_output=True, text=True, check=False)
    # the parent of the inner shell is this process: the outer one and the prefix have become it
    assert done.stdout.splitlines() == ["mark 1", str(os.getpid())]


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
