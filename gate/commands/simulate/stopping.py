"""Early stopping and giving up: what they cost and save."""

from __future__ import annotations

from collections.abc import Iterator

from gate.commands.simulate.alarms import THRESHOLDS
from gate.commands.simulate.draws import Source
from gate.commands.simulate.pool import Results
from gate.commands.simulate.power import LOST
from gate.commands.simulate.promises import Promise, of_each
from gate.commands.simulate.sections import Row, Section, Setting, Table, percent, plain, row, told
from gate.commands.simulate.studies import ReportCounts, Reports, Rules
from gate.commands.simulate.views import LOOKS
from gate.config.types import Show

CHANGES = (0.0, 0.05, 0.10, 0.20)
SHOWS: tuple[Show, ...] = ("no-sign", "not-worse")
_MOST = LOOKS[-1]


def study(setting: Setting, change: float, looks: tuple[int, ...], show: Show = "no-sign") -> Reports:
    """Return the study of reports in which one case, that of middling noise, has changed."""
    middling = setting.middling
    others = [c for c in setting.in_turn if c != middling] + [c for c in setting.in_turn if c == middling]
    cases = (middling, *others[: setting.cases - 1])
    ratios = (1 + change, *(1.0 for _ in cases[1:]))
    return Reports(Source(cases), Rules(THRESHOLDS[1], looks, show=show), ratios)


def draft(setting: Setting) -> Section:
    """Write the chapter."""
    verdicts = ("found", "no sign", "inconclusive")
    titles = ("change", f"fixed {_MOST}: found", "show", *verdicts, "its rounds", "others'", "built")
    return Section(
        "Stopping early",
        (
            (
                f"Reports of {setting.cases} cases of which one, {setting.middling.name}, has changed; threshold "
                f"{plain(THRESHOLDS[1])}. Found: how often the change is called a regression, with {_MOST} builds and "
                f"with looks after {', '.join(map(str, LOOKS))} rounds; then what else becomes of it. Rounds: mean "
                "number of rounds in which the changed case and the others are executed, and in which both sides are "
                "built: builds continue as long as any case needs them. `no-sign`, the default, gives cases up where "
                "no regression can be expected any more; `not-worse` measures until they are shown to be not worse."
            ),
            Table(titles, tuple(_line(setting, change, show) for change in CHANGES for show in SHOWS), names=1),
        ),
    )


def _line(setting: Setting, change: float, show: Show) -> Row:
    found = study(setting, change, LOOKS, show)
    return row(
        f"+{plain(change)}" if change else "none",
        told(study(setting, change, (_MOST,)), lambda c: percent(c.found())),
        f"`{show}`",
        told(found, lambda c: percent(c.found())),
        told(found, lambda c: percent(c.of_case("no-sign"))),
        told(found, lambda c: percent(c.of_case("inconclusive"))),
        told(found, lambda c: f"{float(c.rounds[0]) / c.reports:.1f}"),
        told(found, lambda c: f"{float(c.rounds[1:].mean()) / c.reports:.1f}" if len(c.rounds) > 1 else ""),
        told(found, lambda c: f"{c.built / c.reports:.1f}"),
    )


def promises(setting: Setting) -> Iterator[Promise]:
    """Give the promises on giving up."""
    pairs = [tuple(study(setting, change, LOOKS, show) for show in SHOWS) for change in CHANGES[1:]]

    def lost(results: Results) -> list[float]:
        return [results.of(without).found() - results.of(given_up).found() for given_up, without in pairs]

    every = tuple(each for both in pairs for each in both)
    yield Promise("power lost by giving up", 0.05, False, every, lost, variance=LOST)
    unchanged = (study(setting, 0.0, LOOKS),)

    def executed(counts: ReportCounts) -> float:
        return counts.executed / _MOST

    words = "rounds executed of those planned, no change"
    yield Promise(words, 0.45, False, unchanged, of_each(unchanged, executed), number=True)
