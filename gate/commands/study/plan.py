"""The plan of a study: factors, treatments, order, builds, time; as a document."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gate.commands.study.changes import settings_text
from gate.commands.study.experiment import Experiment
from gate.commands.study.words import ERRORS
from gate.config.fractions import LETTERS, Fraction, Word, fraction_of, model_order, roman
from gate.config.treatments import (
    SIDE,
    PlannedTreatment,
    bound_sessions,
    builds_of,
    jobs,
    runner_of,
    shares_of,
)
from gate.document import document as doc
from gate.model.case import quantile_of
from gate.model.study import Factor, Setting
from gate.model.warnings import typed
from gate.run.job import Job, treatment_name
from gate.run.preview import command_lines, expected
from gate.stats.centers import needed_values
from gate.words.reports import commit
from gate.writing.phrases import joined
from gate.writing.units import agree, plural

if TYPE_CHECKING:
    from gate.stats.design.sample_size import Power


def introduction(design: Experiment, job: Job) -> str:
    """Say in one line what will be measured, and how long it is expected to take."""
    head = f"head {commit(job.run.head)}"
    sides = head if job.run.base is None else f"base {commit(job.run.base)} and {head}"
    executions, earlier = plural(sum(len(each.executions) for each in job.rounds), "start"), job.earlier
    if earlier is None:
        benchmarks, treatments = plural(len(design.benchmarks), "benchmark"), len(job.treated.planned)
        of = f"{benchmarks} x {plural(treatments, 'treatment')} x {plural(design.study.replicates, 'replicate')}"
        iterations = plural(job.project.settings.rules.plan.iterations, "value")
        return f"study of {sides}: {of} = {executions} of {iterations}, {expected(job)}"
    planned = plural(earlier.planned_replicates, "replicate")
    if not job.rounds:
        left = f"nothing is left of its {planned}"
    else:
        complete = f"{earlier.replicates} of {planned} {agree(earlier.replicates, 'is', 'are')} complete"
        left = f"{complete}, {executions} left, {expected(job)}"
    return f"study of {sides} goes on: {left}"


def warnings_of(design: Experiment, job: Job) -> list[str]:
    """Return what to know before measuring: what the run line says, and what the plan lacks."""
    sessions = job.part.sessions if job.part else None
    return [*(each.sentence() for each in typed(job.run.warnings)), *forecast(design, job.treated.planned, sessions)]


def document(design: Experiment, job: Job, *, every: bool) -> doc.Document:
    """Say what will be measured; every: with the order of all executions."""
    run, study, here = job.run, design.study, job.treated.planned
    runner = (run.host or {}).get("runner")
    words = [*([str(job.part)] if job.part else []), *([f"runner {runner}"] if runner else [])]
    begins = [introduction(design, job), *([f"job: {', '.join(words)}"] if words else [])]
    begins += [f"{'sides: ' if run.base else ''}{run.chosen}", f"rules: {run.rules}", f"seed: {run.seed}"]
    rows = [[f.name, ", ".join(map(str, f.settings)), f.varies] for f in design.factors]
    of = f" of the {len(design.planned)} of the study" if len(here) < len(design.planned) else ""
    at = [{SIDE: each.side, **each.settings} for each in here]
    treatments = [
        [str(p.number + 1), *(str(own[name]) for name in study.factor)] for p, own in zip(here, at, strict=True)
    ]
    parts: list[doc.Part] = [
        doc.Items(begins, "told"),
        doc.Items(warnings_of(design, job), "warning"),
        _table("factors", ["factor", "settings", "differs between"], rows),
        *fraction_text(fraction_of(study)),
        doc.Items(power_text(powers(design, job.part.sessions if job.part else None)), "told"),
        _table(f"{plural(len(here), 'treatment')}{of}", ["", *study.factor], treatments),
        doc.Items(_builds(design, job), "told"),
        *map(doc.Code, "\n".join(command_lines(job)).split("\n\n")),
        doc.Code(_order(design, job)) if every else doc.Items(["`--all` prints the order with its seeds"], "rest"),
    ]
    return doc.Document("perfgate study", "plan", [[part] for part in parts], "", "")


def _table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> doc.Table:
    return doc.Table(title, "", [*map(doc.Column, head)], [doc.Row([*map(doc.Cell, row)]) for row in rows])


def _builds(design: Experiment, job: Job) -> list[str]:
    builds, replicates = builds_of(design.study), design.study.replicates
    built = list(dict.fromkeys(_built(design, each.side, each.building) for each in job.treated.planned))
    each = f", each of {'; '.join(built)}" if len(built) > 1 else ""
    made = plural(sum(len(each.builds) for each in job.rounds), "build")
    executions = plural(sum(len(each.executions) for each in job.rounds), "start")
    if job.earlier is not None:
        open_ = job.earlier.planned_replicates - job.earlier.replicates
        return [
            f"measured: {job.earlier.executions:,} of {plural(job.earlier.planned, 'start')}",
            f"left: {plural(open_, 'replicate')} in {plural(len(job.rounds), 'round')} of builds: {made}, {executions}",
            f"expected time: {expected(job) if job.rounds else 'none'}",
        ]
    return [
        f"{plural(builds, 'round')} of builds{each}: {made} in all",
        f"{plural(replicates, 'replicate')}, each of every treatment once, in random order: {executions} in all",
        f"expected time: {expected(job)}",
    ]


def _built(design: Experiment, side: str, factors: Mapping[str, Setting]) -> str:
    words = [side] if len(design.sides) > 1 else []
    return " ".join([*words, settings_text(factors)]) or side


def _order(design: Experiment, job: Job) -> str:
    lines, number = ["order"], job.earlier.replicates if job.earlier else 0
    rounds = job.earlier.rounds if job.earlier else len(job.rounds)
    several = len(design.sides) > 1
    for round_ in job.rounds:
        builds = [f"  build    {_built(design, b.side, b.factors)}  seed {b.seed}" for b in round_.builds]
        for _, steps in itertools.groupby(round_.executions, key=lambda step: step.execution):
            number += 1
            place = f"iteration {number} of {design.study.replicates}, round {round_.build + 1} of {rounds}"
            lines += [place, *builds]
            builds = []
            for step in steps:
                side = f" on {step.side}" if several else ""
                lines.append(f"  execute  {treatment_name(step.benchmark, step.factors)}{side}")
    return "\n".join(lines)


# --- what the design cannot show, its power, and what its fraction mixes ---------------------------------------------


_TAUS = (*(tenth / 10 for tenth in range(1, 10)), 0.99)
"""The quantiles that an analysis has unless others are asked for (QR section 5)."""


def forecast(design: Experiment, here: Sequence[PlannedTreatment], sessions: int | None) -> list[str]:
    """Say what the plan lacks, for before measuring: a report says it of what was measured.

    Args:
        here: what this job has.
        sessions: of all jobs together; None: this is the only job.
    """
    study, each = design.study, sessions_of_each(design, sessions or 1)
    repeats, iterations = _repeats(design, sessions), design.project.settings.rules.plan.iterations
    found = ["one replicate: nothing shows the noise; set study.replicates = 3"][: study.replicates * repeats == 1]

    def alone(factor: Factor) -> bool:
        """Tell whether a setting is of one build, or of one job, only."""
        if factor.varies == "build":
            return builds_of(study) * repeats == 1
        of = ([p for p in design.planned if p.settings[factor.name] == setting] for setting in factor.settings)
        return any(with_it and len(jobs(study, with_it, each)) < 2 for with_it in of)

    found += [
        f"{f.name} varies by {f.varies}, and a setting has one {f.varies} only: its effect cannot be told from that one"
        for f in design.factors if f.varies != "execution" and alone(f)
    ]  # fmt: skip
    planned = study.replicates * iterations * repeats
    metrics = (
        m for b in design.project.settings.rules.benchmark if b.name in design.benchmarks for m in b.metric.values()
    )
    decided = {tau for m in metrics for each in m.compared if (tau := quantile_of(each)) is not None}
    lacking = [tau for tau in sorted({*_TAUS, *decided}) if needed_values(tau) > planned]
    if lacking:
        factors = [plural(study.replicates, "replicate"), plural(iterations, "value")]
        factors += [plural(repeats, "session")] if repeats > 1 else []
        names = joined([f"{tau:g}" for tau in lacking], most=len(lacking))
        needed = sorted({needed_values(tau) for tau in lacking})
        needs = " to ".join(f"{count:,}" for count in dict.fromkeys((needed[0], needed[-1])))
        quantiles, need = ("quantiles", "need") if len(lacking) > 1 else ("quantile", "needs")
        of_each = f"{plural(planned, 'value')} of each treatment ({' x '.join(factors)})"
        are = agree(planned, "is", "are")
        found.append(f"{of_each} {are} too few for the {quantiles} {names}, which {need} {needs}")
    # other jobs are needed, where this is taken for the only one
    others = len(design.planned) - len(here)
    if sessions is None and others:
        which = f"{others} of {plural(len(design.planned), 'treatment')} {agree(others, 'is', 'are')} measured"
        found.append(f"{which} by other jobs: `perfgate study plan --matrix` names them")
    return found


def _repeats(design: Experiment, sessions: int | None) -> int:
    """Count the sessions that measure a treatment, of the treatment that has the fewest."""
    each = sessions_of_each(design, sessions or 1)
    return min(len(jobs(design.study, [planned], each)) for planned in design.planned)


def sessions_of_each(design: Experiment, sessions: int) -> int:
    """Return how many sessions each runner has, of those of all runners together."""
    if bound_sessions(design.study):
        return sessions
    return max(1, sessions // len({str(runner_of(design.study, each)) for each in design.planned}))


SIZES = (1.0, 2.0)
"""Changes, in standard deviations of executions, or of means of builds or sessions."""
_MOST = 200_000
"""Most executions of a benchmark for which it is worked out."""
_LIKELY = (0.5, 0.9, 0.99)


def powers(design: Experiment, sessions: int | None) -> list[Power]:
    """Return the power for each factor, sessions as for forecast; none for a design too large to lay out."""
    each = sessions_of_each(design, sessions or 1)
    study = design.study
    if study.replicates * len(design.planned) * each > _MOST:
        return []
    # pandas takes its time to load
    import pandas as pd

    from gate.stats.design.sample_size import power

    # one benchmark's executions, as they will be measured
    places = {f.name: {str(s): code for code, s in enumerate(f.settings)} for f in design.factors}
    built = [f.name for f in design.factors if f.varies == "build"]
    rows: list[tuple[int, ...]] = []
    builds: dict[tuple[int, int, tuple[str, ...]], int] = {}
    shares = shares_of(study)
    for planned in design.planned:
        at = {SIDE: planned.side, **planned.settings}
        codes = [places[f.name][str(at[f.name])] for f in design.factors]
        variant = tuple(str(at[name]) for name in built)
        for job in jobs(study, [planned], each):
            for round_, share in enumerate(shares):
                build = builds.setdefault((job.session, round_, variant), len(builds))
                place = job.session * len(shares) + round_
                rows += [(*codes, job.session, place, planned.fold, build, replicate) for replicate in range(share)]
    names = [*(f"f{k}" for k in range(len(design.factors))), "session", "round", "fold", "build", "replicate"]
    values = study.replicates * design.project.settings.rules.plan.iterations * each
    return power(
        pd.DataFrame(rows, columns=names),
        [factor for factor in design.factors if factor.name in study.factor],
        model_order(study),
        study.block or "replicate",
        SIZES,
        quantiles=sum(needed_values(tau) <= values for tau in _LIKELY),
    )


def power_text(found: Sequence[Power]) -> list[str]:
    """Say which changes would be found, in a line for each kind of factor."""
    groups: dict[tuple[Any, ...], list[Power]] = {}
    for each in found:
        told = (each.stratum, each.df, *(round(chance, 2) for chance in each.chances))
        groups.setdefault(told, []).append(each)
    lines = []
    for own in groups.values():
        names, first = joined([each.factor for each in own], 4), own[0]
        error = ERRORS[first.stratum]
        if first.df is None:
            lines.append(f"power: nothing can be told of {names}: there {agree(len(own), 'is', 'are')} too few {error}")
            continue
        one, two = ("under 1%" if c < 0.01 else "over 99%" if c > 0.99 else f"{c:.0%}" for c in first.chances)
        drawn = f"the means of {first.stratum}s" if first.stratum in ("build", "session") else "executions"
        by = "by Lenth's method, about" if first.lenth else f"tested against {error},"
        lines.append(
            f"power: a change by {names} of 2 standard deviations of {drawn} shows in {two} of such studies, "
            f"and one of 1 in {one} ({by} {first.df:.3g} degrees of freedom)"
        )
    return lines


_LISTED = 20
"""Most words, and most alias sets, that the text lists."""
_PAIRS = 2
"""Aliases are told of factors and of interactions of so many."""


def fraction_text(fraction: Fraction | None) -> list[doc.Part]:
    """Describe a fraction; nothing where all combinations are measured, or those listed."""
    if fraction is None:
        return []
    names, lines = fraction.factors, list[str]()
    if not fraction.burman:
        letters = zip(LETTERS, names, strict=False)
        lines.append(f"factors: {', '.join(f'{letter}={name}' for letter, name in letters)}")
        lines.append(f"generators: {', '.join(own.named() for own in fraction.generators)}")
        lines.append(f"defining words: I = {_some([word.named() for word in fraction.words], ' = ')}")
    if fraction.fold:
        turned = "all factors" if len(fraction.fold) == len(names) else names[fraction.fold[0]]
        between = _some([word.named() for word in fraction.between], ", ")
        mixed = f"; the difference of the blocks is mixed with {between}" if between else ""
        lines.append(f"folded over: a second block has {turned} the other way round{mixed}")
    sets = [] if fraction.burman else alias_sets(fraction)
    if not sets:
        none = "no factor or interaction of two is mixed with another"
        if fraction.burman and fraction.resolution == 4:
            none = "main effects are clear of interactions of two factors, of which a part is in each other"
        elif fraction.burman and len(names) > _PAIRS:
            none = "no interactions: a part of each, or all of it, is in main effects of other factors"
        lines.append(none)
    told = [" = ".join(own) for own in sets[:_LISTED]]
    told += [f"... {plural(len(sets) - _LISTED, 'more set')}"] if len(sets) > _LISTED else []
    parts: list[doc.Part] = [doc.Items(lines, "told"), doc.Items(told, "told", "cannot be told apart")]
    return [doc.Section(title(fraction), "fraction", parts)]


def title(fraction: Fraction) -> str:
    """Name a design: "a 2^(7-3) fraction of resolution IV: 16 runs"."""
    count = len(fraction.factors)
    if fraction.burman:
        return f"a Plackett-Burman design for {plural(count, 'factor')}: {plural(fraction.size, 'run')}"
    kind = f"2^({count}-{len(fraction.generators)}) fraction"
    of = f" of resolution {roman(fraction.resolution)}" if fraction.resolution else ""
    return f"a {kind}{of}{', folded over' if fraction.fold else ''}: {plural(fraction.size, 'run')}"


def _some(names: list[str], between: str) -> str:
    more = f"{between}... {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return between.join(names[:_LISTED]) + more


def alias_sets(fraction: Fraction) -> list[list[str]]:
    """Return the sets of factors and interactions of two that a regular fraction cannot tell apart."""
    places = range(len(fraction.factors))
    terms = [Word(1 << a) for a in places] + [Word(1 << a | 1 << b) for a, b in itertools.combinations(places, _PAIRS)]
    found: list[list[str]] = []
    seen: set[int] = set()
    for term in terms:
        if term.factors in seen:
            continue
        others = sorted(
            (own for word in fraction.words if 0 < len(own := term * word) <= _PAIRS),
            key=lambda own: (len(own), own.places),
        )
        seen |= {term.factors, *(own.factors for own in others)}
        if others:
            found.append([own.named(fraction.factors, ":") for own in (term, *others)])
    return found
