"""benchstat of golang.org/x/perf: medians, and an exact Mann-Whitney test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np
from scipy import stats

from benchmarks.trial import plan
from benchmarks.trial.comparisons import Comparison, Process, mean
from benchmarks.trial.rules.rule import Call, Rule, Source, build_seconds, enough, warm

ALPHA = 0.05
RUNS = 10
BENCHTIME = 1.0
_AT = "https://github.com/golang/perf/blob/712aea8b47053b2e77c04820a5032254b347cf96/"
_EXACT, _EXACT_WITH_TIES = 50, 25


def p_value(base: Sequence[float], head: Sequence[float]) -> float:
    """Return the two-sided p of the Mann-Whitney test as go-moremath takes it.

    Exact up to 50 values a side, 25 where values are tied; otherwise normal, with corrections for ties and continuity.
    All values equal: 1, since benchstat reports the error as no difference.
    """
    both = np.concatenate([base, head])
    ranks = stats.rankdata(both)
    counts = np.unique(both, return_counts=True)[1]
    n, m = len(base), len(head)
    u = float(ranks[:n].sum()) - n * (n + 1) / 2
    if len(counts) == 1:
        return 1.0
    if max(n, m) <= (_EXACT_WITH_TIES if counts.max() > 1 else _EXACT):
        return _exact(ranks, n, u)
    total = n + m
    ties = float((counts**3 - counts).sum())
    deviation = float(np.sqrt(n * m * (total + 1 - ties / (total * (total - 1))) / 12))
    above = u - n * m / 2
    z = (above - 0.5 * float(np.sign(above))) / deviation
    return 2 * float(min(stats.norm.cdf(z), stats.norm.sf(z)))


def _exact(ranks: np.ndarray[tuple[int], np.dtype[np.float64]], n: int, u: float) -> float:
    """Count the ways to draw n of the ranks whose sum is as small as the smaller of both U."""
    m = len(ranks) - n
    if u == n * m - u:
        return 1.0
    # twice the ranks are whole numbers, ties or none
    whole = np.rint(2 * ranks).astype(int)
    ways = np.zeros((n + 1, int(whole.sum()) + 1))
    ways[0, 0] = 1
    for rank in whole:
        ways[1:, rank:] += ways[:-1, : ways.shape[1] - rank].copy()
    limit = round(2 * (min(u, n * m - u) + n * (n + 1) / 2))
    return 2 * float(ways[n, : limit + 1].sum() / ways[n].sum())


def slower(base: Sequence[float], head: Sequence[float]) -> bool:
    """Call head slower unless benchstat would print ~ (p > 0.05), if its median is the larger one."""
    return p_value(base, head) <= ALPHA and median(head) > median(base)


def in_turn(passes: Sequence[float], runs: int, benchtime: float = BENCHTIME) -> list[float]:
    """Cut the passes of one process into runs of a time, as `go test -count` does in one process: ns/op of each."""
    found: list[float] = []
    rest = tuple(passes)
    while len(found) < runs and rest:
        run = enough(rest, benchtime)
        rest = rest[len(run) :]
        if sum(run) >= benchtime or not found:
            found.append(mean(run))
    return found


def _default(comparison: Comparison, seconds: float | None) -> Call:
    building = build_seconds(comparison)
    # with fewer than ten runs the test says nothing, so shorter ones
    each = BENCHTIME if seconds is None else min(BENCHTIME, (seconds - building) / (2 * RUNS))
    base, head = (in_turn(warm(side.long), RUNS, each) for side in (comparison.base, comparison.head))
    spent = building + each * (len(base) + len(head))
    return Call(slower(base, head), spent)


def _by_turns(comparison: Comparison, seconds: float | None) -> Call:
    sides = (comparison.base, comparison.head)
    longer = [side.starts[:: plan.LONG_START_EVERY][:RUNS] for side in sides]
    building = build_seconds(comparison)
    each = None if seconds is None else (seconds - building) / (2 * RUNS)
    base, head = ([_run(process, each) for process in processes] for processes in longer)
    spent = building + sum(run.seconds for run in (*base, *head))
    return Call(slower([run.value for run in base], [run.value for run in head]), spent)


@dataclass(frozen=True)
class _Run:
    """One process: the time of an operation, and the seconds that it takes."""

    value: float
    seconds: float


def _run(process: Process, seconds: float | None) -> _Run:
    """Take a process as if it had ended after some seconds: at least one pass after its start and the first one."""
    passes = warm(process)
    start = process.seconds - sum(passes)
    if seconds is not None:
        passes = enough(passes, seconds - start)
    return _Run(mean(passes), start + sum(passes))


_SAYS = "An exact Mann-Whitney test over the runs has p <= 0.05, and head has the larger median."
_SOURCES = (
    Source("the test", f"{_AT}benchmath/anone.go#L111-L134"),
    Source("its level", f"{_AT}benchmath/sample.go#L59-L61"),
    Source("ten runs, better by turns", f"{_AT}cmd/benchstat/main.go#L363-L399"),
)
_NOTE = (
    "Made to show differences to people; its documentation says to expect a difference in 5% of comparisons "
    "without one. It fails no job and has no size to set."
)
RULES = (
    Rule(
        "benchstat", _SAYS, "`go test -bench -count=10`: ten runs of a second a side, one side after the other",
        "ten shorter runs (`-benchtime`)", _SOURCES, 0.0, _NOTE, _default,
    ),
    Rule(
        "benchstat by turns", _SAYS,
        "as its tips advise: ten runs by turns with the other side, here processes of a quarter of a second",
        "ten shorter runs", _SOURCES, 0.0,
        "The order that its documentation recommends, with runs a quarter as long. It calls 20 runs ideal.", _by_turns,
    ),
)  # fmt: skip
