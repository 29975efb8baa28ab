"""The words of failures."""

from __future__ import annotations

import pytest

from gate.model import Failure
from gate.words.failures import repeat, sentence
from tests.gate.report.examples import run_facts


@pytest.mark.parametrize(
    ("stderr", "said"),
    [
        ("", "gz (tool=gzipp) failed on head: exit 127"),
        ("\n", "gz (tool=gzipp) failed on head: exit 127"),
        ("cc x.c\nx.c:1:2: error: no\nmake: *** Error 1\n", "gz (tool=gzipp) failed on head: x.c:1:2: error: no"),
        ("first\nsh: gzipp: not found\n\n", "gz (tool=gzipp) failed on head: sh: gzipp: not found"),
    ],
)
def test_a_failure_is_named_with_the_error_that_it_wrote(stderr: str, said: str) -> None:
    failure = Failure(
        kind="execution", benchmark="gz", side="head", factors={"tool": "gzipp"}, status="exit 127", stderr=stderr
    )
    assert sentence(failure) == said


def test_what_another_build_overwrote_is_named_with_that_build() -> None:
    failure = Failure(
        kind="outside", benchmark="app", side="base", build=0, status="the build of head overwrote /x/app in round 1"
    )
    assert sentence(failure) == "app does not use what base built: the build of head overwrote /x/app in round 1"


def test_a_start_is_repeated_in_a_tree_that_is_made_and_built_again() -> None:
    failure = Failure(
        kind="execution", benchmark="app", side="base", build=0, execution=0, status="exit 1", command="/x/base/app",
        directory="/x/base", environment={"PERFGATE_SIDE": "base"},
    )  # fmt: skip
    assert repeat(failure, run_facts()) == [
        "git worktree add --detach ../perfgate-base 1a2b3c4d5e6f",
        "cd ../perfgate-base",
        "make clean all",
        "export PERFGATE_SIDE=base",
        '"$PWD"/app',
    ]
