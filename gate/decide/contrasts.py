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
        case = group[0].case
        for factor, compared in compare([subject.case.factors for subject in group], _configured(run)).items():
            for of in compared.weighed:
                parts = tuple(Part(group[place], weight) for place, weight in of.weights.items())
                found.append(Contrast(factor, of.setting, of.against, parts))
            if compared.left_out:
                whole = bool(compared.weighed)
                warnings.append(CombinationsLeftOut(case.benchmark, case.metric, factor, whole, compared.left_out))
    return Contrasts(tuple(found), tuple(dict.fromkeys(warnings)))


class Weighed(msgspec.Struct, frozen=True):
    """A setting against others; weights: of the places of the combinations that count."""

    setting: Any
    against: tuple[Any, ...]
    weights: dict[int, float]


class Compared(msgspec.Struct, frozen=True):
    """The comparisons of one factor, and the combinations that lack one of its settings."""

    weighed: tuple[Weighed, ...]
    left_out: tuple[Combination, ...]


def compare(places: Sequence[Mapping[str, Any]], order: Mapping[str, Sequence[Any]]) -> dict[str, Compared]:
    """Compare the settings of each factor that has several.

    Args:
        places: combinations of settings, all of the same factors.
        order: in which the settings of a factor stand, where it is known.
    """
    found = {factor: _compared(places, factor, order.get(factor, ())) for factor in places[0]}
    return {factor: compared for factor, compared in found.items() if compared is not None}


def _key(value: Any) -> Hashable:
    # 1 and 1.0 are one setting; what is neither a name nor a number comes from elsewhere
    return value if isinstance(value, (str, int, float)) else repr(value)


def _compared(places: Sequence[Mapping[str, Any]], factor: str, order: Sequence[Any]) -> Compared | None:
    settings = _settings(places, factor, order)
    if len(settings) < 2:
        return None
    strata: dict[Hashable, dict[Hashable, int]] = {}
    for place, at in enumerate(places):
        others = tuple((name, _key(value)) for name, value in sorted(at.items()) if name != factor)
        strata.setdefault(others, {})[_key(at[factor])] = place
    complete = [own for own in strata.values() if len(own) == len(settings)]
    left_out = _left_out(strata.values(), places, factor, settings)
    chosen = (settings[1:] if len(settings) == 2 else settings) if complete else []
    return Compared(tuple(_weighed(complete, setting, settings) for setting in chosen), left_out)


def _weighed(strata: Sequence[Mapping[Hashable, int]], setting: Any, settings: Sequence[Any]) -> Weighed:
    against = tuple(other for other in settings if _key(other) != _key(setting))
    share = 1 / len(strata)
    at = {own[_key(setting)]: share for own in strata}
    others = {own[_key(other)]: -share / len(against) for own in strata for other in against}
    return Weighed(setting, against, at | others)


def _settings(places: Sequence[Mapping[str, Any]], factor: str, order: Sequence[Any]) -> list[Any]:
    found: dict[Hashable, Any] = {}
    for at in places:
        found.setdefault(_key(at[factor]), at[factor])
    configured = [_key(each) for each in order]
    if configured:
        ranks = {key: configured.index(key) if key in configured else len(configured) for key in found}
        return [found[key] for key in sorted(found, key=lambda key: ranks[key])]
    if all(isinstance(value, (int, float)) for value in found.values()):
        return sorted(found.values())
    return list(found.values())


def _configured(run: Run | None) -> dict[str, list[Any]]:
    """Return the settings of each factor as the rules of the run list them, where they do."""
    study = (run.config or {}).get("study") if run else None
    factors = study.get("factor") if isinstance(study, Mapping) else None
    tables = factors.items() if isinstance(factors, Mapping) else ()
    return {name: list(of) for name, of in tables if isinstance(of, (list, tuple, Mapping))}


def _left_out(
    strata: Collection[Mapping[Hashable, int]],
    places: Sequence[Mapping[str, Any]],
    factor: str,
    settings: Sequence[Any],
) -> tuple[Combination, ...]:
    """Name the combinations that lack a setting of the factor on one side or both."""
    left_out = []
    for own in strata:
        lacking = [setting for setting in settings if _key(setting) not in own]
        if lacking:
            at = places[next(iter(own.values()))]
            others = (pair(name, value) for name, value in at.items() if name != factor)
            left_out.append(Combination(tuple(others), tuple(map(shown, lacking))))
    return tuple(left_out)
