"""The vectorised gate gives the verdicts of gate.decide, on the same samples."""

from __future__ import annotations

import datetime
import itertools
from collections import Counter
from dataclasses import dataclass
from typing import Any, Literal

import msgspec
import numpy as np
import numpy.typing as npt
import pytest

from gate.commands.simulate.arrays import verdicts
from gate.commands.simulate.arrays.draws import Sides
from gate.commands.simulate.arrays.pairs import Interval, Memory
from gate.commands.simulate.arrays.verdicts import Outcome, Rules
from gate.config.rules import Policy
from gate.config.types import Config, Gate
from gate.decide import decide
from gate.model import Evidence, Finding, FindingMemory, MeanSquare, Remembered, Round, Run, Sample
from gate.model import Memory as ModelMemory
from gate.stats.round_ratio import UNKNOWN, is_paired
from gate.units import Quantity, Share
from tests.support import simulate
from tests.support.seeds import some

TODAY = datetime.date(2026, 11, 20)
NOW = "2026-11-20T09:00:00Z"
REPORTS, CASES, EXECUTIONS, ITERATIONS = 30, 6, 2, 2
CHANGES = (1.0, 1.0, 1.02, 1.05, 1.1, 0.9, 0.95)
ITERATION_SD = 0.01

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Drawn:
    """Reports as samples and as means of builds; sd: of the builds of each case."""

    samples: list[list[tuple[Sample, Sample]]]
    sides: Sides
    variance: Array


def draw(rng: np.random.Generator, builds: int) -> Drawn:
    sd = rng.choice([0.005, 0.01, 0.02, 0.03], (REPORTS, CASES))
    counts = (builds, EXECUTIONS, ITERATIONS)

    def side(r: int, c: int, mean: float) -> Sample:
        return simulate.sample(rng, simulate.normal, (float(sd[r, c]), 0.0, ITERATION_SD), counts, mean)

    samples = [
        [(side(r, c, 1.0), side(r, c, float(rng.choice(CHANGES)))) for c in range(CASES)] for r in range(REPORTS)
    ]
    means = [np.array([[pair[k].values.reshape(counts).mean(axis=(1, 2)) for pair in row] for row in samples]) for k in (0, 1)]  # fmt: skip
    return Drawn(samples, Sides(means[0], means[1]), sd**2 + ITERATION_SD**2 / (EXECUTIONS * ITERATIONS))


def remember(rng: np.random.Generator, drawn: Drawn, df: int) -> Memory:
    """Of a third of the cases too small by far, so that the memory is refused there."""
    size = drawn.variance.shape
    contrast = 2 * drawn.variance * rng.chisquare(df, size) / df / rng.choice([1, 1, 4], size)
    within = drawn.variance * rng.chisquare(2 * df, size) / (2 * df) / rng.choice([1, 1, 4], size)
    return Memory(contrast, df, within, min(2.0 * df, 20.0))


def as_model(memory: Memory, r: int) -> ModelMemory:
    assert memory.sides is not None

    def session(c: int) -> Remembered:
        assert memory.sides is not None
        return Remembered(
            session="calibration", created=NOW, rounds=int(memory.df) + 1, executions=EXECUTIONS,
            iterations=ITERATIONS, iteration=None, execution=None,
            build=MeanSquare(value=float(memory.sides[r, c]), df=2 * memory.df),
            contrast=MeanSquare(value=float(memory.variance[r, c]), df=memory.df),
        )  # fmt: skip

    findings = [
        FindingMemory(benchmark=f"case-{c}", metric="time", factors={}, statistic="mean", sessions=[session(c)])
        for c in range(CASES)
    ]
    return ModelMemory(findings=findings, contrast_nu=None, build_nu=None, unused=[])


def evidence(drawn: Drawn, r: int, looks: tuple[int, ...], memory: Memory | None) -> Evidence:
    return msgspec.structs.replace(
        simulate.evidence(drawn.samples[r]),
        run=Run(created=NOW, seed=1, memory=None if memory is None else as_model(memory, r)),
        looks=list(looks) if len(looks) > 1 else [],
        rounds=Round(done=looks[-1], planned=looks[-1]),
    )


def word(found: Outcome, r: int, c: int) -> str:
    if found.regression[r, c]:
        return "regression"
    if found.improvement[r, c]:
        return "improvement"
    if found.unchanged[r, c]:
        return "unchanged"
    return "no-sign" if found.no_sign[r, c] else "inconclusive"


CHOICES: list[list[Any]] = [
    ["fieller", "fieller-kj", "fieller-paired", "fieller-moderated", "paired", "paired-shared"],
    [(3,), (5,), (4, 6, 8, 12), (3, 4, 5)],
    [0.0, 0.02],
    ["no-sign", "not-worse"],
]
# each interval, and each of the others twice at least; the rest is a promise
FIRST = [
    tuple(choices[number // each % len(choices)] for choices, each in zip(CHOICES, (1, 1, 2, 3), strict=True))
    for number in range(8)
]
COMBINED = [*FIRST, *(each for each in itertools.product(*CHOICES) if each not in FIRST)]


def rounds_of(finding: Finding, looks: tuple[int, ...]) -> int:
    return looks[finding.decided_at.look - 1]


@pytest.mark.parametrize(
    ("interval", "looks", "threshold", "show"),
    some(COMBINED, len(FIRST)),
)
def test_verdicts_are_those_of_decide(
    interval: Interval, looks: tuple[int, ...], threshold: float, show: Literal["no-sign", "not-worse"]
) -> None:
    rng = np.random.default_rng([looks[-1], round(threshold * 100)])
    drawn = draw(rng, looks[-1])
    memory = remember(rng, drawn, 8) if interval == "fieller-moderated" else None
    # without a run line of [build] nothing is known of layouts
    fallback: Interval = "paired" if is_paired(looks[-1], 0.05, CASES, UNKNOWN) else "fieller"
    found = verdicts.decide(drawn.sides, Rules(threshold, interval, looks, fallback, show=show), memory)
    gate = Gate(threshold=Share(threshold), floor=Quantity.parse("0"), interval=interval, show=show)  # type: ignore[arg-type]  # a narrower name
    seen: Counter[str] = Counter()
    for r in range(REPORTS):
        report = decide(evidence(drawn, r, looks, memory), Policy(Config(gate=gate), "test", TODAY))
        for c, finding in enumerate(report.findings):
            seen[finding.verdict] += 1
            assert word(found, r, c) == finding.verdict, (r, c, finding.reason)
            assert found.rounds[r, c] == rounds_of(finding, looks)
            if finding.verdict != "regression":
                assert found.not_worse[r, c] == finding.not_worse
        assert found.failed[r] == (report.verdict == "regression")
    may_call = looks[-1] >= 5 or memory is not None
    assert (seen["regression"] > 0) == may_call
    assert (seen["no-sign"] > 0) == (show == "no-sign" and may_call)
    assert seen["inconclusive"] + seen["no-sign"] > 0


def test_a_family_of_none_shares_nothing() -> None:
    rng = np.random.default_rng(9)
    drawn = draw(rng, 12)
    looks = (4, 6, 8, 12)
    found = verdicts.decide(drawn.sides, Rules(0.02, "fieller", looks, family="none"), None)
    gate = Gate(threshold=Share(0.02), floor=Quantity.parse("0"), interval="fieller", family="none")
    for r in range(REPORTS):
        report = decide(evidence(drawn, r, looks, None), Policy(Config(gate=gate), "test", TODAY))
        assert [word(found, r, c) for c in range(CASES)] == [finding.verdict for finding in report.findings]
