"""How many values a second the bootstrap resamples, beside a literal loop, vectorised numpy, numba, scipy and arch.

    python -m benchmarks.bootstrap [--quick]

Everything runs in one process on the same data: two sides, the ratio of their means, a percentile interval. Values a
second are values resampled, of both sides: values times replicates over the time. On one core it is processor time:
gate.stats uses all cores, what numba compiles one. What is slow gets fewer replicates than gate.stats (the column says
how many): time is proportional to them. Ends with 1 unless gate.stats is ahead of the loop, scipy and arch at every
size, and stays within 1 GiB.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import arch.bootstrap
import numba
import numpy as np
import numpy.typing as npt
import scipy.stats

from gate.model import Sample
from gate.stats.resample import CHUNK, Scheme, hierarchy, replicate_means

Floats = npt.NDArray[np.float64]
LIMITS = (0.025, 0.975)
GIB = 1 << 30
LARGE = 2_000_000
"""Values of both sides that must stay within a GiB."""


@dataclass(frozen=True, slots=True)
class Size:
    """Builds, executions per build, iterations per execution of each side, and how the sides are resampled."""

    counts: tuple[int, int, int]
    scheme: Scheme
    replicates: int

    @property
    def values(self) -> int:
        """Values of both sides."""
        return 2 * math.prod(self.counts)

    def __str__(self) -> str:
        """Write it as the table does."""
        return f"{self.scheme:4} {'x'.join(map(str, self.counts))}"


SIZES = [
    Size((3, 5, 10), "RRR", 20_000),
    Size((10, 5, 10), "RRR", 20_000),
    Size((10, 5, 10), "FLAT", 20_000),
    Size((10, 10, 100), "RRR", 10_000),
    Size((10, 10, 10_000), "RRR", 2000),
    Size((100, 100, 100), "RRR", 2000),
    Size((1000, 100, 10), "RRR", 2000),
    Size((10, 10, 10_000), "FLAT", 2000),
]
QUICK = [
    Size((3, 5, 10), "RRR", 6000),
    Size((10, 5, 10), "FLAT", 4000),
    Size((10, 10, 100), "RRR", 2000),
    Size((10, 10, 1000), "FLAT", 2000),
]


def drawn(size: Size, seed: int) -> Floats:
    """Draw one side, with effects at all levels; shape (builds, executions, iterations)."""
    rng = np.random.default_rng(seed)
    builds, executions, iterations = size.counts
    between = rng.normal(0, 0.02, (builds, 1, 1)) + rng.normal(0, 0.02, (builds, executions, 1))
    values: Floats = 10 * (1 + between + rng.gamma(2, 0.02, (builds, executions, iterations)))
    return values


def sample(values: Floats) -> Sample:
    """Wrap one side as the gate has it."""
    builds, executions, iterations = values.shape
    counts = (np.full(builds * executions, iterations), np.full(builds, executions), np.array([builds]))
    return Sample(values.ravel(), counts, tuple((0, b) for b in range(builds)))


def ours(base: Floats, head: Floats, size: Size, replicates: int) -> Floats:
    """gate.stats, on all cores."""
    sides = [hierarchy(sample(side), size.scheme, sessions=False) for side in (base, head)]
    x, y = replicate_means(sides, 1, range(replicates // CHUNK))
    return np.quantile(y / x, LIMITS)


def loop(base: Floats, head: Floats, size: Size, replicates: int) -> Floats:
    """Kalibera and Jones 2012, Fig. 2, as printed, in Python."""
    rng = random.Random(1)  # noqa: S311 - a simulation
    sides = [side.tolist() for side in (base, head)]
    if size.scheme == "FLAT":
        sides = [[[side.ravel().tolist()]] for side in (base, head)]

    def simulate_mean(side: list[list[list[float]]]) -> float:
        total, count = 0.0, 0
        for _ in side:
            build = side[rng.randrange(len(side))]
            for _ in build:
                execution = build[rng.randrange(len(build))]
                for _ in execution:
                    total += execution[rng.randrange(len(execution))]
                count += len(execution)
        return total / count

    return np.quantile([simulate_mean(sides[1]) / simulate_mean(sides[0]) for _ in range(replicates)], LIMITS)


def vectorised(base: Floats, head: Floats, size: Size, replicates: int) -> Floats:
    """One random index and one gather for each value, with numpy; some replicates at a time, which is faster."""
    rng = np.random.default_rng(1)
    means: list[list[Floats]] = [[], []]
    step = max(1, 200_000 // base.size)
    for start in range(0, replicates, step):
        rows = min(step, replicates - start)
        for side, found in zip((base, head), means, strict=True):
            if size.scheme == "FLAT":
                flat = side.ravel()
                found.append(flat[rng.integers(0, flat.size, (rows, flat.size))].mean(axis=1))
                continue
            b, e, i = side.shape
            builds = rng.integers(0, b, (rows, b, 1, 1))
            executions = rng.integers(0, e, (rows, b, e, 1))
            found.append(side[builds, executions, rng.integers(0, i, (rows, b, e, i))].mean(axis=(1, 2, 3)))
    x, y = (np.concatenate(found) for found in means)
    return np.quantile(y / x, LIMITS)


def by_scipy(base: Floats, head: Floats, _: Size, replicates: int) -> Floats:
    """scipy.stats.bootstrap, vectorised, in batches that fit; it knows no levels."""
    found = scipy.stats.bootstrap(
        (base.ravel(), head.ravel()),
        lambda x, y, axis: y.mean(axis=axis) / x.mean(axis=axis),
        n_resamples=replicates,
        batch=max(1, 200_000 // base.size),
        method="percentile",
        rng=np.random.default_rng(1),
    )
    return np.array(found.confidence_interval)


def by_arch(base: Floats, head: Floats, _: Size, replicates: int) -> Floats:
    """The bootstrap of independent samples of arch; it knows no levels."""
    bootstrap = arch.bootstrap.IndependentSamplesBootstrap(base.ravel(), head.ravel(), seed=1)
    found = bootstrap.conf_int(lambda x, y: y.mean() / x.mean(), reps=replicates, method="percentile")
    return np.asarray(found).ravel()


@numba.njit(inline="always")
def _drawn(state: np.uint64) -> np.uint64:
    # xorshift64 (Marsaglia 2003): numba's own generator takes ten times as long
    state ^= state << np.uint64(13)
    state ^= state >> np.uint64(7)
    return state ^ (state << np.uint64(17))


@numba.njit(inline="always")
def _below(state: np.uint64, count: int) -> np.uint64:
    return ((state >> np.uint64(32)) * np.uint64(count)) >> np.uint64(32)


@numba.njit()
def _compiled_means(side: Floats, replicates: int, flat: bool) -> Floats:
    # Fig. 2 of Kalibera and Jones: one random number and one load for each value
    builds, executions, iterations = side.shape
    values, means, state = side.ravel(), np.empty(replicates), np.uint64(88172645463325252)
    for replicate in range(replicates):
        total = 0.0
        for _ in range(builds):
            state = _drawn(state)
            build = _below(state, builds)
            for _ in range(executions):
                state = _drawn(state)
                first = (build * np.uint64(executions) + _below(state, executions)) * np.uint64(iterations)
                for _ in range(iterations):
                    state = _drawn(state)
                    total += values[_below(state, values.size) if flat else first + _below(state, iterations)]
        means[replicate] = total / values.size
    return means


def by_numba(base: Floats, head: Floats, size: Size, replicates: int) -> Floats:
    """The literal loop, compiled."""
    x, y = (_compiled_means(side, replicates, size.scheme == "FLAT") for side in (base, head))
    return np.quantile(y / x, LIMITS)


Method = Callable[[Floats, Floats, Size, int], Floats]
OTHERS: dict[str, tuple[Method, float]] = {
    # the values that each may resample at one size
    "loop": (loop, 1e7),
    "numpy": (vectorised, 2e8),
    "numba": (by_numba, 1e9),
    "scipy": (by_scipy, 2e8),
    "arch": (by_arch, 2e8),
}
MUST_BEAT = ("loop", "scipy", "arch")


def rate(
    method: Method,
    sides: tuple[Floats, Floats],
    size: Size,
    replicates: int,
    clock: Callable[[], float] = time.perf_counter,
) -> float:
    """Return values resampled a second by the best of as many runs as fit in two seconds, of two at least."""
    runs: list[float] = []
    while len(runs) < 2 or (sum(runs) < 2 and len(runs) < 50):
        start = clock()
        method(*sides, size, replicates)
        runs.append(clock() - start)
    return size.values * replicates / min(runs)


def one_core(size: Size) -> None:
    """Measure one size by processor time, gate.stats beside what numba compiles, and write its line."""
    sides = drawn(size, 1), drawn(size, 2)
    replicates = max(2, min(size.replicates, int(OTHERS["numba"][1] / size.values)))
    own = rate(ours, sides, size, size.replicates, time.process_time)
    compiled = rate(by_numba, sides, size, replicates, time.process_time)
    sys.stdout.write(f"{size!s:19} {own / 1e6:7.0f} {compiled / 1e6:7.0f} {own / compiled:6.2f}\n")


def compare(size: Size) -> bool:
    """Measure one size and write its line; tell whether gate.stats is ahead."""
    sides = drawn(size, 1), drawn(size, 2)
    own = rate(ours, sides, size, size.replicates)
    cells, ahead = [f"{size!s:19} {size.replicates:6} {own / 1e6:7.0f}"], True
    for name, (method, most) in OTHERS.items():
        replicates = max(2, min(size.replicates, int(most / size.values)))
        other = rate(method, sides, size, replicates)
        cells.append(f"{replicates:6} {other / 1e6:5.0f} {own / other:6.1f}")
        ahead = ahead and (name not in MUST_BEAT or own > other)
    sys.stdout.write(" |".join(cells) + ("\n" if ahead else "  behind\n"))
    sys.stdout.flush()
    return ahead


GROWTH = """
from benchmarks import bootstrap
size = bootstrap.SIZES[{index}]
sides = bootstrap.drawn(size, 1), bootstrap.drawn(size, 2)
before = bootstrap.memory_of_process("VmRSS")
bootstrap.ours(*sides, size, size.replicates)
print(bootstrap.memory_of_process("VmHWM") - before)
"""


def memory_of_process(name: str) -> int:
    """Return the bytes of memory this process has (VmRSS), or had at most (VmHWM); Linux only.

    Not getrusage: its maximum is inherited from the process that started this one.
    """
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) << 10 for line in status.splitlines() if line.startswith(name))


def memory(index: int) -> bool:
    """Resample one size in a process of its own and write by how much that grew; tell whether within 1 GiB."""
    script = GROWTH.format(index=index)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    grown = int(done.stdout)
    sys.stdout.write(f"{SIZES[index]!s:19} {SIZES[index].replicates:6} {grown / (1 << 20):7.0f} MiB\n")
    return grown < GIB


def main() -> int:
    """Measure, and tell by the exit code whether gate.stats keeps what it promises."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bootstrap", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small sizes only, some seconds")
    quick = parser.parse_args().quick
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    sys.stdout.write(f"million values a second on {cores} cores, and times ahead of each\n\n")
    names = " |".join(f"{name:>6} {'M/s':>5} {'ahead':>6}" for name in OTHERS)
    sys.stdout.write(f"{'a side':19} {'gate':>6} {'M/s':>7} |{names}\n")
    kept = [compare(size) for size in (QUICK if quick else SIZES)]
    sys.stdout.write(f"\non one core, by processor time\n\n{'a side':19} {'gate':>7} {'numba':>7}  ahead\n")
    for size in QUICK if quick else SIZES:
        one_core(size)
    if not quick and sys.platform == "linux":
        sys.stdout.write("\ngrowth of the process while it resamples\n\n")
        kept += [memory(index) for index, size in enumerate(SIZES) if size.values == LARGE]
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
