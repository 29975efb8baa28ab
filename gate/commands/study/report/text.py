"""The analysis of a study for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gate.commands.study.report import models
from gate.commands.study.report import words as say
from gate.model.study import Effect, LinearModel, Response, StudyReport
from gate.units import format_confidence, format_share, plural
from gate.words.effects import named, percentile, settings_text
from gate.words.failures import sentence
from gate.words.grid import Cell, Column, lay_out, paint
from gate.words.reports import capitalized
from gate.writing.amounts import format_p
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
        _lenth(writer, response)
        _quantiles(writer, response, report.confidence)
        _percents(writer, response)
        _trends(writer, response, report.confidence)
        writer.items("The other scale", filter(None, [say.other_scale(response)]))
        writer.items("What the checks say", _checks(response))
        writer.items("Block plots", [say.blocks(response, each) for each in response.blocks if each.complete > 1])
        for each in response.abridged:
            writer.items(capitalized(each.name), say.abridged(response, each))
        writer.items("What to keep in mind", _kept_in_mind(response), _YELLOW)
    writer.line()


def _linear(writer: _Writer, response: Response, model: LinearModel | None, confidence: float, name: str = "") -> None:
    if model is None:
        return
    percent = format_confidence(confidence)
    unit = f", {say.squared(response)}" if say.squared(response) else ""
    head = [
        Column("effect on the mean"),
        *(
            Column(name, right=True)
            for name in (f"low {percent}", "estimate", f"high {percent}", f"sum sq{unit}", "share", "p", "p, family")
        ),
    ]
    rows = []
    for term in model.terms:
        # no two settings of each factor may have been measured together: the term has no effect to show then
        for i, effect in enumerate(term.effects or [None]):
            shared = (
                (
                    say.squares(term.sum_of_squares, response),
                    "" if term.share is None else format_share(term.share),
                    format_p(term.p),
                    format_p(term.p_adjusted),
                )
                if not i
                else ("",) * 4
            )
            own = say.effect_name(effect, response, model) if effect else named(term.term, term.aliases)
            shown = [own, *(_ends(effect, response) if effect else ("", "", ""))]
            rows.append([*shown, *shared])
    rest = "" if model.unexplained is None else format_share(model.unexplained)
    rows.append([say.residuals(model), "", "", "", say.squares(model.residual_ss, response), rest, "", ""])
    notes = [*say.below(response, model), *([say.errors(model)] if model.strata else [])]
    writer.table(name or model.formula, head, rows, "; ".join(notes))


def _ends(effect: Effect, response: Response) -> list[str]:
    ends = (effect.low, effect.estimate, effect.high)
    write = say.change if effect.settings else say.level
    return ["" if end is None else write(end, response) for end in ends]


def _quantiles(writer: _Writer, response: Response, confidence: float) -> None:
    found = response.quantiles
    model = say.shown_quantile(found) if found and found.models else None
    if found is None or model is None:
        return
    percent = format_confidence(confidence)
    head = [
        Column(f"effect on {percentile(model.tau)}"),
        *(Column(name, right=True) for name in (f"low {percent}", "estimate", f"high {percent}", "p")),
    ]
    rows = [[say.effect_name(e, response), *_ends(e, response), format_p(e.p)] for e in model.effects]
    note = f"intervals by {found.clusters} {found.cluster}s as clusters; other quantiles are in the page"
    writer.table(f"Quantile regression at {percentile(model.tau)}", head, rows, note)
    if model.iid and model.iid_errors:
        # in the columns of R's summary(rq(...), se = "iid")
        head = [Column("effect"), *(Column(name, right=True) for name in ("value", "std. error", "t", "p"))]
        rows = [
            [
                say.effect_name(e, response),
                _ends(e, response)[1],
                "" if error is None else say.change(error, response),
                say.t_value(e.estimate, error),
                format_p(e.p),
            ]
            for e, error in zip(model.iid, model.iid_errors, strict=True)
        ]
        writer.table(f"The same at {percentile(model.tau)}, with all values for independent", head, rows)


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


def _lenth(writer: _Writer, response: Response) -> None:
    if response.lenth is not None:
        found = models.lenth(response, response.lenth)
        head = [Column(h.name, right=h.number) for h in found.head]
        writer.table("Which contrasts are more than noise (Lenth 1989)", head, found.rows, found.note)


def _trends(writer: _Writer, response: Response, confidence: float) -> None:
    found = models.trends(response, confidence)
    if found is not None:
        writer.table(found.caption, [Column(h.name, right=h.number) for h in found.head], found.rows, found.note)


def _checks(response: Response) -> list[str]:
    checks = [*(response.diagnostics.checks if response.diagnostics else []), *(d.check for d in response.dependences)]
    checks += [response.kruskal] if response.kruskal else []
    return [f"{check.name}: {check.words}" for check in checks]


def _kept_in_mind(response: Response) -> list[str]:
    return [
        *response.warnings,
        *(response.diagnostics.warnings if response.diagnostics else []),
        *(response.quantiles.warnings if response.quantiles else []),
        *say.lacking(response),
    ]
