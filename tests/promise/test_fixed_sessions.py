"""What docs/method.md promises of `gate.sessions = "fixed"`: coverage, false alarms and power of the whole gate.

Everything goes through decide. A machine has its own speed, its own change and its own noise; the question is about
the mean over these machines. Each bound is the promise plus three standard errors of the simulation.
"""

import datetime
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pytest

from gate.config.rules import Policy
from gate.config.types import Config, Gate
from gate.decide.report import decide
from gate.model import Report, Sample
from gate.writing.units import Quantity, Share
from tests.promise.test_gate import at_most, standard_error
from tests.support import simulate
from tests.support.samples import nested
from tests.support.seeds import some

TODAY = datetime.date(2026, 11, 20)


@dataclass(frozen=True)
class Machines:
    """What is drawn. noise: sd of builds on each machine. changes: ln(head/base) on each. rho: of both sides' builds."""

    noise: tuple[float, ...]
    changes: tuple[float, ...]
    rounds: int
    effects: str = "normal"
    rho: float = 0.0
    cases: int = 1

    @property
    def truth(self) -> float:
        """The mean of the changes over these machines."""
        return math.exp(sum(self.changes) / len(self.changes))


def unlike(count: int, factor: float) -> tuple[float, ...]:
    """Standard deviations from 3% up to so many times as much."""
    return tuple(np.linspace(0.03, 0.03 * factor, count).tolist())


def drawn(rng: np.random.Generator, of: Machines) -> tuple[Sample, Sample]:
    """Draw builds of 2 starts of 3 values; what both sides of a round share has the correlation rho."""
    sides: list[list[npt.NDArray[np.float64]]] = [[], []]
    draw = simulate.DISTRIBUTIONS[of.effects]
    for noise, change in zip(of.noise, of.changes, strict=True):
        speed = math.exp(rng.normal(0, 0.7))
        shared = draw(rng, of.rounds) * math.sqrt(of.rho)
        for side, scale in enumerate((speed, speed * math.exp(change))):
            own = shared + draw(rng, of.rounds) * math.sqrt(1 - of.rho)
            builds = scale * np.exp(noise * own)
            executions = builds[:, None] * np.exp(0.005 * rng.normal(0, 1, (of.rounds, 2)))
            sides[side] += list(executions[:, :, None] * np.exp(0.01 * rng.normal(0, 1, (of.rounds, 2, 3))))
    base, head = (nested(side, [of.rounds] * len(of.noise)) for side in sides)
    return base, head


def decided(rng: np.random.Generator, of: Machines, threshold: float, mode: str = "fixed") -> Report:
    gate = Gate(threshold=Share(threshold), floor=Quantity.parse("0"), sessions=mode)  # type: ignore[arg-type]  # one of two
    return decide(
        simulate.evidence([drawn(rng, of) for _ in range(of.cases)]), Policy(Config(gate=gate), "test", TODAY)
    )


def covered(of: Machines, trials: int, seed: Sequence[int]) -> float:
    rng = np.random.default_rng(seed)
    found = (decided(rng, of, 0.03).findings[0].ratio for _ in range(trials))
    return sum(r.low is not None and r.high is not None and r.low < of.truth < r.high for r in found) / trials


def alarms(of: Machines, reports: int, threshold: float, seed: Sequence[int]) -> float:
    rng = np.random.default_rng(seed)
    return sum(decided(rng, of, threshold).verdict == "regression" for _ in range(reports)) / reports


def spread(count: int) -> tuple[float, ...]:
    """Changes from 0 to 30%, each machine another one."""
    return tuple(0.26 * k / (count - 1) for k in range(count))


NOISES = [(1.0, "normal", 0.0), (4.0, "normal", 0.9), (2.0, "skewed", 0.5)]
WHOLE = [(count, rounds, *noise, 4000) for noise in NOISES for count in (2, 3, 5) for rounds in (3, 5, 8)]


@pytest.mark.parametrize(
    ("count", "rounds", "factor", "effects", "rho", "trials"), some([(2, 3, 4.0, "normal", 0.0, 40), *WHOLE], 1)
)
def test_coverage(count: int, rounds: int, factor: float, effects: str, rho: float, trials: int) -> None:
    of = Machines(unlike(count, factor), spread(count), rounds, effects, rho)
    found = covered(of, trials, [1, count, rounds, int(factor)])
    assert 0.94 - 3 * standard_error(0.94, trials) <= found, found
    at_most(found, 0.97, trials)


@pytest.mark.parametrize(
    ("count", "rounds", "factor", "effects", "promise", "reports", "cases"),
    some(
        [
            (3, 5, 2.0, "normal", 0.03, 15, 5),
            (2, 3, 1.0, "normal", 0.03, 2000, 20),
            (5, 3, 2.0, "normal", 0.03, 2000, 20),
            (2, 3, 4.0, "normal", 0.05, 2000, 20),
            (3, 5, 2.0, "skewed", 0.03, 2000, 20),
            (3, 5, 2.0, "bimodal 50:50", 0.04, 2000, 20),
        ],
        1,
    ),
)
def test_false_alarms(
    count: int, rounds: int, factor: float, effects: str, promise: float, reports: int, cases: int
) -> None:
    """Reports of 20 findings that fail at threshold 0 though nothing changed."""
    of = Machines(unlike(count, factor), (0.0,) * count, rounds, effects, cases=cases)
    at_most(alarms(of, reports, 0.0, [2, count]), promise, reports)


def power(of: Machines, reports: int, mode: str) -> float:
    rng = np.random.default_rng([3, of.rounds])
    found = [decided(rng, of, 0.05, mode).findings[0].verdict for _ in range(reports)]
    return sum(verdict == "regression" for verdict in found) / reports


FIVE = tuple(math.log(1 + change) for change in (0.12, 0.12, 0.14, 0.38, 0.40))


@pytest.mark.parametrize("rounds", some([3, 5], 1))
def test_what_five_machines_each_show_is_found(rounds: int) -> None:
    of = Machines((0.02,) * 5, FIVE, rounds)
    assert power(of, 20, "fixed") == 1.0
    # alone in its report a sample of these five finds it sometimes, in a family never
    many = Machines((0.02,) * 5, FIVE, rounds, cases=10)
    rng = np.random.default_rng(4)
    assert sum(decided(rng, many, 0.05, "random").verdict == "regression" for _ in range(5)) == 0
    assert sum(decided(rng, many, 0.05, "fixed").verdict == "regression" for _ in range(5)) == 5
