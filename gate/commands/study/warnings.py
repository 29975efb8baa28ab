"""Warnings about the design of a study, given before it is measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gate.commands.study.design import Design, bound_sessions
from gate.config.treatments import Planned, builds_of, jobs, runner_of
from gate.model.case import quantile_of
from gate.model.study import Factor
from gate.model.warnings import AnyWarning
from gate.model.warnings.study import BuiltOnce, OneReplicate, OneSessionEach
from gate.stats.quantile import needed_values
from gate.units import agree, plural
from gate.writing.phrases import joined

_TAUS = (*(tenth / 10 for tenth in range(1, 10)), 0.99)
"""The quantiles that an analysis has unless others are asked for (QR section 5)."""


def design_warnings(design: Design, sessions: int | None) -> list[AnyWarning]:
    """Say what the design cannot show, however much its programs write.

    Args:
        sessions: of all jobs together; None: this is the only job.
    """
    repeats = _repeats(design, sessions)
    each = sessions_of_each(design, sessions or 1)
    return [*_replicates(design, repeats), *_builds(design, repeats), *_sessions(design, each)]


def forecast(design: Design, here: Sequence[Planned], sessions: int | None) -> list[str]:
    """Say what the plan lacks, for before measuring: a report says it of what was measured.

    Args:
        here: what this job measures.
        sessions: as for design_warnings.
    """
    others = _unmeasured(design, here) if sessions is None else []
    return [*_quantiles(design, _repeats(design, sessions)), *others]


def _repeats(design: Design, sessions: int | None) -> int:
    """Count the sessions that measure a treatment, of the treatment that has the fewest."""
    each = sessions_of_each(design, sessions or 1)
    return min(len(jobs(design.study, [planned], each)) for planned in design.planned)


def sessions_of_each(design: Design, sessions: int) -> int:
    """Return how many sessions each runner has, of those of all runners together."""
    if bound_sessions(design.study):
        return sessions
    return max(1, sessions // len({str(runner_of(design.study, each)) for each in design.planned}))


def _replicates(design: Design, repeats: int) -> list[OneReplicate]:
    return [OneReplicate()] if design.study.replicates * repeats == 1 else []


def _builds(design: Design, repeats: int) -> list[BuiltOnce]:
    if builds_of(design.study) * repeats > 1:
        return []
    # without a [build] command a build is a fresh checkout, and each side is one
    names = tuple(factor.name for factor in design.factors if factor.varies == "build")
    return [BuiltOnce(names)] if names else []


def _sessions(design: Design, sessions: int) -> list[OneSessionEach]:
    """Name the factors of which a setting is measured by one job only.

    Args:
        sessions: of each runner.
    """
    names = tuple(
        factor.name
        for factor in design.factors
        if factor.varies == "session" and any(count < 2 for count in _jobs_of(design, factor, sessions))
    )
    return [OneSessionEach(names)] if names else []


def _jobs_of(design: Design, factor: Factor, sessions: int) -> Iterable[int]:
    for setting in factor.settings:
        with_it = [each for each in design.planned if each.settings[factor.name] == setting]
        if with_it:
            yield len(jobs(design.study, with_it, sessions))


def _quantiles(design: Design, repeats: int) -> list[str]:
    """Name the quantiles that the plan is too small for.

    A program may write more values than the plan asks for, so the report says it only of what was measured.
    """
    iterations = design.project.settings.rules.plan.iterations
    planned = design.study.replicates * iterations * repeats
    lacking = [tau for tau in sorted({*_TAUS, *_decided(design)}) if needed_values(tau) > planned]
    if not lacking:
        return []
    factors = [plural(design.study.replicates, "replicate"), plural(iterations, "iteration")]
    factors += [plural(repeats, "session")] if repeats > 1 else []
    names = joined([f"{tau:g}" for tau in lacking], most=len(lacking))
    needed = sorted({needed_values(tau) for tau in lacking})
    needs = " to ".join(f"{count:,}" for count in dict.fromkeys((needed[0], needed[-1])))
    which = (
        f"the quantiles {names}, which need {needs}"
        if len(lacking) > 1
        else f"the quantile {names}, which needs {needs}"
    )
    of_each = f"{plural(planned, 'value')} of each treatment ({' x '.join(factors)})"
    return [f"{of_each} {agree(planned, 'is', 'are')} too few for {which}"]


def _decided(design: Design) -> set[float]:
    metrics = (
        m for b in design.project.settings.rules.benchmark if b.name in design.benchmarks for m in b.metric.values()
    )
    found = (quantile_of(each) for metric in metrics for each in metric.compared)
    return {tau for tau in found if tau is not None}


def _unmeasured(design: Design, here: Sequence[Planned]) -> list[str]:
    """Say that other jobs are needed, where this is taken for the only one."""
    others = len(design.planned) - len(here)
    if not others:
        return []
    measured = "is measured" if others == 1 else "are measured"
    which = f"{others} of {plural(len(design.planned), 'treatment')}"
    return [f"{which} {measured} by other jobs: `perfgate study plan --matrix` names them"]
