"""Report -> text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from gate.decide.importance import is_changed, ordered, plain
from gate.document import terminal
from gate.document.document import Facts, Items, Part, Section, Statement, Table
from gate.document.terminal import Cell, Column, Notes, Screen, lay_out, paint, stacked
from gate.model import Finding, Report
from gate.report import parts
from gate.units import plural
from gate.words import bars, notes, numbers, reports, sameness, verdict_line, views
from gate.words import explanations as words
from gate.words import findings as finding_words
from gate.words.bars import SHAPES, STYLES
from gate.words.failures import grouped
from gate.words.short_names import Names
from gate.writing.phrases import listed, more_are, named
from gate.writing.plain import visible, wrap

_TOLD = 3
_TOLD_OF_ALL = 20
_ROWS, _QUIET = 20, 6
"""Rows of a report that fails, and of one that does not."""
_CHANGED, _NOISY = 50, 3
"""Rows of changes and of noise where not all have one."""
_BY_MACHINE = 5
_EXPLAINED = 3
_IDENTICAL = 10
"""Names of what is unaffected."""
_FAILURES = 10
_RECORDED = 20
_STDERR = 20
_WARNINGS, _QUIET_WARNINGS = 5, 3
_OVERALL, _MANY = 2, 5
"""Overall changes, and the cases of which one is worth a line."""


def render(
    report: Report, *, color: bool = False, width: int = 100, every: bool = False, whole: str = "report.html"
) -> str:
    """Write a report for a terminal, ending with a newline.

    color: SGR codes for verdicts and titles, else none at all. width: columns of the terminal; only commands to copy
    and single words go beyond it. every: all unchanged findings, notes, failures and recorded metrics, however many.
    whole: what shows all of them.
    """
    return "\n".join(_Text(report, color, max(width, 20), every, whole).lines()) + "\n"


class _Text:
    """One rendering: the report, and how it is to look."""

    def __init__(self, report: Report, color: bool, width: int, every: bool, whole: str) -> None:
        self.report = report
        self.whole = whole
        self.color = color
        self.width = width
        self.every = every
        self.bold, self.dim = ("1", "2") if color else ("", "")
        self.unsaid = 0
        self.screen = Screen(color, width, width)
        self.names = Names(report)
        # noise and an improvement are all said by their rows
        decided = [f for f in ordered(report.findings) if not plain(f) and (every or not finding_words.in_row(f))]
        # what is said of many is a footnote of their rows
        once = {id(f) for each in notes.shared(decided, notes.why).values() for f in each.of}
        apart = [f for f in decided if id(f) not in once]
        self.told = apart if every and len(apart) <= _TOLD_OF_ALL else apart[:_TOLD]

    def lines(self) -> list[str]:
        lines = self.top()
        failed = self.failures()
        first, later = (failed, []) if self.report.verdict == "error" else ([], failed)
        parts = (
            first, self.findings(), self.step(), later, self.conclusions(), self.explanations(), self.identical(),
            self.machines(), self.other_views(), self.recorded(), self.warnings(), self.facts(),
        )  # fmt: skip
        for part in parts:
            if part:
                lines += ["", *part]
        return lines

    def wrap(self, text: str, *, first: str = "", rest: str = "") -> list[str]:
        return wrap(text, self.width, first=first, rest=rest)

    def drawn(self, *parts: Part) -> list[str]:
        return terminal.lines(parts, self.screen, f"in {self.whole}")

    def tabled(self, table: Table) -> list[str]:
        return self.drawn(Section(table.short[:1].lower() + table.short[1:], "", [table]))

    def top(self) -> list[str]:
        line = self.wrap(f"{bars.of_report(self.report)} {verdict_line.text(self.report)}", rest="  ")
        style = bars.STYLES[self.report.verdict] if self.color else ""
        return [paint(text, style) for text in line]

    def facts(self) -> list[str]:
        """What was measured of what; by which rules, for whoever asks."""
        report, sandbox = self.report, self.report.run.sandbox
        # who asked for none knows it
        off = sandbox is not None and sandbox.why not in (None, "asked", "programs")
        without = [("sandbox", str(sandbox))] if off else []
        large = [o for o in report.overall if o.group == "all" and o.cases >= _MANY]
        overall = []
        for each in large[:_OVERALL]:
            metric = "" if each.metric == "time" else f"{visible(views.metric_name(each.metric))} "
            change = f"{numbers.change(each.ratio)} ({numbers.interval(each.ratio)})"
            overall.append(("overall", f"{metric}{change}, geometric mean of {plural(each.cases, 'result')}"))
        unsaid = f", with {plural(self.unsaid, 'more warning')}" if self.unsaid else ""
        new = [("new", parts.new(report, self.names))]
        brief = [*overall, *new, ("compared", reports.compared(report)), *without, ("more", f"{self.whole}{unsaid}")]
        first = [("unproved", sameness.too_long(report)), ("creep", reports.creep(report))]
        rows = [*first, *(parts.facts(report, self.names) if self.every else brief)]
        lines = self.drawn(Facts([row for row in rows if row[1]]))
        return [paint(line, self.dim) for line in lines]

    # --- findings ---------------------------------------------------------------------------------------------------

    def conclusions(self) -> list[str]:
        # all of it stands in the line of verdict
        first = None if self.every else verdict_line.subject(self.report)
        lines = []
        for finding in self.told:
            name, because = self.names.label(finding), views.because(finding)
            said = f"{name}: {finding_words.conclusion(finding)}" if finding is not first else f"{name}: {because}"
            lines += self.wrap(said, rest="  ") if finding is not first or because else []
            for other in views.others(finding):
                lines += self.wrap(other, first="  ", rest="    ")
        return lines

    def explanations(self) -> list[str]:
        return explanation_lines(self.report, None if self.every else _EXPLAINED, self.screen)

    def step(self) -> list[str]:
        said = reports.next_step(self.report)
        lines = wrap(said, self.width, first="next      ", rest=" " * 10, typed=True) if said else []
        return [paint(line, self.bold) for line in lines]

    def findings(self) -> list[str]:
        found = shown = ordered(self.report.findings)
        most = _ROWS if self.report.verdict in ("regression", "error") else _QUIET
        if len(found) > most and not self.every:
            # of many results the worst of noise, and the rest where changes and noise leave room
            changed, noisy = [f for f in found if is_changed(f)], [f for f in found if f.is_noise][:_NOISY]
            few = [f for f in found if plain(f)]
            shown = [*changed[:_CHANGED], *noisy, *(few if len(few) <= _QUIET - len(changed) - len(noisy) else [])]
        lines: list[str] = []
        below: list[str] = []
        if shown:
            lines, below = findings_table(shown, self.told, self.screen, self.every, self.names)
        rows = {*map(id, shown)}
        if rest := [f for f in found if id(f) not in rows]:
            texts = numbers.counted(map(numbers.word, rest))
            lines += self.wrap(f"{reports.counts(self.report)}. Without a row: {', '.join(texts)}.")
        return [*lines, *below]

    def identical(self) -> list[str]:
        """Name what was not measured because it cannot differ; of all, why the others may."""
        proved = [name for name, _ in sameness.each(self.report)]
        names = named(proved, len(proved) if self.every else _IDENTICAL)
        said = [names, *(f"{text}." for text in sameness.proof(self.report))] if proved else []
        doubts = Facts(sameness.doubts(self.report) if self.every else [])
        may = Section("measured, because it may differ", "", [doubts])
        return self.drawn(Section("unaffected, not measured", "", [Items(said, "rest")]), may)

    def machines(self) -> list[str]:
        most = None if self.every else _BY_MACHINE
        return self.tabled(parts.machines(ordered(self.report.findings), self.names, most))

    def other_views(self) -> list[str]:
        told = {id(finding) for finding in self.told}
        untold = [f for f in ordered(self.report.findings) if id(f) not in told] if self.every else []
        return self.tabled(parts.other_views(untold, self.names))

    # --- the rest ---------------------------------------------------------------------------------------------------

    def failures(self) -> list[str]:
        groups = grouped(self.report.failures, by_output=False)
        shown = groups if self.every else groups[:_FAILURES]
        each: list[Part] = [parts.failure(group, self.report, self.names, 3, _STDERR) for group in shown]
        left = len(groups) - len(shown)
        more = [Statement(f"{more_are(left, 'failure')} in {self.whole}.")] if left else []
        return self.drawn(Section("failures", "", [*each, *more])) if groups else []

    def recorded(self) -> list[str]:
        """Write the metrics that do not decide: all that are asked for, else those that changed by much."""
        if self.every or not (self.report.findings or self.report.identical):
            return self.tabled(parts.recorded(self.report, self.names, None if self.every else _RECORDED))
        texts = [
            f"{self.names.label(case)} {self.names.quantity(case)} {numbers.change_in(case, case.ratio)}"
            for case in reports.moved(self.report)
        ]
        return self.wrap(f"recorded, not decided: {listed(texts)}", rest="  ") if texts else []

    def warnings(self) -> list[str]:
        told = every = reports.warnings(self.report)
        if self.report.verdict == "pass" and not self.every:
            # what does not change a pass is counted
            told = [each for each in told if each.weight == "first"]
        first, later = notes.weigh(told, _WARNINGS if self.report.exit_code else _QUIET_WARNINGS)
        texts = [*first, *later] if self.every else first
        self.unsaid = len(notes.once(every)) - len(texts)
        return self.drawn(Items(texts, "warning"))


_NOTES = 40


_NAMED = ("benchmark", "metric", "factors", "change", "threshold", "verdict", "base", "head", "bar")
_FORMS = (
    (_NAMED, 29),
    (_NAMED, 17),
    (("case", "change", "threshold", "verdict", "base", "head", "bar"), 17),
    (("case", "change", "threshold", "verdict", "base", "head"), 0),
    (("case", "change", "threshold", "verdict"), 0),
    (("case", "change", "word"), 0),
)
"""Which columns a table has, and the width of its bar: the widest first; below the last there is a block a finding."""
_WHOLE = 48
"""Columns of a name that stays whole before others get room."""
_NARROWEST = 12


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
    within = f"names begin with {names.prefix}" if names.prefix else ""
    lines = wrap(", ".join(filter(None, (above["metric"], better, limit, within))), width)
    for columns, room in _FORMS:
        shown = [name for name in columns if name not in absent]
        titles = {"case": "benchmark", "change": reports.titled(confidence), "word": "verdict"}
        titles["bar"] = bars.ends(scale, room) if room else ""
        head = [Column(titles.get(n, n), right=n in ("base", "head", "threshold")) for n in shown]
        drawings = [Cell(bars.bar(f, scale, room) if room else "") for f in found]
        cells = [[({**own, "bar": bar})[name] for name in shown] for own, bar in zip(rows, drawings, strict=True)]
        narrowest = _NARROWEST if columns is _FORMS[-1][0] else _WHOLE
        laid = lay_out(
            head, cells, width, style="1" if color else "", narrowest=narrowest, notes=numbered, styles=styles
        )
        if laid is not None:
            drawn = bool(room)
            lines += laid
            break
    else:
        # a block a finding, where no table fits
        shown = ["case", "verdict", "change", *({"threshold"} - absent), "base", "head"]
        head = [Column(n, right=n in ("base", "head", "threshold")) for n in shown]
        marked = [[own[n].text + numbered.marks(own[n].notes) for n in shown] for own in rows]
        lines += stacked(head, marked, width)
    # of all of it the facts say what intervals rest on
    sharper = [f for f in found if f.view is not None and f.view.why == "sharper"] if every else []
    words_of = [] if every else [reports.no_sign(found) if "verdict" in shown else "", *views.meanings(found)]
    read = [text for text in (bars.legend() if drawn else "", *views.clauses(sharper), *words_of) if text]
    below = wrap(" ".join(f"{reports.capitalized(text)}." for text in read), width) if read else []
    below += numbered.lines(width)
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
        silent = plain(finding) or ((said or finding_words.in_row(finding)) and not every)
        why = [] if silent else notes.why(finding)
        if not any(kind in shared for kind, _ in why):
            # a row by itself: what follows is in the details
            why = [(kind, visible(finding.reason.sentence())) for kind, _ in why]
        # that a view varies less is said of all at once
        apart = finding.view is not None and finding.view.why != "sharper" and not said
        texts = [shared[kind].text if kind in shared else text for kind, text in (*why, *minded(finding))]
        open_ = (
            [f"{numbers.MAY_REGRESS}: its change as measured is beyond the threshold"] if finding.may_regress else []
        )
        return (*open_, *([views.clause(finding)] if apart else []), *texts)

    def row(finding: Finding) -> dict[str, Cell]:
        arrow = " ↑" if not same_better and finding.better == "higher" else ""
        like = numbers.larger(finding)
        change = f"{numbers.change(finding.ratio)} ({numbers.interval_in(finding.ratio, confidence)})"
        texts = {
            "benchmark": names.tail(finding.benchmark),
            "metric": names.quantity(finding) + arrow,
            "factors": names.settings(finding),
            "base": numbers.value(finding.base, finding.unit, like),
            "head": numbers.value(finding.head, finding.unit, like),
            "change": numbers.in_points(finding, change),
            "threshold": numbers.threshold(finding),
        }
        texts["case"] = " ".join(texts[n] for n in ("benchmark", "metric", "factors") if n not in absent and texts[n])
        cells, below, mark = {n: Cell(text) for n, text in texts.items()}, footnotes(finding), SHAPES[finding.verdict]
        words = {"verdict": numbers.verdict_of(finding), "word": numbers.word(finding)}
        return cells | {n: Cell(f"{mark} {text}", notes=below, tone=finding.verdict) for n, text in words.items()}

    return [row(finding) for finding in found]


def explanation_lines(report: Report, most: int | None, screen: Screen) -> list[str]:
    """Name the functions behind each change that was profiled.

    most: explanations, with three functions each; None: all, with all that are listed.
    """
    each = words.NAMED if most is not None else None
    return terminal.lines(parts.functions(report, Names(report), most, each).parts, screen, "")
