"""What machines remember: a file for each session, several processes, and every way in which it can be unusable."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from gate.model import RelativeVariance, Remembered
from gate.model.history import CaseNights, Night
from gate.store.memory import KEPT, SCHEMA, HistoryError, Learned, Session, Sessions, Setup, StepCosts, folder_of

SESSION = Session(
    id="one", created="2026-11-20T09:00:00Z", kind="calibration", project="widget",
    host={"fingerprint": "abc", "cpu": "Z80", "cores": 2}, commit="1234",
)  # fmt: skip
LEARNED = Learned(
    benchmark="parse",
    metric="time",
    factors={},
    statistic="mean",
    setup=Setup(command="./parse", instrument="spawn", warmup=1, build="make"),
    remembered=Remembered(
        session="one", created="2026-11-20T09:00:00Z", rounds=20, executions=5, iterations=10,
        iteration=RelativeVariance(value=0.04, df=900), execution=None, build=RelativeVariance(value=0.1 + 0.2, df=38),
        contrast=RelativeVariance(value=1e-300, df=19),
    ),
    costs=StepCosts(build=12.5, start=0.1, iteration=0.02, warmup=None),
)  # fmt: skip


def session(name: str = "one", **more: Any) -> Session:
    return structs.replace(SESSION, id=name, **more)


def learned(benchmark: str = "parse", **more: Any) -> Learned:
    return structs.replace(LEARNED, benchmark=benchmark, **more)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a folder" / "history #1?"


def file_of(path: Path) -> Path:
    (file,) = path.rglob("*.json")
    return file


def test_what_is_added_is_read_back(path: Path) -> None:
    factors = {"threads": 4, "size": "große"}
    history = Sessions(path)
    assert history.add(session(), [learned(), learned("encode", factors=factors)])
    entries = history.of_host("*", "widget")
    assert [own for _, own in entries] == [learned(), learned("encode", factors=factors)]
    assert [of for of, _ in entries] == [session(), session()]
    assert history.of_host("abc") == entries
    assert history.of_host("abc", "widget") == entries
    assert history.of_host("abc", "other") == history.of_host("xyz") == history.of_host("*", "other") == []
    assert path.stat().st_mode & 0o777 == 0o700
    assert [file for file in path.rglob("*") if file.is_file()] == [file_of(path)]


def test_looking_makes_nothing(path: Path) -> None:
    assert not Sessions(path).of_host("*", "widget") and not Sessions(path).nights("widget", "abc")
    assert not path.parent.exists()


def test_a_session_is_kept_once(path: Path) -> None:
    history = Sessions(path)
    assert history.add(session(), [learned()])
    assert not history.add(session(created="2026-12-24T09:00:00Z"), [learned("other")])
    assert [(of, own.benchmark) for of, own in history.of_host("*", "widget")] == [(session(), "parse")]


def test_the_newest_come_first_and_old_ones_go(path: Path) -> None:
    history, kept = Sessions(path), KEPT["calibration"]
    for day in range(kept + 3):
        history.add(session(f"s{day}", created=f"2026-01-01T00:{day:02}:00Z"), [learned()])
    history.add(session("check", created="2025-01-01T00:00:00Z", kind="check"), [learned()])
    history.add(session("elsewhere", created="2025-01-01T00:00:00Z", host={"fingerprint": "xyz"}), [learned()])
    names = [of.id for of, _ in history.of_host("*", "widget")]
    assert names[:2] == [f"s{kept + 2}", f"s{kept + 1}"]
    assert len(names) == kept + 2
    assert "s2" not in names
    assert {"s3", "check", "elsewhere"} <= set(names)


def test_several_at_once_lose_nothing(path: Path) -> None:
    begin = threading.Barrier(4)

    def write(own: int) -> None:
        # the first of them makes the folder while the others write
        begin.wait()
        for number in range(10):
            added = session(f"{own}-{number}", project=f"project {own}")
            assert Sessions(path).add(added, [learned(), learned("b")])
            assert len(Sessions(path).of_host("*", added.project)) == 2 * (number + 1)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    assert len(Sessions(path).of_host("abc")) == 4 * 10 * 2


# --- nights -----------------------------------------------------------------------------------------------------------


def night(number: int) -> Night:
    return Night(
        run=f"run-{number}", day=f"2026-{1 + number // 28:02d}-{1 + number % 28:02d}", pin="a" * 40,
        commit="b" * 40, log_ratio=0.01 * number, variance=1e-5,
    )  # fmt: skip


def case(*nights: Night, benchmark: str = "parse", **factors: object) -> CaseNights:
    return CaseNights(benchmark=benchmark, metric="time", statistic="mean", factors=factors, nights=list(nights))


def add(history: Sessions, number: int, *cases: CaseNights) -> bool:
    shown = night(number)
    return history.add(session(shown.run, kind="night", created=f"{shown.day}T01:00:00Z"), [], cases)


def test_nights_come_back_by_case_the_oldest_first(path: Path) -> None:
    history = Sessions(path)
    assert add(history, 2, case(night(2)), case(night(2), size=10))
    assert add(history, 1, case(night(1)))
    assert not add(history, 1, case(night(5)))
    assert history.nights("widget", "abc") == [case(night(1), night(2)), case(night(2), size=10)]
    assert history.nights("widget", "other") == history.nights("q", "abc") == []
    # a night tells nothing of variances
    assert history.of_host("abc") == []


def test_only_the_newest_nights_stay(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(KEPT, "night", 3)
    history = Sessions(path)
    for number in range(6):
        add(history, number, case(night(number)), case(night(number), benchmark="encode"))
    assert [each.nights for each in history.nights("widget", "abc")] == [[night(3), night(4), night(5)]] * 2


# --- what cannot be used ----------------------------------------------------------------------------------------------


def line_of(path: Path, *, write: bool = False) -> str:
    with pytest.raises(HistoryError) as caught:
        Sessions(path).add(session("two"), [learned()]) if write else Sessions(path).of_host("abc")
    line = str(caught.value)
    assert "\n" not in line
    return line


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b'{"schema": 2}', f"schema {SCHEMA + 1} is newer than this perfgate reads ({SCHEMA}): use a newer perfgate"),
        (b"just some text", "is damaged ("),
        (b'{"schema": 1}', "is damaged (Object missing required field `session`): remove it, and calibrate again"),
        (b"\xff\xfe", "is damaged ("),
    ],
)
def test_a_file_that_cannot_be_read_is_named(path: Path, data: bytes, said: str) -> None:
    assert Sessions(path).add(session(), [learned()])
    file = file_of(path)
    file.write_bytes(data)
    assert line_of(path).startswith(f"{file}: {said}")
    # the next session is kept all the same
    assert Sessions(path).add(session("two"), [learned()])


def test_places_that_cannot_hold_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert "cannot be used" in line_of(tmp_path / "file" / "history", write=True)
    assert "cannot be used: File exists" in line_of(tmp_path / "file", write=True)
    assert "is a file, and a history is a folder" in line_of(tmp_path / "file")
    assert Sessions(tmp_path / "file" / "history").of_host("abc") == []


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        assert "cannot be used" in line_of(tmp_path / "history", write=True)
        assert "cannot be written" in line_of(tmp_path, write=True)
    finally:
        tmp_path.chmod(0o700)


# --- where it is ------------------------------------------------------------------------------------------------------


def test_the_path_is_the_first_that_is_named() -> None:
    everywhere = {"PERFGATE_HISTORY": "/e/h", "XDG_STATE_HOME": "/state", "HOME": "/home/me"}
    without = {k: v for k, v in everywhere.items() if k != "PERFGATE_HISTORY"}
    assert folder_of(Path("o"), "c", everywhere) == Path("o")
    assert folder_of(None, "c", everywhere) == Path("c")
    assert folder_of(None, None, everywhere) == Path("/e/h")
    assert folder_of(None, None, without) == Path("/state/perfgate/history")
    home = {"HOME": "/home/me"}
    default = Path("/home/me/.local/state/perfgate/history")
    assert folder_of(None, None, home) == default
    # not absolute: to be ignored, says the specification; empty is as good as not set
    assert folder_of(None, None, home | {"XDG_STATE_HOME": "state", "PERFGATE_HISTORY": ""}) == default
    assert folder_of(None, "~/h", home) == Path("/home/me/h")
    # a ref holds records of commits alone
    assert folder_of(Path("refs/perfgate/history"), "refs/x", home) == default


def test_without_a_home_something_must_name_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(_: Path) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "expanduser", nowhere)
    with pytest.raises(HistoryError, match="no home directory is known: name another folder"):
        folder_of(None, None, {})
