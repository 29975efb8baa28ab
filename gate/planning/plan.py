"""Known variances and an aim -> a plan, for `perfgate plan` and for a check that plans itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from gate.config.rules import ROOM, budget_of, most_builds, show_of
from gate.config.types import Config
from gate.decide.design import BOOTSTRAP_BUILDS, CORRELATIONS, choose_interval
from gate.decide.futility import POWER
from gate.model import UserError
from gate.model.case import MEAN
from gate.planning.basis import Gathered, Known
from gate.stats.cheapest import cheapest
from gate.stats.planning import (
    Aim,
    CheapestPlan,
    Choice,
    Counts,
    PlanLimits,
    PlannedCase,
    Terms,
    build_variance,
    half_width,
    optimum,
    seconds,
    without_shared,
)
from gate.stats.power import minimum_detectable_change
from gate.writing.units import Duration, Share, format_duration, format_share

_TRIES = 3
_HARDEST = 20
"""Findings that a plan advised by a report is made for."""


@dataclass(frozen=True, slots=True)
class FindingPlan:
    """What a plan means for one finding."""

    known: Known
    optimum: tuple[int | None, int | None]
    """Executions of a build and iterations of each."""
    half_width: float
    smallest: float
    """The change found with POWER at the family's level; inf: none."""
    degrees: float
    """What its memory is worth in this plan."""


@dataclass(frozen=True, slots=True)
class ExplainedPlan:
    """A plan and what it means."""

    gathered: Gathered
    plan: CheapestPlan
    rows: tuple[FindingPlan, ...]
    aim: str
    """What it was to reach, in words."""
    budget: float
    instead: CheapestPlan | None
    """The plan that would, without a budget."""

    @property
    def hopeless(self) -> bool:
        """Whether no plan would, however long."""
        return not self.plan.reached and self.instead is None


def planned(
    gathered: Gathered, budget: Duration | None = None, target: Share | None = None, detect: Share | None = None
) -> ExplainedPlan:
    """Plan for what is wanted and say what the plan means for each finding.

    Args:
        gathered: what is known.
        budget: None: that of the config.
        target: half-width of the intervals.
        detect: change to be found. Without both what makes no sign of a change green; where a change must be shown not
            to be worse, half-widths of half the thresholds.

    Raises:
        UserError: a threshold of 0 without a target, a change within the threshold, or a budget below two rounds.
    """
    aims = [(_aim(known, target, detect),) for known in gathered.known]
    # a bootstrap has no looks
    early = not gathered.config.gate.interval.startswith("bootstrap")
    limit = float(budget or gathered.config.plan.budget)
    cases, plan, instead = _search(gathered, aims, limit, early=early)
    terms, rows = _terms(gathered), list[FindingPlan]()
    for known, case in zip(gathered.known, cases, strict=True):
        interval = terms.interval_of(case, plan.counts.builds)
        nominal = terms.nominal_levels(plan.looks, interval)[-1]
        rows.append(
            FindingPlan(
                known=known,
                optimum=optimum(case.components, case.costs),
                half_width=half_width(case.components, plan.counts, nominal, interval),
                smallest=minimum_detectable_change(
                    case.components,
                    plan.counts,
                    threshold=known.threshold,
                    alpha=terms.family_levels(plan.looks, interval)[-1],
                    interval=interval,
                    min_builds=terms.min_builds,
                    wanted=POWER,
                ),
                degrees=case.degrees,
            )
        )
    # the largest size that must show; None where changes must be shown not to be worse
    sizes = [known.detectable for known in gathered.known if known.detectable is not None]
    size = max(sizes) if len(sizes) == len(gathered.known) else None
    aim, power = "half-widths of half the thresholds", f"found in {POWER:.0%} of the runs"
    if detect is not None:
        aim = f"a change of {format_share(float(detect))} {power}"
    elif target is not None:
        aim = f"a half-width of {format_share(float(target))}"
    elif size is not None:
        aim = f"a change of {format_share(size)} (gate.detectable) {power}"
    return ExplainedPlan(gathered, plan, tuple(rows), aim, limit, instead)


def advised(gathered: Gathered) -> CheapestPlan | None:
    """Return the cheapest plan that reaches what a gate needs to be green, within the budget if there is one that does.

    It is asked of every report that is inconclusive, so it takes no more time than it must: only the findings that are
    hardest to tell have aims, and looks, whose levels take seconds, are not tried. None: no plan does.

    Raises: UserError: as planned.
    """
    hard = [build_variance(k.components, 1, 1) / max(k.threshold, 1e-9) ** 2 for k in gathered.known]
    hardest = sorted(range(len(hard)), key=hard.__getitem__, reverse=True)[:_HARDEST]
    aims = [(_aim(known),) if i in hardest else () for i, known in enumerate(gathered.known)]
    _, plan, instead = _search(gathered, aims, float(gathered.config.plan.budget), early=False)
    return plan if plan.reached else instead


def _search(
    gathered: Gathered, aims: Sequence[tuple[Aim, ...]], budget: float, *, early: bool
) -> tuple[list[PlannedCase], CheapestPlan, CheapestPlan | None]:
    """Return what is planned for, the plan, and where that misses its aims the one that would not without a budget."""
    if gathered.untimed:
        raise UserError(f"{gathered.origin}: has no durations for the starts of {gathered.untimed[0]}")
    terms = _terms(gathered)
    limits = PlanLimits(budget=ROOM * budget - gathered.once, early=early)
    cases = [
        _case(known, own, known.worth(*known.repeated), terms) for known, own in zip(gathered.known, aims, strict=True)
    ]
    plan = cheapest(cases, terms, limits)
    for _ in range(_TRIES):
        # a memory may be worth less for other counts than for those that it was measured with
        worth = [known.worth(plan.executions, plan.iterations) if plan else 0.0 for known in gathered.known]
        if plan is None or all(now >= case.degrees - 0.5 for now, case in zip(worth, cases, strict=True)):
            break
        cases = [
            msgspec.structs.replace(case, degrees=min(now, case.degrees))
            for now, case in zip(worth, cases, strict=True)
        ]
        plan = cheapest(cases, terms, limits)
    if plan is None:
        least = seconds(cases, Counts(2, 1, 1)) + gathered.once
        raise UserError(
            f"two rounds of one start with one value take {format_duration(least)}, more than the budget of "
            f"{format_duration(budget)} leaves: raise it with `--budget {budget_of(least)}`"
        )
    instead = None if plan.reached else cheapest(cases, terms, PlanLimits(budget=None, early=early))

    def longer(plan: CheapestPlan) -> CheapestPlan:
        # with what a run takes whatever its counts
        return msgspec.structs.replace(plan, most=plan.most + gathered.once, expected=plan.expected + gathered.once)

    return cases, longer(plan), longer(instead) if instead is not None and instead.reached else None


def _case(known: Known, aims: tuple[Aim, ...], degrees: float, terms: Terms) -> PlannedCase:
    components, shared = known.components, known.shared
    if terms.always_by_round or degrees > 0:
        components, shared = without_shared(components, shared, known.repeated[0]), 0.0
    return msgspec.structs.replace(known, components=components, shared=shared, aims=aims, degrees=degrees)


def _aim(known: Known, target: Share | None = None, detect: Share | None = None) -> Aim:
    if detect is not None:
        if float(detect) <= known.threshold:
            raise UserError(
                f"--detect {detect}: {known.benchmark} fails only beyond its threshold of "
                f"{format_share(known.threshold)}"
            )
        return Aim(None, float(detect), POWER)
    if target is None and known.detectable is not None:
        return Aim(None, known.detectable, POWER)
    # as wide as the threshold, half of all unchanged findings would stay open; half as wide, one in forty
    half = float(target) if target is not None else known.threshold / 2
    if target is not None and half <= 0:
        raise UserError("--target 0: no interval is that narrow: write a share above 0, such as 1%")
    if half <= 0:
        raise UserError(
            f"{known.benchmark} has a threshold of 0, and no interval is that narrow: add --target or --detect"
        )
    return Aim(half)


def _terms(gathered: Gathered) -> Terms:
    config, known = gathered.config, gathered.known
    shows = {show_of(config, k.benchmark, k.metric, k.statistic) for k in known}
    alike = Counter(k.statistic for k in known)
    return msgspec.structs.replace(
        terms_of(config, gathered.size, sharing=max(alike.values())),
        gives_up=shows == {"no-sign"},
    )


def terms_of(config: Config, size: int, *, sharing: int | None = None) -> Terms:
    """Return the rules of the verdict as plans see them; a bootstrap interval is planned for as fieller.

    Args:
        size: findings of a report. sharing: those of them that may share their variance; None: all.
    """
    gate, sessions, layouts = config.gate, config.plan.sessions, config.build.layouts
    choice: Choice = "fieller" if gate.interval.startswith("bootstrap") else gate.interval  # type: ignore[assignment]  # mypy does not narrow a Literal by `in`
    fewest = gate.min_builds
    if gate.interval.startswith("bootstrap") and gate.family == "holm":
        fewest = max(fewest, BOOTSTRAP_BUILDS)
    # a plan is for one machine
    shares = sessions == 1 and choose_interval(gate, most_builds(config.plan), size, layouts)[1]
    return Terms(
        alpha=round(1 - gate.confidence, 12),
        family=1 if gate.family == "none" else size,
        min_builds=fewest,
        interval=choice,
        correlation=1.0 if shares or sessions > 1 else CORRELATIONS[layouts],
        cases=(size if sharing is None else sharing) if shares else 1,
        gives_up=show_of(config, "", "", MEAN) == "no-sign",
    )
