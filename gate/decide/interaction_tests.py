"""Contrasts between the settings of a factor -> tested interactions of the side with it, over the rounds of a look.

One number a build and side: the weighted sum of ln(mean) (of ln(quantile)) over the settings, so that what the settings
of a build have in common cancels. Head less base is then a difference of logarithms like any other, one a round, and
its own spread over rounds is the error: that of builds by this factor, or of builds where its settings have their own.
The spread of other factors is no part of it: where builds differ by one factor alone, the pooled error of a stratum
calls chance an interaction. Source: docs/method.md, by factor.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import msgspec
import numpy as np

from gate.decide.contrasts import Contrast
from gate.decide.design import Design, Subject
from gate.decide.estimates import SHARED, first_rounds, measured, too_few_complete
from gate.decide.family import NOT_TESTED, Member, Share, beyond, tails
from gate.decide.machines import METHOD, over_its_machines
from gate.decide.troubles import trouble_of
from gate.model import SIDES, Side, outcomes, reasons
from gate.stats.estimate import PAIRED, Method, Reduced, ratio_of, reduce
from gate.stats.family import Tested
from gate.stats.fixed_sessions import Machine, average, by_machine, effect, together
from gate.stats.levels import Tops
from gate.stats.ratio import WITHHELD, Limits, LogPair, MeanPair, Ratio
from gate.stats.round_ratio import Rounds, rounds_of
from gate.stats.shared_variance import FEWEST_BUILDS, share_variance
from gate.stats.shared_variance import Shared as SharedVariance

_PAIRED = (*PAIRED, SHARED, METHOD)


class Crossed(msgspec.Struct, frozen=True, eq=False):
    """An interaction at the look that proved it, or at the last one.

    ratio: of the ratios head/base; None in trouble, which says why. rounds: what complete rounds tell of it, where they
    are paired. builds: of the side that has fewer, those measured at every setting. held: too few to call anything. p,
    p_improvement: of 1, at that look alone. nominal: the interval at the level that this look has of the whole alpha.
    """

    contrast: Contrast
    ratio: Ratio | None
    rounds: Rounds | None
    exact: bool
    method: str
    builds: int
    held: bool
    trouble: outcomes.NotKnown | None
    look: int
    p: float | None
    p_improvement: float | None
    nominal_alpha: float
    nominal: Limits
    regression: Tested
    improvement: Tested
    settled: bool

    @property
    def paired(self) -> bool:
        """Return whether the interval is paired by round, which spends less of alpha at looks."""
        return self.method in _PAIRED

    @property
    def member(self) -> Member:
        """What the families share of it."""
        callable_ = not self.held and self.p is not None and self.p_improvement is not None
        return Member(
            p=self.p if callable_ and self.p is not None else 1.0,
            p_improvement=self.p_improvement if callable_ and self.p_improvement is not None else 1.0,
            look=self.look,
            paired=self.paired,
            exact=self.exact,
            settled=self.settled,
            before=Share(self.regression, self.improvement),
        )

    def with_share(self, share: Share) -> Crossed:
        """Take what the families gave; what is proven keeps its data."""
        if self.settled:
            return self
        proven = share.regression.rejected or share.improvement.rejected
        return msgspec.structs.replace(
            self, regression=share.regression, improvement=share.improvement, settled=proven or self.exact
        )


def crossings(
    contrasts: Sequence[Contrast], design: Design, look: int, rounds: int | None, others: Sequence[Crossed] = ()
) -> list[Crossed]:
    """Test interactions at a look (from 0), over their first rounds; None: over all there is.

    others: interactions of the report that are asked no more, which tell of the variance of these.
    """
    reduced: dict[int, _Part] = {}
    for part in (part for contrast in contrasts for part in contrast.parts):
        if id(part.subject) not in reduced:
            reduced[id(part.subject)] = _reduced(part.subject, design, rounds)
    found = [_crossed(contrast, reduced, design, look) for contrast in contrasts]
    return _with_shared_variance(found, others, design) if design.shares and not design.machines else found


def _with_shared_variance(found: Sequence[Crossed], others: Sequence[Crossed], design: Design) -> list[Crossed]:
    """Weigh the variance of each interaction with that of the others of its statistic."""
    every = [(each, of) for each in (*found, *others) if (of := each.rounds) is not None and min(of.contrast, of.total)]
    shared: dict[int, SharedVariance] = {}
    for tau in dict.fromkeys(each.contrast.subject.tau for each, _ in every):
        of_one = [(each, rounds) for each, rounds in every if each.contrast.subject.tau == tau]
        variances = share_variance([_as_one(rounds, each.contrast) for each, rounds in of_one])
        shared |= {id(each): v for (each, _), v in zip(of_one, variances or (), strict=False) if v.used}
    return [_with_variance(each, shared[id(each)], design) if id(each) in shared else each for each in found]


def _as_one(rounds: Rounds, contrast: Contrast) -> Rounds:
    """Return what rounds would tell of a contrast whose weights' squares sum to 1: other factors average over more."""
    size = contrast.squares
    return msgspec.structs.replace(rounds, contrast=rounds.contrast / size, total=rounds.total / size)


def _with_variance(crossed: Crossed, shared: SharedVariance, design: Design) -> Crossed:
    rounds = crossed.rounds
    if rounds is None:
        return crossed
    ratio = rounds.pair(shared.variance * crossed.contrast.squares, shared.df)
    held = crossed.builds < min(FEWEST_BUILDS, design.policy.config.gate.min_builds)
    return _with_ratio(msgspec.structs.replace(crossed, held=held), ratio, SHARED, design)


class _Part(msgspec.Struct, frozen=True, eq=False):
    """One combination of settings; machines: each by itself, where the verdict is over these machines."""

    reduced: Reduced
    machines: tuple[Machine, ...]

    def side(self, side: Side) -> Tops:
        """Return a side's top units; of machines that are judged each by itself its builds."""
        if self.machines:
            return together(self.machines, side)
        return self.reduced.base if side == "base" else self.reduced.head


def _reduced(subject: Subject, design: Design, rounds: int | None) -> _Part:
    if design.machines:
        found = over_its_machines(subject, design, *first_rounds(subject, rounds))
        return _Part(found.reduced, found.machines)
    both = measured(subject, rounds)
    exact, sessions = subject.case.exact, design.sessions > 1
    return _Part(reduce(both.base, both.head, subject.tau, exact=exact, sessions=sessions), ())


def _crossed(contrast: Contrast, reduced: dict[int, _Part], design: Design, look: int) -> Crossed:
    parts = [reduced[id(part.subject)] for part in contrast.parts]
    found = [part.reduced for part in parts]
    weights = [part.weight for part in contrast.parts]
    builds = _builds(contrast, found)
    method = METHOD if design.machines else design.method
    plain = Crossed(
        contrast=contrast,
        ratio=None,
        rounds=None,
        exact=False,
        method=method,
        builds=builds,
        held=builds < design.policy.config.gate.min_builds,
        trouble=_trouble(contrast, parts),
        look=look,
        p=None,
        p_improvement=None,
        nominal_alpha=design.spending.nominal(look, design.alpha, paired=method in _PAIRED),
        nominal=WITHHELD,
        regression=NOT_TESTED,
        improvement=NOT_TESTED,
        settled=False,
    )
    if plain.trouble:
        return plain
    if all(each.exact for each in found):
        return _as_numbers(plain, found, weights)
    base, head = _combined(parts, weights)
    if not base.n and not head.n and (groups := _of_sessions(parts)) is not None:
        return _apart(plain, [_combined(*_chosen(parts, weights, group)) for group in groups], design)
    return _tested(plain, base, head, design)


def _combined(parts: Sequence[_Part], weights: Sequence[float]) -> tuple[Tops, Tops]:
    base, head = (combined([part.side(side) for part in parts], weights) for side in SIDES)
    return base, head


def _chosen(parts: Sequence[_Part], weights: Sequence[float], places: Sequence[int]) -> tuple[list[_Part], list[float]]:
    return [parts[place] for place in places], [weights[place] for place in places]


def _of_sessions(parts: Sequence[_Part]) -> list[list[int]] | None:
    """Group the places of settings that have sessions of their own; None where two groups have one in common."""
    groups: dict[frozenset[int], list[int]] = {}
    for place, part in enumerate(parts):
        sessions = {unit[0] if isinstance(unit, tuple) else unit for unit in part.side("base").units}
        groups.setdefault(frozenset(sessions), []).append(place)
    every = [session for sessions in groups for session in sessions]
    return [*groups.values()] if len(groups) > 1 and len(every) == len(set(every)) else None


def _apart(plain: Crossed, groups: Sequence[tuple[Tops, Tops]], design: Design) -> Crossed:
    """Test a factor that varies by session: nothing cancels between settings, and their errors add up."""
    effects = []
    for base, head in groups:
        if design.machines:
            pair = by_machine(base, head)
        else:
            rounds = rounds_of(base, head)
            pair = rounds.pair(rounds.contrast, rounds.df) if rounds is not None and rounds.df > 0 else None
        if pair is None or pair.df is None:
            return _with_ratio(plain, None, plain.method, design)
        effects.append(effect(pair.logs))
    mean, count = average(effects), len(effects)
    half, share = mean.value * count / 2, mean.variance * count**2 / 4
    ratio = LogPair(MeanPair(-half, half, share, share, -share, mean.df))
    return _with_ratio(plain, ratio, METHOD if design.machines else "paired", design)


def _builds(contrast: Contrast, found: Sequence[Reduced]) -> int:
    """Count the builds of the side that has fewer: those at every setting, or of sessions the fewest at one."""
    sides = [[each.base for each in found], [each.head for each in found]]
    if all(isinstance(unit, tuple) for unit in found[0].base.units):
        return min(len(set.intersection(*(set(tops.units) for tops in side))) for side in sides)
    cases = [part.subject.case for part in contrast.parts]
    return min(len(side.builds) for case in cases for side in (case.base, case.head))


def _trouble(contrast: Contrast, found: Sequence[_Part]) -> outcomes.NotKnown | None:
    """Say what stands in the way of a ratio of ratios, and where."""
    for part, each in zip(contrast.parts, found, strict=True):
        at, reduced = part.subject.case.factors, each.reduced
        if reduced.trouble:
            return outcomes.NotKnown(at=at, why=trouble_of(reduced, part.subject, each.machines))
        values = [
            reduced.x,
            reduced.y,
            *(() if reduced.base.log else (reduced.base.values.min(), reduced.head.values.min())),
        ]
        if min(values) <= 0:
            return outcomes.NotKnown(at=at, why=reasons.ZeroValue())
    return None


def _as_numbers(plain: Crossed, found: Sequence[Reduced], weights: Sequence[float]) -> Crossed:
    x, y = (
        math.exp(sum(w * math.log(getattr(each, of)) for each, w in zip(found, weights, strict=True)))
        for of in ("x", "y")
    )
    worse, better = tails(plain.contrast.subject)
    return msgspec.structs.replace(
        plain,
        ratio=MeanPair(x, y, 0.0, 0.0, 0.0, None),
        exact=True,
        method="exact",
        held=False,
        p=float(not beyond(y / x, 1.0, worse)),
        p_improvement=float(not beyond(y / x, 1.0, better)),
        nominal=Limits("bounded", y / x, y / x),
    )


def combined(sides: Sequence[Tops], weights: Sequence[float]) -> Tops:
    """Return the weighted sum of the logarithms of each build (or session) that all settings of a side have.

    sides: one for each setting, positive means or logarithms. The instrument's smallest step adds up by its squares.
    """
    shared = set.intersection(*(set(side.units) for side in sides))
    units = tuple(unit for unit in sides[0].units if unit in shared)
    values = np.zeros(len(units))
    steps = 0.0
    for side, weight in zip(sides, weights, strict=True):
        logs = side.values if side.log else np.log(side.values)
        place = {unit: i for i, unit in enumerate(side.units)}
        values += weight * logs[[place[unit] for unit in units]]
        steps += (weight * (side.gap if side.log else side.gap / math.exp(float(logs.mean())))) ** 2
    return Tops(values, units, math.sqrt(steps), log=True)


def _tested(plain: Crossed, base: Tops, head: Tops, design: Design) -> Crossed:
    if min(base.n, head.n) < 2:
        most = max(base.n, head.n)
        has: Literal["none", "one", "few"] = "none" if most == 0 else "one" if most == 1 else "few"
        return msgspec.structs.replace(plain, trouble=outcomes.NotKnown(at={}, why=reasons.IncompleteBuilds(has=has)))
    if design.machines:
        return _with_ratio(plain, by_machine(base, head), METHOD, design)
    method: Method = design.method
    reduced = Reduced(base, head, math.exp(base.mean), math.exp(head.mean), False, "", None, ())
    if method == "paired" and too_few_complete(reduced):
        # as for a finding: a pairing chosen for complete rounds does not throw away most of what has no partner
        method = "fieller" if design.policy.config.gate.interval == "auto" else method
    known = msgspec.structs.replace(plain, rounds=rounds_of(base, head) if method == "paired" else None)
    return _with_ratio(known, ratio_of(reduced, method), method, design)


def _with_ratio(plain: Crossed, ratio: Ratio | None, method: str, design: Design) -> Crossed:
    if ratio is None or ratio.df is None:
        return msgspec.structs.replace(plain, trouble=outcomes.NotKnown(at={}, why=reasons.NoSpreadOrRounds()))
    worse, better = tails(plain.contrast.subject)
    alpha = design.spending.nominal(plain.look, design.alpha, paired=method in _PAIRED)
    return msgspec.structs.replace(
        plain,
        ratio=ratio,
        method=method,
        p=ratio.p(1.0, worse),
        p_improvement=ratio.p(1.0, better),
        nominal_alpha=alpha,
        nominal=ratio.limits(alpha),
    )
