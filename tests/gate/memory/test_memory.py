"""What is kept between runs: one file, several processes, and every way in which it can be unusable."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import structs

from gate.memory import store
from gate.memory.entries import Costs, HistoryError, Learned, Session, Setup
from gate.memory.store import APPLICATION, KEPT, SCHEMA, History, path_of
from gate.model import MeanSquare, Remembered

ROOT = Path(__file__).parents[3]


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
        iteration=MeanSquare(value=0.04, df=900), execution=None, build=MeanSquare(value=0.1 + 0.2, df=38),
        contrast=MeanSquare(value=1e-300, df=19),
    ),
    costs=Costs(build=12.5, start=0.1, iteration=0.02, warmup=None),
)  # fmt: skip


def session(name: str = "one", **more: Any) -> Session:
    return structs.replace(SESSION, id=name, **more)


def learned(benchmark: str = "parse", **more: Any) -> Learned:
    return structs.replace(LEARNED, benchmark=benchmark, **more)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a folder" / "history #1?.sqlite"


def test_what_is_added_is_read_back(path: Path) -> None:
    factors = {"threads": 4, "size": "große"}
    with History.open(path) as history:
        assert history.add(session(), [learned(), learned("encode", factors=factors)])
    found = History.look(path)
    assert found is not None
    with found as history:
        entries = history.of_project("widget")
        assert [e.learned for e in entries] == [learned(), learned("encode", factors=factors)]
        assert [e.session for e in entries] == [session(), session()]
        assert history.of_host("abc") == entries
        assert history.of_host("abc", "widget") == entries
        assert history.of_host("abc", "other") == []
        assert history.of_host("xyz") == []
        assert history.of_project("other") == []
    # one file, also while nobody holds it
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_looking_makes_nothing(path: Path) -> None:
    assert History.look(path) is None
    assert not path.parent.exists()
    path.parent.mkdir()
    path.touch()
    assert History.look(path) is None


def test_a_session_is_kept_once(path: Path) -> None:
    with History.open(path) as history:
        assert history.add(session(), [learned()])
        assert not history.add(session(created="2026-12-24T09:00:00Z"), [learned("other")])
        assert [e.learned.benchmark for e in history.of_project("widget")] == ["parse"]
        assert history.of_project("widget")[0].session == session()


def test_the_newest_come_first_and_old_ones_go(path: Path) -> None:
    with History.open(path) as history:
        for day in range(KEPT + 3):
            history.add(session(f"s{day}", created=f"2026-01-01T00:{day:02}:00Z"), [learned()])
        history.add(session("check", created="2025-01-01T00:00:00Z", kind="check"), [learned()])
        history.add(session("elsewhere", created="2025-01-01T00:00:00Z", host={"fingerprint": "xyz"}), [learned()])
        names = [e.session.id for e in history.of_project("widget")]
    assert names[:2] == [f"s{KEPT + 2}", f"s{KEPT + 1}"]
    assert len(names) == KEPT + 2
    assert "s2" not in names
    assert {"s3", "check", "elsewhere"} <= set(names)
    # what a session told goes with it
    with sqlite3.connect(path) as raw:
        assert raw.execute("SELECT count(*) FROM finding").fetchone() == (KEPT + 2,)
    raw.close()


def test_a_session_is_added_whole_or_not_at_all(path: Path) -> None:
    with History.open(path) as history:
        with pytest.raises(HistoryError):
            history.add(session(), [learned(), learned()])  # the same finding twice
        assert history.of_project("widget") == []
        assert history.add(session(), [learned()])


ADD = """
import sys
from pathlib import Path
import msgspec
from gate.memory.entries import Learned, Session
from gate.memory.store import History
session, learned = msgspec.json.decode(sys.argv[2], type=tuple[Session, list[Learned]])
for number in range(10):
    with History.open(Path(sys.argv[1])) as history:
        assert history.add(msgspec.structs.replace(session, id=f"{session.id}-{number}"), learned)
        assert len(history.of_project(session.project)) == 2 * (number + 1)
"""


def test_several_processes_at_once_lose_nothing(path: Path) -> None:
    # the first of them makes the file while the others open it
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", ADD, str(path), msgspec.json.encode(added)],
            stderr=subprocess.PIPE, text=True, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        for added in ((session(f"{n}", project=f"project {n}"), [learned(), learned("b")]) for n in range(6))
    ]  # fmt: skip
    assert [process.communicate()[1] for process in processes] == [""] * 6
    with History.open(path) as history:
        assert len(history.of_host("abc")) == 6 * 10 * 2


def test_who_waits_too_long_is_told(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "BUSY_SECONDS", 0.05)
    History.open(path).close()
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    try:
        with History.open(path) as second, pytest.raises(HistoryError, match="another process has held it"):
            second.add(session(), [])
        # who only reads does not wait
        found = History.look(path)
        assert found is not None
        found.close()
    finally:
        holder.close()


# --- files that cannot be used ----------------------------------------------------------------------------------------


def line_of(path: Path, *, write: bool = True) -> str:
    with pytest.raises(HistoryError) as caught:
        use(path, write=write)
    line = str(caught.value)
    assert "\n" not in line
    assert line.startswith(f"{path}: ")
    return line


def use(path: Path, *, write: bool) -> None:
    opened = History.open(path) if write else History.look(path)
    assert opened is not None
    with opened:
        opened.of_host("abc")
        opened.add(session(), [learned()])


@pytest.mark.parametrize("write", [True, False])
def test_a_newer_schema_is_refused(path: Path, write: bool) -> None:
    History.open(path).close()
    with sqlite3.connect(path) as raw:
        raw.execute(f"PRAGMA user_version = {SCHEMA + 1}")
    raw.close()
    assert "schema 2 is newer than this perfgate reads (1): use a newer perfgate" in line_of(path, write=write)


@pytest.mark.parametrize("write", [True, False])
def test_another_programs_database_is_left_alone(path: Path, write: bool) -> None:
    path.parent.mkdir()
    with sqlite3.connect(path) as raw:
        raw.execute("CREATE TABLE precious (x)")
    raw.close()
    before = path.read_bytes()
    assert "is a database of another program: name another file with --history" in line_of(path, write=write)
    assert path.read_bytes() == before


@pytest.mark.parametrize("write", [True, False])
def test_a_file_that_is_no_database(path: Path, write: bool) -> None:
    path.parent.mkdir()
    path.write_text("just some text\n" * 100)
    assert "move it away, and calibrate again" in line_of(path, write=write)


def test_a_damaged_file(path: Path) -> None:
    with History.open(path) as history:
        history.add(session(), [learned(f"b{n}") for n in range(300)])
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    path.write_bytes(data)
    assert "is damaged" in line_of(path, write=False)


@pytest.mark.parametrize("column", ["setup", "remembered", "costs", "factors"])
def test_a_row_that_is_not_ours(path: Path, column: str) -> None:
    with History.open(path) as history:
        history.add(session(), [learned()])
    with sqlite3.connect(path) as raw:
        raw.execute(f"UPDATE finding SET {column} = '[1'")  # noqa: S608  # the test's own names
    raw.close()
    assert "is damaged" in line_of(path)
    with sqlite3.connect(path) as raw:
        raw.execute(f"UPDATE finding SET {column} = 7")  # noqa: S608  # the test's own names
    raw.close()
    assert "is damaged" in line_of(path)


def test_a_table_that_is_gone(path: Path) -> None:
    History.open(path).close()
    with sqlite3.connect(path) as raw:
        raw.execute("DROP TABLE finding")
    raw.close()
    assert "is damaged" in line_of(path)


def test_places_that_cannot_hold_a_file(tmp_path: Path) -> None:
    assert "is a folder, not a file" in line_of(tmp_path)
    assert "is a folder, not a file" in line_of(tmp_path, write=False)
    (tmp_path / "file").touch()
    assert "cannot be used" in line_of(tmp_path / "file" / "history")
    assert History.look(tmp_path / "file" / "history") is None


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        assert "cannot be used" in line_of(tmp_path / "history")
    finally:
        tmp_path.chmod(0o700)


def test_a_read_only_history_can_be_read(path: Path) -> None:
    with History.open(path) as history:
        history.add(session(), [learned()])
    found = History.look(path)
    assert found is not None
    with found as history:
        assert len(history.of_host("abc")) == 1
        with pytest.raises(HistoryError, match="cannot be used"):
            history.add(session("two"), [])


def test_the_file_says_what_it_is(path: Path) -> None:
    History.open(path).close()
    with sqlite3.connect(path) as raw:
        assert raw.execute("PRAGMA user_version").fetchone() == (SCHEMA,)
        assert raw.execute("PRAGMA application_id").fetchone() == (APPLICATION,)
        assert raw.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    raw.close()


# --- where it is ------------------------------------------------------------------------------------------------------


def test_the_path_is_the_first_that_is_named() -> None:
    everywhere = {"PERFGATE_HISTORY": "/e/h", "XDG_STATE_HOME": "/state", "HOME": "/home/me"}
    without = {k: v for k, v in everywhere.items() if k != "PERFGATE_HISTORY"}
    assert path_of(Path("o"), "c", everywhere) == Path("o")
    assert path_of(None, "c", everywhere) == Path("c")
    assert path_of(None, None, everywhere) == Path("/e/h")
    assert path_of(None, None, without) == Path("/state/perfgate/history.sqlite")
    home = {"HOME": "/home/me"}
    default = Path("/home/me/.local/state/perfgate/history.sqlite")
    assert path_of(None, None, home) == default
    # not absolute: to be ignored, says the specification; empty is as good as not set
    assert path_of(None, None, home | {"XDG_STATE_HOME": "state", "PERFGATE_HISTORY": ""}) == default
    assert path_of(None, "~/h", home) == Path("/home/me/h")


def test_without_a_home_something_must_name_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(_: Path) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "expanduser", nowhere)
    with pytest.raises(HistoryError, match="no home directory is known: name another file"):
        path_of(None, None, {})
