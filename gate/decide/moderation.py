"""What a machine remembers of a case -> the variance that its interval goes by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from gate.decide.design import FIELLER_MODERATED, Design, Estimated, HostNoise, Moderation
from gate.stats import prior as priors
from gate.stats.levels import Reduced, paired_units
from gate.stats.ratio import LogPair, MeanPair, Ratio, rounded

_Compared = tuple[float, float, priors.Prior]
"""A present variance with its degrees, and what is remembered of it."""


class _Recalled(NamedTuple):
    """What is remembered of a finding; None with one build on a side, where there is nothing to compare it with."""

    prior: priors.Prior
    decisive: _Compared | None = None
    """Of what the interval rests on: the round contrast where rounds are complete, otherwise a build's mean."""
    within: _Compared | None = None
    """Of a build's mean, beside a contrast."""


def with_memory(
    plain: Sequence[Estimated], known: Sequence[Estimated], design: Design, least: HostNoise
) -> tuple[list[Estimated], HostNoise]:
    """Moderate what is remembered, on a host that is found to be so much noisier than it was.

    plain, known: the same estimates, in known with what the cases share. least: see `estimates`.
    """
    recalled = [_recalled(found, design) for found in plain]
    known_of = [each for each in recalled if each is not None]
    rounds_of_all, sides_of_all = (
        priors.host_factor([each for each in compared if each is not None])
        for compared in ([each.decisive for each in known_of], [each.within for each in known_of])
    )
    noise = HostNoise(max(rounds_of_all, least.rounds), max(sides_of_all, least.sides))
    moderated = [
        shared if each is None else _moderated(found, each, noise)
        for found, shared, each in zip(plain, known, recalled, strict=True)
    ]
    return moderated, noise


def _recalled(found: Estimated, design: Design) -> _Recalled | None:
    if found.exact or found.reduced.trouble not in ("", "one-unit") or any(found.reduced.rounding):
        return None
    base, head = found.reduced.base, found.reduced.head
    by_round = paired_units(base, head)
    prior = _prior(found, design, "contrast" if by_round else "build")
    if prior is None:
        return None
    if min(base.n, head.n) < 2:
        return _Recalled(prior)
    of_builds = priors.sides_variance(base, head), base.n + head.n - 2
    if not by_round:
        return _Recalled(prior, (*of_builds, prior))
    within = _prior(found, design, "build")
    contrast = priors.contrast_variance(base, head), base.n - 1, prior
    return _Recalled(prior, contrast, None if within is None else (*of_builds, within))


def _prior(found: Estimated, design: Design, kind: priors.Kind) -> priors.Prior | None:
    memory, subject = design.memory, found.subject
    if memory is None or subject.memory is None:
        return None
    sides = (found.base, found.head)
    builds = sum(len(side.builds) for side in sides)
    executions = sum(len(side.counts[0]) for side in sides)
    return priors.prior_of(
        subject.memory, kind=kind, executions=executions / builds,
        iterations=sum(len(side.values) for side in sides) / executions,
        nu=memory.contrast_nu if kind == "contrast" else memory.build_nu, now=design.now,
        layouts=design.layouts or "independent",
    )  # fmt: skip


def _moderated(found: Estimated, recalled: _Recalled, noise: HostNoise) -> Estimated:
    base, head = found.reduced.base, found.reduced.head
    prior, present, within = recalled
    if present is None:
        # one build a side: from memory alone, to be shown and never to decide
        pair = priors.prior_pair(base, head, noise.rounds * prior.variance, prior.df)
        moderation = Moderation(prior, None, None, found.ratio)
        reduced = msgspec.structs.replace(found.reduced, trouble="")
        return msgspec.structs.replace(
            found, reduced=reduced, ratio=_scaled(pair, reduced), method=FIELLER_MODERATED, moderation=moderation
        )
    # the variance within the sides has twice the degrees of the contrast, and so sees a noisy case better
    p_sides = None if within is None else priors.surprise(*within, noise.sides)
    # of a build's mean, which is what decides where rounds are not complete
    by_round, builds, factor = paired_units(base, head), None if within is None else within[2], noise.sides
    if not by_round:
        builds, factor = prior, noise.rounds
    p_unlike = priors.unlike_sides(base, head, builds, factor)
    variance, df, _ = present
    result = priors.moderate(variance, df, prior, noise.rounds, p_sides=p_sides, p_unlike=p_unlike)
    moderation = Moderation(prior, result, variance, found.ratio)
    if not result.used:
        return msgspec.structs.replace(found, moderation=moderation)
    pair = (priors.moderated_pair if by_round else priors.moderated_sides)(base, head, result.variance, result.df)
    return msgspec.structs.replace(
        found, ratio=_scaled(pair, found.reduced), method=FIELLER_MODERATED, paired=False, moderation=moderation
    )


def _scaled(pair: MeanPair, reduced: Reduced) -> Ratio:
    return rounded(LogPair(pair) if reduced.base.log else pair, *reduced.rounding)
