"""warmup = "auto" against the classification of public Java executions, and what its differences do to an interval.

    python -m benchmarks.java_forks DATA

DATA is the folder `data` of the replication package of Traini et al., Towards effective assessment of steady state
performance in Java software: are we there yet?, Empirical Software Engineering 28 (2023): 586 benchmarks, 10 forks of
3,000 iterations each, and whether and from where its authors call a fork steady. docs/method.md has the figures.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gate.model import Sample
from gate.stats.estimate import ratio_of, reduce
from harness.instruments.steady import steady_from

Array = npt.NDArray[np.float64]
SPLITS = 40
THRESHOLD = 1.03
_LAST = 500
"""Iterations without a change by which the authors call a fork steady."""


@dataclass(frozen=True, slots=True)
class Fork:
    """One execution; theirs, ours: from where it is steady, None where it is not."""

    values: Array
    theirs: int | None
    ours: int | None

    def means(self) -> dict[str, float]:
        """Return its mean by what is dropped; where there is no steady state nothing is."""
        starts = {"nothing": 0, "auto": self.ours or 0, "the authors'": self.theirs or 0}
        return {what: float(self.values[start:].mean()) for what, start in starts.items()}


def read(data: Path) -> Iterator[list[Fork]]:
    """Read the forks of each benchmark."""
    for path in sorted((data / "classification").iterdir()):
        told: dict[str, Any] = json.loads(path.read_text())
        series = json.loads((data / "timeseries" / "all" / path.name).read_text())
        yield [
            Fork(np.asarray(values), None if start < 0 else start, steady_from(values))
            for values, start in zip(series, told["steady_state_starts"], strict=True)
        ]


def _side(means: Array) -> Sample:
    ones = np.ones(len(means), dtype=np.int64)
    return Sample(means, (ones, ones, np.array([len(means)])), tuple((0, k) for k in range(len(means))))


def alarms(benchmarks: Sequence[list[Fork]]) -> Iterator[str]:
    """Compare halves of the forks of each benchmark, which are of one commit, by the 95% interval of the ratio."""
    rng = np.random.default_rng(16)
    outside, beyond, count = Counter[str](), Counter[str](), 0
    widths: dict[str, list[float]] = {}
    for forks in benchmarks:
        means = [fork.means() for fork in forks]
        for _ in range(SPLITS):
            order = rng.permutation(len(forks))
            half, count = len(forks) // 2, count + 1
            for what in means[0]:
                of = np.array([means[k][what] for k in order])
                limits = ratio_of(reduce(_side(of[:half]), _side(of[half:]), None, exact=False), "fieller").limits(0.05)
                if limits.low is not None and limits.high is not None:
                    outside[what] += not limits.low <= 1 <= limits.high
                    beyond[what] += limits.low > THRESHOLD
                    widths.setdefault(what, []).append((limits.high - limits.low) / 2)
    for what in outside:
        shares = f"1 is outside {outside[what] / count:.1%}, beyond 3% {beyond[what] / count:.2%}"
        yield f"dropped: {what}: {shares}, median half-width {np.median(widths[what]):.1%}"


def apart(forks: Sequence[Fork]) -> str:
    """Say how far the mean of what is kept is from that of the last iterations."""
    found = [abs(fork.values[fork.ours or 0 :].mean() / fork.values[-_LAST:].mean() - 1) for fork in forks]
    median, most = np.percentile(found, [50, 90])
    return f"kept mean apart from that of the last {_LAST} iterations: median {median:.1%}, 90% within {most:.1%}"


def main(argv: Sequence[str]) -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description="Compare warm-up detection with public Java executions.")
    parser.add_argument("data", type=Path, help="the folder data of the replication package")
    benchmarks = list(read(parser.parse_args(argv).data))
    every = [fork for forks in benchmarks for fork in forks]
    for theirs in (True, False):
        for ours in (True, False):
            of = [fork for fork in every if ((fork.theirs is not None) is theirs) and ((fork.ours is not None) is ours)]
            words = ["steady" if steady else "not steady" for steady in (theirs, ours)]
            sys.stdout.write(f"authors {words[0]}, auto {words[1]}: {len(of)} forks, {apart(of)}\n")
    sys.stdout.writelines(f"{line}\n" for line in alarms(benchmarks))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
