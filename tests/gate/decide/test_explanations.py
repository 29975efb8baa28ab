"""Which profiles explain which findings of a report."""

from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from gate.decide.importance import explanations_of, unprofiled_of
from gate.explain.explain import explain
from gate.model import Evidence, Finding, RoundsDone
from gate.model.profile import Frame, Profile, Stack, Unprofiled
from tests.gate.report import examples


def evidence(*profiles: Profile, unprofiled: list[Unprofiled] | None = None) -> Evidence:
    return Evidence(
        run=None, cases=[], failures=[], new=[], rounds=RoundsDone(done=5, planned=5), looks=[], seconds=None,
        slowest_round=None, builds=[], states=[], warnings=[], profiles=list(profiles), unprofiled=unprofiled or [],
    )  # fmt: skip


def both(**changes: Any) -> list[Profile]:
    return [replace(each, **changes) for each in examples.profiles()]


def explained(found: Evidence, *findings: Finding) -> list[tuple[str, float | None]]:
    return [(each.benchmark, each.measured) for each in explanations_of(found, findings)]


def test_regressions_come_first_with_what_was_measured() -> None:
    found = evidence(*both(benchmark="a"), *both(benchmark="b"))
    findings = [examples.finding("a", estimate=1.01), examples.regressed("b", estimate=1.2)]
    assert explained(found, *findings) == [("b", 1.2), ("a", 1.01)]
    # a rate that falls is a ratio above one
    (one,) = explanations_of(evidence(*both(benchmark="a")), [examples.regressed("a", estimate=0.8, better="higher")])
    assert one.measured == pytest.approx(1.25)
    # of several findings time is what a profile is compared with
    findings = [examples.regressed("a", metric="memory", unit="B", estimate=2.0), examples.regressed("a", estimate=1.2)]
    (one,) = explanations_of(evidence(*both(benchmark="a")), findings)
    assert (one.metric, one.measured, one.agreement) == ("time", 1.2, "agrees")


def test_one_side_alone_explains_nothing() -> None:
    base, head = both(benchmark="a")
    assert explained(evidence(base)) == []
    assert explained(evidence(base, replace(head, session=1))) == []
    assert explained(evidence(base, replace(head, unit="s"))) == []
    assert explained(evidence(head, base)) == [("a", None)]


def test_of_several_sessions_the_first_explains_and_settings_are_benchmarks_of_their_own() -> None:
    found = evidence(*both(benchmark="a", session=2), *both(benchmark="a", session=1))
    assert [each.session for each in explanations_of(found, [])] == [1]
    found = evidence(*both(benchmark="a", factors={"size": 1}), *both(benchmark="a", factors={"size": 2}))
    (one,) = [e for e in explanations_of(found, [examples.regressed("a", factors={"size": 2})]) if e.metric]
    assert one.factors == {"size": 2}


def test_a_benchmark_that_was_profiled_later_is_not_unprofiled() -> None:
    without = [Unprofiled(benchmark=name, kind="budget") for name in ("a", "b", "b")]
    found = evidence(*both(benchmark="a"), unprofiled=without)
    assert [each.benchmark for each in unprofiled_of(found, explanations_of(found, []))] == ["b"]


def test_two_profiles_of_one_program_rarely_name_a_function_for_certain() -> None:
    """The promise of the mark "within sampling noise": 2.6 standard errors, over twelve functions."""
    rng = np.random.default_rng(5)
    mean = np.array([200, 150, 120, 90, 80, 60, 50, 40, 30, 30, 25, 20])
    frames = [Frame("main", "a.c"), *(Frame(f"f{n}", "a.c") for n in range(len(mean)))]

    def profile(side: Any) -> Profile:
        stacks = [Stack([0, n + 1], float(count)) for n, count in enumerate(rng.poisson(mean)) if count]
        return Profile(benchmark="a", side=side, profiler="perf", unit="samples", frames=frames, stacks=stacks)

    runs = 300
    certain = sum(
        any(not each.noise for each in explain(profile("base"), profile("head")).candidates if each.change > 0)
        for _ in range(runs)
    )
    expected = len(mean) * 0.0047
    assert certain / runs <= expected + 3 * (expected * (1 - expected) / runs) ** 0.5


def test_a_profile_is_not_said_to_contradict_a_change_that_is_uncertain() -> None:
    sure = examples.finding("a", estimate=0.75, half=0.01)
    unsure = examples.finding("a", estimate=0.75, half=0.7)
    said = [explanations_of(evidence(*both(benchmark="a")), [each])[0].agreement for each in (sure, unsure)]
    assert said == ["opposite", "agrees"]
