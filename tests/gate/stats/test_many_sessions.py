"""Sessions as the fourth level: ratios formed within a host cover, whatever the hosts' speeds, and what hosts change."""

import numpy as np
import pytest

from gate.model import Sample
from gate.stats.centers import reduce_to
from gate.stats.levels import Reduced, of_builds, of_rounds, of_shared_sessions
from gate.stats.ratio import Limits, ratio_of
from gate.stats.rounding import Array
from tests.support.samples import nested
from tests.support.seeds import some
from tests.support.simulate import normal, sample

TRUTH = 1.05
BUILDS = 4


def side(values: Array) -> Sample:
    """A side of values of shape (sessions, builds), or with a third axis of an execution's values."""
    sessions, builds = values.shape[:2]
    return nested(values.reshape(sessions * builds, 1, -1), [builds] * sessions)


def measured(rng: np.random.Generator, sessions: int, speeds: float, change: float) -> tuple[Sample, Sample]:
    """Draw both sides on hosts that differ by a factor: speeds, standard deviation of its logarithm.

    change: standard deviation of the ratio from host to host. Builds vary by 1% on each.
    """
    host = np.exp(rng.normal(0, speeds, (sessions, 1)))
    of_host = TRUTH + rng.normal(0, change, (sessions, 1))
    base, head = (host * rng.normal(1, 0.01, (sessions, BUILDS)) for _ in range(2))
    return side(base), side(head * of_host)


def limits(sides: tuple[Sample, Sample], method: str = "fieller-paired", alpha: float = 0.05) -> Limits:
    return ratio_of(reduce_to(*sides, None, exact=False), method).limits(alpha)  # type: ignore[arg-type]  # by name


def width(found: Limits) -> float:
    return (found.high or np.inf) - (found.low or -np.inf)


@pytest.mark.parametrize("sessions", some([2, 3, 4, 5], 1))
@pytest.mark.parametrize(("speeds", "change"), some([(np.log(2), 0.03), (0.0, 0.03), (np.log(2), 0.0), (0.0, 0.0)], 1))
def test_the_interval_over_sessions_covers(sessions: int, speeds: float, change: float) -> None:
    rng = np.random.default_rng(sessions)
    trials = 1000
    found = [limits(measured(rng, sessions, speeds, change)) for _ in range(trials)]
    inside = sum(each.kind != "bounded" or (each.low or 0) <= TRUTH <= (each.high or 0) for each in found)
    # three standard errors below what is promised
    assert inside / trials >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / trials)


@pytest.mark.parametrize("sessions", some([3, 2, 5], 1))
def test_hosts_of_other_speeds_do_not_widen_the_ratio(sessions: int) -> None:
    rng = np.random.default_rng(7)
    alike = [width(limits(measured(rng, sessions, 0.0, 0.0))) for _ in range(300)]
    apart = [width(limits(measured(rng, sessions, np.log(2), 0.0))) for _ in range(300)]
    assert np.median(apart) < 1.25 * np.median(alike)
    # without the pairing the speeds of the hosts are all that there is to see
    unpaired = [width(limits(measured(rng, sessions, np.log(2), 0.0), "fieller")) for _ in range(300)]
    assert np.median(unpaired) > 10 * np.median(apart)


def quantile(rng: np.random.Generator, sessions: int, change: float = 0.0, ratio: float = TRUTH) -> Reduced:
    """Draw both sides at 0.1 s on hosts that differ by a factor of 2, with 20 values a build, and reduce to p50."""
    host = 0.1 * np.exp(rng.normal(0, np.log(2), (sessions, 1, 1)))
    of_host = ratio * np.exp(rng.normal(0, change, (sessions, 1, 1)))
    builds, within = (
        [rng.normal(0, sd, (sessions, BUILDS, count)) for _ in range(2)] for sd, count in ((0.01, 1), (0.02, 20))
    )
    drawn = [np.exp(of_build + of_value) for of_build, of_value in zip(builds, within, strict=True)]
    return reduce_to(side(host * drawn[0]), side(host * of_host * drawn[1]), 0.5, exact=False)


@pytest.mark.parametrize(("sessions", "change"), some([(2, 0.03), (4, 0.03), (2, 0.0), (4, 0.0)], 1))
def test_a_quantile_over_sessions_covers_and_its_difference_leaves_the_hosts_out(sessions: int, change: float) -> None:
    rng = np.random.default_rng(sessions)
    trials, inside, wide = 400, 0, []
    for _ in range(trials):
        pair = ratio_of(quantile(rng, sessions, change), "fieller-paired")
        found, difference = pair.limits(0.05), pair.difference_limits(0.05)
        inside += (found.low or 0) <= TRUTH <= (found.high or np.inf)
        wide.append(width(difference) / np.sqrt(pair.x * pair.y) / width(found))
    assert inside / trials >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / trials)
    # the same change, in the unit of a machine in the middle
    assert np.median(wide) == pytest.approx(1, rel=0.1)


def test_the_step_of_a_timer_is_looked_for_within_a_session() -> None:
    base = side(np.array([[10.0, 11.0], [25.0, 27.0], [17.0, 17.5]]))
    assert reduce_to(base, base, None, exact=False).base.gap == 0.5
    constant = side(np.array([[1000.0, 1000.0], [2000.0, 2000.0]]))
    assert reduce_to(constant, constant, None, exact=False).base.gap == 0
    assert reduce_to(constant, constant, 0.5, exact=False).base.gap == 0


def test_sessions_of_two_runs_are_not_one_session() -> None:
    base, head = (side(np.array(values)) for values in ([[3.0, 3.0], [6.0, 6.0]], [[4.0, 4.0], [8.0, 8.0]]))
    assert reduce_to(base, head, None, exact=True).exact
    assert reduce_to(base, head, None, exact=False).trouble == "no-spread"
    apart = Sample(head.values, head.counts, tuple((session, build + 7) for session, build in head.builds))
    assert not reduce_to(base, apart, None, exact=True).exact
    assert reduce_to(base, apart, None, exact=False).trouble == ""
    third = side(np.array([[4.0, 4.0], [8.0, 8.0], [5.0, 5.0]]))
    assert (of_shared_sessions(base, third)[2], len(of_shared_sessions(base, third)[1].values)) == ((2,), 4)
    others = Sample(third.values, third.counts, tuple((session, build + 7) for session, build in third.builds))
    assert of_shared_sessions(base, others)[2] == ()


# --- parts of a sample ------------------------------------------------------------------------------------------------


def test_some_builds_of_a_sample() -> None:
    whole = sample(np.random.default_rng(1), normal, (0.1, 0.1, 0.1), (4, 3, 2))
    part = of_builds(whole, {(0, 1), (0, 3), (0, 9)}.__contains__)
    assert part.builds == ((0, 1), (0, 3))
    assert part.values.tolist() == [*whole.values[6:12], *whole.values[18:24]]
    assert [counts.tolist() for counts in part.counts] == [[2] * 6, [3, 3], [2]]
    none = of_builds(whole, set().__contains__)
    assert [len(counts) for counts in none.counts] == [0, 0, 0]
    assert of_builds(whole, lambda build: True) is whole


def test_the_first_rounds_of_a_sample() -> None:
    whole = sample(np.random.default_rng(1), normal, (0.1, 0.1, 0.1), (4, 3, 2))
    assert of_rounds(whole, None) is of_rounds(whole, 4) is whole
    assert of_rounds(whole, 3).values.tolist() == whole.values[:18].tolist()
