"""The parts of a comment and of a job summary: lists and tables of which as many lines are shown as there is room."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Sequence

import msgspec

from gate.decide.importance import is_changed, plain
from gate.document.markdown import NAME, Md, block, brief, code, escape, prose, row, short, size
from gate.model import Finding, RatioInterval, Recorded, Report
from gate.model.case import MEAN, TYPICAL
from gate.model.names import ACTIVE
from gate.units import plural
from gate.words import bars, failures, notes, numbers, reports, sameness, views
from gate.words import explanations as words
from gate.words import findings as finding_words
from gate.words.failures import FailureGroup
from gate.words.notes import Shared, shared
from gate.words.short_names import WHOLE, Names
from gate.writing.last_lines import last_lines
from gate.writing.phrases import machine, more_are

NO_BREAK = "\u00a0"
"""The blank of a bar: a narrow column breaks at others."""
_BAR = 21
_TEXT = 400
_NAMED = 20
# of the tags and blank lines around a part, and of what its title gets when it is cut
_FRAME = 120


class Part(msgspec.Struct, frozen=True):
    """A titled list or table. noun: what an item is called where some are left out; share: of the room at most."""

    title: str
    noun: str
    items: Sequence[Md]
    share: float = 1.0
    opening: str = ""
    between: str = "\n"
    kinds: Sequence[str] = ()
    """Of items of several kinds, the word of each: "too noisy"."""

    @property
    def text(self) -> Md:
        """The whole of it, without its title."""
        return Md(self.opening + self.between.join(self.items))


def fit(parts: Sequence[Part], room: int) -> tuple[list[Part], list[str]]:
    """Keep of each part as many items as the room allows, in bytes, the first parts first; never half an item.

    First each part gets its share at most, so that no long one takes all; then what is left goes to the first. Said as
    well is what was left out: "24 too noisy", "3 warnings".
    """
    kept: list[list[Md]] = [[] for _ in parts]
    for limited in (True, False):
        for part, items in zip(parts, kept, strict=True):
            limit = part.share * room if limited else room
            used = 0 if items else _FRAME + size(part.title) + size(part.opening)
            start = len(items)
            while len(items) < len(part.items):
                item = part.items[len(items)]
                used += size(item) + len(part.between)
                if used > limit:
                    used -= size(item) + len(part.between)
                    break
                items.append(item)
            room -= used if len(items) > start else 0
    shown = []
    for part, items in zip(parts, kept, strict=True):
        cut = Md(f"{escape(part.title)} (the first {len(items)})") if len(part.items) > len(items) else part.title
        shown += [msgspec.structs.replace(part, items=items, title=cut)] if items else []
    left = [(part, len(items)) for part, items in zip(parts, kept, strict=True) if len(part.items) > len(items)]
    kinds = numbers.counted(kind for part, count in left for kind in part.kinds[count:])
    return shown, kinds + [plural(len(p.items) - count, p.noun) for p, count in left if not p.kinds]


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


def named(case: Finding | Recorded, names: Names) -> Md:
    """Write the benchmark, without what all names begin with, and its factors."""
    settings, name = names.settings(case, NAME), code(names.tail(case.benchmark), WHOLE)
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


# --- lists ----------------------------------------------------------------------------------------------------------


def reasons(findings: Sequence[Finding], names: Names, share: float = 1.0) -> Part:
    """Say of each finding what happened and what to mind, in sentences for a newcomer; what many share is said once."""
    why, minded = shared(findings, notes.why), shared(findings, notes.notes)
    once = {*why, *minded}

    def said(finding: Finding, kinds: Collection[Hashable]) -> bool:
        return any(note.kind in kinds for note in notes.why(finding))

    items: list[Finding | Shared] = [*why.values()]
    items += [f for f in findings if not said(f, why) or any(note.kind not in once for note in notes.notes(f))]
    items += minded.values()
    title = f"Details of {plural(len(findings), 'result')}"
    told = []
    for each in items:
        below: list[Md] = []
        if isinstance(each, Shared):
            more = len(each.of) - _NAMED
            listed = ", ".join(named(finding, names) for finding in each.of[:_NAMED])
            first = f"{listed}{f' and {more} more' if more > 0 else ''}: {escape(short(each.text, _TEXT))}"
        else:
            below = bullets([note.text for note in notes.notes(each) if note.kind not in once][:5])
            told_of = short(finding_words.conclusion(each), _TEXT)
            first = named(each, names) + ("" if said(each, once) else f": {escape(told_of)}")
        told.append(Md("\n".join([f"- {first}", *(f"  {item}" for item in below)])))
    return Part(title, "sentence", told, share)


def failed(group: FailureGroup, names: Names, top: str, width: int = _TEXT) -> Md:
    """Write a group of failures as an item of a list: what, where, and what probably went wrong."""
    places = failures.places(group, 3, top)
    title = f"- {brief(failures.heading(group, names), width)}{f' ({escape(places)})' if places else ''}"
    said = failures.error(group[0])
    told = [Md(f"- {code(said, width)}")] if said else []
    if failures.is_difference(group[0]):
        told = [Md(f"- {code(line, width)}") for line in group[0].stderr.splitlines()]
    told += bullets([group[0].hint or ""], width)
    return Md("\n".join([title, *(f"  {item}" for item in told)]))


def bullets(texts: Iterable[str], width: int = _TEXT) -> list[Md]:
    """Write texts as items of a list; one without a text would underline the line before it."""
    return [Md(f"- {text}") for text in (brief(text, width) for text in texts) if text]


def outputs(report: Report, groups: Sequence[FailureGroup], lines: int, share: float = 1.0) -> Part:
    """Show what failing programs wrote last, and how to repeat them by hand."""
    found = [group[0] for group in groups if group[0].command or group[0].stderr.strip()]
    title = "Output of failures, and how to repeat them by hand"
    items = []
    for each in found:
        steps = [short(step, 1000) for step in failures.repeat(each, report.run)]
        # last_lines looks at all of it, and the last lines are at the end
        output = "\n".join(short(line, 200) for line in last_lines(each.stderr[-400 * lines :], lines))
        said = "\n".join(["# to repeat it by hand:", *steps] if steps else [])
        text = "\n\n".join(part for part in (output, said) if part.strip())
        items.append(Md(f"{brief(failures.title(each), _TEXT)}\n\n{block(text)}"))
    return Part(title, "output", items, share, between="\n\n")


def listed(title: str, noun: str, texts: Iterable[str], share: float = 1.0) -> Part:
    """Write texts as a list."""
    shown = [text for text in texts if text.strip()]
    return Part(title, noun, bullets(shown), share)


def identical(report: Report, names: Names, share: float = 1.0, first: str = "") -> Part:
    """List what was not measured because it cannot differ, below what differs between the sides; first: said before."""
    found = sameness.each(report)
    opening = "\n".join(f"{brief(each, _TEXT)}.\n" for each in (first, *sameness.proof(report)) if each)
    title = f"Unaffected, not measured: {plural(len(found), 'benchmark')}"
    written = [Md(f"- {code(names.benchmark(name, NAME))}: {escape(why)}") for name, why in found]
    return Part(title, "unaffected benchmark", written, share, f"{opening}\n" if opening else "")


def rules(report: Report, share: float = 1.0, first: Sequence[Md] = ()) -> Part:
    """Say what was measured of what, by which rules, and how the error is shared; first: what else to begin with."""
    overall = [f"{short(finding_words.overall_name(o), 130)}: {finding_words.overall(o)}" for o in report.overall]
    texts = [*first, *overall, *(f"{name}: {text}" for name, text in reports.behind(report))]
    return listed("What was measured, and by which rules", "rule", texts, share)


def why(report: Report, most: int, width: int, names: Names) -> list[Md]:
    """Name three functions of each of so many explanations, a list each; width: the characters a note may take."""
    texts = []
    for found in report.explanations[:most]:
        lines = [f"Why {code(words.title(found, names))} ({brief(words.profiled_by(found), width)})", ""]
        lines += [f"- {brief(text, width)}" for text in words.cautions(found)]
        for line in (words.line(each, found) for each in found.candidates[: words.NAMED]):
            place = f" ({code(line.place)})" if line.place else ""
            notes = f": {brief('; '.join(line.notes), width)}" if line.notes else ""
            lines.append(f"- {code(line.name)} {escape(line.added)}{place}{notes}")
        texts.append(Md("\n".join([*lines, ""])))
    texts += [Md(f"- {prose(words.unprofiled(each, names))}") for each in report.unprofiled[:most]]
    left = len(report.explanations[most:]) + len(report.unprofiled[most:])
    return [*texts, *([escape(f"{more_are(left, 'profile')} in the report.")] if left and most else [])]
