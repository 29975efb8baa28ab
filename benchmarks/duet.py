"""What running both sides at once gains, on a quiet host and under four kinds of load.

    python -m benchmarks.duet [--pairs 60] [LOAD...]

A program against itself, and against 10% and 20% more of its work: one after the other, at once on two processors, and
at once on one. Each line has the standard deviation of the logarithm of head/base over pairs by CPU time and by wall
time, the seconds of a pair, how many times less variance of CPU time a second there is than of wall time one after the
other, and the ratio with two standard errors for the larger change, by CPU time and by wall time.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean, stdev

from harness.instruments import duet_launcher

N = 1_200_000
CHANGES = (0.0, 0.1, 0.2)
PYTHON = (sys.executable, "-I", "-S", "-c")
WAYS = ("in turns", "at once, two processors", "at once, one processor")
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


def work(change: float) -> list[str]:
    """Return a program that does so much more than the others."""
    return [*PYTHON, f"sum(i * i for i in range({round(N * (1 + change))}))"]


@contextmanager
def under(name: str, folder: Path) -> Iterator[None]:
    """Load this host meanwhile."""
    programs = [subprocess.Popen([*PYTHON, text, str(folder / "load")]) for text in LOADS[name]]
    try:
        time.sleep(0.5 if programs else 0.0)
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


Pair = tuple[tuple[float, float], tuple[float, float]]
"""CPU and wall seconds of base, and of head."""


def by_turns(argv: Sequence[Sequence[str]], pairs: int) -> list[Pair]:
    """Run both one after the other."""
    found = []
    for number in range(pairs):
        both: dict[int, tuple[float, float]] = {}
        for side in (0, 1) if number % 2 else (1, 0):
            begin = time.perf_counter()
            process = os.posix_spawn(argv[side][0], list(argv[side]), os.environ)
            _, _, used = os.wait4(process, 0)
            both[side] = (used.ru_utime + used.ru_stime, time.perf_counter() - begin)
        found.append((both[0], both[1]))
    return found


def at_once(argv: Sequence[Sequence[str]], pairs: int, folder: Path, *, processors: int) -> list[Pair]:
    """Run both at once."""
    own = sorted(os.sched_getaffinity(0))[:processors]
    places = [(own[n % len(own)], own[(n + 1) % len(own)], n // 2 % 2) for n in range(pairs)]
    outputs = [folder / f"{side}-{time.time_ns()}" for side in ("base", "head")]
    sides = [
        {"argv": list(words), "directory": str(folder), "environment": dict(os.environ), "output": str(output)}
        for words, output in zip(argv, outputs, strict=True)
    ]
    spec = folder / "spec.json"
    spec.write_text(json.dumps({"runs": pairs, "places": places, "known": sorted(os.environ), "sides": sides}))
    subprocess.run(
        [sys.executable, "-I", "-S", duet_launcher.__file__, str(spec)], check=True, stdout=subprocess.DEVNULL
    )
    told = [json.loads(output.read_text()) for output in outputs]
    if any(each["code"] or each["errno"] for each in told):
        raise RuntimeError(f"{argv}: failed")
    values = [[(user + system, ns / 1e9) for ns, user, system, _ in each["runs"]] for each in told]
    return list(zip(*values, strict=True))


def measured(way: str, change: float, pairs: int, folder: Path) -> tuple[list[Pair], float]:
    """Return what pairs took, and the seconds of one."""
    argv = (work(0.0), work(change))
    begin = time.perf_counter()
    if way == WAYS[0]:
        found = by_turns(argv, pairs)
    else:
        found = at_once(argv, pairs, folder, processors=2 if way == WAYS[1] else 1)
    return found, (time.perf_counter() - begin) / pairs


def logs(pairs: Sequence[Pair], clock: int) -> list[float]:
    """Return the logarithms of head/base, by CPU (0) or wall time (1)."""
    return [math.log(head[clock] / base[clock]) for base, head in pairs]


def told(values: Sequence[float]) -> str:
    """Write a ratio with two standard errors."""
    return f"{math.exp(fmean(values)):.3f} ± {2 * stdev(values) / math.sqrt(len(values)):.3f}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.duet", description=__doc__)
    parser.add_argument("--pairs", type=int, default=60)
    parser.add_argument("loads", nargs="*", metavar="LOAD", default=list(LOADS))
    options = parser.parse_args()
    # the programs that load this host must not outlive it
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    head = ["load", "both sides", "sd, CPU", "sd, wall", "a pair", "gain", *(
        f"+{change:.0%}, {clock}" for change in CHANGES[1:] for clock in ("CPU", "wall")
    )]  # fmt: skip
    rows = [head, ["---"] * len(head)]
    with tempfile.TemporaryDirectory() as name:
        for load in options.loads:
            usual = math.nan
            for way in WAYS:
                with under(load, Path(name)):
                    same, seconds = measured(way, 0.0, options.pairs, Path(name))
                    changed = [measured(way, change, options.pairs, Path(name))[0] for change in CHANGES[1:]]
                cpu, wall = (stdev(logs(same, clock)) for clock in (0, 1))
                usual = wall**2 * seconds if way == WAYS[0] else usual
                gain = usual / (cpu**2 * seconds)
                estimates = [told(logs(each, clock)) for each in changed for clock in (0, 1)]
                rows.append([load, way, f"{cpu:.1%}", f"{wall:.1%}", f"{seconds:.2f} s", f"{gain:.1f}", *estimates])
                print("| " + " | ".join(rows[-1]) + " |", file=sys.stderr, flush=True)  # noqa: T201 - a command
    for row in rows:
        print("| " + " | ".join(row) + " |")  # noqa: T201 - a command


if __name__ == "__main__":
    main()
