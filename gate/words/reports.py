"""The words of a report as a whole: its verdict, how much was measured, by which rules, and what to do next."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from gate.document import bars
from gate.document.document import Tally
from gate.model import (
    PARTS,
    Commit,
    Cost,
    Finding,
    Identical,
    LevelCounts,
    Recorded,
    Report,
    Turn,
    reasons,
)
from gate.model.names import AGGREGATE, OF_BUILDS
from gate.model.reasons import correction
from gate.model.warnings import AnyWarning
from gate.model.warnings.measured import BudgetRounds, RoundsShort, TwoPrograms
from gate.words import numbers, views
from gate.writing.amounts import format_number, format_percent, format_value, known
from gate.writing.phrases import plural_of
from gate.writing.plain import clip, visible
from gate.writing.units import agree, format_confidence, format_duration, plural

_WARNING = 300
_OF_COMPARED = (BudgetRounds, RoundsShort, TwoPrograms)
"""Warnings that are said beside what was compared."""
_BESIDE = 3
_OF_RULES = ("give-direction", "declare-zero", "declare-exact", "lower-floor")
"""Steps that change the rules, which in CI are base's."""
_AMOUNT = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)(?=[^\W\d_]+\b)")


# --- the report -----------------------------------------------------------------------------------------------------


_LEAST = 0.01
"""A share below which its size is of no interest."""


def beside(report: Report) -> list[str]:
    """Say what a reader must know beside the verdict: "x is 94.5% faster: does head still do the work?"."""
    found = [each.sentence() for each in report.warnings if each.in_headline]
    more = [f"{len(found) - _BESIDE:,} more such warnings"] if len(found) > _BESIDE + 1 else []
    return [clip(visible(text), _WARNING) for text in (*(found[:_BESIDE] if more else found), *more)]


def warnings(report: Report) -> list[AnyWarning]:
    """Return the warnings that neither the line of verdict nor what was compared says whole."""
    found = [each for each in report.warnings if each.in_headline]
    shown = found if len(found) <= _BESIDE + 1 else found[:_BESIDE]
    said = {id(each) for each in shown if len(each.sentence()) <= _WARNING}
    return [w for w in report.warnings if id(w) not in said and not isinstance(w, _OF_COMPARED)]


def counts(report: Report) -> str:
    """How many findings of each verdict there are, and what else: "12 results: 1 regression, 11 same"."""
    words = [f"{t.count:,} {t.name}{f' ({t.which})' if t.which else ''}" for t in tallies(report)]
    found = len(report.findings) + len(report.identical)
    total = plural(found, "result") if found else "no results"
    rest = [
        plural(number, noun)
        for number, noun in (
            (len(report.failures), "failure"),
            (len(report.new), "new benchmark"),
            (len(warnings(report)), "warning"),
        )
        if number
    ]
    return "; ".join([f"{total}: {', '.join(words)}" if words else total, *([", ".join(rest)] if rest else [])])


def basis(findings: Sequence[Finding]) -> str:
    """Say what intervals and verdicts of a table rest on, as far as its title does not; no full stop."""
    crept = any(map(is_crept, findings))
    nights = "the change of what crept is that of several nights; base and head are values of this one" if crept else ""
    said = (confidences(findings), no_sign(findings), *views.meanings(findings), nights)
    return ". ".join(capitalized(text) for text in said if text)


def no_sign(found: Iterable[Finding]) -> str:
    """Say what "catches 4.1%" means, where a verdict says it; no full stop."""
    said = any(map(numbers.is_caught, found))
    return "catches N%: a change for the worse of N% shows in 8 of 10 such runs" if said else ""


def tallies(report: Report) -> list[Tally]:
    """Count the findings that people read one word for, in the order of importance."""
    from gate.decide.importance import ordered

    every: list[Finding | Identical] = [*ordered(report.findings), *report.identical]
    found: dict[str, list[Finding | Identical]] = {}
    for each in every:
        found.setdefault(numbers.word(each), []).append(each)
    told = []
    for word, own in found.items():
        still = [f for f in own if isinstance(f, Finding) and f.verdict == "inconclusive"]
        parts = (sum(f.may_regress for f in still), numbers.MAY_REGRESS), (sum(f.not_worse for f in still), "not worse")
        said = [f"{'' if len(own) == 1 else 'all ' if n == len(own) else f'{n:,} '}{what}" for n, what in parts if n]
        count, name, verdict = len(own), plural_of(word, len(own)), own[0].verdict
        told.append(Tally(count, name, verdict, bars.SHAPES[verdict], word, ", ".join(said)))
    return told


def commit(side: Commit | None) -> str:
    """Name a side: "main 1a2b3c4d5e", "HEAD 9f8e7d6c5b with uncommitted changes", "unknown"."""
    if side is None or not (side.ref or side.sha or side.dirty):
        return "unknown"
    ref, sha = visible(side.ref or ""), visible((side.sha or "")[:10])
    # a ref that is the commit itself says it twice
    words = [sha] if sha and (side.sha or "").startswith(ref) else [word for word in (ref, sha) if word]
    return " ".join([*words, *(["with uncommitted changes"] if side.dirty else [])])


def sides(base: Commit | None, head: Commit | None) -> tuple[str, str]:
    """Name both sides; one commit once: "main 1a2b3c4d5e", "its working tree with uncommitted changes"."""
    if base and head and base.sha and base.sha == head.sha and head.dirty and not base.dirty:
        # of a branch and HEAD the branch says more
        named = msgspec.structs.replace(base, ref=head.ref if base.ref in (None, "HEAD") else base.ref)
        return commit(named), "its working tree with uncommitted changes"
    return commit(base), commit(head)


def compared(report: Report) -> str:
    """Say what was compared and how much was measured: "main 1a2b3c4d5e → HEAD 9f8e7d6c5b; 5 builds x 5 starts ..."."""
    base, head = sides(report.run.base, report.run.head)
    arrow = "" if base == head == "unknown" else f"{base} → {head}"
    return "; ".join(filter(None, (arrow, caution(report), measured(report))))


def caution(report: Report) -> str:
    """Say what a verdict on two given programs does not hold for; "" of other reports, and where nothing is decided."""
    return "another build of either may differ" if report.findings and is_of_programs(report) else ""


def is_of_programs(report: Report) -> bool:
    """Return whether two given programs were compared, of which there are rounds and no builds."""
    return any(isinstance(each, TwoPrograms) for each in report.warnings)


def moved(report: Report) -> list[Recorded]:
    """Return the metrics that do not decide, and whose interval is beyond the least threshold."""
    edge = 1 + min((each.threshold for each in report.findings), default=0.0)
    return [
        each
        for each in report.recorded
        if (known(each.ratio.low) and each.ratio.low > edge) or (known(each.ratio.high) and each.ratio.high < 1 / edge)
    ]


def measured(report: Report) -> str:
    """How much was measured: "5 builds x 5 starts x 10 values of each, 3 min 20 s"."""
    done, planned = report.run.rounds.done, report.run.rounds.planned
    plan = (report.run.settings or {}).get("plan")
    builds = plan.get("builds") if isinstance(plan, Mapping) else None
    if report.run.looks is not None and isinstance(builds, Mapping) and builds.get("max") is None:
        # as many rounds as the budget holds
        planned = None
    wanted = builds.get("max") if isinstance(builds, Mapping) else builds
    cut = planned is not None and isinstance(wanted, int) and planned < wanted
    # of what decides: what is only recorded may have more. A build is no start
    decided: Sequence[Finding | Recorded] = [each for each in report.findings if each.metric not in OF_BUILDS]
    cases = decided or [each for each in report.recorded if each.metric not in OF_BUILDS]
    # what has no values behind it does not count
    sides = [s.counts for case in cases if case.ratio.method != AGGREGATE for s in (case.base, case.head)]
    # that all were measured goes without saying
    of = wanted if cut else planned if planned != done else None
    # a round is a build of each, so builds are said alone
    even = bool(sides) and all(side.build == done for side in sides)
    parts = (
        []
        if even or (planned == done and not cut)
        else [plural(done, "round") if of is None else f"{done} of {plural(of, 'round')}"]
    )
    if report.run.imported:
        parts = [f"by {visible(', '.join(report.run.imported))}"]
    elif report.identical and not (cases or report.failures):
        parts = ["nothing measured"]
    elif not (done or sides):
        parts = ["no complete round"]
    if sides:
        parts.append(f"{_design(sides, top(report), of if even else None)} of each")
    if cut:
        parts.append(f"only {planned} fit the budget")
    if report.run.turns:
        parts.append(turns(report.run.turns))
    if known(report.run.seconds):
        parts.append(format_duration(report.run.seconds))
    return ", ".join(parts)


def turns(found: Sequence[Turn]) -> str:
    """Say how short turns are, and why they may be: "by turns of 2 values (starting takes 3% of the time)"."""
    low, high = min(each.iterations for each in found), max(each.iterations for each in found)
    count = plural(low, "value") if low == high else f"{low:,} to {high:,} values"
    most = max(each.starting for each in found)
    share = f"{'at most ' if len(found) > 1 else ''}{most:.0%}" if most >= _LEAST else f"less than {_LEAST:.0%}"
    return f"by turns of {count} (starting takes {share} of the time)"


def looks(report: Report) -> str:
    """How many interim checks there were: "1 of 4, planned after rounds 4, 6, 8 and 12"; nothing for a fixed design."""
    found = report.run.looks
    if found is None:
        return ""
    *most, last = map(str, found.rounds)
    after = f"rounds {', '.join(most)} and {last}" if most else f"round {last}"
    return f"{found.used} of {len(found.rounds)}, planned after {after}"


def memory(report: Report) -> str:
    """What was remembered: "3 sessions, 2026-09-01 to 2026-11-02, used for 12 of 12 results"; otherwise nothing."""
    found = report.run.memory
    if found is None:
        return ""
    days = visible(found.first) + (f" to {visible(found.last)}" if found.last != found.first else "")
    used = f"used for {found.findings} of {plural(report.family.size, 'result')}"
    if found.checks is not None:
        from gate.stats.prior import FEWEST_COMMON

        wanted = plural(FEWEST_COMMON, "check")
        used = f"used for plans; intervals use it after {wanted} of the default branch, {found.checks} so far"
    text = f"{plural(found.sessions, 'session')}, {days}, {used}"
    return f"{text}, host {format_number(found.factor, 3)} times as noisy" if found.factor > 1 else text


def top(report: Report) -> str:
    """Name the level above executions: two given programs have one build each, and rounds."""
    return "round" if is_of_programs(report) else "build"


def _design(sides: list[LevelCounts], top: str, of: int | None) -> str:
    """Say how much each side has of every level; of: how many of the highest were planned, None: no more."""
    first = sides[0]
    sessions = f"{plural(first.session, 'session')}, " if first.session > 1 else ""
    builds = _span([side.build for side in sides], top) if of is None else f"{first.build} of {plural(of, top)}"
    balanced = first.build and first.execution and not first.execution % first.build
    if balanced and not first.iteration % first.execution and all(side == first for side in sides):
        executions, iterations = first.execution // first.build, first.iteration // first.execution
        return f"{sessions}{builds} x {plural(executions, 'start')} x {plural(iterations, 'value')}"
    several = [_span([side.session for side in sides], "session")] if sessions else []
    rest = (("start", [side.execution for side in sides]), ("value", [side.iteration for side in sides]))
    return ", ".join([*several, builds, *(_span(counts, noun) for noun, counts in rest)])


def level_name(level: str, top: str = "build") -> str:
    """Name a level of the variance for people; top: what is above the starts."""
    return {"execution": "start", "iteration": "value", "build": top}.get(level, level)


def _span(counts: list[int], noun: str) -> str:
    low, high = min(counts), max(counts)
    return plural(low, noun) if low == high else f"{low:,} to {high:,} {noun}s"


def error_level(report: Report) -> str:
    """Say the false-alarm limit: of the whole report, by which method and over how many results it is shared."""
    if report.creep is not None:
        return (
            f"false-alarm limit {format_percent(report.creep.error)}: where nothing changed, at most so many years of "
            "nights call a regression"
        )
    family = report.family
    confidence = report.policy.gate.get("confidence")
    levels = [confidence] if isinstance(confidence, (int, float)) else [f.ratio.confidence for f in report.findings[:1]]
    over = plural(family.size, "result")
    if not levels or not known(levels[0]):
        return f"{visible(family.method)} over {over}"
    share = format_percent((1 - levels[0]) / 2)
    text = (
        f"false-alarm limit {share}: where nothing changed, at most so many reports call a regression (or improvement)"
    )
    if family.method == "none":
        return f"{text}; for each of {over} (family: none)"
    return f"{text}; shared over {over} (family: {visible(family.method)})" if family.size else text


def creep(report: Report) -> str:
    """Say that a report is that of a creep check, against what, and on how many nights it rests; "" where it is none.

    "against v1.2 1a2b3c4d5e, 14 commits before head; 21 nights against it are known on this machine; ...".
    """
    found = report.creep
    if found is None:
        return ""
    pin, name = found.pin, visible(found.pin.name)
    sha = "" if pin.sha.startswith(name) else f" {pin.sha[:10]}"
    ahead = "" if pin.commits is None else f", {plural(pin.commits, 'commit')} before head"
    nights = f"{plural(found.nights, 'night')} against it {agree(found.nights, 'is', 'are')} known on this machine"
    lost = f" (earlier ones are not: {visible(found.unused)})" if found.unused else ""
    alarms = f"false alarms: at most {format_percent(found.error)} in a year of nights"
    return f"against {name}{sha}{ahead}; {nights}{lost}; {alarms}"


def behind(report: Report) -> list[tuple[str, str]]:
    """Name and say what is behind a report: why these commits, the time, the sandbox, the rules, the false alarms."""
    run, policy = report.run, report.policy
    found = [
        ("chosen", visible(run.chosen or "")),
        ("time", spent(run.cost)),
        ("checks", looks(report)),
        ("memory", memory(report)),
        ("sandbox", str(run.sandbox or "")),
        ("rules", f"{visible(policy.source)}: {settings(policy.gate)}"),
        *(("override", settings(each)) for each in policy.override),
        *(("accept", settings(each)) for each in policy.accept),
        ("alarms", error_level(report)),
        ("controls", report.controls.sentence() if report.controls else ""),
    ]
    return [(name, text) for name, text in found if text]


_SMALL = 0.005
"""The share of the time below which a part is not named."""
_PARTS = {
    "setup": "set-up",
    "compile": "builds",
    "link": "checking links",
    "again": "builds tried again",
    "keep": "copying kept builds",
    "trees": "comparing trees",
    "start": "first starts",
    "probe": "probe",
    "outside": "files outside",
    "measure": "measuring",
    "decide": "interim checks",
    "profile": "profiling",
    "other": "other",
}


def spent(cost: Cost | None) -> str:
    """Say where the time went: "11 min: 2 builds 1 min 40 s, 22 links 8.0 s, measuring 9 min"; "": not known."""
    if cost is None:
        return ""
    counted = {"compile": (cost.compiled, "build"), "link": (cost.linked, "link")}
    found = {key: seconds for key in PARTS if known(seconds := getattr(cost, key)) and seconds > 0}
    told = []
    for key, seconds in found.items():
        count, noun = counted.get(key, (0, ""))
        if seconds >= _SMALL * sum(found.values()):
            told.append(f"{plural(count, noun) if count else _PARTS[key]} {format_duration(seconds)}")
    whole = f"{format_duration(cost.total)}: " if told and known(cost.total) else ""
    return f"{whole}{', '.join(told)}"


def next_step(report: Report, *, pull: bool = False) -> str:
    """What a reader does now: after a regression, without an answer, after a failure; nothing after a pass.

    pull: in the comment of a pull request.
    """
    from gate.decide import next_steps
    from gate.writing.sentences import Options

    step = next_steps.next_step(report)
    if step is None:
        return ""
    said, whose = step.on_pull if pull else step.text, report.policy.whose
    options = [way for way in step.ways if isinstance(way, Options)]
    if whose is None or whose.kind not in ("base", "target"):
        for way in options:
            words = report.run.again if way.decides else report.run.typed
            said = said.replace(str(way), str(way.behind(words))) if words else said
        return said
    # who reads it types no command
    settings = {str(way): way.lines for way in options if way.lines is not None}
    for typed, lines in settings.items():
        said = said.replace(typed, str(lines))
    of_tables = step.details.get("tables")
    of_rules = settings or of_tables or step.kind in _OF_RULES
    return f"{said}. It takes effect once it is in the rules that decide: those of {whose}" if of_rules else said


def settings(table: Mapping[str, Any]) -> str:
    """Write a table of rules in one line: "threshold 3%, floor 1 us"."""
    said = {key: value for key, value in table.items() if value is not None and (value != "*" or key == "benchmark")}
    if said.get("sessions") == "random":
        # the default, of which a run of one session has nothing
        del said["sessions"]
    return ", ".join(f"{visible(key)} {setting(key, value)}" for key, value in said.items())


def setting(key: str, value: object) -> str:
    """Write one value of a rule or of a fact about the host; shares that come as numbers become percentages."""
    if key in ("threshold", "up_to", "confidence") and isinstance(value, float) and known(value):
        return format_percent(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return format_value(value, "B") if key == "memory" else str(value) if key == "seed" else f"{value:,}"
    if key == "floor" and isinstance(value, str):
        return _AMOUNT.sub(r"\1 ", visible(value))
    if isinstance(value, Mapping):
        return ", ".join(f"{visible(str(k))} {setting(str(k), v)}" for k, v in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(setting("", item) for item in value)
    return "unknown" if value is None or (isinstance(value, float) and not known(value)) else visible(str(value))


# --- numbers --------------------------------------------------------------------------------------------------------


def uniform(values: Iterable[str]) -> str | None:
    """Return the text that all have in common, or None."""
    found = set(values)
    return found.pop() if len(found) == 1 else None


def confidence(cases: Iterable[Finding | Recorded]) -> float | None:
    """Return the confidence of a column of intervals; None: it has none. What crept says its own."""
    return next((c.ratio.confidence for c in cases if numbers.has_ends(c.ratio) and not is_crept(c)), None)


def is_crept(case: Finding | Recorded) -> bool:
    """Return whether the interval is that of several nights, and not of this one."""
    return isinstance(case, Finding) and isinstance(case.reason, reasons.Crept)


def titled(confidence: float | None) -> str:
    """Write the title of a column of changes: "change (95% interval)"."""
    return "change (interval)" if confidence is None else f"change ({format_confidence(confidence)} interval)"


def confidences(findings: Iterable[Finding]) -> str:
    """Say at which confidence changes are called, where it is not that of the column of intervals; no full stop."""
    called = [f for f in findings if numbers.is_called(f) and numbers.decided(f) is not None and not is_crept(f)]
    if not called:
        return ""
    found = sorted(f.decided_at.confidence for f in called)
    counts = [f.reason.comparisons for f in called if isinstance(f.reason, reasons.Exceeds)]
    corrected = max((count for count in counts if count is not None), default=None)
    after = [] if corrected is None else [correction(corrected)]
    after += ["interim checks"] if any(f.decided_at.looks > 1 for f in called) else []
    held = " to ".join(dict.fromkeys(map(format_confidence, (found[0], found[-1]))))
    said = f'regressions and improvements, and their "at least", are called at {held} confidence'
    return f"{said}, after {' and '.join(after)}" if after else said


def capitalized(text: str) -> str:
    """Begin a sentence with a capital, leaving the rest as it is."""
    return text[:1].upper() + text[1:]
