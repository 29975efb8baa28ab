"""Turns and views against their promises (docs/method.md): coverage, false alarms, and what is found on unkind hosts."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.evidence.turns import HOSTS, Turns, drawn
from gate.commands.simulate.studies import ReportCounts, Reports, Rules
from gate.stats.centers import reduce_to
from gate.stats.ratio import ratio_of
from tests.promise.test_gate import at_most, covers, standard_error
from tests.support.seeds import some

LOOKS = (4, 6, 8, 12)
COVERED = (0.934, 0.985)
"""Of 95% intervals of the typical value: t on few rounds of skewed values is a little wide or narrow."""


def coverage(turns: Turns, reports: int, seed: int = 1) -> float:
    rng = np.random.default_rng([seed, turns.rounds])
    inside = 0
    for _ in range(reports):
        active = drawn(rng, turns)[1]
        pair = ratio_of(reduce_to(active.base, active.head, "typical", exact=False), "paired")
        inside += covers(pair.limits(0.05), turns.change)
    return inside / reports


QUICK = [("bursts", 5, 10, 150), ("load steps", 5, 10, 150)]
WHOLE = [(host, rounds, starts, 4000) for host in HOSTS for rounds in (4, 5, 6, 8, 12) for starts in (10, 50)]


@pytest.mark.parametrize(("host", "rounds", "starts", "reports"), some([*QUICK, *WHOLE], 2))
def test_coverage(host: str, rounds: int, starts: int, reports: int) -> None:
    turns = Turns(host=host, rounds=rounds, starts=starts, active=0.02, layout=0.003, change=1.05)
    found, (least, most) = coverage(turns, reports), COVERED
    error = 3 * standard_error(0.95, reports)
    assert least - error <= found <= most + error, f"{found:.4f}"


def rates(turns: Turns, reports: int, *, commands: int = 1, threshold: float = 0.03, seed: int = 1) -> ReportCounts:
    """Decide reports of some commands with the same turns."""
    study = Reports(turns, Rules(threshold, LOOKS), (turns.change,) * commands)
    return study.run(np.random.default_rng([seed, commands]), reports)


UNEQUAL, ALIKE = Turns(), Turns(active=0.03, wall=0.05)
"""Views of which one is ten times, and less than twice as sharp."""


ONCE = [("bursts", UNEQUAL, 1, 60), ("normal", ALIKE, 1, 60)]
OFTEN = [
    (host, turns, *size) for host in HOSTS for turns in (UNEQUAL, ALIKE) for size in ((1, 4000), (5, 2000), (20, 600))
]


@pytest.mark.parametrize(("host", "turns", "commands", "reports"), some([*ONCE, *OFTEN], 2))
def test_false_alarms(host: str, turns: Turns, commands: int, reports: int) -> None:
    found = rates(replace(turns, host=host), reports, commands=commands, threshold=0.0)
    at_most(found.failing, 0.025, reports)


def work(host: str, change: float, layout: float = 0.004) -> Turns:
    """A program that computes, on a host that makes wall time vary by 20% from start to start."""
    return Turns(host=host, active=0.01, wall=0.2, layout=layout, change=change)


@pytest.mark.parametrize(
    ("host", "reports"), some([("normal", 40), ("load steps", 40), *((host, 1500) for host in HOSTS)], 2)
)
def test_more_work_is_found_within_six_rounds(host: str, reports: int) -> None:
    assert rates(work(host, 1.06), reports).early / reports >= 0.95 - 3 * standard_error(0.95, reports)


@pytest.mark.promise
@pytest.mark.parametrize("host", HOSTS)
def test_more_work_is_found_where_layouts_make_rounds_differ_by_1_percent(host: str) -> None:
    unlike = rates(work(host, 1.06, 0.01), 600)
    assert unlike.failing >= 0.99 and unlike.executed < 7.2


@pytest.mark.promise
@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("change", [1.02, 1.03])
def test_what_is_not_beyond_the_threshold_is_rarely_called(host: str, change: float) -> None:
    at_most(rates(work(host, change, 0.01), 1500).failing, 0.025, 1500)


@pytest.mark.promise
def test_what_only_wall_time_shows_is_found_though_active_time_is_ten_times_as_sharp() -> None:
    assert rates(replace(UNEQUAL, waits=1.12), 600).failing >= 0.9 - 3 * standard_error(0.9, 600)


@pytest.mark.promise
def test_a_dull_view_does_not_keep_benchmarks_open() -> None:
    # without a change 4 of 12 rounds, and one look more of those that wall time makes look slower
    assert rates(Turns(wall=0.5), 300, commands=5).executed < 4.3
