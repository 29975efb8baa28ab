"""Report -> one self-contained HTML file: what the first screen says, and everything that its sections hold."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from types import SimpleNamespace

from msgspec.structs import replace

from gate.decide.importance import MOST, ordered
from gate.document import html
from gate.document.document import (
    Code,
    Document,
    Facts,
    Figures,
    Fold,
    Items,
    Part,
    Pointers,
    Results,
    Section,
    Statement,
    Tally,
)
from gate.model import SIDES, Finding, Report
from gate.report import Links, parts
from gate.report.cards import NAME, cards, readings, shared_notes, ticks
from gate.report.material import Material, Shown, material_of
from gate.words import numbers, reports, sameness, verdict_line, views
from gate.words.failures import grouped
from gate.words.sameness import say_builds
from gate.words.short_names import Names
from gate.writing import amounts
from gate.writing.plain import clip, visible
from gate.writing.units import agree, plural

_OUTPUT = 400
_HOST = {
    "hostname": "host, hashed", "boot_id": "boot, hashed", "cores": "processors", "affinity": "processors allowed",
    "priority": "nice value of starts", "cpu": "processor",
}  # fmt: skip


def render(subject: Shown, links: Links) -> str:  # noqa: ARG001  # of the Protocol
    """Write the page with its pictures."""
    return written(subject.report, material_of(subject))


def written(report: Report, material: Material | None = None) -> str:
    """Write the page: readable without JavaScript, it loads nothing.

    material: what is at hand beside the report; None: nothing, so that there are no pictures of values.
    """
    return html.render(document(report, material or Material()))


def document(report: Report, material: Material) -> Document:
    """Bring a report and what is at hand beside it into a page, the most important finding first."""
    found, names, again = ordered(report.findings), Names(report), again_of(report, material)
    table = parts.results(found, names)
    table = replace(table, rows=[replace(row, id=f"finding-{n}") for n, row in enumerate(table.rows, 1)])
    failed: list[Part] = [
        parts.failure(group, report, None, 50, _OUTPUT, f"failure-{number}")
        for number, group in enumerate(grouped(report.failures, by_output=True), 1)
    ]
    warnings = [each.sentence() for each in reports.warnings(report)]
    sections = [
        Section("Failures", "failures", failed),
        _results(report, found, table, warnings, names),
        Section("Warnings", "warnings", [Items(warnings, "rest")]),
        *([_details(report, found, table, material, names, again.one)] if found else []),
        parts.functions(report, names, None, None, table=True),
    ]
    # what is no such time is shown as it is
    created = _short(re.sub(r"^(\S{10})T(\d\d:\d\d):[\d.]+Z$", r"\1 \2 UTC", report.run.created or ""))
    written = f" {_short(report.run.perfgate)}" if report.run.perfgate else ""
    return Document(
        "perfgate",
        verdict_line.text(report),
        [
            [parts.headline(report), Facts(_facts(report, found, names))],
            [part for part in sections if any(not isinstance(own, Items) or own.texts for own in part.parts)],
            [*behind_of(report, names, again)],
        ],
        "",
        f"Written by perfgate{written}.",
        about=" · ".join(filter(None, (created, f"exit code {report.exit_code}"))),
        behind="How it was measured",
    )


_READ_BARS = (
    "The line is the {interval}, the mark the estimate, the vertical line no change. The shaded band is the "
    "threshold: a regression or an improvement is entirely beyond it, also by the interval that decided, which the "
    "details have; one that crosses its edge is too noisy. An arrow marks an interval that continues beyond the axis "
    "or has no end."
)


def _results(
    report: Report, found: Sequence[Finding], table: Results, warnings: Sequence[str], names: Names
) -> Section:
    """Show all results on one axis, with how many there are of what, and how to read it."""
    compared = f"Compared: {', '.join(filter(None, (table.quantity, table.better)))}. " if table.quantity else ""
    most = "The change is head/base in percent. The most important finding comes first; a name leads to its details."
    read = [f"{compared}{most}", _READ_BARS.format(interval=table.interval)]
    read += [f"{text}." for text in (reports.basis(found), *map(reports.capitalized, views.clauses(found))) if text]
    read += ["p50 is the median."] if any(f.statistic == "p50" for f in found) else []
    counts, failed, warned = reports.tallies(report), len(report.failures), len(warnings)
    counts += [Tally(failed, "failed", "regression", link="failures")] if failed else []
    counts += [Tally(len(report.new), "new")] if report.new else []
    counts += [Tally(warned, agree(warned, "warning", "warnings"), link="warnings")] if warned else []
    left, right = (reports.uniform(amounts.direction(f, ratio) for f in found) or "" for ratio in (0.5, 2.0))
    shown = replace(table, counts=tuple(counts), ways=(left, right), ticks=ticks(found, table.scale))
    nothing = "Nothing was compared."
    if report.identical:
        nothing = f"Nothing was measured: {len(report.identical)} unaffected."
    told: list[Part] = [Statement("" if found else nothing), shown, Facts(parts.beside(report, names))]
    return Section("Results", "findings", told, "\n".join(read if found else ()))


_READ_DETAILS = (
    "p tests against the threshold, not against no change. Adjusted p is after correction for multiple comparisons; it "
    "must be below {level} for a regression or an improvement (p counts both directions, so half of it is for a false "
    "regression)."
)
_READ_LOOKS = (
    "Measuring may stop at an interim check. Each uses more than the configured confidence, so that all of them "
    "together keep it (a repeated confidence interval)."
)
_READ_LEVELS = (
    "Variance by level: S² is the variance observed at a level, including the share of the levels below; T² is the "
    "variance of the level alone, and a negative one adds nothing. “Of a value” is the level's share in the variance "
    "of a single value, “of the mean” in the variance of the mean (T² divided by its count), on which the interval is"
    " based. More units of the level with the largest share narrow the interval most. More builds reduce all shares, "
    "because each build has its own starts and values. Relative is √S² over the mean."
)


def _details(
    report: Report, found: Sequence[Finding], table: Results, material: Material, names: Names, one: str
) -> Section:
    """Give each result its card, below what is said once of several of them."""
    shown = cards(report, names, found, table, material, one)
    confidence = report.policy.gate.get("confidence")
    level = amounts.format_percent(1 - confidence) if isinstance(confidence, float) else "the false-alarm limit"
    drawn = readings(
        each for card in shown for part in card.parts if isinstance(part, Figures) for each in part.figures
    )
    rounds = "Builds are numbered from 0, as in measurements.jsonl; a round is build k of base and of head."
    looks = [_READ_LOOKS] if report.run.looks is not None else []
    read = [*([rounds] if drawn else []), *drawn, _READ_DETAILS.format(level=level), *looks, _READ_LEVELS]
    said = ""
    if any(f.ratio.method != "exact" for f in found) and not material.cases:
        said = "This page has no pictures of the values: they were not available when it was written. "
        said += "`perfgate report` on the measurements draws them."
    elif len(found) > MOST:
        said = (
            f"The {MOST} results that matter most have pictures; `{one} --benchmark GLOB --html some.html` draws any, "
        )
        said += "and decides over the selected ones."
    of = {}
    for f, row in zip(found, table.rows, strict=True):
        label = ", ".join(filter(None, ("" if table.quantity else row.quantity, row.settings)))
        of[id(f)] = (row.id, row.name, label)
    shared = [Pointers(f"{each.text}:", tuple(of[id(f)] for f in each.of)) for each in shared_notes(found).values()]
    several = Section("Warnings of several results", "shared-warnings", [*shared])
    told: list[Part] = [Statement(said), *([several] if shared else []), *shown]
    return Section("Results in detail", "details", told, "\n".join(read))


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
