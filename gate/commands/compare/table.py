"""Two measurement files compared: blocks of rows as benchstat lays them out, for text and Markdown.

The words are safe on one line, and not yet escaped for any markup. What differs is decided already: each finding's
verdict says on which side of 1 its own interval lies, since the rules have a threshold of 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gate.model import Commit, Finding, Overall, Report, Side, SideSummary
from gate.model.case import MEAN, CaseId
from gate.model.warnings.measured import NotComparable
from gate.units import format_number, shown_unit
from gate.words import failures, numbers, reports
from gate.words import findings as finding_words
from gate.words.failures import grouped
from gate.words.numbers import known
from gate.words.phrases import listed
from gate.words.plain import clip, distinct, visible
from gate.words.sameness import SAME
from gate.words.sentences import say

ALL = "all"
NARROWEST = 14
"""Columns that a name keeps of a table."""
_SPAN = 1000.0
"""The largest value of a block over its smallest, up to which both read well in one unit."""
_STATISTIC = 30
_NAMES = 20
_FAILURES = 10


@dataclass(frozen=True, slots=True)
class Source:
    """Where one column comes from: the file as the user named it, the side in it, what was measured and when."""

    name: str
    side: Side
    commit: Commit | None
    created: str | None
    host: str | None


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Everything a table shows."""

    report: Report
    base: Source
    head: Source
    cautions: Sequence[str]
    """What all ratios rest on, the gravest first."""
    only: Mapping[Side, Sequence[str]]
    """Names of what one side alone has."""
    identical: Mapping[Side, Sequence[str]]
    """Benchmarks that the run of a column did not measure, since base and head of it are the same program."""
    unlike: Sequence[NotComparable]
    """What both have and what cannot be compared."""
    chief: frozenset[CaseId]
    """What the rules of a gate would decide, at any settings; their blocks come first."""
    rounds: int | None
    """Those that the geometric means are over; None: over all."""
    alone: bool
    """Base and head of one run: intervals are those of its gate."""


@dataclass(frozen=True, slots=True)
class Screen:
    """The terminal that shows a comparison."""

    color: bool
    width: int


@dataclass(frozen=True, slots=True)
class Measured:
    """A value with the half-width of its own interval: "101.5" or "101.5 ms", and "0.5%"."""

    value: str
    half: str


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a block; of a geometric mean there are no values."""

    name: str
    base: Measured | None
    head: Measured | None
    change: str
    verdict: str
    notes: Sequence[str]
    """Texts for footnotes."""


@dataclass(frozen=True, slots=True)
class Block:
    """The findings of one metric, in one unit."""

    title: str
    confidence: str
    rows: Sequence[Row]


# --- blocks -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Key:
    metric: str
    statistic: str
    unit: str
    better: str


def blocks(comparison: Comparison) -> list[Block]:
    """Arrange all findings by metric, statistic, unit and direction; what a gate would decide comes first."""
    groups: dict[_Key, list[Finding]] = {}
    for f in comparison.report.findings:
        groups.setdefault(_Key(f.metric, f.statistic, f.unit, f.better), []).append(f)
    chief = [any(CaseId(f.benchmark, f.metric) in comparison.chief for f in found) for found in groups.values()]
    order = sorted(zip(chief, groups.items(), strict=True), key=lambda each: not each[0])
    last = {key.metric: key for _, (key, _) in order if key.statistic == MEAN}
    found = []
    for decided, (key, findings) in order:
        own = last.get(key.metric) == key
        overall = [o for o in comparison.report.overall if own and o.metric == key.metric]
        # the mean over all stands last, below those of its parts
        means = [_overall_row(o, _rounds(comparison, o)) for o in sorted(overall, key=lambda o: o.group == ALL)]
        found.append(_block(key, findings, means, recorded=not decided))
    return found


def _block(key: _Key, findings: Sequence[Finding], means: Sequence[Row], *, recorded: bool) -> Block:
    scaled = _common(findings)
    name = scaled.name if scaled else ""
    what = clip(visible(key.metric if key.statistic == MEAN else f"{key.metric} {key.statistic}"), _STATISTIC)
    title = f"{what}{f' in {name}' if name else ''}, {key.better} is better" + (", recorded only" if recorded else "")
    confidence = reports.uniform(numbers.format_percent(f.ratio.confidence) for f in findings) or ""
    return Block(title, confidence, [*(_row(f, scaled) for f in findings), *means])


@dataclass(frozen=True, slots=True)
class _Scaled:
    """The unit that all values of a block are written in."""

    scale: float
    name: str
    """Empty for plain counts."""


def _common(findings: Sequence[Finding]) -> _Scaled | None:
    """Choose one unit for a block; None where its values are too far apart for one."""
    unit = findings[0].unit
    sizes = [abs(side.value) for f in findings for side in (f.base, f.head) if known(side.value) and side.value]
    least, most = min(sizes, default=1.0), max(sizes, default=1.0)
    if len({shown_unit(size, unit) for size in sizes}) > 1 and most > _SPAN * least:
        return None
    scale, name = shown_unit(math.sqrt(least) * math.sqrt(most), unit)
    return _Scaled(scale, "" if name == "count" else clip(visible(name), 12))


def _row(finding: Finding, scaled: _Scaled | None) -> Row:
    settings = finding_words.factors(finding)
    name = f"{visible(finding.benchmark)}{f' ({settings})' if settings else ''}"
    like = numbers.larger(finding)

    def measured(side: SideSummary) -> Measured:
        value = _amount(side.value, scaled) if scaled else numbers.value(side, finding.unit, like)
        return Measured(value, _half_width(side))

    bounded = finding.ratio.kind == "bounded"
    reason = [] if bounded else [visible(say(finding.reason))]
    notes = [*reason, *map(visible, finding_words.warnings(finding))]
    return Row(name, measured(finding.base), measured(finding.head), change(finding), finding.verdict, notes)


def _amount(value: float, scaled: _Scaled) -> str:
    if not known(value):
        return "unknown"
    number = value / scaled.scale
    whole = scaled.scale == 1 and scaled.name != "s" and float(number).is_integer() and abs(number) < 1e15
    return f"{number:,.0f}" if whole else format_number(number)


def _half_width(side: SideSummary) -> str:
    """Write the larger distance of a side's interval from its value as a share of it; "∞" where there is none."""
    if not (known(side.low) and known(side.high) and known(side.value)):
        return "∞"
    distance = max(side.high - side.value, side.value - side.low)
    if distance <= 0:
        return "0%"
    return numbers.share(distance / abs(side.value)) if side.value else "∞"


def change(finding: Finding) -> str:
    """Write a change with its interval: "+5.1% (+3.2% to +7.1%)"; "~ (...)" where the interval does not exclude 1."""
    interval = numbers.interval(numbers.shown(finding))
    if finding.verdict == "inconclusive":
        return f"~ ({interval})"
    if finding.verdict == "unchanged":
        return f"= ({interval})"
    return f"{numbers.change(finding.ratio)} ({interval})"


def _rounds(comparison: Comparison, overall: Overall) -> int | None:
    """Count the rounds that a geometric mean is over, where that is not all of them."""
    own = comparison.alone and comparison.rounds is not None and overall.level == "build"
    return overall.units if own else comparison.rounds


def _overall_row(overall: Overall, rounds: int | None) -> Row:
    name = "geomean" if overall.group == ALL else f"geomean of {visible(overall.group)}"
    notes = [] if rounds is None else [f"over the first {numbers.plural(rounds, 'round')}, which all rows have"]
    if overall.dropped:
        left_out = listed([clip(visible(dropped), 60) for dropped in overall.dropped], 5)
        notes = [f"of {numbers.plural(overall.cases, 'row')}, without {left_out}"]
    if overall.ratio.kind == "withheld":
        notes.append(
            "a geometric mean needs two builds per side that its rows have in common, and some spread between them"
        )
    shown = (
        f"{numbers.change(overall.ratio)} ({numbers.interval(overall.ratio)})" if known(overall.ratio.estimate) else "~"
    )
    return Row(name, None, None, shown, "", notes)


class Names:
    """Names of rows that stay distinguishable where they are shortened, the same in all blocks."""

    def __init__(self, found: Sequence[Block]) -> None:
        """Take the names of all blocks."""
        self._names = list(dict.fromkeys(row.name for block in found for row in block.rows))
        self._shown: dict[int, dict[str, str]] = {}

    def within(self, width: int) -> Mapping[str, str]:
        """Shorten all names to a width."""
        if width not in self._shown:
            self._shown[width] = dict(zip(self._names, distinct(self._names, width), strict=True))
        return self._shown[width]


# --- what stands around the blocks ------------------------------------------------------------------------------------


def source(comparison: Comparison, side: Side) -> str:
    """Say what one column is: "runs/a, its head: main 1a2b3c4d5e, 2026-11-20 09:00 on vm, 5 builds, ..."."""
    from_ = comparison.base if side == "base" else comparison.head
    when = [visible(from_.created)[:16].replace("T", " ")] if from_.created else []
    when += [f"on {clip(visible(from_.host), 60)}"] if from_.host else []
    facts = [reports.commit(from_.commit) if from_.commit else "", " ".join(when), _counts(comparison.report, side)]
    told = ", ".join(fact for fact in facts if fact)
    return f"{visible(from_.name)}, its {from_.side}" + (f": {told}" if told else "")


def _counts(report: Report, side: Side) -> str:
    counts = [(f.base if side == "base" else f.head).counts for f in report.findings]
    if not counts:
        return ""
    levels = {
        "session": [each.session for each in counts],
        "build": [each.build for each in counts],
        "execution": [each.execution for each in counts],
        "value": [each.iteration for each in counts],
    }
    spans = [(noun, min(numbers), max(numbers)) for noun, numbers in levels.items()]
    return ", ".join(
        numbers.plural(low, noun) if low == high else f"{low} to {high} {noun}s"
        for noun, low, high in spans
        if noun != "session" or high > 1
    )


def legend(comparison: Comparison) -> str:
    """Say how to read the marks, and how many rows may well be wrong; nothing where there are no rows."""
    found = comparison.report.findings
    if found and comparison.alone:
        said = reports.confidences(found, titled=False)
        text = (
            "±: half-width of a side's own interval; ~: no change is shown. Changes are as `perfgate decide` shows them"
        )
        return f"{text}: {said}." if said else f"{text}."
    confidence = reports.uniform(numbers.format_percent(f.ratio.confidence) for f in found)
    if not found or not confidence:
        return ""
    text = f"±: half-width of the {confidence} interval; ~: no change is shown"
    if len(found) == 1:
        return f"{text}."
    once = round(1 / (1 - found[0].ratio.confidence))
    return f"{text}. No correction for multiple comparisons: about 1 of {once} unchanged rows shows a change."


def rest(comparison: Comparison) -> list[str]:
    """Name what is not in the table: what has no partner, and what failed."""
    lines = [
        f"only in {side}: {failures.names(list(names), _NAMES)}" for side, names in comparison.only.items() if names
    ]
    unlike = [clip(visible(say(each)), 1000) for each in comparison.unlike]
    return [*unlike, *lines, *_identical(comparison), *_failures(comparison)]


def _identical(comparison: Comparison) -> list[str]:
    sources = [comparison.base] if comparison.alone else [comparison.base, comparison.head]
    found = {(own.name, *names): names for own, names in zip(sources, comparison.identical.values(), strict=False)}
    return [
        f"not measured by {visible(key[0])}, because base and head run {SAME}: {failures.names(list(names), _NAMES)}"
        for key, names in found.items()
        if names
    ]


def _failures(comparison: Comparison) -> Iterator[str]:
    groups = grouped(comparison.report.failures, by_output=False)
    for group in groups[:_FAILURES]:
        where = failures.places(group, 3)
        yield failures.heading(group) + (f" ({where})" if where else "")
    if len(groups) > _FAILURES:
        yield numbers.plural(len(groups) - _FAILURES, "more failure")


def nothing(comparison: Comparison) -> str:
    """Say that there is no row at all."""
    if comparison.report.findings:
        return ""
    if comparison.report.identical:
        return f"nothing to compare: all benchmarks run {SAME}"
    if comparison.unlike:
        return "nothing to compare: what base and head have in common is in other units or directions"
    alive = " that did not fail" if comparison.report.failures else ""
    return f"nothing to compare: base and head have no benchmark in common{alive}"
