"""Which interactions of the side with a factor a report asks about: one setting against others, and with which weights.

A factor is looked at over those combinations of the other factors at which every setting of it was measured on both
sides. Source: docs/method.md, by factor.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import Any

import msgspec

from gate.decide.design import Subject
from gate.evidence.factors import pair, shown
from gate.model import Run
from gate.model.case import CaseId
from gate.model.warnings.estimates import Combination, CombinationsLeftOut


class Part(msgspec.Struct, frozen=True, eq=False):
    """The findings' subject at one combination of settings; weight: of its ln(head/base) in the contrast."""

    subject: Subject
    weight: float


class Contrast(msgspec.Struct, frozen=True, eq=False):
    """What one interaction will be about: ln(head/base) at a setting of a factor less that at the others.

    parts: those at the setting have weights that sum to 1, those at the others weights that sum to -1.
    """

    factor: str
    setting: Any
    against: tuple[Any, ...]
    parts: tuple[Part, ...]

    @property
    def subject(self) -> Subject:
        """Any of the subjects: case but for the factors, statistic and threshold are those of all."""
        return self.parts[0].subject

    @property
    def squares(self) -> float:
        """The variance of the contrast, where each combination has a variance of 1 by itself."""
        return math.fsum(part.weight**2 for part in self.parts)


class Contrasts(msgspec.Struct, frozen=True, eq=False):
    """All contrasts of a report; warnings: combinations that are left out of one."""

    found: tuple[Contrast, ...]
    warnings: tuple[CombinationsLeftOut, ...]


def contrasts_of(subjects: Sequence[Subject], run: Run | None) -> Contrasts:
    """List the interactions of the side with each factor: of two settings the second against the first, of more each.

    run: says in which order the settings of a factor stand; else numbers ascend and names stand as they were measured.
    """
    groups: dict[Hashable, list[Subject]] = {}
    for subject in subjects:
        case = subject.case
        if case.factors:
            everywhere = CaseId(case.benchmark, case.metric, statistic=subject.statistic)
            groups.setdefault((everywhere, frozenset(case.factors)), []).append(subject)
    found: list[Contrast] = []
    warnings: list[CombinationsLeftOut] = []
    for group in groups.values():
        for factor in group[0].case.factors:
            crossed = _crossed(group, factor, run)
            found += crossed.found
            warnings += crossed.warnings
    return Contrasts(tuple(found), tuple(dict.fromkeys(warnings)))


def _key(value: Any) -> Hashable:
    # 1 and 1.0 are one setting; what is neither a name nor a number comes from elsewhere
    return value if isinstance(value, (str, int, float)) else repr(value)


def _crossed(group: Sequence[Subject], factor: str, run: Run | None) -> Contrasts:
    settings = _settings(group, factor, run)
    if len(settings) < 2:
        return Contrasts((), ())
    strata: dict[Hashable, dict[Hashable, Subject]] = {}
    for subject in group:
        place = tuple((name, _key(value)) for name, value in sorted(subject.case.factors.items()) if name != factor)
        strata.setdefault(place, {})[_key(subject.case.factors[factor])] = subject
    complete = [own for own in strata.values() if len(own) == len(settings)]
    warnings = _left_out(strata.values(), factor, settings, whole=bool(complete))
    if not complete:
        return Contrasts((), warnings)
    chosen = settings[1:] if len(settings) == 2 else settings
    return Contrasts(tuple(_contrast(complete, factor, setting, settings) for setting in chosen), warnings)


def _contrast(
    strata: Sequence[Mapping[Hashable, Subject]], factor: str, setting: Any, settings: Sequence[Any]
) -> Contrast:
    against = tuple(other for other in settings if _key(other) != _key(setting))
    share = 1 / len(strata)
    at = [Part(own[_key(setting)], share) for own in strata]
    others = [Part(own[_key(other)], -share / len(against)) for own in strata for other in against]
    return Contrast(factor, setting, against, (*at, *others))


def _settings(group: Sequence[Subject], factor: str, run: Run | None) -> list[Any]:
    found: dict[Hashable, Any] = {}
    for subject in group:
        found.setdefault(_key(subject.case.factors[factor]), subject.case.factors[factor])
    configured = [_key(each) for each in _configured(run, factor)]
    if configured:
        places = {key: configured.index(key) if key in configured else len(configured) for key in found}
        return [found[key] for key in sorted(found, key=lambda key: places[key])]
    if all(isinstance(value, (int, float)) for value in found.values()):
        return sorted(found.values())
    return list(found.values())


def _configured(run: Run | None, factor: str) -> list[Any]:
    """Return the settings of a factor as the rules of the run list them; [] where they do not."""
    study = (run.config or {}).get("study") if run else None
    factors = study.get("factor") if isinstance(study, Mapping) else None
    settings = factors.get(factor) if isinstance(factors, Mapping) else None
    return list(settings) if isinstance(settings, (list, tuple, Mapping)) else []


def _left_out(
    strata: Collection[Mapping[Hashable, Subject]], factor: str, settings: Sequence[Any], *, whole: bool
) -> tuple[CombinationsLeftOut, ...]:
    """Name the combinations that lack a setting of the factor on one side or both."""
    left_out = []
    for own in strata:
        lacking = [setting for setting in settings if _key(setting) not in own]
        if lacking:
            subject = next(iter(own.values()))
            others = (pair(name, value) for name, value in subject.case.factors.items() if name != factor)
            left_out.append(Combination(tuple(others), tuple(map(shown, lacking))))
    if not left_out:
        return ()
    case = next(iter(next(iter(strata)).values())).case
    return (CombinationsLeftOut(case.benchmark, case.metric, factor, whole, tuple(left_out)),)
