"""Prints the figures of docs/method.md: `.venv/bin/python -m tests.promise.table [PART]`, Markdown on standard output.

The parts are coverage, alarms, methods, levels and machines; without a name all of them, which takes ten minutes. What
tests/promise holds a bound for is simulated by the test's own functions, with the same seeds and counts.
"""

import sys
from collections.abc import Callable, Iterator

import numpy as np

from gate.model import Sample
from gate.stats.estimate import Method, ratio_of, reduce
from gate.stats.levels import variances
from tests.promise import machines
from tests.promise.test_fieller import ALARMS, coverage, false_alarms
from tests.support import simulate
from tests.support.samples import ends

TRIALS = 8000
REPORTS = 4000


def percent(share: float) -> str:
    return f"{share * 100:.1f}%"


def table(head: list[str], rows: Iterator[list[str]]) -> None:
    write(f"| {' | '.join(head)} |\n| {' | '.join('---' for _ in head)} |")
    for row in rows:
        write(f"| {' | '.join(row)} |")


def write(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def print_coverage() -> None:
    builds = [3, 5, 10, 20]

    def rows() -> Iterator[list[str]]:
        for benchmark, components in (("FFT", simulate.FFT), ("HTTP OPT", simulate.HTTP_OPT)):
            for name in simulate.DISTRIBUTIONS:
                covered = (percent(coverage(name, b, TRIALS, components, seed=1)) for b in builds)
                yield [benchmark, name, *covered]

    table(["components", "build effects", *(f"{b} builds" for b in builds)], rows())


def print_alarms() -> None:
    def rows() -> Iterator[list[str]]:
        for name, threshold, promise in ALARMS:
            yield [name, percent(threshold), percent(promise), percent(false_alarms(name, REPORTS, threshold))]

    table(["build effects", "threshold", "promise", "reports that fail"], rows())


def print_methods() -> None:
    """Compare fieller-kj and fieller on the same data: HTTP OPT, 3 x 10 x 10, a true change of 5%."""
    methods: list[Method] = ["fieller-kj", "fieller"]

    def row(method: Method) -> list[str]:
        rng = np.random.default_rng(1)
        inside, above, half = 0, 0, 0.0
        for _ in range(TRIALS):
            base, head = (
                simulate.sample(rng, simulate.normal, simulate.HTTP_OPT, (3, 10, 10), mean=mean) for mean in (1, 1.05)
            )
            low, high = ends(ratio_of(reduce(base, head, None, exact=False), method).limits(0.05))
            inside += low < 1.05 < high
            above += low > 1
            half += (high - low) / 2
        return [f"`{method}`", percent(inside / TRIALS), percent(half / TRIALS), percent(above / TRIALS)]

    table(["interval", "coverage", "mean half-width", "power at threshold 0"], (row(method) for method in methods))


def print_levels() -> None:
    """T2 of unbalanced data whose truth is 1, 2 and 0.5: a unit with one child takes its level's mean variance."""
    shapes = {
        "balanced, 4 x 3 x 3": [[3, 3, 3]] * 4,
        "like units, one child here and there": [[1, 3], [3, 1], [1, 3], [3, 1]],
        "unlike units": [[1], [2, 5], [1, 3, 2, 6], [4, 1, 2]],
    }

    def row(name: str, builds: list[list[int]]) -> list[str]:
        rng = np.random.default_rng(1)
        iterations = np.array([n for build in builds for n in build])
        executions = np.array([len(build) for build in builds])
        total = np.zeros(3)
        trials = 25 * TRIALS
        for _ in range(trials):
            build = np.repeat(rng.normal(0, 0.5**0.5, len(builds)), executions)
            execution = np.repeat(build + rng.normal(0, 2**0.5, len(iterations)), iterations)
            values = 100 + execution + rng.normal(0, 1, len(execution))
            counts = (iterations, executions, np.array([len(builds)]))
            found = variances(Sample(values, counts, tuple((0, k) for k in range(len(builds)))))
            total += [level.t2 for level in found]
        return [name, *(f"{mean:.2f}" for mean in total / trials)]

    head = ["counts", "iteration (truth 1)", "execution (truth 2)", "build (truth 0.5)"]
    table(head, (row(name, builds) for name, builds in shapes.items()))


def print_machines() -> None:
    """Given machines, by the formula on arrays: coverage, reports of 20 that fail, and power where machines differ."""
    factors = (1.0, 2.0, 4.0)
    trials = 200_000

    def row(count: int, rounds: int) -> list[str]:
        cells = []
        for factor in factors:
            rng = np.random.default_rng([6, count, rounds])
            drawn = machines.draw(rng, machines.unlike(count, factor), rounds, trials)
            found, usual = machines.fixed(drawn), machines.weighted(drawn)
            shares = (machines.coverage(found, 0), machines.failing(found, 20, 0.0), machines.coverage(usual, 0))
            cells.append(" / ".join(map(percent, shares)))
        return [f"{count} x {rounds}", *cells]

    head = ["machines x rounds", *(f"noise 1:{factor:.0f}" for factor in factors)]
    table(head, (row(count, rounds) for count in (2, 3, 5) for rounds in (3, 5, 8)))
    changes = np.log(1 + np.array([0.12, 0.12, 0.14, 0.38, 0.40]))

    def power(noise: float, rounds: int) -> list[str]:
        rng = np.random.default_rng([7, rounds])
        drawn = machines.draw(rng, np.full(5, noise * 2**0.5), rounds, 40_000, changes)
        cells = []
        for found in (machines.fixed(drawn), machines.sampled(drawn)):
            p = found.p(np.log(1.05))
            cells += [percent(float((p < 0.05).mean())), percent(float((p * 10 < 0.05).mean()))]
        return [f"{noise:.0%}, {rounds} rounds", *cells]

    write("")
    head = ["noise of builds", "fixed, alone", "fixed, one of 10", "random, alone", "random, one of 10"]
    table(head, (power(noise, rounds) for noise in (0.01, 0.02, 0.04) for rounds in (3, 5)))


PARTS: dict[str, Callable[[], None]] = {
    "coverage": print_coverage,
    "alarms": print_alarms,
    "methods": print_methods,
    "levels": print_levels,
    "machines": print_machines,
}


if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()
        write("")
