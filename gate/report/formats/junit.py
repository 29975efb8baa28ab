"""Report -> JUnit XML: one test case a finding, so that CI systems show it; green exactly when the exit code is 0."""

from __future__ import annotations

import re
from collections import Counter
from typing import Literal
from xml.etree import ElementTree as ET

import msgspec

from gate.decide.next_steps import blocks
from gate.model import UNBUILT, Finding, Identical, Report, outcomes
from gate.model.report import failing
from gate.report import Links
from gate.report.material import Shown
from gate.words import failures, notes, numbers, reports, sameness, verdict_line, views
from gate.words import findings as finding_words
from gate.words.failures import FailureGroup, grouped
from gate.words.short_names import Names
from gate.writing.amounts import both_amounts, known
from gate.writing.last_lines import last_lines
from gate.writing.plain import clip, visible

_SUITE = "perfgate"
_NAME = 500
_TEXT = 2000
_LINES = 60
Outcome = Literal["failure", "error", "skipped", "passed"]


class _Case(msgspec.Struct, frozen=True):
    """One test case. message: in one line; text: what else to know; kind: the type of a failure or an error."""

    classname: str
    name: str
    outcome: Outcome
    message: str
    text: str = ""
    kind: str = ""
    seconds: float = 0.0
    """The mean of head, where it is a time."""


def render(subject: Shown, links: Links) -> str:  # noqa: ARG001  # of the Protocol
    """Write a test case for each finding and failure."""
    return written(subject.report)


def written(report: Report) -> str:
    """Write the XML in the form of Jenkins' schema: one suite, a test case a finding and one a group of failures."""
    groups = grouped(report.failures, by_output=False)
    names = Names(report)
    found = [
        *(_finding(f, report, names) for f in report.findings),
        *(_identical(f, names) for f in report.identical),
        *(_failure(group, report, names) for group in groups),
    ]
    found += _whole(report, found)
    seen: Counter[tuple[str, str]] = Counter()
    totals = {
        "name": _SUITE,
        "tests": str(len(found)),
        **{noun: str(sum(c.outcome == kind for c in found)) for noun, kind in _COUNTED.items()},
        "time": f"{report.run.seconds:.3f}" if known(report.run.seconds) else "0.000",
    }
    root = ET.Element("testsuites", {key: totals[key] for key in ("name", "tests", "failures", "errors", "time")})
    created = re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", report.run.created or "")
    suite = ET.SubElement(root, "testsuite", totals | ({"timestamp": created[0]} if created else {}))
    properties = ET.SubElement(suite, "properties")
    told = {
        "base": reports.commit(report.run.base),
        "head": reports.commit(report.run.head),
        "verdict": report.verdict,
        "exit_code": str(report.exit_code),
        "confidence": reports.setting("confidence", report.policy.gate.get("confidence")),
        "rules": report.policy.source,
    }
    for name, value in told.items():
        ET.SubElement(properties, "property", {"name": name, "value": clip(visible(value), _TEXT)})
    for case in found:
        seen[case.classname, case.name] += 1
        number = seen[case.classname, case.name]
        # CI systems would take those of one name for one test that ran twice
        name = f"{case.name} ({number})" if number > 1 else case.name
        attributes = {"classname": case.classname, "name": name, "time": f"{case.seconds:.3f}"}
        element = ET.SubElement(suite, "testcase", attributes)
        marks = {} if case.outcome == "passed" else {"message": case.message}
        marks |= {"type": case.kind} if case.outcome in ("failure", "error") else {}
        element = ET.SubElement(element, "system-out" if case.outcome == "passed" else case.outcome, marks)
        element.text = "\n".join(filter(None, (case.message, case.text)))
    said = [
        verdict_line.text(report),
        reports.counts(report),
        sameness.too_long(report),
        reports.compared(report),
        report.controls.sentence() if report.controls else "",
        *(clip(visible(f"warning: {each}"), _TEXT) for each in notes.once(reports.warnings(report))),
        *(clip(visible(f"new in head, not compared: {name}"), _TEXT) for name in report.new),
    ]
    ET.SubElement(suite, "system-out").text = "\n".join(filter(None, said))
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


_COUNTED: dict[str, Outcome] = {"failures": "failure", "errors": "error", "skipped": "skipped"}


# --- test cases -----------------------------------------------------------------------------------------------------


def _finding(finding: Finding, report: Report, names: Names) -> _Case:
    settings = finding_words.factors(finding)
    # of a name that stays, whichever view decides
    several = len({each.metric for each in finding.views}) > 1
    what = f"{finding.metric} {finding.statistic}" if finding.view is None else "time" if several else finding.metric
    name = f"{names.benchmark(finding.benchmark, _NAME)}{f' [{settings}]' if settings else ''}"
    undecided: Outcome = "skipped" if finding.verdict == "inconclusive" else "passed"
    return _Case(
        classname=f"{_SUITE}.{clip(visible(what), _NAME)}",
        name=clip(name, _NAME),
        outcome="failure" if blocks(finding, report) else undecided,
        message=clip(finding_words.conclusion(finding), _TEXT),
        text="\n".join(_facts(finding)),
        kind=finding.verdict,
        seconds=finding.head.value if finding.unit == "s" and known(finding.head.value) else 0.0,
    )


def _identical(finding: Identical, names: Names) -> _Case:
    message = f"{numbers.word(finding)}: {finding.reason.sentence()}"
    what = clip(f"{visible(finding.metric)} {visible(finding.statistic)}", _NAME)
    return _Case(f"{_SUITE}.{what}", names.benchmark(finding.benchmark, _NAME), "passed", clip(message, _TEXT))


def _facts(finding: Finding) -> list[str]:
    base, head = both_amounts(finding.base.value, finding.head.value, finding.unit)
    basis = finding_words.basis(finding)
    decided = finding_words.decided(finding)
    return [
        f"base {base}, head {head}, change {numbers.in_points(finding, numbers.change(finding.ratio))}",
        *([f"interval: {numbers.in_points(finding, numbers.interval(finding.ratio))}, {basis}"] if basis else []),
        *([f"decided by: {decided}"] if decided else []),
        *([f"limit of head {numbers.limit(finding)}"] if finding.limit is not None else []),
        *views.others(finding),
        *(clip(visible(f"warning: {text}"), _TEXT) for _, text in notes.notes(finding)),
    ]


def _failure(group: FailureGroup, report: Report, names: Names) -> _Case:
    first = group[0]
    side = f"{' of' if first.kind in UNBUILT else ' on'} {first.side}" if first.side else ""
    places, settings = failures.places(group, 10, reports.top(report)), failures.settings(group)
    hint = [clip(visible(first.hint), _TEXT)] if first.hint else []
    output, steps = last_lines(first.stderr, _LINES), failures.repeat(first, report.run)
    output = [f"{failures.output_title(first)}:", *(f"  {clip(line, 400)}" for line in output)] if any(output) else []
    steps = ["to repeat it by hand:", *(f"  {clip(step, _TEXT)}" for step in steps)] if steps else []
    return _Case(
        classname=f"{_SUITE}.{first.kind}{side}" if first.benchmark else _SUITE,
        name=(names.benchmark(first.benchmark, _NAME) if first.benchmark else f"{first.kind}{side}")
        + (f" [{settings}]" if settings else ""),
        outcome="error" if failing([first], report.warnings) else "skipped",
        message=": ".join(filter(None, (failures.heading(group, names), failures.error(first)))),
        text="\n".join([*([places] if places else []), *hint, *output, *steps]),
        kind=first.kind,
    )


def _whole(report: Report, found: list[_Case]) -> list[_Case]:
    """Return a test case for the report itself where nothing else would tell that it is not green."""
    if isinstance(report.summary, outcomes.NothingToCompare):
        return [_Case(_SUITE, "compared", "skipped", verdict_line.text(report), kind="nothing-to-compare")]
    if not report.exit_code or any(case.outcome in ("failure", "error") for case in found):
        return []
    return [_Case(_SUITE, "measured", "error", verdict_line.text(report), kind=report.verdict)]
