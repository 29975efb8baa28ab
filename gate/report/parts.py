"""The parts of a report that several of its formats show, each said once; and what to paste."""

from __future__ import annotations

import datetime
import math
from collections import Counter
from collections.abc import Sequence

from gate.config.config_text import COMMAND_LINE
from gate.decide.importance import ordered, plain
from gate.decide.policy import today
from gate.document import bars
from gate.document.document import (
    Cell,
    Code,
    Column,
    Facts,
    Fold,
    Headline,
    Items,
    Part,
    Result,
    Results,
    Row,
    Section,
    Statement,
    Table,
)
from gate.document.markdown import prose
from gate.model import Finding, Overall, Report, outcomes
from gate.model.profile import Explanation
from gate.model.reasons import BeyondLimit
from gate.model.warnings.estimates import DependsOnMachine
from gate.words import explanations as words
from gate.words import failures, notes, numbers, reports, sameness, views
from gate.words import findings as finding_words
from gate.words.failures import FailureGroup
from gate.words.reports import is_of_programs
from gate.words.short_names import Names
from gate.words.verdict_line import verdict_line
from gate.writing.amounts import amount, both_amounts, known
from gate.writing.last_lines import last_lines
from gate.writing.phrases import machine, more_are, named
from gate.writing.plain import clip, visible
from gate.writing.units import agree, format_confidence, plural

_NAMED = 20
"""Cases of a group that are named, and new benchmarks."""
_LINE = 400
"""Columns of a line of output."""
_PATH = 100


# --- the verdict and the results ------------------------------------------------------------------------------------


def headline(report: Report) -> Headline:
    """Say the verdict, and what to do next."""
    neutral = isinstance(report.summary, outcomes.NothingToCompare)
    return Headline(
        bars.of_report(report),
        bars.emoji_of_report(report),
        verdict_line(report),
        "" if neutral else report.verdict,
        sameness.too_long(report),
        reports.next_step(report),
    )


def results(findings: Sequence[Finding], names: Names) -> Results:
    """Give each finding its row, and what all rows have in common."""
    column = reports.confidence(findings)
    threshold = reports.uniform(map(numbers.threshold, findings))
    better = reports.uniform(f.better for f in findings)
    rows = []
    for f in findings:
        base, head = both_amounts(f.base.value, f.head.value, f.unit)
        rows.append(
            Result(
                name=names.tail(f.benchmark),
                quantity=names.quantity(f, 80),
                # that a view varies less is said of all at once
                view=views.clause(f) if f.view is not None and f.view.why != "sharper" else "",
                settings=names.settings(f, 80),
                higher=f.better == "higher" != better,
                verdict=f.verdict,
                word=numbers.word(f),
                by=numbers.resolution(f) + (" (floor)" if numbers.by_floor(f) else ""),
                not_worse=finding_words.apart(f).removeprefix(", "),
                may_regress=numbers.MAY_REGRESS if f.may_regress else "",
                change=numbers.in_points(f, numbers.change(f.ratio)),
                interval=numbers.in_points(f, numbers.interval_in(f.ratio, column)),
                threshold=numbers.threshold(f),
                base=base,
                head=head,
                bar=bars.extent(f),
                numbers=(f.ratio.estimate, f.base.value, f.head.value),
                warnings=len(notes.notes(f)),
            )
        )
    return Results(
        rows,
        bars.scale([row.bar for row in rows]),
        f"{format_confidence(column)} interval" if column is not None else "interval",
        reports.uniform(map(finding_words.quantity, findings)) or "",
        f"{better} is better" if better else "",
        f"threshold {threshold}" if threshold else "",
        f"names begin with {names.prefix}" if names.prefix else "",
    )


# --- tables ---------------------------------------------------------------------------------------------------------


def machines(findings: Sequence[Finding], names: Names, most: int | None = None) -> Table:
    """Give the change on each machine, where each is judged by itself; most: results of which a text has the rows."""
    apart = [f for f in findings if f.sessions]
    # what differs by machine comes before what needs no look
    quiet = [plain(f) and not any(isinstance(each, DependsOnMachine) for each in f.warnings) for f in apart]
    found = [f for still in (False, True) for f, own in zip(apart, quiet, strict=True) if own is still]
    same = reports.uniform(map(finding_words.quantity, found)) is not None
    title = reports.titled(next((at.ratio.confidence for f in found for at in f.sessions), None))
    rows = []
    for f in found:
        name = names.label(f) + ("" if same else f" {finding_words.quantity(f)}")
        for at in f.sessions:
            change = numbers.change_in(f, at.ratio)
            rows.append(Row([Cell(name), Cell(machine(at.session, at.host)), Cell(change), Cell(str(at.rounds))]))
    head = [Column("benchmark"), Column("machine", fixed=True), Column(title)]
    head.append(Column("rounds", right=True, spare=True))
    shown = None if most is None else sum(len(f.sessions) for f in found[:most])
    return Table("", "Each machine by itself", head, rows, most=shown)


def other_views(findings: Sequence[Finding], names: Names) -> Table:
    """Give the views that did not decide, with why another one did."""
    rows = []
    for f in findings:
        for view in f.beside:
            verdict = numbers.verdict_words(view) + views.broken_limit(view)
            texts = [names.label(f), views.called(view, f), numbers.change_in(view, view.ratio), verdict]
            texts += both_amounts(view.base.value, view.head.value, view.unit)
            rows.append(Row([*map(Cell, texts), Cell(views.clause(f))]))
    head = [Column("benchmark"), Column("view"), Column(reports.titled(None)), Column("verdict")]
    head += [*_sides(), Column("decided", spare=True)]
    return Table("", "Other views, which did not decide", head, rows)


def recorded(report: Report, names: Names, most: int | None = None) -> Table:
    """Give the metrics that are shown and not decided; most: rows of a text."""
    rows = []
    for case in report.recorded:
        like = numbers.larger(case)
        sides = [
            Cell(amount(own.value, case.unit, like), detail=numbers.side_interval(own, case.unit, like))
            for own in (case.base, case.head)
        ]
        quantity = Cell(names.quantity(case), detail="higher is better" if case.better == "higher" else "")
        warned = "; ".join(visible(each.sentence()) for each in case.warnings)
        change = numbers.change_in(case, case.ratio)
        rows.append(Row([Cell(names.label(case)), quantity, Cell(change), *sides, Cell(warned)]))
    head = [Column("benchmark"), Column("metric"), Column(reports.titled(reports.confidence(report.recorded)))]
    head += [*_sides(), Column("warnings", spare=True)]
    if not any(row.cells[-1].text for row in rows):
        head, rows = head[:-1], [Row(row.cells[:-1]) for row in rows]
    note = "Intervals of these metrics are without correction for multiple comparisons."
    return Table("", "Recorded, not decided", head, rows, note=note, most=most)


def _sides() -> list[Column]:
    return [Column("base", right=True), Column("head", right=True)]


def without_names(table: Table) -> Table:
    """Leave out the first column of a table of one result, whose place names it."""
    rows = [Row(row.cells[1:]) for row in table.rows]
    return Table(table.short, table.short, table.head[1:], rows, note=table.note)


# --- sections -------------------------------------------------------------------------------------------------------


def failure(
    group: FailureGroup, report: Report, names: Names | None, places: int, lines: int, place: str = ""
) -> Section:
    """Say what failed, where, why, what it wrote last and how to repeat it; places, lines: so many of each at most."""
    first = group[0]
    # last_lines looks at all of it, and the last lines are at the end
    output = [clip(line, _LINE) for line in last_lines(first.stderr[-_LINE * lines :], lines)]
    told: list[Part] = [
        Statement(failures.places(group, places, reports.top(report))),
        Items([first.hint] if first.hint else [], "rest"),
        Statement("No output." if first.command and not any(output) else ""),
        Code("\n".join(output), title=failures.output_title(first), copied=False),
        Code("\n".join(failures.repeat(first, report.run)), title="to repeat it by hand"),
    ]
    return Section(failures.heading(group, names), place, told, tone="error")


def functions(report: Report, names: Names, most: int | None, each: int | None, *, table: bool = False) -> Section:
    """Name the functions behind each change that was profiled; table: with all their numbers.

    most: explanations, each: functions of one; None: all.
    """
    parts: list[Part] = [
        explanation(found, names, each, f"why-{number}", table=table)
        for number, found in enumerate(report.explanations[:most], 1)
    ]
    parts += [Items([f"{words.unprofiled(own, names)}."], "advice") for own in report.unprofiled[:most]]
    left = len(report.explanations) + len(report.unprofiled) - len(parts)
    parts += [Statement(f"{more_are(left, 'profile')} in report.json.")] if left else []
    reading = (
        "Each side ran under a profiler, once or a few times. These functions are candidates: they decide nothing. "
        "Base and head are what a function costs itself, with the library functions that it calls. “Adds” leaves out "
        "cost that only moved from one function to another, and counts a function that is called more often for its "
        "caller."
    )
    return Section("Functions behind the changes", "why", parts, reading)


def explanation(found: Explanation, names: Names, most: int | None, place: str, *, table: bool) -> Section:
    """Say what the profiles of one change show: the functions, and what moved."""
    shown = [(each, words.line(each, found)) for each in found.candidates[:most]]
    parts: list[Part] = [Items([f"{text}." for text in words.cautions(found)], "rest")]
    if table:
        titles = ("of the change", "adds", "base", "head", "with callees")
        head = [Column("function"), *(Column(title, right=True) for title in titles), Column("notes")]
        rows = []
        for each, line in shown:
            costs = [words.amount(cost, found.unit) for cost in (each.cost.base, each.cost.head)]
            texts = [words.share(each) or "–", words.signed(each.change, found.unit), *costs]
            name = Cell(line.name, tone="regression" if each.in_diff else "", detail=line.place)
            texts += [words.grown(each.inclusive), "; ".join(line.notes)]
            rows.append(Row([name, *map(Cell, texts)]))
        parts.append(Table("", "Functions that add to the change", head, rows))
    else:
        told = [", ".join(filter(None, (line.added, line.place))) for _, line in shown]
        said = ["; ".join([text, *line.notes]) for text, (_, line) in zip(told, shown, strict=True)]
        parts.append(Items([f"{line.name}: {text}" for text, (_, line) in zip(said, shown, strict=True)], "rest"))
    left = len(found.candidates) - len(shown) + found.left_out
    parts += [Statement(f"{more_are(left, 'function')} in report.json.")] if left else []
    parts.append(Items([f"{words.moved(each, found.unit)}." for each in found.moved], "rest", "moved, not added"))
    label = "; ".join(filter(None, (words.profiled_by(found), words.tool(found))))
    return Section(f"why {words.title(found, names)}", place, parts, label=label, tone="regression")


def unaffected(report: Report, names: Names, share: float = 1.0) -> Fold:
    """Say what was not measured because it cannot differ, below what differs between the sides; and why others may."""
    proved, doubts = sameness.each(report), sameness.doubts(report)
    long = sameness.too_long(report)
    said = [*([long] if long else []), *([f"{sameness.heading(report)}"] if proved else []), *sameness.proof(report)]
    rows = [Row([Cell(names.benchmark(name, _PATH)), Cell(why)]) for name, why in proved]
    parts: list[Part] = [Statement(f"{text}.") for text in said]
    parts.append(Table("", "Unaffected", [Column("benchmark"), Column("proved by")], rows))
    if doubts:
        why = Facts([(names.benchmark(name, _PATH), because) for name, because in doubts])
        were = agree(len(doubts), "was", "were")
        parts.append(Fold(f"Why {plural(len(doubts), 'benchmark')} {were} measured", [why]))
    title = "Unaffected, not measured" if proved else "Not proved unaffected"
    label = plural(len(proved or doubts), "benchmark")
    return Fold(title, parts, "identical", label=label, noun="unaffected benchmark", share=share)


def new(report: Report, names: Names) -> str:
    """Name the benchmarks that head alone has; "": none."""
    found = named([names.benchmark(name) for name in report.new], _NAMED)
    return f"{found}: in head alone, not compared" if found else ""


def facts(report: Report, names: Names) -> list[tuple[str, str]]:
    """Say what was measured of what, what the intervals rest on, and by which rules."""
    measured = [("compared", reports.compared(report)), ("intervals", reports.basis(report.findings))]
    found = [*measured, *beside(report, names), *reports.behind(report)]
    return [(name, text) for name, text in found if text]


def beside(report: Report, names: Names) -> list[tuple[str, str]]:
    """Give the change of each group of cases, and name the benchmarks that head alone has."""
    found = [(finding_words.overall_name(each), _overall(report, each)) for each in report.overall]
    return [*found, *([("new", new(report, names))] if report.new else [])]


def _overall(report: Report, each: Overall) -> str:
    text = finding_words.overall(each)
    if report.run.looks is not None and each.units < report.run.rounds.done:
        text += ", over the rounds that all of them have"
    return text + (f", without {named(each.dropped, _NAMED)}" if each.dropped else "")


# --- entries that let the regressions of a report through -------------------------------------------------------------

_ENTRIES = 3
# one that holds a name made to be long is no help
_LONGEST = 2000
_ACCEPTED = datetime.timedelta(weeks=8)
"""From the day of the run on: an entry must have an end, which whoever pastes it may change."""


def accept(report: Report, share: float = 1.0) -> Fold:
    """Write at most three entries, for the regressions that matter most; none where a size cannot be told."""
    several = Counter(f.benchmark for f in report.findings)
    regressed = (f for f in ordered(report.findings) if f.verdict == "regression" and _size(f) is not None)
    # two given programs have no rules that an entry could be in
    found = [] if is_of_programs(report) else [f for f in regressed if not isinstance(f.reason, BeyondLimit)]
    until = _until(report.run.created)
    entries: dict[str, None] = {}
    for f in found:
        alone = several[f.benchmark] == 1
        # any view of the benchmark may show the regression the next time
        entries |= dict.fromkeys(entry(f, until, alone=alone, view=view) for view in ([f] if alone else f.views))
    kept = [text for text in entries if len(text) <= _LONGEST][:_ENTRIES]
    more = " Write the others in the same way." if len(kept) < len(entries) else ""
    whose = report.policy.whose
    source = clip(visible(report.policy.source), 200)
    file, later = "Add to perfgate.toml", f" once it is in the rules that decide: {source}"
    if whose is not None and whose.name == COMMAND_LINE:
        file, later = "Write perfgate.toml by `--save`, and add to it", " in checks by that file"
    said = f"{file}, with your reason; `until` is the last day it holds. It takes effect{later}.{more}"
    parts: list[Part] = [Statement(prose(said)), *(Code(text, language="toml") for text in kept)]
    return Fold("To accept a known regression", parts if kept else [], noun="entry to paste", share=share)


def entry(finding: Finding, until: datetime.date, *, alone: bool, view: Finding | None = None) -> str:
    """Write an entry of TOML that covers a regression of the size that was estimated, up to a day.

    alone: the benchmark has no other finding, which the entry would cover as well. view: that it is for; None: the one
    that decided.
    """
    which = [("benchmark", finding.benchmark)]
    if not alone:
        own = view or finding
        which += [("metric", own.metric), ("statistic", own.statistic)]
    # round up to whole percents, or to two digits below 1%; 8% may have become 8.000000000000007%
    percent = round((_size(finding) or 0.0) * 100, 9)
    places = 0 if percent >= 1 else 1 - math.floor(math.log10(max(percent, 1e-9)))
    up_to = f"{math.ceil(percent * 10**places) / 10**places:.{places}f}%"
    lines = ["[[accept]]", *(f"{key} = {_quoted(name)}" for key, name in which), f'up_to = "{up_to}"']
    return "\n".join([*lines, f"until = {until}", 'reason = "..."'])


def _until(created: str | None) -> datetime.date:
    """Return when an entry ends, by the day of a run; by today where it does not say, or says what cannot be."""
    try:
        return datetime.date.fromisoformat((created or "")[:10]) + _ACCEPTED
    except (ValueError, OverflowError):
        return today() + _ACCEPTED


def _size(finding: Finding) -> float | None:
    """Return by how much head is worse, as `up_to` takes it."""
    ratio = finding.ratio.estimate
    if not known(ratio) or ratio <= 0:
        return None
    size = (ratio if finding.better == "lower" else 1 / ratio) - 1
    return size if size > 0 else None


def _quoted(name: str) -> str:
    """Write a name as a string of TOML, visible on one line: a glob that means no other name."""
    literal = "".join(f"[{c}]" if c in "*?[" else c for c in name) if any(c in "*?" for c in name) else name
    text = ""
    for character in literal:
        number = ord(character)
        if character.isprintable():
            text += f"\\{character}" if character in '"\\' else character
        elif 0xD800 <= number <= 0xDFFF:
            # TOML has no surrogates; in a glob this stands for any one character
            text += "?"
        else:
            text += f"\\u{number:04X}" if number < 0x10000 else f"\\U{number:08X}"
    return f'"{text}"'
