"""What a failure may lack, by what its program said."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from gate.run.hints import kept_apart, out_of_sight, was_refused


@pytest.mark.parametrize(
    "told",
    [
        "sh: 1: cannot create /opt/x: Permission denied",
        "Error: EACCES: permission denied, mkdir '/opt/x'",
        "error: failed to rename: Invalid cross-device link (os error 18)",
        'sudo: The "no new privileges" flag is set, which prevents sudo from running as root.',
        "kill: (1) - Operation not permitted",
    ],
)
def test_what_programs_say_where_the_sandbox_refused_them(told: str) -> None:
    assert was_refused(told)


@pytest.mark.parametrize("told", ["", "error: could not compile `x`", "PERMANENT failure", "undefined: ACCESS"])
def test_other_failures(told: str) -> None:
    assert not was_refused(told)


@pytest.mark.parametrize(
    ("commands", "cure"),
    [
        (["npm ci", "cargo install --path ."], '--root "$PWD/inst"'),
        (["docker build -t app ."], "app:$PERFGATE_SIDE"),
        (["mkdir -p $PREFIX && cp app.py $PREFIX"], "what is there: write below `$PWD`"),
        ([], "`$PWD`"),
    ],
)
def test_how_a_build_writes_into_its_tree(commands: list[str], cure: str) -> None:
    assert cure in kept_apart(commands)


@pytest.mark.parametrize(
    "told",
    [
        "sh: 1: {}/tool: not found", "cat: {}/tool: No such file or directory", "open('{}/tool'): no such file\nx",
        "cc: error: {}/tool: No such file or directory",
    ],
)  # fmt: skip
def test_what_the_sandbox_covers(told: str) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        assert out_of_sight(told.format(folder)) is None
        Path(folder, "tool").touch()
        assert out_of_sight(told.format(folder)) == f"{folder}/tool"
        assert out_of_sight(f"wrote {folder}/tool\n") is None
