"""First builds of both sides at once: each at the common path, and never one that may have seen the other."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gate.config.types import BuildTable
from gate.model import SIDES
from gate.units import Duration
from harness.build import builder
from harness.build.builder import may_be_at_once, works_elsewhere
from harness.build.conditions import Recipe
from harness.build.perturb import make_shims
from harness.process.budget import Budget, BudgetEndedError
from harness.process.deadline import DeadlineError, deadline
from harness.process.process_groups import alive
from harness.sandbox.sandbox import namespaces
from tests.harness.build.test_builder import builder_of, good
from tests.harness.build.test_one_path import files, unequal
from tests.support.traced import needs_gcc

if TYPE_CHECKING:
    from tests.harness.conftest import Checkout

pytestmark = [
    pytest.mark.endtoend,
    pytest.mark.skipif("files" not in namespaces(), reason="this system refuses mount namespaces"),
]

# Each waits until the other has begun.
MEET = (
    'touch "$MEETING/$PERFGATE_SIDE"; n=0; '
    'until [ -e "$MEETING/base" ] && [ -e "$MEETING/head" ]; do sleep 0.05; n=$((n + 1)); [ $n -lt 200 ] || exit 1; done'
)


@pytest.fixture
def meeting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "meeting"
    place.mkdir()
    monkeypatch.setenv("MEETING", str(place))
    # tests may run where there is one processor
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
    return place


def log(meeting: Path) -> list[str]:
    return (meeting / "log").read_text().split()


@needs_gcc
def test_both_are_built_at_once_at_one_path(checkout: Checkout, meeting: Path) -> None:
    checkout.commit(main_dot_c="int main(void) { return 0; }\n", project__read="1")
    checkout.write(project__read="2")
    command = f'{MEET}; gcc -g -o app "$PWD/main.c"; pwd > where; env | grep -v "^PERFGATE\\|^PWD" | sort > seen; grep "Sig[BI]" /proc/self/status >> seen'
    table = BuildTable(setup=f"{MEET}; touch set-up", command=command, artifacts=["app"])
    with builder_of(checkout, table) as builder:
        begun: list[bool] = []
        builder.both(0, 5, {}, lambda: begun.append(True))
        assert begun
        made = [good(builder.build(side, 0, 5)) for side in SIDES]
        assert [each.seed for each in made] == [5, 5]
        assert made[0].artifacts == made[1].artifacts
        assert all((each.seconds or 0) > 0 and (each.setup or 0) > 0 for each in made)
        found = {side: files(builder.directory(side)) for side in SIDES}
        assert unequal(found) == {"project/read"}
        assert found["head"]["where"].decode().strip() == str(builder.directory("head"))
        # what is built later, alone, sees the same
        good(builder.build("head", 1, 5))
        assert (builder.directory("head") / "seen").read_bytes() == found["head"]["seen"]


@needs_gcc
def test_what_is_linked_again_was_built_at_once(checkout: Checkout, meeting: Path) -> None:
    units = {f"{name}_dot_c": f"int {name}(void) {{ return 1; }}\n" for name in "abcdef"}
    checkout.commit(main_dot_c="int main(void) { return 0; }\n", **units)
    command = f"{MEET}; echo built >> $MEETING/log; for unit in *.c; do gcc -c $unit || exit; done; gcc -o app *.o"
    make_shims(meeting / "shims", os.environ, go=False)
    with builder_of(checkout, BuildTable(command=command, artifacts=["app"]), shims=meeting / "shims") as builder:
        builder.both(0, 5)
        first = [good(builder.build(side, 0, 5)) for side in SIDES]
        assert [each.full for each in first] == [None, None]
        again = [good(builder.build(side, 1, 6)) for side in SIDES]
        assert [each.relinked for each in again] == [True, True]
        assert first[0].artifacts == first[1].artifacts != again[0].artifacts == again[1].artifacts
        assert log(meeting) == ["built"] * 2


def test_what_fails_in_a_namespace_is_built_alone(checkout: Checkout, meeting: Path) -> None:
    checkout.commit(a="1")
    outer = Path("/proc/self/ns/mnt").readlink()
    only_head = f'[ $PERFGATE_SIDE = base ] || [ "$(readlink /proc/self/ns/mnt)" = "{outer}" ] || exit 7'
    table = BuildTable(setup="echo $PERFGATE_SIDE >> $MEETING/log", command=f"echo >> dirt; {only_head}")
    with builder_of(checkout, table) as builder:
        builder.both(0, 5)
        for side in SIDES:
            assert not good(builder.build(side, 0, 5)).needs_git
            assert (builder.directory(side) / "dirt").read_text() == "\n"
    assert sorted(log(meeting)) == ["base", "head", "head"]


@pytest.mark.parametrize(
    "command",
    [
        # a server that compiles would work for the other side, too
        "sleep 60 & echo built >> $MEETING/log",
        (
            "(setsid sh -c 'touch $MEETING/server; sleep 60' &) & "
            "until [ -e $MEETING/server ]; do sleep 0.05; done; echo built >> $MEETING/log"
        ),
        # what works for a build without being in its namespace
        'echo built >> $MEETING/log; touch "/proc/$PPID/root$PWD/stray" && [ -e stray ]',
    ],
)
def test_builds_that_may_have_seen_each_other_are_made_again_alone(
    checkout: Checkout, meeting: Path, command: str
) -> None:
    checkout.commit(a="1")
    with builder_of(checkout, BuildTable(command=command)) as builder:
        builder.both(0, 5)
        for side in SIDES:
            good(builder.build(side, 0, 5))
    assert len(log(meeting)) == 4


def test_a_child_that_ends_with_its_parent_does_no_harm(checkout: Checkout, meeting: Path) -> None:
    checkout.commit(a="1")
    with builder_of(checkout, BuildTable(command="sleep 0.2 & echo built >> $MEETING/log")) as builder:
        builder.both(0, 5)
        for side in SIDES:
            good(builder.build(side, 0, 5))
    assert len(log(meeting)) == 2


@pytest.mark.endtoend
@needs_gcc
def test_links_outside_the_tree_are_made_alone(checkout: Checkout, meeting: Path) -> None:
    checkout.commit(Makefile="all:\n\techo built >> $$MEETING/log; gcc -o $$MEETING/app main.c; cp $$MEETING/app .\n")
    checkout.commit(main_dot_c="int main(void) { return 0; }\n")
    checkout.write(main_dot_c="int main(void) { return 1; }\n")
    make_shims(meeting / "shims", os.environ, go=False)
    with builder_of(checkout, BuildTable(command="make", artifacts=["app"]), shims=meeting / "shims") as builder:
        builder.both(0, 5)
        base, head = (good(builder.build(side, 0, 5)) for side in SIDES)
        assert base.artifacts != head.artifacts
    assert len(log(meeting)) == 4


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("Makefile", "OUT = /tmp/out\n", True),
        ("scripts/generate.py", 'open("/tmp/cache/gen.h", "w")', True),
        ("build.sh", "cp app $HOME/bin", True),
        ("tests/test_it.py", '"/tmp/x"', False),
        ("main.c", '"/tmp/x"', False),
        ("build.sh", "mktemp -d", False),
    ],
)
def test_scripts_that_work_elsewhere(tmp_path: Path, name: str, text: str, expected: bool) -> None:
    path = tmp_path / "tree" / name
    path.parent.mkdir(parents=True)
    path.write_text(text)
    assert works_elsewhere(tmp_path / "tree") is expected


def test_builds_in_one_place_outside_are_made_alone(checkout: Checkout, meeting: Path) -> None:
    # with a name of its own, since this machine is not only ours
    place = f"/tmp/{meeting.parent.parent.name}-{os.getpid()}"
    script = f"mkdir -p {place}; cp source {place}/made; sleep 0.3; cp {place}/made app; rm -r {place}\n"
    checkout.commit(source="1", build_dot_sh=script)
    checkout.write(source="2")
    with builder_of(checkout, BuildTable(command="sh build.sh")) as builder:
        begun: list[bool] = []
        builder.both(0, 5, {}, lambda: begun.append(True))
        assert not begun
        for side in SIDES:
            good(builder.build(side, 0, 5))
        assert [(builder.directory(side) / "app").read_text() for side in SIDES] == ["1", "2"]


@pytest.mark.parametrize("way", ["time-out", "budget", "interruption"])
def test_both_end(checkout: Checkout, meeting: Path, way: str) -> None:
    checkout.commit(a="1")
    command = "echo $$ >> $MEETING/log; sleep 60"
    table = BuildTable(command=command, timeout=Duration(3.0 if way == "time-out" else 50.0))
    budget = Budget(3.0) if way == "budget" else Budget()
    with builder_of(checkout, table, budget=budget) as builder:
        if way == "time-out":
            builder.both(0, 5)
        elif way == "budget":
            with pytest.raises(BudgetEndedError) as ended:
                builder.both(0, 5)
            assert ended.value.phase == "build"
            assert ended.value.seconds > 0
        else:
            with pytest.raises(DeadlineError), deadline(3.0):
                builder.both(0, 5)
        pids = [int(pid) for pid in log(meeting)]
        assert len(pids) == 2
        assert not any(alive(pid, None) for pid in pids)


def test_only_first_builds_are_made_at_once(checkout: Checkout, meeting: Path) -> None:
    checkout.commit(a="1")
    with builder_of(checkout, BuildTable(command="echo built >> $MEETING/log")) as builder:
        good(builder.build("base", 0, 5))
        builder.both(0, 5)
        builder.both(1, 6)
        assert log(meeting) == ["built"]
        good(builder.build("head", 0, 5))
        builder.both(1, 6)
        assert log(meeting) == ["built"] * 2


@pytest.mark.parametrize(
    ("table", "environment"),
    [
        (BuildTable(command="make", share=["out"]), {}),
        (BuildTable(command="./gradlew jar"), {}),
        (BuildTable(setup=["docker", "build", "."], command="make"), {}),
        (BuildTable(command="make OUT=/tmp/out"), {}),
        (BuildTable(command="cd ../other && make"), {}),
        (BuildTable(command='make install PREFIX="$HOME/.local"'), {}),
        (BuildTable(command="cargo build"), {"CARGO_TARGET_DIR": "/data/target"}),
        (BuildTable(command="cargo build"), {"RUSTC_WRAPPER": "/usr/bin/sccache"}),
        (BuildTable(command="cmake --build b"), {"CMAKE_C_COMPILER_LAUNCHER": "sccache"}),
        (BuildTable(), {}),
    ],
)
def test_what_is_built_one_after_the_other(table: BuildTable, environment: dict[str, str], meeting: Path) -> None:
    assert not may_be_at_once([Recipe(BuildTable(command="make"), {}), Recipe(table, environment)])


def test_usual_builds_are_made_at_once(meeting: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipes = [
        Recipe(BuildTable(command="./configure && make -j4 CC=/usr/bin/gcc-13"), {"CC": "ccache gcc"}),
        Recipe(BuildTable(setup="npm ci", command=["cargo", "build", "--release"]), {"CARGO_TARGET_DIR": "target"}),
    ]
    assert may_be_at_once(recipes)
    monkeypatch.setattr(builder, "namespaces", lambda: frozenset())
    assert not may_be_at_once(recipes)
