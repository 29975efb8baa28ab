"""Report -> text for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec.structs import replace

from gate.decide.importance import is_changed, ordered, plain
from gate.document import terminal
from gate.document.document import Document, Facts, Footnotes, Items, Part, Section, Statement, Table
from gate.document.terminal import Screen
from gate.model import Finding, Report
from gate.report import Links, parts
from gate.report.material import Shown
from gate.words import explanations as words
from gate.words import findings as finding_words
from gate.words import notes, numbers, reports, sameness, verdict_line, views
from gate.words.failures import grouped
from gate.words.short_names import Names
from gate.writing import phrases
from gate.writing.phrases import counted, more_are, named
from gate.writing.plain import visible
from gate.writing.units import plural

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


def render(subject: Shown, links: Links) -> str:  # noqa: ARG001  # of the Protocol
    """Write the text without colour, of no terminal's width."""
    return written(subject.report)


def written(
    report: Report, *, color: bool = False, width: int = 100, every: bool = False, whole: str = "report.html"
) -> str:
    """Write a report for a terminal, ending with a newline.

    color: SGR codes for verdicts and titles, else none at all. width: columns of the terminal; only commands to copy
    and single words go beyond it. every: all unchanged findings, notes, failures and recorded metrics, however many.
    whole: what shows all of them.
    """
    sections = [*_Text(report, every, whole).sections()]
    document = Document("perfgate", "", sections, "" if every else f"in {whole}", "")
    return terminal.render(document, Screen(color, width, width))


class _Text:
    """One rendering: the report, and how much of it."""

    def __init__(self, report: Report, every: bool, whole: str) -> None:
        self.report = report
        self.whole = whole
        self.every = every
        self.found = ordered(report.findings)
        self.names = Names(report)
        # noise and an improvement are all said by their rows
        decided = [f for f in self.found if not plain(f) and (every or not finding_words.in_row(f))]
        # what is said of many is a footnote of their rows
        once = {id(f) for each in notes.shared(decided, notes.why).values() for f in each.of}
        apart = [f for f in decided if id(f) not in once]
        self.told = apart if every and len(apart) <= _TOLD_OF_ALL else apart[:_TOLD]

    def sections(self) -> Iterable[list[Part]]:
        report, names, every = self.report, self.names, self.every
        yield [parts.headline(report)]
        failed, error = self.failures(), report.verdict == "error"
        yield failed if error else []
        yield self.findings()
        said = reports.next_step(report)
        # as wide as the names of the facts below
        yield [Facts([("next    ", said)], weight="loud")] if said else []
        yield [] if error else failed
        yield self.conclusions()
        yield functions(report, names, None if every else _EXPLAINED)
        yield self.identical()
        yield [_titled(parts.machines(self.found, names, None if every else _BY_MACHINE))]
        told = {id(finding) for finding in self.told}
        yield [_titled(parts.other_views([f for f in self.found if every and id(f) not in told], names))]
        yield self.recorded()
        warnings, unsaid = self.warnings()
        yield [Items(warnings, "warning")]
        yield [Facts([(name, text) for name, text in self.facts(unsaid) if text], weight="quiet")]

    def facts(self, unsaid: int) -> list[tuple[str, str]]:
        """Say what was measured of what; by which rules, for whoever asks."""
        report, sandbox = self.report, self.report.run.sandbox
        first = [("unproved", sameness.too_long(report)), ("creep", reports.creep(report))]
        if self.every:
            return [*first, *parts.facts(report, self.names)]
        for each in [o for o in report.overall if o.group == "all" and o.cases >= _MANY][:_OVERALL]:
            metric = "" if each.metric == "time" else f"{visible(views.metric_name(each.metric))} "
            change = f"{numbers.change(each.ratio)} ({numbers.interval(each.ratio)})"
            first.append(("overall", f"{metric}{change}, geometric mean of {plural(each.cases, 'result')}"))
        # who asked for none knows it
        off = sandbox is not None and sandbox.why not in (None, "asked", "programs")
        first += [("new", parts.new(report, self.names)), ("compared", reports.compared(report))]
        more = f", with {plural(unsaid, 'more warning')}" if unsaid else ""
        return [*first, ("sandbox", str(sandbox) if off else ""), ("more", f"{self.whole}{more}")]

    def conclusions(self) -> list[Part]:
        # all of it stands in the line of verdict
        first = None if self.every else verdict_line.subject(self.report)
        lines = []
        for finding in self.told:
            said = views.because(finding) if finding is first else finding_words.conclusion(finding)
            texts = [text for text in (said, *views.others(finding)) if text]
            lines += [f"{self.names.label(finding)}: {'; '.join(texts)}"] if texts else []
        return [Items(lines, "rest")]

    def findings(self) -> list[Part]:
        found = shown = self.found
        most = _ROWS if self.report.verdict in ("regression", "error") else _QUIET
        if len(found) > most and not self.every:
            # of many results the worst of noise, and the rest where changes and noise leave room
            changed, noisy = [f for f in found if is_changed(f)], [f for f in found if f.is_noise][:_NOISY]
            few = [f for f in found if plain(f)]
            shown = [*changed[:_CHANGED], *noisy, *(few if len(few) <= _QUIET - len(changed) - len(noisy) else [])]
        of = footnotes(shown, self.told, self.every)
        table = parts.results(shown, self.names)
        rows = [
            replace(row, quantity=self.names.quantity(f), settings=self.names.settings(f), notes=of(f))
            for row, f in zip(table.rows, shown, strict=True)
        ]
        # of all of it the facts say what intervals rest on
        sharper = [f for f in shown if f.view is not None and f.view.why == "sharper"] if self.every else []
        said = (*views.clauses(sharper), *([] if self.every else views.meanings(shown)))
        own: list[Part] = [replace(table, rows=rows, caught="" if self.every else reports.no_sign(shown), reading=said)]
        listed = {*map(id, shown)}
        if rest := [f for f in found if id(f) not in listed]:
            texts = counted(map(numbers.word, rest))
            own.append(Statement(f"{reports.counts(self.report)}. Without a row: {', '.join(texts)}."))
        return [*own, Footnotes()]

    def identical(self) -> list[Part]:
        """Name what was not measured because it cannot differ; of all, why the others may."""
        proved = [name for name, _ in sameness.each(self.report)]
        names = named(proved, len(proved) if self.every else _IDENTICAL)
        said = [names, *(f"{text}." for text in sameness.proof(self.report))] if proved else []
        doubts = [f"{name}: {why}" for name, why in sameness.doubts(self.report)] if self.every else []
        may = Section("measured, because it may differ", "", [Items(doubts, "rest")])
        return [Section("unaffected, not measured", "", [Items(said, "rest")]), may]

    def failures(self) -> list[Part]:
        groups = grouped(self.report.failures, by_output=False)
        shown = groups if self.every else groups[:_FAILURES]
        each: list[Part] = [parts.failure(group, self.report, self.names, 3, _STDERR) for group in shown]
        left = len(groups) - len(shown)
        more = [Statement(f"{more_are(left, 'failure')} in {self.whole}.")] if left else []
        return [Section("failures", "", [*each, *more])]

    def recorded(self) -> list[Part]:
        """Write the metrics that do not decide: all that are asked for, else those that changed by much."""
        if self.every or not (self.found or self.report.identical):
            return [_titled(parts.recorded(self.report, self.names, None if self.every else _RECORDED))]
        texts = [
            f"{self.names.label(case)} {self.names.quantity(case)} {numbers.change_in(case, case.ratio)}"
            for case in reports.moved(self.report)
        ]
        return [Items([f"recorded, not decided: {phrases.listed(texts)}"] if texts else [], "rest")]

    def warnings(self) -> tuple[list[str], int]:
        """Give the warnings that are said, and how many are not."""
        told = every = reports.warnings(self.report)
        if self.report.verdict == "pass" and not self.every:
            # what does not change a pass is counted
            told = [each for each in told if each.weight == "first"]
        first, later = notes.weigh(told, _WARNINGS if self.report.exit_code else _QUIET_WARNINGS)
        texts = [*first, *later] if self.every else first
        return texts, len(notes.once(every)) - len(texts)


def _titled(table: Table) -> Section:
    return Section(table.short[:1].lower() + table.short[1:], "", [table])


def functions(report: Report, names: Names, most: int | None) -> list[Part]:
    """Name the functions behind each change that was profiled.

    most: explanations, with three functions each; None: all, with all that are listed.
    """
    return parts.functions(report, names, most, words.NAMED if most is not None else None).parts


def footnotes(found: Sequence[Finding], told: Sequence[Finding], every: bool) -> Callable[[Finding], tuple[str, ...]]:
    """Return what writes the footnotes of a row.

    told: those told of in sentences, whose reasons need none. every: all notes, also those for experts.
    """
    in_sentences = {id(finding) for finding in told}

    def minded(finding: Finding) -> list[notes.Note]:
        return notes.notes(finding, every=every)

    shared = notes.shared(found, notes.why) | notes.shared(found, minded)

    def of(finding: Finding) -> tuple[str, ...]:
        said = id(finding) in in_sentences
        silent = plain(finding) or ((said or finding_words.in_row(finding)) and not every)
        why = [] if silent else notes.why(finding)
        if not any(kind in shared for kind, _ in why):
            # a row by itself: what follows is in the details
            why = [(kind, visible(finding.reason.sentence())) for kind, _ in why]
        # that a view varies less is said of all at once
        apart = finding.view is not None and finding.view.why != "sharper" and not said
        texts = [shared[kind].text if kind in shared else text for kind, text in (*why, *minded(finding))]
        open_ = [f"{numbers.MAY_REGRESS}: its change as measured is beyond the threshold"] * finding.may_regress
        return (*open_, *([views.clause(finding)] if apart else []), *texts)

    return of
