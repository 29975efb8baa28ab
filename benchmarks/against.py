"""How much processor time this checkout takes of what another revision takes, in one run.

    python -m benchmarks.against [REVISION] [--quick]

The other revision (default: where this branch left main) is checked out into a temporary directory, with the packages
of its own lock beside it. Each command is started in turns by both, as a user starts it. A figure is the least
processor time of all turns, threads and children included, and `ratio` is that of this checkout over the other's. What
an execution costs is the difference of measuring with many and with few, over their number; hyperfine's is beside it.
Ends with 1 unless `--version` and `--help` stay within 100 ms of bare Python.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from harness.process.execute import find_own
from tests.support import runs

ROOT = Path(__file__).parent.parent
ABOVE_PYTHON = 0.1
FEW, MANY = 2, 42
CONFIG = """
[plan]
builds = 2
iterations = 1
[[benchmark]]
name = "nothing"
command = ["true"]
instrument = "spawn"
"""

Start = list[str]


def cpu(argv: list[str], directory: Path) -> float:
    """Return the processor seconds of a command with all its children."""
    process = subprocess.Popen(argv, cwd=directory, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None  # noqa: S101 - it is a pipe
    told = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    # 1: a regression was found
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        sys.exit(f"{' '.join(argv)}: {told.decode(errors='replace')}")
    return used.ru_utime + used.ru_stime


def checked_out(revision: str, directory: Path) -> Start:
    """Check a revision out into a directory, with the packages of its lock, and return how to start its perfgate."""
    tree, environment = directory / "tree", directory / "environment"
    subprocess.run(["git", "worktree", "add", "--quiet", "--detach", str(tree), revision], cwd=ROOT, check=True)
    uv = [sys.executable, "-m", "uv", "--quiet"]
    subprocess.run([*uv, "venv", "--python", sys.executable, str(environment)], check=True)
    python = environment / "bin" / "python"
    lock = tree / "requirements.lock"
    subprocess.run([*uv, "pip", "install", "--python", str(python), "--compile-bytecode", "-r", str(lock)], check=True)
    (site,) = environment.glob("lib/*/site-packages")
    (site / "perfgate.pth").write_text(f"{tree}\n", encoding="utf-8")
    return [str(python), str(tree / "perfgate.py")]


def project(directory: Path) -> Path:
    """Make a repository whose only benchmark does nothing."""
    directory.mkdir()
    (directory / "perfgate.toml").write_text(CONFIG, encoding="utf-8")
    git = ["git", "-c", "user.name=bench", "-c", "user.email=bench@example.com"]
    for arguments in (["init", "--quiet"], ["add", "-A"], ["commit", "--quiet", "-m", "nothing"]):
        subprocess.run([*git, *arguments], cwd=directory, check=True)
    return directory


def command(start: Start, arguments: list[str], directory: Path) -> float:
    """Return the processor seconds of one command."""
    return cpu([*start, *arguments], directory)


def execution(start: Start, directory: Path) -> float:
    """Return the processor seconds of one execution by spawn, with the program, which does nothing."""
    took = []
    for count in (FEW, MANY):
        arguments = ["measure", "--base", "HEAD", "--quiet", "--set", f"plan.executions={count}"]
        took.append(cpu([*start, *arguments], directory))
        shutil.rmtree(directory / ".perfgate")
    # two builds of two sides
    return (took[1] - took[0]) / (4 * (MANY - FEW))


def by_hand(directory: Path) -> float | None:
    """Return the processor seconds of one call of hyperfine with the same program; None without hyperfine."""
    hyperfine = find_own("hyperfine") or shutil.which("hyperfine")
    if hyperfine is None:
        return None
    call = f"{shlex.quote(hyperfine)} -N --runs 1 --warmup 0 --style none --export-json by-hand.json true"
    return min(cpu(["sh", "-c", f"for i in 1 2 3 4 5 6 7 8 9 10; do {call}; done"], directory) / 10 for _ in range(5))


def compare(old: Start, new: Start, directory: Path, turns: int) -> bool:
    """Measure both in turns and print the table; tell whether the limits are kept."""
    for name, shape in {
        "one": runs.Shape(),
        "hundred": runs.Shape(cases=100),
        "thousand": runs.Shape(cases=1000),
    }.items():
        (directory / name).mkdir()
        runs.write(directory / name, runs.plain(shape))
    repository = project(directory / "project")
    ways: dict[str, Callable[[Start], float]] = {
        "--version": partial(command, arguments=["--version"], directory=directory),
        "--help": partial(command, arguments=["--help"], directory=directory),
        "decide, 1 case": partial(command, arguments=["decide", "one"], directory=directory),
        "decide, 1,000 cases": partial(command, arguments=["decide", "thousand"], directory=directory),
        "page of 100 cases": partial(command, arguments=["decide", "hundred", "--html", "page"], directory=directory),
        "execution by spawn": partial(execution, directory=repository),
    }
    bare = min(cpu([new[0], "-c", "pass"], directory) for _ in range(2 * turns))
    kept = True
    sys.stdout.write(f"{'CPU seconds':20}  {'before':>8}  {'now':>8}  ratio\n{'bare Python':20}  {'':8}  {bare:8.4f}\n")
    for name, way in ways.items():
        took = [(way(old), way(new)) for _ in range(turns)]
        before, now = (min(column) for column in zip(*took, strict=True))
        too_much = name.startswith("--") and now - bare > ABOVE_PYTHON
        kept &= not too_much
        note = "  too much" if too_much else ""
        sys.stdout.write(f"{name:20}  {before:8.4f}  {now:8.4f}  {now / before:5.2f}{note}\n")
        sys.stdout.flush()
    hand = by_hand(repository)
    if hand is not None:
        sys.stdout.write(f"{'hyperfine by hand':20}  {'':8}  {hand:8.4f}\n")
    return kept


def main() -> int:
    """Print the table; 1 when a limit is passed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.against", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("revision", nargs="?", help="default: the merge base with main")
    parser.add_argument("--quick", action="store_true", help="fewer turns")
    options = parser.parse_args()
    base = subprocess.run(["git", "merge-base", "HEAD", "main"], cwd=ROOT, capture_output=True, text=True, check=False)
    revision = options.revision or base.stdout.strip() or "HEAD~1"
    with tempfile.TemporaryDirectory() as made:
        directory = Path(made)
        try:
            old = checked_out(revision, directory)
            kept = compare(old, [sys.executable, str(ROOT / "perfgate.py")], directory, 2 if options.quick else 7)
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", str(directory / "tree")], cwd=ROOT, check=False)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
