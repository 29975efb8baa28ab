"""Builds after the first link again what it has compiled: real compilers, real builds, and all that must stop it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from gate.config.types import BuildTable
from gate.model import Build
from harness.build.builder import TreeBuilder
from harness.build.perturb import make_shims
from tests.harness.build.test_builder import builder_of, good

if TYPE_CHECKING:
    from tests.harness.conftest import Checkout

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the linker is put in order on Linux only"),
    pytest.mark.skipif(shutil.which("gcc") is None, reason="absent: gcc (nothing was linked)"),
]

NAMES = "abcdef"
FILES = {
    **{f"{name}.c": f"int {name}(int x) {{ return x + {number}; }}\n" for number, name in enumerate(NAMES)},
    "main.c": "".join(f"int {name}(int);\n" for name in NAMES)
    + f"int main(void) {{ return {' + '.join(f'{name}(0)' for name in NAMES)} - 15; }}\n",
    "Makefile": "app: main.o a.o b.o c.o d.o e.o f.o\n\tgcc -o $@ $^\nclean:\n\trm -f *.o app\n",
}
OBJECTS = "main.o a.o b.o c.o d.o e.o f.o"


@contextmanager
def relinking(
    checkout: Checkout,
    tmp_path: Path,
    command: str = "make clean app",
    artifacts: tuple[str, ...] = ("app",),
    **table: Any,
) -> Iterator[TreeBuilder]:
    shims = tmp_path / "shims"
    make_shims(shims, os.environ, go=False)
    built = BuildTable(command=f"echo x >> ../ran-head; {command}", artifacts=list(artifacts), **table)
    with builder_of(checkout, built, shims=shims) as builder:
        yield builder


def full_builds(builder: TreeBuilder) -> int:
    return len((builder.directory("head").parent / "ran-head").read_text().splitlines())


def builds(builder: TreeBuilder, count: int = 6) -> list[Build]:
    made = [good(builder.build("head", number, number + 1)) for number in range(count)]
    assert len({build.artifacts.get("app") for build in made}) > 1 or not made[0].artifacts
    return made


def test_a_trial_that_links_to_nowhere_is_no_link_of_the_build(checkout: Checkout, tmp_path: Path) -> None:
    checkout.commit(**FILES)
    trial = "echo 'int main(void) { return 0; }' | gcc -x c - -o /dev/null"
    with relinking(checkout, tmp_path, f"{trial} && make clean app") as builder:
        assert [build.relinked for build in builds(builder, 3)] == [False, True, True]


def test_later_builds_link_again(checkout: Checkout, tmp_path: Path) -> None:
    checkout.commit(**FILES)
    with relinking(checkout, tmp_path) as builder:
        made = builds(builder)
        assert [build.relinked for build in made] == [False, True, True, True, True, True]
        assert [build.full for build in made] == [None] * 6
        assert {build.ordered for build in made} == {"objects"}
        assert len({build.artifacts["app"] for build in made}) >= 5
        assert full_builds(builder) == 1
        # with a seed of before, the bytes of before
        assert good(builder.build("head", 6, 1)).artifacts == made[0].artifacts
