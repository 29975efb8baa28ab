"""Nights in the history file: beside the variances, by project and machine, written once, bounded."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from gate.memory import store
from gate.memory.store import SCHEMA, History
from gate.model.creep import CaseNights, Night


def night(number: int, run: str = "") -> Night:
    return Night(
        run=run or f"run-{number}", day=f"2026-{1 + number // 28:02d}-{1 + number % 28:02d}", pin="a" * 40,
        commit="b" * 40, log_ratio=0.01 * number, variance=1e-5,
    )  # fmt: skip


def case(*nights: Night, benchmark: str = "parse", **factors: object) -> CaseNights:
    return CaseNights(benchmark=benchmark, metric="time", statistic="mean", factors=factors, nights=list(nights))


def test_nights_come_back_by_case_the_oldest_first(tmp_path: Path) -> None:
    with History.open(tmp_path / "h") as history:
        history.add_nights("p", "m", [case(night(2)), case(night(2), size=10)])
        history.add_nights("p", "m", [case(night(1))])
        assert history.nights("p", "m") == [case(night(1), night(2)), case(night(2), size=10)]
        assert history.nights("p", "other") == history.nights("q", "m") == []


def test_a_run_is_remembered_once(tmp_path: Path) -> None:
    with History.open(tmp_path / "h") as history:
        history.add_nights("p", "m", [case(night(1))])
        history.add_nights("p", "m", [case(night(5, run="run-1"))])
        assert history.nights("p", "m") == [case(night(1))]


def test_only_the_newest_days_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "NIGHTS_KEPT", 3)
    with History.open(tmp_path / "h") as history:
        for number in range(6):
            history.add_nights("p", "m", [case(night(number)), case(night(number), benchmark="encode")])
        history.add_nights("q", "m", [case(night(0))])
        assert [each.nights for each in history.nights("p", "m")] == [[night(3), night(4), night(5)]] * 2
        assert history.nights("q", "m") == [case(night(0))]


def test_a_file_of_an_older_perfgate_has_no_nights_and_gets_some(tmp_path: Path) -> None:
    with History.open(tmp_path / "h") as history:
        assert history.nights("p", "m") == []
    with History.open(tmp_path / "h") as history:
        history.add_nights("p", "m", [case(night(1))])
    with sqlite3.connect(tmp_path / "h") as connection:
        # an older perfgate goes on reading it
        assert connection.execute("PRAGMA user_version").fetchone() == (SCHEMA,)
    connection.close()
    looked = History.look(tmp_path / "h")
    assert looked is not None
    with looked:
        assert looked.nights("p", "m") == [case(night(1))]
