"""The words of failures."""

from typing import Any

import msgspec

from gate.model import Commit, Failure
from gate.words.failures import grouped, heading, place, places, repeat, sentence, title
from tests.gate.report.examples import build_failure, run_facts


def test_a_failure_is_named_with_the_error_that_it_wrote() -> None:
    of: dict[str, Any] = {"kind": "execution", "benchmark": "gz", "side": "head", "factors": {"tool": "gzipp"}}
    for stderr, said in (
        ("", "exit 127"),
        ("\n", "exit 127"),
        ("cc x.c\nx.c:1:2: error: no\nmake: *** Error 1\n", "x.c:1:2: error: no"),
        ("[ERROR] /tmp/perfgate-0268845c/tree/src/A.java:[1,29] no\n", "[ERROR] src/A.java:[1,29] no"),
        ("first\nsh: gzipp: not found\n\n", "sh: gzipp: not found"),
    ):
        failure = Failure(**of, status="exit 127", stderr=stderr)
        assert sentence(failure) == f"gz (tool=gzipp) failed on head: {said}"
    # what another build overwrote is named with that build
    why = "the build of head overwrote /x/app in round 1"
    outside = Failure(kind="outside", benchmark="app", side="base", build=0, status=why)
    assert sentence(outside) == f"app does not use what base built: {why}"


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


def test_a_failure_names_its_settings() -> None:
    failure = Failure(kind="execution", benchmark="x", side="head", build=1, execution=2, factors={"load": "busy"})
    assert place(failure) == "build 1, start 2, load=busy"
    assert title(failure) == "x (load=busy) failed on head"
    build = Failure(kind="build", side="head", build=1, factors={"opt": "O2", "n": 1}, status="exit 1")
    assert title(build) == "head does not build (opt=O2, n=1): exit 1"
    long = Failure(kind="build", side="head", factors={f"factor{n}": "x" * 100 for n in range(20)})
    assert len(title(long)) < 300
    assert title(build_failure(side=None)) == "a build failed: exit 2"


def test_a_group_of_failures_names_the_settings_that_all_of_them_have() -> None:
    each = [
        Failure(kind="execution", benchmark="x", side="head", build=0, execution=number, status="exit 3",
                factors={"load": "busy", "n": n})
        for number, n in enumerate((1, 8, 1))
    ]  # fmt: skip
    (mixed,) = grouped(each, by_output=False)
    assert heading(mixed) == "x (load=busy) failed on head: exit 3"
    assert places(mixed, 2) == "build 0, start 0, n=1; build 0, start 1, n=8; and 1 more"
    (alike,) = grouped([each[0], each[2]], by_output=False)
    assert heading(alike) == title(each[0]) == "x (load=busy, n=1) failed on head: exit 3"
    assert places(alike, 3) == "build 0, start 0; build 0, start 2"
    assert places(alike, 1, "round") == "round 0, start 0; and 1 more"


def test_steps_are_quoted_for_a_shell() -> None:
    failure = build_failure(directory="/a dir/x", environment={"A": "it's"}, command="make")
    run = run_facts(head=Commit(ref="slow", sha="9f8e7d6c5b4a3f2e1d0c", dirty=False))
    assert repeat(failure, run) == [
        'tree=$(mktemp -d) && git worktree add --detach "$tree" 9f8e7d6c5b4a',
        'cd "$tree/$(git rev-parse --show-prefix)"',
        "export A='it'\"'\"'s'",
        "make",
    ]
    # of changes that are in no commit there is the working tree
    assert repeat(failure, run_facts())[0] == "export A='it'\"'\"'s'"
    assert repeat(build_failure(command=None), run) == []


def test_names_that_no_shell_can_set_are_left_out_and_counted() -> None:
    failure = build_failure(directory=None, environment={"a | b": "x", "A-B": "", "C": "1"}, command="make")
    assert repeat(failure, run_facts()) == [
        "export C=1",
        "# left out: 2 variables whose name a shell cannot set",
        "make",
    ]
