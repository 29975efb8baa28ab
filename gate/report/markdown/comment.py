"""Report -> Markdown for a comment on a pull request, and for the summary of a job, which has room for all of it."""

from __future__ import annotations

import datetime
import math
from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from gate.config.config_text import COMMAND_LINE
from gate.decide.importance import is_changed, ordered, plain
from gate.decide.policy import today
from gate.document.markdown import NAME, Md, block, brief, code, escape, link, prose, short, size
from gate.model import Finding, Report
from gate.model.reasons import BeyondLimit
from gate.report import Links
from gate.report.markdown import parts
from gate.report.markdown.parts import Marked, Part, failed, findings_table, why
from gate.units import plural
from gate.words import bars, numbers, reports, sameness, views
from gate.words.failures import FailureGroup, grouped
from gate.words.findings import in_row
from gate.words.notes import notes, weigh
from gate.words.reports import is_of_programs
from gate.words.short_names import Names
from gate.words.verdict_line import verdict_line
from gate.writing.amounts import known

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
_ENTRIES = 3
# one that holds a name made to be long is no help
_LONGEST = 2000
_ACCEPTED = datetime.timedelta(weeks=8)
"""From the day of the run on: an entry must have an end, which whoever pastes it may change."""


def render(report: Report, links: Links | None = None, *, limit: int = LIMIT, whole: bool = False) -> str:
    """Write a comment of at most `limit` bytes: the line of verdict, failures, ten rows, a caption, the rest folded.

    Where it would be longer, details are left out first, and the comment says so; the verdict is always there. whole:
    it is a summary, which has the details of all findings.
    """
    found, groups = ordered(report.findings), grouped(report.failures, by_output=False)
    common, document = parts.in_common(report, found), "summary" if whole else "comment"
    crept = prose(reports.creep(report))
    for rows, most, width in _ROOMS:
        shown, rest = parts.divided(found, rows)
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
    return render(report, links, limit=limit, whole=True)


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
    tables = parts.folded_tables(rest, common, share=0.8)
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
        parts.machines_table(found, names, share=0.6),
        parts.views_table(found, names, share=0.6),
        parts.recorded_table(report.recorded, names, share=0.6),
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
    more = f" and {len(report.new) - _NEW} more" if len(report.new) > _NEW else ""
    new = ", ".join(code(names.benchmark(name, NAME)) for name in report.new[:_NEW])
    told = ["; ".join(said), f"new in head, not compared: {new}{more}" if new else "", escape(reports.basis(shown))]
    return [Md(text) for text in told if text]


def _next_step(report: Report, links: Links | None, *, pull: bool) -> str:
    """Say what to do next, as a text with code between backticks; empty: nothing. pull: below is the entry to paste."""
    said = reports.next_step(report, pull=pull)
    label = report.policy.gate.get("accept_label")
    on_pull = links is not None and links.pull
    if report.verdict == "regression" and on_pull and isinstance(label, str) and label:
        return f"{said}, or by the label `{short(label, 50).replace('`', '')}`"
    return said


# --- entries that let the regressions of a report through -------------------------------------------------------------


def accept(report: Report, share: float = 1.0) -> Part:
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
    file, later = "Add to perfgate.toml", f" once it is in the rules that decide: {brief(report.policy.source, 200)}"
    if whose is not None and whose.name == COMMAND_LINE:
        file, later = "Write perfgate.toml by `--save`, and add to it", " in checks by that file"
    opening = f"{file}, with your reason; `until` is the last day it holds. It takes effect{later}.{more}\n\n"
    return Part(
        "To accept a known regression", "entry to paste", [block(text, "toml") for text in kept], share, opening, "\n\n"
    )


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
