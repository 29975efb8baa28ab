"""Published two-level experiments, and the frames of their units."""

from collections.abc import Mapping, Sequence
from itertools import product
from math import prod

import pandas as pd

from gate.model.study import Factor

BICYCLE_GENERATORS = {"D": "AB", "E": "AC", "F": "BC", "G": "ABC"}
FILTRATION = (45, 71, 48, 65, 68, 60, 80, 65, 43, 100, 45, 104, 75, 86, 70, 96)
"""Filtration rate, in standard order; Montgomery, Design and Analysis of Experiments, example 6.2."""
FATIGUE = (6.058, 4.733, 4.625, 5.899, 7.000, 5.752, 5.682, 6.607, 5.818, 5.917, 5.863, 4.809)
"""Logarithm of the fatigue life of castings; Hunter, Hodi and Eager 1982, in Hamada and Wu 1992."""
FATIGUE_RUNS = (
    "++-+++-", "+-+++--", "-+++---", "+++---+", "++---+-", "+---+-+",
    "---+-++", "--+-++-", "-+-++-+", "+-++-++", "-++-+++", "-------",
)  # fmt: skip
"""Its settings of A to G: seven columns of a Plackett-Burman design."""


def standard_order(basic: str, generators: Mapping[str, str] | None = None) -> list[dict[str, int]]:
    """Return the runs of a fraction as signs; the first factor changes fastest."""
    runs = []
    for signs in product((-1, 1), repeat=len(basic)):
        run = dict(zip(basic, reversed(signs), strict=True))
        runs.append(run | {name: prod(run[own] for own in word) for name, word in (generators or {}).items()})
    return runs


def burman() -> list[dict[str, int]]:
    """Return the runs of the fatigue study."""
    return [{name: 1 if sign == "+" else -1 for name, sign in zip("ABCDEFG", run, strict=True)} for run in FATIGUE_RUNS]


def frame(
    runs: Sequence[Mapping[str, int]], values: Sequence[float], replicates: int = 1
) -> tuple[pd.DataFrame, list[Factor]]:
    """Return units and factors; each run has its value, so many times."""
    names = list(runs[0])
    columns: dict[str, list[float]] = {
        f"f{k}": [float(run[name] > 0) for run in runs] * replicates for k, name in enumerate(names)
    }
    found = pd.DataFrame({**columns, "y": list(map(float, values)) * replicates})
    return found, [Factor(name=name, settings=[-1, 1]) for name in names]
