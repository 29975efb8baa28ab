"""Bootstrap replicates over sessions: sessions are drawn with replacement, and within each both sides by themselves.

Machines may differ by any factor. In the ratio of one machine's sides it cancels, so a replicate is the mean of the
logarithms of the drawn sessions' ratios (docs/method.md).
"""

from __future__ import annotations

import math

import msgspec
import numpy as np

from gate.model import Sample
from gate.stats.resample import CHUNK, Hierarchy, Scheme, hierarchy, replicate_means
from gate.stats.resampled_sums import Floats
from gate.stats.subsample import measured_together, of_builds


class Pairing(msgspec.Struct, frozen=True, eq=False):
    """Both sides of each session."""

    sides: tuple[tuple[Hierarchy, Hierarchy], ...]
    logs: Floats
    """Float64, shape (sessions,), ln of each one's head/base."""
    middle: float
    """The geometric mean of all sessions and both sides, in the metric's unit."""

    @property
    def x(self) -> float:
        """Base's value on a machine in the middle."""
        return self.middle * math.exp(-float(self.logs.mean()) / 2)

    @property
    def y(self) -> float:
        """Head's value there."""
        return self.middle * math.exp(float(self.logs.mean()) / 2)

    def difference(self, logs: Floats) -> Floats:
        """Return head - base on a machine in the middle, by ln of the ratio."""
        found: Floats = 2 * self.middle * np.sinh(logs / 2)
        return found

    def replicates(self, seed: int, chunks: range) -> Floats:
        """Return CHUNK replicates of the mean of logs for each chunk; no chunk may be asked for twice.

        Args:
            seed: not negative.
        """
        n = len(self.sides)
        *own, order = np.random.SeedSequence(seed).spawn(n + 1)
        draws = [np.random.default_rng((int(order.generate_state(1)[0]), c)) for c in chunks]
        ids = np.concatenate([draw.integers(n, size=(CHUNK, n)) for draw in draws])
        logs = np.empty(ids.shape)
        for session, sides in enumerate(self.sides):
            drawn = ids == session
            wanted = int(drawn.sum())
            # at most n draws of a session each, so that the next chunks begin behind these
            first = n * chunks.start
            part = range(first, first + math.ceil(wanted / CHUNK))
            if wanted:
                x, y = replicate_means(sides, int(own[session].generate_state(1)[0]), part)
                logs[drawn] = np.log(y[:wanted]) - np.log(x[:wanted])
        means: Floats = logs.mean(axis=1)
        return means


def pairing(base: Sample, head: Sample, scheme: Scheme) -> Pairing | None:
    """Pair both sides by session; None where a value is not above 0, one side lacks a session, or they are of two runs.

    FLAT knows no sessions.

    Args:
        scheme: what is resampled within a session, as gate.stats.resample.hierarchy has it.
    """
    names = [tuple(dict.fromkeys(session for session, _ in side.builds)) for side in (base, head)]
    if scheme == "FLAT" or names[0] != names[1] or not measured_together(base, head):
        return None
    if min(base.values.min(), head.values.min()) <= 0:
        return None
    sides = tuple((_session(base, s, scheme), _session(head, s, scheme)) for s in names[0])
    x, y = (np.log([float(pair[side].means().mean()) for pair in sides]) for side in (0, 1))
    return Pairing(sides, y - x, math.exp(float((x + y).mean() / 2)))


def _session(sample: Sample, session: int, scheme: Scheme) -> Hierarchy:
    return hierarchy(of_builds(sample, lambda build: build[0] == session), scheme, sessions=False)
