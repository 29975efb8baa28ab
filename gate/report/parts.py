"""Parts of a comment and of a job summary, of which as many lines are shown as there is room; and what to paste."""

from __future__ import annotations

import datetime
import math
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Sequence

import msgspec

from gate.config.config_text import COMMAND_LINE
from gate.decide.importance import ordered
from gate.decide.policy import today
from gate.document.markdown import NAME, Md, block, brief, code, escape, prose, short, size
from gate.model import Finding, Recorded, Report
from gate.model.reasons import BeyondLimit
from gate.units import plural
from gate.words import explanations as words
from gate.words import failures, notes, numbers, reports, sameness
from gate.words import findings as finding_words
from gate.words.failures import FailureGroup
from gate.words.notes import Shared, shared
from gate.words.reports import is_of_programs
from gate.words.short_names import WHOLE, Names
from gate.writing import phrases
from gate.writing.amounts import known
from gate.writing.last_lines import last_lines
from gate.writing.phrases import more_are

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


def named(case: Finding | Recorded, names: Names) -> Md:
    """Write the benchmark, without what all names begin with, and its factors."""
    settings, name = names.settings(case, NAME), code(names.tail(case.benchmark), WHOLE)
    return Md(f"{name} {code(settings)}" if settings else name)


# --- lists ----------------------------------------------------------------------------------------------------------


def reasons(findings: Sequence[Finding], names: Names, share: float = 1.0) -> Part:
    """Say of each finding what happened and what to mind, in sentences for a newcomer; what many share is said once."""
    why, minded = shared(findings, notes.why), shared(findings, notes.notes)
    once = {*why, *minded}

    def said(finding: Finding, kinds: Collection[Hashable]) -> bool:
        return any(kind in kinds for kind, _ in notes.why(finding))

    items: list[Finding | Shared] = [*why.values()]
    items += [f for f in findings if not said(f, why) or any(kind not in once for kind, _ in notes.notes(f))]
    items += minded.values()
    title = f"Details of {plural(len(findings), 'result')}"
    told = []
    for each in items:
        below: list[Md] = []
        if isinstance(each, Shared):
            every = phrases.listed([named(finding, names) for finding in each.of], _NAMED)
            first = f"{every}: {escape(short(each.text, _TEXT))}"
        else:
            below = bullets([text for kind, text in notes.notes(each) if kind not in once][:5])
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


# --- entries that let the regressions of a report through -------------------------------------------------------------

_ENTRIES = 3
# one that holds a name made to be long is no help
_LONGEST = 2000
_ACCEPTED = datetime.timedelta(weeks=8)
"""From the day of the run on: an entry must have an end, which whoever pastes it may change."""


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
