"""Measuring, small: what is appended, and how a killed trial goes on."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.trial import measuring, plan
from benchmarks.trial.comparisons import comparisons
from benchmarks.trial.records import SCHEMA, DataError, Ran, Trial, append, read
from tests.support.trial import HOST

SMALL = """\
import sys
from pathlib import Path
from benchmarks.trial import measuring, plan, records
from benchmarks.trial.programs.sort import Sort
plan._PROGRAMS, plan._STARTS, plan.ROUNDS, plan.LAYOUTS = ("sort", "sort"), {"sort": 5}, 3, 4
measuring._WORKED = 5
measuring.made = lambda folder: {"sort": Sort(folder)}
measuring._counted = lambda program, side: records.Counted(program.name, side, 1, 0.0)
measuring.measure(Path(sys.argv[1]), int(sys.argv[2]), 3)
"""


def measured(file: Path, bundles: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", SMALL, str(file), str(bundles)], stderr=subprocess.DEVNULL)


def launches(file: Path) -> list[tuple[int, str, tuple[str, ...], int]]:
    return [measuring._key(line) for line in read(file) if isinstance(line, Ran)]


@pytest.mark.nightly
@pytest.mark.xdist_group("measuring")
def test_a_trial_that_was_killed_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "data.jsonl"
    first = measured(file, 2)
    # in the second bundle, which is under a load
    while not file.exists() or not any(key[0] == 1 for key in launches(file)):
        assert first.poll() is None
        time.sleep(0.02)
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    before = launches(file)
    with file.open("ab") as out:
        out.write(b'{"type":"ran","prog')
    assert measured(file, 2).wait() == 0
    monkeypatch.setattr(plan, "_PROGRAMS", ("sort", "sort"))
    monkeypatch.setattr(plan, "_STARTS", {"sort": 5})
    monkeypatch.setattr(plan, "ROUNDS", 3)
    monkeypatch.setattr(plan, "LAYOUTS", 4)
    found = launches(file)
    assert found[: len(before)] == before
    assert len(before) < len(found) == len(set(found))
    assert {each.bundle for each in comparisons(read(file), 3)} == {0, 1}
    [line, *_] = [line for line in read(file) if isinstance(line, Ran) and line.part == "round"]
    # one task did the work, and what others took of the processor is known
    assert all(start.active > 0 and start.own >= 0.5 for start in line.starts)


def test_a_torn_last_line_is_ignored_and_a_wrong_one_is_named(tmp_path: Path) -> None:
    file = tmp_path / "data.jsonl"
    append(file, Trial(SCHEMA, 1, HOST))
    with file.open("ab") as out:
        out.write(b'{"type":"ran","prog')
    assert read(file) == [Trial(SCHEMA, 1, HOST)]
    with file.open("ab") as out:
        out.write(b"\n")
    with pytest.raises(DataError, match=r"data\.jsonl, line 2: .*not the trial's data"):
        read(file)
    with pytest.raises(DataError, match="run `make trial`"):
        read(tmp_path / "none.jsonl")


def test_starts_by_turns_are_in_the_order_of_perfgate() -> None:
    step = next(step for step in plan.bundle(0, 1).steps if step.part == "round")
    assert step.order[:2] == (0, 1)
    fours = [step.order[k : k + 4] for k in range(2, len(step.order), 4)]
    assert set(fours) == {(0, 1, 1, 0), (1, 0, 0, 1)}
    assert len(step.order) == 2 * (plan.WARM + plan.EXECUTIONS * plan.ITERATIONS)


def test_bundles_are_drawn_from_the_seed_and_every_second_one_is_under_a_load() -> None:
    assert plan.bundle(4, 1) == plan.bundle(4, 1)
    assert plan.bundle(4, 1) != plan.bundle(4, 2)
    whole = [plan.bundle(number, 1) for number in range(plan.BUNDLES)]
    assert {each.load for each in whole} == {plan.AS_FOUND, *plan.UNDER}
    for kind in plan.CHANGED:
        quiet, loaded = (
            sum(kind in each.heads and (each.load == plan.AS_FOUND) == as_found for each in whole)
            for as_found in (True, False)
        )
        assert abs(quiet - loaded) <= 2
        assert quiet + loaded >= 25
    slow = [each for bundle in whole[:10] for step in bundle.steps for each in step.slow]
    assert sum(slow) / len(slow) == pytest.approx(1 / plan.TAIL_EVERY, abs=0.005)
