"""The findings of a report as a table for a terminal, in the widest form that fits, with footnotes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import msgspec

from gate.decide.importance import plain
from gate.document.terminal import Cell, Column, Notes, lay_out, paint
from gate.model import Finding
from gate.words import bars, notes, numbers, reports, views
from gate.words import findings as finding_words
from gate.words.marks import SHAPES, STYLES
from gate.words.names import Names
from gate.writing.phrases import joined
from gate.writing.plain import distinct, visible, wrap

_NOTES = 40


class _Form(msgspec.Struct, frozen=True):
    """Which columns a table has; narrowest: what the first keeps of its width; bar: columns of the bar."""

    columns: tuple[str, ...]
    narrowest: int
    bar: int = 0


_FORMS = (
    _Form(("benchmark", "metric", "factors", "base", "head", "change", "threshold", "bar", "verdict"), 60, 29),
    _Form(("benchmark", "metric", "factors", "base", "head", "change", "threshold", "bar", "verdict"), 30, 17),
    _Form(("case", "base", "head", "change", "threshold", "bar", "verdict"), 24, 17),
    _Form(("case", "change", "threshold", "bar", "verdict"), 14, 17),
    _Form(("case", "change", "bar", "verdict"), 12, 13),
    _Form(("case", "change", "verdict"), 12),
)
"""The widest first; below the last there is a block a finding."""
_OPTIONAL = ("base", "head", "threshold", "bar")


class FindingsTable:
    """One table: which findings are told of in sentences (their reasons need no footnote), and how it is to look."""

    def __init__(self, told: Sequence[Finding], color: bool, width: int, every: bool, names: Names) -> None:
        """Set up the table; every: all notes, also those for experts."""
        self._told = {id(finding) for finding in told}
        self._color = color
        self._styles: dict[str, str] = {**STYLES} if color else {}
        self._names = names
        self._width = width
        self._every = every
        self._shared: dict[Hashable, notes.Shared] = {}
        self._notes = Notes(None if every else _NOTES)
        self._scale = bars.Scale(-1.0, 1.0)
        self._confidence: float | None = None
        self._legend = ""
        self._shown = ""
        self._views: list[str] = []
        self._drawn = False

    def lines(self, found: Sequence[Finding]) -> list[str]:
        """Lay out the findings, at least one."""
        same_metric = reports.uniform(finding_words.quantity(f) for f in found)
        same_better = reports.uniform(f.better for f in found)
        # what all rows share stands above the table: it has to fit 80 columns
        threshold = reports.uniform(numbers.threshold(f) for f in found)
        self._scale = bars.scale(found)
        absent = {name for name, shared in (("metric", same_metric), ("threshold", threshold)) if shared}
        if not any(f.factors for f in found):
            absent.add("factors")
        self._confidence = reports.confidence(found)
        self._legend = reports.confidences(found)
        self._shown = reports.no_sign(found)
        sharper = [f for f in found if f.view is not None and f.view.why == "sharper"]
        self._views = [] if all(id(f) in self._told for f in sharper) else views.clauses(sharper)
        self._views += views.meanings(found)
        self._shared = notes.shared(found, notes.why) | notes.shared(found, self._minded)
        rows = [self._row(f, mark_better=not same_better) for f in found]
        direction = f"{same_better} is better" if same_better else "↑ higher is better, the others lower"
        shared = [text for text in (same_metric, direction, f"threshold {threshold}" if threshold else "") if text]
        return [*self._wrap(", ".join(shared)), *self._laid_out(found, rows, absent, reports.titled(self._confidence))]

    def _laid_out(
        self, found: Sequence[Finding], rows: Sequence[dict[str, Cell]], absent: set[str], title: str
    ) -> list[str]:
        bold = "1" if self._color else ""
        for form in _FORMS:
            names = [name for name in form.columns if name not in absent]
            ends = bars.ends(self._scale, form.bar) if form.bar else ""
            head = [_column(name, {"change": title, "bar": ends}) for name in names]
            drawn = [Cell(bars.bar(f, self._scale, form.bar) if form.bar else "") for f in found]
            whole = [row | {"bar": bar} for row, bar in zip(rows, drawn, strict=True)]
            cells = [[self._case(row, absent) if name == "case" else row[name] for name in names] for row in whole]
            lines = lay_out(
                head, cells, self._width, style=bold, narrowest=form.narrowest, notes=self._notes, styles=self._styles
            )
            if lines is not None:
                self._drawn = bool(form.bar)
                missing = [name for name in _OPTIONAL if name not in (*names, *absent)]
                more = f"(a wider terminal also shows {joined(missing)})"
                return lines + (self._wrap(more) if missing else [])
        names = distinct([self._case(row, absent).text for row in rows], 2 * self._width)
        return [line for name, row in zip(names, rows, strict=True) for line in self._stacked(name, row, absent)]

    def _row(self, finding: Finding, *, mark_better: bool) -> dict[str, Cell]:
        arrow = " ↑" if mark_better and finding.better == "higher" else ""
        like = numbers.larger(finding)
        change = f"{numbers.change(finding.ratio)} ({numbers.interval_in(finding.ratio, self._confidence)})"
        verdict = f"{SHAPES[finding.verdict]} {numbers.verdict_of(finding)}"
        return {
            "benchmark": Cell(visible(finding.benchmark)),
            "metric": Cell(self._names.quantity(finding) + arrow),
            "factors": Cell(self._names.settings(finding)),
            "base": Cell(numbers.value(finding.base, finding.unit, like)),
            "head": Cell(numbers.value(finding.head, finding.unit, like)),
            "change": Cell(numbers.in_points(finding, change)),
            "threshold": Cell(numbers.threshold(finding)),
            "verdict": Cell(verdict, notes=tuple(self._texts(finding)), tone=finding.verdict),
        }

    def _texts(self, finding: Finding) -> list[str]:
        said = id(finding) in self._told
        explained = plain(finding) or (said and not self._every)
        why = [] if explained else notes.why(finding)
        if not any(note.kind in self._shared for note in why):
            # a row by itself: what follows is in the details
            why = [notes.Note(note.kind, visible(finding.reason.sentence())) for note in why]
        told = [*why, *self._minded(finding)]
        # that a view varies less is said of all at once
        apart = finding.view is not None and finding.view.why != "sharper" and not said
        by_view = [views.clause(finding)] if apart else []
        return by_view + [self._shared[note.kind].text if note.kind in self._shared else note.text for note in told]

    def _minded(self, finding: Finding) -> list[notes.Note]:
        return notes.notes(finding, every=self._every)

    def _case(self, row: Mapping[str, Cell], absent: set[str]) -> Cell:
        names = ("benchmark", "metric", "factors")
        return Cell(" ".join(row[name].text for name in names if name not in absent and row[name].text))

    def _stacked(self, name: str, row: Mapping[str, Cell], absent: set[str]) -> list[str]:
        """A block a finding, for a terminal too narrow for any table."""
        verdict = row["verdict"]
        text = f"{row['base'].text} to {row['head'].text}, {row['change'].text}"
        text += f", threshold {row['threshold'].text}" if "threshold" not in absent else ""
        return [
            *self._wrap(name, rest="  "),
            f"  {paint(verdict.text, self._styles.get(verdict.tone, ''))}{self._notes.marks(verdict.notes)}",
            *self._wrap(text, first="  ", rest="    "),
        ]

    def footnotes(self) -> list[str]:
        """Write which confidence the intervals have, and the notes that the rows refer to."""
        lines = ["", *self._wrap(f"{reports.capitalized(self._legend)}.")] if self._legend else []
        if self._drawn:
            lines += [*([] if lines else [""]), *self._wrap(bars.legend())]
        lines += self._wrap(f"{reports.capitalized(self._shown)}.") if self._shown else []
        for clause in self._views:
            lines += self._wrap(f"{reports.capitalized(clause)}.")
        lines += [""] if self._notes.texts and not lines else []
        lines += self._notes.lines(self._width, "in report.json and report.html")
        return [paint(line, "2" if self._color else "") for line in lines]

    def _wrap(self, text: str, *, first: str = "", rest: str = "") -> list[str]:
        return wrap(text, self._width, first=first, rest=rest)


def _column(name: str, titles: dict[str, str]) -> Column:
    title = ({"case": "benchmark"} | titles).get(name, name)
    return Column(title, right=name in ("base", "head", "threshold"))
