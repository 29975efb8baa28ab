"""Controls that a run has for free: base's odd starts against its even ones, and what many of them prove.

Both halves are of the same builds, so builds and layouts cannot make them differ. The e-value of a run is a bet on
each control that twice as many alarm as may: 1 + share x (alarm / EXPECTED - 1), averaged over the run's controls. Its
mean is at most 1 where no more alarm than may, however controls of one run depend on each other; so the product over
runs ever goes beyond 20 with a probability of at most 5%. Source: Ville (1939); Vovk and Wang, "E-values: Calibration,
combination and applications", Annals of Statistics 49 (2021).
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec
import numpy as np

from gate.model import Sample
from gate.stats.subsample import of_starts

EXPECTED = 0.025
"""Share of controls that alarm by chance: a regression at threshold 0, 2.5% a side."""
BEYOND = 20.0
"""Of the product over runs: where nothing is wrong it is ever larger in 5% of all histories at most."""


class Halves(NamedTuple):
    """One half of a side's starts and the other, in the same builds."""

    odd: Sample
    even: Sample


def halves(sample: Sample) -> Halves | None:
    """Deal the starts of each build out by turns; None: no build has two.

    Which half is called odd alternates from round to round, so that a start's place in its build, such as the first
    after the other side, counts on both. A start without a partner is left out.
    """
    starts = sample.counts[1] // 2 * 2
    if not starts.any():
        return None
    first = np.cumsum(sample.counts[1]) - sample.counts[1]
    place = np.arange(len(sample.counts[0])) - np.repeat(first, sample.counts[1])
    paired = place < np.repeat(starts, sample.counts[1])
    numbers = np.array([number for _, number in sample.builds])
    even = (place + np.repeat(numbers, sample.counts[1])) % 2 == 1
    return Halves(*(_one_session(of_starts(sample, paired & half)) for half in (~even, even)))


def _one_session(sample: Sample) -> Sample:
    """Take all builds as those of one session, since both halves share what a machine does."""
    count = len(sample.builds)
    names = tuple((0, number) for number in range(count))
    return msgspec.structs.replace(sample, builds=names, counts=(*sample.counts[:2], np.array([count], dtype=np.int64)))


_CAUTION = 1 / EXPECTED - 2
"""The best share of a single control is 1 in 39 where twice as many alarm (Kelly 1956)."""


def e_value(alarmed: int, count: int) -> float:
    """Return the e-value of a run; of several controls a larger share may be bet, since they rarely all lose."""
    share = count / (count + _CAUTION)
    return 1 - share + share * alarmed / (count * EXPECTED)
