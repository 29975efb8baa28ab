"""The rules of other tools and the intervals of quantiles, on simulated values."""

from __future__ import annotations

import dataclasses
import math

from gate.commands.simulate.arrays.components import NORMAL, Components, Shape
from gate.commands.simulate.arrays.values import RULES, Quantiles, Rivals
from gate.commands.simulate.pool import Results
from gate.commands.simulate.sections import Ask, Draft, DraftTable, Setting, columns, percent, plain, row

THRESHOLDS = (0.0, 0.02)
TAUS = (0.5, 0.95, 0.99)
QUANTILE_BUILDS = (3, 5)
QUANTILE_SHAPES = (NORMAL, Shape("skewed"), Shape("bimodal"))

_MOST_VALUES = 2000
_QUANTILE_CASE = Components("service", 0.02, 0.02, 0.3, executions=10, iterations=100)


def rivals(component: Components, change: float) -> Rivals:
    """Return the study of all rules on one case; at most _MOST_VALUES are drawn of long builds."""
    if component.executions * component.iterations > _MOST_VALUES:
        executions = min(component.executions, _MOST_VALUES)
        component = dataclasses.replace(component, executions=executions, iterations=_MOST_VALUES // executions)
    return Rivals(component, NORMAL, 1 + change, THRESHOLDS)


def draft(setting: Setting) -> Draft:
    """Write the chapter on other rules."""
    return Draft(
        "Other rules on the same values",
        (
            (
                "5 builds per side, every value drawn; iterations are lognormal. At most a quarter of the comparisons, "
                "and at most 2000 values per build. Each rule judges a single comparison. `fieller` is the interval "
                "over builds. **Pooled Welch** and **Mann-Whitney** test all values of a side as if "
                "they were independent. **Open-loop t** is the correct test over builds, repeated at 95% after every "
                "round from 2 to 12 until it is significant. **Two means** and **two minima** compare one number "
                "of each side with the threshold. The threshold applies to the estimate in the pooled tests, and to "
                "the interval in `fieller` and open-loop t."
            ),
            "Base against itself, threshold 0: called different.",
            _different(setting, 0),
            f"The same at a threshold of {plain(THRESHOLDS[1])}:",
            _different(setting, 1),
            f"Reports of {setting.cases} such cases in which at least one is called slower, as a share:",
            _reports(setting),
            f"+{plain(setting.effects[0])}, threshold {plain(THRESHOLDS[1])}: called slower.",
            _power(setting),
        ),
    )


def _titles() -> tuple[str, ...]:
    return ("case", *RULES)


def _different(setting: Setting, index: int) -> DraftTable:
    studies = tuple(rivals(c, 0.0) for c in setting.components)

    def cell(study: Rivals, rule: int) -> Ask[str]:
        return Ask((study,), lambda results: percent(float(results.of(study).different[index, rule])))

    def mean(rule: int) -> Ask[str]:
        def show(results: Results) -> str:
            return percent(sum(float(results.of(s).different[index, rule]) for s in studies) / len(studies))

        return Ask(studies, show)

    lines = [row(s.components.name, *(cell(s, rule) for rule in range(len(RULES)))) for s in studies]
    if len(studies) > 1:
        lines.append(row("mean", *(mean(rule) for rule in range(len(RULES)))))
    return DraftTable(_titles(), tuple(lines))


def _reports(setting: Setting) -> DraftTable:
    studies = tuple(rivals(c, 0.0) for c in setting.in_turn)

    def cell(index: int, rule: int) -> Ask[str]:
        def show(results: Results) -> str:
            # cases are independent here
            silent = math.prod(1 - float(results.of(s).failing[index, rule]) for s in studies)
            return percent(1 - silent)

        return Ask(studies, show)

    lines = tuple(
        row(f"threshold {plain(d)}", *(cell(index, rule) for rule in range(len(RULES))))
        for index, d in enumerate(THRESHOLDS)
    )
    return DraftTable(("", *RULES), lines)


def _power(setting: Setting) -> DraftTable:
    def cell(study: Rivals, rule: int) -> Ask[str]:
        return Ask((study,), lambda results: percent(float(results.of(study).failing[1, rule])))

    studies = [rivals(c, setting.effects[0]) for c in setting.components]
    lines = tuple(row(s.components.name, *(cell(s, rule) for rule in range(len(RULES)))) for s in studies)
    return DraftTable(_titles(), lines)


def quantiles(shape: Shape, builds: int) -> Quantiles:
    """Return the study of quantiles of long-tailed values."""
    return Quantiles(_QUANTILE_CASE, shape, builds, TAUS)


def quantile_draft() -> Draft:
    """Write the chapter on quantiles."""

    def cell(shape: Shape, builds: int, index: int) -> Ask[str]:
        study = quantiles(shape, builds)
        return Ask((study,), lambda results: percent(float(results.of(study).coverage[index])))

    lines = tuple(
        row(f"p{tau * 100:g}", shape.name, *(cell(shape, builds, index) for builds in QUANTILE_BUILDS))
        for index, tau in enumerate(TAUS)
        for shape in QUANTILE_SHAPES
    )
    c = _QUANTILE_CASE
    return Draft(
        "Quantiles",
        (
            (
                "Coverage of the 95% interval of the ratio of quantiles, base against itself: the quantile of each "
                f"build, then Welch's t on their logarithms. {c.executions} executions x {c.iterations} lognormal "
                f"iterations per build; standard deviation of builds {plain(c.build)}, executions "
                f"{plain(c.execution)}, iterations {plain(c.iteration)}."
            ),
            DraftTable(("quantile", "build effects", *columns(QUANTILE_BUILDS)), lines, names=2),
        ),
    )
