"""False alarms (K&J 8.3), of single comparisons and of whole reports."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from gate.commands.simulate.components import NORMAL, Components, Shape
from gate.commands.simulate.coverage import BESIDE, MEMORY_DF, TWO_LAYOUTS, comparisons
from gate.commands.simulate.draws import Source
from gate.commands.simulate.promises import Promise, at_most
from gate.commands.simulate.sections import Ask, Section, Setting, Table, columns, percent, plain, row, told
from gate.commands.simulate.studies import ComparisonCounts, Reports, Rules
from gate.commands.simulate.views import LOOKS

FIXED = (5,)
BIMODAL = Shape("bimodal", 0.5)
SHAPES = (NORMAL, Shape("skewed"), BIMODAL)
THRESHOLDS = (0.0, 0.02)

_MIN_BUILDS = (3, 4, 5, 10)


@dataclass(frozen=True, slots=True)
class Gate:
    """One way in which a report is decided."""

    words: str
    looks: tuple[int, ...]
    memory: int = 0
    noise: float = 1.0
    """Variance now over what is remembered."""


GATES = (
    Gate("fixed", FIXED),
    Gate("looks", LOOKS),
    Gate("looks, memory", LOOKS, MEMORY_DF),
    Gate("fixed, memory, 2x", FIXED, MEMORY_DF, 2.0),
)


def report(cases: Sequence[Components], shape: Shape, gate: Gate, threshold: float) -> Reports:
    """Return the study of reports in which nothing has changed."""
    source = Source(tuple(cases), shape, gate.noise, memory=gate.memory)
    return Reports(source, Rules(threshold, gate.looks), (1.0,) * len(cases))


def not_worse(cases: Sequence[Components], shape: Shape, gate: Gate) -> Reports:
    """Return the study of reports in which every case is slower by exactly the threshold of 2%."""
    rules = Rules(0.02, gate.looks, show="not-worse")
    return Reports(Source(tuple(cases), shape, memory=gate.memory), rules, (1.02,) * len(cases), 0.25)


def _cases(setting: Setting) -> list[tuple[str, tuple[Components, ...], Shape]]:
    """List the cases of reports: the given ones in turn and, with the paper's, also reports of only the hard case."""
    given = [("in turn", setting.in_turn, shape) for shape in SHAPES]
    return [*given, ("two layouts", (TWO_LAYOUTS,) * setting.cases, BIMODAL)] if setting.paper else given


def draft(setting: Setting) -> Section:
    """Write the chapter."""
    return Section(
        "False alarms",
        (
            (
                "Base against itself. First single comparisons of all cases, each judged alone at 95%: the share "
                "called different, slower or faster, as K&J count it. Half of these alarms fail a gate."
            ),
            _single(setting),
            (
                f"Whole reports of {setting.cases} cases with Holm's correction: the share that fails although "
                f"nothing has changed, at a threshold of 0% / 2%. Fixed: {FIXED[0]} builds. Looks: after "
                f"{', '.join(map(str, LOOKS))} rounds. Cases share their variance, or have a memory of {MEMORY_DF} "
                "degrees; 2x: all variances are twice those remembered."
            ),
            _reports(setting),
            (
                "Wrongly not worse: every case is slower by exactly the threshold of 2%. The table shows the share of "
                "cases that are called not worse."
            ),
            Table(
                ("cases", "build effects", *(gate.words for gate in GATES[:3])),
                tuple(
                    row(name, shape.name, *(
                        told(not_worse(cases, shape, gate), lambda c: percent(c.wrongly_not_worse, 2))
                        for gate in GATES[:3]
                    ))
                    for name, cases, shape in _cases(setting)
                ),
                names=2,
            ),
            *(_min_builds(setting) if setting.paper else ()),
        ),
    )  # fmt: skip


def _single(setting: Setting) -> Table:
    lines = tuple(
        row(plain(threshold), f"`{interval}`", *(
            told(comparisons(setting, builds, 1.0, interval), _different(at))
            for builds in setting.builds
        ))
        for at, threshold in enumerate(setting.thresholds)
        for interval in BESIDE
    )  # fmt: skip
    return Table(("threshold", "interval", *columns(setting.builds)), lines, names=2)


def _different(threshold: int) -> Callable[[ComparisonCounts], str]:
    return lambda counts: percent(float(counts.different[threshold]))


def _reports(setting: Setting) -> Table:
    def cell(cases: tuple[Components, ...], shape: Shape, gate: Gate) -> Ask:
        both = tuple(report(cases, shape, gate, threshold) for threshold in THRESHOLDS)
        return Ask(both, lambda results: " / ".join(f"{results.of(each).failing * 100:.2f}" for each in both) + "%")

    lines = tuple(
        row(name, shape.name, *(cell(cases, shape, gate) for gate in GATES)) for name, cases, shape in _cases(setting)
    )
    return Table(("cases", "build effects", *(gate.words for gate in GATES)), lines, names=2)


def min_builds(cases: int, builds: int) -> Reports:
    """Return the study of reports in which any number of builds may call a regression, of the hard case."""
    source = Source((TWO_LAYOUTS,) * cases, BIMODAL)
    return Reports(source, Rules(0.0, (builds,), "fieller", min_builds=2), (1.0,) * cases)


def _min_builds(setting: Setting) -> tuple[str, Table]:
    cells = (told(min_builds(setting.cases, builds), lambda c: percent(c.failing)) for builds in _MIN_BUILDS)
    return (
        (
            "Why `min_builds` is 5: the share of failing reports at threshold 0 if any number of builds may call a "
            "regression, with two layouts 50:50 and almost no noise below the builds."
        ),
        Table(columns(_MIN_BUILDS), (row(*cells),), names=0),
    )


def promises(setting: Setting) -> Iterator[Promise]:
    """Give the promises on false alarms, and on what is wrongly not worse."""
    of_plan, doubled = GATES[:3], GATES[3:]

    def failing(words: str, bound: float, threshold: float, hard: bool, gates: Sequence[Gate]) -> Promise:
        return at_most(
            f"A/A fails: {words}",
            bound,
            [
                report(cases, shape, gate, threshold)
                for _, cases, shape in _cases(setting)
                for gate in gates
                if (shape == BIMODAL) == hard
            ],
            lambda c: c.failing,
        )

    yield failing("threshold 0, normal and skewed", 0.03, 0.0, False, of_plan)
    yield failing("threshold 0, bimodal 50:50", 0.05, 0.0, True, of_plan)
    yield failing("threshold 2%, normal and skewed", 0.005, 0.02, False, of_plan)
    yield failing("threshold 2%, bimodal 50:50, looks", 0.01, 0.02, True, of_plan[1:])
    yield failing("the same, fixed, no memory", 0.025, 0.02, True, of_plan[:1])
    for hard, threshold in ((False, 0.0), (True, 0.0), (True, 0.02)):
        words = f"host at 2x, {'bimodal' if hard else 'normal and skewed'}, threshold {plain(threshold)}"
        yield failing(words, 0.035, threshold, hard, doubled)
    for words, hard, bound in (("normal and skewed", False, 0.03), ("bimodal 50:50", True, 0.035)):
        studies = [
            not_worse(cases, shape, gate)
            for _, cases, shape in _cases(setting)
            for gate in of_plan
            if (shape == BIMODAL) == hard
        ]
        yield at_most(
            f"wrongly not worse, {words}", bound, studies, lambda c: c.wrongly_not_worse, 0.25 * setting.cases
        )
