"""The analysis of a study for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from gate.commands.study.report import tables
from gate.commands.study.report import words as say
from gate.document.document import Column, Table
from gate.document.terminal import lay_out, paint
from gate.model.study import Response, StudyReport
from gate.units import format_share, plural
from gate.words.effects import percentile
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

    def view(
        self,
        view: Table,
        name: str | None = None,
        chosen: Sequence[int] | None = None,
        titles: Mapping[int, str] | None = None,
        note: str | None = None,
    ) -> None:
        """Write a table; name, titles, note: in place of its own; chosen: numbers of its columns, None: all."""
        if not view.rows:
            return
        self.line()
        self.line(view.title if name is None else name, _BOLD)
        numbers = range(len(view.head)) if chosen is None else chosen
        head = [Column((titles or {}).get(k, view.head[k].title), view.head[k].right) for k in numbers]
        rows = [[visible(row.cells[k].text) for k in numbers] for row in view.rows[:_ROWS]]
        style = _DIM if self._color else ""
        laid = lay_out(head, rows, self.width, style=style)
        if laid is None:
            told = (", ".join(f"{c.title} {cell}" for c, cell in zip(head, row, strict=True) if cell) for row in rows)
            laid = [part for text in told for part in wrap(text, self.width, rest="  ")]
        self._lines += laid
        left = len(view.rows) - _ROWS
        for text in (
            f"{plural(left, 'more row')} in the page" if left > 0 else "",
            view.reading if note is None else note,
        ):
            self._lines += [self.paint(part, _DIM) for part in wrap(visible(text), self.width)] if text else []

    def text(self) -> str:
        return "\n".join(self._lines) + "\n"


def _response(writer: _Writer, response: Response, report: StudyReport, *, brief: bool) -> None:
    writer.line(clip(f"{visible(response.benchmark)}: {visible(response.metric)}", writer.width), _BOLD)
    for part in wrap(visible(say.measured(response)), writer.width):
        writer.line(part)
    writer.items("What it shows", response.words)
    if not brief:
        # write the tables of models, with the columns that a terminal has room for
        confidence = report.confidence
        model, lenth, quantiles = response.linear, response.lenth, response.quantiles
        if model is not None:
            view = tables.linear(response, model, confidence, share=format_share)
            notes = [*say.below(response, model), *([say.errors(model)] if model.strata else [])]
            chosen = (0, 1, 2, 3, 5, 6, 7, 8)
            writer.view(view, model.formula, chosen, {0: "effect on the mean"}, "; ".join(notes))
        if lenth is not None:
            writer.view(tables.lenth(response, lenth), "Which contrasts are more than noise (Lenth 1989)")
        if quantiles is not None and quantiles.models:
            own = say.shown_quantile(quantiles)
            at = percentile(own.tau)
            view = tables.quantile(response, own, confidence)
            note = (
                f"intervals by {quantiles.clusters} {quantiles.cluster}s as clusters; other quantiles are in the page"
            )
            writer.view(view, f"Quantile regression at {at}", range(5), {0: f"effect on {at}"}, note)
            if own.iid and own.iid_errors:
                # in the columns of R's summary(rq(...), se = "iid")
                names = {2: "value", 7: "std. error", 8: "t", 9: "p"}
                writer.view(view, f"The same at {at}, with all values for independent", (0, *names), names)
        writer.view(tables.all_percents(response))
        if (trends := tables.trends(response, report.confidence)) is not None:
            writer.view(trends)
        writer.items("The other scale", filter(None, [say.other_scale(response)]))
        writer.items("What the checks say", [f"{check.name}: {check.words}" for check in say.checks(response)])
        writer.items("Block plots", [say.blocks(response, each) for each in response.blocks if each.complete > 1])
        for each in response.abridged:
            writer.items(capitalized(each.name), say.abridged(response, each))
        writer.items("What to keep in mind", say.cautions(response), _YELLOW)
    writer.line()
