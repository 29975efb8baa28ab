"""Coverage: how often the interval contains the true change, and how wide it is (K&J 8.4)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from gate.commands.simulate.components import NORMAL, SHAPES, Components, Shape
from gate.commands.simulate.draws import Source, Values
from gate.commands.simulate.pool import Results
from gate.commands.simulate.promises import Promise, at_least, at_most
from gate.commands.simulate.sections import Ask, Section, Setting, Table, columns, percent, percent_of, plain, row, told
from gate.commands.simulate.studies import COMPARED, ComparisonCounts, Comparisons, Rules, covered
from gate.config.types import Interval

INTERVALS: tuple[Interval, ...] = ("fieller-kj", "fieller", "paired", "fieller-moderated")
BESIDE: tuple[Interval, ...] = ("fieller-kj", "fieller", "fieller-moderated")
"""Those that tables show beside each other."""
TWO_LAYOUTS = Components("two layouts", 0.041, 0.0, 0.01)
"""Build effects and almost no noise below them: the hard case when they are bimodal."""
MEMORY_DF = 20
TAUS = ("p50", "p95", "p99")

_RESIDUALS = tuple(Shape("bimodal", share, residual) for share in (0.5, 0.2, 0.05) for residual in (0.1, 0.3, 1.0))
_NOISES = (1.0, 2.0, 4.0)
_QUANTILE_CASE = Components("service", 0.02, 0.02, 0.3, executions=10, iterations=100)
_QUANTILE_SHAPES = (NORMAL, Shape("skewed"), Shape("bimodal"))
_QUANTILE_BUILDS = (3, 5)


def alone(builds: int, interval: Interval) -> Rules:
    """Return the rules of single comparisons: by one interval, without a family."""
    return Rules(looks=(builds,), interval=interval, family="none", min_builds=2)


def comparisons(setting: Setting, builds: int, ratio: float, interval: Interval, shape: Shape = NORMAL) -> Comparisons:
    """Return the study of all cases by one interval: the same one for coverage, false alarms and power."""
    memory = MEMORY_DF if interval == "fieller-moderated" else 0
    source = Source(setting.components, shape, memory=memory)
    ratios = (ratio,) * len(setting.components)
    return Comparisons(source, alone(builds, interval), ratios, setting.thresholds)


def residual(builds: int, shape: Shape) -> Comparisons:
    """Return the study of two layouts with more or less residual."""
    return Comparisons(Source((TWO_LAYOUTS,) * 5, shape), alone(builds, "fieller"), (1.05,) * 5)


def noisy(setting: Setting, builds: int, noise: float, *, one: bool) -> Comparisons:
    """Return the study of a moderated interval where one case, the first, or every case is noisier than remembered."""
    source = Source(setting.in_turn, NORMAL, noise, one and noise > 1, memory=MEMORY_DF)
    rules = alone(builds, "fieller-moderated")
    return Comparisons(source, rules, (1 + setting.effects[0],) * setting.cases, counted=1 if one else None)


def quantiles(shape: Shape, builds: int) -> Comparisons:
    """Return the study of quantiles of long-tailed values, base against itself."""
    return Comparisons(Values(_QUANTILE_CASE, shape), Rules(looks=(builds,), statistics=TAUS), (1.0,))


def draft(setting: Setting) -> Section:
    """Write the chapter."""
    change = plain(setting.effects[0])
    return Section(
        "Coverage and width",
        (
            (
                f"How often the 95% interval contains the true change, here +{change}, over all cases (K&J 8.4). K&J's "
                "own interval contains it too often with few builds, because it is too wide."
            ),
            _coverage(setting),
            (
                f"Mean half-width of the interval at +{change}, normal build effects: `fieller-kj` / `fieller` / "
                "`fieller-moderated`. The memory is correct here, and has 20 degrees of freedom, the maximum."
            ),
            Table(
                ("case", *columns(setting.builds)),
                tuple(
                    row(c.name, *(
                        beside(setting, builds, 1 + setting.effects[0], _half_width(k))
                        for builds in setting.builds
                    ))
                    for k, c in enumerate(setting.components)
                ),
            ),
            (
                "Coverage of `fieller-moderated` if the present run is noisier than remembered: its variance is this "
                f"many times the remembered one. One case of {setting.cases}, or all of them."
            ),
            _noise(setting),
            *(_quantiles() if setting.paper else ()),
        ),
    )  # fmt: skip


def _coverage(setting: Setting) -> Table:
    ratio = 1 + setting.effects[0]
    lines = [
        row(f"`{interval}`", shape.name, *(
            told(comparisons(setting, builds, ratio, interval, shape), lambda c: percent(c.coverage))
            for builds in setting.builds
        ))
        for interval in INTERVALS
        for shape in SHAPES
    ]  # fmt: skip
    if setting.paper:
        lines += [
            row("`fieller`", f"two layouts, {shape.name}", *(
                told(residual(builds, shape), lambda c: percent(c.coverage)) for builds in setting.builds
            ))
            for shape in _RESIDUALS
        ]  # fmt: skip
    return Table(("interval", "build effects", *columns(setting.builds)), tuple(lines), names=2)


def beside(
    setting: Setting, builds: int, ratio: float, value: Callable[[ComparisonCounts], float], digits: int = 1
) -> Ask:
    """Write a share of each of BESIDE: "8.7 / 6.0 / 4.1%"."""
    studies = tuple(comparisons(setting, builds, ratio, interval) for interval in BESIDE)

    def make(results: Results) -> str:
        return " / ".join(f"{value(results.of(study)) * 100:.{digits}f}" for study in studies) + "%"

    return Ask(studies, make)


def _half_width(k: int) -> Callable[[ComparisonCounts], float]:
    return lambda counts: counts.mean_half_width[k]


def _noise(setting: Setting) -> Table:
    rows = [
        row("one" if one else "all", f"{noise:g}", *(
            told(noisy(setting, builds, noise, one=one), lambda c: percent(c.coverage)) for builds in setting.builds
        ))
        for one in (True, False)
        for noise in _NOISES
        if not (one and noise == 1)
    ]  # fmt: skip
    return Table(("cases", "variance", *columns(setting.builds)), tuple(rows), names=2)


def _quantiles() -> tuple[str, Table]:
    c = _QUANTILE_CASE
    words = (
        "Coverage of the 95% interval of the ratio of quantiles, base against itself: the quantile of each build, then "
        f"t on their logarithms. {c.executions} executions x {c.iterations} lognormal iterations per build; standard "
        f"deviation of builds {plain(c.build)}, executions {plain(c.execution)}, iterations {plain(c.iteration)}."
    )
    lines = tuple(
        row(tau, shape.name, *(
            told(quantiles(shape, builds), percent_of(covered(k))) for builds in _QUANTILE_BUILDS
        ))
        for k, tau in enumerate(TAUS)
        for shape in _QUANTILE_SHAPES
    )  # fmt: skip
    return words, Table(("quantile", "build effects", *columns(_QUANTILE_BUILDS)), lines, names=2)


def _all(counts: ComparisonCounts) -> float:
    return counts.coverage


def promises(setting: Setting) -> Iterator[Promise]:
    """Give the promises on coverage."""
    ratio = 1 + setting.effects[0]

    def every(interval: Interval, shapes: Sequence[Shape]) -> list[Comparisons]:
        return [comparisons(setting, builds, ratio, interval, shape) for shape in shapes for builds in setting.builds]

    hard = [residual(builds, shape) for shape in _RESIDUALS for builds in setting.builds]
    fieller = [*every("fieller", SHAPES), *hard]
    yield at_least("coverage of `fieller`, every shape, 3 to 20 builds", 0.94, fieller, _all, COMPARED)
    yield at_most("the same, normal", 0.98, every("fieller", (NORMAL,)), _all, COMPARED)
    moderated = every("fieller-moderated", (NORMAL,))
    yield at_least("coverage of `fieller-moderated`, right memory", 0.945, moderated, _all, COMPARED)
    yield at_most("the same", 0.97, moderated, _all, COMPARED)
    for builds, bound in ((3, 0.90), (5, 0.92)):
        one = [noisy(setting, builds, noise, one=True) for noise in (2.0, 4.0)]
        yield at_least(f"one case at 2x and 4x, {builds} builds", bound, one, _all)
    host = [noisy(setting, builds, noise, one=False) for builds in (3, 5) for noise in (2.0, 4.0)]
    yield at_least("the host at 2x and 4x, 3 and 5 builds", 0.94, host, _all, COMPARED)
    of_quantiles = [quantiles(shape, builds) for shape in _QUANTILE_SHAPES for builds in _QUANTILE_BUILDS]
    words = "coverage of p50, p95 and p99, 3 and 5 builds"
    yield at_least(words, 0.945, of_quantiles, lambda c: min(c.coverage_of_each), COMPARED)
