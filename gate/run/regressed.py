"""The benchmarks that a run's own measurements show to have regressed, as the measuring job sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from gate.cli.groups import RulesOptions
from gate.config.types import Config
from gate.decide.measurements import decide_by
from gate.decide.policy import policy_at
from gate.evidence.inputs import Inputs
from gate.evidence.records import Located
from gate.model import Finding, Record, Run, UserError
from gate.model.case import canonical

_MEMORY = "B"


@dataclass(frozen=True, slots=True)
class Regressed:
    """A benchmark that regressed, at the settings of its factors. of_time: not only in memory or sizes."""

    benchmark: str
    factors: Mapping[str, Any]
    of_time: bool
    ratio: float
    """Of the metric that became worst, 1 or more."""


def regressed(records: Sequence[Record], run: Run, rules: Config) -> list[Regressed]:
    """Judge what one job has measured as the report would if that were all; the worst first.

    A shard knows its own benchmarks and a session its own noise: what is found here is explained, and never decided.
    """
    alone, rules = (
        msgspec.structs.replace(run, shard=None, session=None, sessions=None),
        msgspec.structs.replace(rules, plan=msgspec.structs.replace(rules.plan, sessions=1, shards=1)),
    )
    judged = [alone, *(record for record in records if not isinstance(record, Run))]
    located = [Located(record, "this run", number) for number, record in enumerate(judged, 1)]
    try:
        report = decide_by(Inputs(located, [], []), policy_at(alone, rules), RulesOptions()).report
    except UserError:
        return []
    return worst_first(report.findings)


def worst_first(findings: Sequence[Finding]) -> list[Regressed]:
    """Return the benchmarks of findings that are regressions, each once."""
    found: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        if finding.verdict == "regression":
            found.setdefault((finding.benchmark, canonical(finding.factors)), []).append(finding)
    every = [
        Regressed(
            group[0].benchmark,
            group[0].factors,
            any(each.unit != _MEMORY for each in group),
            max(map(_size, group)),
        )
        for group in found.values()
    ]
    return sorted(every, key=lambda each: -each.ratio)


def _size(finding: Finding) -> float:
    estimate = finding.ratio.estimate
    return max(estimate, 1 / estimate) if estimate else 1.0
