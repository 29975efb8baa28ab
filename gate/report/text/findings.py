"""The findings of a report as a table for a terminal, in the widest form that fits, with footnotes."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from gate.decide.importance import plain
from gate.document.terminal import Cell, Column, Notes, Screen, lay_out, paint
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


def findings_table(
    found: Sequence[Finding], told: Sequence[Finding], screen: Screen, every: bool, names: Names
) -> tuple[list[str], list[str]]:
    """Lay out the findings, at least one; and write the notes that the rows refer to, and which confidence they have.

    told: those told of in sentences, whose reasons need no footnote. every: all notes, also those for experts.
    """
    width, color = screen.width, screen.color
    in_sentences = {id(finding) for finding in told}
    numbered = Notes(None if every else _NOTES)
    styles: dict[str, str] = {**STYLES} if color else {}
    scale, confidence = bars.scale(found), reports.confidence(found)
    same_better = reports.uniform(f.better for f in found)
    # what all rows share stands above the table: it has to fit 80 columns
    above = {
        "metric": reports.uniform(finding_words.quantity(f) for f in found),
        "threshold": reports.uniform(numbers.threshold(f) for f in found),
        "factors": None if any(f.factors for f in found) else "none",
    }
    absent = {name for name, shared in above.items() if shared}

    rows, drawn = _rows(found, in_sentences, absent, every, names), False
    better = f"{same_better} is better" if same_better else "↑ higher is better, the others lower"
    limit = f"threshold {above['threshold']}" if above["threshold"] else ""
    lines = wrap(", ".join(filter(None, (above["metric"], better, limit))), width)
    for form in _FORMS:
        shown = [name for name in form.columns if name not in absent]
        titles = {"case": "benchmark", "change": reports.titled(confidence)}
        titles["bar"] = bars.ends(scale, form.bar) if form.bar else ""
        head = [Column(titles.get(n, n), right=n in ("base", "head", "threshold")) for n in shown]
        drawings = [Cell(bars.bar(f, scale, form.bar) if form.bar else "") for f in found]
        cells = [[({**own, "bar": bar})[name] for name in shown] for own, bar in zip(rows, drawings, strict=True)]
        laid = lay_out(
            head, cells, width, style="1" if color else "", narrowest=form.narrowest, notes=numbered, styles=styles
        )
        if laid is not None:
            drawn = bool(form.bar)
            missing = [name for name in _OPTIONAL if name not in (*shown, *absent)]
            lines += [*laid, *(wrap(f"(a wider terminal also shows {joined(missing)})", width) if missing else [])]
            break
    else:
        # a block a finding, where no table fits
        for name, own in zip(distinct([own["case"].text for own in rows], 2 * width), rows, strict=True):
            verdict = own["verdict"]
            text = f"{own['base'].text} to {own['head'].text}, {own['change'].text}"
            text += f", threshold {own['threshold'].text}" if "threshold" not in absent else ""
            painted = paint(verdict.text, styles.get(verdict.tone, ""))
            lines += [*wrap(name, width, rest="  "), f"  {painted}{numbered.marks(verdict.notes)}"]
            lines += wrap(text, width, first="  ", rest="    ")
    legend = reports.confidences(found)
    below = ["", *wrap(f"{reports.capitalized(legend)}.", width)] if legend else []
    below += ["", *below] if drawn and not below else []
    below += wrap(bars.legend(), width) if drawn else []
    sharper = [f for f in found if f.view is not None and f.view.why == "sharper"]
    clauses = [] if all(id(f) in in_sentences for f in sharper) else views.clauses(sharper)
    for text in filter(None, (reports.no_sign(found), *clauses, *views.meanings(found))):
        below += wrap(f"{reports.capitalized(text)}.", width)
    below += [""] if numbered.texts and not below else []
    below += numbered.lines(width, "in report.json and report.html")
    return lines, [paint(line, "2" if color else "") for line in below]


def _rows(
    found: Sequence[Finding], in_sentences: set[int], absent: set[str], every: bool, names: Names
) -> list[dict[str, Cell]]:
    """Write all that a row may show; in_sentences: ids of findings; absent: what stands above the table."""
    confidence, same_better = reports.confidence(found), reports.uniform(f.better for f in found)

    def minded(finding: Finding) -> list[notes.Note]:
        return notes.notes(finding, every=every)

    shared = notes.shared(found, notes.why) | notes.shared(found, minded)

    def footnotes(finding: Finding) -> tuple[str, ...]:
        said = id(finding) in in_sentences
        why = [] if plain(finding) or (said and not every) else notes.why(finding)
        if not any(note.kind in shared for note in why):
            # a row by itself: what follows is in the details
            why = [notes.Note(note.kind, visible(finding.reason.sentence())) for note in why]
        # that a view varies less is said of all at once
        apart = finding.view is not None and finding.view.why != "sharper" and not said
        texts = [shared[n.kind].text if n.kind in shared else n.text for n in (*why, *minded(finding))]
        return (*([views.clause(finding)] if apart else []), *texts)

    def row(finding: Finding) -> dict[str, Cell]:
        arrow = " ↑" if not same_better and finding.better == "higher" else ""
        like = numbers.larger(finding)
        change = f"{numbers.change(finding.ratio)} ({numbers.interval_in(finding.ratio, confidence)})"
        texts = {
            "benchmark": visible(finding.benchmark),
            "metric": names.quantity(finding) + arrow,
            "factors": names.settings(finding),
            "base": numbers.value(finding.base, finding.unit, like),
            "head": numbers.value(finding.head, finding.unit, like),
            "change": numbers.in_points(finding, change),
            "threshold": numbers.threshold(finding),
        }
        texts["case"] = " ".join(texts[n] for n in ("benchmark", "metric", "factors") if n not in absent and texts[n])
        verdict = f"{SHAPES[finding.verdict]} {numbers.verdict_of(finding)}"
        cells = {name: Cell(text) for name, text in texts.items()}
        return cells | {"verdict": Cell(verdict, notes=footnotes(finding), tone=finding.verdict)}

    return [row(finding) for finding in found]
