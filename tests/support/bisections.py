"""A bisection over simulated commits: the gate over both ends with its looks, then the search, in units of an execution."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from gate.stats.bisection import ENOUGH, VisitCosts, executions_for, next_visit, posterior
from gate.stats.power import needed
from gate.stats.sequential import spending

Floats = npt.NDArray[np.float64]
LOOKS = (4, 6, 8, 12)
EXECUTIONS = 5
EXECUTION = math.sqrt(0.02**2 + 0.03**2 / 10)
"""Standard deviation of an execution's mean: executions 2%, ten iterations of 3%."""
LATER, FIRST, VISIT = 1.0, 5.0, 1.0
"""What a later build (a link), a first one and laying out a visit cost, in executions."""
_LEVELS = [spending(LOOKS).nominal(k, 0.05, paired=True) for k in range(len(LOOKS))]


@dataclass(frozen=True, slots=True)
class Found:
    """What became of a search."""

    called: bool
    """Whether the gate over both ends found a regression."""
    right: bool
    probability: float
    gates: float
    """The cost of all of it, in gates of all their rounds."""


def search(
    seed: int, *, builds: float, commits: int = 64, times: float = 1.5, own: float = 0.0, most: float = math.inf
) -> Found:
    """Search for one culprit of so many times the detectable change of a whole gate.

    builds: standard deviation of builds on each side. own: of what sets each commit apart besides. most: gates.
    """
    rng = np.random.default_rng(seed)
    spread = math.sqrt(2 * (builds**2 + EXECUTION**2 / EXECUTIONS))
    step = times * needed(LOOKS[-1] - 1, _LEVELS[-1], 0.8) * spread / math.sqrt(LOOKS[-1])
    culprit = int(rng.integers(1, commits + 1))
    level = np.where(np.arange(1, commits + 1) >= culprit, step, 0.0) + own * rng.standard_normal(commits)
    a_round = 2 * (LATER + EXECUTIONS)
    gate = LOOKS[-1] * a_round + 2 * FIRST
    ends = level[-1] + spread * rng.standard_normal(LOOKS[-1])
    called = next((rounds for k, rounds in enumerate(LOOKS) if _crosses(ends[:rounds], _LEVELS[k])), None)
    if called is None:
        return Found(called=False, right=False, probability=0.0, gates=1.0)
    seen = {commits: ends[:called]}
    cost = called * a_round + 2 * FIRST
    executions = executions_for(
        float(ends[:called].var(ddof=1)) - 2 * EXECUTION**2 / EXECUTIONS,
        2 * EXECUTION**2, 2 * LATER, 2.0, EXECUTIONS,
    )  # fmt: skip
    noise = math.sqrt(2 * (builds**2 + EXECUTION**2 / executions))
    costs = VisitCosts(VISIT, FIRST, 2 * (LATER + executions))
    while True:
        found = posterior([1.0] * commits, seen)
        visit = (
            None
            if found.culprits.max() >= ENOUGH
            else next_visit(found, costs, range(1, commits), {c: len(v) for c, v in seen.items()})
        )
        if visit is None or cost > most * gate:
            best = int(found.culprits.argmax()) + 1
            return Found(called=True, right=best == culprit, probability=float(found.culprits.max()), gates=cost / gate)
        values = level[visit.commit - 1] + noise * rng.standard_normal(visit.rounds)
        seen[visit.commit] = np.concatenate([seen.get(visit.commit, np.empty(0)), values])
        cost += visit.seconds


def _crosses(values: Floats, alpha: float) -> bool:
    rounds = len(values)
    # min_builds of a regression
    if rounds < 5:
        return False
    return bool(values.mean() / (values.std(ddof=1) / math.sqrt(rounds)) > stats.t.isf(alpha / 2, rounds - 1))
