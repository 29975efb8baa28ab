"""Power: how often a true change is called a regression."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator

from gate.commands.simulate.components import TABLE_VII
from gate.commands.simulate.coverage import BESIDE, beside, comparisons
from gate.commands.simulate.pool import Results
from gate.commands.simulate.promises import Promise, at_least
from gate.commands.simulate.sections import Section, Setting, Table, columns, plain, row
from gate.commands.simulate.studies import COMPARED, ComparisonCounts

_PROMISED = (
    ("HTTP OPT", 4, 0.05, 0.0),
    ("Rijndael OPT", 3, 0.05, 0.0),
    ("FFT", 15, 0.05, 0.0),
    ("HTTP OPT", 3, 0.10, 0.02),
    ("FFT", 7, 0.10, 0.02),
)
LOST = 0.5
"""The largest variance of a difference of two independent calls."""


def draft(setting: Setting) -> Section:
    """Write the chapter."""
    tables = [
        block for effect in setting.effects for d in setting.thresholds if effect > d
        for block in _table(setting, effect, d)
    ]  # fmt: skip
    return Section(
        "Power",
        (
            (
                "How often a slower head is called a regression: one case judged alone, with normal build effects and "
                "a memory of 20 degrees that is tested against the present run. Each cell: `fieller-kj` / `fieller` "
                "/ `fieller-moderated`. In a report an unmoderated interval also needs `min_builds`."
            ),
            *tables,
        ),
    )


def _table(setting: Setting, effect: float, threshold: float) -> tuple[str, Table]:
    at = setting.thresholds.index(threshold)
    lines = tuple(
        row(c.name, *(
            beside(setting, builds, 1 + effect, _called(k, at), 0) for builds in setting.builds
        ))
        for k, c in enumerate(setting.components)
    )  # fmt: skip
    return f"+{plain(effect)}, threshold {plain(threshold)}:", Table(("case", *columns(setting.builds)), lines)


def _called(k: int, threshold: int) -> Callable[[ComparisonCounts], float]:
    return lambda counts: float(counts.power[k, threshold])


def promises(setting: Setting) -> Iterator[Promise]:
    """Give the promises on power."""
    pairs = [
        (comparisons(setting, builds, 1 + effect, "fieller-kj"), comparisons(setting, builds, 1 + effect, other))
        for builds in setting.builds
        for effect in setting.effects
        for other in BESIDE[1:]
    ]

    def lost(results: Results) -> list[float]:
        # of all cases, since single ones are drawn too seldom to tell
        return [float((results.of(kj).power - results.of(other).power).mean(axis=0).max()) for kj, other in pairs]

    every = tuple(study for both in pairs for study in both)
    yield Promise("power lost to `fieller-kj`, any other", 0.0, False, every, lost, variance=LOST, draws=COMPARED)
    named = {c.name: c for c in TABLE_VII}
    for name, builds, effect, threshold in _PROMISED:
        one = dataclasses.replace(setting.only(named[name]), thresholds=(threshold,))
        study = comparisons(one, builds, 1 + effect, "fieller-moderated")
        words = f"power, {name}, +{plain(effect)}, threshold {plain(threshold)}, {builds} builds"
        yield at_least(words, 0.77, [study], lambda c: float(c.power[0, 0]), COMPARED)
