"""Public projects that benchmarks build: where they are, how they are built, what comes out and what that runs."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gate.config.types import BuildTable
from gate.model import SIDES, Build, Side
from gate.writing.units import Duration
from harness.build.builder import TreeBuilder
from harness.build.conditions import Conditions, Recipe
from harness.build.perturb import make_shims
from harness.process.execute import ProcessExecutor
from harness.source.base_and_head import resolve
from harness.source.repository import find_repository
from harness.source.trees import open_trees

TIMEOUT = Duration(1800)


@dataclass(frozen=True)
class Project:
    """A public project, and the program that is measured."""

    url: str
    commit: str
    command: str
    artifact: str
    run: tuple[str, ...]
    setup: str | None = None
    prepare: str = "true"
    """Makes the input "data" of the program, once."""


LUA = Project(
    "https://github.com/lua/lua",
    "53b41d0cddd80bf33fdc631bdd32e3ba53842b89",
    'rm -f ./*.o lua; for f in l*.c; do echo "$f"; done | grep -v ltests | '
    "xargs -n 1 -P 2 gcc -std=c99 -O2 -DLUA_USE_LINUX -c && gcc -o lua ./*.o -Wl,-E -lm -ldl",
    "lua",
    ("{artifact}", "{data}"),
    prepare="echo 'local function fib(n) return n < 2 and n or fib(n-1) + fib(n-2) end "
    'local t = {{}} for i = 1, 2e5 do t[i % 97] = (("x"):rep(i % 9) .. i):gsub("1", "2") end fib(24)\' > {data}',
)
LZ4 = Project(
    "https://github.com/lz4/lz4",
    "d9c01a3d49114dc28e2dfbbc0a8990e88be7b694",
    "make -C programs clean && make -C programs -j2 lz4",
    "programs/lz4",
    ("{artifact}", "-9", "-c", "{data}"),
    prepare="cat lib/*.c lib/*.h programs/*.c programs/*.h tests/*.c > {data}; "
    "for i in 1 2 3; do cat {data} {data} > {data}2; mv {data}2 {data}; done",
)
CMARK = Project(
    "https://github.com/commonmark/cmark",
    "0d408e6cbf9b0c04d46e9e9c296808b778a47994",
    "rm -rf b && cmake -S . -B b -DCMAKE_BUILD_TYPE=Release -DCMARK_SHARED=OFF -DCMARK_TESTS=OFF > log && "
    "make -C b -j2 cmark_exe > log",
    "b/src/cmark",
    ("{artifact}", "{data}"),
    prepare="cp test/spec.txt {data}; for i in 1 2 3 4; do cat {data} {data} > {data}2; mv {data}2 {data}; done",
)


def cloned(name: str, project: Project, directory: Path) -> Path:
    """Give a checkout of a project, cloned into a directory unless it is there."""
    checkout = directory / name
    if not checkout.exists():
        subprocess.run(["git", "clone", "-q", project.url, str(checkout)], check=True)
        subprocess.run(["git", "checkout", "-q", project.commit], cwd=checkout, check=True)
    return checkout


def prepared(project: Project, checkout: Path, data: Path) -> None:
    """Make the input of its program."""
    data.write_bytes(b"")
    subprocess.run(["sh", "-c", project.prepare.format(data=data)], cwd=checkout, check=True)


@contextmanager
def building(
    project: Project, checkout: Path, caches: Path, base: str, relink: Mapping[Side, str], *, go: bool, aligned: bool
) -> Iterator[TreeBuilder]:
    """Give what builds a revision and the latest commit of a checkout. aligned: functions of Go, as make_shims says."""
    repository = find_repository(checkout)
    sources = resolve(repository, base=base, head="HEAD", environment={})
    tables = {
        side: BuildTable(
            setup=project.setup,
            command=project.command,
            artifacts=[project.artifact],
            timeout=TIMEOUT,
            relink=relink[side],
        )
        for side in SIDES
    }
    with open_trees(repository, sources, share_paths={"base": [], "head": []}) as trees:
        shims = caches / "shims"
        shutil.rmtree(shims, ignore_errors=True)
        make_shims(shims, os.environ, go=go, aligned=aligned)
        recipes = {side: Recipe(tables[side], os.environ) for side in SIDES}
        conditions = Conditions(ProcessExecutor(), recipes, os.environ, trees.directory / "outputs", shims)
        yield TreeBuilder(conditions, trees, 1)


def built(builder: TreeBuilder, name: str, side: Side, number: int, seed: int) -> Build:
    """Build a side.

    Raises:
        RuntimeError: it cannot be built.
    """
    found = builder.build(side, number, seed)
    if not isinstance(found, Build):
        raise RuntimeError(f"{name}: {side} was not built: {found.status}\n{found.stderr}")
    return found


def words(project: Project, program: Path, data: Path) -> list[str]:
    """Give the command line of its program."""
    return [word.format(artifact=program, data=data) for word in project.run]


def cpu_seconds(project: Project, program: Path, data: Path) -> float:
    """Run a program once, and give its user and system time."""
    argv = words(project, program, data)
    null = os.open(os.devnull, os.O_RDWR)
    actions = [(os.POSIX_SPAWN_DUP2, null, stream) for stream in (0, 1, 2)]
    started = os.posix_spawn(argv[0], argv, os.environ, file_actions=actions)
    _, status, used = os.wait4(started, 0)
    os.close(null)
    if status:
        raise RuntimeError(f"{' '.join(argv)}: ended with {os.waitstatus_to_exitcode(status)}")
    return used.ru_utime + used.ru_stime
