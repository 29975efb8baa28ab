"""What the adapters of benchmark suites return: many benchmarks out of one execution."""

from __future__ import annotations

from dataclasses import dataclass

from gate.adapters.values import Series


@dataclass(frozen=True, slots=True)
class Suite:
    """The benchmarks that a suite's output names, in its order.

    benchmarks: by discovered name, the values of each metric in the order in which they were measured, in base units.
    errors: discovered names that gave no usable values, and why, in one line.
    """

    benchmarks: dict[str, dict[str, Series]]
    errors: dict[str, str]
