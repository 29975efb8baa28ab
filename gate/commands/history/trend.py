"""perfgate history trend: the chain of ratios of each case, its level at each commit, and the pictures of its page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TextIO

import msgspec
import numpy as np

from gate.cli.groups import OutputOptions
from gate.codes import Exit
from gate.commands.history import trend_words as words
from gate.commands.history.command import TrendOptions
from gate.config.rules import matches
from gate.document import html, markdown, terminal
from gate.document.document import Cell, Column, Document, Figures, Fold, Items, Part, Row, Said, Table
from gate.model import UserError
from gate.plots.panels import grid, tick_room
from gate.plots.picture import LETTERS, Picture, Point, Sheet, room
from gate.plots.scales import Axis, change_ticks
from gate.report.outputs import deliver, require_writable
from gate.run.memory import opened
from gate.stats.series import Interval
from gate.store.chain import chained
from gate.store.series import CaseTrend, Run, Trend, followed, series, trend
from gate.units import format_share, plural
from gate.writing.phrases import none_of
from gate.writing.plain import clip, visible


def run(options: TrendOptions, out: TextIO, err: TextIO) -> int:
    """Show the trend of each case; 0 whatever changed: a trend reports, it is no gate.

    Raises:
        UserError: a history that cannot be read, or an option that names nothing in it.
    """
    require_writable(OutputOptions(options.files))
    store = opened(options.store.history)
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


def document(trend: Trend, own: Sequence[list[Part]] = ()) -> Document:
    """Say how each case moved, on which machines, and what the numbers are; own: what only a page has."""
    numbers = ("chain", "level", "ratio ±", "days ±")
    columns = [Column("benchmark"), *(Column(name, right=True) for name in numbers)]
    rows = []
    for case in trend.cases:
        sds = ("unknown" if sd is None else format_share(sd) for sd in (case.build_sd, case.day_sd))
        texts = [words.name(case.series), *words.moved(case), *sds]
        rows.append(Row([*map(Cell, texts)]))
    headline = words.headline(trend)
    return Document(
        tool="perfgate history trend",
        title=headline,
        sections=[
            [Said("" if own else headline), Said(words.span(trend))],
            [Table("changes", "changes", columns, rows, most=_SHOWN)] if rows else [],
            [Items(words.machines(trend), "rest", "machines")],
            *own,
            [Items(list(words.notes(trend)), "advice")],
        ],
        elsewhere="in the JSON",
        footer="Written by perfgate history trend, which reports and does not gate; `perfgate check` decides.",
    )


SCHEMA = 1


def as_json(trend: Trend) -> str:
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
    return msgspec.json.format(msgspec.json.encode(found), indent=1).decode() + "\n"


def _case(case: CaseTrend, trend: Trend) -> dict[str, Any]:
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
                **_ratios("ratio", Interval(level, low, high)), "piece": piece,
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


def _ratios(name: str, found: Interval) -> dict[str, float | None]:
    """Return an interval of logarithms as ratios; None where one is unknown, or no number."""
    logs = zip((name, "low", "high"), (found.estimate, found.low, found.high), strict=True)
    return {key: math.exp(log) if math.isfinite(log) and abs(log) <= 700 else None for key, log in logs}


_WIDTH, _HEIGHT = 960, 300
_TOP, _BOTTOM, _RIGHT = 46, 240, 946
_LEAST_HALF = 0.02
"""Half the height of the axis at least, in log: noise of a per cent looks like noise."""
_FEW = 120
"""So many commits get a mark each."""
_DATES = 12
_LETTER = 0.62


def picture(case: CaseTrend, trend: Trend, prefix: str, tips: int) -> Picture:
    """Draw the level of a case over the commits, as far as it is known.

    Args:
        case: of the trend.
        trend: the commits and machines.
        prefix: what ids begin with.
        tips: stretches with a text at most; of more commits several share one.
    """
    name, count = words.name(case.series), case.path.level.size
    sheet = Sheet(_WIDTH, _HEIGHT)
    # choose the height: of all levels, and of the intervals as far as these do not flatten them
    path = case.path
    low, high = np.nanmin([*path.level, np.inf]), np.nanmax([*path.level, -np.inf])
    if low > high:
        low = high = 0.0
    reach = max(_LEAST_HALF, 0.6 * (high - low))
    low = max(np.nanmin([low, *path.low]), low - reach)
    high = min(np.nanmax([high, *path.high]), high + reach)
    low, high = min(float(low), -_LEAST_HALF), max(float(high), _LEAST_HALF)
    pad = 0.04 * (high - low)
    y = Axis(low - pad, high + pad, _BOTTOM, _TOP)
    marks = change_ticks(y, lambda _: 30)
    left = max(tick_room(marks), 70)
    x = Axis(0, max(count - 1, 1), left + 6, _RIGHT)
    _machines(sheet, x, trend, left)
    grid(sheet, y, marks, left, _RIGHT)
    sheet.lines("axis", [[(left, y.at(0)), (_RIGHT, y.at(0))]])
    sheet.text(12, 20, "level, relative to the start", "soft")
    areas: list[list[Point]] = []
    curves: list[list[Point]] = []
    for piece in np.unique(path.piece):
        known = np.flatnonzero((path.piece == piece) & np.isfinite(path.level)).tolist()
        curves.append([(x.at(k), y.at(float(path.level[k]))) for k in known])
        bounded = [k for k in known if math.isfinite(path.low[k])]
        lows, highs = ([(x.at(k), y.at(float(each[k]))) for k in bounded] for each in (path.low, path.high))
        areas.append([*lows, *reversed(highs)])
    sheet.lines("spread", [area for area in areas if len(area) > 2], closed=True)
    sheet.lines("line-head", [curve for curve in curves if curve])
    if count <= _FEW:
        sheet.marks("dot-head", "circle", [point for curve in curves for point in curve])
    days = ["", *(words.day(link.committed) for link in trend.chain.links)]
    dated = sorted({1 + round(k * (count - 2) / (_DATES - 1)) for k in range(_DATES)} if count > 2 else {count - 1})
    half = room("2026-01-31", LETTERS) / 2
    if labels := [(x.at(k), days[k]) for k in dated if x.at(k) + half <= _WIDTH]:
        sheet.row(_BOTTOM + 24, labels, "soft")
    else:
        sheet.text(_RIGHT, _BOTTOM + 24, days[-1], "soft", "end")
    sheet.text((x.start + x.end) / 2, _HEIGHT - 10, "commits, evenly spaced, with their dates", "soft", "middle")
    # a text over each commit, or each few where there are more than fit
    runs: dict[int, list[Run]] = {}
    for run in case.series.runs:
        runs.setdefault(run.step, []).append(run)
    for first in range(0, count, math.ceil(count / tips)):
        last = min(first + math.ceil(count / tips), count) - 1
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


def _machines(sheet: Sheet, x: Axis, trend: Trend, left: float) -> None:
    """Shade every other machine, and name each where there is room: by what is new of it, the first by itself."""
    stripes = []
    machines = trend.segments
    for number, each in enumerate(machines):
        begin = left if number == 0 else x.at(each.first + 0.5)
        end = _RIGHT if each is machines[-1] else x.at(each.last + 1.5)
        if number % 2:
            stripes.append([(begin, _TOP - 18), (end, _TOP - 18), (end, _BOTTOM), (begin, _BOTTOM)])
        if len(machines) > 1:
            name = visible(", ".join(f"{fact} {after}" for fact, _, after in each.changed[:2]) or each.name)
            fitting = int((end - begin - 8) / (LETTERS * _LETTER))
            if fitting >= min(len(name), 6):
                sheet.text(begin + 4, _TOP - 5, clip(name, fitting), "soft", full=words.machine(each, trend))
    sheet.lines("stripe", stripes, closed=True)
    borders = [x.at(each.first + 0.5) for each in machines[1:]]
    sheet.lines("hair-identical", [[(at, _TOP - 18), (at, _BOTTOM)] for at in borders])


def _tip(step: int, case: CaseTrend, trend: Trend, runs: list[Run]) -> str:
    link = trend.chain.links[max(step, 0)]
    if step < 0:
        return f"{words.short(link.parent)}, the commit before the first"
    title = words.commit(link.commit, link.subject)
    if not runs:
        return f"{title}: not measured"
    lines = [f"{title}, {words.day(link.committed)}; level {words.level(case, step + 1)}"]
    for run in runs:
        builds = f", {plural(run.builds, 'build')}" if run.builds else ", the same program"
        outlier = "; an outlier of the machine" if run.outlier else ""
        lines.append(f"to its parent {words.change(run.ratio.estimate)} ({words.limits(run.ratio)}){builds}{outlier}")
    return "\n".join(lines)


_OPEN = 12
"""Cases that are open; of more all are folded."""
_PICTURES = 200
"""Cases that are drawn."""
_MOST, _ALL, _LEAST = 500, 6000, 60
"""Texts in the picture of one case at most; of all, unless each has the least."""


def cases(found: Trend) -> list[list[Part]]:
    """Give what a page has of each case: its picture."""
    most = min(_MOST, max(_LEAST, _ALL // max(len(found.cases), 1)))
    folds: list[Part] = []
    captions = dict[str, None]()
    for number, case in enumerate(found.cases, 1):
        figures, name = [], words.name(case.series)
        if number <= _PICTURES:
            figures.append(picture(case, found, f"case-{number}-picture", most).figure("trend", "Level"))
            captions[figures[0].caption] = None
        folds.append(Fold(name, [Figures(figures)], f"case-{number}", len(found.cases) <= _OPEN))
    return [[Items(list(captions), "rest", "How to read the pictures")], folds]
