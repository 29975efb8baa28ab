"""The page as a whole: what the first screen says, and everything that its sections hold."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from markupsafe import Markup

from gate.decide.importance import MOST, ordered
from gate.document.html import Fact, prose
from gate.model import Commit, Finding, QuantileCurve, Report
from gate.model.case import case_id
from gate.model.warnings.hosts import HostWarning
from gate.report.measurements import Material
from gate.report.page.builds import Builds, builds_of
from gate.report.page.embedded import Data, data_of, embedded_report
from gate.report.page.explanations import Why, whys_of
from gate.report.page.findings import NAME, Row, rows_of, shared_notes, thresholds
from gate.report.page.forest import Forest, forest_of
from gate.report.page.host import Span, spans
from gate.report.page.pictures import pictures_of, readings
from gate.report.page.reproduce import Again, again_of, is_dirty, whose_rules
from gate.units import format_value
from gate.words import cost, creep, explanations, numbers, reports
from gate.words import findings as finding_words
from gate.words.failures import FailureGroup, grouped
from gate.words.names import Names
from gate.writing import amounts
from gate.writing.phrases import listed, named
from gate.writing.plain import clip, visible

_LISTED = 20
_HOST = {
    "hostname": "host, hashed", "boot_id": "boot, hashed", "cores": "processors", "affinity": "processors allowed",
    "cpu": "processor",
}  # fmt: skip


class Page(msgspec.Struct, frozen=True):
    """Everything that the template arranges."""

    report: Report
    names: Names
    facts: tuple[Fact, ...]
    next: Markup | None
    level: str
    groups: tuple[FailureGroup, ...]
    forest: Forest
    threshold: str
    ways: tuple[str, str]
    """What a change to the left and to the right on the axis is called; empty: not the same for all rows."""
    has_median: bool
    readings: tuple[tuple[str, str], ...]
    trees: tuple[str, ...]
    rows: tuple[Row, ...]
    shared: tuple[tuple[str, tuple[Row, ...]], ...]
    """What is said once of several findings, and of which."""
    whys: tuple[Why, ...]
    unprofiled: tuple[Markup, ...]
    without_values: bool
    loose_curves: tuple[QuantileCurve, ...]
    overall: tuple[Fact, ...]
    run: tuple[Fact, ...]
    plan: tuple[Fact, ...]
    cost: tuple[cost.Part, ...]
    advice: tuple[Markup, ...]
    environment: str
    builds: Builds
    host: tuple[Fact, ...]
    host_warnings: tuple[str, ...]
    spans: tuple[Span, ...]
    methods: tuple[str, ...]
    data: Data
    embedded: Markup | None
    created: str
    again: Again
    whose: str
    uncommitted: bool
    most: int


def page_of(report: Report, material: Material) -> Page:
    """Bring a report and what is at hand beside it into the form of the page."""
    found = ordered(report.findings)
    forest = forest_of(found)
    shown = pictures_of(found, material.cases, report.curves)
    data = data_of(material.attachments)
    again = again_of(report, data, material.options)
    names = Names(report)
    whys = tuple(whys_of(report, names))
    keys = {case_id(finding) for finding in found}
    rows = rows_of(report, names, found, forest, shown, material.cases, again)
    of = {id(row.finding): row for row in rows}
    return Page(
        report=report,
        names=names,
        facts=tuple(_facts(report, found, names)),
        level=_level(report),
        next=prose(reports.next_step(report)) or None,
        groups=tuple(grouped(report.failures, by_output=True)),
        forest=forest,
        threshold=reports.uniform(map(numbers.threshold, found)) or "",
        ways=(_way(found, 0.5), _way(found, 2.0)),
        has_median=any(f.statistic == "p50" for f in found),
        readings=tuple(readings(figure for each in shown for figure in each.figures)),
        rows=tuple(rows),
        shared=tuple((each.text, tuple(of[id(f)] for f in each.of)) for each in shared_notes(found).values()),
        whys=whys,
        trees=tuple(dict.fromkeys(text for why in whys if why.flame is not None for text in why.flame.reading)),
        unprofiled=tuple(prose(explanations.unprofiled(each, names)) for each in report.unprofiled),
        without_values=any(f.ratio.method != "exact" for f in found) and not material.cases,
        loose_curves=tuple(curve for curve in report.curves if case_id(curve) not in keys),
        overall=tuple(_overall(report)),
        run=tuple(_run(report)),
        plan=tuple(_plan(report)),
        cost=tuple(cost.parts(report.run.cost)),
        advice=tuple(prose(line) for line in material.advice),
        environment=_environment((report.run.settings or {}).get("env")),
        builds=builds_of(report.run.builds),
        host=tuple(_host(report.run.host or {})),
        host_warnings=tuple(visible(each.sentence()) for each in report.warnings if isinstance(each, HostWarning)),
        spans=tuple(spans(report.run.states)),
        methods=tuple(dict.fromkeys(finding_words.finding_method(f) for f in found)),
        data=data,
        embedded=embedded_report(report),
        created=_moment(report.run.created),
        again=again,
        whose=whose_rules(report.policy),
        uncommitted=is_dirty((report.run.base, report.run.head)),
        most=MOST,
    )


def _level(report: Report) -> str:
    confidence = report.policy.gate.get("confidence")
    return amounts.format_percent(1 - confidence) if isinstance(confidence, float) else "the error level"


def _way(found: Sequence[Finding], ratio: float) -> str:
    return reports.uniform(amounts.direction(f, ratio) for f in found) or ""


# --- the first screen -------------------------------------------------------------------------------------------------


def _facts(report: Report, found: Sequence[Finding], names: Names) -> list[Fact]:
    facts = [_commit("base", report.run.base), _commit("head", report.run.head)]
    if report.creep is not None:
        facts.append(Fact("creep check", creep.line(report)))
        facts += [
            Fact(f"suspect of {names.benchmark(case.benchmark, NAME)}", creep.suspect(one))
            for case, found in creep.suspects(report.creep)
            for one in found
        ]
    facts.append(Fact("measured", reports.measured(report)))
    if found:
        facts.append(Fact("threshold", thresholds(found)))
    return facts


def _commit(name: str, side: Commit | None) -> Fact:
    if side is None or not (side.ref or side.sha or side.dirty):
        return Fact(name, "unknown")
    ref, sha = side.ref or "", side.sha or ""
    note = "with uncommitted changes" if side.dirty else ""
    # a ref that is the commit itself says it twice
    shown = "" if sha and sha.startswith(ref) else clip(visible(ref), NAME)
    return Fact(name, ", ".join(part for part in (shown, note) if part), clip(visible(sha[:12]), NAME))


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
    facts += [Fact("chosen", clip(visible(run.chosen), 1000))] if run.chosen else []
    return [*facts, *([Fact("sandbox", str(run.sandbox))] if run.sandbox else [])]


def _plan(report: Report) -> list[Fact]:
    facts = [Fact("measured", reports.measured(report))]
    plan = (report.run.settings or {}).get("plan")
    if isinstance(plan, Mapping) and plan:
        facts.append(Fact("plan", clip(reports.settings(plan), 1000)))
    for name, text in (("looks", reports.looks(report)), ("memory", reports.memory(report))):
        facts += [Fact(name, text)] if text else []
    build = (report.run.settings or {}).get("build")
    if isinstance(build, Mapping) and build:
        facts.append(Fact("build", clip(reports.settings({k: v for k, v in build.items() if v not in ([], ())}), 2000)))
    return facts


def _environment(env: Any) -> str:
    """Say which names the programs saw of the caller's environment, and what was set for them."""
    if not isinstance(env, Mapping):
        return ""
    passed, added = env.get("pass"), env.get("set")
    words = []
    if isinstance(passed, Sequence) and not isinstance(passed, str) and passed:
        words.append(f"passed: {listed([_short(str(name)) for name in passed], _LISTED)}")
    if isinstance(added, Mapping) and added:
        each = [f"{_short(str(name))}={_short(str(value))}" for name, value in added.items()]
        words.append(f"set: {listed(each, _LISTED)}")
    return "; ".join(words) or "nothing passed or set beyond what every program gets"


def _host(host: Mapping[str, Any]) -> list[Fact]:
    return [Fact(_HOST.get(key) or _short(key), clip(_host_fact(key, value), 500)) for key, value in host.items()]


def _host_fact(key: str, value: Any) -> str:
    if key == "memory" and isinstance(value, int) and not isinstance(value, bool):
        return format_value(value, "B")
    return reports.setting(key, value)


def _moment(created: str | None) -> str:
    """Write a time for people: "2026-11-20 09:00 UTC"; what is none as it is."""
    found = re.fullmatch(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d):[\d.]+Z", created or "", re.ASCII)
    return f"{found[1]} {found[2]} UTC" if found else _short(created or "")


def _short(text: str) -> str:
    return clip(visible(text), NAME)
