"""Whatever perfgate opens below a root that a pull request or a build can write goes through gate/walking.py (S6)."""

import ast
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from gate.walking import beginning
from tests.hostile.conftest import ROOT

OPENS = {"open", "read_text", "read_bytes"}
INSIDE = "a program that runs in the sandbox, or in front of a command: it has the rights of that"
OWN = "perfgate's own file, where commands can make, replace and remove none"
CONTENT = "lstat(2) said that it is a regular file, no command runs meanwhile, and only its hash or an answer goes on"
MACHINE = "a file or directory of the machine, which no command writes"
BENEATH = "by a descriptor of the directory above it, or through open_beneath"
ALLOWED = {
    "harness/build/archives.py": INSIDE, "harness/build/builder.py": BENEATH, "harness/build/cache.py": OWN,
    "harness/build/changed_files.py": BENEATH, "harness/build/relink_check.py": INSIDE, "harness/build/functions.py": INSIDE,
    "harness/build/go_clock.py": MACHINE,
    "harness/build/linker.py": INSIDE, "harness/build/order.py": INSIDE, "harness/build/perturb.py": OWN,
    "harness/build/record.py": INSIDE, "harness/build/replay.py": INSIDE,
    "harness/host/facts.py": MACHINE,
    "harness/host/fitness/counters.py": MACHINE, "harness/host/lock.py": MACHINE,
    "harness/instruments/launcher.py": OWN,
    "harness/instruments/perf_launcher.py": INSIDE, "harness/instruments/perf_stat.py": OWN,
    "harness/loop/proof.py": CONTENT, "harness/loop/probe.py": OWN,
    "harness/instruments/suite.py": OWN, "harness/instruments/active_clock.py": OWN, "harness/process/descendants.py": MACHINE,
    "harness/process/execute.py": OWN, "harness/process/process_groups.py": OWN,
    "harness/profilers/callgrind.py": BENEATH, "harness/profilers/python_sampler.py": INSIDE,
    "harness/sandbox/keeper.py": MACHINE, "harness/sandbox/landlock.py": "O_PATH: what rules are about, and nothing is read",
    "harness/sandbox/sandbox.py": BENEATH,
    "harness/source/differences.py": CONTENT, "harness/source/fetching.py": OWN, "harness/source/store.py": OWN,
    "harness/source/tracked.py": CONTENT, "harness/source/workdir.py": OWN,
    "harness/trace/child.py": OWN, "harness/trace/trace.py": OWN, "harness/trace/watcher.py": "O_PATH, or a list of words of its caller's",
    "gate/run/duration.py": OWN, "gate/run/run_folder.py": OWN, "gate/run/project.py": OWN,
}  # fmt: skip
"""Modules that open files otherwise, each with why no link or pipe that a command puts there leads perfgate on."""


def opens(file: Path) -> Iterator[int]:
    """Yield the lines of a module that open a path which is not spelt there as one of the kernel's."""
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Call):
            named = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if named in OPENS and not any(kernel in ast.unparse(node) for kernel in ("'/proc/", "'/sys/")):
                yield node.lineno


def test_nothing_else_opens_files() -> None:
    found = {
        str(file.relative_to(ROOT))
        for room in ("harness", "gate/run")
        for file in sorted((ROOT / room).rglob("*.py"))
        if any(opens(file))
    }
    assert found - ALLOWED.keys() == set(), "use gate.walking: open_beneath in a tree, beginning for a program"
    assert ALLOWED.keys() - found == set(), "they open nothing any more"


@pytest.mark.parametrize("made", ["mkfifo x", "ln -s /dev/zero x", "ln -s x x", "mkdir x", ":"])
def test_what_would_not_end_has_no_beginning(made: str, tmp_path: Path) -> None:
    subprocess.run(["sh", "-c", made], cwd=tmp_path, check=True)
    assert beginning(tmp_path / "x", 4) == b""
    assert beginning(os.devnull, 4) == b""
    (tmp_path / "y").write_bytes(b"#!/bin/sh")
    assert beginning(tmp_path / "y", 4) == b"#!/b"
