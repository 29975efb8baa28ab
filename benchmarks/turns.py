"""How often gates by turns are wrong, and what they find: real checks of small programs on this host, under load.

    python -m benchmarks.turns DIRECTORY [--minutes 30] [--jobs 1] [LOAD...]
    python -m benchmarks.turns DIRECTORY --table

A program of 2, 20 or 100 ms in C against itself with another constant, which changes its bytes and not its work, and
against 2%, 3% and 6% more of its work. DIRECTORY/gates.jsonl gets a line of each check, so one that was stopped goes
on from there; the table has all of them.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

WORK = """\
#include <stdio.h>
int main(void) {
    unsigned long x = FIRST;
    for (unsigned long n = COUNT; n; n--) x = x * 6364136223846793005UL + 1442695040888963407UL;
    printf("%lx\\n", x);
    return 0;
}
"""
MAKEFILE = "work: work.c constants.h\n\t$(CC) -O1 -static -include constants.h -o $@ work.c\n"
CONFIG = """\
[gate]
threshold = "3%"
[plan]
builds = {min = 4, max = 12}
executions = 2
iterations = 5
budget = "2m"
[build]
command = "make -s"
[[benchmark]]
name = "work"
command = ["./work"]
"""
_PR_SET_PDEATHSIG = 1
PYTHON = (sys.executable, "-I", "-S", "-c")
_BURST = "import time\nwhile True:\n t = time.time()\n while time.time() < t + 1: pass\n time.sleep(1)"
_SHORT = """import subprocess, sys, os
while True:
    subprocess.run([sys.executable, "-S", "-c", "pass"])
    with open(sys.argv[1] + str(os.getpid()), "wb") as f:
        f.write(bytes(1 << 20))
        os.fsync(f.fileno())
"""
LOADS = {
    "quiet": (),
    "busy loops": ("while True: pass",) * 4,
    "bursts of a second": (_BURST,) * 3,
    "memory traffic": ("a = bytearray(1 << 27)\nwhile True: b = bytes(a)",) * 2,
    "short processes, disk": (_SHORT,) * 3,
}
"""Programs that load the host meanwhile."""
STEPS = 1_000_000
"""Steps of the loop in a millisecond, about."""
SAME = 0
GATES = (
    *[(2, SAME)] * 5, *[(20, SAME)] * 4, (100, SAME), *[(2, 6)] * 2, *[(20, 6)] * 2, (100, 6), (2, 3), (20, 3), (20, 2),
)  # fmt: skip
"""Milliseconds and percent more work, of one pass under one load."""
Key = tuple[str, int, int, int]
"""A gate: load, milliseconds, percent more work, number."""


def _end_with_parent() -> None:
    """Have the kernel end this process when its parent ends, however that is."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


@contextmanager
def under(name: str, folder: Path) -> Iterator[None]:
    """Load this host meanwhile."""
    words = ((*PYTHON, text, str(folder / "load")) for text in LOADS[name])
    programs = [subprocess.Popen(each, preexec_fn=_end_with_parent) for each in words]
    try:
        time.sleep(0.5 if programs else 0.0)
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


def project(top: Path, milliseconds: int, more: int) -> None:
    """Make a repository whose last commit does so much more, in percent."""
    files = {"work.c": WORK, "Makefile": MAKEFILE, "perfgate.toml": CONFIG}
    sides = {"base": (12345, 0), "head": (54321, more)}
    git = ["git", "-c", "user.name=benchmark", "-c", "user.email=benchmark@example.org"]
    subprocess.run([*git, "init", "-q", "-b", "main", str(top)], check=True)
    for name, text in files.items():
        (top / name).write_text(text, encoding="utf-8")
    for side, (first, percent) in sides.items():
        count = milliseconds * STEPS * (100 + percent) // 100
        (top / "constants.h").write_text(f"#define COUNT {count}UL\n#define FIRST {first}UL\n", encoding="utf-8")
        subprocess.run([*git, "add", "-A"], cwd=top, check=True)
        subprocess.run([*git, "commit", "-q", "-m", side], cwd=top, check=True)


def pressure() -> float:
    """Return the seconds in which some program of this host waited for a processor, since it was started."""
    some = Path("/proc/pressure/cpu").read_text(encoding="utf-8").splitlines()[0]
    return float(some.rpartition("=")[2]) / 1e6


def checked(key: Key, directory: Path) -> dict[str, Any]:
    """Run one gate and keep its measurements; its line."""
    load, milliseconds, more, number = key
    line: dict[str, Any] = {"load": load, "ms": milliseconds, "more": more, "number": number}
    with tempfile.TemporaryDirectory(prefix="turns-") as name:
        top = Path(name, "project")
        project(top, milliseconds, more)
        # what is remembered of this host would be read by some gates only
        own = {"PERFGATE_HISTORY": f"{name}/history", "PERFGATE_LOCK": f"{name}/lock"}
        command = [
            "check",
            "--base",
            "HEAD~1",
            "--head",
            "HEAD",
            "--quiet",
            "--seed",
            str(zlib.crc32(repr(key).encode())),
        ]
        before, waited = time.monotonic(), pressure()
        done = subprocess.run(
            [sys.executable, "-I", "-m", "gate", *command], cwd=top, env={**os.environ, **own}, check=False,
            capture_output=True, text=True, timeout=900,
        )  # fmt: skip
        seconds = time.monotonic() - before
        line |= {"exit": done.returncode, "seconds": seconds, "pressure": (pressure() - waited) / seconds}
        if done.returncode not in {0, 1}:
            return {**line, "error": done.stdout + done.stderr}
        report = json.loads((top / ".perfgate/report.json").read_text(encoding="utf-8"))
        shutil.copy(top / ".perfgate/measurements.jsonl", directory / ("-".join(map(str, key)) + ".jsonl"))
        [finding] = report["findings"]
        ratio, rounds = finding["ratio"], report["run"]["rounds"]["done"]
        return {**line, "metric": finding["metric"], "verdict": finding["verdict"], "rounds": rounds, **{
            of: ratio[of] for of in ("estimate", "low", "high", "confidence")
        }}  # fmt: skip


def read(file: Path) -> list[dict[str, Any]]:
    """Read the lines of earlier gates; the last may be torn."""
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True) if file.exists() else []
    return [json.loads(line) for line in lines if line.endswith("\n")]


def row(load: str, more: int, found: Sequence[dict[str, Any]]) -> list[str]:
    """Return a row of the table: gates of one load and change."""
    done = [each for each in found if "error" not in each]
    verdicts = Counter(each["verdict"] for each in done)
    green = verdicts["unchanged"] + verdicts["no-sign"]
    counted = [verdicts["regression"], green, verdicts["inconclusive"]]
    estimates = sorted(100 * (each["estimate"] - 1) for each in done)
    tenth = len(estimates) // 10
    held = sum(each["low"] <= 1 <= each["high"] for each in done)
    middle = [median(each[of] for each in done) for of in ("rounds", "seconds", "pressure")]
    return [
        "as found" if load == "quiet" else load, f"+{more}%" if more else "none",
        *map(str, (len(found), *counted, len(found) - sum(counted))),
        f"{median(estimates):+.2f}% ({estimates[tenth]:+.2f}% to {estimates[-1 - tenth]:+.2f}%)",
        "" if more else f"{held} of {len(done)}", f"{middle[0]:.0f}", f"{middle[1]:.0f} s", f"{middle[2]:.0%}",
    ]  # fmt: skip


HEAD = (
    "load", "more work", "gates", "regression", "ok", "too noisy", "other",
    "estimate (middle 80%)", "interval has 0", "rounds", "time", "pressure",
)  # fmt: skip


def table(lines: Sequence[dict[str, Any]]) -> str:
    """Write the Markdown table of all gates."""
    rows = [HEAD, ["---"] * len(HEAD)]
    for more in (SAME, 2, 3, 6):
        # few gates have a change near the threshold
        for load in [*(LOADS if more in {SAME, 6} else ()), "all"]:
            found = [each for each in lines if each["more"] == more and load in {each["load"], "all"}]
            if any("error" not in each for each in found):
                rows.append(row(load, more, found))
    return "\n".join("| " + " | ".join(each) + " |" for each in rows)


def main() -> None:
    """Run gates until the time is over, then print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.turns", description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--minutes", type=float, default=30.0, help="no gate begins after so long")
    parser.add_argument("--jobs", type=int, default=1, help="gates at once, which load the host for each other")
    parser.add_argument("--more", type=int, nargs="+", default=[SAME, 2, 3, 6], help="percent more work")
    parser.add_argument("--table", action="store_true", help="print the table of what was measured, measure nothing")
    parser.add_argument("loads", nargs="*", metavar="LOAD", default=list(LOADS))
    options = parser.parse_args()
    # the programs that load this host must not outlive it
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    options.directory.mkdir(parents=True, exist_ok=True)
    file = options.directory / "gates.jsonl"
    end = time.monotonic() + 60 * (0 if options.table else options.minutes)
    made = {(each["load"], each["ms"], each["more"], each["number"]) for each in read(file)}
    number = 0

    def gate(key: Key) -> None:
        if time.monotonic() < end and key not in made:
            line = checked(key, options.directory)
            with file.open("a", encoding="utf-8") as out:
                out.write(json.dumps(line) + "\n")

    while time.monotonic() < end:
        for load in options.loads:
            keys = [(load, *program, len(GATES) * number + place) for place, program in enumerate(GATES)]
            keys = [key for key in keys if key[2] in options.more]
            with under(load, options.directory), ThreadPoolExecutor(options.jobs) as pool:
                try:
                    list(pool.map(gate, keys))
                finally:
                    pool.shutdown(cancel_futures=True)
        number += 1
    print(table(read(file)))  # noqa: T201 - a command


if __name__ == "__main__":
    main()
