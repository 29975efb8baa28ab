"""perfgate history trend: the chain of ratios of each case, its level at each commit, its words and its pictures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, TextIO

import msgspec
import numpy as np

from gate.cli.groups import OutputOptions
from gate.codes import Exit
from gate.commands.history.command import TrendOptions
from gate.config.rules import matches
from gate.document import html, markdown, terminal
from gate.document.document import Cell, Column, Document, Figures, Fold, Items, Part, Row, Statement, Table
from gate.model import UserError
from gate.plots.panels import grid, tick_room
from gate.plots.picture import Picture, Point, Sheet
from gate.plots.scales import Axis, change_ticks
from gate.report.json import text_of
from gate.report.outputs import deliver, require_writable
from gate.run.memory import opened
from gate.stats.rounding import Array, Ints
from gate.stats.series import ChangeInterval
from gate.store.series import CaseRun, CaseSeries, CaseTrend, HistoryTrend, Segment, chained, followed, series, trend
from gate.words import views
from gate.writing.amounts import changed
from gate.writing.phrases import listed, none_of
from gate.writing.plain import clip, visible
from gate.writing.units import agree, format_share, plural


def run(options: TrendOptions, out: TextIO, err: TextIO) -> int:
    """Show the trend of each case; 0 whatever changed: a trend reports, it is no gate.

    Raises: UserError: a history that cannot be read, or an option that names nothing in it.
    """
    require_writable(OutputOptions(options.files))
    store = opened(options.history)
    reading = store.read()
    if not reading.records and not reading.problems:
        raise UserError(f"{store} holds no records: `perfgate history add` records a run")
    chain = chained(reading.records)
    links = chain.links
    if options.limit is not None:
        measured = [place for place, link in enumerate(links) if not link.gap]
        links = links[measured[-options.limit] :] if len(measured) > options.limit else links
    chain = msgspec.structs.replace(chain, links=links)
    every = series(chain)
    followable = followed(every)
    globs = options.benchmarks
    wanted = [of for of in followable if not globs or any(matches(glob, of.id.benchmark) for glob in globs)]
    for glob in globs:
        if not any(matches(glob, of.id.benchmark) for of in followable):
            raise UserError(f"--benchmark {glob}: {none_of(glob, (of.id.benchmark for of in followable))}")
    found = trend(chain, wanted, reading.problems, views=len(every) - len(followable))
    formats = {
        "json": lambda: as_json(found), "markdown": lambda: markdown.render(document(found)),
        "html": lambda: html.render(document(found, cases(found))),
    }  # fmt: skip
    deliver(options.files, formats, lambda: terminal.render(document(found), terminal.screen(out)), out)
    err.writelines(f"perfgate: {visible(problem)}\n" for problem in found.problems)
    return Exit.USAGE if found.problems else Exit.PASS


_SHOWN = 100


def document(trend: HistoryTrend, own: Sequence[list[Part]] = ()) -> Document:
    """Say how each case moved, on which machines, and what the numbers are; own: what only a page has."""
    numbers = ("chain", "level", "ratio ±", "days ±")
    columns = [Column("benchmark"), *(Column(name, right=True) for name in numbers)]
    rows = []
    for case in trend.cases:
        sds = ("unknown" if sd is None else format_share(sd) for sd in (case.build_sd, case.day_sd))
        texts = [_name(case.series), *_moved(case), *sds]
        rows.append(Row([*map(Cell, texts)]))
    headline = _headline(trend)
    return Document(
        tool="perfgate history trend",
        title=headline,
        sections=[
            [Statement("" if own else headline), Statement(_span(trend))],
            [Table("changes", "changes", columns, rows, most=_SHOWN)] if rows else [],
            [Items(_machines(trend), "rest", "machines")],
            *own,
            [Items(list(_notes(trend)), "advice")],
        ],
        elsewhere="in the JSON",
        footer="Written by perfgate history trend, which reports and does not gate; `perfgate check` decides.",
    )


SCHEMA = 1


def as_json(trend: HistoryTrend) -> str:
    """Write commits, runs and levels by keys that docs/trend.md names; what does not exist is null."""
    chain = trend.chain
    found = {
        "schema": SCHEMA,
        "commits": [
            {
                "commit": link.commit, "parent": link.parent, "subject": link.subject or None,
                "committed": link.committed, "gap": link.gap, "runs": [record.run for record in link.records],
            }
            for link in chain.links
        ],
        "machines": [
            {
                "id": segment.machine, "name": segment.name, "first": chain.links[segment.first].commit,
                "last": chain.links[segment.last].commit,
                "changed": [dict(zip(("fact", "before", "after"), each, strict=True)) for each in segment.changed],
            }
            for segment in trend.segments
        ],
        "cases": [_case(case, trend) for case in trend.cases],
        "left_out": {
            "controls": [record.run for record in chain.controls],
            "pinned": [record.run for record in chain.pinned],
            "other_branches": [record.run for record in chain.aside],
            "problems": trend.problems,
        },
    }  # fmt: skip
    return text_of(found)


def _case(case: CaseTrend, trend: HistoryTrend) -> dict[str, Any]:
    of, path, links = case.series, case.path, trend.chain.links
    return {
        "benchmark": of.id.benchmark, "metric": of.id.metric, "statistic": of.id.statistic,
        "unit": of.unit, "better": of.better, "factors": of.factors,
        "sd": {"ratio": case.build_sd, "days": case.day_sd},
        "chain": {**_ratios("ratio", case.chain), "unmeasured": case.unmeasured},
        "runs": [
            {
                "commit": links[run.step].commit, "run": run.record.run, "measured": run.record.measured,
                "ratio": _ratios("estimate", run.ratio), "base": run.change.base and run.change.base.value,
                "head": run.change.head and run.change.head.value, "builds": run.builds,
                "machine": run.record.machine.id, "verdict": run.change.verdict, "outlier": run.outlier,
            }
            for run in of.runs
        ],
        "levels": [
            {
                "commit": links[place - 1].commit if place else links[0].parent,
                **_ratios("ratio", ChangeInterval(level, low, high)), "piece": piece,
            }
            for place, (level, low, high, piece) in enumerate(
                zip(*(each.tolist() for each in (path.level, path.low, path.high, path.piece)), strict=True)
            )
        ],
        "accepted": [
            {"commit": links[step].commit, "up_to": a.up_to, "until": a.until, "reason": a.reason}
            for step, a in case.accepted.items()
        ],
    }  # fmt: skip


def _ratios(name: str, found: ChangeInterval) -> dict[str, float | None]:
    """Return an interval of logarithms as ratios; None where one is unknown, or no number."""
    logs = zip((name, "low", "high"), (found.estimate, found.low, found.high), strict=True)
    return {key: math.exp(log) if math.isfinite(log) and abs(log) <= 700 else None for key, log in logs}


_SHORT = 10
"""Digits of a commit that are shown."""
_FACTS = 4
_ALTERNATING = 8
"""More stretches of machines than this are counted, not listed."""
_SUBJECT = 60
_LARGEST = 700.0
"""Of a logarithm: beyond it no ratio is a number."""
_FACT = 40


def _name(of: CaseSeries) -> str:
    """Name a case: "parse", "parse, active time", "request, latency p99, size=10"."""
    quantity = views.quantity(of.id.metric, of.id.statistic)
    return visible(", ".join(part for part in (of.id.benchmark, quantity, of.id.factors) if part not in ("", "time")))


def _commit(commit: str) -> str:
    """Write a commit as people do."""
    return visible(commit)[:_SHORT]


def _day(when: str | None) -> str:
    """Write the day of a time; "unknown" where there is none."""
    return visible(when)[:10] if when else "unknown"


def _change(log: float) -> str:
    """Write a logarithm as a change; sums of what a ref holds may be larger than any number."""
    return changed(math.exp(min(max(log, -_LARGEST), _LARGEST)))


def _limits(found: ChangeInterval) -> str:
    """Write an interval in log as changes: "+2.1% to +6.2%"."""
    if not (math.isfinite(found.low) and math.isfinite(found.high)):
        return "no interval"
    return f"{_change(found.low)} to {_change(found.high)}"


def _headline(trend: HistoryTrend) -> str:
    """Say in a line what is shown."""
    links = trend.chain.links
    if not links:
        return "Nothing to show: no commit of the history was measured against its parent."
    commits = plural(sum(not link.gap for link in links), "commit")
    return f"{plural(len(trend.cases), 'case')} over {commits}"


def _span(trend: HistoryTrend) -> str:
    """Say from when to when the history reaches, and on how many classes of machine."""
    links = trend.chain.links
    if not links:
        return ""
    days = [_day(link.committed) for link in (links[0], links[-1])]
    classes = f"{trend.machines} {agree(trend.machines, 'class', 'classes')} of machine"
    return f"{_commit(links[0].parent)} to {_commit(links[-1].commit)}, {days[0]} to {days[1]}, {classes}"


def _moved(case: CaseTrend) -> list[str]:
    """Say how far a case moved from its first commit to its last: by the chain, and by its level."""

    def told(found: ChangeInterval) -> str:
        return f"{_change(found.estimate)} ({_limits(found)})"

    chain = f"unknown at {plural(case.unmeasured, 'step')}" if case.unmeasured else told(case.chain)
    return [chain, "unknown" if case.level is None else told(case.level)]


def _machines(trend: HistoryTrend) -> list[str]:
    """Name the changes of the machine: what began with which commit."""
    found = trend.segments[1:]
    if not found:
        return []
    if len(found) > _ALTERNATING:
        names = listed([visible(name) for name, _ in groupby(sorted(segment.name for segment in trend.segments))], 4)
        return [f"Runs alternate between {trend.machines} classes of machine ({names}), {len(found)} times."]
    return [_machine(segment, trend) for segment in found]


def _machine(segment: Segment, trend: HistoryTrend) -> str:
    """Say what changed with a segment."""
    link = trend.chain.links[segment.first]
    shown = [
        f"{visible(name)} {' → '.join(clip(visible('none' if v is None else str(v)), _FACT) for v in values)}"
        for name, *values in segment.changed
    ]
    facts = listed(shown, _FACTS) or "other facts"
    return f"From {_commit(link.commit)} ({_day(link.committed)}) on another machine: {facts}."


def _notes(trend: HistoryTrend) -> Iterator[str]:
    """Say what the numbers are, what was left out, and what to do about a change."""
    chain = trend.chain
    if trend.cases:
        yield (
            "chain: the product of all ratios to the parent. level: the last commit against the first, by ratios and "
            "levels of days together. Both with their 95% interval."
        )
        yield "± are standard deviations: of the ratio of one run, and of its level from day to day."
    if trend.views:
        yield (
            "Of each benchmark that has several views, the one is shown that decided most often. Where another decided "
            f"alone, its ratio stands in. `perfgate history export` has {plural(trend.views, 'other view')}."
        )
    gaps = sum(link.gap for link in chain.links)
    if gaps:
        yield (
            f"{plural(gaps, 'gap')} in the chain: commits in between were not measured against their parents. "
            "A gap is bridged by levels of the same machine before and after it, with the variance of days."
        )
    if chain.aside:
        yield f"{plural(len(chain.aside), 'record')} of other branches {agree(len(chain.aside), 'is', 'are')} left out."
    again = len(chain.controls) + len(chain.pinned)
    if again:
        yield f"{plural(again, 'record')} of commits that were measured again {agree(again, 'is', 'are')} left out."
    few = [case.series for case in trend.cases if case.day_sd is None]
    if few:
        named = listed([_name(of) for of in few])
        yield f"Too few runs to know how much days differ, so only ratios count: {named}."
    if trend.problems:
        named = agree(len(trend.problems), "it", "them")
        yield f"{plural(len(trend.problems), 'record')} cannot be read; the JSON and standard error name {named}."
    if chain.links:
        ends = f"--good {_commit(chain.links[0].parent)} --bad {_commit(chain.links[-1].commit)}"
        yield (
            "A trend calls no change. `perfgate check --creep` tests for a slow one against a pinned commit or tag; "
            f"`perfgate bisect {ends} --benchmark NAME` finds the commit that made one."
        )


_WIDTH, _HEIGHT = 960, 300
_TOP, _BOTTOM, _RIGHT = 46, 240, 915
_LEAST_HALF = 0.02
"""Half the height of the axis at least, in log: noise of a per cent looks like noise."""
_FEW = 120
"""So many commits get a mark each."""


def picture(case: CaseTrend, trend: HistoryTrend, prefix: str, tips: int) -> Picture:
    """Draw the level of a case over the commits, as far as it is known.

    Args:
        case: of the trend.
        trend: the commits and machines.
        prefix: what ids begin with.
        tips: stretches with a text at most; of more commits several share one.
    """
    name, count = _name(case.series), case.path.level.size
    sheet = Sheet(_WIDTH, _HEIGHT)
    # choose the height: of all levels, and of the intervals as far as these do not flatten them
    path = case.path
    finite = path.level[np.isfinite(path.level)]
    low, high = (finite.min(), finite.max()) if finite.size else (0.0, 0.0)
    reach = max(_LEAST_HALF, 0.6 * (high - low))
    low = max(np.nanmin([low, *path.low]), low - reach)
    high = min(np.nanmax([high, *path.high]), high + reach)
    low, high = min(float(low), -_LEAST_HALF), max(float(high), _LEAST_HALF)
    pad = 0.04 * (high - low)
    y = Axis(low - pad, high + pad, _BOTTOM, _TOP)
    marks = change_ticks(y, lambda _: 30)
    left = max(tick_room(marks), 70)
    x = Axis(0, max(count - 1, 1), left + 6, _RIGHT)
    borders = [x.at(each.first + 0.5) for each in trend.segments[1:]]
    sheet.lines("hair-identical", [[(at, _TOP), (at, _BOTTOM)] for at in borders])
    grid(sheet, y, marks, left, _RIGHT)
    sheet.lines("axis", [[(left, y.at(0)), (_RIGHT, y.at(0))]])
    sheet.text(12, 20, "level, relative to the start", "soft")

    def points(places: Ints, heights: Array) -> list[Point]:
        return [*zip(x.all(places.astype(np.float64)), y.all(heights[places]), strict=True)]

    known = [np.flatnonzero((path.piece == piece) & np.isfinite(path.level)) for piece in np.unique(path.piece)]
    bounded = [places[np.isfinite(path.low[places])] for places in known]
    areas = [[*points(own, path.low), *reversed(points(own, path.high))] for own in bounded if own.size > 1]
    curves = [points(places, path.level) for places in known if places.size]
    sheet.lines("spread", areas, closed=True)
    sheet.lines("line-head", curves)
    if count <= _FEW:
        sheet.marks("dot-head", "circle", [point for curve in curves for point in curve])
    dates = [(x.at(place), _day(link.committed)) for place, link in enumerate(trend.chain.links, 1)]
    sheet.row(_BOTTOM + 24, dates, "soft")
    sheet.text((x.start + x.end) / 2, _HEIGHT - 10, "commits, evenly spaced, with their dates", "soft", "middle")
    # a text over each commit, or each few where there are more than fit
    runs: dict[int, list[CaseRun]] = {}
    for run in case.series.runs:
        runs.setdefault(run.step, []).append(run)
    each_few = math.ceil(count / tips)
    for first in range(0, count, each_few):
        last = min(first + each_few, count) - 1
        texts = [_tip(place - 1, case, trend, runs.get(place - 1, [])) for place in dict.fromkeys((first, last))]
        sheet.tip(x.at((first + last) / 2), _TOP, _BOTTOM, "\n… ".join(texts))
    levels = np.nan_to_num(case.path.level)
    stars = [(x.at(step + 1), y.at(float(levels[step + 1])) - 16) for step in case.accepted]
    sheet.marks("mark-accepted", "star", stars, 6)
    for (at, top), each in zip(stars, case.accepted.values(), strict=True):
        sheet.tip(at, top - 9, top + 9, f"accepted: {visible(each.reason)}")
    said = "The line is the level of each commit, by ratios to the parent and levels of days, with its 95% interval."
    if case.accepted:
        said += " A star is an accepted regression."
    if len(trend.segments) > 1:
        said += " Dashed lines: another machine; levels of different machines are joined by ratios alone."
    return sheet.picture(prefix, f"Level of {name} over the commits", f"{plural(count, 'commit')}.", said)


def _tip(step: int, case: CaseTrend, trend: HistoryTrend, runs: list[CaseRun]) -> str:
    link = trend.chain.links[max(step, 0)]
    if step < 0:
        return f"{_commit(link.parent)}, the commit before the first"
    title = (
        f'{_commit(link.commit)} "{clip(visible(link.subject), _SUBJECT)}"' if link.subject else _commit(link.commit)
    )
    if not runs:
        return f"{title}: not measured"
    level = float(case.path.level[step + 1])
    lines = [f"{title}, {_day(link.committed)}; level {_change(level) if math.isfinite(level) else 'unknown'}"]
    for run in runs:
        builds = f", {plural(run.builds, 'build')}" if run.builds else ", the same program"
        outlier = "; an outlier of the machine" if run.outlier else ""
        lines.append(f"to its parent {_change(run.ratio.estimate)} ({_limits(run.ratio)}){builds}{outlier}")
    return "\n".join(lines)


_OPEN = 12
"""Cases that are open; of more all are folded."""
_PICTURES = 200
"""Cases that are drawn."""
_MOST, _ALL, _LEAST = 500, 6000, 60
"""Texts in the picture of one case at most; of all, unless each has the least."""


def cases(found: HistoryTrend) -> list[list[Part]]:
    """Give what a page has of each case: its picture."""
    most = min(_MOST, max(_LEAST, _ALL // max(len(found.cases), 1)))
    folds: list[Part] = []
    captions = dict[str, None]()
    for number, case in enumerate(found.cases, 1):
        figures, name = [], _name(case.series)
        if number <= _PICTURES:
            figures.append(picture(case, found, f"case-{number}-picture", most).figure("trend", "Level"))
            captions[figures[0].caption] = None
        folds.append(Fold(name, [Figures(figures)], f"case-{number}", len(found.cases) <= _OPEN))
    return [[Items(list(captions), "rest", "How to read the pictures")], folds]
