"""Turns and views on unkind hosts: false alarms, coverage of each view, and what is found."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.evidence.promises import Promise, at_least, at_most, covered, percent_of
from benchmarks.evidence.turns import HOSTS, Turns
from gate.commands.simulate.chapters import LOOKS
from gate.commands.simulate.sections import SimulatedSection, SimulatedTable, percent, row, told
from gate.commands.simulate.studies import COMPARED, Comparisons, Reports, Rules
from gate.model.case import TYPICAL

SIZES = {1: 2.0, 5: 1.0, 20: 0.5}
"""Benchmarks of a report, and how many reports are drawn, as a share of those asked for."""
COVERED = (5, 12)
"""Rounds."""


def turns(host: str, layout: float = 0.01, waits: float = 1.0) -> Turns:
    """Return commands that compute: 10 starts a side and round, on a host that makes wall time vary most."""
    return Turns(host, active=0.01, wall=0.15, layout=layout, waits=waits)


def alarms(host: str, benchmarks: int) -> Reports:
    """Return the study of reports in which nothing has changed, at threshold 0."""
    return Reports(turns(host), Rules(0.0, LOOKS), (1.0,) * benchmarks, SIZES[benchmarks])


def coverage(host: str, rounds: int) -> Comparisons:
    """Return the study of the intervals of both views of a command of one task, the sharp one first."""
    return Comparisons(turns(host), Rules(looks=(rounds,)), (1.05,))


def of_typical(host: str, rounds: int) -> Comparisons:
    """Return the study of the typical value of wall time, by which commands of several tasks are judged."""
    return Comparisons(turns(host), Rules(looks=(rounds,), statistics=(TYPICAL,)), (1.05,))


_VIEWS = (("active, typical", coverage, 0), ("wall time, mean", coverage, 1), ("wall time, typical", of_typical, 0))
"""Each with its study, and the number of its finding there."""


def found(host: str, change: float, threshold: float, layout: float = 0.01) -> Reports:
    """Return the study of one command with more work."""
    return Reports(turns(host, layout), Rules(threshold, LOOKS), (1 + change,))


def more_work(host: str) -> Reports:
    """Return the study of one command with 6% more work, where rounds differ by 0.4%."""
    return found(host, 0.06, 0.03, 0.004)


def waiting(host: str) -> Reports:
    """Return the study of one command that waits 12% longer, in wall time alone."""
    return Reports(turns(host, waits=1.12), Rules(0.03, LOOKS), (1.0,))


def draft() -> SimulatedSection:
    """Write the chapter."""
    return SimulatedSection(
        "Turns and views",
        (
            (
                "Commands whose starts alternate: base, head, head, base or the reverse, drawn for each four; 10 "
                f"starts of a side in each round, looks after {', '.join(map(str, LOOKS))} rounds. From start to start "
                "`active` time varies by 1% and wall time by 15%, times the noise of the host; the change itself by 1% "
                "from round to round, as layouts make it. Bursts hit a tenth of the starts; load steps make wall time "
                "1.8 times as long for some twenty starts; AR(1) forgets in ten starts. Every benchmark has two views "
                "that share its error. Reports of 1 are twice as many, of 20 half as many."
            ),
            "Base against itself, threshold 0: reports that fail, by the number of benchmarks.",
            _alarms(),
            (
                "Coverage of the 95% interval at +5%, by view and rounds. Commands of several tasks are judged by wall "
                "time alone, its typical value and its mean."
            ),
            _coverage(),
            (
                "One benchmark. +6% at a threshold of 3%, the change varying by 0.4% from round to round: found within "
                "6 rounds, found at all, and rounds. +3% at 3% and +2% at 2%: called, although the change is no larger "
                "than the threshold. +12% in wall time alone, which only the other view sees: found. No change: rounds."
            ),
            _found(),
        ),
    )


def _alarms() -> SimulatedTable:
    lines = tuple(
        row(host, *(told(alarms(host, size), lambda c: percent(c.failing, 2)) for size in SIZES)) for host in HOSTS
    )
    return SimulatedTable(("noise", *(f"of {size}" for size in SIZES)), lines)


def _coverage() -> SimulatedTable:
    lines = tuple(
        row(host, *(
            told(study(host, rounds), percent_of(covered(k))) for _, study, k in _VIEWS for rounds in COVERED
        ))
        for host in HOSTS
    )  # fmt: skip
    return SimulatedTable(("noise", *(f"{words}, {rounds}" for words, *_ in _VIEWS for rounds in COVERED)), lines)


def _found() -> SimulatedTable:
    lines = tuple(
        row(
            host,
            told(more_work(host), lambda c: f"{percent(c.early / c.reports)}, {percent(c.failing)}, {c.executed:.1f}"),
            told(found(host, 0.03, 0.03), lambda c: percent(c.failing)),
            told(found(host, 0.02, 0.02), lambda c: percent(c.failing)),
            told(waiting(host), lambda c: percent(c.failing, 0)),
            told(found(host, 0.0, 0.03), lambda c: f"{c.executed:.1f}"),
        )
        for host in HOSTS
    )
    return SimulatedTable(("noise", "+6% at 3%", "+3% at 3%", "+2% at 2%", "wall alone", "no change"), lines)


def promises() -> Iterator[Promise]:
    """Give the promises on views."""
    for size, effort in SIZES.items():
        words = f"A/A fails: both views, reports of {size}"
        yield at_most(words, 0.025, [alarms(host, size) for host in HOSTS], lambda c: c.failing, effort)
    for words, study, k in _VIEWS:
        every = [study(host, rounds) for host in HOSTS for rounds in COVERED]
        yield at_least(f"coverage of {words}", 0.934, every, covered(k), COMPARED)
        yield at_most("the same", 0.985, every, covered(k), COMPARED)
    slower = [more_work(host) for host in HOSTS]
    yield at_least("+6% at 3% found within 6 rounds, each noise", 0.95, slower, lambda c: c.early / c.reports)
    for change in (0.02, 0.03):
        called = [found(host, change, change) for host in HOSTS]
        yield at_most(f"+{change:.0%} at {change:.0%} called", 0.025, called, lambda c: c.failing)
