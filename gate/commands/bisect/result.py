"""What a search found, made of what was measured: text, Markdown, JSON and the page are written from it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import msgspec
import numpy as np

from gate.codes import Exit
from gate.commands.bisect.against_good import Gated
from gate.commands.bisect.search import RangeCommit, Search, Stand
from gate.model import Commit, Finding
from gate.model.case import CaseId, case_id
from gate.stats.bisection import ENOUGH
from gate.words.failures import title
from harness.source.repository import parents_of

SCHEMA = 1
Outcome = Literal["culprit", "set", "open", "no-difference", "failed"]
"""culprit: one commit at 95%. set: several at 95% that cannot be told from each other. open: the budget ended before.
no-difference: the ends do not differ, so that nothing was searched. failed: an end cannot be measured."""
State = Literal["measured", "same", "unmeasurable", "inert", "inferred"]
"""measured: its rounds. same: proved to run what good runs. unmeasurable: does not build or run. inert: changes
documentation only. inferred: from its neighbours."""


class ChangeFromGood(msgspec.Struct, frozen=True):
    """A change in percent of good: a ratio, above 1 slower whatever the metric, with a 95% interval."""

    ratio: float
    low: float | None
    high: float | None


class Member(msgspec.Struct, frozen=True, kw_only=True):
    """One commit of the range."""

    number: int
    """From 1, the first after good."""
    sha: str
    subject: str
    author: str
    date: str
    probability: float
    """That it brought the largest slowdown."""
    state: State
    rounds: int
    change: ChangeFromGood | None
    """Against good; None where it was not measured."""
    why: str = ""
    """Of unmeasurable: what failed."""
    folder: str = ""
    """Where its measurements are; empty: there are none."""


class SearchCost(msgspec.Struct, frozen=True, kw_only=True):
    """What the search took, in seconds."""

    seconds: float
    gate: float
    """Of that, the gate over both ends."""
    rounds: int
    """After that gate."""
    budget: float


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """A search."""

    schema: int
    outcome: Outcome
    exit_code: int
    good: Commit
    bad: Commit
    case: CaseId | None
    """What was searched for; None: nothing regressed, or nothing was measured."""
    unit: str
    threshold: float | None
    ends: ChangeFromGood | None
    """Bad against good, of the gate over both."""
    ends_verdict: str
    step: ChangeFromGood | None
    """The size of the slowdown by all rounds."""
    commits: list[Member]
    remaining: list[str]
    """The fewest commits that hold 95%, in the order of the range."""
    failures: list[str]
    parents: list[str]
    """Of the culprit: more than one, it is a merge."""
    cost: SearchCost
    seed: int
    again: list[str] = []
    """Options by which a command goes on from here: other rules and benchmarks are another search."""
    rules: list[str] = []
    """Of these, those of the rules."""
    folder: str


_Z = 1.959963984540054
_CODES: dict[Outcome, Exit] = {
    "culprit": Exit.PASS, "set": Exit.INCONCLUSIVE, "open": Exit.INCONCLUSIVE, "no-difference": Exit.INCONCLUSIVE,
    "failed": Exit.ERROR,
}  # fmt: skip


def concluded(search: Search, ends: Gated, stand: Stand | None, again: Sequence[str], rules: Sequence[str]) -> Result:
    """Return the result; ends: of the gate over both. stand: None where the ends do not differ."""
    report = ends.decided.report
    sources = search.project.sources
    single = stand.single if stand is not None else None
    found = stand.found if stand is not None else None
    outcome: Outcome = "open"
    if stand is None:
        outcome = "failed" if report.failures or not (ends.findings or report.identical) else "no-difference"
    elif stand.done:
        outcome = "culprit" if single is not None else "set"
    slowest = max(ends.findings, key=lambda f: own.ratio if (own := _of_finding(f)) else -math.inf, default=None)
    shown = ends.finding or slowest
    remaining = list[str]()
    if found is not None:
        order = np.argsort(-found.culprits, kind="stable")
        enough = int(np.searchsorted(np.cumsum(found.culprits[order]), ENOUGH)) + 1
        remaining = [search.commits[number].sha for number in sorted(order[:enough])]
    parents = parents_of(search.project.repository.git, search.commits[single - 1].sha) if single is not None else ()
    return Result(
        schema=SCHEMA,
        outcome=outcome,
        exit_code=_CODES[outcome],
        good=sources.base.commit,
        bad=sources.head.commit,
        case=case_id(shown, shown.statistic) if shown is not None else None,
        unit=shown.unit if shown is not None else "",
        threshold=shown.threshold if shown is not None else None,
        ends=_of_finding(shown) if shown is not None else None,
        ends_verdict=shown.verdict if shown is not None else "identical" if report.identical else "",
        step=_change(found.step, found.step_sd) if found is not None else None,
        commits=[_member(number, commit, search, stand) for number, commit in enumerate(search.commits, 1)],
        remaining=remaining,
        failures=[title(each) for each in report.failures],
        parents=[*parents],
        cost=SearchCost(
            seconds=search.seconds or ends.seconds, gate=ends.seconds, rounds=search.rounds, budget=search.budget,
        ),
        seed=search.seed,
        again=[*again],
        rules=[*rules],
        folder=str(search.folder),
    )  # fmt: skip


def _of_finding(finding: Finding) -> ChangeFromGood | None:
    """Return the change of a finding as a slowdown: above 1 is worse, whatever is better."""
    ratio = finding.ratio
    if ratio.estimate is None or ratio.estimate <= 0:
        return None
    if finding.better == "lower":
        return ChangeFromGood(ratio.estimate, ratio.low, ratio.high)
    low, high = (1 / end if end else None for end in (ratio.high, ratio.low))
    return ChangeFromGood(1 / ratio.estimate, low, high)


def _change(log: float, sd: float) -> ChangeFromGood:
    return ChangeFromGood(math.exp(log), math.exp(log - _Z * sd), math.exp(log + _Z * sd))


def _member(number: int, commit: RangeCommit, search: Search, stand: Stand | None) -> Member:
    seen, why = search.seen.get(number), search.unmeasurable.get(number, "")
    ratios = seen.ratios if seen is not None else ()
    state: State = "inferred"
    if seen is not None and (ratios or seen.same):
        state = "measured" if ratios else "same"
    elif why:
        state = "unmeasurable"
    elif stand is not None and commit.inert:
        state = "inert"
    change = None
    if ratios and stand is not None:
        change = _change(float(np.mean(ratios)), stand.found.noise / math.sqrt(len(ratios)))
    return Member(
        number=number, sha=commit.sha, subject=commit.subject, author=commit.author, date=commit.date,
        probability=float(stand.found.culprits[number - 1]) if stand is not None else 0.0, state=state,
        rounds=len(ratios), change=change, why=why,
        folder=str(seen.folder) if seen is not None else "",
    )  # fmt: skip
