"""The treatments of a check to be, and what is known of the interactions with their factors."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from gate.config.treatments import measured_by, model_factors, settings_of, treatments
from gate.config.types import Config
from gate.decide.contrasts import compare, contrasts_of
from gate.decide.design import Subject
from gate.decide.interaction_tests import combined
from gate.model import SIDES, MeanSquare, Run
from gate.model.case import canonical
from gate.model.study import Setting
from gate.planning.known import Known
from gate.stats.estimate import Reduced, reduce
from gate.stats.planning import Components, build_variance, without_shared
from gate.stats.round_ratio import rounds_of
from gate.stats.subsample import by_session


@dataclass(frozen=True, slots=True)
class Treatments:
    """What a check with `study.gate` measures on each side."""

    settings: tuple[Mapping[str, Setting], ...]
    builds: int
    """Of a side in a round: one for each combination of the settings that builds depend on."""


def planned_treatments(config: Config) -> Treatments | None:
    """Return the treatments of [study], on one runner that has no name; None: the gate measures none."""
    study = config.study
    if study is None or not study.gate:
        return None
    every = treatments(study, config.build)
    here = measured_by(study, every, None, None) or every
    settings = {canonical(each.settings): each.settings for each in here}
    return Treatments(tuple(settings.values()), len({canonical(each.building) for each in here}))


def questions(config: Config) -> int:
    """Count the findings and interactions that a check has of each case and statistic."""
    wanted = planned_treatments(config)
    if wanted is None:
        return 1
    compared = compare(wanted.settings, _order(config)).values()
    return len(wanted.settings) + sum(len(each.weighed) for each in compared)


def _order(config: Config) -> dict[str, list[Setting]]:
    return {name: settings_of(table) for name, table in config.study.factor.items()} if config.study else {}


@dataclass(frozen=True, slots=True)
class InteractionId:
    """A setting of a factor against the others, of one case and statistic."""

    benchmark: str
    metric: str
    statistic: str
    factor: str
    setting: str


@dataclass(frozen=True, slots=True)
class Interaction:
    """One interaction to be, and its variance."""

    benchmark: str
    metric: str
    statistic: str
    factor: str
    setting: Any
    against: tuple[Any, ...]
    over: tuple[str, ...]
    """The other factors, over whose settings it is an average."""
    own_builds: bool
    """Whether the settings of the factor have builds of their own."""
    components: Components
    """Of a side's part: what builds, executions and iterations add to it."""
    builds_df: float
    """Degrees of what builds add; 0: it was not measured, and taken as if settings of a build had nothing in common."""
    at: Known
    """One of the findings that it compares, for the costs."""
    values: int


def measured_contrasts(subjects: Sequence[Subject], run: Run | None) -> Iterator[tuple[InteractionId, MeanSquare]]:
    """Give the variance over rounds of each interaction in each session, as of weights whose squares sum to 1."""
    for contrast in contrasts_of(subjects, run).found:
        weights = [part.weight for part in contrast.parts]
        sessions = [by_session(part.subject.case.base, part.subject.case.head) for part in contrast.parts]
        of = contrast.subject.case
        name = InteractionId(
            of.benchmark, of.metric, contrast.subject.statistic, contrast.factor, canonical({"": contrast.setting})
        )
        for session in set.intersection(*map(set, sessions)):
            found = [reduce(*own[session], contrast.subject.tau, exact=False) for own in sessions]
            if not all(map(_has_logarithms, found)):
                continue
            base, head = (combined([getattr(each, side) for each in found], weights) for side in SIDES)
            rounds = rounds_of(base, head)
            if rounds is not None and rounds.df > 0 and rounds.contrast > 0:
                yield name, MeanSquare(value=rounds.contrast / contrast.squares, df=float(rounds.df))


def _has_logarithms(found: Reduced) -> bool:
    return not found.trouble and (found.base.log or min(found.base.values.min(), found.head.values.min()) > 0)


def interactions_of(
    known: Sequence[Known], measured: Mapping[InteractionId, Sequence[MeanSquare]], config: Config
) -> list[Interaction]:
    """List the interactions of a check that measures these findings, with what is known of their variance."""
    groups: dict[tuple[str, str, str, frozenset[str]], list[Known]] = {}
    for each in known:
        if each.factors:
            groups.setdefault((each.benchmark, each.metric, each.statistic, frozenset(each.factors)), []).append(each)
    order = _order(config)
    own = {f.name for f in model_factors(config.study, config.build) if f.varies == "build"} if config.study else set()
    found = []
    for (benchmark, metric, statistic, _), group in groups.items():
        for factor, compared in compare([each.factors for each in group], order).items():
            for of in compared.weighed:
                name = InteractionId(benchmark, metric, statistic, factor, canonical({"": of.setting}))
                parts = [(group[place], weight**2) for place, weight in of.weights.items()]
                squares = measured.get(name, ())
                found.append(
                    Interaction(
                        benchmark=benchmark,
                        metric=metric,
                        statistic=statistic,
                        factor=factor,
                        setting=of.setting,
                        against=of.against,
                        over=_over(factor, [each for each, _ in parts]),
                        own_builds=factor in own,
                        components=_components(parts, squares),
                        builds_df=sum(square.df for square in squares),
                        at=parts[0][0],
                        values=max(each.values for each, _ in parts),
                    )
                )
    return found


def _over(factor: str, parts: Sequence[Known]) -> tuple[str, ...]:
    first = parts[0].factors
    return tuple(name for name in first if name != factor and any(p.factors[name] != first[name] for p in parts))


def _components(parts: Sequence[tuple[Known, float]], squares: Sequence[MeanSquare]) -> Components:
    """Add up what the settings contribute; what rounds spread by beyond that is of builds.

    Two sides make an interaction, each with half of its variance.
    """
    found = [(k.estimated.components, k, share) for k, share in parts]
    execution = math.fsum(share * max(own.execution, 0.0) for own, _, share in found)
    iteration = math.fsum(share * own.effective_iteration for own, _, share in found)
    if not squares:
        left = [(without_shared(own, k.shared, k.repeated.executions), share) for own, k, share in found]
        return Components(iteration, execution, math.fsum(share * max(own.build, 0.0) for own, share in left))
    df = math.fsum(square.df for square in squares)
    spread = math.fsum(square.df * square.value for square in squares) / df / 2
    total = spread * math.fsum(share for _, share in parts)
    within = math.fsum(
        share * build_variance(msgspec.structs.replace(own, build=0.0), k.repeated.executions, k.repeated.iterations)
        for own, k, share in found
    )
    return Components(iteration, execution, max(total - within, 0.0))
