"""Parts of a sample: some of its builds, with all that is in them."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import numpy as np

from gate.model import Sample
from gate.stats.rounding import Flags

EXPECTED = 0.025
"""Share of controls that alarm by chance: a regression at threshold 0, 2.5% a side."""
BEYOND = 20.0
"""Of the product over runs: where nothing is wrong it is ever larger in 5% of all histories at most."""


def halves(sample: Sample) -> tuple[Sample, Sample] | None:
    """Deal the starts of each build out by turns, odd and even, in the same builds; None: no build has two.

    Which half is called odd alternates from round to round, so that a start's place in its build, such as the first
    after the other side, counts on both. A start without a partner is left out.
    """
    executions = sample.counts[1]
    starts = executions // 2 * 2
    if not starts.any():
        return None
    place = np.arange(len(sample.counts[0])) - np.repeat(np.cumsum(executions) - executions, executions)
    paired = place < np.repeat(starts, executions)
    numbers = np.array([number for _, number in sample.builds])
    even = (place + np.repeat(numbers, executions)) % 2 == 1

    def dealt(half: Flags) -> Sample:
        # all builds are those of one session, since both halves share what a machine does
        own = of_starts(sample, paired & half)
        names = tuple((0, number) for number in range(len(own.builds)))
        return msgspec.structs.replace(own, builds=names, counts=(*own.counts[:2], np.array([len(names)])))

    return dealt(~even), dealt(even)


_CAUTION = 1 / EXPECTED - 2
"""The best share of a single control is 1 in 39 where twice as many alarm (Kelly 1956)."""


def e_value(alarmed: int, count: int) -> float:
    """Return the e-value of a run; of several controls a larger share may be bet, since they rarely all lose."""
    share = count / (count + _CAUTION)
    return 1 - share + share * alarmed / (count * EXPECTED)


def of_builds(sample: Sample, wanted: Callable[[tuple[int, int]], bool]) -> Sample:
    """Keep the builds, by (session, number), that are wanted; the sample itself where all are."""
    kept = np.array([wanted(build) for build in sample.builds], dtype=bool)
    if kept.all():
        return sample
    return of_starts(sample, np.repeat(kept, sample.counts[1]))


def of_starts(sample: Sample, kept: Flags) -> Sample:
    """Keep some executions, and the builds and sessions that have any of them."""
    build = np.repeat(np.arange(len(sample.builds)), sample.counts[1])[kept]
    counts = np.bincount(build, minlength=len(sample.builds))
    names = tuple(name for name, count in zip(sample.builds, counts.tolist(), strict=True) if count)
    sessions = [session for session, _ in names]
    return Sample(
        sample.values[np.repeat(kept, sample.counts[0])],
        (
            sample.counts[0][kept],
            counts[counts > 0],
            np.array([sessions.count(s) for s in dict.fromkeys(sessions)], dtype=np.int64),
        ),
        names,
        None if sample.orders is None else sample.orders[kept],
        sample.step,
    )


def by_session(base: Sample, head: Sample) -> dict[int, tuple[Sample, Sample]]:
    """Give base and head of each session that has both, by itself."""
    both = dict.fromkeys(session for session, _ in base.builds if session in {own for own, _ in head.builds})
    return {at: (of_session(base, at), of_session(head, at)) for at in both}


def of_session(sample: Sample, wanted: int) -> Sample:
    """Keep the builds of one session."""
    return of_builds(sample, lambda build: build[0] == wanted)


def measured_together(base: Sample, head: Sample) -> bool:
    """Return whether a round has both sides; of two runs, each with its sessions, session 0 is not one session."""
    return not set(base.builds).isdisjoint(head.builds)


def of_shared_sessions(base: Sample, head: Sample) -> tuple[Sample, Sample, tuple[int, ...]]:
    """Leave out the sessions that one side lacks, and name them: such a machine is no part of a ratio.

    Both sides stay whole where fewer than two sessions would remain, since there is no interval then, and where they
    were not measured together.
    """
    first, second = ({session for session, _ in side.builds} for side in (base, head))
    both, lacking = first & second, tuple(sorted(first ^ second))
    if len(both) < 2 or not lacking or not measured_together(base, head):
        return base, head, ()
    return of_builds(base, lambda build: build[0] in both), of_builds(head, lambda build: build[0] in both), lacking


def of_rounds(sample: Sample, rounds: int | None) -> Sample:
    """Keep the builds of the first rounds of each session; None, or where these have no values: of all."""
    if rounds is None or all(build >= rounds for _, build in sample.builds):
        return sample
    return of_builds(sample, lambda build: build[1] < rounds)


def of_complete_rounds(base: Sample, head: Sample) -> tuple[Sample, Sample, tuple[int, ...]]:
    """Leave out the rounds that one side lacks, and name their sessions; both stay whole where no round is complete."""
    both = set(base.builds) & set(head.builds)
    lacking = tuple(sorted({session for session, _ in set(base.builds) ^ set(head.builds)}))
    if not both or not lacking:
        return base, head, ()
    return of_builds(base, both.__contains__), of_builds(head, both.__contains__), lacking
