"""The names of a report, shortened as one set: no two cases share one short name, wherever they stand."""

from __future__ import annotations

import os
from collections.abc import Iterable

from gate.model import Finding, Recorded, Report
from gate.model.case import pairs
from gate.model.profile import Explanation
from gate.words.findings import quantity
from gate.writing.plain import NameSet, visible

_NAME, _QUANTITY, _SETTINGS = 60, 30, 40
WHOLE = 150
"""Columns of a name that no table and no headline shortens."""


def _prefix(names: Iterable[str]) -> str:
    """Return what all names begin with, as far as a part of a name ends; "" where little would be saved."""
    every = list(names)
    whole = os.path.commonprefix(every)  # noqa: RUF071  # of any text, not of paths
    if not whole[-1:].islower() or not all(name[len(whole) :][:1].isupper() for name in every):
        # "BenchmarkParse" and "BenchmarkScan" go on with a word of their own
        whole = whole[: max(whole.rfind(mark) for mark in "/.:") + 1]
    return whole if len(every) > 1 and len(whole) >= _SAVED and whole not in every else ""


_SAVED = 6


class Names:
    """The names of benchmarks, of what is compared, and of settings in a report."""

    def __init__(self, report: Report) -> None:
        findings, recorded, why = report.findings, report.recorded, report.explanations
        creep = report.creep.cases if report.creep is not None else []
        self._benchmarks = NameSet(
            [f.benchmark for f in findings]
            + [r.benchmark for r in recorded]
            + [i.benchmark for i in report.identical]
            + [f.benchmark for f in report.failures if f.benchmark is not None]
            + [*(c.benchmark for c in creep), *(e.benchmark for e in why), *(u.benchmark for u in report.unprofiled)]
            + [*(curve.benchmark for curve in report.curves), *report.new]
        )
        self.prefix = _prefix(dict.fromkeys(visible(f.benchmark) for f in findings))
        """What the names of all findings begin with, and no table repeats."""
        self._tails = NameSet(visible(f.benchmark).removeprefix(self.prefix) for f in findings)
        self._quantities = NameSet([*map(quantity, findings), *map(quantity, recorded)])
        every = [*(f.factors for f in findings), *(r.factors for r in recorded), *(e.factors for e in why)]
        self._settings = NameSet(pairs(factors) for factors in every if factors)

    def benchmark(self, name: str, width: int = _NAME) -> str:
        """Write the name of a benchmark within a width."""
        return self._benchmarks.short(name, width)

    def tail(self, name: str) -> str:
        """Write the name of a benchmark whole, but for what all begin with; only endless ones are shortened."""
        return self._tails.short(visible(name).removeprefix(self.prefix), WHOLE)

    def quantity(self, case: Finding | Recorded, width: int = _QUANTITY) -> str:
        """Name what is compared, within a width: "latency p99"."""
        return self._quantities.short(quantity(case), width)

    def settings(self, case: Finding | Recorded | Explanation, width: int = _SETTINGS) -> str:
        """Write the settings of a case within a width: "size=10, kind=a"; "" where it has none."""
        return self._settings.short(pairs(case.factors), width) if case.factors else ""

    def label(self, case: Finding | Recorded) -> str:
        """Name a case in a sentence: "parse-large (size=10)"."""
        settings = self.settings(case)
        return self.tail(case.benchmark) + (f" ({settings})" if settings else "")
