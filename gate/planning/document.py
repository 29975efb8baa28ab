"""A plan as a document, as a [plan] section, and as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from gate.decide.futility import POWER
from gate.document import document as doc
from gate.model.case import MEAN, pairs, quantile_of, quantity
from gate.planning.basis import Known
from gate.planning.plan import ExplainedPlan, FindingPlan
from gate.stats.components import PlannedLevel
from gate.stats.planning import CheapestPlan
from gate.stats.special import chdtri
from gate.words.reports import level_name
from gate.writing.amounts import format_percent, format_value
from gate.writing.plain import visible
from gate.writing.units import Duration, format_duration, format_share, plural

_QUIETER = "Use a quieter host (`perfgate doctor`), a metric that varies less, or a larger `detectable`"
_ENOUGH = 20
"""Degrees from which the noise of builds is known well enough to say nothing."""

_LEVELS: tuple[PlannedLevel, ...] = ("build", "execution", "iteration")


def section(plan: CheapestPlan, budget: float, metrics: Sequence[str] | None) -> str:
    """Write the [plan] section of perfgate.toml."""
    first, last = plan.looks[0], plan.looks[-1]
    builds = str(last) if first == last else f"{{min = {first}, max = {last}}}"
    lines = [
        "[plan]",
        f"builds = {builds}",
        f"executions = {plan.executions}",
        f"iterations = {plan.iterations}",
        f'budget = "{Duration(budget)}"',
        # JSON's strings and lists are TOML's
        *([f"metrics = {json.dumps(list(metrics), ensure_ascii=False)}"] if metrics is not None else []),
    ]
    return "\n".join(lines) + "\n"


def document(planned: ExplainedPlan) -> doc.Document:
    """Say everything, ending with the section to copy if a plan reaches its aim."""
    gathered, gate, known = planned.gathered, planned.gathered.config.gate, planned.gathered.known
    of = f"{plural(gathered.size, 'finding')}, confidence {format_percent(gate.confidence)}, family {gate.family}"
    origin = f"from {visible(gathered.origin)}: {of}; wanted: {planned.aim}"
    rows = []
    for name, row in zip(names(known), planned.rows, strict=True):
        best = row.optimum
        counts = " x ".join("many" if count is None else str(count) for count in best)
        rows.append([name, *(_level(row.known, level) for level in _LEVELS), counts])
    title = "noise of each level alone (relative standard deviation), and the optimum: starts x values of a build"
    noise = _table(title, [*map(level_name, _LEVELS), "optimum"], rows)
    notes, df = [*gathered.left_out, *gathered.notes], min(k.builds_df for k in known)
    if df < _ENOUGH:
        # a sample variance over the true one is a chi-square over its degrees: its 95% interval
        low, high = (math.sqrt(df / float(chdtri(df, p))) for p in (0.025, 0.975))
        words = f"The noise of builds has {plural(round(df), 'degree')} of freedom: the true noise may be {low:.2f} to "
        words += f"{high:.2f} times what is shown, and the plan changes with it. Measure and plan again."
        notes.append(words)
    costs = {" ".join([k.benchmark, *([pairs(k.factors)] if k.factors else [])]): k.costs for k in known}
    rows = [
        [visible(name), *(format_value(cost, "s", digits=3) for cost in (c.start, c.warmup, c.iteration))]
        for name, c in costs.items()
    ]
    build = format_duration(max(c.build for c in costs.values()))
    spent = _table(f"time of a start; a build takes {build}", ["starting", "warm-up", "value"], rows)
    parts: list[doc.Part] = [doc.Items([origin], "rest"), noise, spent]
    parts += [doc.Items(_plan(planned), "rest"), _precision(planned), *map(doc.Statement, notes)]
    # what no plan reaches is no reason to measure the longest one again and again
    if not planned.hopeless:
        parts.append(doc.Code(section(planned.plan, planned.budget, gathered.config.plan.metrics)))
    return doc.Document("perfgate plan", "plan", [[part] for part in parts], "in --json", "")


def names(known: Sequence[Known]) -> list[str]:
    """Name findings as short as they stay apart."""
    metrics = {(k.metric, k.statistic) for k in known}
    found = []
    for k in known:
        words = [k.benchmark]
        if len(metrics) > 1:
            words.append(quantity(k.metric, k.statistic))
        elif quantile_of(k.statistic) is not None:
            words.append(k.statistic)
        words += [pairs(k.factors)] if k.factors else []
        found.append(visible(" ".join(words)))
    return found


def _table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> doc.Table:
    columns = [doc.Column("benchmark"), *(doc.Column(name, right=True) for name in head)]
    return doc.Table(title, "", columns, [doc.Row([*map(doc.Cell, row)]) for row in rows])


def _level(known: Known, level: PlannedLevel) -> str:
    if known.statistic != MEAN and level != "build":
        return "in build"
    if level not in known.levels:
        # what was not repeated is part of the next level above that was
        return "not apart"
    if level in known.dropped:
        return "adds nothing"
    return format_share(math.sqrt(getattr(known.components, level)))


def _plan(planned: ExplainedPlan) -> list[str]:
    plan = planned.plan
    counts = f"{plural(plan.looks[-1], 'build')} x {plural(plan.executions, 'start')} x "
    counts += f"{plural(plan.iterations, 'value')} of each"
    if len(plan.looks) > 1:
        looks = ", ".join(map(str, plan.looks[:-1]))
        text = f"plan: at most {counts}, interim checks after {looks} and {plan.looks[-1]} builds"
        text += f"; {format_duration(plan.expected)} expected when nothing has changed, at most "
        text += format_duration(plan.most)
    else:
        text = f"plan: {counts}, {format_duration(plan.most)}"
    if plan.reached:
        return [text]
    need, nearest = planned.instead, "this one comes nearest"
    if need is None:
        told = f"no plan reaches {planned.aim}, however long: {nearest}, and is not worth its time. {_QUIETER}"
    else:
        takes = f"{format_duration(need.most)}: {need.looks[-1]} x {need.executions} x {need.iterations} of each"
        budget = format_duration(planned.budget)
        told = f"no plan within the budget of {budget} reaches {planned.aim} (it takes {takes}); {nearest}"
    return [text, told]


def _precision(planned: ExplainedPlan) -> doc.Table:
    known, size = [row.known for row in planned.rows], planned.gathered.size
    rows = [
        [
            name,
            format_share(row.known.threshold),
            f"±{format_share(row.half_width)}" if math.isfinite(row.half_width) else "unbounded",
            format_share(row.smallest, sign=True) if math.isfinite(row.smallest) else "nothing",
            plural(round(row.degrees), "degree") if row.degrees > 0 else "none",
        ]
        for name, row in zip(names(known), planned.rows, strict=True)
    ]
    alone = size == 1 or planned.gathered.config.gate.family == "none"
    one_of = "" if alone else f", as one of {size} results"
    title = f"expected half-width of the interval; the change found in {POWER:.0%} of the runs{one_of}"
    return _table(title, ["threshold", "half-width", "finds", "memory"], rows)


def tables(planned: ExplainedPlan) -> dict[str, Any]:
    """Give what plan.json says: what a plan goes by, the plan, and what it means for each finding."""
    plan, gathered = planned.plan, planned.gathered
    return {
        "schema": 1,
        "origin": gathered.origin,
        "aim": planned.aim,
        "reached": plan.reached,
        "budget": planned.budget,
        "plan": {
            "builds": {"min": plan.looks[0], "max": plan.looks[-1]} if len(plan.looks) > 1 else plan.looks[-1],
            "executions": plan.executions,
            "iterations": plan.iterations,
            "looks": list(plan.looks),
            "seconds": {"most": plan.most, "expected": plan.expected},
        },
        "findings": [_finding(row) for row in planned.rows],
        "family": gathered.size,
        "notes": [*gathered.left_out, *gathered.notes],
        "toml": None if planned.hopeless else section(plan, planned.budget, gathered.config.plan.metrics),
    }


def _finding(row: FindingPlan) -> dict[str, Any]:
    known = row.known
    components, costs = known.components, known.costs
    return {
        "benchmark": known.benchmark,
        "metric": known.metric,
        "factors": known.factors,
        "statistic": known.statistic,
        "threshold": known.threshold,
        "variance": {
            "t2": known.signed,
            "dropped": known.dropped,
            "planned": {level: getattr(components, level) for level in reversed(_LEVELS)},
            "correlation": components.correlation,
            "shared": known.shared,
            "build_df": known.builds_df,
        },
        "seconds": {
            "build": costs.build, "start": costs.start, "warmup": costs.warmup, "iteration": costs.iteration,
        },
        "optimum": dict(zip(("executions", "iterations"), row.optimum, strict=True)),
        "memory_df": row.degrees,
        "half_width": row.half_width,
        "smallest_change": row.smallest,
        "power": POWER,
    }  # fmt: skip
