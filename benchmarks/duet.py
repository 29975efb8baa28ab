"""What running both sides at once on one processor gains over turns and active time, on this host and under four loads.

    python -m benchmarks.duet [--seconds 100] [LOAD...]

Rounds of twelve starts a side of a program and of one with 6% more work: by turns (as perfgate makes them, active
time) and at once on one processor (CPU time), in an order that is drawn, so that both ways meet the same load. A
round's value is the 20% trimmed mean of the logarithms of head/base of its pairs. Each line has the standard deviation
of that value, the seconds of a round, the estimate with two standard errors, and how many times less variance a duet
has than turns at an equal number of starts and at equal seconds, with 95% intervals (bootstrap over rounds).
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean, stdev

import numpy as np

from gate.stats.typical import trimmed_mean
from harness.instruments import duet_launcher, launcher
from harness.process.forkserver import Launch, LaunchSide, LaunchStart

N = 300_000
CHANGE = 0.06
PAIRS = 12
PYTHON = (sys.executable, "-I", "-S", "-c")
TURNS, CPU, DUET = "turns, active", "turns, CPU", "at once, one processor, CPU"
_BURST = "import time\nwhile True:\n t = time.time()\n while time.time() < t + 1: pass\n time.sleep(1)"
_SHORT = """import subprocess, sys, os
while True:
    subprocess.run([sys.executable, "-S", "-c", "pass"])
    with open(sys.argv[1] + str(os.getpid()), "wb") as f:
        f.write(bytes(1 << 20))
        os.fsync(f.fileno())
"""
LOADS = {
    "as found": (),
    "busy loops": ("while True: pass",) * 4,
    "bursts of a second": (_BURST,) * 3,
    "memory traffic": ("a = bytearray(1 << 27)\nwhile True: b = bytes(a)",) * 2,
    "short processes, disk": (_SHORT,) * 3,
}
"""Programs that load the host meanwhile."""
ARGV = tuple((*PYTHON, f"sum(i * i for i in range({round(N * (1 + each))}))") for each in (0.0, CHANGE))


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


def by_turns(folder: Path) -> dict[str, float]:
    """Make a round by turns, ABBA or BAAB drawn for each four, and give its values."""
    environment = dict(os.environ)
    sides = tuple(LaunchSide(argv, environment, folder) for argv in ARGV)
    order = [side for _ in range(PAIRS // 2) for side in random.choice(((0, 1, 1, 0), (1, 0, 0, 1)))]  # noqa: S311
    output = folder / f"turns-{time.time_ns()}"
    launch = Launch(Path(launcher.__file__), output, sides, [LaunchStart(side) for side in order])
    with tempfile.TemporaryFile() as request:
        request.write(launch.request({}, {}))
        request.seek(0)
        number = request.fileno()
        subprocess.run([*launch.argv, str(number)], check=True, pass_fds=(number,))
    result = json.loads(output.read_text())
    output.unlink()
    if result["failed"]:
        raise RuntimeError(f"{result['failed']}")
    values: dict[str, list[list[float]]] = {TURNS: [[], []], CPU: [[], []]}
    for ns, user, system, _, delay, waited, ran, *_, side in result["runs"]:
        values[TURNS][side].append(max(ns - delay - waited, ran) / 1e9)
        values[CPU][side].append(user + system)
    return {name: _typical(*both) for name, both in values.items()}


def at_once(folder: Path) -> dict[str, float]:
    """Make a round of duets on one processor, and give its value."""
    place = random.choice(sorted(os.sched_getaffinity(0)))  # noqa: S311
    places = [(place, place, n % 2) for n in range(PAIRS)]
    outputs = [folder / f"{side}-{time.time_ns()}" for side in ("base", "head")]
    sides = [
        {"argv": argv, "directory": str(folder), "environment": dict(os.environ), "output": str(output),
         "sandbox": [-1, -1, -1]}
        for argv, output in zip(ARGV, outputs, strict=True)
    ]  # fmt: skip
    spec = folder / "spec.json"
    spec.write_text(json.dumps({"runs": PAIRS, "places": places, "known": sorted(os.environ), "sides": sides}))
    subprocess.run([sys.executable, "-I", "-S", duet_launcher.__file__, str(spec)], check=True)
    told = [json.loads(output.read_text()) for output in outputs]
    for output in outputs:
        output.unlink()
    if any(each["code"] or each["errno"] for each in told):
        raise RuntimeError("a program failed")
    return {DUET: _typical(*([user + system for _, user, system, _ in each["runs"]] for each in told))}


def _typical(base: list[float], head: list[float]) -> float:
    return trimmed_mean(np.log(head) - np.log(base))


def measured(folder: Path, seconds: float) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """Return each round's value, and its seconds, by way."""
    values: dict[str, list[float]] = {TURNS: [], CPU: [], DUET: []}
    took: dict[str, list[float]] = {TURNS: [], CPU: [], DUET: []}
    end = time.monotonic() + seconds
    while time.monotonic() < end or len(values[DUET]) < 4:
        for make in random.sample((by_turns, at_once), 2):
            begin = time.monotonic()
            found = make(folder)
            for way, value in found.items():
                values[way].append(value)
                took[way].append(time.monotonic() - begin)
    return values, took


def gains(values: dict[str, list[float]], took: dict[str, list[float]], way: str) -> list[str]:
    """Write the variance of turns and active time over that of another way, at equal starts and at equal seconds."""
    drawn = np.random.default_rng(1).integers(0, len(values[TURNS]), (10_000, len(values[TURNS])))

    def ratio(rounds: np.ndarray) -> np.ndarray:
        turns, other = (np.array(values[each])[rounds].var(axis=-1, ddof=1) for each in (TURNS, way))
        return np.asarray(turns / other)

    seconds = fmean(took[TURNS]) / fmean(took[way])
    whole = float(ratio(np.arange(len(values[TURNS]))))
    low, high = np.quantile(ratio(drawn), (0.025, 0.975))
    return [f"{whole * by:.2f} ({low * by:.2f} to {high * by:.2f})" for by in (1.0, seconds)]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.duet", description=__doc__)
    parser.add_argument("--seconds", type=float, default=100.0)
    parser.add_argument("loads", nargs="*", metavar="LOAD", default=list(LOADS))
    options = parser.parse_args()
    # the programs that load this host must not outlive it
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    head = ("load", "way", "rounds", "sd of a round", "a round", "found of +6% of the loop", "gain, equal starts", "equal seconds")
    print(f"| {' | '.join(head)} |\n{'| --- ' * len(head)}|")  # noqa: T201 - a command
    with tempfile.TemporaryDirectory() as name:
        for load in options.loads:
            with under(load, Path(name)):
                values, took = measured(Path(name), options.seconds)
            for way, each in values.items():
                error = 2 * stdev(each) / math.sqrt(len(each))
                row = (load, way, f"{len(each)}", f"{stdev(each):.2%}", f"{fmean(took[way]):.2f} s",
                       f"{math.expm1(fmean(each)):+.2%} ± {error:.2%}", *gains(values, took, way))  # fmt: skip
                print(f"| {' | '.join(row)} |", flush=True)  # noqa: T201 - a command


if __name__ == "__main__":
    main()
