"""The preview of a run: what it will do and how long it takes."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from typing import TextIO

from gate.config.rules import MOST_STARTS, ROOM, TRIED_STARTS, is_counted, missing_fails
from gate.config.types import Builds, Command, Config
from gate.model import SIDES, Side
from gate.model.warnings import typed
from gate.model.warnings.base import Said
from gate.model.warnings.hosts import UnfitHost
from gate.model.warnings.setup import SPAWN_INSTEAD
from gate.run.duration import expected_time, past_of
from gate.run.job import Job, by_starts, quantile_warnings
from gate.words.reports import sides
from gate.writing.plain import visible
from gate.writing.units import format_duration, plural
from harness.loop.schedule import Round
from harness.source.repository import shared_paths


def announce(job: Job) -> str:
    """Say in one line what will be measured and how long it is expected to take."""
    benchmarks = job.project.settings.benchmarks
    both = sum(name in benchmarks["base"] for name in benchmarks["head"])
    compared = " → ".join(sides(job.run.base, job.run.head))
    least, most = _rounds(job)
    planned = job.project.settings.rules.plan.builds
    top = _top(job)
    builds = plural(most, top) if least == most else f"{least} to {plural(most, top)}"
    if least < most and isinstance(planned, Builds) and planned.max is None and expected_seconds(job, 1) is None:
        # as many as the budget holds, which nobody knows yet
        builds = f"{least} {top}s or more"
    return f"{compared}: {' x '.join((plural(both, 'benchmark'), builds, repeats(job)))} of each, {expected(job)}"


def _top(job: Job) -> str:
    """Name what a round adds: builds, or another round of two given programs."""
    return "round" if job.project.compares_programs else "build"


def repeats(job: Job) -> str:
    """Say how often a build of a side is measured; what goes start by start apart, where not all does."""
    plan = job.project.settings.rules.plan
    by_rounds = f"{plural(plan.executions, 'start')} x {plural(plan.iterations, 'value')}"
    measured = {step.benchmark for step in job.rounds[0].executions} if job.rounds else set()
    own = measured & {*by_starts(job)}
    if not own:
        return by_rounds
    starts = plural(plan.starts, "start") if plan.starts != "auto" else f"{TRIED_STARTS} to {MOST_STARTS} starts"
    if own < measured:
        return f"{by_rounds} ({len(own)} of them: {starts})"
    return starts if plan.starts != "auto" else f"{starts} (by the noise and cost of the first ones)"


def introduction(job: Job) -> list[str]:
    """Say what will be measured, as a gate, and what the plan already shows."""
    part = f"{job.part}: " if job.part else ""
    sandbox = [f"sandbox: {job.run.sandbox!s}"] if job.run.sandbox else []
    return [f"{part}{announce(job)}", *sandbox, *_warnings(job)]


def _warnings(job: Job) -> list[str]:
    # the report of a resumed run tells how the host was when it began; how it is now is told later
    noticed = [each.sentence() for each in typed(job.run.warnings) if not isinstance(each, UnfitHost)]
    return [f"warning: {warning}" for warning in (*noticed, *forecast(job))]


def forecast(job: Job) -> list[str]:
    """Say what the plan already shows: benchmarks that only one side has, quantiles that it is too small for."""
    benchmarks, rules = job.project.settings.benchmarks, job.project.settings.rules
    missing = {name: missing_fails(rules, name) for name in benchmarks["base"] if name not in benchmarks["head"]}
    return [
        *quantile_warnings(rules),
        *(
            f"head has no benchmark {name}: {'the report will be an error' if fails else 'missing ones are allowed'}"
            for name, fails in missing.items()
        ),
        *(
            f"{name} is new: tried once on head, not compared"
            for name in benchmarks["head"]
            if name not in benchmarks["base"]
        ),
    ]


def expected(job: Job) -> str:
    """Say how long the schedule takes, by the times of the last run of the same benchmarks."""
    plan = job.project.settings.rules.plan
    limit = float(plan.budget)
    budget = format_duration(limit)
    fewest, most = _rounds(job)
    found = expected_seconds(job, most)
    if found is None:
        return f"at most {budget} of measuring (the budget; no earlier run to estimate from)"
    if found > limit:
        whole = "all of it" if most == len(job.rounds) else plural(most, _top(job))
        return f"cut at the budget of {budget}; {whole} would take about {format_duration(found)}"
    time = format_duration(found)
    least = expected_seconds(job, fewest) if fewest < most else None
    if least is not None:
        time = f"{format_duration(least)} for {fewest} {_top(job)}s to {time} for {most}"
    return f"about {time}, at most {budget} (the budget)"


def _rounds(job: Job) -> tuple[int, int]:
    """Return the fewest and the most rounds of a job: of a plan without a most those that fit its budget, if known."""
    plan, most = job.project.settings.rules.plan, len(job.rounds)
    if not isinstance(plan.builds, Builds) or job.run.looks is None:
        return most, most
    least = min(plan.builds.min, most)
    if plan.builds.max is None:
        one, two = (expected_seconds(job, rounds) for rounds in (1, 2))
        if one is not None and two is not None and two > one:
            fitting = 1 + math.floor((ROOM * float(plan.budget) - one) / (two - one))
            most = max(least, min(most, fitting))
    return least, most


def expected_seconds(job: Job, rounds: int | None = None) -> float | None:
    """Return how long so many rounds take, or all of the schedule, in seconds; None: not known."""
    rounds = len(job.rounds) if rounds is None else rounds

    def of(count: int) -> float | None:
        return expected_time(job.rounds[:count], past_of(job.out), job.project.settings.rules, job.run)

    found = of(rounds if job.treated.study is not None else min(rounds, 2))
    one = of(1) if found is not None and rounds > 2 and job.treated.study is None else None
    if found is None or one is None:
        return found
    # later rounds are alike
    return found + (rounds - 2) * (found - one)


def write_preview(job: Job, out: TextIO, *, explains: bool = False) -> None:
    """Print what will run, how often, and about how long it takes; its order and seeds follow from the seed.

    explains: what regresses is profiled in the end, where the rules want it.

    Raises: SourceError: a shared path cannot be had, which would end the run as well; the rest is printed before it.
    """
    run, rules = job.run, job.project.settings.rules
    lines = [str(job.part)] if job.part else []
    lines += [announce(job), f"base and head: {run.chosen}", f"rules: {run.rules}", f"seed: {run.seed}"]
    lines += [*_warnings(job), "", *command_lines(job)]
    builds = "" if job.project.compares_programs else f"{_times(job, _builds_of, 'build')}, "
    measured = {step.benchmark for each in job.rounds for step in each.executions}
    starts = _times(job, partial(_executions_of, rules, measured), "start")
    lines.append(f"\nin all: {builds}{starts}, {expected(job)}")
    if explains and rules.gate.explain:
        from gate.run.profiling import LIMIT

        count = len({step.benchmark for step in job.rounds[0].executions})
        lines.append(
            f"then profiles of what regressed (gate.explain): 0 to {2 * count} starts, 1 of each side of a benchmark, "
            f"at most {format_duration(LIMIT)} in all beside the budget"
        )
    out.writelines(f"{line}\n" for line in lines)
    for config in job.project.settings.sides.values():
        shared_paths(job.project.repository, config.build.share)


def command_lines(job: Job) -> Iterator[str]:
    """Name the commands that will run, each once where both sides have the same."""
    sides = job.project.settings.sides
    builds = {side: config.build for side, config in sides.items()}
    if not job.project.compares_programs:
        yield "set-up and builds"
        yield from _each("  set-up, once each", {side: build.setup for side, build in builds.items()}, "none")
        how_often = _times(job, _builds_of, "time")
        checkout = "no command, a fresh checkout is the build"
        yield from _each(f"  build, {how_often}", {side: build.command for side, build in builds.items()}, checkout)
        yield ""
    yield "benchmarks"
    own = {side: {b.name: b for b in sides[side].benchmark} for side in SIDES}
    # all of a gate are in its first round
    first = job.rounds if job.treated.study is not None else job.rounds[:1]
    measured = {step.benchmark for each in first for step in each.executions}
    # in the order of the file, not of chance
    rules = job.project.settings.rules
    for name in (b.name for b in rules.benchmark if b.name in measured):
        found = {side: own[side][name] for side in SIDES if name in own[side]}
        counted = _times(job, partial(_executions_of, rules, {name}), "start")
        instrument = next(iter(found.values())).instrument
        if instrument == "hyperfine" and any(
            isinstance(each, Said) and each.what == SPAWN_INSTEAD for each in job.run.warnings
        ):
            instrument = "spawn"
        lead = f"  {visible(name)}, {counted} ({instrument})"
        yield from _each(lead, {side: b.command for side, b in found.items()})
        same = next(iter(found.values())).same_output
        if same is not False and len(found) > 1:
            what = "standard output" if same is True else visible(same)
            yield f"    before: one start of each, not measured, compares {what}"
        for kind in ("prepare", "cleanup", "service", "load"):
            beside = {side: getattr(each, "command", each) for side, b in found.items() if (each := getattr(b, kind))}
            yield from _each(f"    {kind}", beside) if beside else ()


def _executions_of(rules: Config, names: Collection[str], each: Round) -> tuple[int, int]:
    """Count the executions of a round, at least and at most: of some starts only the first are counted yet."""
    own = Counter(step.benchmark for step in each.executions if step.benchmark in names)
    spans = [
        (2 * TRIED_STARTS, 2 * MOST_STARTS) if count > 1 and is_counted(rules, name) else (count, count)
        for name, count in own.items()
    ]
    return sum(least for least, _ in spans), sum(most for _, most in spans)


def _each(lead: str, commands: Mapping[Side, Command | None], none: str = "") -> Iterator[str]:
    texts = {}
    for side, command in commands.items():
        text = (command if isinstance(command, str) else shlex.join(command)) if command else none
        lines = [visible(line) for line in text.strip().splitlines()]
        # of several lines, each below the other
        texts[side] = "".join(f"\n      {line}" for line in lines) if len(lines) > 1 else f" {''.join(lines)}"
    if len({*texts.values()}) == 1:
        yield f"{lead}:{next(iter(texts.values()))}"
    else:
        yield from (f"{lead}, {side}:{text}" for side, text in texts.items())


def _builds_of(each: Round) -> tuple[int, int]:
    return len(each.builds), len(each.builds)


def _times(job: Job, count: Callable[[Round], tuple[int, int]], noun: str) -> str:
    """Count over all rounds: "24 builds", "8 to 24 builds" where early looks may end it."""
    if job.treated.study is not None:
        return plural(sum(most for _, most in map(count, job.rounds)), noun)
    # later rounds are alike
    first, *later = map(count, job.rounds[:2])
    least, most = (
        own + (rounds - 1) * sum(each[at] for each in later)
        for at, (own, rounds) in enumerate(zip(first, _rounds(job), strict=True))
    )
    return plural(most, noun) if least == most else f"{least:,} to {plural(most, noun)}"
