"""Measuring, small: what is appended, and how a killed trial goes on."""

from pathlib import Path
from typing import Any

import pytest

from benchmarks.trial import measuring, plan
from benchmarks.trial.comparisons import comparisons
from benchmarks.trial.programs.program import OFFSET, ROOT
from benchmarks.trial.programs.textstats import Textstats, changed
from benchmarks.trial.records import SCHEMA, DataError, Ran, Trial, append, read
from tests.support.trial import HOST

PARTS = ("history", "long", "starts")


@pytest.mark.endtoend
@pytest.mark.xdist_group("measuring")
def test_a_trial_that_was_killed_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "LONG_SECONDS", 0.1)
    monkeypatch.setattr(plan, "START_SECONDS", 0.05)
    monkeypatch.setattr(plan, "HISTORY_SECONDS", 0.05)
    monkeypatch.setattr(plan, "STARTS", 3)
    monkeypatch.setattr(plan, "ROUNDS", 2)
    monkeypatch.setattr(plan, "LAYOUTS", 4)
    monkeypatch.setattr(measuring, "PROGRAMS", {"textstats": Textstats})
    monkeypatch.setattr(measuring, "made", lambda folder: {"textstats": Textstats(folder)})
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    file = tmp_path / "data.jsonl"
    measuring.measure(file, 0.001, 3)
    whole = read(file)
    assert len(comparisons(whole, ("textstats",), 3)) == 18
    # killed within a line
    data = file.read_bytes()
    file.write_bytes(data[: data.rindex(b"\n", 0, -2000) + 40])
    measuring.measure(file, 0.001, 3)
    again = read(file)
    keys = [(line.bundle, line.part, line.side, line.number) for line in again if isinstance(line, Ran)]
    assert len(keys) == len(set(keys))
    assert set(keys) == {(line.bundle, line.part, line.side, line.number) for line in whole if isinstance(line, Ran)}


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


def test_the_data_of_another_version_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "data.jsonl"
    append(file, Trial(1, 1, HOST))
    with pytest.raises(DataError, match=r"data\.jsonl is of another version .*move it away and run `make trial`"):
        read(file)


def test_a_short_process_has_a_slow_pass_as_often_as_a_long_one() -> None:
    # the second pass is what tachometer takes
    steps = [step for number in range(6) for step in plan.bundle(number, ("one",), 1).steps if step.part == "starts"]
    slow = sum((step.offset + 2) % plan.TAIL_EVERY == 0 for step in steps)
    assert slow / len(steps) == pytest.approx(1 / plan.TAIL_EVERY, abs=0.01)


@pytest.mark.parametrize(("offset", "slow"), [(0, 0), (24, 1), (20, 1), (19, 0)])
def test_a_program_with_a_tail_counts_from_the_offset(offset: int, slow: int, monkeypatch: pytest.MonkeyPatch) -> None:
    source = (ROOT / "examples/textstats/textstats/__init__.py").read_text(encoding="utf-8")
    monkeypatch.setenv(OFFSET, f"{offset:02}")
    module: dict[str, Any] = {}
    exec(changed(source, plan.TAIL), module)  # noqa: S102 - our own
    counted: list[str] = []
    module["_count"] = lambda text, _: counted.append(text)
    for _ in range(5):
        module["most_common"]("a b", 1)
    assert len(counted) == 5 + slow


def test_history_is_of_the_base_that_head_is_compared_with() -> None:
    bundle = plan.bundle(3, ("one", "two"), 1)
    layouts = {part: {s.layout for s in bundle.steps if s.part == part and s.side == "same-1"} for part in PARTS}
    assert layouts["history"] == layouts["long"] == layouts["starts"]


def test_bundles_are_drawn_from_the_seed_and_changes_take_turns() -> None:
    programs = ("one", "two", "three")
    assert plan.bundle(4, programs, 1) == plan.bundle(4, programs, 1)
    assert plan.bundle(4, programs, 1) != plan.bundle(4, programs, 2)
    seen = [side for number in range(0, 15, 3) for side in plan.bundle(number, programs, 1).sides[4:]]
    assert {side: seen.count(side) for side in plan.CHANGED} == dict.fromkeys(plan.CHANGED, 3)
