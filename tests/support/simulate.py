"""Samples drawn from known variance components, for the statistical promises."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from gate.model import Case, Evidence, RoundsDone, Sample

Effects = Callable[[np.random.Generator, int], npt.NDArray[np.float64]]
"""Build effects with mean 0 and standard deviation 1."""


def normal(rng: np.random.Generator, n: int) -> npt.NDArray[np.float64]:
    return rng.normal(0, 1, n)


def skewed(rng: np.random.Generator, n: int) -> npt.NDArray[np.float64]:
    # a shifted gamma with skewness 1: a tail of slow layouts
    return (rng.gamma(4, 1, n) - 4) / 2


def bimodal(share: float, residual: float) -> Effects:
    """Two layouts, `share` of the builds with the slow one; residual: sd within a layout, of the sd between them."""

    def draw(rng: np.random.Generator, n: int) -> npt.NDArray[np.float64]:
        between = (rng.random(n) < share).astype(float) - share
        sd = (share * (1 - share)) ** 0.5
        scale = float((1 + residual**2) ** 0.5)
        effects: npt.NDArray[np.float64] = (between / sd + residual * rng.normal(0, 1, n)) / scale
        return effects

    return draw


DISTRIBUTIONS: dict[str, Effects] = {
    "normal": normal,
    "skewed": skewed,
    "bimodal 50:50": bimodal(0.5, 0.3),
    "bimodal 20:80": bimodal(0.2, 0.3),
    "bimodal 5:95": bimodal(0.05, 0.3),
}

# relative sd of build, execution and iteration: Kalibera and Jones 2012, Table VII
FFT = (0.041, 0.067, 0.046)
HTTP_OPT = (0.002, 0.0, 0.225)


def sample(
    rng: np.random.Generator,
    effects: Effects,
    components: tuple[float, float, float],
    counts: tuple[int, int, int],
    mean: float = 1.0,
) -> Sample:
    """Draw one side: builds x starts x iterations around a mean."""
    (b, e, i), (sd_build, sd_execution, sd_iteration) = counts, components
    build = effects(rng, b)[:, None, None] * sd_build
    execution = rng.normal(0, 1, (b, e, 1)) * sd_execution
    values = mean * (1 + build + execution + rng.normal(0, 1, (b, e, i)) * sd_iteration)
    sizes = (np.full(b * e, i), np.full(b, e), np.array([b]))
    return Sample(values.ravel(), sizes, tuple((0, k) for k in range(b)))


def evidence(cases: list[tuple[Sample, Sample]]) -> Evidence:
    """Wrap pairs of samples as what a gate decides over."""
    return Evidence(
        run=None,
        cases=[
            Case(
                benchmark=f"case-{k}", metric="time", factors={}, unit="s", better="lower", exact=False, decided=True,
                base=base, head=head, warnings=[],
            )
            for k, (base, head) in enumerate(cases)
        ],
        failures=[],
        new=[],
        rounds=RoundsDone(done=0, planned=None),
        looks=[],
        seconds=None,
        slowest_round=None,
        builds=[],
        states=[],
        warnings=[],
    )  # fmt: skip
