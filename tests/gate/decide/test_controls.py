"""Controls: base's odd starts against its even ones, judged by the gate's own intervals, and what many of them prove."""

import math
from collections.abc import Iterable
from pathlib import Path
from statistics import fmean, stdev

import msgspec
import numpy as np
import pytest

from gate.decide.design import design_of
from gate.decide.estimates import subjects_of
from gate.decide.report_facts import controls_of
from gate.evidence.gather import gather
from gate.model import Report, Sample
from gate.model.history import Controls, HistoryRecord
from gate.report.json import read as from_json
from gate.report.json import render as to_json
from gate.run.memory import control_warnings
from gate.stats.levels import BEYOND, e_value, halves
from gate.stats.ratio import t_quantile
from gate.store.history_records import FolderStore, decode, encode, proof_of
from tests.gate.decide.decided import both, decided, policy_by
from tests.gate.store.records import record
from tests.promise.test_controls import NOISES, STARTS, alarms, false_warnings, named, values
from tests.support.lines import located
from tests.support.seeds import some

RULES = {"gate": {"threshold": "3%"}}


def starts(rng: np.random.Generator, count: int = 6) -> list[list[list[float]]]:
    """Builds of two to five starts of one to three values."""
    return [[rng.normal(1, 0.02, rng.integers(1, 4)).tolist() for _ in range(rng.integers(2, 6))] for _ in range(count)]


def report(nested: list[list[list[float]]], **more: str) -> Report:
    return decided(both(nested, nested, **more), RULES)


@pytest.mark.parametrize("seed", some(range(20), 8, pytest.mark.nightly))
def test_a_control_is_what_a_literal_loop_gives(seed: int) -> None:
    nested = starts(np.random.default_rng(seed))
    logs = []
    for number, build in enumerate(nested):
        sides: list[list[float]] = [[], []]
        for place, own in enumerate(build[: len(build) // 2 * 2]):
            sides[(place + number) % 2].append(fmean(own))
        odd, even = sides
        logs.append(math.log(fmean(even) / fmean(odd)))
    half = t_quantile(len(logs) - 1, 0.025) * stdev(logs) / math.sqrt(len(logs))
    (found,) = report(nested).findings
    control = found.control
    assert control is not None
    assert (control.low, control.high) == pytest.approx(
        (math.exp(fmean(logs) - half), math.exp(fmean(logs) + half)), rel=1e-6
    )
    assert control.alarmed == (control.low > 1)
    assert control.rounds == len(nested)


def test_the_simulated_years_judge_as_the_gate_does() -> None:
    rng = np.random.default_rng(1)
    policy, nested = policy_by(RULES), [[[1.0]] * STARTS] * 6
    evidence = gather(located(*both(nested, nested)), policy.config)
    subjects = subjects_of(evidence, policy)
    design = design_of(evidence, policy, subjects)
    for noise in NOISES:
        drawn = values(rng, noise)[:20]
        of_case = []
        for own in drawn.reshape(-1, 6 * STARTS):
            case = subjects[0].case
            base = msgspec.structs.replace(case.base, values=np.exp(own), step=0.0)
            of_case.append(msgspec.structs.replace(subjects[0], case=msgspec.structs.replace(case, base=base)))
        found = controls_of(of_case, design)
        assert [each is not None and each.alarmed for each in found] == alarms(drawn).ravel().tolist()


def test_few_years_warn_falsely_and_a_fault_is_named_soon() -> None:
    # a seeded sample of the thousand years under `make promise`
    assert {noise: rate for noise in NOISES if (rate := false_warnings(noise, 60, 3)) > 0.1} == {}
    for cases in (1, 10):
        assert named(0.10, 150, cases, 200, 4) >= 0.85
    # an e-value is 1 on the average, of any number of controls, and however they depend on each other: it is linear
    for count in (1, 2, 8, 500):
        none, all_ = e_value(0, count), e_value(count, count)
        assert none + 0.025 * (all_ - none) == pytest.approx(1)
        assert none > 0
    assert e_value(1, 1) == pytest.approx(2)


@pytest.mark.parametrize(
    ("nested", "more"),
    [
        ([[[1.0], [1.1], [1.2]]] * 4, {}),
        ([[[1.0 + n / 100]] for n in range(6)], {}),
        ([[[1.0 + n / 100], [-1.0], [1.2]] for n in range(6)], {"metric": "delta"}),
    ],
    ids=["few builds", "one start a build", "no logarithm"],
)
def test_what_has_no_control(nested: list[list[list[float]]], more: dict[str, str]) -> None:
    found = report(nested, **more)
    assert [each.control for each in found.findings] == [None]
    assert found.controls is None


def test_a_start_without_a_partner_is_left_out() -> None:
    sample = Sample(
        np.arange(6.0), (np.array([1, 2, 1, 1, 1]), np.array([3, 2]), np.array([2])), ((0, 0), (0, 1)), np.arange(5)
    )
    both = halves(sample)
    assert both is not None
    assert [half.values.tolist() for half in both] == [[0, 5], [1, 2, 4]]
    assert [half.counts[1].tolist() for half in both] == [[1, 1], [1, 1]]


def test_the_report_counts_and_says_them() -> None:
    found = report(starts(np.random.default_rng(5)))
    assert found.controls is not None
    assert (found.controls.count, found.controls.alarmed) == (1, 0)
    assert from_json(text := to_json(found)).controls == found.controls
    assert '"alarmed": false' in text


# --- the history ------------------------------------------------------------------------------------------------------


def kept(alarmed: int) -> Controls:
    return Controls(count=8, alarmed=alarmed, e_value=e_value(alarmed, 8))


def with_controls(counts: Iterable[int], first: int = 1) -> list[HistoryRecord]:
    """Runs of eight controls each, of which so many alarmed."""
    return [msgspec.structs.replace(record(n), controls=kept(own)) for n, own in enumerate(counts, first)]


def test_a_record_keeps_them_and_a_healthy_history_says_how_many_alarmed() -> None:
    (made,) = with_controls([2])
    assert decode(encode(made)).controls == kept(2)
    # an old one is read
    old = msgspec.json.encode({k: v for k, v in msgspec.to_builtins(record(1)).items() if k != "controls"})
    assert decode(old).controls is None
    assert proof_of([record(1)]) is None
    proof = proof_of(with_controls(n % 9 == 0 for n in range(80)))
    assert proof is not None
    assert proof.sentence() == "9 of 640 controls of the last 80 runs showed a regression, 16 would by chance"
    assert (proof.since, proof.warning()) == (None, "")


def test_a_warning_names_the_run_since_which() -> None:
    records = with_controls([0, 0, 3, 3, 3, 3, 3, 0, 0])
    at = next(n for n in range(1, 10) if (p := proof_of(records[:n])) is not None and p.e_value > BEYOND)
    proof = proof_of(reversed(records))
    assert proof is not None
    assert proof.since == f"run-{at} of 2026-01-01"
    assert f"since run run-{at} of 2026-01-01 (e-value" in proof.warning()
    # what is healthy for long enough afterwards takes the warning back
    again = proof_of([*records, *with_controls([0] * 90, 10)])
    assert again is not None and again.since is None


def test_a_check_warns_of_them_where_there_is_such_a_history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PERFGATE_HISTORY", str(tmp_path / "history"))
    assert control_warnings(None) == []
    for each in with_controls([0, 0, 3, 3, 3, 3, 3]):
        FolderStore(tmp_path / "history").add(each)
    (warning,) = control_warnings(None)
    assert warning.sentence().startswith(
        "15 of 56 controls of the last 7 runs showed a regression, 1.4 would by chance, more than chance "
    )
