"""What running both sides at once on one processor gains over turns and active time, on this host and under four loads.

    python -m benchmarks.duet [--seconds 100] [LOAD...]

Rounds of twelve starts a side of a program and of one with 6% more work: by turns (as perfgate makes them, active
time) and at once on one processor (CPU time), in an order that is drawn, so that both ways meet the same load. A
round's value is the 20% trimmed mean of the logarithms of head/base of its pairs. Each line has the standard deviation
of that value over rounds, the seconds of a round, the estimate with two standard errors, and the gain: how many times
less variance (Yuen's, of the trimmed mean of all pairs) a way has than turns and active time, at an equal number of
starts and at equal seconds, with 95% intervals (bootstrap over rounds).
"""

from __future__ import annotations

import argparse
import ctypes
import json
import math
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean, stdev

import numpy as np
import numpy.typing as npt

from gate.model import SIDES
from gate.stats.typical import squared_error, trimmed_mean
from harness.instruments import duet_launcher, launcher
from harness.process.forkserver import Launch, LaunchSide, LaunchStart

N = 300_000
CHANGE = 0.06
PAIRS = 12
Array = npt.NDArray[np.float64]
_LEAST = 4
"""Rounds."""
_PR_SET_PDEATHSIG = 1
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
    "quiet": (),
    "busy loops": ("while True: pass",) * 4,
    "bursts of a second": (_BURST,) * 3,
    "memory traffic": ("a = bytearray(1 << 27)\nwhile True: b = bytes(a)",) * 2,
    "short processes, disk": (_SHORT,) * 3,
}
"""Programs that load the host meanwhile."""
ARGV = tuple((*PYTHON, f"sum(i * i for i in range({round(N * (1 + each))}))") for each in (0.0, CHANGE))


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


def by_turns(folder: Path) -> dict[str, Array]:
    """Make a round by turns, ABBA or BAAB drawn for each four; return the logarithms of head/base by each metric."""
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
    return {name: np.log(head) - np.log(base) for name, (base, head) in values.items()}


def at_once(argv: Sequence[Sequence[str]], pairs: int, folder: Path) -> Array:
    """Run base and head at once, on one processor that is drawn; return the logarithms of head/base, by CPU time."""
    place = random.choice(sorted(os.sched_getaffinity(0)))  # noqa: S311 - a place, no secret
    outputs = [folder / f"{side}-{time.time_ns()}" for side in SIDES]
    sides = [
        {"argv": list(words), "directory": str(folder), "environment": dict(os.environ), "output": str(output),
         "sandbox": [-1, -1, -1]}
        for words, output in zip(argv, outputs, strict=True)
    ]  # fmt: skip
    places = [(place, place, n % 2) for n in range(pairs)]
    spec = folder / "spec.json"
    spec.write_text(json.dumps({"runs": pairs, "places": places, "known": sorted(os.environ), "sides": sides}))
    words = [sys.executable, "-I", "-S", duet_launcher.__file__, str(spec)]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    told = [json.loads(output.read_text()) for output in outputs]
    for output in outputs:
        output.unlink()
    if any(each["code"] or each["errno"] for each in told):
        raise RuntimeError(f"{argv}: failed")
    base, head = ([user + system for _, user, system, _ in each["runs"]] for each in told)
    return np.log(head) - np.log(base)


def measured(folder: Path, seconds: float) -> tuple[dict[str, list[Array]], dict[str, list[float]]]:
    """Return each round's pairs, and its seconds, by way."""
    rounds: dict[str, list[Array]] = {TURNS: [], CPU: [], DUET: []}
    took: dict[str, list[float]] = {TURNS: [], CPU: [], DUET: []}
    end = time.monotonic() + seconds
    while time.monotonic() < end or len(rounds[DUET]) < _LEAST:
        for turns in random.sample((True, False), 2):
            begin = time.monotonic()
            found = by_turns(folder) if turns else {DUET: at_once(ARGV, PAIRS, folder)}
            for way, pairs in found.items():
                rounds[way].append(pairs)
                took[way].append(time.monotonic() - begin)
    return rounds, took


def gains(turns: Sequence[Array], other: Sequence[Array], seconds: float) -> list[str]:
    """Write how many times less variance another way has than turns and active time, with 95% intervals.

    Args:
        seconds: of a round by turns, over those of one the other way.
    """
    drawn = np.random.default_rng(1).integers(0, len(turns), (2_000, len(turns)))

    def ratio(numbers: Sequence[int]) -> float:
        both = (np.concatenate([each[n] for n in numbers]) for each in (turns, other))
        mine, its = map(squared_error, both)
        return mine / its

    whole = ratio(range(len(turns)))
    low, high = np.quantile([ratio(numbers) for numbers in drawn.tolist()], (0.025, 0.975))
    return [f"{whole * by:.1f} ({low * by:.1f} to {high * by:.1f})" for by in (1.0, seconds)]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.duet", description=__doc__)
    parser.add_argument("--seconds", type=float, default=100.0)
    parser.add_argument("loads", nargs="*", metavar="LOAD", default=list(LOADS))
    options = parser.parse_args()
    # the programs that load this host must not outlive it
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    head = (
        "load",
        "way",
        "rounds",
        "sd of a round",
        "a round",
        "found of +6%",
        "gain, equal starts",
        "equal seconds",
    )
    print(f"| {' | '.join(head)} |\n{'| --- ' * len(head)}|")  # noqa: T201 - a command
    with tempfile.TemporaryDirectory() as name:
        for load in options.loads:
            with under(load, Path(name)):
                rounds, took = measured(Path(name), options.seconds)
            for way, each in rounds.items():
                values = [trimmed_mean(pairs) for pairs in each]
                error = 2 * stdev(values) / math.sqrt(len(values))
                seconds = fmean(took[TURNS]) / fmean(took[way])
                row = ("as found" if load == "quiet" else load, way, f"{len(each)}", f"{stdev(values):.2%}",
                       f"{fmean(took[way]):.1f} s", f"{math.expm1(fmean(values)):+.1%} ± {error:.1%}",
                       *gains(rounds[TURNS], each, seconds))  # fmt: skip
                print(f"| {' | '.join(row)} |", flush=True)  # noqa: T201 - a command


if __name__ == "__main__":
    main()
