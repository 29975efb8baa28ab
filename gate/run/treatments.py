"""The treatments that a job measures, of a study or of a gate with factors."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from gate.config.resolve import Settings
from gate.config.study import Study
from gate.config.treatments import Planned, baseline, measured_by, treatments
from gate.config.types import Config
from gate.model import UserError
from gate.model.study import Setting
from gate.words.effects import settings_text


@dataclass(frozen=True, slots=True)
class JobTreatments:
    """The treatments that a job measures, and the study that says what they are; none: every factor stays as it is."""

    study: Study | None
    planned: tuple[Planned, ...]

    @property
    def settings(self) -> int:
        """Count the treatments, those of base and head at the same settings as one."""
        return len({settings_text(each.settings) for each in self.planned})

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


def gate_treatments(settings: Settings, session: int | None) -> JobTreatments:
    """Return the treatments that a gate measures on both sides: those of [study], where study.gate wants it.

    Args:
        settings: of the gate, whose rules say it.
        session: of several; None: the only one.

    Raises:
        UserError: there are none for this session.
    """
    study = settings.rules.study
    if study is None or not study.gate:
        return NONE
    every = treatments(study, settings.sides["head"].build, settings.sides["base"].build)
    planned = measured_by(study, every, session, None)
    if not planned:
        raise UserError(f"study.gate: no treatment is measured in session {session or 0}, on a runner that has no name")
    return JobTreatments(study, planned)


def treatment_name(benchmark: str, factors: Mapping[str, Setting]) -> str:
    """Name a benchmark at a treatment: "latency (load=busy, clients=8)"."""
    return f"{benchmark} ({settings_text(factors)})" if factors else benchmark
