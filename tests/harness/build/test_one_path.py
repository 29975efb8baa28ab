"""Both sides at one path: equal sources give equal bytes, and a change is never taken for none."""

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gate.config.types import BuildTable
from gate.model import SIDES, Side
from harness.build.builder import TreeBuilder
from tests.harness.build.test_builder import builder_of, good
from tests.harness.conftest import Checkout
from tests.support.traced import needs_gcc

pytestmark = pytest.mark.endtoend

SOURCE = '#include <stdio.h>\nint main(void) { puts(__FILE__ " " __DATE__ " " __TIME__); return 0; }\n'


def files(directory: Path) -> dict[str, bytes]:
    paths = (path for path in directory.rglob("*") if path.is_file() and not path.is_symlink())
    return {str(path.relative_to(directory)): path.read_bytes() for path in paths}


def both(builder: TreeBuilder) -> dict[Side, dict[str, bytes]]:
    for side in SIDES:
        good(builder.build(side, 0, 5))
    return {side: files(builder.directory(side)) for side in SIDES}


def unequal(found: dict[Side, dict[str, bytes]]) -> set[str]:
    base, head = found["base"], found["head"]
    return {path for path in base.keys() | head.keys() if base.get(path) != head.get(path)}


@needs_gcc
def test_equal_sources_give_equal_bytes(checkout: Checkout) -> None:
    checkout.commit(main_dot_c=SOURCE, read="1")
    checkout.write(read="2")
    command = 'gcc -g -c "$PWD/main.c" && gcc -g -o app main.o && ar rc lib.a main.o'
    with builder_of(checkout, BuildTable(command=command)) as builder:
        found = both(builder)
        assert {"app", "lib.a", "main.o"} <= found["base"].keys()
        assert unequal(found) == {"read"}
        assert b"Jan  2 1980" in found["head"]["app"]


def test_what_make_finds_up_to_date_in_a_fresh_tree_is_not_made_again(checkout: Checkout) -> None:
    # a.c was generated and committed; nobody who clones has the generator
    checkout.commit(Makefile="app: a.c\n\tcp a.c app\na.c: z.y\n\tno-such-generator z.y\n", a_dot_c="1", z_dot_y="1")
    with builder_of(checkout, BuildTable(command="make", git="off")) as builder:
        assert both(builder)["head"]["app"] == b"1"


def test_outputs_in_a_shared_place_are_made_anew_for_the_other_side(checkout: Checkout) -> None:
    checkout.commit(_dot_gitignore="out/\n", Makefile="out/app: main\n\tcp main out/app\n", main="1")
    # what the user once built there is older than both trees
    checkout.write(main="2", out__app="0")
    for order in (SIDES, SIDES[::-1]):
        with builder_of(checkout, BuildTable(command="make && cp out/app app", share=["out"])) as builder:
            for side in order:
                good(builder.build(side, 0, 5))
            assert [(builder.directory(side) / "app").read_text() for side in SIDES] == ["1", "2"]


def test_git_finds_a_fresh_tree_clean(checkout: Checkout) -> None:
    checkout.commit(a="1", b__c="2")
    command = "git diff-index --quiet HEAD -- && git diff-files --quiet && touch clean"
    with builder_of(checkout, BuildTable(command=command, git="on")) as builder:
        assert "clean" in both(builder)["base"]


@pytest.mark.skipif(shutil.which("cmake") is None, reason="needs cmake")
def test_cmake_gives_equal_bytes(checkout: Checkout) -> None:
    lists = "cmake_minimum_required(VERSION 3.16)\nproject(x C)\nadd_library(core SHARED core.c)\n"
    lists += "add_executable(app main.c)\ntarget_link_libraries(app core)\n"
    checkout.commit(CMakeLists_dot_txt=lists, main_dot_c=SOURCE, core_dot_c="int f(void) { return 1; }\n", read="1")
    checkout.write(read="2")
    command = "cmake -B build -DCMAKE_BUILD_TYPE=Debug && cmake --build build"
    with builder_of(checkout, BuildTable(command=command, artifacts=["build/app"])) as builder:
        found = both(builder)
        assert str(builder.directory("base")).encode() in found["base"]["build/app"], "as its RPATH"
        assert not {path for path in unequal(found) if path.endswith(("app", ".so", ".o"))}


# as pip writes the scripts of packages
SCRIPT = r"""printf '#!%s/.venv/bin/python\nprint("ran")\n' "$PWD" > .venv/bin/pip; chmod +x .venv/bin/pip"""


@pytest.mark.parametrize(
    "setup",
    [
        f"{shlex.quote(sys.executable)} -m venv --without-pip .venv; {SCRIPT}",
        pytest.param(f"{shlex.quote(sys.executable)} -m venv .venv", marks=pytest.mark.nightly),
    ],
    ids=["without pip", "with pip"],
)
def test_a_virtual_environment_stands_on_both_sides(checkout: Checkout, setup: str) -> None:
    checkout.commit(a="1")
    checkout.write(a="2")
    table = BuildTable(setup=setup, command=".venv/bin/pip --version")
    with builder_of(checkout, table) as builder:
        assert unequal(both(builder)) == {"a"}
        for side in SIDES:
            script = builder.directory(side) / ".venv/bin/pip"
            assert str(script.parent) in script.read_text(encoding="utf-8")
            subprocess.run([script, "--version"], check=True, capture_output=True)
