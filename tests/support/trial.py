"""A data file of the trial that nobody measured: known times, known noise."""

from __future__ import annotations

import random
from collections.abc import Iterator

from benchmarks.trial import plan
from benchmarks.trial.programs import PROGRAMS
from benchmarks.trial.programs.program import SIDES, share
from benchmarks.trial.records import SCHEMA, Built, Counted, Host, Line, Ran, Trial
from gate.model import Build

HOST = Host("Made-up CPU", 2, "Linux 6 x86_64", "3.11", "2026-01-01", 0.1)
PASS = 20_000_000
"""Nanoseconds: long, so that there are few."""


def lines(bundles: int, noise: float, *, process: float = 0.0, seed: int = 1) -> list[Line]:
    """Make up bundles. noise: relative deviation of a pass; process: that of a process as a whole."""
    draw = random.Random(seed)
    found: list[Line] = [Trial(SCHEMA, seed, HOST)]
    for program in PROGRAMS:
        for side in SIDES:
            if side not in ("same-2", "relaid"):
                found += [
                    Built(program, side, k, Build(side="head", build=k, seed=1000 + k, seconds=1.0 if k == 0 else 0.1))
                    for k in range(plan.LAYOUTS)
                ]
            found.append(Counted(program, side, round(1e6 * (1 + share(side))), 2.0))
    for number in range(bundles):
        found += _bundle(plan.bundle(number, tuple(PROGRAMS), seed), draw, noise, process)
    return found


def _bundle(bundle: plan.Bundle, draw: random.Random, noise: float, process: float) -> Iterator[Line]:
    for order, step in enumerate(bundle.steps):
        mean = PASS * (1 + share(step.side)) * (1 + draw.gauss(0, process))
        count = step.passes or max(2, int((step.seconds or 0) * 1e9 / mean))
        passes = [round(mean * (1 + draw.gauss(0, noise))) for _ in range(count)]
        if step.side == plan.TAIL:
            passes = [
                2 * each if (step.offset + k) % plan.TAIL_EVERY == 0 else each for k, each in enumerate(passes, 1)
            ]
        seconds = sum(passes) / 1e9 + 0.01
        yield Ran(
            step.program, step.bundle, step.part, step.side, step.number, step.layout,
            1000.0 * step.bundle + order, seconds, passes,
        )  # fmt: skip
