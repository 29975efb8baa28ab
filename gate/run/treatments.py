"""The treatments that a job of a study measures; a gate measures at the first setting of every factor."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from gate.config.resolve import Settings
from gate.config.study import Study
from gate.config.treatments import Planned, baseline
from gate.config.types import Config
from gate.model.study import Setting
from gate.words.effects import settings_text


@dataclass(frozen=True, slots=True)
class JobTreatments:
    """The treatments that a job measures, and the study that says what they are; none: every factor stays as it is."""

    study: Study | None
    planned: tuple[Planned, ...]

    def with_baseline(self, settings: Settings) -> Settings:
        """Give every factor that is not varied its first setting, so that what its commands say can be run."""
        sides = {side: self._at_baseline(config) for side, config in settings.sides.items()}
        return dataclasses.replace(settings, sides=sides, rules=self._at_baseline(settings.rules))

    def _at_baseline(self, config: Config) -> Config:
        if config.study is None:
            return config
        varied = self.study.factor if self.study else {}
        rest = {name: settings for name, settings in config.study.factor.items() if name not in varied}
        if not rest:
            return config
        others = msgspec.structs.replace(config.study, factor=rest)
        fixed = baseline(msgspec.structs.replace(config, study=others))
        return msgspec.structs.replace(fixed, study=config.study)


NONE = JobTreatments(None, ())


def treatment_name(benchmark: str, factors: Mapping[str, Setting]) -> str:
    """Name a benchmark at a treatment: "latency (load=busy, clients=8)"."""
    return f"{benchmark} ({settings_text(factors)})" if factors else benchmark
