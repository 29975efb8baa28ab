"""The studies of a simulation: each draws evidence, has it decided by gate.decide, and counts the verdicts.

A study is data, so that it can be sent to another process; its counts add up over the chunks of a simulation.
"""

from __future__ import annotations

import datetime
import math
import multiprocessing
import os
import signal
import threading
import time
import zlib
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, fields
from functools import cache, partial
from typing import Literal, Protocol, Self, TextIO, TypeVar, cast

import numpy as np

from gate.commands.simulate.draws import CASE, Draws
from gate.config.rules import Policy
from gate.config.types import Benchmark, Config, Detectable, Gate, Interval, MetricRules, Show
from gate.decide.design import by_question, design_of
from gate.decide.estimates import estimates, limits_of, subjects_of
from gate.decide.looks import Judged
from gate.decide.report import judge_looks, verdict_of
from gate.model import Evidence, Verdict
from gate.run.live_lines import Live, bar_line
from gate.stats.bootstrap import usable_cores
from gate.stats.rounding import Array
from gate.writing.units import Quantity, Share, format_duration

_DAY = datetime.date(2026, 11, 20)
_CASES_AT_ONCE = 2000
"""That a chunk decides: about a second."""
COMPARED = 4.0
"""Single comparisons for each report that is asked for: they cost less."""
EARLY = 6
"""Rounds within which docs/method.md promises that more work is found."""
VERDICTS: tuple[Verdict, ...] = ("regression", "improvement", "unchanged", "no-sign", "inconclusive")


class Tally:
    """Numbers that add up; a base of frozen dataclasses of arrays and integers."""

    def __add__(self, other: Self) -> Self:
        """Add every field."""
        return type(self)(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))  # type: ignore[arg-type]


C_co = TypeVar("C_co", bound=Tally, covariant=True)


class Study(Protocol[C_co]):
    """What can be simulated in chunks. Its repr names it, and with it the random numbers it is given."""

    @property
    def effort(self) -> float:
        """How many to draw, as a share of the reports that are asked for."""
        ...

    @property
    def chunk(self) -> int:
        """How many to draw at once."""
        ...

    def run(self, rng: np.random.Generator, n: int) -> C_co:
        """Draw n of them and count."""
        ...


@dataclass(frozen=True, slots=True)
class Rules:
    """What decides."""

    threshold: float = 0.0
    looks: tuple[int, ...] = (5,)
    """Rounds after which a verdict may be reached; a single one is a fixed design."""
    interval: Interval = "auto"
    show: Show = "no-sign"
    min_builds: int = 5
    family: Literal["holm", "bh", "none"] = "holm"
    statistics: tuple[str, ...] | None = None
    """What is compared of each case; None: what is by default."""


@cache
def policy_of(rules: Rules) -> Policy:
    """Write rules as a gate has them; without a floor, since means are shares and no seconds."""
    gate = Gate(
        threshold=Share(rules.threshold),
        floor=Quantity.parse("0"),
        interval=rules.interval,
        detectable=Detectable(0) if rules.show == "not-worse" else None,
        min_builds=rules.min_builds,
        family=rules.family,
    )
    if rules.statistics is None:
        return Policy(Config(gate=gate), "simulation", _DAY)
    compared = MetricRules(statistics=list(rules.statistics))
    benchmark = Benchmark(name=CASE, command="x", metric={"time": compared})
    return Policy(Config(gate=gate, benchmark=[benchmark]), "simulation", _DAY)


# --- single comparisons ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Comparisons:
    """Comparisons each judged alone, at the nominal level, by the interval that the rules give them."""

    source: Draws
    rules: Rules
    ratios: tuple[float, ...]
    """The truth of each case."""
    thresholds: tuple[float, ...] = (0.0,)
    counted: int | None = None
    """So many of the first findings of a report; None: all."""

    @property
    def effort(self) -> float:
        """COMPARED times as many comparisons as reports are asked for, over the cases of a report."""
        return COMPARED / len(self.ratios) if self.counted is None else 1.0

    @property
    def chunk(self) -> int:
        """How many reports to draw at once."""
        return max(1, _CASES_AT_ONCE // len(self.ratios))

    def run(self, rng: np.random.Generator, n: int) -> ComparisonCounts:
        """Draw n reports and count over their findings."""
        policy, reports = policy_of(self.rules), []
        for _ in range(n):
            evidence = self.source.evidence(rng, self.rules.looks[-1], (), self.ratios)
            subjects = subjects_of(evidence, policy)
            design = design_of(evidence, policy, subjects)
            # one case of each benchmark
            truths = dict(zip(dict.fromkeys(case.benchmark for case in evidence.cases), self.ratios, strict=True))
            rows = []
            for found in estimates(subjects, design, None)[0][: self.counted]:
                ends = limits_of(found, design.alpha)
                limits = (ends.low, ends.high) if ends.kind == "bounded" else (math.nan, math.nan)
                rows.append((limits[0] or 0.0, limits[1] or 0.0, truths[found.subject.case.benchmark]))
            reports.append(rows)
        every = np.array(reports)
        low, high, truth = every[..., 0], every[..., 1], every[..., 2]
        beyond = 1 + np.array(self.thresholds)
        return ComparisonCounts(
            comparisons=np.full(low.shape[1], n),
            # what has no bounds holds the truth
            covered=n - ((truth < low) | (truth > high)).sum(axis=0),
            bounded=np.isfinite(low).sum(axis=0),
            half_width=np.nansum(high - low, axis=0) / 2,
            worse=(low[..., None] > beyond).sum(axis=0),
            better=(high[..., None] < 1 / beyond).sum(axis=0),
        )


@dataclass(frozen=True, slots=True, eq=False)
class ComparisonCounts(Tally):
    """Of comparisons, each of shape (findings,): those covered and bounded, and the sum of half-widths."""

    comparisons: Array
    covered: Array
    bounded: Array
    half_width: Array
    worse: Array
    better: Array
    """worse and better: shape (findings, thresholds): whose interval lies wholly beyond the threshold."""

    @property
    def coverage(self) -> float:
        """The share of sets that hold the truth."""
        return float(self.covered.sum() / self.comparisons.sum())

    @property
    def mean_half_width(self) -> list[float]:
        """The mean half-width of the bounded ones, of each finding."""
        found: list[float] = (self.half_width / self.bounded).tolist()
        return found

    @property
    def power(self) -> Array:
        """The share called worse, shape (findings, thresholds)."""
        return self.worse / self.comparisons[:, None]

    @property
    def different(self) -> Array:
        """The share called worse or better, shape (thresholds,)."""
        found: Array = (self.worse + self.better).sum(axis=0) / self.comparisons.sum()
        return found


# --- reports ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Reports:
    """Whole reports under one set of rules, with looks, family and all."""

    source: Draws
    rules: Rules
    ratios: tuple[float, ...]
    """The truth of each case."""
    effort: float = 1.0

    @property
    def chunk(self) -> int:
        """How many reports to draw at once."""
        return max(1, _CASES_AT_ONCE // len(self.ratios))

    def run(self, rng: np.random.Generator, n: int) -> ReportCounts:
        """Draw n reports, decide them and count."""
        cases = len(self.ratios)
        verdicts, not_worse, rounds = np.zeros((cases, len(VERDICTS))), np.zeros(cases), np.zeros(cases)
        failed, built, early = 0, 0, 0
        looks = self.rules.looks if len(self.rules.looks) > 1 else ()
        for _ in range(n):
            found = decided(self.source.evidence(rng, self.rules.looks[-1], looks, self.ratios), self.rules)
            # the rounds after which each took no more
            taken = [self.rules.looks[one.look] for one, _ in found]
            for k, (one, verdict) in enumerate(found):
                verdicts[k, VERDICTS.index(verdict)] += 1
                not_worse[k] += one.position.not_worse and verdict != "regression"
            rounds += taken
            red = [own for own, (_, verdict) in zip(taken, found, strict=True) if verdict == "regression"]
            failed += bool(red)
            early += bool(red) and red[0] <= EARLY
            built += max(taken)
        return ReportCounts(n, failed, early, verdicts, not_worse, rounds, built)


def decided(evidence: Evidence, rules: Rules) -> list[tuple[Judged, Verdict]]:
    """Judge a report as gate.decide does, and leave out its words: of each question the view that stands for it."""
    policy = policy_of(rules)
    subjects = subjects_of(evidence, policy)
    design = design_of(evidence, policy, subjects)
    judged, _ = judge_looks(subjects, design)
    found = []
    for question in by_question(subjects):
        views = [judged[i] for i in question]
        # the view that shows a regression, otherwise the sharp one
        chosen = next((each for each in views if each.regression.rejected), None)
        chosen = chosen or next(each for each in views if each.subject.settles)
        found.append((chosen, verdict_of(chosen, None, design).change))
    return found


@dataclass(frozen=True, slots=True, eq=False)
class ReportCounts(Tally):
    """Of reports: those that fail; per case (shape (cases,)) the findings of each kind and the rounds they took."""

    reports: int
    failed: int
    early: int
    """That fail within EARLY rounds."""
    verdicts: Array
    """Shape (cases, VERDICTS)."""
    not_worse: Array
    rounds: Array
    built: int
    """Rounds until every finding of a report was settled, which is what builds cost."""

    @property
    def failing(self) -> float:
        """The share of reports that fail."""
        return self.failed / self.reports

    def of_case(self, verdict: Verdict, case: int = 0) -> float:
        """Return how often a case, the first one, has a verdict."""
        return float(self.verdicts[case, VERDICTS.index(verdict)]) / self.reports

    def found(self, case: int = 0) -> float:
        """Return how often a case is called a regression."""
        return self.of_case("regression", case)

    @property
    def executed(self) -> float:
        """The mean of the rounds that cases took."""
        return float(self.rounds.mean()) / self.reports


# --- on all cores -----------------------------------------------------------------------------------------------------

AnyStudy = Study[Tally]
_Chunk = tuple[AnyStudy, int, int]
"""Part of a study: its number, and of how many draws."""
C = TypeVar("C", bound=Tally)


@dataclass(frozen=True, slots=True)
class Results:
    """The counts of the studies that were run."""

    counts: Mapping[AnyStudy, Tally]

    def of(self, study: Study[C]) -> C:
        """Return the counts of one study."""
        return cast("C", self.counts[study])


def run_all(studies: Iterable[AnyStudy], reports: int, *, seed: int, cores: int | None, progress: TextIO) -> Results:
    """Run every study once, however often it is asked for, with so many reports each.

    Args:
        cores: at most so many; None for all that this process may use.
        progress: where a line says how far it is.
    """
    unique = list(dict.fromkeys(studies))
    chunks: list[_Chunk] = []
    for study in unique:
        total = max(1, math.ceil(reports * study.effort))
        size = min(study.chunk, total)
        chunks += [(study, k, min(size, total - start)) for k, start in enumerate(range(0, total, size))]
    live, begin = Live(progress), time.monotonic()
    found: dict[AnyStudy, Tally] = {}
    # more processes than cores make nothing faster
    workers = min(cores or usable_cores(), usable_cores(), len(chunks))
    for done, ((study, *_), counts) in enumerate(zip(chunks, _run(chunks, seed, workers), strict=True), 1):
        # in the order of the chunks, so that sums of floats do not depend on who was first
        found[study] = found[study] + counts if study in found else counts
        if done < len(chunks):
            left, share = (time.monotonic() - begin) / done * (len(chunks) - done), done / len(chunks)
            tail = f"about {format_duration(left)} left"
            live.show(bar_line("simulating", share, tail, live.width))
            live.now(f"simulating: {share:.0%}, {tail}")
    live.close()
    return Results(found)


def _run(chunks: Sequence[_Chunk], seed: int, workers: int) -> Iterable[Tally]:
    if workers <= 1:
        yield from map(partial(_one, seed), chunks)
        return
    # spawned, not forked: the same on every platform, and no thread of numpy is cut in two
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_become_worker)
    try:
        yield from pool.map(partial(_one, seed), chunks)
    finally:
        pool.shutdown(cancel_futures=True)


def _become_worker() -> None:
    # Ctrl-C reaches every process of the terminal; the first one ends the others
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def end_with_parent() -> None:
        # a first process that is killed cannot end the others, and they would wait for work for ever
        parent = multiprocessing.parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()


def _one(seed: int, chunk: _Chunk) -> Tally:
    study, index, n = chunk
    # named by what it is, so that another study more or less changes no other
    name = zlib.crc32(repr(study).encode())
    return study.run(np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(name, index))), n)
