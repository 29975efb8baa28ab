"""Parts of a sample: some of its builds, with all that is in them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gate.model import Sample


def of_builds(sample: Sample, wanted: Callable[[tuple[int, int]], bool]) -> Sample:
    """Keep the builds, by (session, number), that are wanted; the sample itself where all are."""
    kept = np.array([wanted(build) for build in sample.builds], dtype=bool)
    if kept.all():
        return sample
    executions = np.repeat(kept, sample.counts[1])
    names = tuple(build for build, keep in zip(sample.builds, kept.tolist(), strict=True) if keep)
    sessions = [session for session, _ in names]
    return Sample(
        sample.values[np.repeat(executions, sample.counts[0])],
        (
            sample.counts[0][executions],
            sample.counts[1][kept],
            np.array([sessions.count(s) for s in dict.fromkeys(sessions)], dtype=np.int64),
        ),
        names,
        None if sample.orders is None else sample.orders[executions],
    )


def of_rounds(sample: Sample, rounds: int | None) -> Sample:
    """Keep the builds of the first rounds of each session; None: of all."""
    return sample if rounds is None else of_builds(sample, lambda build: build[1] < rounds)
