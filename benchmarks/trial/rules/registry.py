"""All rules, in the order of the page."""

from __future__ import annotations

from benchmarks.trial.rules import (
    asv,
    bencher,
    benchstat,
    criterion,
    datadog,
    duckdb,
    github_action_benchmark,
    instructions,
    one_process,
    perfgate,
    tachometer,
)
from benchmarks.trial.rules.rule import Rule

PERFGATE = perfgate.RULES[0]
CHECKED = ("benchstat", "criterion.rs", "asv", "tachometer", "DuckDB")
"""Whose own output the tests have."""
RULES: tuple[Rule, ...] = (
    *perfgate.RULES,
    *one_process.RULES,
    *benchstat.RULES,
    *criterion.RULES,
    *github_action_benchmark.RULES,
    *bencher.RULES,
    *asv.RULES,
    *tachometer.RULES,
    *duckdb.RULES,
    *datadog.RULES,
    *instructions.RULES,
)
