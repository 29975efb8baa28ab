"""The one line of verdict that a report begins with: what decided, by how much, and how many more there are."""

from __future__ import annotations

from gate.document.document import VerdictLine
from gate.model import Finding, Report, Verdict, outcomes, reasons
from gate.model.outcomes import hidden_by_floor
from gate.words import findings as finding_words
from gate.words import numbers, reports, views
from gate.words.failures import sentence
from gate.words.short_names import Names
from gate.writing import amounts
from gate.writing.phrases import counted
from gate.writing.plain import clip, visible
from gate.writing.units import plural

_SAID = 400


def verdict_line(report: Report) -> VerdictLine:
    """Name the worst change and its bound: "Regression", "parse", "is 32% slower (at least 11%), threshold 10%"."""
    worst = subject(report)
    beside = reports.beside(report)
    if worst is not None:
        word = reports.capitalized(numbers.word(worst))
        # what else there is of the verdict, what failed beside it, and whether an open question blocks
        alike = [f for f in _first(report, worst.verdict) if not f.not_worse and f is not worst]
        more = counted(map(numbers.word, alike), more=[numbers.word(worst)])
        more += [plural(len(report.failures), "failure")] if report.failures else []
        more += ["failing" if report.exit_code else "not failing"] if report.verdict == "inconclusive" else []
        said = "; ".join([_changed(worst), *more, *_hidden(report, worst), *_limits(report), *beside])
        return VerdictLine(word, Names(report).label(worst), said)
    # of some the summary is the verdict by itself
    alone = isinstance(report.summary, (outcomes.NotEnoughMeasured, outcomes.NothingToCompare))
    word = report.summary.word if isinstance(report.summary, outcomes.SomeInconclusive) else report.verdict
    word = "" if alone else reports.capitalized(word)
    if isinstance(report.summary, outcomes.Failed):
        first, *rest = report.failures
        others = [plural(len(rest), "more failure")] if rest else []
        summary = [clip(visible(sentence(first)), _SAID), *others, report.summary.measured]
    else:
        summary = [clip(visible(report.summary.sentence()), _SAID)]
    said = "; ".join([*summary, *_improved(report), *_hidden(report, None), *_limits(report), *beside])
    return VerdictLine(word, "", said if word else reports.capitalized(said))


def text(report: Report) -> str:
    """Write the whole line, for a terminal."""
    return verdict_line(report).text()


def _first(report: Report, verdict: Verdict) -> list[Finding]:
    """Return the findings of a verdict, those that matter most first."""
    from gate.decide.importance import ordered

    return [each for each in ordered(report.findings) if each.verdict == verdict]


def subject(report: Report) -> Finding | None:
    """Return the finding that the line is about; None: it is about no single one."""
    if isinstance(report.summary, outcomes.Regressed):
        return next(iter(_first(report, "regression")), None)
    if isinstance(report.summary, outcomes.SomeInconclusive):
        found = [each for each in _first(report, "inconclusive") if not each.not_worse]
        # what may be a regression comes before what is none by the rules
        return next((each for each in sorted(found, key=lambda each: not each.is_open)), None)
    return None


def _changed(finding: Finding) -> str:
    if isinstance(finding.reason, reasons.TooNoisy) and not finding.may_regress:
        # its interval says less than what it hides
        return f"shows only {finding.reason.caught}"
    found = finding_words.why(finding)
    if isinstance(finding.reason, reasons.BeyondLimit):
        # whatever base is: a change below the threshold says nothing of it
        change = f"{finding_words.sized(finding)}, and " if finding.reason.threshold is not None else ""
        head = amounts.amount(finding.head.value, finding.unit, finding.head.value)
        return clip(visible(f"{change}is {finding.reason.bound}: {head}"), _SAID)
    if finding.may_regress:
        found = numbers.MAY_REGRESS
    why = [f": {found}" if finding.verdict == "inconclusive" else f", {found}"] if found else []
    return clip(visible("".join([finding_words.sized(finding), *why])), _SAID)


def _hidden(report: Report, worst: Finding | None) -> list[str]:
    """Count the changes beyond the threshold that a floor hides; the line's own subject says it of itself."""
    found = [each for each in report.findings if each.is_hidden]
    own = worst is None and isinstance(report.summary, outcomes.SomeInconclusive)
    if not found or found == [worst] or own:
        return []
    floors = {numbers.floor(each) for each in found}
    return [hidden_by_floor(len(found), f"the floor of {floors.pop()}" if len(floors) == 1 else "floors")]


def _limits(report: Report) -> list[str]:
    """Name the limit that a view breaks which does not decide, and count the others."""
    found = [(f, each) for f in report.findings for each in f.beside if isinstance(each.reason, reasons.BeyondLimit)]
    first = [
        f"{Names(report).label(of)}, {views.called(each, of)}: {each.reason.sentence()}, which does not decide"
        for of, each in found[:1]
    ]
    return [*first, *([f"{plural(len(found) - 1, 'more limit')} broken"] if len(found) > 1 else [])]


def _improved(report: Report) -> list[str]:
    found = _first(report, "improvement") if isinstance(report.summary, outcomes.NothingRegressed) else []
    if not found:
        return []
    more = [plural(len(found) - 1, "more improvement")] if len(found) > 1 else []
    return [f"{Names(report).label(found[0])} {finding_words.sized(found[0], limit=False)}", *more]
