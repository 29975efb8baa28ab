"""Parts of a sample: some of its builds, with all that is in them."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import numpy as np

from gate.model import Sample
from gate.stats.rounding import Flags


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
    return {at: (_of_session(base, at), _of_session(head, at)) for at in both}


def _of_session(sample: Sample, wanted: int) -> Sample:
    return of_builds(sample, lambda build: build[0] == wanted)


def measured_together(base: Sample, head: Sample) -> bool:
    """Return whether a round has both sides; of two runs, each with its sessions, session 0 is not one session."""
    return not set(base.builds).isdisjoint(head.builds)


class Shared(msgspec.Struct, frozen=True, eq=False):
    """Both sides, without what one of them lacks."""

    base: Sample
    head: Sample
    lacking: tuple[int, ...]
    """The sessions of which something was left out."""


def of_shared_sessions(base: Sample, head: Sample) -> Shared:
    """Leave out the sessions that one side lacks: a machine without the other side is no part of a ratio.

    Both sides stay whole where fewer than two sessions would remain, since there is no interval then, and where they
    were not measured together.
    """
    first, second = ({session for session, _ in side.builds} for side in (base, head))
    both, lacking = first & second, tuple(sorted(first ^ second))
    if len(both) < 2 or not lacking or not measured_together(base, head):
        return Shared(base, head, ())
    kept = [of_builds(side, lambda build: build[0] in both) for side in (base, head)]
    return Shared(kept[0], kept[1], lacking)


def of_rounds(sample: Sample, rounds: int | None) -> Sample:
    """Keep the builds of the first rounds of each session; None: of all."""
    return sample if rounds is None else of_builds(sample, lambda build: build[1] < rounds)


def of_complete_rounds(base: Sample, head: Sample) -> Shared:
    """Leave out the rounds that one side lacks, and name their sessions; both stay whole where no round is complete."""
    both = set(base.builds) & set(head.builds)
    lacking = tuple(sorted({session for session, _ in set(base.builds) ^ set(head.builds)}))
    if not both or not lacking:
        return Shared(base, head, ())
    return Shared(of_builds(base, both.__contains__), of_builds(head, both.__contains__), lacking)
