"""Remembered variance in a report: what it changes, when it is given up, and what is said of it."""

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import pytest

from gate.config.config_text import from_tables
from gate.config.parse import parse
from gate.decide.stopping import interim_check
from gate.model import (
    Finding,
    FindingMemory,
    Look,
    Memory,
    MemoryUse,
    RelativeVariance,
    Remembered,
    Report,
    Run,
    reasons,
)
from gate.model.warnings import AnyWarning
from gate.model.warnings.base import Said
from gate.stats.levels import Tops
from gate.stats.prior import contrast_variance, moderated_pair
from tests.gate.decide.decided import decided, ones
from tests.support.lines import located
from tests.support.warned import kinds, texts


def remembered(name: str, sd: float, df: float = 40, created: str = "2026-11-20T08:00:00Z") -> FindingMemory:
    """One session: builds of a standard deviation, nothing below them and no drift."""
    session = Remembered(
        session=f"calibration of {created}", created=created, rounds=int(df) + 1, executions=1, iterations=1,
        iteration=None, execution=None,
        build=RelativeVariance(value=sd**2, df=2 * df), contrast=RelativeVariance(value=2 * sd**2, df=df),
    )  # fmt: skip
    return FindingMemory(benchmark=name, metric="time", factors={}, statistic="mean", sessions=[session])


def report(sides: dict[str, tuple[list[float], list[float]]], memory: Memory | None, **gate: Any) -> Report:
    gate = {"threshold": "3%", "floor": "0", "detectable": "threshold", **gate}
    run = {"type": "run", "created": "2026-11-20T09:00:00Z", "config": {"gate": gate}}
    more = {"memory": msgspec.to_builtins(memory)} if memory else {}
    lines = [line for name, (base, head) in sides.items() for line in ones(base, head, benchmark=name)]
    return decided([{**run, **more}, *lines])


def memory_of(*findings: FindingMemory, unused: Sequence[AnyWarning] = ()) -> Memory:
    return Memory(findings=list(findings), contrast_nu=None, build_nu=None, unused=list(unused))


def with_memory(base: list[float], head: list[float], sd: float = 0.01, **of: Any) -> tuple[Finding, MemoryUse]:
    """The finding of one benchmark that is remembered, and what its memory is worth."""
    (found,) = report({"a": (base, head)}, memory_of(remembered("a", sd, **of))).findings
    assert found.memory is not None
    return found, found.memory


THREE = ([1.0, 1.012, 0.99], [1.08, 1.095, 1.071])


def test_with_memory_three_builds_are_enough() -> None:
    (without,) = report({"a": THREE}, None).findings
    assert (without.verdict, without.memory) == ("inconclusive", None)
    found = report({"a": THREE}, memory_of(remembered("a", 0.01)))
    (f,), of_run = found.findings, found.run.memory
    assert (f.verdict, f.ratio.method) == ("regression", "fieller-moderated")
    assert f.memory is not None and f.memory.without is not None
    assert f.memory.used and f.memory.df == pytest.approx(20, abs=0.1)
    # those of the memory, an hour old, and 2 of the rounds
    assert f.ratio.df == pytest.approx(f.memory.df + 2)
    assert f.memory.without.low is not None and f.ratio.low is not None and f.memory.without.low < f.ratio.low
    assert (f.memory.without.low, f.memory.without.high) == (without.ratio.low, without.ratio.high)
    assert (f.memory.sessions, f.memory.first, f.memory.last) == (1, "2026-11-20", "2026-11-20")
    assert f.memory.remembered == pytest.approx(0.01 * 2**0.5)
    assert of_run is not None and (of_run.findings, of_run.factor) == (1, 1.0)
    # the interval is the one of its variance and degrees
    base, head = (Tops(np.array(side), ((0, 0), (0, 1), (0, 2)), 0.0, log=False) for side in THREE)
    s, d0 = contrast_variance(base, head), f.memory.df
    limits = moderated_pair(base, head, (d0 * 2 * 0.01**2 + 2 * s) / (d0 + 2), d0 + 2).limits(0.05)
    assert [f.ratio.low, f.ratio.high] == pytest.approx([limits.low, limits.high], rel=1e-3)


def test_sides_that_spread_unlike_share_no_remembered_variance() -> None:
    f, memory = with_memory([1.0, 1.0005, 0.9995], [1.08, 1.034, 1.13], 0.02)
    assert (memory.used, memory.kind, f.ratio.method, f.verdict) == (False, "unlike", "fieller", "inconclusive")
    # the same spread on both sides is what memory is for
    assert with_memory([1.0, 0.98, 1.02], [1.06, 1.1, 1.08], 0.02)[1].kind == "moderated"


def test_a_case_noisier_than_remembered_falls_back_and_a_host_is_allowed_for() -> None:
    found = report({"a": ([1.0, 1.3, 0.8], [1.1, 0.7, 1.2])}, memory_of(remembered("a", 0.01)))
    (f,) = found.findings
    assert f.memory is not None
    assert (f.memory.used, f.memory.kind, f.ratio.method) == (False, "noisier", "fieller")
    assert "noisier-than-remembered" in kinds(f.warnings)
    assert found.run.memory is not None and found.run.memory.findings == 0
    rng = np.random.default_rng(1)
    sides = {f"b{k}": (rng.normal(1, 0.03, 5).tolist(), rng.normal(1, 0.03, 5).tolist()) for k in range(12)}
    found = report(sides, memory_of(*(remembered(name, 0.01) for name in sides)))
    assert found.run.memory is not None
    # three times the standard deviation is nine times the variance
    assert 4 < found.run.memory.factor < 20
    (said,) = texts(found.warnings, "noisy-host")
    assert said.startswith(f"the host is {found.run.memory.factor:.1f} times as noisy")
    assert found.run.memory.findings >= 8
    assert all(f.verdict != "regression" for f in found.findings)


def test_too_few_builds_report_from_memory_and_do_not_decide() -> None:
    f, memory = with_memory([1.0, 1.002], [2.0, 2.004])
    assert (f.verdict, f.reason, f.more_builds) == ("inconclusive", reasons.FewBuilds(needs=3, has=2), 1)
    assert memory.kind == "moderated"
    f, memory = with_memory([1.0], [2.0])
    assert (f.verdict, f.not_worse, f.ratio.kind, f.reason) == ("inconclusive", False, "bounded", reasons.MEMORY_ALONE)
    assert f.ratio.low is not None and f.ratio.low > 1.9
    assert (memory.present, memory.kind) == (None, "alone")
    f, memory = with_memory([1.0], [1.0], 0.001)
    assert (f.verdict, f.not_worse) == ("inconclusive", False)


def test_memory_is_worth_less_with_age_and_with_what_the_contrast_of_sessions_tells() -> None:
    assert with_memory(*THREE, created="2026-08-22T09:00:00Z")[1].df == pytest.approx(10, abs=0.1)
    # next to nothing does not stand in for builds
    f, memory = with_memory(*THREE, created="2024-11-20T09:00:00Z")
    assert memory.df < 1 and f.verdict == "inconclusive"
    whole = memory_of(remembered("a", 0.01))

    def df(**nu: float) -> float:
        (found,) = report({"a": THREE}, msgspec.structs.replace(whole, **nu)).findings
        assert found.memory is not None
        return found.memory.df

    assert df(build_nu=4.0) == df()
    assert df(contrast_nu=4.0) < df() / 2


def test_looks_between_rounds_know_what_the_report_knows() -> None:
    plan = {"plan": {"builds": {"min": 4, "max": 12}}, "gate": {"floor": "0", "detectable": "threshold"}}
    lines = ones((1.0, 1.01, 1.0, 1.01), (1.005, 1.0, 1.008, 1.004), benchmark="a")
    measured = [*(each.record for each in located(*lines)), *(Look(look=number) for number in (1, 2, 3))]
    # four rounds of this spread settle nothing by themselves
    for memory, settled in ((memory_of(remembered("a", 0.006)), {"a"}), (None, set())):
        run = Run(created="2026-11-20T09:00:00Z", config=plan, memory=memory)
        after_round = interim_check(run, parse(from_tables(plan, "test")))
        assert after_round is not None and after_round(measured) == settled


def test_what_is_not_used_is_said() -> None:
    why = Said("the memory of b is not used: it is of another machine", "memory-unused", "later")
    assert why in report({"a": THREE}, memory_of(remembered("a", 0.01), unused=[why])).warnings
    nothing = report({"a": THREE}, None, interval="fieller-moderated")
    assert "nothing-remembered" in kinds(nothing.warnings)
    # asked for another interval, memory does not count
    (plain,) = report({"a": THREE}, memory_of(remembered("a", 0.01)), interval="fieller").findings
    assert (plain.ratio.method, plain.memory) == ("fieller", None)
    # nor for what rounding hides
    (plain,) = report({"a": ([1.2e-8] * 5, [2.4e-8] * 5)}, memory_of(remembered("a", 0.001))).findings
    assert (plain.verdict, plain.memory) == ("regression", None)
    assert plain.ratio.low is not None and plain.ratio.low < 23.5 / 12.5


def test_rounds_that_are_not_complete_use_the_variance_of_builds() -> None:
    f, memory = with_memory([1.0, 1.01, 0.99, 1.0], [1.1, 1.11, 1.09])
    assert (f.ratio.method, f.verdict) == ("fieller-moderated", "regression")
    assert (memory.remembered, f.ratio.df) == pytest.approx((0.01, memory.df + 5))
