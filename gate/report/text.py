"""Report -> text for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gate.model import Finding, Recorded, Report
from gate.report import cases, failures, wording
from gate.report.grid import Cell, Column, lay_out, paint
from gate.report.plain import clip, last_lines, visible, wrap
from gate.report.view import FailureGroup, grouped, ordered

_STYLES = {
    "regression": "1;31", "error": "1;31", "inconclusive": "33", "accepted": "35", "improvement": "36",
    "unchanged": "2", "pass": "1;32",
}  # fmt: skip
_UNCHANGED = 20
_NOTES = 40
_FAILURES = 10
_RECORDED = 20
_STDERR = 20
_SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def render(report: Report, *, color: bool = False, width: int = 100, every: bool = False) -> str:
    """Write a report for a terminal, ending with a newline.

    color: SGR codes for verdicts and titles, else none at all. width: columns of the terminal; only commands to copy
    and single words go beyond it. every: all unchanged findings, notes, failures and recorded metrics, however many.
    """
    return "\n".join(_Text(report, color, max(width, 20), every).lines()) + "\n"


class _Notes:
    """Footnotes: each text once, numbered in the order of use."""

    def __init__(self, limit: int | None) -> None:
        self.texts: list[str] = []
        self.left_out = 0
        self._limit = limit

    def marks(self, texts: Iterable[str]) -> str:
        numbers = [number for number in map(self._number, texts) if number]
        return "".join(f" {str(number).translate(_SUPERSCRIPT)}" for number in numbers)

    def _number(self, text: str) -> int | None:
        if text not in self.texts:
            if self._limit is not None and len(self.texts) >= self._limit:
                self.left_out += 1
                return None
            self.texts.append(text)
        return self.texts.index(text) + 1


class _Text:
    """One rendering: the report, and how it is to look."""

    def __init__(self, report: Report, color: bool, width: int, every: bool) -> None:
        self.report = report
        self.color = color
        self.width = width
        self.every = every
        self.bold = "1" if color else ""
        self.notes = _Notes(None if every else _NOTES)

    def lines(self) -> list[str]:
        parts = [self.top(), self.failures(), self.findings(), self.more(), self.warnings(), self.rules()]
        lines: list[str] = []
        for part in parts:
            if part:
                lines += ["", *part] if lines else part
        return lines

    def style(self, name: str) -> str:
        return _STYLES.get(name, "") if self.color else ""

    def title(self, text: str) -> str:
        return paint(text, self.bold)

    def wrap(self, text: str, *, first: str = "", rest: str = "") -> list[str]:
        return wrap(text, self.width, first=first, rest=rest)

    def left_out(self, count: int) -> list[str]:
        return self.wrap(f"{count} more are in report.json and report.html.", first="  ", rest="  ") if count else []

    def top(self) -> list[str]:
        report = self.report
        headline = [paint(line, self.style(report.verdict)) for line in self.wrap(wording.headline(report))]
        facts = [
            ("base", wording.commit(report.run.base)),
            ("head", wording.commit(report.run.head)),
            ("chosen", visible(report.run.chosen or "")),
            ("measured", wording.measured(report)),
            ("looks", wording.looks(report)),
            ("memory", wording.memory(report)),
        ]
        lines = [line for name, text in facts if text for line in self.wrap(text, first=f"{name:9} ", rest=" " * 10)]
        return [*headline, *self.wrap(wording.counts(report)), "", *lines]

    # --- findings ---------------------------------------------------------------------------------------------------

    def findings(self) -> list[str]:
        found = ordered(self.report.findings)
        unchanged = sum(f.verdict == "unchanged" for f in found)
        hidden = unchanged if unchanged > _UNCHANGED and not self.every else 0
        shown = found[: len(found) - hidden]
        lines = self.table(shown) if shown else []
        if hidden:
            count = f"{hidden} more are" if shown else f"{hidden} are"
            lines += self.wrap(f"{count} unchanged and not listed here; report.json and report.html list them.")
        if self.notes.texts and lines:
            lines.append("")
        for number, text in enumerate(self.notes.texts, 1):
            mark = str(number).translate(_SUPERSCRIPT)
            lines += self.wrap(text, first=f"{mark} ", rest=" " * (len(mark) + 1))
        if self.notes.left_out:
            lines += self.wrap(f"{self.notes.left_out} more notes are in report.json and report.html.")
        return lines

    def table(self, found: Sequence[Finding]) -> list[str]:
        same = wording.uniform(cases.quantity(f) for f in found)
        same_better = wording.uniform(f.better for f in found)
        confidence = wording.uniform(wording.format_percent(f.ratio.confidence) for f in found)
        title = f"change ({confidence} interval)" if confidence else "change (interval)"
        head = [Column("benchmark"), *([] if same else [Column("metric")])]
        if any(f.factors for f in found):
            head.append(Column("factors"))
        head += [Column("base", right=True), Column("head", right=True), Column(title)]
        # what all rows share stands above the table: it has to fit 80 columns
        threshold = wording.uniform(cases.threshold(f) for f in found)
        head += [*([] if threshold else [Column("threshold", right=True)]), Column("verdict")]
        rows = [self.row(f, head, mark_better=not same_better) for f in found]
        lines = lay_out(head, rows, self.width, style=self.bold) or self.stacked(head, rows)
        direction = f"{same_better} is better" if same_better else "↑ higher is better, the others lower"
        shared = [text for text in (same, direction, f"threshold {threshold}" if threshold else "") if text]
        return [*self.wrap(", ".join(shared)), *lines]

    def row(self, finding: Finding, head: Sequence[Column], *, mark_better: bool) -> list[Cell]:
        arrow = " ↑" if mark_better and finding.better == "higher" else ""
        texts = [] if finding.verdict == "unchanged" else cases.notes(finding)
        marks = self.notes.marks([*texts, *(visible(text) for text in finding.warnings)])
        like = cases.larger(finding)
        cells = {
            "benchmark": Cell(visible(finding.benchmark)),
            "metric": Cell(clip(cases.quantity(finding), 30) + arrow),
            "factors": Cell(clip(cases.factors(finding), 40)),
            "base": Cell(cases.value(finding.base, finding.unit, like)),
            "head": Cell(cases.value(finding.head, finding.unit, like)),
            "threshold": Cell(cases.threshold(finding)),
            "verdict": Cell(finding.verdict, note=marks, style=self.style(finding.verdict)),
        }
        change = Cell(f"{cases.change(finding.ratio)} ({cases.interval(finding.ratio)})")
        return [cells.get(column.title, change) for column in head]

    def stacked(self, head: Sequence[Column], rows: Sequence[Sequence[Cell]]) -> list[str]:
        """A block a finding, for a terminal too narrow for the table."""
        lines = []
        for row in rows:
            cells = {column.title.partition(" ")[0]: cell for column, cell in zip(head, row, strict=True)}
            names = [cells[key].text for key in ("benchmark", "metric", "factors") if key in cells and cells[key].text]
            lines += self.wrap(clip(" ".join(names), 2 * self.width), rest="  ")
            verdict = cells["verdict"]
            lines.append(f"  {paint(verdict.text, verdict.style)}{verdict.note}")
            text = f"{cells['base'].text} to {cells['head'].text}, {cells['change'].text}"
            text += f", threshold {cells['threshold'].text}" if "threshold" in cells else ""
            lines += self.wrap(text, first="  ", rest="    ")
        return lines

    # --- the rest ---------------------------------------------------------------------------------------------------

    def failures(self) -> list[str]:
        groups = grouped(self.report.failures, by_output=False)
        shown = groups if self.every else groups[:_FAILURES]
        lines = [self.title("failures")] if groups else []
        for group in shown:
            lines += self.failure(group)
        return lines + self.left_out(len(groups) - len(shown))

    def failure(self, group: FailureGroup) -> list[str]:
        first = group.first
        where = failures.places(group, 3)
        lines = self.wrap(failures.title(first) + (f" ({where})" if where else ""), first="  ", rest="    ")
        if first.hint:
            lines += self.wrap(visible(first.hint), first="    ", rest="    ")
        output = last_lines(first.stderr, _STDERR)
        if any(output):
            lines.append("    last lines of its output:")
            # clipped rather than wrapped: the shape of a compiler's message is part of it
            lines += [f"      {clip(line, self.width - 6)}".rstrip() for line in output]
        steps = failures.repeat(first)
        if steps:
            lines += ["    to repeat it by hand:", *(f"      {step}" for step in steps)]
        return lines

    def more(self) -> list[str]:
        report = self.report
        lines = []
        if report.new:
            lines += self.wrap(f"new in head, nothing to compare: {failures.names(report.new, 20)}", rest="  ")
        for overall in report.overall:
            count = wording.plural(overall.cases, "case")
            text = f"overall {visible(overall.group)}, {visible(overall.metric)}: {cases.change(overall.ratio)} "
            text += f"({cases.interval(overall.ratio)}), geometric mean of {count}"
            if overall.dropped:
                text += f", without {failures.names(overall.dropped, 5)}"
            lines += self.wrap(text, rest="  ")
        return lines + ([""] if lines and report.recorded else []) + self.recorded()

    def recorded(self) -> list[str]:
        found = self.report.recorded
        shown = found if self.every else found[:_RECORDED]
        if not shown:
            return []
        head = [Column("benchmark"), Column("metric"), Column("base", right=True), Column("head", right=True)]
        head.append(Column("change (interval)"))
        rows = [self.recorded_row(case) for case in shown]
        lines = lay_out(head, rows, self.width - 2, style=self.bold)
        if lines is None:
            lines = [line for row in rows for line in self.recorded_stacked(row)]
        lines = [self.title("recorded, not decided"), *(f"  {line}" for line in lines)]
        return lines + self.left_out(len(found) - len(shown))

    def recorded_row(self, case: Recorded) -> list[Cell]:
        name = ", ".join(text for text in (visible(case.benchmark), cases.factors(case)) if text)
        like = cases.larger(case)
        return [
            Cell(name),
            Cell(clip(cases.quantity(case), 30)),
            Cell(cases.value(case.base, case.unit, like)),
            Cell(cases.value(case.head, case.unit, like)),
            Cell(f"{cases.change(case.ratio)} ({cases.interval(case.ratio)})"),
        ]

    def recorded_stacked(self, row: Sequence[Cell]) -> list[str]:
        name, metric, base, head, change = (cell.text for cell in row)
        text = f"{metric}: {base} to {head}, {change}"
        return [clip(name, self.width - 2), *wrap(text, self.width - 2, first="  ", rest="    ")]

    def warnings(self) -> list[str]:
        texts = [visible(text) for text in self.report.warnings]
        lines = [self.title("warnings")] if texts else []
        return lines + [line for text in texts for line in self.wrap(text, first="  - ", rest="    ")]

    def rules(self) -> list[str]:
        policy = self.report.policy
        facts = [("rules", f"{visible(policy.source)}: {wording.settings(policy.gate)}")]
        facts += [("override", wording.settings(entry)) for entry in policy.override]
        facts += [("accept", wording.settings(entry)) for entry in policy.accept]
        facts.append(("alpha", wording.error_level(self.report)))
        return [line for name, text in facts for line in self.wrap(text, first=f"{name:9} ", rest=" " * 10)]
