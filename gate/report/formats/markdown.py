"""Report -> Markdown for a comment on a pull request, and for the summary of a job, which has room for all of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from gate.decide.importance import is_changed, plain, rank
from gate.document.markdown import NAME, Md, brief, code, escape, link, prose, row, short, size
from gate.model import Finding, RatioInterval, Recorded, Report
from gate.model.case import MEAN, TYPICAL
from gate.model.names import ACTIVE
from gate.report import Links, parts
from gate.report.measurements import Subject
from gate.report.parts import Part, accept, failed, named, why
from gate.units import plural
from gate.words import bars, numbers, reports, sameness, views
from gate.words import findings as finding_words
from gate.words.failures import FailureGroup, grouped
from gate.words.findings import in_row
from gate.words.notes import notes, weigh
from gate.words.short_names import Names
from gate.words.verdict_line import verdict_line
from gate.writing.phrases import listed, machine

LIMIT = 60_000
"""Bytes a comment may have, and so at most as many characters; GitHub refuses more than 65,536 characters."""
SUMMARY_LIMIT = 900_000
"""Bytes a summary may have; GitHub refuses more than 1 MiB a step."""
_ROOMS = ((10, 5, 400), (5, 3, 120), (2, 1, 60), (0, 0, 60))
"""Rows of each verdict, failures, and characters of a text from elsewhere that are shown at first sight, tried from the
first: only names and texts made to be long need the others."""
_LINES, _LINES_OF_SUMMARY = 15, 60
"""Of the output of a failure."""
_NEW = 20
_WIDTH = 300
# bytes of the sentence that says what was left out
_SAID = 400


def render(subject: Subject, links: Links) -> str:
    """Write the comment."""
    return comment(subject.report, links)


def comment(report: Report, links: Links | None = None, *, limit: int = LIMIT, whole: bool = False) -> str:
    """Write a comment of at most `limit` bytes: the line of verdict, failures, ten rows, a caption, the rest folded.

    Where it would be longer, details are left out first, and the comment says so; the verdict is always there. whole:
    it is a summary, which has the details of all findings.
    """
    found, groups = sorted(report.findings, key=rank), grouped(report.failures, by_output=False)
    common, document = in_common(report, found), "summary" if whole else "comment"
    crept = prose(reports.creep(report))
    for rows, most, width in _ROOMS:
        shown, rest = divided(found, rows)
        step, folded = _folded(report, links, shown, rest, groups, common, whole=whole)
        failures = [failed(group, common.names, reports.top(report), width) for group in groups[:most]]
        left = len(groups) - most
        table = findings_table("", shown, common)
        changes = [numbers.word(each) for each in rest if is_changed(each)]
        noisy = [numbers.word(each) for each in rest if each.is_noise]
        below = ", ".join(numbers.counted(changes, more=changes) + numbers.counted(noisy))
        texts = [
            _line(report, links, width),
            "\n".join([*failures, *([f"- and {left} more"] if left > 0 else [])]) if groups else "",
            table.text if table.items else "",
            f"Folded below: {below}." if below else "",
            f"<sub>{_caption(report, links, common)}</sub>",
            f"Creep check {crept}." if crept else "",
            f"**Next:** {step}" if step else "",
        ]
        bare = size(_written(texts, document)) + _SAID
        if bare <= limit:
            return _written(texts, document, *parts.fit(folded, limit - bare))
    return f"{report.verdict.capitalize()}\n"


def summary(report: Report, links: Links | None = None, *, limit: int = SUMMARY_LIMIT) -> str:
    """Write a job summary of at most `limit` bytes: what a comment has, with nothing left out that a suite may have."""
    return comment(report, links, limit=limit, whole=True)


def _folded(
    report: Report,
    links: Links | None,
    shown: Sequence[Finding],
    rest: Sequence[Finding],
    groups: list[FailureGroup],
    common: Marked,
    *,
    whole: bool,
) -> tuple[Md | None, list[Part]]:
    """Write what to do next, where no part of the details goes with it, and these."""
    found, names = [*shown, *rest], common.names
    told = [f for f in (found if whole else shown) if not (plain(f) or in_row(f)) or notes(f)]
    sentences, pasted = parts.reasons(told, names, share=0.5), accept(report, share=0.2)
    outputs = parts.outputs(report, groups, _LINES_OF_SUMMARY if whole else _LINES, share=0.5)
    said = _next_step(report, links, pull=bool(pasted.items))
    # what to do stands as the title of what it needs
    needed = {"regression": pasted, "error": outputs, "inconclusive": sentences}.get(report.verdict)
    first = [needed] if needed is not None and needed.items and said else []
    titled = [msgspec.structs.replace(part, title=Md(f"<b>Next</b>: {prose(said, in_html=True)}")) for part in first]
    tables = folded_tables(rest, common, share=0.8)
    # what changed comes before all that is said of it
    changed = tables[: any(map(is_changed, rest))]
    _, warned = weigh(reports.warnings(report), 0)
    others = [
        *changed,
        sentences,
        pasted,
        Part("Functions that add to the changes", "profile", why(report, 3, _WIDTH, names), 0.3),
        parts.listed(plural(len(warned), "warning"), "warning", warned, 0.3),
        outputs,
        *tables[len(changed) :],
        parts.identical(report, names, share=0.5, first=sameness.too_long(report)),
        machines_table(found, names, share=0.6),
        views_table(found, names, share=0.6),
        recorded_table(report.recorded, names, share=0.6),
        parts.rules(report, first=_measured(report, shown, names)),
    ]
    return prose(said) if said and not titled else None, titled + [p for p in others if p not in first]


def _written(texts: Iterable[str], document: str, folded: Sequence[Part] = (), left_out: Sequence[str] = ()) -> str:
    """Write a comment or a summary: its paragraphs, and the parts that are folded; what has no text takes no room."""
    found = [text for text in texts if text]
    if left_out:
        why = f"Left out here, because a {document} has a limited length"
        found.append(f"{why}: {', '.join(left_out)}. The report has all.")
    found += [f"<details><summary>{escape(part.title)}</summary>\n\n{part.text}\n\n</details>" for part in folded]
    return "\n\n".join(found).strip("\n") + "\n"


def _line(report: Report, links: Links | None, width: int) -> Md:
    line = verdict_line(report)
    gate = f"{brief(links.gate, 80)}: " if links is not None and links.gate else ""
    said = brief(line.said, width)
    if not line.verdict:
        return Md(f"{bars.emoji_of_report(report)} **{gate}{said}**")
    name = f"{code(line.name)} " if line.name else ""
    return Md(f"{bars.emoji_of_report(report)} **{gate}{line.verdict}**: {name}{said}")


def _caption(report: Report, links: Links | None, common: Marked) -> Md:
    """Say in small print what all rows have in common, how to read their bars, how many there are, and where all is."""
    # a row says itself what holds for it alone
    of_all = common.quantity is not None
    decided = views.clauses(f for f in report.findings if f.view is not None and (of_all or f.view.why == "sharper"))
    quantity = None if common.quantity and len(decided) == 1 else common.quantity
    shared = [quantity, f"{common.better} is better" if common.better else None]
    shared += [f"threshold {common.threshold}" if common.threshold else None]
    shared += [f"names begin with {common.names.prefix}" if common.names.prefix else None]
    texts = [*decided, ", ".join(filter(None, shared))]
    of_rows = [*(brief(text, 200) for text in texts), prose(bars.legend("`"))] if report.findings else []
    whole = link("Full report", links.report) if links is not None else None
    run = link("workflow run", links.run) if links is not None else None
    where = " · ".join(filter(None, (whole, run))) if whole is not None else None
    if where is None and run is not None:
        where = f"The full report, report.html, is among the artifacts of the {run}."
    elif where is None and (report.findings or report.identical):
        where = "The full report is the run's report.html."
    return Md(" · ".join(filter(None, [*of_rows, escape(reports.counts(report)), where])))


def _measured(report: Report, shown: Sequence[Finding], names: Names) -> list[Md]:
    """Say what was compared and how much of it, what was not, and what the intervals rest on."""
    base, head = reports.sides(report.run.base, report.run.head)
    sides = [] if base == head == "unknown" else [f"{code(base, 60)} → {code(head, 60)}"]
    said = [*sides, *(brief(text, 200) for text in (reports.caution(report), reports.measured(report)) if text)]
    new = listed([code(names.benchmark(name, NAME)) for name in report.new], _NEW)
    told = ["; ".join(said), f"new in head, not compared: {new}" if new else "", escape(reports.basis(shown))]
    return [Md(text) for text in told if text]


def _next_step(report: Report, links: Links | None, *, pull: bool) -> str:
    """Say what to do next, as a text with code between backticks; empty: nothing. pull: below is the entry to paste."""
    said = reports.next_step(report, pull=pull)
    label = report.policy.gate.get("accept_label")
    on_pull = links is not None and links.pull
    if report.verdict == "regression" and on_pull and isinstance(label, str) and label:
        return f"{said}, or by the label `{short(label, 50).replace('`', '')}`"
    return said


# --- tables -----------------------------------------------------------------------------------------------------------

NO_BREAK = "\u00a0"
"""The blank of a bar: a narrow column breaks at others."""
_BAR = 21


class Marked(msgspec.Struct, frozen=True):
    """What all rows of findings have in common, which stands beside the tables and not in them."""

    scale: bars.Ends
    quantity: str | None
    better: str | None
    threshold: str | None
    names: Names
    """Of the whole report."""


def in_common(report: Report, findings: Sequence[Finding]) -> Marked:
    """Find what a column would repeat, and the scale of the bars of all tables."""
    return Marked(
        bars.scale(findings),
        reports.uniform(map(finding_words.quantity, findings)),
        reports.uniform(f.better for f in findings),
        reports.uniform(map(numbers.threshold, findings)),
        Names(report),
    )


def tabled(
    title: str, noun: str, head: Sequence[str], rows: Iterable[Iterable[Sequence[str]]], share: float = 1.0
) -> Part:
    """Write a table of the rows of each thing; a title that begins with ">" is that of numbers."""
    lines = "|".join("--:" if each.startswith(">") else ":--" for each in head)
    opening = f"{row(*(each.removeprefix('>') for each in head))}\n|{lines}|\n"
    return Part(title, noun, [Md("\n".join(row(*cells) for cells in each)) for each in rows], share, opening)


def findings_table(title: str, findings: Sequence[Finding], common: Marked, share: float = 1.0) -> Part:
    """Write findings as a table, each with a bar of its interval against the threshold."""
    confidence = reports.confidence(findings)
    rows = []
    for finding in findings:
        # a phone shows the first two columns
        verdict = numbers.verdict_of(finding) + finding_words.apart(finding)
        verdict += f"<br>{numbers.MAY_REGRESS}" if finding.may_regress else ""
        quantity = "" if common.quantity else f" {_quantity(finding, finding.statistic, better=not common.better)}"
        name = f"{bars.emoji(finding)}&nbsp;{named(finding, common.names)}{quantity}"
        cells = [
            f"{name}<br>{f'**{verdict}**' if finding.verdict == 'regression' else verdict}",
            f"`{bars.bar(finding, common.scale, _BAR, NO_BREAK)}`",
            _change(finding, finding.ratio, confidence),
            *([] if common.threshold else [escape(numbers.threshold(finding))]),
            _values(finding),
        ]
        rows.append([cells])
    head = ["benchmark", f"`{bars.ends(common.scale, _BAR, NO_BREAK)}`", reports.titled(confidence)]
    head += [*([] if common.threshold else ["threshold"]), "base → head"]
    table = tabled(title, "result", head, rows, share)
    return msgspec.structs.replace(table, kinds=[*map(numbers.word, findings)])


def divided(found: Sequence[Finding], rows: int) -> tuple[list[Finding], list[Finding]]:
    """Divide findings into those to show at first sight and the rest.

    A short table is shown whole; of a long one what changed, so many rows of each verdict.
    """
    if len(found) <= rows:
        return [*found], []
    shown: list[Finding] = []
    count: Counter[str] = Counter()
    for each in filter(is_changed, found):
        count[each.verdict] += 1
        shown += [each] if count[each.verdict] <= rows else []
    first = {*map(id, shown)}
    return shown, [each for each in found if id(each) not in first]


def folded_tables(rest: Sequence[Finding], common: Marked, share: float) -> list[Part]:
    """Write the rows that are not shown at first sight: what changed, what is too noisy, all others."""
    changed, noisy = [*filter(is_changed, rest)], [f for f in rest if f.is_noise]
    tables = []
    for own in (changed, noisy, [*filter(plain, rest)]):
        words = [*map(numbers.word, own)]
        title = ", ".join(numbers.counted(words, words if own is changed else ()))
        tables += [findings_table(title, own, common, share / 3)] if own else []
    return tables


def machines_table(findings: Sequence[Finding], names: Names, share: float = 1.0) -> Part:
    """Write the change of each finding on each machine as a table, where each machine is judged by itself."""
    found = [each for each in findings if each.sessions]
    change = reports.titled(next((at.ratio.confidence for f in found for at in f.sessions), None))
    rows = []
    for f in found:
        name = f"{named(f, names)} {_quantity(f, f.statistic)}"
        each = [(code(machine(at.session, at.host)), _change(f, at.ratio), str(at.rounds)) for at in f.sessions]
        rows.append([(name, *cells) for cells in each])
    title = f"Each machine by itself: {plural(len(found), 'result')}"
    return tabled(title, "result by machine", ["benchmark", "machine", change, ">rounds"], rows, share)


def recorded_table(recorded: Sequence[Recorded], names: Names, share: float = 1.0) -> Part:
    """Write the metrics that are shown and not decided as a table."""
    head = ["benchmark", "metric", reports.titled(reports.confidence(recorded)), "base → head"]
    title = f"{plural(len(recorded), 'metric')} recorded, not decided"
    rows = [
        [(named(each, names), brief(views.metric_name(each.metric), 40), _change(each, each.ratio), _values(each))]
        for each in recorded
    ]
    return tabled(title, "recorded metric", head, rows, share)


def views_table(findings: Sequence[Finding], names: Names, share: float = 1.0) -> Part:
    """Write the views that did not decide as a table, with why another one did."""
    found = [each for each in findings if each.beside]
    rows = []
    for f in found:
        name = f"{named(f, names)}<br>{escape(views.clause(f))}"
        called = [
            f"{escape(views.called(each, f))}<br>{escape(numbers.verdict_of(each) + views.broken_limit(each))}"
            for each in f.beside
        ]
        rows.append(
            [(name, of, _change(each, each.ratio), _values(each)) for of, each in zip(called, f.beside, strict=True)]
        )
    title = f"Other views, which did not decide: {plural(len(found), 'benchmark')}"
    head = ["benchmark", "other view", "change (interval)", "base → head"]
    return tabled(title, "benchmark with other views", head, rows, share)


def _quantity(case: Finding | Recorded, statistic: str, *, better: bool = True) -> Md:
    # a tail stands out from the mean of the same metric
    note = "<br>higher is better" if better and case.better == "higher" else ""
    view = case.view if isinstance(case, Finding) else None
    if isinstance(case, Finding) and view is not None and view.why != "sharper":
        return Md(f"<br>{escape(views.clause(case))}{note}")
    if view is not None or case.metric == ACTIVE or statistic == TYPICAL:
        return Md(f"{unbroken(finding_words.quantity(case))}{note}")
    shown = brief(statistic, 12) if statistic == MEAN else f"**{brief(statistic, 12)}**"
    return Md(f"{brief(case.metric, 40)}&nbsp;{shown}{note}")


def _change(case: Finding | Recorded, ratio: RatioInterval, column: float | None = None) -> Md:
    """Write a change with its interval; column: the confidence that its title names."""
    said = numbers.interval(ratio) if column is None else numbers.interval_in(ratio, column)
    return Md(numbers.in_points(case, f"{escape(numbers.change(ratio))} ({unbroken(said)})"))


def _values(case: Finding | Recorded) -> Md:
    base, head = numbers.both_values(case)
    return Md(f"{unbroken(base)} → {unbroken(head)}")


def unbroken(text: str) -> Md:
    """Escape a short text that stays on one line of a table."""
    return Md("&nbsp;".join(escape(word) for word in text.split(" ")))
