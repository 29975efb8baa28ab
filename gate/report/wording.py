"""The words of a report: what its numbers are called and how they are written, the same in every format.

Every function returns text that is safe on one line (see gate.report.plain) and not yet escaped for any markup.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from gate.model import Commit, Counts, Finding, Recorded, Report
from gate.report.plain import clip, visible
from gate.report.view import Tally, known, tallies
from gate.units import Share, format_duration, format_number

_VERDICTS = {"pass": "Pass", "regression": "Regression", "inconclusive": "Inconclusive", "error": "Error"}
MEANINGS = {
    "pass": "No benchmark is shown to be worse than its threshold allows, except what is accepted.",
    "regression": "At least one benchmark is worse than its threshold allows, by more than the noise can explain.",
    "inconclusive": "For at least one benchmark the measurements cannot tell a regression from none.",
    "error": "Something was not measured, so there is no answer for it; that is never a pass.",
}
"""What each verdict of a report means, for a newcomer."""


def plural(count: int, noun: str) -> str:
    """Write "1 build", "5 builds"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


# --- the report -----------------------------------------------------------------------------------------------------


def headline(report: Report) -> str:
    """The verdict in words: "Regression: parse-large is 5.1% slower"."""
    word, summary = _VERDICTS[report.verdict], clip(visible(report.summary).strip(), 300)
    if summary.casefold().startswith(report.verdict):
        return summary[:1].upper() + summary[1:]
    return f"{word}: {summary}" if summary else word


def counts(report: Report) -> str:
    """How many findings of each verdict there are, and what else: "12 findings: 1 regression, 11 unchanged"."""
    words = [f"{t.count} {tally_name(t)}" for t in tallies(report)]
    total = plural(len(report.findings), "finding") if report.findings else "no findings"
    rest = [
        plural(number, noun)
        for number, noun in (
            (len(report.failures), "failure"),
            (len(report.new), "new benchmark"),
            (len(report.warnings), "warning"),
        )
        if number
    ]
    return "; ".join([f"{total}: {', '.join(words)}" if words else total, *([", ".join(rest)] if rest else [])])


def tally_name(tally: Tally) -> str:
    """Name what a tally counts: "regressions", "unchanged"."""
    noun = tally.verdict in ("regression", "improvement")
    return f"{tally.verdict}s" if noun and tally.count != 1 else tally.verdict


def commit(side: Commit | None) -> str:
    """Name a side: "main 1a2b3c4d5e", "HEAD 9f8e7d6c5b with uncommitted changes", "unknown"."""
    if side is None or not (side.ref or side.sha or side.dirty):
        return "unknown"
    ref, sha = visible(side.ref or ""), visible((side.sha or "")[:10])
    # a ref that is the commit itself says it twice
    words = [sha] if sha and (side.sha or "").startswith(ref) else [word for word in (ref, sha) if word]
    return " ".join([*words, *(["with uncommitted changes"] if side.dirty else [])])


def measured(report: Report) -> str:
    """How much was measured: "5 of 5 rounds, 5 builds x 5 executions x 10 iterations a side, 3 min 20 s"."""
    done, planned = report.run.rounds.done, report.run.rounds.planned
    parts = [plural(done, "round") if planned is None else f"{done} of {plural(planned, 'round')}"]
    cases: list[Finding | Recorded] = [*report.findings, *report.recorded]
    sides = [side.counts for case in cases for side in (case.base, case.head)]
    if sides:
        parts.append(f"{_design(sides)} a side")
    if known(report.run.seconds):
        parts.append(format_duration(report.run.seconds))
    return ", ".join(parts)


def looks(report: Report) -> str:
    """How many looks there were: "1 of 4, planned after rounds 4, 6, 8 and 12"; nothing for a fixed design."""
    found = report.run.looks
    if found is None:
        return ""
    return f"{found.used} of {len(found.rounds)}, planned after {_rounds(found.rounds)}"


def _rounds(rounds: list[int]) -> str:
    *most, last = [str(number) for number in rounds]
    return f"rounds {', '.join(most)} and {last}" if most else f"round {last}"


def memory(report: Report) -> str:
    """What was remembered: "3 sessions, 2026-09-01 to 2026-11-02, used for 12 of 12 findings"; else nothing."""
    found = report.run.memory
    if found is None:
        return ""
    days = visible(found.first) + (f" to {visible(found.last)}" if found.last != found.first else "")
    text = f"{plural(found.sessions, 'session')}, {days}, used for {found.findings} of {report.family.size} findings"
    return f"{text}, host x {format_number(found.factor, 3)}" if found.factor > 1 else text


def _design(sides: list[Counts]) -> str:
    first = sides[0]
    sessions = f"{plural(first.session, 'session')}, " if first.session > 1 else ""
    balanced = first.build and first.execution and not first.execution % first.build
    if balanced and not first.iteration % first.execution and all(side == first for side in sides):
        executions, iterations = first.execution // first.build, first.iteration // first.execution
        builds = plural(first.build, "build")
        return f"{sessions}{builds} x {plural(executions, 'execution')} x {plural(iterations, 'iteration')}"
    return ", ".join(
        _span([getattr(side, level) for side in sides], level)
        for level in ("session", "build", "execution", "iteration")
        if level != "session" or sessions
    )


def _span(numbers: list[int], noun: str) -> str:
    low, high = min(numbers), max(numbers)
    return plural(low, noun) if low == high else f"{low} to {high} {noun}s"


def error_level(report: Report) -> str:
    """How errors are shared: the level of the whole report, the method and over how many findings."""
    family = report.family
    confidence = report.policy.gate.get("confidence")
    levels = [confidence] if isinstance(confidence, (int, float)) else [f.ratio.confidence for f in report.findings[:1]]
    over = plural(family.size, "finding")
    if not levels or not known(levels[0]):
        return f"{visible(family.method)} over {over}"
    both, one = format_percent(1 - levels[0]), format_percent((1 - levels[0]) / 2)
    if family.method == "none":
        return f"{both} for each of {over}, {one} of it for a false regression (family: none)"
    text = f"{both} for the whole report, {one} of it for a false regression"
    return f"{text}, shared over {over} (family: {visible(family.method)})" if family.size else text


def settings(table: Mapping[str, Any]) -> str:
    """Write a table of rules in one line: "threshold 3%, floor 1us"."""
    said = {key: value for key, value in table.items() if value is not None and (value != "*" or key == "benchmark")}
    return ", ".join(f"{visible(key)} {setting(key, value)}" for key, value in said.items())


def setting(key: str, value: object) -> str:
    """Write one value of a rule or of a fact about the host; shares that come as numbers become percentages."""
    if key in ("threshold", "up_to", "confidence") and isinstance(value, float) and known(value):
        return format_percent(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{visible(str(k))} {setting(str(k), v)}" for k, v in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(setting("", item) for item in value)
    return "unknown" if value is None or (isinstance(value, float) and not known(value)) else visible(str(value))


# --- numbers --------------------------------------------------------------------------------------------------------


def format_percent(share: float) -> str:
    """Write a share as it was configured, without rounding what tells it from 100%: "3%", "99.58%"."""
    if not known(share):
        return "unknown"
    distance = abs(1 - share) * 100
    if 0 < distance < 10 and share > 0.5:
        places = max(0, 1 - math.floor(math.log10(distance)))
        text = f"{share * 100:.{places}f}"
        return f"{text.rstrip('0').rstrip('.') if '.' in text else text}%"
    return str(Share(float(f"{share:.4g}")))


def format_ratio(ratio: float | None) -> str:
    """Write a ratio: "1.0510"."""
    return f"{ratio:.4f}" if known(ratio) else "unknown"


def format_p(p: float | None) -> str:
    """Write a p value: "0.0048", "< 0.0001", "none"."""
    if not known(p):
        return "none"
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}" if p < 0.1 else f"{p:.2f}"


def uniform(values: Iterable[str]) -> str | None:
    """Return the text that all have in common, or None."""
    found = set(values)
    return found.pop() if len(found) == 1 else None


def confidence(report: Report) -> str:
    """Write the confidence of the findings' intervals when all have the same: "95%", else nothing."""
    return uniform(format_percent(f.ratio.confidence) for f in report.findings) or ""


def capitalized(text: str) -> str:
    """Begin a sentence with a capital, leaving the rest as it is."""
    return text[:1].upper() + text[1:]
