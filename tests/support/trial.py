"""A data file of the trial that nobody measured: known times, known noise."""

import random
from collections.abc import Iterator

from benchmarks.trial import plan
from benchmarks.trial.programs import PROGRAMS
from benchmarks.trial.programs.program import BUILT, again
from benchmarks.trial.records import SCHEMA, Built, Counted, Host, Line, Ran, Started, Trial, Worked
from gate.model import Build

HOST = Host("Made-up CPU", 2, "Linux 6 x86_64", "3.11", "2026-01-01")
START = 10_000_000
"""Nanoseconds."""


def lines(bundles: int, noise: float, *, launch: float = 0.0, seed: int = 1) -> list[Line]:
    """Make up bundles. noise: relative deviation of a start; launch: that of a side of a launch as a whole."""
    draw = random.Random(seed)
    found: list[Line] = [Trial(SCHEMA, seed, HOST)]
    for program in PROGRAMS:
        found.append(Worked(program, 1.0))
        for side in BUILT:
            found += [
                Built(program, side, k, Build(side="head", build=k, seed=1000 + k, seconds=0.5 if k == 0 else 0.05))
                for k in range(plan.LAYOUTS)
            ]
        found += [
            Counted(program, side, round(1e6 * (1 + again(side, 1.0))), 2.0)
            for side in (plan.BASE, *plan.SAME, *plan.CHANGED)
        ]
    for number in range(bundles):
        found += _bundle(plan.bundle(number, seed), draw, noise, launch)
    return found


def _bundle(bundle: plan.Bundle, draw: random.Random, noise: float, launch: float) -> Iterator[Line]:
    for step in bundle.steps:
        means = [START * (1 + again(side, 1.0)) * (1 + draw.gauss(0, launch)) for side in step.sides]
        starts = []
        for place, slow in zip(step.order, step.slow, strict=True):
            twice = 2 if slow and step.sides[place] == plan.TAIL else 1
            took = round(twice * means[place] * (1 + draw.gauss(0, noise)))
            starts.append(Started(place, took, took, 1.0))
        seconds = sum(each.time for each in starts) / 1e9 + 0.02
        yield Ran(
            bundle.program, bundle.number, step.part, step.round, list(step.sides), seconds, seconds / 4, 1.5, starts
        )
