"""perfgate simulate: the cases, coverage, false alarms, power and early stopping, on given variances (K&J 8.3, 8.4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TextIO

from gate.commands.simulate.command import Options
from gate.commands.simulate.draws import NORMAL, SHAPES, TABLE_VII, CaseDraws, CaseNoise, Shape, of_runs
from gate.commands.simulate.sections import (
    Ask,
    Row,
    Scenario,
    SimulatedSection,
    SimulatedTable,
    as_text,
    asked,
    columns,
    percent,
    plain,
    row,
    told,
)
from gate.commands.simulate.studies import ComparisonCounts, Comparisons, Reports, Rules, run_all
from gate.config.types import Interval, Show
from gate.stats.sequential import look_rounds

LOOKS = look_rounds(4, 12)
FIXED = (5,)
INTERVALS: tuple[Interval, ...] = ("fieller-kj", "fieller", "paired")
BESIDE: tuple[Interval, ...] = ("fieller-kj", "fieller")
"""Those that tables show beside each other."""
TWO_LAYOUTS = CaseNoise("two layouts", 0.041, 0.0, 0.01)
"""Build effects and almost no noise below them: the hard case when they are bimodal."""
BIMODAL = Shape("bimodal", 0.5)
THRESHOLDS = (0.0, 0.02)
CHANGES = (0.0, 0.05, 0.10, 0.20)
MOST = LOOKS[-1]


WIDTH = 100
"""Columns of the text: a terminal has as many, and no table needs more."""


def run(options: Options, out: TextIO, err: TextIO) -> int:
    """Simulate, and print the tables. Raises: UserError: files without a case that has two builds a side."""
    components = of_runs(options.runs, err) if options.runs else TABLE_VII
    setting = Scenario(
        components=components, paper=components == TABLE_VII, builds=tuple(sorted(set(options.builds))),
        thresholds=tuple(sorted(set(options.threshold))), effects=tuple(sorted(set(options.effect))),
        cases=options.cases,
    )  # fmt: skip
    sections = [simulated(setting), coverage(setting), alarms(setting), power(setting), stopping(setting)]
    results = run_all(asked(sections), options.reports, seed=options.seed, cores=options.cores, progress=err)
    out.write(as_text(sections, results, WIDTH))
    return 0


def simulated(setting: Scenario) -> SimulatedSection:
    """List the cases."""
    whence = (
        "The variance components of Kalibera and Jones 2012, Table VII, as 10 starts x 10 values in each build."
        if setting.paper
        else "The variance components of these cases, as `perfgate plan` takes them, measured as often as they were."
    )
    in_common = any(c.drift for c in setting.components)
    more = " In common: of a round, which both sides share; the levels are without it." if in_common else ""
    lines = tuple(
        row(
            c.name,
            *(percent(share, 2) for share in (c.build, c.execution, c.iteration)),
            f"{c.executions} x {c.iterations}",
            percent(c.of_build_mean**0.5, 2),
            *([percent(c.drift, 2)] if in_common else []),
        )
        for c in setting.components
    )
    titles = ("case", "build", "execution", "iteration", "in a build", "mean of a build")
    return SimulatedSection("Simulated cases", (
        f"{whence} Standard deviation of each level alone, as a share of the mean, and of the mean of a build.{more}",
        SimulatedTable((*titles, "in common") if in_common else titles, lines),
    ))  # fmt: skip


# --- coverage ---------------------------------------------------------------------------------------------------------


def alone(builds: int, interval: Interval) -> Rules:
    """Return the rules of single comparisons: by one interval, without a family."""
    return Rules(looks=(builds,), interval=interval, family="none", min_builds=2)


def comparisons(setting: Scenario, builds: int, ratio: float, interval: Interval, shape: Shape = NORMAL) -> Comparisons:
    """Return the study of all cases by one interval: the same one for coverage, false alarms and power."""
    ratios = (ratio,) * len(setting.components)
    return Comparisons(CaseDraws(setting.components, shape), alone(builds, interval), ratios, setting.thresholds)


def coverage(setting: Scenario) -> SimulatedSection:
    """Say how often the interval contains the true change, and how wide it is."""
    ratio, change = 1 + setting.effects[0], plain(setting.effects[0])

    def covers(study: Comparisons) -> Ask:
        return told(study, lambda c: percent(c.coverage))

    every = tuple(
        row(
            f"`{interval}`",
            shape.name,
            *(covers(comparisons(setting, n, ratio, interval, shape)) for n in setting.builds),
        )
        for interval in INTERVALS
        for shape in SHAPES
    )
    widths = tuple(
        row(c.name, *(beside(setting, n, ratio, lambda c, k=k: c.mean_half_width[k]) for n in setting.builds))  # type: ignore[misc]
        for k, c in enumerate(setting.components)
    )
    titles = columns(setting.builds)
    return SimulatedSection("Coverage and width", (
        (
            f"How often the 95% interval contains the true change, here +{change}, over all cases (K&J 8.4). K&J's "
            "own interval contains it too often with few builds, because it is too wide."
        ),
        SimulatedTable(("interval", "build effects", *titles), every, names=2),
        f"Mean half-width of the interval at +{change}, normal build effects: `fieller-kj` / `fieller`.",
        SimulatedTable(("case", *titles), widths),
    ))  # fmt: skip


def beside(
    setting: Scenario, builds: int, ratio: float, value: Callable[[ComparisonCounts], float], digits: int = 1
) -> Ask:
    """Write a share of each of BESIDE: "8.7 / 6.0 / 4.1%"."""
    studies = tuple(comparisons(setting, builds, ratio, interval) for interval in BESIDE)
    return Ask(studies, lambda of: " / ".join(f"{value(of.of(study)) * 100:.{digits}f}" for study in studies) + "%")


# --- false alarms -----------------------------------------------------------------------------------------------------


GATES: dict[str, tuple[int, ...]] = {"fixed": FIXED, "looks": LOOKS}
"""The rounds after which a report is decided."""


def report(cases: Sequence[CaseNoise], shape: Shape, looks: tuple[int, ...], threshold: float) -> Reports:
    """Return the study of reports in which nothing has changed."""
    return Reports(CaseDraws(tuple(cases), shape), Rules(threshold, looks), (1.0,) * len(cases))


def cases_of(setting: Scenario) -> list[tuple[str, tuple[CaseNoise, ...], Shape]]:
    """List the cases of reports: the given ones in turn and, with the paper's, also reports of only the hard case."""
    given = [("in turn", setting.in_turn, shape) for shape in (NORMAL, Shape("skewed"), BIMODAL)]
    return [*given, ("two layouts", (TWO_LAYOUTS,) * setting.cases, BIMODAL)] if setting.paper else given


def alarms(setting: Scenario) -> SimulatedSection:
    """Say how often single comparisons and whole reports are wrong."""

    def different(study: Comparisons, at: int) -> Ask:
        return told(study, lambda c: percent(float(c.different[at])))

    def failing(cases: tuple[CaseNoise, ...], shape: Shape, looks: tuple[int, ...]) -> Ask:
        both = tuple(report(cases, shape, looks, threshold) for threshold in THRESHOLDS)
        return Ask(both, lambda of: " / ".join(f"{of.of(each).failing * 100:.2f}" for each in both) + "%")

    single = tuple(
        row(plain(d), f"`{interval}`", *(different(comparisons(setting, n, 1.0, interval), at) for n in setting.builds))
        for at, d in enumerate(setting.thresholds)
        for interval in BESIDE
    )
    every = cases_of(setting)
    whole = tuple(
        row(name, shape.name, *(failing(cases, shape, looks) for looks in GATES.values()))
        for name, cases, shape in every
    )
    titles = ("cases", "build effects", *GATES)
    return SimulatedSection("False alarms", (
        (
            "Base against itself. First single comparisons of all cases, each judged alone at 95%: the share called "
            "different, slower or faster, as K&J count it. Half of these alarms fail a gate."
        ),
        SimulatedTable(("threshold", "interval", *columns(setting.builds)), single, names=2),
        (
            f"Whole reports of {setting.cases} cases with Holm's correction: the share that fails although nothing "
            f"has changed, at a threshold of 0% / 2%. Fixed: {FIXED[0]} builds. Looks: after "
            f"{', '.join(map(str, LOOKS))} rounds. Cases share their variance."
        ),
        SimulatedTable(titles, whole, names=2),
    ))  # fmt: skip


# --- power ------------------------------------------------------------------------------------------------------------


def power(setting: Scenario) -> SimulatedSection:
    """Say how often a true change is called a regression."""
    tables: list[str | SimulatedTable] = []
    for effect in setting.effects:
        for at, threshold in enumerate(setting.thresholds):
            if effect > threshold:
                lines = tuple(
                    row(c.name, *(
                        beside(setting, n, 1 + effect, lambda c, k=k, at=at: float(c.power[k, at]), 0)  # type: ignore[misc]
                        for n in setting.builds
                    ))
                    for k, c in enumerate(setting.components)
                )  # fmt: skip
                tables.append(f"+{plain(effect)}, threshold {plain(threshold)}:")
                tables.append(SimulatedTable(("case", *columns(setting.builds)), lines))
    return SimulatedSection("Power", (
        (
            "How often a slower head is called a regression: one case judged alone, with normal build effects. Each "
            "cell: `fieller-kj` / `fieller`. In a report an interval also needs `min_builds`."
        ),
        *tables,
    ))  # fmt: skip


# --- early stopping ---------------------------------------------------------------------------------------------------


def one_changed(setting: Scenario, change: float, looks: tuple[int, ...], show: Show = "no-sign") -> Reports:
    """Return the study of reports in which one case, that of middling noise, has changed."""
    middling = setting.middling
    others = [c for c in setting.in_turn if c != middling] + [c for c in setting.in_turn if c == middling]
    cases = (middling, *others[: setting.cases - 1])
    ratios = (1 + change, *(1.0 for _ in cases[1:]))
    return Reports(CaseDraws(cases), Rules(THRESHOLDS[1], looks, show=show), ratios)


def stopping(setting: Scenario) -> SimulatedSection:
    """Say what early stopping and giving up cost and save."""

    def line(change: float) -> Row:
        found = one_changed(setting, change, LOOKS)
        return (
            f"+{plain(change)}" if change else "none",
            told(one_changed(setting, change, (MOST,)), lambda c: percent(c.found())),
            told(found, lambda c: percent(c.found())),
            told(found, lambda c: percent(c.of_case("no-sign"))),
            told(found, lambda c: percent(c.of_case("inconclusive"))),
            told(found, lambda c: f"{float(c.rounds[0]) / c.reports:.1f}"),
            told(found, lambda c: f"{float(c.rounds[1:].mean()) / c.reports:.1f}" if len(c.rounds) > 1 else ""),
            told(found, lambda c: f"{c.built / c.reports:.1f}"),
        )

    verdicts = ("found", "no sign", "inconclusive")
    titles = ("change", f"fixed {MOST}: found", *verdicts, "its rounds", "others'", "built")
    return SimulatedSection("Stopping early", (
        (
            f"Reports of {setting.cases} cases of which one, {setting.middling.name}, has changed; threshold "
            f"{plain(THRESHOLDS[1])}. Found: how often the change is called a regression, with {MOST} builds and with "
            f"looks after {', '.join(map(str, LOOKS))} rounds; then what else becomes of it. Rounds: mean number of "
            "rounds in which the changed case and the others are executed, and in which both sides are built: builds "
            "continue as long as any case needs them. Cases are given up where no regression can be expected any more."
        ),
        SimulatedTable(titles, tuple(line(change) for change in CHANGES)),
    ))  # fmt: skip
