"""How many more builds would tell: what the advice is worth, and where there is none."""

import math
from typing import Any

import msgspec
import numpy as np
import pytest
from scipy import stats

from gate.decide.details import MOST
from gate.decide.report import decide
from gate.model import Better, Finding, Memory, RoundsDone, Sample
from tests.gate.decide.decided import policy_by
from tests.gate.decide.test_memory import memory_of, remembered, report
from tests.support import simulate

FIXED = 'interval = "fieller"\ndetectable = "threshold"\n'
# means of 0 and a spread of 1, never quite symmetrical
NOISE = np.array([0.3, -1.1, 0.9, -0.7, 1.2, -0.6, 0.4, -1.3, 1.0, -0.1])


def decided(
    cases: list[tuple[Sample, Sample]], toml: str = FIXED, better: Better = "lower", **changes: Any
) -> list[Finding]:
    evidence = msgspec.structs.replace(simulate.evidence(cases), **changes)
    own = [msgspec.structs.replace(case, better=better) for case in evidence.cases]
    policy = policy_by(f'[gate]\nthreshold = "3%"\n{toml}')
    return decide(msgspec.structs.replace(evidence, cases=own), policy).findings


def made(values: list[float], sessions: int = 1) -> Sample:
    each = np.ones(len(values), dtype=np.int64)
    per_session = len(values) // sessions
    builds = tuple((k // per_session, k % per_session) for k in range(len(values)))
    return Sample(np.array(values), (each, each, np.full(sessions, per_session)), builds)


def pair(ratio: float, sd: float = 0.01, count: int = 5, sessions: int = 1) -> tuple[Sample, Sample]:
    noise = sd * (NOISE[:count] - NOISE[:count].mean())
    return made(list(1 + noise), sessions), made(list(ratio * (1 + noise[::-1])), sessions)


def more(ratio: float, sd: float = 0.01, count: int = 5, toml: str = FIXED) -> int | None:
    (found,) = decided([pair(ratio, sd, count)], toml)
    assert found.verdict == "inconclusive"
    return found.more_builds


def told(builds: int, sd: float, findings: int, toml: str = FIXED) -> tuple[int, float]:
    """Draw findings with true changes of up to 8% either way; measure on as advised those that are told to.

    How many were given a number of builds, and the share of those that it did tell.
    """
    rng = np.random.default_rng(20261120)
    advised = settled = 0
    for _ in range(findings):
        mean = 1 + rng.uniform(-0.08, 0.08)
        base, head = (
            simulate.sample(rng, simulate.normal, (sd, 0.0, 0.0), (builds + MOST, 1, 1), each) for each in (1.0, mean)
        )
        (found,) = decided([(_first(base, builds), _first(head, builds))], toml)
        if found.more_builds is not None:
            grown = builds + found.more_builds
            (after,) = decided([(_first(base, grown), _first(head, grown))], toml)
            advised += 1
            settled += after.not_worse or after.verdict != "inconclusive"
    return advised, settled / advised


def _first(side: Sample, builds: int) -> Sample:
    each = side.counts[1][:builds]
    return msgspec.structs.replace(
        side, values=side.values[:builds], counts=(each, each, np.array([builds])), builds=side.builds[:builds]
    )


def test_what_is_advised_tells_more_often_than_not() -> None:
    advised, share = told(5, 0.03, 150)
    assert advised > 50 and 0.6 < share < 0.9


@pytest.mark.promise
@pytest.mark.parametrize("builds", [3, 5, 10])
@pytest.mark.parametrize("sd", [0.01, 0.03])
@pytest.mark.parametrize("interval", ["fieller", "fieller-paired"])
@pytest.mark.parametrize("detectable", ["threshold", "10%"])
def test_in_every_design_advice_is_mostly_enough(builds: int, sd: float, interval: str, detectable: str) -> None:
    # where no sign of a slowdown is enough, little noise leaves few findings open
    findings = 9000 if detectable == "10%" and sd < 0.02 else 3000
    advised, share = told(builds, sd, findings, f'interval = "{interval}"\ndetectable = "{detectable}"\n')
    assert advised > 200 and 0.55 < share < 0.95


def test_what_is_settled_lacks_nothing() -> None:
    for ratio, verdict in ((1.2, "regression"), (1.0, "unchanged"), (0.8, "improvement")):
        (found,) = decided([pair(ratio)])
        assert (found.verdict, found.more_builds) == (verdict, None)
    (found,) = decided([pair(0.975)])
    assert (found.verdict, found.not_worse, found.more_builds) == ("inconclusive", True, None)


def test_where_no_number_would_help_there_is_none() -> None:
    # nothing is known of the noise, the estimate is at the threshold, or the interval is a bootstrap
    assert more(1.05, count=1) is more(1.05, sd=0.0) is more(1.0301) is None
    assert more(1.04, 0.03, toml='interval = "bootstrap"\n') is None
    # of several sessions more builds are not what is lacking
    (one,), (several,) = (decided([pair(1.05, 0.03, 6, sessions=sessions)]) for sessions in (1, 3))
    assert one.more_builds is not None
    assert (several.verdict, several.more_builds) == ("inconclusive", None)


def test_a_clear_change_lacks_the_builds_that_the_rules_ask_for() -> None:
    assert more(1.5, count=3) == 2
    assert more(1.5, toml=f"{FIXED}min_builds = 9\n") == 4
    # "not worse" needs no such number
    assert more(1.005, 0.02, count=2, toml=f"{FIXED}min_builds = 50\n") in range(1, 40)


def literally(ratio: float, sd: float, builds: int) -> int | None:
    """The number of more builds of one finding at 95%, as the text has it."""
    base, head = pair(ratio, sd, builds)
    v_xx, v_yy = (float(side.values.var(ddof=1)) / builds for side in (base, head))
    statistic = (head.values.mean() - 1.03 * base.values.mean()) / math.sqrt(v_yy + 1.03**2 * v_xx)
    # both sides vary alike for their size: Welch's degrees are the sum
    df = 2 * (builds - 1)
    for grown in range(builds + 1, builds + MOST + 1):
        degrees = df * (grown - 1) / (builds - 1)
        if statistic * math.sqrt(grown / builds) > stats.t.isf(0.025, degrees) + stats.t.isf(0.2, degrees):
            return grown - builds
    return None


@pytest.mark.parametrize("builds", [5, 7])
def test_the_number_is_what_the_power_of_so_many_builds_asks_for(builds: int) -> None:
    toml = f"{FIXED}confidence = 0.95\n"
    spreads = [0.0001 * k for k in range(200, 400, 7)]
    found = [decided([pair(1.06, sd, builds)], toml)[0] for sd in spreads]
    open_ones = [(f.more_builds, sd) for f, sd in zip(found, spreads, strict=True) if f.verdict == "inconclusive"]
    assert len(open_ones) > 10
    assert [more for more, _ in open_ones] == [literally(1.06, sd, builds) for _, sd in open_ones]


@pytest.mark.parametrize("floor", ["", 'floor = "45ms"\n', 'floor = "100ms"\n'])
@pytest.mark.parametrize("ratio", [1.06, 1.005])
def test_of_a_rate_as_many_builds_are_lacking_as_of_a_time(ratio: float, floor: str) -> None:
    base, head = pair(ratio, 0.03)
    (time,), (rate,) = decided([(base, head)], FIXED + floor), decided([(head, base)], FIXED + floor, "higher")
    assert (rate.verdict, rate.more_builds) == (time.verdict, time.more_builds)


def test_many_findings_ask_for_more_builds_than_one() -> None:
    wide = pair(1.055, 0.03)
    alone = decided([wide])[0].more_builds
    among = decided([wide] * 20)[0].more_builds
    assert alone is not None and among is not None
    assert among > alone
    assert decided([wide] * 20, f'{FIXED}family = "none"\n')[0].more_builds == alone
    # "not worse" is decided without the family
    inside = pair(1.005, 0.03)
    assert decided([inside] * 20)[0].more_builds == decided([inside])[0].more_builds


def test_a_floor_asks_for_more_builds_and_what_is_within_it_for_fewer() -> None:
    without, with_floor = more(1.06, 0.03), more(1.06, 0.03, toml=f'{FIXED}floor = "45ms"\n')
    assert without is not None and with_floor is not None and with_floor > without
    # beyond the threshold, and far below the floor: not worse is what more builds would show
    found = more(1.04, 0.08, toml=f'{FIXED}floor = "100ms"\n')
    assert found is not None and found < (more(1.04, 0.08) or MOST + 1)


def test_where_looks_spend_the_level_more_builds_are_lacking() -> None:
    wide = [pair(1.055, 0.03)]
    fixed = decided(wide)[0].more_builds
    at_looks = decided(wide, looks=[2, 3, 4, 5], rounds=RoundsDone(done=5, planned=5))[0].more_builds
    assert fixed is not None and at_looks is not None and at_looks >= fixed


def test_with_memory_fewer_builds_are_lacking_and_of_one_build_at_least_two() -> None:
    def lacking(base: list[float], head: list[float], memory: Memory | None, **gate: Any) -> int:
        (found,) = report({"a": (base, head)}, memory, **gate).findings
        assert found.verdict == "inconclusive" and found.more_builds is not None
        return found.more_builds

    known = memory_of(remembered("a", 0.01))
    assert lacking([1.0], [2.0], known) == 2 < lacking([1.0], [1.045], known)
    # a memory worth next to nothing does not stand in for min_builds
    assert lacking([1.0], [1e9], memory_of(remembered("a", 0.01, created="2024-11-20T09:00:00Z"))) >= 4
    sides = [1.0, 1.03, 0.98, 1.01, 0.97], [1.06, 1.05, 1.08, 1.04, 1.09]
    without = lacking(*sides, None, interval="fieller-paired")
    assert lacking(*sides, memory_of(remembered("a", 0.03))) < without
