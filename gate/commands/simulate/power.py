"""Power: how often a true change is called a regression."""

from __future__ import annotations

from gate.commands.simulate.arrays.components import Components
from gate.commands.simulate.coverage import INTERVALS, beside, comparisons
from gate.commands.simulate.page import Figure
from gate.commands.simulate.pool import Results
from gate.commands.simulate.sections import Ask, Draft, DraftTable, Setting, columns, plain, row
from gate.plots.lines import Chart, Line

_FIGURE_BUILDS = (2, 3, 4, 5, 6, 8, 10, 12, 15)
_FIGURE_CASE = "HTTP OPT"


def draft(setting: Setting) -> Draft:
    """Write the chapter."""
    tables = [
        block for effect in setting.effects for d in setting.thresholds if effect > d
        for block in _table(setting, effect, d)
    ]  # fmt: skip
    return Draft(
        "Power",
        (
            (
                "How often a slower head is called a regression: one case judged alone, with normal build effects and "
                "a memory of 20 degrees that is tested against the present run. Each cell: `fieller-kj` / `fieller` "
                "/ `fieller-moderated`. In a report an unmoderated interval also needs `min_builds`."
            ),
            *tables,
            *((_figure(setting),) if setting.paper else ()),
        ),
    )


def _table(setting: Setting, effect: float, threshold: float) -> tuple[str, DraftTable]:
    index = setting.thresholds.index(threshold)

    def cell(component: Components, builds: int) -> Ask[str]:
        study = comparisons(setting, component, builds, 1 + effect)
        return Ask((study,), lambda results: beside(results.of(study).power[:, index], 0))

    lines = tuple(row(c.name, *(cell(c, builds) for builds in setting.builds)) for c in setting.components)
    return f"+{plain(effect)}, threshold {plain(threshold)}:", DraftTable(("case", *columns(setting.builds)), lines)


def _figure(setting: Setting) -> Ask[Figure]:
    effect = setting.effects[0]
    component = next(c for c in setting.components if c.name == _FIGURE_CASE)
    studies = tuple(comparisons(setting, component, builds, 1 + effect) for builds in _FIGURE_BUILDS)

    def make(results: Results) -> Figure:
        powers = [results.of(study).power[:, 0] for study in studies]
        lines = tuple(
            Line(
                interval,
                tuple((float(b), float(power[index])) for b, power in zip(_FIGURE_BUILDS, powers, strict=True)),
            )
            for index, interval in enumerate(INTERVALS)
        )
        chart = Chart(
            title=f"Power at +{plain(effect)}, threshold {plain(setting.thresholds[0])}: {component.name}",
            description="Share of comparisons called a regression, by the number of builds: moderated finds the change "
            "with the fewest builds, then fieller; fieller-kj and paired need the most.",
            x_label="builds of each side",
            y_label="called a regression",
            lines=lines,
            y_range=(0.0, 1.0),
            x_ticks=(2, 4, 6, 8, 10, 12, 15),
        )
        return Figure("power", chart)

    return Ask(studies, make)
