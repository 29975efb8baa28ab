"""Report -> one self-contained HTML file: what the first screen says, and everything that its sections hold."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from gate.decide.importance import MOST, ordered
from gate.document.html import Fact, hash_of, prose, render_template
from gate.model import SIDES, VERDICTS, Finding, Report, outcomes
from gate.report.measurements import Material
from gate.report.page.findings import (
    MARKS,
    NAME,
    difference,
    forest_of,
    level_rows,
    readings,
    rows_of,
    shared_notes,
    sort_key,
)
from gate.units import format_confidence, format_number, format_share, plural
from gate.words import bars, explanations, failures, numbers, reports, sameness, verdict_line, views
from gate.words import findings as finding_words
from gate.words.failures import grouped
from gate.words.sameness import say_builds
from gate.words.short_names import Names
from gate.writing import amounts
from gate.writing.amounts import known
from gate.writing.last_lines import last_lines
from gate.writing.phrases import machine, named
from gate.writing.plain import clip, visible

_OUTPUT = 400
_LISTED = 20
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
        "explained": explanations,
        "amounts": amounts,
        "plural": plural,
        "finding_words": finding_words,
        "failures": failures,
        "sameness": sameness,
        "views": views,
        "machine": machine,
        "visible": visible,
        "known": known,
        "difference": difference,
        "level_rows": level_rows,
        "sort_key": sort_key,
        "name_width": NAME,
        "short": _short,
        "output": lambda failure: "\n".join(last_lines(failure.stderr, _OUTPUT)),
        "number": format_number,
        "level": format_confidence,
        "share": format_share,
        "marks": MARKS,
        "verdicts": VERDICTS,
    }
    return render_template("report.html.j2", values, html=True).lstrip()


def page_of(report: Report, material: Material) -> SimpleNamespace:
    """Bring a report and what is at hand beside it into what the template arranges."""
    found = ordered(report.findings)
    forest = forest_of(found)
    again = again_of(report, material)
    names = Names(report)
    rows = rows_of(report, names, found, forest, material, again.one)
    of = {id(row.finding): row for row in rows}
    confidence = report.policy.gate.get("confidence")
    sides = [(side, [build for build in report.run.builds if build.side == side]) for side in SIDES]
    left, right = (reports.uniform(amounts.direction(f, ratio) for f in found) or "" for ratio in (0.5, 2.0))
    return SimpleNamespace(
        names=names,
        facts=_facts(report, found, names),
        level=amounts.format_percent(1 - confidence) if isinstance(confidence, float) else "the false-alarm limit",
        next=prose(reports.next_step(report)) or None,
        groups=grouped(report.failures, by_output=True),
        forest=forest,
        threshold=reports.uniform(map(numbers.threshold, found)) or "",
        # what a change to the left and to the right on the axis is called; empty: not the same for all rows
        ways=(left, right),
        has_median=any(f.statistic == "p50" for f in found),
        readings=readings(figure for row in rows for figure in row.figures),
        rows=rows,
        # what is said once of several findings, and of which
        shared=[(each.text, [of[id(f)] for f in each.of]) for each in shared_notes(found).values()],
        whys=[(f"why-{number}", why) for number, why in enumerate(report.explanations, 1)],
        unprofiled=[prose(explanations.unprofiled(each, names)) for each in report.unprofiled],
        without_values=any(f.ratio.method != "exact" for f in found) and not material.cases,
        overall=_overall(report),
        run=_run(report),
        plan=_plan(report),
        made=[text for side, own in sides if (text := say_builds(side, own))],
        host=[
            Fact(_HOST.get(key) or _short(key), clip(reports.setting(key, value), 500))
            for key, value in (report.run.host or {}).items()
        ],
        # what is no such time is shown as it is
        created=_short(re.sub(r"^(\S{10})T(\d\d:\d\d):[\d.]+Z$", r"\1 \2 UTC", report.run.created or "")),
        again=again,
        # no commit gives uncommitted changes again
        uncommitted=any(side is not None and bool(side.dirty) for side in (report.run.base, report.run.head)),
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


def _facts(report: Report, found: Sequence[Finding], names: Names) -> list[Fact]:
    facts = [
        Fact(name, clip(reports.commit(side), NAME))
        for name, side in (("base", report.run.base), ("head", report.run.head))
    ]
    caution = reports.caution(report)
    if report.creep is not None:
        facts.append(Fact("creep check", reports.creep(report)))
    facts.append(Fact("measured", "; ".join(filter(None, (reports.measured(report), caution)))))
    if found:
        facts.append(Fact("threshold", reports.uniform(map(numbers.threshold, found)) or "by result"))
    if names.prefix:
        facts.append(Fact("names begin with", names.prefix))
    return facts


# --- the sections -----------------------------------------------------------------------------------------------------


def _overall(report: Report) -> list[Fact]:
    facts = []
    for item in report.overall:
        text = finding_words.overall(item)
        if report.run.looks is not None and item.units < report.run.rounds.done:
            text += ", over the rounds that all of them have"
        without = f", without {named(item.dropped, _LISTED)}" if item.dropped else ""
        facts.append(Fact(_short(finding_words.overall_name(item)), text + without))
    return facts


def _run(report: Report) -> list[Fact]:
    run = report.run
    known = (("run", run.id), ("created", run.created), ("perfgate", run.perfgate), ("seed", run.seed))
    facts = [Fact(name, clip(visible(str(value)), 200)) for name, value in known if value is not None]
    for name, side in (("base", run.base), ("head", run.head)):
        if side is not None and side.sha:
            facts.append(Fact(f"{name}, commit", "", clip(visible(side.sha), NAME)))
    return facts


def _plan(report: Report) -> list[Fact]:
    told = [("measured", reports.measured(report))]
    for name in ("plan", "build", "env"):
        table = (report.run.settings or {}).get(name)
        if isinstance(table, Mapping):
            told.append((name, reports.settings({k: v for k, v in table.items() if v not in ([], (), {})})))
    # the rules have a section of their own
    told += [each for each in reports.behind(report) if each[0] not in ("rules", "override", "accept", "alarms")]
    return [Fact(name, clip(text, 2000)) for name, text in told if text]


def _short(text: str) -> str:
    return clip(visible(text), NAME)
