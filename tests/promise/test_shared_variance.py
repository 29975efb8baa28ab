"""Variance shared over cases where docs/method.md promises it: coverage, false alarms, quantiles, rounds that lack.

`python -m tests.promise.test_shared_variance` prints the table of docs/method.md.
"""

import sys
from collections.abc import Callable

import numpy as np
import pytest

from gate.stats.ratio import Rounds, rounds_of
from gate.stats.rounding import Array
from gate.stats.shared_variance import share_variance
from tests.promise.test_gate import at_most, covers, standard_error
from tests.support.samples import there, tops
from tests.support.seeds import some

CASES = 20
Draw = Callable[[np.random.Generator, int, int], tuple[Array, Array]]


def means(correlation: float, sds: Array) -> Draw:
    """Builds that differ by so much in each case, with so much in common."""

    def draw(rng: np.random.Generator, reports: int, rounds: int) -> tuple[Array, Array]:
        size = (reports, CASES, rounds)
        common = np.sqrt(correlation) * rng.normal(0, 1, size)
        base, head = (common + np.sqrt(1 - correlation) * rng.normal(0, 1, size) for _ in range(2))
        return sds[:, None] * base, sds[:, None] * head

    return draw


def quantiles(tau: float) -> Draw:
    """Logarithms of a quantile of 1,000 lognormal values a build, whose scale differs from case to case."""

    def draw(rng: np.random.Generator, reports: int, rounds: int) -> tuple[Array, Array]:
        sides = []
        for _ in range(2):
            found = np.empty((reports, CASES, rounds))
            for case in range(CASES):
                scale = 0.1 + 0.4 * case / CASES
                values = scale * rng.normal(0, 1, (reports, rounds, 1000)) + 0.02 * rng.normal(
                    0, 1, (reports, rounds, 1)
                )
                found[:, case] = np.quantile(values, tau, axis=2, method="median_unbiased")
            sides.append(found)
        return sides[0], sides[1]

    return draw


def rates(draw: Draw, rounds: int, reports: int, *, lost: int = 0, seed: int = 1) -> tuple[float, float, float]:
    """Coverage of 95% over all cases and over the noisiest tenth, and the share of reports that fail at threshold 0."""
    rng = np.random.default_rng([seed, rounds, lost])
    base, head = draw(rng, reports, rounds)
    kept = np.ones(base.shape, dtype=bool)
    if lost:
        # up to so many rounds of a case lack a partner, whatever their values are
        order = np.argsort(rng.random(base.shape), axis=-1)
        kept = order >= rng.integers(0, lost + 1, (*base.shape[:2], 1))
    inside, failed = np.zeros(base.shape[:2], dtype=bool), 0
    for report in range(reports):
        cases = [of_logs(base[report, k][keep], head[report, k][keep]) for k, keep in enumerate(kept[report])]
        known = there(share_variance(cases))
        pairs = [case.pair(own.variance, own.df) for case, own in zip(cases, known, strict=True)]
        inside[report] = [covers(pair.limits(0.05), 1.0) for pair in pairs]
        failed += min(pair.p(1.0, "above") or 0.0 for pair in pairs) * CASES < 0.05
    # the last two are the noisiest, where cases differ
    return float(inside.mean()), float(inside[:, -2:].mean()), failed / reports


def of_logs(base: Array, head: Array) -> Rounds:
    return there(rounds_of(tops(base, log=True), tops(head, log=True)))


ALIKE = np.full(CASES, 0.04)
UNLIKE = np.geomspace(0.01, 0.08, CASES)
SETTINGS: dict[str, tuple[Draw, int]] = {
    "like cases": (means(0.0, ALIKE), 0),
    "noise 1 to 8": (means(0.0, UNLIKE), 0),
    "noise 1 to 8, correlation 0.9": (means(0.9, UNLIKE), 0),
    "noise 1 to 8, up to 2 rounds lost": (means(0.6, UNLIKE), 2),
    "p50": (quantiles(0.5), 0),
    "p99": (quantiles(0.99), 0),
}


QUICK = [("noise 1 to 8, correlation 0.9", 5, 200), ("noise 1 to 8, up to 2 rounds lost", 5, 200)]


def reports_of(name: str) -> int:
    return 1000 if name.startswith("p") else 4000


@pytest.mark.parametrize(
    ("name", "rounds", "reports"),
    some([*QUICK, *((name, rounds, reports_of(name)) for name in SETTINGS for rounds in (4, 5, 8, 12))], 2),
)
def test_coverage_and_alarms(name: str, rounds: int, reports: int) -> None:
    draw, lost = SETTINGS[name]
    covered, noisiest, failed = rates(draw, rounds, reports, lost=lost)
    assert covered >= 0.945 - 3 * standard_error(0.945, reports * CASES)
    assert noisiest >= 0.94 - 3 * standard_error(0.94, reports * 2)
    at_most(failed, 0.025, reports)


def main() -> None:
    sys.stdout.write("| cases | 4 rounds | 5 rounds | 8 rounds | 12 rounds |\n| --- | --- | --- | --- | --- |\n")
    for name, (draw, lost) in SETTINGS.items():
        cells = []
        for rounds in (4, 5, 8, 12):
            covered, noisiest, failed = rates(draw, rounds, reports_of(name), lost=lost)
            cells.append(f"{covered:.1%}, {noisiest:.1%}, {failed:.1%}")
        sys.stdout.write(f"| {name} | {' | '.join(cells)} |\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
