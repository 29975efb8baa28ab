"""What a search says: its progress, its headline, what it rests on, and what to do next."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from gate.commands.bisect.result import ChangeFromGood, Member, Result, State
from gate.commands.bisect.search import RangeCommit
from gate.config.types import Config
from gate.document.document import Code
from gate.model.case import MEAN, TYPICAL, CaseId
from gate.model.names import ACTIVE
from gate.stats.bisection import ENOUGH
from gate.words import views
from gate.writing.amounts import changed
from gate.writing.phrases import listed
from gate.writing.plain import benchmark_option, clip, visible
from gate.writing.units import agree, format_duration, format_share, plural

if TYPE_CHECKING:
    from gate.commands.bisect.search import Search, Stand
    from gate.stats.bisection import Visit

SHORT = 10
"""Letters of a commit."""
_MOST = 4
"""Commits that a line names."""
_SUBJECT = 72


def share(probability: float) -> str:
    """Write a probability: "97%", "above 99%", "below 1%"."""
    extreme = "above 99%" if probability > 0.99 else "below 1%" if probability < 0.01 else ""
    return extreme or f"{round(probability * 100)}%"


def percent(probability: float) -> str:
    """Write a probability with digits, for a column: "97.3%", "0.1%"."""
    return f"{probability * 100:.1f}%"


def change(of: ChangeFromGood) -> str:
    """Write a change with its interval: "+5.1% (+3.2% to +7.1%)"."""
    interval = f" ({changed(of.low)} to {changed(of.high)})" if of.low is not None and of.high is not None else ""
    return f"{changed(of.ratio)}{interval}"


def case_name(case: CaseId) -> str:
    """Name what was searched for: "parse-large", "request latency p99"."""
    what = views.quantity(case.metric, case.statistic or MEAN)
    more = [text for text in (what if what != "time" else "", case.factors) if text]
    return visible(" ".join([case.benchmark, *more]))


def short(sha: str | None) -> str:
    """Write a commit."""
    return (sha or "")[:SHORT]


def named(member: Member) -> str:
    """Write a commit with its subject."""
    return f"{short(member.sha)} {clip(visible(member.subject), _SUBJECT)}"


def headline(result: Result) -> str:
    """Say what was found, in one line without a full stop."""
    case, within = result.case, _within(result)
    what = "anything" if case is None else case_name(case._replace(metric="time", statistic=MEAN) if within else case)
    if result.outcome == "culprit":
        best = top(result)
        return f"{named(best)} made {what} {_slower(result)}, probability {share(best.probability)}"
    if result.outcome == "set":
        count = len(result.remaining)
        return f"one of {count} commits, which cannot be distinguished, made {what} {_slower(result)}"
    if result.outcome == "open":
        count = len(result.remaining)
        return (
            f"{count} of {plural(len(result.commits), 'commit')} hold {round(ENOUGH * 100)}% of the probability "
            f"for {what}: the budget of {format_duration(result.cost.budget)} ended"
        )
    if result.outcome == "failed":
        return "the ends cannot be measured, so nothing was searched"
    if result.ends_verdict == "identical":
        return "good and bad run the same program on the same data: nothing can differ"
    measured = f": {change(result.ends)}" if result.ends is not None else ""
    limit = f", threshold {format_share(result.threshold)}" if result.threshold is not None else ""
    return f"bad is not shown to be slower than good in {what}{measured}{limit}"


def _slower(result: Result) -> str:
    """Say by how much: "5.1% slower (3.2% to 7.1%)", of what is no time "5.1% worse"."""
    step, word = result.step, "slower" if result.unit == "s" else "worse"
    if step is None or step.low is None or step.high is None:
        return f"{word}{_within(result)}"
    low, high = (format_share(max(each - 1, 0.0)) for each in (step.low, step.high))
    return f"{format_share(step.ratio - 1)} {word}{_within(result)} ({low} to {high})"


def _within(result: Result) -> str:
    """Name the view of a time behind its change: " in active time"; "" of the mean, and of what is no time."""
    case = result.case
    if case is None or result.unit != "s" or not (case.metric == ACTIVE or case.statistic == TYPICAL):
        return ""
    return f" in {views.quantity(case.metric, case.statistic)}"


def top(result: Result) -> Member:
    """Return the most probable commit."""
    return max(result.commits, key=lambda each: each.probability)


def details(result: Result) -> list[str]:
    """Say what the headline rests on, a sentence each."""
    lines = []
    if result.ends is not None and result.outcome not in ("no-difference", "failed"):
        name = case_name(result.case) if result.case is not None else ""
        lines.append(f"Between the ends {name} changed by {change(result.ends)}, the gate's own interval.")
    failed = [f"{short(c.sha)} ({clip(visible(c.why), 80)})" for c in result.commits if c.state == "unmeasurable"]
    if failed:
        lines.append(
            f"{plural(len(failed), 'commit')} cannot be measured: {listed(failed, _MOST, between='; ')}. "
            "A culprit there cannot be distinguished from the next commit that can be measured."
        )
    inert = sum(each.state == "inert" for each in result.commits)
    if inert:
        changes = f"{plural(inert, 'commit')} {agree(inert, 'changes', 'change')} documentation only"
        lines.append(f"{changes}: held unlikely, and not measured.")
    return [*lines, *(f"Between the ends {each}." for each in result.failures), cost(result)]


def cost(result: Result) -> str:
    """Say what the search took."""
    spent = result.cost
    visited = sum(each.rounds > 0 for each in result.commits[:-1])
    times = f", {spent.seconds / spent.gate:.1f} times the gate over both ends" if spent.gate and spent.rounds else ""
    rounds = f"{plural(spent.rounds, 'round')} over {plural(visited, 'commit')}, " if spent.rounds else ""
    return f"{rounds}{format_duration(spent.seconds)}{times} (seed {result.seed})."


def next_steps(result: Result) -> list[Code]:
    """Say what to do now."""
    if result.outcome == "culprit":
        return _after_culprit(result)
    if result.outcome == "set":
        inside = [each for each in result.commits if each.sha in result.remaining]
        log = f"git log -p {short(inside[0].sha)}~1..{short(inside[-1].sha)}"
        return [Code(log, "read these changes")]
    if result.outcome == "open":
        # the gate over both ends may have taken more than a small budget
        budget = format_duration(2 * max(result.cost.budget, result.cost.seconds)).replace(" ", "")
        return [Code(_again(result, "--resume", "--budget", budget), "go on from here")]
    if result.outcome == "failed":
        return [Code(f"perfgate report {result.folder}/ends", "see what failed")]
    return [_after_no_difference(result)]


def _again(result: Result, *more: str) -> str:
    """Return the command of this search, of the commits that it had, and more of its options."""
    ends = ("--good", short(result.good.sha), "--bad", short(result.bad.sha))
    return shlex.join(["perfgate", "bisect", *ends, *result.again, *more])


def _after_culprit(result: Result) -> list[Code]:
    sha = short(top(result).sha)
    # the options by which another command measures what was searched for, by the rules of the search
    benchmark = [benchmark_option(result.case.benchmark)] if result.case is not None else []
    same = " ".join([*benchmark, *map(shlex.quote, result.rules)])
    alone = f"measure it alone, in about {format_duration(result.cost.gate)}"
    steps = [
        Code(f"git show {sha}", "read the change"),
        Code(f"perfgate check --base {sha}~1 --head {sha} {same}", alone),
        Code("perfgate explain", "then name the functions that became slower: one start of each under a profiler"),
    ]
    if len(result.parents) > 1:
        first, second = (short(each) for each in result.parents[:2])
        inside = f'perfgate bisect --good "$(git merge-base {first} {second})" --bad {second} {same}'
        steps.insert(1, Code(inside, "it is a merge: search its branch"))
        return [*steps, Code(f"git revert -m 1 {sha}", "take it back")]
    return [*steps, Code(f"git revert {sha}", "take it back")]


def _after_no_difference(result: Result) -> Code:
    ends = result.ends
    if result.ends_verdict == "improvement":
        log = f"git log {short(result.good.sha)}..{short(result.bad.sha)}"
        return Code(log, "bad is faster than good: bisect looks for slowdowns only")
    if result.ends_verdict == "identical":
        base = shlex.join(["perfgate", "config", "--base", short(result.good.sha), *result.rules])
        return Code(base, "see which benchmarks are measured")
    shown = ends.low - 1 if ends is not None and ends.low is not None else 0.0
    if 0 < shown < (result.threshold or 0.0):
        looser = _again(result, "--set", f"gate.threshold={format_share(max(shown / 2, 0.001))}")
        return Code(looser, "bad is slower, but perhaps by less than the threshold")
    return Code(f"perfgate plan {shlex.quote(result.folder)}/ends", "see what finds a smaller change, to search by it")


_STATES: dict[State, str] = {
    "same": "same program as good", "unmeasurable": "cannot be measured", "inert": "documentation only",
    "inferred": "", "measured": "",
}  # fmt: skip


def basis(member: Member) -> str:
    """Say what is known of one commit: "+5.1% (+3.2% to +7.1%), 3 rounds", "documentation only"."""
    if member.change is not None:
        return f"{change(member.change)}, {plural(member.rounds, 'round')}"
    return f"{_STATES[member.state]}: {clip(visible(member.why), 60)}" if member.why else _STATES[member.state]


def preview(commits: Sequence[RangeCommit], rules: Config, budget: float) -> str:
    """Say what would be searched, for --dry-run."""
    ends = dict.fromkeys(f"{short(each.sha)} {clip(visible(each.subject), 50)}" for each in (commits[0], commits[-1]))
    names = ", ".join(visible(each.name) for each in rules.benchmark)
    return (
        f"{_range(commits)}: {' to '.join(ends)}\n"
        f"benchmarks: {names}; budget {format_duration(budget)}\n"
        "first a gate over both ends:\n"
    )


def _range(commits: Sequence[RangeCommit]) -> str:
    inert = sum(each.inert for each in commits)
    return f"{plural(len(commits), 'commit')} after good{f', {inert} of them documentation only' if inert else ''}"


def begin(commits: Sequence[RangeCommit], budget: float) -> str:
    """Say what is searched."""
    return f"{_range(commits)}, at most {format_duration(budget)}; first a gate over both ends"


def stand(search: Search, stand: Stand, visit: Visit | None, left: float) -> str:
    """Say what is known and what is measured next."""
    culprits = stand.found.culprits
    order = sorted(range(len(culprits)), key=lambda number: -culprits[number])
    held = accumulate(float(culprits[number]) for number in order)
    enough = next((count for count, sum_ in enumerate(held, 1) if sum_ >= ENOUGH), len(order))
    shown = " ".join(f"{short(search.commits[n].sha)} ({share(float(culprits[n]))})" for n in order[:2])
    more = " ..." if enough > 2 else ""
    text = f"{plural(enough, 'commit')} {agree(enough, 'holds', 'hold')} {round(ENOUGH * 100)}%: {shown}{more}"
    if visit is not None:
        sha = short(search.commits[visit.commit - 1].sha)
        text += f"; next {plural(visit.rounds, 'round')} of {sha}, about {format_duration(max(left, 1.0))} left"
    return text
