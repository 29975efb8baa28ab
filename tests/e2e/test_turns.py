"""Commands that compute, sleep, wait or have children, by turns on a busy host: no verdict against a quiet one's."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.project import Project

pytestmark = [
    pytest.mark.endtoend,
    pytest.mark.nightly,
    pytest.mark.skipif(sys.platform != "linux", reason="the kernel tells no delays elsewhere"),
    pytest.mark.skipif(shutil.which("cc") is None, reason="absent: cc"),
]

PROGRAM = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "side.h"
#define IS(name) (strcmp(argv[1], name) == 0)

static volatile unsigned long result;
static void work(double ms) {
    unsigned long x = 1;
    for (unsigned long n = ms * 1e6; n; n--) x = x * 6364136223846793005UL + 1442695040888963407UL;
    result = x;
}
static void pass(double ms) {
    struct timespec time = {0, ms * 1e6};
    nanosleep(&time, NULL);
}
static void *spin(void *unused) { for (;;) result++; return unused; }
static void wait_for_lock(double ms) {
    char name[] = "lockXXXXXX", held;
    int ends[2], fd = mkstemp(name);
    if (fd < 0 || pipe(ends)) exit(1);
    if (!fork()) {
        int own = open(name, O_RDWR);
        flock(own, LOCK_EX);
        if (write(ends[1], "x", 1) != 1) _exit(1);
        pass(ms);
        _exit(0);
    }
    if (read(ends[0], &held, 1) != 1) exit(1);
    flock(fd, LOCK_EX);
    wait(NULL);
    unlink(name);
}
static void leave_to_orphan(double ms) {
    if (fork()) { wait(NULL); return; }
    if (fork()) _exit(0);
    work(ms);
    _exit(0);
}
/* where its loop lies in a cache line is worth 7%: the same place on both sides */
static __attribute__((noinline, aligned(64))) void walk(int times) {
    size_t size = 1 << 22;
    unsigned *next = malloc(size * 4), at = 0;
    for (size_t i = 0; i < size; i++) next[i] = (i + 1048583 * 16) % size;
    for (int i = 0; i < times; i++) at = next[at];
    result = at;
}
int main(int argc, char **argv) {
    pthread_t other;
    if (argc != 2) return 2;
    if (IS("same")) work(8);
    if (IS("computes")) work(SIDE ? 8.48 : 8);
    if (IS("sleeps")) { work(6); pass(SIDE ? 3 : 1); }
    if (IS("half-sleeps")) { work(SIDE ? 4.6 : 4); pass(4); }
    if (IS("trades")) { work(SIDE ? 7.5 : 8); pass(SIDE ? 1 : 0.5); }
    if (IS("locks")) { work(6); wait_for_lock(SIDE ? 3 : 1); }
    if (IS("orphan")) { work(SIDE ? 4 : 8); if (SIDE) leave_to_orphan(6); }
    if (IS("spins")) { if (SIDE) pthread_create(&other, NULL, spin, NULL); work(8); }
    if (IS("walks")) walk(100000);
    return 0;
}
"""
NAMES = ("same", "computes", "sleeps", "half-sleeps", "trades", "locks", "orphan", "spins", "walks")
CONFIG = """\
[plan]
builds = {min = 5, max = 8}
executions = 2
iterations = 5
budget = "5m"
[build]
command = "cc -O1 -pthread -o program program.c"
""" + "".join(f'[[benchmark]]\nname = "{name}"\ncommand = ["./program", "{name}"]\n' for name in NAMES)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """One gate of all programs, while two others keep the processors busy."""
    made = Project(tmp_path_factory.mktemp("turns") / "project")
    made.write("perfgate.toml", CONFIG)
    made.write("program.c", PROGRAM)
    for side in (0, 1):
        made.write("side.h", f"#define SIDE {side}\n")
        made.commit()
    busy = [subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"]) for _ in range(2)]
    try:
        done = made.process("check", "--seed", "5")
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert done.returncode in {0, 1}, done.stdout + done.stderr
    return made


def found(project: Project, name: str) -> dict[str, Any]:
    """Return the finding of a program."""
    findings: dict[str, dict[str, Any]] = {each["benchmark"]: each for each in project.report()["findings"]}
    return findings[name]


@pytest.mark.parametrize(
    ("name", "added", "off"),
    # What head adds to a start of base, in seconds, and how far the ratio may lie from that. A busy processor stretches
    # work and not sleep, so of what base took some is sleep.
    [
        ("computes", lambda base: 0.06 * base, 0.04),
        ("sleeps", lambda _base: 2e-3, 0.08),
        ("half-sleeps", lambda base: 0.15 * (base - 4e-3), 0.04),
    ],
)
def test_what_one_task_does_or_waits_for_is_seen(
    project: Project, name: str, added: Callable[[float], float], off: float
) -> None:
    finding = found(project, name)
    base = finding["base"]["value"]
    assert finding["metric"] == "active"
    assert finding["verdict"] in {"regression", "inconclusive"}
    assert finding["ratio"]["estimate"] == pytest.approx(1 + added(base) / base, abs=off)


@pytest.mark.parametrize("name", ["same", "trades", "walks"])
def test_no_change_is_no_verdict(project: Project, name: str) -> None:
    # as much work as before, or less of it and as much more sleep: processor time alone would call it faster
    assert found(project, name)["verdict"] in {"unchanged", "no-sign", "inconclusive"}


def test_longer_waits_for_a_lock_are_no_improvement(project: Project) -> None:
    assert found(project, "locks")["verdict"] in {"regression", "no-sign", "inconclusive"}


@pytest.mark.parametrize("name", ["orphan", "spins"])
def test_wall_time_decides_what_several_tasks_do(project: Project, name: str) -> None:
    finding = found(project, name)
    assert {each["metric"] for each in (finding, *finding["beside"])} == {"time"}
    # or the duller view of it shows a regression
    assert finding["view"]["why"] in {"tasks", "regression"}


def test_half_of_the_work_elsewhere_is_not_slower(project: Project) -> None:
    assert found(project, "orphan")["verdict"] in {"improvement", "unchanged", "no-sign", "inconclusive"}


def test_work_that_outlives_its_command_is_said(project: Project) -> None:
    said = {each["benchmark"]: [w["details"] for w in each["warnings"] if w["kind"] == "outlived"]
            for each in project.report()["findings"]}  # fmt: skip
    assert {name for name, warnings in said.items() if warnings} == {"orphan"}
    [warning] = said["orphan"]
    assert warning["base"] == 0
    # on a busy host the orphan may be the first to end
    assert warning["head"] > warning["of"] / 4


def test_a_benchmark_that_consumes_its_input(tmp_path: Path) -> None:
    project = Project(tmp_path / "project")
    entry = (
        '[[benchmark]]\nname = "eat"\ncommand = "sh eat.sh"\nprepare = ["cp", "seed", "food"]\ncleanup = "rm eaten"\n'
    )
    plan = '[gate]\nthreshold = "20%"\n[plan]\nbuilds = 5\nstarts = 4\n'
    project.write("perfgate.toml", plan + entry)
    project.write("eat.sh", "mv food eaten\n")
    project.write("seed", "1\n")
    project.commit()
    # what prepare reads counts where it is to be proved that nothing differs
    project.write("seed", "2\n")
    done = project.perfgate("check", "--dry-run")
    assert "prepare: cp seed food" in done.stdout
    done = project.perfgate("check")
    assert done.returncode == 0, done.stdout
    assert {name for name, *_ in project.executions()} == {"eat"}
