"""The analysis of a study for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gate.commands.study.report import models
from gate.commands.study.report import words as say
from gate.document.terminal import Cell, Column, lay_out, paint
from gate.model.study import LinearModel, Response, StudyReport
from gate.units import format_share, plural
from gate.words.effects import percentile, settings_text
from gate.words.failures import sentence
from gate.words.reports import capitalized
from gate.writing.plain import clip, visible, wrap

_BOLD, _DIM, _YELLOW, _RED = "1", "2", "33", "31"
_ROWS = 16
"""Most rows of a table in the terminal; all are in the page and in the tables."""


def render(report: StudyReport, *, color: bool = False, width: int = 100, brief: bool = False) -> str:
    """Write the analysis: of each response what it shows in words, the effects, what the checks say.

    Args:
        brief: the words alone.
    """
    writer = _Writer(color, width)
    if report.unfinished:
        for part in wrap(visible(report.unfinished), width):
            writer.line(part, _YELLOW)
        writer.line()
    for response in report.responses:
        _response(writer, response, report, brief=brief)
    if not report.responses:
        writer.line("Nothing was measured: there is nothing to analyse.", _RED)
    for failure in report.failures:
        writer.line(sentence(failure), _RED)
    if not brief:
        writer.items("Warnings", report.warnings, _YELLOW)
    return writer.text()


class _Writer:
    def __init__(self, color: bool, width: int) -> None:
        self._lines: list[str] = []
        self._color = color
        self.width = width

    def paint(self, text: str, style: str) -> str:
        return paint(text, style) if self._color else text

    def line(self, text: str = "", style: str = "") -> None:
        self._lines.append(self.paint(visible(text), style))

    def items(self, name: str, texts: Iterable[str], style: str = "") -> None:
        found = list(texts)
        if found:
            self.line()
            self.line(name, _BOLD)
        for text in found:
            for part in wrap(visible(text), self.width, first="- ", rest="  "):
                self._lines.append(self.paint(part, style))

    def table(self, name: str, head: Sequence[Column], rows: Sequence[Sequence[str]], note: str = "") -> None:
        if not rows:
            return
        self.line()
        self.line(name, _BOLD)
        shown = [[Cell(visible(text)) for text in row] for row in rows[:_ROWS]]
        laid = lay_out(head, shown, self.width, style=_DIM if self._color else "")
        if laid is None:
            titles = [column.title for column in head]
            laid = [
                part
                for row in rows[:_ROWS]
                for part in wrap(
                    ", ".join(f"{t} {visible(c)}" for t, c in zip(titles, row, strict=True) if c), self.width, rest="  "
                )
            ]
        self._lines += laid
        more = [f"{plural(len(rows) - _ROWS, 'more row')} in the page"] if len(rows) > _ROWS else []
        for text in [*more, *([note] if note else [])]:
            self._lines += [self.paint(part, _DIM) for part in wrap(visible(text), self.width)]

    def text(self) -> str:
        return "\n".join(self._lines) + "\n"


def _response(writer: _Writer, response: Response, report: StudyReport, *, brief: bool) -> None:
    writer.line(clip(f"{visible(response.benchmark)}: {visible(response.metric)}", writer.width), _BOLD)
    for part in wrap(visible(say.measured(response)), writer.width):
        writer.line(part)
    writer.items("What it shows", response.words)
    if not brief:
        _linear(writer, response, response.linear, report.confidence)
        if response.lenth is not None:
            contrasts = models.lenth(response, response.lenth)
            writer.table(
                "Which contrasts are more than noise (Lenth 1989)", contrasts.head, contrasts.rows, contrasts.note
            )
        _quantiles(writer, response, report.confidence)
        _percents(writer, response)
        trends = models.trends(response, report.confidence)
        if trends is not None:
            writer.table(trends.caption, trends.head, trends.rows, trends.note)
        writer.items("The other scale", filter(None, [say.other_scale(response)]))
        writer.items("What the checks say", [f"{check.name}: {check.words}" for check in say.checks(response)])
        writer.items("Block plots", [say.blocks(response, each) for each in response.blocks if each.complete > 1])
        for each in response.abridged:
            writer.items(capitalized(each.name), say.abridged(response, each))
        writer.items("What to keep in mind", say.cautions(response), _YELLOW)
    writer.line()


def _linear(writer: _Writer, response: Response, model: LinearModel | None, confidence: float) -> None:
    if model is None:
        return
    found = models.linear(response, model, confidence, share=format_share)
    head = [Column("effect on the mean"), *found.head[1:4], *found.head[5:9]]
    notes = [*say.below(response, model), *([say.errors(model)] if model.strata else [])]
    writer.table(model.formula, head, [[*row[:4], *row[5:9]] for row in found.rows], "; ".join(notes))


def _quantiles(writer: _Writer, response: Response, confidence: float) -> None:
    found = response.quantiles
    if found is None or not found.models:
        return
    model = say.shown_quantile(found)
    at = percentile(model.tau)
    view = models.quantile(response, model, confidence)
    note = f"intervals by {found.clusters} {found.cluster}s as clusters; other quantiles are in the page"
    head = [Column(f"effect on {at}"), *view.head[1:5]]
    writer.table(f"Quantile regression at {at}", head, [row[:5] for row in view.rows], note)
    if model.iid and model.iid_errors:
        # in the columns of R's summary(rq(...), se = "iid")
        head = [Column("effect"), *(Column(name, right=True) for name in ("value", "std. error", "t", "p"))]
        rows = [[row[0], row[2], *row[7:]] for row in view.rows]
        writer.table(f"The same at {at}, with all values for independent", head, rows)


def _percents(writer: _Writer, response: Response) -> None:
    head = [
        Column("at"),
        *(Column(name, right=True) for name in ("from", "mean", "to", "mean", "difference", "result")),
    ]
    rows = [
        [
            settings_text(row.at) or "everywhere",
            f"{row.factor}={row.first}",
            say.level(row.first_mean, response),
            str(row.second),
            say.level(row.second_mean, response),
            say.change(row.difference, response, sign=True),
            row.words,
        ]
        for row in response.percents
    ]
    writer.table("Setting against setting", head, rows)
