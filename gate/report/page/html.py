"""Report -> one self-contained HTML file: what the first screen says, and everything that its sections hold."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from gate.decide.importance import MOST, ordered
from gate.document.document import Code, Facts, Fold, Items, Part, Section, Statement
from gate.document.html import hash_of, prose, render_template, shown
from gate.model import SIDES, VERDICTS, Finding, Report, outcomes
from gate.report import parts
from gate.report.measurements import Material
from gate.report.page.findings import (
    MARKS,
    NAME,
    difference,
    forest_of,
    readings,
    rows_of,
    shared_notes,
    sort_key,
)
from gate.units import format_confidence, plural
from gate.words import bars, numbers, reports, sameness, verdict_line, views
from gate.words import findings as finding_words
from gate.words.failures import grouped
from gate.words.sameness import say_builds
from gate.words.short_names import Names
from gate.writing import amounts
from gate.writing.plain import clip, visible

_OUTPUT = 400
_HOST = {
    "hostname": "host, hashed", "boot_id": "boot, hashed", "cores": "processors", "affinity": "processors allowed",
    "priority": "nice value of starts", "cpu": "processor",
}  # fmt: skip


def render(report: Report, material: Material | None = None) -> str:
    """Write the page: readable without JavaScript, it loads nothing.

    material: what is at hand beside the report; None: nothing, so that there are no pictures of values.
    """
    confidence = reports.confidence(report.findings)
    values: dict[str, Any] = {
        "page": page_of(report, material or Material()),
        "report": report,
        "title": verdict_line.text(report),
        "line": verdict_line.verdict_line(report),
        "mark": bars.of_report(report),
        "tallies": reports.tallies(report),
        "neutral": isinstance(report.summary, outcomes.NothingToCompare),
        "shapes": bars.SHAPES,
        "same": reports.uniform(finding_words.quantity(f) for f in report.findings),
        "better": reports.uniform(f.better for f in report.findings),
        "clauses": views.clauses(report.findings),
        "confidence": confidence,
        "confidences": reports.basis(report.findings),
        "shown_interval": lambda f: numbers.in_points(f, numbers.interval_in(f.ratio, confidence)),
        # lets the page's one script run
        "script_hash": hash_of("report.js"),
        "words": reports,
        "written": numbers,
        "plural": plural,
        "finding_words": finding_words,
        "sameness": sameness,
        "difference": difference,
        "sort_key": sort_key,
        "name_width": NAME,
        "short": _short,
        "level": format_confidence,
        "marks": MARKS,
        "verdicts": VERDICTS,
    }
    return render_template("report.html.j2", values, html=True, finalize=shown).lstrip()


def page_of(report: Report, material: Material) -> SimpleNamespace:
    """Bring a report and what is at hand beside it into what the template arranges."""
    found = ordered(report.findings)
    forest = forest_of(found)
    again = again_of(report, material)
    names = Names(report)
    rows = rows_of(report, names, found, forest, material, again.one)
    of = {id(row.finding): row for row in rows}
    confidence = report.policy.gate.get("confidence")
    left, right = (reports.uniform(amounts.direction(f, ratio) for f in found) or "" for ratio in (0.5, 2.0))
    failed: list[Part] = [
        parts.failure(group, report, None, 50, _OUTPUT, f"failure-{number}")
        for number, group in enumerate(grouped(report.failures, by_output=True), 1)
    ]
    return SimpleNamespace(
        facts=_facts(report, found, names),
        level=amounts.format_percent(1 - confidence) if isinstance(confidence, float) else "the false-alarm limit",
        next=prose(reports.next_step(report)) or None,
        failures=Section("Failures", "failures", failed),
        forest=forest,
        threshold=reports.uniform(map(numbers.threshold, found)) or "",
        # what a change to the left and to the right on the axis is called; empty: not the same for all rows
        ways=(left, right),
        has_median=any(f.statistic == "p50" for f in found),
        readings=readings(figure for row in rows for figure in row.figures),
        rows=rows,
        beside=Facts(parts.beside(report, names)),
        warnings=Items([each.sentence() for each in reports.warnings(report)], "warning"),
        # what is said once of several findings, and of which
        shared=[(each.text, [of[id(f)] for f in each.of]) for each in shared_notes(found).values()],
        why=parts.functions(report, names, None, None, table=True),
        without_values=any(f.ratio.method != "exact" for f in found) and not material.cases,
        behind=behind_of(report, names, again),
        # what is no such time is shown as it is
        created=_short(re.sub(r"^(\S{10})T(\d\d:\d\d):[\d.]+Z$", r"\1 \2 UTC", report.run.created or "")),
        again=again,
        most=MOST,
    )


def again_of(report: Report, material: Material) -> SimpleNamespace:
    """Write the commands that decide, render (one: but for the name of a benchmark) and measure again.

    measure: empty where the seed is not known.
    """
    names = [visible(name) for name in dict.fromkeys(material.files or ("measurements.jsonl",))]
    # another selection would add to it
    pairs = zip(material.options[::2], material.options[1::2], strict=False)
    kept = [word for pair in pairs if pair[0] != "--benchmark" for word in pair]
    run, measure = report.run, ""
    if run.seed is not None:
        words = ["perfgate check"]
        for name, side in (("base", run.base), ("head", run.head)):
            # what was not committed is the working tree, which check takes where no head is named
            if side is not None and not side.dirty and (revision := side.sha or side.ref):
                words.append(f"--{name} {shlex.quote(clip(visible(revision), 200))}")
        measure = visible(" ".join([*words, f"--seed {run.seed}"]))
    return SimpleNamespace(
        decide=visible(shlex.join(["perfgate", "decide", *names, *material.options])),
        one=visible(shlex.join(["perfgate", "report", *names, *kept])),
        measure=measure,
    )


# --- the first screen -------------------------------------------------------------------------------------------------


def _facts(report: Report, found: Sequence[Finding], names: Names) -> list[tuple[str, str]]:
    sides = (("base", report.run.base), ("head", report.run.head))
    facts = [(name, clip(reports.commit(side), NAME)) for name, side in sides]
    measured = "; ".join(filter(None, (reports.measured(report), reports.caution(report))))
    facts += [("creep check", reports.creep(report)), ("measured", measured)]
    facts += [("threshold", reports.uniform(map(numbers.threshold, found)) or "by result")] if found else []
    return [(name, text) for name, text in (*facts, ("names begin with", names.prefix)) if text]


# --- what is folded ---------------------------------------------------------------------------------------------------

_SEVERAL_BUILDS = (
    "perfgate builds base and head several times, because the layout of a single build can make it fast or slow by "
    "chance. Each round builds both sides and starts them by turns in random order, so that drift of the machine "
    "affects both. The interval of the ratio head/base includes the variance of builds, starts and values; builds "
    "matter most."
)
_TWO_PROGRAMS = (
    "Each round starts both programs by turns in random order, so that drift of the machine affects both. The interval "
    "of the ratio head/base includes the variance of rounds, starts and values."
)
_VERDICT = (
    " A result is a regression only if the whole interval, after correction for multiple comparisons, is beyond its "
    "threshold. If the interval is too wide, it is too noisy to say."
)
_SOURCES = (
    "Sources: Kalibera and Jones, Rigorous Benchmarking in Reasonable Time (2013) and Quantifying Performance Changes "
    "with Effect Size Confidence Intervals (2012), for levels, Table VII and the interval; NIST Technical Note 1855 "
    "for the pictures of values; quantile regression for the change by quantile. Its bands are clustered by build, "
    "without correction for multiple comparisons: they show where in the distribution a change is, and no verdict is "
    "based on them."
)


def behind_of(report: Report, names: Names, again: SimpleNamespace) -> list[Fold]:
    """Say how it was measured, by which rules, and how to do all of it again."""
    identical = [parts.unaffected(report, names)] if report.identical or sameness.doubts(report) else []
    recorded = parts.recorded(report, names)
    apart = [Fold(recorded.short, [recorded], "recorded", label=plural(len(recorded.rows), "metric"))]
    method = (_TWO_PROGRAMS if reports.is_of_programs(report) else _SEVERAL_BUILDS) + _VERDICT
    builds = [say_builds(side, [each for each in report.run.builds if each.side == side]) for side in SIDES]
    told = Items([text for text in builds if text], "rest")
    planned = Statement("`perfgate plan` recommends counts for the next run.")
    host = [
        (_HOST.get(key) or _short(key), clip(reports.setting(key, value), 500))
        for key, value in (report.run.host or {}).items()
    ]
    policy = report.policy
    rules = [("source", policy.source)]
    rules += [(_short(key), reports.setting(key, value)) for key, value in policy.gate.items() if value is not None]
    rules += [("override", reports.settings(each)) for each in policy.override]
    rules += [("accept", reports.settings(each)) for each in policy.accept]
    return [
        *identical,
        *(apart if recorded.rows else []),
        Fold("Method", [Statement(method), Statement(_SOURCES)], "method"),
        Fold("Plan", [Facts(_plan(report)), told, planned], "plan", label=reports.measured(report)),
        Fold("Run and host", [Facts([*_run(report), *(host or [("host", "unknown")])])], "host"),
        Fold("Rules in force", [Facts(rules)], "rules", label=reports.error_level(report)),
        Fold("How to reproduce", _reproduce(report, again), "reproduce"),
    ]


def _run(report: Report) -> list[tuple[str, str]]:
    run = report.run
    told = [("run", run.id), ("created", run.created), ("perfgate", run.perfgate), ("seed", run.seed)]
    told += [(f"{name}, commit", side.sha if side else None) for name, side in (("base", run.base), ("head", run.head))]
    return [(name, clip(visible(str(value)), 200)) for name, value in told if value not in (None, "")]


def _plan(report: Report) -> list[tuple[str, str]]:
    told = [("measured", reports.measured(report))]
    for name in ("plan", "build", "env"):
        table = (report.run.settings or {}).get(name)
        if isinstance(table, Mapping):
            told.append((name, reports.settings({k: v for k, v in table.items() if v not in ([], (), {})})))
    # the rules have a section of their own
    told += [each for each in reports.behind(report) if each[0] not in ("rules", "override", "accept", "alarms")]
    return [(name, clip(text, 2000)) for name, text in told if text]


def _reproduce(report: Report, again: SimpleNamespace) -> list[Part]:
    # no commit gives uncommitted changes again
    uncommitted = any(side is not None and side.dirty for side in (report.run.base, report.run.head))
    more = " Uncommitted changes are in no commit: this measures the working tree as it is now." * uncommitted
    decide = "To decide again from the measurements beside this page, by the rules that they contain (the same "
    decide += "measurements and rules give the same report):"
    page = "To make a page again, of all benchmarks, or of some with all their pictures (`--benchmark GLOB`, decided "
    page += "over these alone):"
    seed = f"{report.run.seed} is the seed of builds and of the order of executions"
    steps = {decide: again.decide, page: f"{again.one} --html again.html"}
    steps |= {f"To measure again, in the repository; {seed}.{more}": again.measure} if again.measure else {}
    told: list[Part] = []
    for text, command in steps.items():
        told += [Statement(text), Code(command)]
    commands = [(_short(name), command) for name, command in (report.run.commands or {}).items()]
    if commands:
        told += [Statement("Measured commands:"), Facts(commands, code=True)]
    return told


def _short(text: str) -> str:
    return clip(visible(text), NAME)
