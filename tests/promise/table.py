"""Prints the figures of docs/method.md: `.venv/bin/python -m tests.promise.table [PART]`, Markdown on standard output.

The parts are coverage, alarms, methods, levels and machines; without a name all of them, which takes ten minutes. What
tests/promise holds a bound for is simulated by the test's own functions, with the same seeds and counts.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy import stats

from gate.model import Sample
from gate.stats.estimate import Method, ratio_of, reduce
from gate.stats.levels import variances
from gate.stats.rounding import Array
from tests.promise import test_fieller
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
                covered = (percent(test_fieller.coverage(name, b, TRIALS, components, seed=1)) for b in builds)
                yield [benchmark, name, *covered]

    table(["components", "build effects", *(f"{b} builds" for b in builds)], rows())


def print_alarms() -> None:
    def rows() -> Iterator[list[str]]:
        for name, threshold, promise in test_fieller.ALARMS:
            yield [
                name,
                percent(threshold),
                percent(promise),
                percent(test_fieller.false_alarms(name, REPORTS, threshold)),
            ]

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


# --- the interval over given machines as arrays; test_fixed_sessions.py compares it with the code of the gate


@dataclass(frozen=True)
class Means:
    """Means with the variance and the degrees of each, shape (trials,)."""

    value: Array
    variance: Array
    df: Array

    def limits(self, alpha: float) -> tuple[Array, Array]:
        """Return both limits at confidence 1 - alpha."""
        half = stats.t.ppf(1 - alpha / 2, self.df) * np.sqrt(self.variance)
        return self.value - half, self.value + half

    def p(self, edge: float) -> Array:
        """Return the two-sided p of "the mean is above the edge"."""
        return np.asarray(2 * stats.t.sf((self.value - edge) / np.sqrt(self.variance), self.df))


def unlike(count: int, factor: float) -> Array:
    """Return standard deviations from 1 up to so many times as much."""
    return np.linspace(1, factor, count)


def draw(rng: np.random.Generator, deviations: Array, rounds: int, trials: int, changes: Array | float = 0.0) -> Array:
    """Draw rounds, shape (trials, machines, rounds)."""
    means = np.broadcast_to(changes, deviations.shape)
    return means[:, None] + deviations[:, None] * rng.normal(0, 1, (trials, len(deviations), rounds))


def fixed(rounds: Array) -> Means:
    """Judge each machine by its rounds, all machines alike."""
    _, count, each = rounds.shape
    parts = rounds.var(axis=2, ddof=1) / each / count**2
    return Means(
        rounds.mean(axis=(1, 2)), parts.sum(axis=1), (each - 1) * parts.sum(axis=1) ** 2 / (parts**2).sum(axis=1)
    )


def weighted(rounds: Array) -> Means:
    """Weigh machines by inverse variance, as is customary and covers too little."""
    _, count, each = rounds.shape
    weights = each / rounds.var(axis=2, ddof=1)
    value = (weights * rounds.mean(axis=2)).sum(axis=1) / weights.sum(axis=1)
    return Means(value, 1 / weights.sum(axis=1), np.full(len(rounds), count * (each - 1.0)))


def sampled(rounds: Array) -> Means:
    """Take machines for a sample of others."""
    _, count, _ = rounds.shape
    own = rounds.mean(axis=2)
    return Means(own.mean(axis=1), own.var(axis=1, ddof=1) / count, np.full(len(rounds), count - 1.0))


def coverage(found: Means, truth: float, alpha: float = 0.05) -> float:
    """Return how often the interval holds the truth."""
    low, high = found.limits(alpha)
    return float(((low < truth) & (truth < high)).mean())


def failing(found: Means, cases: int, edge: float, alpha: float = 0.05) -> float:
    """Return how often one of so many findings regresses by Holm, of reports made of successive trials."""
    p = found.p(edge).reshape(-1, cases)
    return float((p.min(axis=1) * cases < alpha).mean())


def print_machines() -> None:
    """Given machines, by the formula on arrays: coverage, reports of 20 that fail, and power where machines differ."""
    factors = (1.0, 2.0, 4.0)
    trials = 200_000

    def row(count: int, rounds: int) -> list[str]:
        cells = []
        for factor in factors:
            rng = np.random.default_rng([6, count, rounds])
            drawn = draw(rng, unlike(count, factor), rounds, trials)
            found, usual = fixed(drawn), weighted(drawn)
            shares = (coverage(found, 0), failing(found, 20, 0.0), coverage(usual, 0))
            cells.append(" / ".join(map(percent, shares)))
        return [f"{count} x {rounds}", *cells]

    head = ["machines x rounds", *(f"noise 1:{factor:.0f}" for factor in factors)]
    table(head, (row(count, rounds) for count in (2, 3, 5) for rounds in (3, 5, 8)))
    changes = np.log(1 + np.array([0.12, 0.12, 0.14, 0.38, 0.40]))

    def power(noise: float, rounds: int) -> list[str]:
        rng = np.random.default_rng([7, rounds])
        drawn = draw(rng, np.full(5, noise * 2**0.5), rounds, 40_000, changes)
        cells = []
        for found in (fixed(drawn), sampled(drawn)):
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
