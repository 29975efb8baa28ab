"""Name and unit of a metric -> which direction is better, where they tell."""

from __future__ import annotations

import re
from functools import cache

from gate.model import Better
from gate.writing.units import meant, to_base

_RATE = re.compile(r"(?:/|[ _.-]per[ _.-])(?:[nuµμm]?s|m?secs?|seconds?|mins?|minutes?|h|hours?)$|per[ _.-]?seconds?$")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_TIMES = _words("time latency duration elapsed delay runtime ns us ms nanos micros millis secs seconds")
"""What a time ends with."""
_COSTS = _words("cost duration elapsed footprint heap jitter latency mem memory overhead rss")
_HARM = _words(
    "alloc allocs allocated allocation allocations collision collisions conflict conflicts crash crashes dropped drops "
    "error errors eviction evictions exception exceptions failed failure failures fails fault faults gc leak leaked "
    "leaks loss losses lost miss misses pause pauses rejected rejects retries retry spills stalled stalls timeout "
    "timeouts violation violations waste wasted"
)
"""What a program had better not have, whatever it is counted by."""
_WORK = _words(
    "branches comparisons copies cpi cycles fsyncs instructions ir migrations queries roundtrips swaps switches "
    "syscall syscalls wakeups"
)
"""What a program does for one result; of a rate more of it is more done."""
_GAINS = _words(
    "accuracy availability bandwidth fps gbps gflops goodput iops ipc mbps mflops ops qps rps speed speedup success "
    "successes throughput tps"
)


@cache
def direction(metric: str, unit: str) -> Better | None:
    """Return which direction of a metric is better; None: neither its name nor its unit tells.

    Times and sizes, whole or of something ("ns/request", "B/msg"), and counts of harm or work ("misses", "allocs/op",
    "instructions") are better lower, rates ("items_per_second", "1/s") higher. A name such as "MatchesFound" tells
    nothing, and words that contradict each other ("errors/s") neither.
    """
    above = metric.partition("/")[0]
    words = [word.lower() for word in _WORD.findall(above)]
    # a metric of Go is named by its unit
    of_what = (unit or (metric if "/" in metric else "")).partition("/")[0].strip()
    known = {*words, *(word.lower() for word in _WORD.findall(of_what))}
    dimension = to_base(meant(of_what) or of_what)[0]
    is_rate = any(_RATE.search(text.lower()) for text in (metric, unit))
    is_gain = bool(known & _GAINS or ("hit" in known and known & {"rate", "ratio"}))
    is_cost = dimension == "B" or known & (_COSTS | _WORK) or (words[-1:] and words[-1] in _TIMES and not is_gain)
    lower, higher = bool(dimension == "s" or known & _HARM or (is_cost and not is_rate)), is_rate or is_gain
    if lower == higher:
        return None
    return "lower" if lower else "higher"


def told_or_known(told: Better | None, metric: str, unit: str) -> Better | None:
    """Return the direction that a file tells, otherwise the one that name and unit do."""
    return told or direction(metric, unit)
