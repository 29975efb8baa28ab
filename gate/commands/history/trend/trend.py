"""perfgate history trend: the chain of ratios of each case, and its level at each commit."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, TextIO

import msgspec
import numpy as np

from gate.cli.groups import OutputOptions
from gate.codes import Exit
from gate.commands.history.command import TrendOptions
from gate.commands.history.trend import words
from gate.commands.history.trend.page import cases
from gate.config.rules import matches
from gate.document import html, markdown, terminal
from gate.document.document import Cell, Column, Document, Items, Part, Row, Said, Table
from gate.model import UserError
from gate.report.outputs import deliver, require_writable
from gate.run.memory import here, opened
from gate.stats.series import Interval
from gate.store.chain import Chain, chained
from gate.store.history_records import when
from gate.store.series import CaseTrend, Trend, followed, series, trend
from gate.units import format_share
from gate.writing.phrases import none_of
from gate.writing.plain import visible

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(T.*)?")
_FORMATS = ("json", "markdown", "html")


def run(options: TrendOptions, out: TextIO, err: TextIO) -> int:
    """Show the trend of each case; 0 whatever changed: a trend reports, it is no gate.

    Raises:
        UserError: a history that cannot be read, or an option that names nothing in it.
    """
    asked = {name: target for name in _FORMATS if (target := getattr(options, name)) is not None}
    require_writable(OutputOptions(asked))
    store = opened(options.store.history)
    reading = store.read()
    if not reading.records and not reading.problems:
        raise UserError(f"{store} holds no records: `perfgate history add` records a run")
    chain = chained(reading.records)
    links = chain.links
    if options.since is not None:
        links = links[_since(chain, options.since) :]
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
    deliver(asked, formats, lambda: terminal.render(document(found), terminal.screen(out)), out)
    err.writelines(f"perfgate: {visible(problem)}\n" for problem in found.problems)
    return Exit.USAGE if found.problems else Exit.PASS


def _since(chain: Chain, since: str) -> int:
    if _DATE.fullmatch(since):
        if when(since) is None:
            raise UserError(f"--since {since}: is no date of the calendar, such as 2026-01-31")
        later = (place for place, link in enumerate(chain.links) if (link.committed or "") >= since)
        return next(later, len(chain.links))
    git = here()
    answer = git.attempt("rev-parse", "--verify", "--quiet", "--end-of-options", f"{since}^{{commit}}") if git else None
    sha = answer.stdout.decode().strip() if answer is not None and answer.status == 0 else since
    for place, link in enumerate(chain.links):
        if sha and link.parent.startswith(sha):
            return place
    if chain.links and sha and chain.links[-1].commit.startswith(sha):
        return len(chain.links)
    raise UserError(f"--since {since}: no commit of the history, and no date such as 2026-01-31")


_BARS = "▁▂▃▄▅▆▇█"
_SPARK = 24
_SMALLEST = 0.02
"""A sparkline's height is at least this change, so that noise stays flat."""
_SHOWN = 100


def document(trend: Trend, own: Sequence[list[Part]] = ()) -> Document:
    """Say how each case moved, on which machines, and what the numbers are; own: what only a page has."""
    columns = [Column("benchmark"), Column("chain", right=True), Column("level", right=True)]
    # a page has pictures
    columns += [] if own else [Column("trend")]
    columns += [Column("ratio ±", right=True), Column("days ±", right=True)]
    rows = []
    for case in trend.cases:
        sds = ("unknown" if sd is None else format_share(sd) for sd in (case.build_sd, case.day_sd))
        texts = [words.name(case.series), *words.moved(case), *([] if own else [spark(case)]), *sds]
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


def spark(case: CaseTrend) -> str:
    """Draw the known levels of a case with block letters; what noise does stays low."""
    levels = case.path.level[np.isfinite(case.path.level)]
    if not levels.size:
        return ""
    means = np.array([float(piece.mean()) for piece in np.array_split(levels, min(_SPARK, levels.size))])
    span = max(float(means.max() - means.min()), _SMALLEST + 4 * (case.build_sd or 0.0))
    scaled = (means - means.min()) / span * (len(_BARS) - 1)
    return "".join(_BARS[round(float(each))] for each in scaled)


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
