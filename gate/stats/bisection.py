"""Noisy binary search over the commits of a range: the posterior over culprits, and what is best measured next.

The commits after good are numbered 1..n, n is bad. A round gives D = ln(head/base) of a commit against good, above 0
where it is slower. Model: D of commit i is N(t_i + u_i, s^2), t_i the sum of the steps up to i, u_i ~ N(0, q s^2) what
sets a commit apart besides (its own layout, a change too small to look for), s and q on grids. There is one step, at k
with the prior of commit k, of size N(0, S^2), which is integrated out exactly; of several it is the one that explains
most. Since every round holds good itself, no day and no machine is compared with another one.

Sources: noisy binary search by the posterior (Horstein 1963; Burnashev and Zigangirov 1974), flake-aware culprit
finding (Henderson et al., ICST 2023). docs/method.md, bisect.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gate.stats.rounding import Array
from gate.stats.special import ndtr

ENOUGH = 0.95
"""The posterior at which a culprit is named."""
_OWN = (0.0, 0.02, 0.1)
"""Variances of what sets a commit apart, as multiples of the variance of a round, and their prior."""
_OWN_PRIOR = (0.8, 0.15, 0.05)
_SIGMAS = 24
_REACH = 4.0
"""The grid of s goes from the pooled estimate divided by this to that times this."""
_WIDE = 2.0
"""The standard deviation of the prior of a step, as a multiple of what the ends differ by."""
_SAME = 1e-6
"""The standard deviation of a commit that is proved to run the same program as good, as a share of a round's."""


@dataclass(frozen=True, slots=True, eq=False)
class Posterior:
    """What the measurements say of every commit."""

    culprits: Array
    """Shape (n,): the probability that commit i + 1 brought the slowdown; it sums to 1."""
    step: float
    """Posterior mean of its size, as a logarithm."""
    step_sd: float
    noise: float
    """Standard deviation of D over rounds."""
    own: float
    """Posterior mean of q: the variance of what sets a commit apart, as a multiple of the noise's."""


def posterior(
    prior: Sequence[float], ratios: Mapping[int, Sequence[float] | Array], same: Collection[int] = ()
) -> Posterior:
    """Return the posterior over culprits.

    Args:
        prior: of each commit after good, any scale; one that can hardly matter has little.
        ratios: ln(commit/good) of each complete round, at least one, by commit; at least those of bad.
        same: commits that are proved to run what good runs.
    """
    weights = np.asarray(prior, dtype=float) / sum(prior)
    found = {commit: np.array(own) for commit, own in sorted(ratios.items())}
    # where something is known; all commits between two places have the culprit's probability by their priors
    places = np.array(sorted({*found, *same, len(weights)}))
    inside = np.split(weights, places[:-1])
    counts, means = np.zeros(len(places)), np.zeros(len(places))
    at = np.searchsorted(places, [*found])
    counts[at], means[at] = [len(own) for own in found.values()], [own.mean() for own in found.values()]
    squares = sum(float(((own - own.mean()) ** 2).sum()) for own in found.values())
    df = sum(len(own) - 1 for own in found.values())
    pooled = math.sqrt(squares / df) if df and squares > 0 else max(abs(means).max(), 1e-9) * 1e-3
    # columns are the grid of (s, q), rows are places: 1 over the variance of each mean, 0 where nothing was measured
    sigmas = np.repeat(pooled * np.geomspace(1 / _REACH, _REACH, _SIGMAS), len(_OWN))
    own = np.tile(_OWN, _SIGMAS)
    with np.errstate(divide="ignore"):
        precisions = np.where(counts[:, None] > 0, 1 / (sigmas**2 * (1 / counts[:, None] + own)), 0.0)
    proved = np.isin(places, list(same))
    precisions[proved], means[proved] = 1 / (pooled * _SAME) ** 2, 0.0
    # Jeffreys' prior of s is flat on a grid of equal ratios; what is common to all places is left out
    logs = np.tile(np.log(_OWN_PRIOR), _SIGMAS) - df * np.log(sigmas) - squares / (2 * sigmas**2)
    logs = logs + 0.5 * np.log(np.where(precisions > 0, precisions, 1.0)).sum(axis=0)
    # a step at each place: all places from there on have it
    scale = _WIDE * max(abs(means[-1]), pooled / math.sqrt(max(counts[-1], 1.0)))
    products = precisions * means[:, None]
    weight, product = (np.cumsum(each[::-1], axis=0)[::-1] for each in (precisions, products))
    precision = weight + 1 / scale**2
    size = product / precision
    evidence = 0.5 * product**2 / precision - 0.5 * (products * means[:, None]).sum(axis=0)
    evidence -= 0.5 * np.log(precision * scale**2)
    # a slowdown is looked for, so that half of the prior is not meant
    evidence += np.log(np.maximum(ndtr(size * np.sqrt(precision)), 1e-300))
    with np.errstate(divide="ignore"):
        logs = evidence + np.log([part.sum() for part in inside])[:, None] + logs
    shares: Array = np.exp(logs - logs.max())
    shares /= shares.sum()
    step = float((shares * size).sum())
    spread = float((shares * (1 / precision + size**2)).sum()) - step**2
    spread_out = [
        mass * (part / part.sum() if part.sum() > 0 else np.full(len(part), 1 / len(part)))
        for mass, part in zip(shares.sum(axis=1), inside, strict=True)
    ]
    of_grid = shares.sum(axis=0)
    return Posterior(
        culprits=np.concatenate(spread_out), step=step, step_sd=math.sqrt(max(spread, 0.0)),
        noise=float((of_grid * sigmas).sum()), own=float((of_grid * own).sum()),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class VisitCosts:
    """Seconds of what a visit takes."""

    visit: float
    """Making trees and building good, whatever is measured."""
    build: float
    """Building a commit for the first time."""
    round: float


@dataclass(frozen=True, slots=True)
class Visit:
    """The commit that is best measured next."""

    commit: int
    rounds: int
    information: float
    """Bits that it is expected to give about the culprit."""
    seconds: float


MOST_ROUNDS = 4
"""Of one visit: what the first of them say may make others pointless."""
_NODES = np.linspace(-4.5, 4.5, 61)


def information(before: Array, distance: Array) -> Array:
    """Return the bits that a value tells about whether a commit has the step.

    Args:
        before: probabilities that it has it. distance: the step over the standard deviation of the value.
    """
    p, d = np.clip(before, 1e-12, 1 - 1e-12), np.asarray(distance)
    # nodes around the middle of both, far enough for either
    reach = 1 + np.max(d, initial=0.0) / (2 * _NODES[-1])
    spacing = _NODES[1] - _NODES[0]
    value = _NODES[:, None] * reach + d / 2
    without, having = (np.exp(-0.5 * z**2) / math.sqrt(2 * math.pi) for z in (value, value - d))
    mixed = (1 - p) * without + p * having
    with np.errstate(divide="ignore", invalid="ignore"):
        gain = np.where(without > 0, (1 - p) * without * np.log2(without / mixed), 0.0)
        gain += np.where(having > 0, p * having * np.log2(having / mixed), 0.0)
    bits: Array = np.maximum(gain.sum(axis=0) * spacing * reach, 0.0)
    return bits


def next_visit(
    found: Posterior, costs: VisitCosts, measurable: Collection[int], rounds_of: Mapping[int, int]
) -> Visit | None:
    """Return the visit that gives most information a second; None: no commit can be measured that tells anything.

    Args:
        measurable: commits that can be measured, bad left out.
        rounds_of: those that a commit has already, whose build is then kept. What sets it apart by itself remains, so
            that the tenth round of one commit tells less than the first of another.
    """
    commits = np.array(sorted(measurable), dtype=np.int64)
    if not len(commits) or found.noise <= 0:
        return None
    has = np.cumsum(found.culprits)[commits - 1]
    before = np.array([rounds_of.get(int(each), 0) for each in commits], dtype=float)
    best: Visit | None = None
    for rounds in range(1, MOST_ROUNDS + 1):
        # how much so many rounds of one commit tell, in rounds of as many commits
        after = before + rounds
        gained = after / (1 + found.own * after) - before / (1 + found.own * before)
        distance = max(found.step, 0.0) / found.noise * np.sqrt(gained)
        bits = information(has, distance)
        seconds = costs.visit + np.where(before > 0, 0.0, costs.build) + rounds * costs.round
        at = int((bits / seconds).argmax())
        if bits[at] > 0 and (best is None or bits[at] / seconds[at] > best.information / best.seconds):
            best = Visit(int(commits[at]), rounds, float(bits[at]), float(seconds[at]))
    return best


def entropy(culprits: Array) -> float:
    """Return how many bits are missing."""
    kept = culprits[culprits > 0]
    return float(-(kept * np.log2(kept)).sum())


def sets_of(commits: int, unmeasurable: Collection[int]) -> list[tuple[int, int]]:
    """Return which commits cannot be distinguished, as first and last: those between two that can be measured.

    A culprit is seen at itself and not at the commit before; where that one cannot be measured both are one set.
    """
    found, first = [], 1
    for commit in range(1, commits + 1):
        if commit == commits or commit not in unmeasurable:
            found.append((first, commit))
            first = commit + 1
    return found


def executions_for(build: float, execution: float, build_cost: float, execution_cost: float, most: int) -> int:
    """Return how many executions a round needs, from 1 to those of the plan: the most information a second.

    Kalibera and Jones 2012, eq. (14): the root of cost times variance of the levels above over those of this one.

    Args:
        build, execution: variances of each level alone (T2), relative. build_cost, execution_cost: seconds.
        most: executions of the plan, where builds do not differ or nothing is known.
    """
    if build <= 0 or execution_cost <= 0 or build_cost < 0:
        return most
    wanted = math.sqrt(max(build_cost, 0.0) / execution_cost * max(execution, 0.0) / build)
    return min(max(1, math.ceil(wanted)), most)
