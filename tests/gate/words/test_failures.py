"""The words of failures."""

from __future__ import annotations

import msgspec
import pytest

from gate.model import Commit, Failure
from gate.words.failures import repeat, sentence
from tests.gate.report.examples import run_facts


@pytest.mark.parametrize(
    ("stderr", "said"),
    [
        ("", "gz (tool=gzipp) failed on head: exit 127"),
        ("\n", "gz (tool=gzipp) failed on head: exit 127"),
        ("cc x.c\nx.c:1:2: error: no\nmake: *** Error 1\n", "gz (tool=gzipp) failed on head: x.c:1:2: error: no"),
        (
            "[ERROR] /tmp/perfgate-0268845c/tree/src/A.java:[1,29] no\n",
            "gz (tool=gzipp) failed on head: [ERROR] src/A.java:[1,29] no",
        ),
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
        directory="/x/base", environment={"PERFGATE_SEED": "7"},
    )  # fmt: skip
    table = {"setup": "set -e\ncp {x} y\n", "command": ["make", "seed={seed}"], "overlay": ["bench", "a b"]}
    run = run_facts(settings={"build": table}, head=Commit(ref="slow", sha="9f8e7d6c5b4a3f2e1d0c", dirty=False))
    begin = [
        'tree=$(mktemp -d) && git worktree add --detach "$tree" 1a2b3c4d5e6f',
        'cd "$tree/$(git rev-parse --show-prefix)"',
        "git checkout 9f8e7d6c5b4a -- bench 'a b'",
        "export PERFGATE_SEED=7",
    ]
    setup = ["(", "set -e", "cp {x} y", ")"]
    assert repeat(failure, run) == [*begin, *setup, "make seed=7", '"$PWD"/app']
    # a build that fails comes behind the set-up, and a set-up that fails behind nothing
    built = msgspec.structs.replace(failure, kind="build", command="make seed=9")
    assert repeat(built, run) == [*begin, *setup, "make seed=9"]
    assert repeat(msgspec.structs.replace(built, kind="setup", command="\n".join(setup)), run) == [*begin, *setup]
