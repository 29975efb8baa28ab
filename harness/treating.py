"""What the treatments of a run give the executions of its benchmarks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gate.config import treatments
from gate.config.study import Study
from gate.config.treatments import Planned
from gate.config.types import Benchmark
from gate.model import Side
from harness.steps import ExecutionStep


class Treating:
    """Applies what is planned; without a study everything stays as it is.

    planned: all whose numbers stand in the steps.
    """

    def __init__(self, study: Study | None, planned: Sequence[Planned]) -> None:
        self._study = study
        self._planned = {each.number: each for each in planned}
        self._applied: dict[tuple[Side, str, int], Benchmark] = {}
        self._environments: dict[int, Mapping[str, str]] = {}

    def applied(self, benchmark: Benchmark, step: ExecutionStep) -> Benchmark:
        """Return a benchmark of a step's side as it is executed in that step."""
        if self._study is None or step.treatment is None:
            return benchmark
        place = (step.side, benchmark.name, step.treatment)
        if place not in self._applied:
            self._applied[place] = treatments.applied(benchmark, self._study, self._planned[step.treatment])
        return self._applied[place]

    def environment(self, step: ExecutionStep) -> Mapping[str, str]:
        """Return what a step's treatment adds to the environment of its side."""
        if self._study is None or step.treatment is None:
            return {}
        if step.treatment not in self._environments:
            added = treatments.environment(self._study, self._planned[step.treatment])
            self._environments[step.treatment] = added
        return self._environments[step.treatment]
