"""Report -> Markdown for a comment on a pull request, and for the summary of a job, which has room for all of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence

from msgspec.structs import replace

from gate.decide.importance import is_changed, plain, rank
from gate.document import bars
from gate.document.document import Code, Facts, Fold, Items, Result, Results, Section, Table
from gate.document.markdown import NAME, Md, brief, code, escape, fit, link, pieces, prose, row, short, size
from gate.model import Finding, Report
from gate.report import Links, parts
from gate.report.material import Shown
from gate.words import failures, numbers, reports, views
from gate.words import notes as notes_
from gate.words.explanations import NAMED
from gate.words.failures import FailureGroup, grouped
from gate.words.findings import conclusion, in_row
from gate.words.notes import Shared, notes, shared, weigh
from gate.words.short_names import WHOLE, Names
from gate.writing.amounts import in_one_unit
from gate.writing.phrases import counted, listed
from gate.writing.units import plural

LIMIT = 60_000
"""Bytes a comment may have, and so at most as many characters; GitHub refuses more than 65,536 characters."""
SUMMARY_LIMIT = 900_000
"""Bytes a summary may have; GitHub refuses more than 1 MiB a step."""
_ROOMS = ((10, 5, 400), (5, 3, 120), (2, 1, 60), (0, 0, 60))
"""Rows of each verdict, failures, and characters of a text from elsewhere that are shown at first sight, tried from the
first: only names and texts made to be long need the others."""
_LINES, _LINES_OF_SUMMARY = 15, 60
"""Of the output of a failure."""
_NAMED, _TEXT = 20, 400
# bytes of the sentence that says what was left out
_SAID = 400
_NO_BREAK = "\u00a0"
"""The blank of a bar: a narrow column breaks at others."""
_BAR = 21


def render(subject: Shown, links: Links) -> str:
    """Write the comment."""
    return comment(subject.report, links)


def comment(report: Report, links: Links | None = None, *, limit: int = LIMIT, whole: bool = False) -> str:
    """Write a comment of at most `limit` bytes: the line of verdict, failures, ten rows, a caption, the rest folded.

    Where it would be longer, details are left out first, and the comment says so; the verdict is always there. whole:
    it is a summary, which has the details of all findings.
    """
    found, groups = sorted(report.findings, key=rank), grouped(report.failures, by_output=False)
    names, document = Names(report), "summary" if whole else "comment"
    results = parts.results(found, names)
    row_of = {id(finding): row for finding, row in zip(found, results.rows, strict=True)}

    def rows(of: Sequence[Finding]) -> list[str]:
        return _of_results([row_of[id(finding)] for finding in of], results)

    first = replace(parts.headline(report), gate=links.gate or "" if links is not None else "")
    crept = prose(reports.creep(report))
    for most_rows, most, width in _ROOMS:
        shown, rest = divided(found, most_rows)
        step, folded = _folded(report, links, shown, rest, groups, rows, names, whole=whole)
        failures = [_failed(group, names, reports.top(report), width) for group in groups[:most]]
        left = len(groups) - most
        changes = [numbers.word(each) for each in rest if is_changed(each)]
        noisy = [numbers.word(each) for each in rest if each.is_noise]
        below = ", ".join(counted(changes, more=changes) + counted(noisy))
        texts = [
            *pieces([replace(first, line=replace(first.line, said=short(first.line.said, width)))]),
            "\n".join([*failures, *([f"- and {left} more"] if left > 0 else [])]) if groups else "",
            "\n".join(rows(shown)),
            f"Folded below: {below}." if below else "",
            f"<sub>{_caption(report, links, results)}</sub>",
            f"Creep check {crept}." if crept else "",
            f"**Next:** {step}" if step else "",
        ]
        bare = size(_written(texts, document)) + _SAID
        if bare <= limit:
            return _written(texts, document, *fit(folded, limit - bare))
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
    rows: Callable[[Sequence[Finding]], list[str]],
    names: Names,
    *,
    whole: bool,
) -> tuple[Md | None, list[Fold]]:
    """Write what to do next, where no part of the details goes with it, and these."""
    found = [*shown, *rest]
    told = [f for f in (found if whole else shown) if not (plain(f) or in_row(f)) or notes(f)]
    sentences, pasted = _reasons(told, names), parts.accept(report, 0.2)
    lines = _LINES_OF_SUMMARY if whole else _LINES
    outputs = _outputs([parts.failure(group, report, names, 0, lines) for group in groups])
    said = _next_step(report, links, pull=bool(pasted.parts))
    # what to do stands as the title of what it needs
    needed = {"regression": pasted, "error": outputs, "inconclusive": sentences}.get(report.verdict)
    first = [needed] if needed is not None and needed.parts and said else []
    titled = [replace(part, title=Md(f"<b>Next</b>: {prose(said, in_html=True)}"), label="") for part in first]
    tables = folded_tables(rest, rows, 0.8)
    # what changed comes before all that is said of it
    changed = tables[: any(map(is_changed, rest))]
    behind = parts.functions(report, names, 3, NAMED)
    _, warned = weigh(reports.warnings(report), 0)
    folds = [
        *changed,
        sentences,
        pasted,
        Fold("Functions that add to the changes", behind.parts, noun="profile", share=0.3),
        Fold(plural(len(warned), "warning"), [Items(warned, "rest")] if warned else [], noun="warning", share=0.3),
        outputs,
        *tables[len(changed) :],
        parts.unaffected(report, names, 0.5),
        _of_table(parts.machines(found, names), "machine result"),
        _of_table(parts.other_views(found, names), "view"),
        _of_table(parts.recorded(report, names), "metric"),
        Fold("What was measured, and by which rules", [Facts(_facts(report, names))], noun="rule"),
    ]
    return prose(said) if said and not titled else None, titled + [p for p in folds if p not in first]


def _of_table(table: Table, noun: str) -> Fold:
    return Fold(table.short, [table], label=plural(len(table.rows), noun), noun=noun, share=0.6)


def _outputs(failed: Sequence[Section]) -> Fold:
    """Show what failing programs wrote last, and how to repeat them by hand; the rest is said above."""
    own = [(each, [part for part in each.parts if isinstance(part, Code) and part.text]) for each in failed]
    told = [replace(each, parts=code) for each, code in own if code]
    return Fold("Output of failures, and how to repeat them by hand", [*told], noun="output", share=0.5)


def _reasons(findings: Sequence[Finding], names: Names) -> Fold:
    """Say of each finding what happened and what to mind, in sentences for a newcomer; what many share is said once."""
    why, minded = shared(findings, notes_.why), shared(findings, notes)
    once = {*why, *minded}

    def said(finding: Finding, kinds: Collection[Hashable]) -> bool:
        return any(kind in kinds for kind, _ in notes_.why(finding))

    items: list[Finding | Shared] = [*why.values()]
    items += [f for f in findings if not said(f, why) or any(kind not in once for kind, _ in notes(f))]
    items += minded.values()
    told = []
    for each in items:
        below: list[str] = []
        if isinstance(each, Shared):
            every = listed([named(finding, names) for finding in each.of], _NAMED)
            first = f"{every}: {brief(each.text, _TEXT)}"
        else:
            below = [f"\n  - {brief(text, _TEXT)}" for kind, text in notes(each) if kind not in once][:5]
            first = named(each, names) + ("" if said(each, once) else f": {brief(conclusion(each), _TEXT)}")
        told.append(Md("".join([first, *below])))
    title = f"Details of {plural(len(findings), 'result')}"
    return Fold(title, [Items([*told], "rest")] if told else [], noun="sentence", share=0.5)


def _failed(group: FailureGroup, names: Names, top: str, width: int) -> Md:
    """Write a group of failures as an item of a list: what, where, and what probably went wrong."""
    first, places = group[0], failures.places(group, 3, top)
    title = f"- {brief(failures.heading(group, names), width)}{f' ({escape(places)})' if places else ''}"
    lines = first.stderr.splitlines() if failures.is_difference(first) else [failures.error(first)]
    told = [*(code(line, width) for line in lines if line), *([brief(first.hint, width)] if first.hint else [])]
    return Md("\n".join([title, *(f"  - {item}" for item in told)]))


def named(case: Finding, names: Names) -> Md:
    """Write the benchmark, without what all names begin with, and its factors."""
    settings, name = names.settings(case, NAME), code(names.tail(case.benchmark), WHOLE)
    return Md(f"{name} {code(settings)}" if settings else name)


def _written(texts: Iterable[str], document: str, folded: Sequence[Md] = (), left_out: Sequence[str] = ()) -> str:
    """Write a comment or a summary: its paragraphs, and what is folded; what has no text takes no room."""
    found = [text for text in texts if text]
    if left_out:
        why = f"Left out here, because a {document} has a limited length"
        found.append(f"{why}: {', '.join(left_out)}. The report has all.")
    return "\n\n".join([*found, *folded]).strip("\n") + "\n"


def _facts(report: Report, names: Names) -> list[tuple[str, str]]:
    """Say what was measured, with the commits as code: a forge would make links of them."""
    told = [code(each, 60) for each in reports.sides(report.run.base, report.run.head) if each != "unknown"]
    rest = [brief(text, 200) for text in (reports.caution(report), reports.measured(report)) if text]
    compared = Md("; ".join([" → ".join(told), *rest]))
    return [(name, compared if told and name == "compared" else text) for name, text in parts.facts(report, names)]


def _caption(report: Report, links: Links | None, results: Results) -> Md:
    """Say in small print what all rows have in common, how to read their bars, how many there are, and where all is."""
    # a row says itself what holds for it alone
    of_all = bool(results.quantity)
    decided = views.clauses(f for f in report.findings if f.view is not None and (of_all or f.view.why == "sharper"))
    quantity = "" if of_all and len(decided) == 1 else results.quantity
    shared = ", ".join(filter(None, (quantity, results.better, results.threshold, results.within)))
    of_rows = [brief(text, 200) for text in (*decided, shared) if text]
    of_rows.append(prose(bars.legend("`")))
    whole = link("Full report", links.report) if links is not None else None
    run = link("workflow run", links.run) if links is not None else None
    where = " · ".join(filter(None, (whole, run))) if whole is not None else None
    if where is None and run is not None:
        where = f"The full report, report.html, is among the artifacts of the {run}."
    elif where is None and (report.findings or report.identical):
        where = "The full report is the run's report.html."
    of_rows = of_rows if report.findings else []
    return Md(" · ".join(filter(None, [*of_rows, escape(reports.counts(report)), where])))


def _next_step(report: Report, links: Links | None, *, pull: bool) -> str:
    """Say what to do next, as a text with code between backticks; empty: nothing. pull: below is the entry to paste."""
    said = reports.next_step(report, pull=pull)
    label = report.policy.gate.get("accept_label")
    on_pull = links is not None and links.pull
    if report.verdict == "regression" and on_pull and isinstance(label, str) and label:
        return f"{said}, or by the label `{short(label, 50).replace('`', '')}`"
    return said


# --- rows -------------------------------------------------------------------------------------------------------------


def _of_results(results: Sequence[Result], own: Results) -> list[str]:
    """Write results as the lines of a table of few columns, of which a phone shows the first two; none: no lines.

    A verdict stands below its name. The first line has the titles, so that none stand above no row.
    """
    titles = ["benchmark", f"`{bars.ends(own.scale, _BAR, _NO_BREAK)}`", f"change ({escape(own.interval)})"]
    titles += [*([] if own.threshold else ["threshold"]), "base → head"]
    lines: list[str] = []
    for each in results:
        what = "" if own.quantity else f"<br>{escape(each.view)}" if each.view else _unbroken(short(each.quantity, 40))
        name = Md(f"{bars.emoji(each.verdict)}&nbsp;{code(each.name, WHOLE)}")
        settings = code(each.settings) if each.settings else ""
        named = " ".join(filter(None, (name, settings, what))) + ("<br>higher is better" if each.higher else "")
        word = escape(", ".join(filter(None, (f"{each.word}{each.by}", each.not_worse))))
        said: str = f"**{word}**" if each.verdict == "regression" else word
        said += f"<br>{each.may_regress}" if each.may_regress else ""
        base = in_one_unit(each.base, each.head)[0]
        cells = [
            f"{named}<br>{said}",
            f"`{bars.bar(each.bar, own.scale, _BAR, _NO_BREAK)}`",
            f"{escape(each.change)} ({_unbroken(each.interval)})",
            *([] if own.threshold else [escape(each.threshold)]),
            f"{_unbroken(base)} → {_unbroken(each.head)}",
        ]
        head = [] if lines else [row(*titles), row(*(["---"] * len(titles)))]
        lines.append(Md("\n".join([*head, row(*cells)])))
    return lines


def _unbroken(text: str) -> Md:
    """Escape a short text that stays on one line of a table."""
    return Md("&nbsp;".join(escape(word) for word in text.split(" ")))


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


def folded_tables(rest: Sequence[Finding], rows: Callable[[Sequence[Finding]], list[str]], share: float) -> list[Fold]:
    """Write the rows that are not shown at first sight: what changed, what is too noisy, all others."""
    changed, noisy = [*filter(is_changed, rest)], [f for f in rest if f.is_noise]
    tables = []
    for own in (changed, noisy, [*filter(plain, rest)]):
        words = (*map(numbers.word, own),)
        title = ", ".join(counted(words, words if own is changed else ()))
        tables += [Fold(title, [Items(rows(own), "line")], share=share / 3, words=words)] if own else []
    return tables
