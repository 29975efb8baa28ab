"""The parts of a comment and of a job summary: lists and tables of which as many lines are shown as there is room."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from gate.document.markdown import NAME, Md, block, brief, code, escape, short, size
from gate.model import Failure, Finding, RatioInterval, Recorded, Report
from gate.model.case import MEAN, TYPICAL
from gate.model.names import ACTIVE
from gate.units import plural
from gate.words import bars, cost, failures, marks, notes, numbers, reports, sameness, views
from gate.words import findings as finding_words
from gate.words.failures import FailureGroup
from gate.words.names import Names
from gate.words.notes import Shared, shared
from gate.writing.phrases import machine
from gate.writing.plain import last_lines, visible

NO_BREAK = "\u00a0"
"""The blank of a bar: a narrow column breaks at others."""
_BAR = 21
_TEXT = 400
_NAMED = 20
# of the tags and blank lines around a part, and of what its title gets when it is cut
_FRAME = 120


@dataclass(frozen=True, slots=True)
class Written(Sequence[Md]):
    """Things that are written only when they are asked for: of thousands most are left out."""

    things: Sequence[Any]
    write: Callable[[Any], Md]

    def __len__(self) -> int:
        return len(self.things)

    def __getitem__(self, index: Any) -> Any:
        return self.write(self.things[index])


class Part(msgspec.Struct, frozen=True):
    """A titled list or table. noun: what an item is called where some are left out; share: of the room at most."""

    title: str
    noun: str
    items: Sequence[Md]
    share: float = 1.0
    opening: str = ""
    between: str = "\n"

    @property
    def text(self) -> Md:
        """The whole of it, without its title."""
        return Md(self.opening + self.between.join(self.items))


class Fitted(msgspec.Struct, frozen=True):
    """The parts as far as there was room, and what was left out: "290 findings"."""

    parts: list[Part]
    left_out: list[str]


def fit(parts: Sequence[Part], room: int) -> Fitted:
    """Keep of each part as many items as the room allows, in bytes, the first parts first; never half an item.

    First each part gets its share at most, so that no long one takes all; then what is left goes to the first.
    """
    kept: list[list[Md]] = [[] for _ in parts]
    for limited in (True, False):
        for part, items in zip(parts, kept, strict=True):
            room -= _add(part, items, part.share * room if limited else room)
    left = [(len(part.items) - len(items), part.noun) for part, items in zip(parts, kept, strict=True)]
    return Fitted(
        [_cut(part, items) for part, items in zip(parts, kept, strict=True) if items],
        [plural(more, noun) for more, noun in left if more],
    )


def _add(part: Part, items: list[Md], limit: float) -> int:
    """Add the next items of a part that the limit allows; return the bytes they take."""
    used = 0 if items else _FRAME + size(part.title) + size(part.opening)
    start = len(items)
    while len(items) < len(part.items):
        item = part.items[len(items)]
        wanted = size(item) + len(part.between)
        if used + wanted > limit:
            break
        used += wanted
        items.append(item)
    return used if len(items) > start else 0


def _cut(part: Part, items: list[Md]) -> Part:
    left_out = len(part.items) > len(items)
    title = Md(f"{escape(part.title)} (the first {len(items)})") if left_out else part.title
    return msgspec.structs.replace(part, items=items, title=title)


# --- tables ---------------------------------------------------------------------------------------------------------


class Marked(msgspec.Struct, frozen=True):
    """What all rows of findings have in common, which stands beside the tables and not in them."""

    scale: bars.Scale
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


def findings_table(title: str, findings: Sequence[Finding], common: Marked, share: float = 1.0) -> Part:
    """Write findings as a table, each with a bar of its interval against the threshold."""
    ends = bars.ends(common.scale, _BAR, NO_BREAK)
    confidence = reports.confidence(findings)
    titles = ["benchmark", f"`{ends}`", reports.titled(confidence)]
    titles += [*([] if common.threshold else ["threshold"]), "base → head"]
    opening = f"{_row(*titles)}\n|{':--|' * len(titles)}\n"
    return Part(
        title, "finding", Written(findings, lambda each: _finding_row(each, common, confidence)), share, opening
    )


def more_findings(found: Sequence[Finding], shown: int) -> str:
    """Name the rows that are not shown at first sight: "290 more findings"."""
    return plural(len(found) - shown, "more finding" if shown else "finding")


def _finding_row(finding: Finding, common: Marked, confidence: float | None) -> Md:
    # a phone shows the first two columns
    verdict = numbers.verdict_of(finding) + finding_words.apart(finding)
    quantity = "" if common.quantity else f" {_quantity(finding, finding.statistic, better=not common.better)}"
    return _row(
        f"{marks.emoji(finding)}&nbsp;{named(finding, common.names)}{quantity}"
        f"<br>{f'**{verdict}**' if finding.verdict == 'regression' else verdict}",
        f"`{bars.bar(finding, common.scale, _BAR, NO_BREAK)}`",
        Md(numbers.in_points(finding, _change(finding.ratio, confidence))),
        *([] if common.threshold else [escape(numbers.threshold(finding))]),
        _values(finding),
    )


def machines_table(findings: Sequence[Finding], names: Names, share: float = 1.0) -> Part:
    """Write the change of each finding on each machine as a table, where each machine is judged by itself."""
    found = [each for each in findings if each.sessions]
    title = reports.titled(next((at.ratio.confidence for f in found for at in f.sessions), None))
    opening = f"| benchmark | machine | {title} | rounds |\n|:--|:--|:--|--:|\n"
    title = f"Each machine by itself: {plural(len(found), 'finding')}"
    return Part(title, "finding by machine", Written(found, lambda each: _machine_rows(each, names)), share, opening)


def _machine_rows(finding: Finding, names: Names) -> Md:
    return Md(
        "\n".join(
            _row(
                f"{named(finding, names)} {_quantity(finding, finding.statistic)}",
                code(machine(at.session, at.host)),
                Md(numbers.in_points(finding, _change(at.ratio))),
                escape(str(at.rounds)),
            )
            for at in finding.sessions
        )
    )


def recorded_table(recorded: Sequence[Recorded], names: Names, share: float = 1.0) -> Part:
    """Write the metrics that are shown and not decided as a table."""
    opening = (
        f"| benchmark | metric | {reports.titled(reports.confidence(recorded))} | base → head |\n|:--|:--|:--|:--|\n"
    )
    title = f"{plural(len(recorded), 'metric')} recorded, not decided"
    return Part(title, "recorded metric", Written(recorded, lambda each: _recorded_row(each, names)), share, opening)


def _recorded_row(case: Recorded, names: Names) -> Md:
    change = Md(numbers.in_points(case, _change(case.ratio)))
    return _row(named(case, names), brief(views.metric_name(case.metric), 40), change, _values(case))


def views_table(findings: Sequence[Finding], names: Names, share: float = 1.0) -> Part:
    """Write the views that did not decide as a table, with why another one did."""
    found = [each for each in findings if each.beside]
    title = f"Other views, which did not decide: {plural(len(found), 'benchmark')}"
    opening = "| benchmark | other view | change (interval) | base → head |\n|:--|:--|:--|:--|\n"
    return Part(title, "benchmark with other views", Written(found, lambda f: _view_rows(f, names)), share, opening)


def _view_rows(finding: Finding, names: Names) -> Md:
    rows = [
        _row(
            f"{named(finding, names)}<br>{escape(views.clause(finding))}",
            f"{escape(views.called(each, finding))}<br>{escape(numbers.verdict_of(each))}",
            Md(numbers.in_points(each, _change(each.ratio))),
            _values(each),
        )
        for each in finding.beside
    ]
    return Md("\n".join(rows))


def _row(*cells: str) -> Md:
    return Md(f"| {' | '.join(cells)} |")


def named(case: Finding | Recorded, names: Names) -> Md:
    """Write the benchmark and its factors."""
    settings, name = names.settings(case, NAME), code(names.benchmark(case.benchmark, NAME))
    return Md(f"{name} {code(settings)}" if settings else name)


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


def _change(ratio: RatioInterval, column: float | None = None) -> Md:
    """Write a change with its interval; column: the confidence that its title names."""
    said = numbers.interval(ratio) if column is None else numbers.interval_in(ratio, column)
    return Md(f"{escape(numbers.change(ratio))} ({unbroken(said)})")


def _values(case: Finding | Recorded) -> Md:
    base, head = numbers.both_values(case)
    return Md(f"{unbroken(base)} → {unbroken(head)}")


def unbroken(text: str) -> Md:
    """Escape a short text that stays on one line of a table."""
    return Md("&nbsp;".join(escape(word) for word in text.split(" ")))


# --- lists ----------------------------------------------------------------------------------------------------------


def reasons(findings: Sequence[Finding], names: Names, share: float = 1.0) -> Part:
    """Say of each finding what happened and what to mind, in sentences for a newcomer; what many share is said once."""
    why, minded = shared(findings, notes.why), shared(findings, notes.notes)
    once = {*why, *minded}
    items: list[Finding | Shared] = [*why.values()]
    items += [f for f in findings if not _said(f, why) or any(note.kind not in once for note in notes.notes(f))]
    items += minded.values()
    title = f"In words, with warnings: {plural(len(findings), 'finding')}"
    return Part(title, "sentence", Written(items, lambda each: _reason(each, names, once)), share)


def _said(finding: Finding, once: Collection[Hashable]) -> bool:
    return any(note.kind in once for note in notes.why(finding))


def _reason(each: Finding | Shared, names: Names, once: Collection[Hashable]) -> Md:
    if isinstance(each, Shared):
        more = len(each.of) - _NAMED
        listed = ", ".join(named(finding, names) for finding in each.of[:_NAMED])
        return Md(f"- {listed}{f' and {more} more' if more > 0 else ''}: {escape(short(each.text, _TEXT))}")
    minded = bullets([note.text for note in notes.notes(each) if note.kind not in once][:5])
    if not _said(each, once):
        return Md("\n".join([f"- {concluded(each, names)}", *(f"  {item}" for item in minded)]))
    return Md("\n".join([f"- {named(each, names)}", *(f"  {item}" for item in minded)]))


def concluded(finding: Finding, names: Names) -> Md:
    """Name a finding and say what happened, in a sentence for a newcomer."""
    return Md(f"{named(finding, names)}: {escape(short(finding_words.conclusion(finding), _TEXT))}")


def failed(group: FailureGroup, names: Names, width: int = _TEXT) -> Md:
    """Write a group of failures as an item of a list: what, where, and what probably went wrong."""
    places = failures.places(group, 3)
    title = f"- {brief(failures.heading(group, names), width)}{f' ({escape(places)})' if places else ''}"
    said = failures.last_words(group.first)
    told = [Md(f"- last output: {code(said, width)}")] if said else []
    if failures.is_difference(group.first):
        told = [Md(f"- {code(line, width)}") for line in group.first.stderr.splitlines()]
    told += bullets([group.first.hint or ""], width)
    return Md("\n".join([title, *(f"  {item}" for item in told)]))


def bullets(texts: Iterable[str], width: int = _TEXT) -> list[Md]:
    """Write texts as items of a list; one without a text would underline the line before it."""
    return [Md(f"- {text}") for text in (brief(text, width) for text in texts) if text]


def outputs(groups: Sequence[FailureGroup], lines: int, share: float = 1.0) -> Part:
    """Show what failing programs wrote last, and how to repeat them by hand."""
    found = [group.first for group in groups if group.first.command or group.first.stderr.strip()]
    title = "Output of failures, and how to repeat them by hand"
    return Part(title, "output", Written(found, lambda failure: _output(failure, lines)), share, between="\n\n")


def _output(failure: Failure, lines: int) -> Md:
    steps = [short(step, 1000) for step in failures.repeat(failure)]
    # last_lines looks at all of it, and the last lines are at the end
    output = [short(line, 200) for line in last_lines(failure.stderr[-400 * lines :], lines)]
    said = "\n".join(["# to repeat it by hand:", *steps] if steps else [])
    text = "\n\n".join(part for part in ("\n".join(output), said) if part.strip())
    return Md(f"{brief(failures.title(failure), _TEXT)}\n\n{block(text)}")


def listed(title: str, noun: str, texts: Iterable[str], share: float = 1.0) -> Part:
    """Write texts as a list."""
    shown = [text for text in texts if text.strip()]
    return Part(title, noun, Written(shown, lambda text: bullets([text])[0]), share)


def identical(report: Report, names: Names, share: float = 1.0, first: str = "") -> Part:
    """List what was not measured because it cannot differ, below what differs between the sides; first: said before."""
    found = sameness.each(report)
    opening = "\n".join(f"{brief(each, _TEXT)}.\n" for each in (first, *sameness.proof(report)) if each)
    title = f"Identical, not measured: {plural(len(found), 'benchmark')}"
    written = Written(found, lambda own: Md(f"- {code(names.benchmark(own[0], NAME))}: {escape(own[1])}"))
    return Part(title, "identical benchmark", written, share, f"{opening}\n" if opening else "")


def rules(report: Report, share: float = 1.0, first: Sequence[Md] = ()) -> Part:
    """Say what was measured of what, by which rules, and how the error is shared; first: what else to begin with."""
    run, policy = report.run, report.policy
    overall = [f"{short(finding_words.overall_name(o), 130)}: {finding_words.overall(o)}" for o in report.overall]
    texts = [
        *first,
        *([f"base and head: {run.chosen}"] if run.chosen else []),
        f"measured: {reports.measured(report)}",
        *([f"time: {spent}"] if (spent := cost.where(run.cost)) else []),
        *([f"sandbox: {run.sandbox!s}"] if run.sandbox else []),
        *([f"looks: {reports.looks(report)}"] if run.looks else []),
        *([f"memory: {reports.memory(report)}"] if run.memory else []),
        *overall,
        f"rules: {policy.source}: {reports.settings(policy.gate)}",
        *(f"override: {reports.settings(entry)}" for entry in policy.override),
        *(f"accept: {reports.settings(entry)}" for entry in policy.accept),
        f"error level: {reports.error_level(report)}",
    ]
    return listed("What was measured, and by which rules", "rule", texts, share)


def host(report: Report) -> Part:
    """Say what is known of the machine."""
    facts = (report.run.host or {}).items()
    return listed("Host", "fact", (f"{visible(key)}: {reports.setting(key, value)}" for key, value in facts))
