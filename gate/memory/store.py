"""The history in one SQLite file: made, read and written under concurrent processes."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import msgspec

from gate.checkout import refuse_tracked
from gate.memory.entries import Costs, Entry, HistoryError, Learned, Session, Setup
from gate.model import Remembered
from gate.model.creep import CaseNights, Night

ELSEWHERE = "name another file with --history, [gate] history or PERFGATE_HISTORY"


def path_of(option: Path | None, configured: str | None, environment: Mapping[str, str]) -> Path:
    """Say where the history is: the option, [gate] history, PERFGATE_HISTORY, or the user's state directory.

    Raises:
        HistoryError: nothing names it, and the user has no home directory.
        UserError: it leads through a link that git tracks.
    """
    for given in (option, configured, environment.get("PERFGATE_HISTORY")):
        if given:
            found = _expanded(Path(given), environment)
            refuse_tracked(found, "--history")
            return found
    state = Path(environment.get("XDG_STATE_HOME", ""))
    if not state.is_absolute():  # as the XDG base directory specification asks for
        state = _expanded(Path("~/.local/state"), environment)
    return state / "perfgate" / "history.sqlite"


def _expanded(path: Path, environment: Mapping[str, str]) -> Path:
    home = environment.get("HOME")
    if home and path.parts[:1] == ("~",):
        return Path(home, *path.parts[1:])
    try:
        return path.expanduser()
    except RuntimeError:
        raise HistoryError(f"{path}: no home directory is known: {ELSEWHERE}") from None


SCHEMA = 1
"""Version of the file, in its user_version."""
APPLICATION = 0x70676874
"""Tells the file from other programs' ("pght"), in its application_id."""
KEPT = 50
"""Sessions of one kind, project and machine; older ones have lost their weight by then."""
BUSY_SECONDS = 30.0

_TABLES = """
CREATE TABLE session (
    id TEXT PRIMARY KEY NOT NULL,
    created TEXT NOT NULL,
    kind TEXT NOT NULL,
    project TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    host TEXT NOT NULL,
    commit_sha TEXT
);
CREATE INDEX session_of ON session (project, fingerprint, kind, created);
CREATE TABLE finding (
    session TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
    benchmark TEXT NOT NULL,
    metric TEXT NOT NULL,
    factors TEXT NOT NULL,
    statistic TEXT NOT NULL,
    setup TEXT NOT NULL,
    remembered TEXT NOT NULL,
    costs TEXT NOT NULL,
    PRIMARY KEY (session, benchmark, metric, factors, statistic)
);
"""

# made where it lacks, beside the tables of schema 1: an older perfgate does not look at it
_NIGHTS = """
CREATE TABLE IF NOT EXISTS night (
    run TEXT NOT NULL,
    day TEXT NOT NULL,
    project TEXT NOT NULL,
    machine TEXT NOT NULL,
    pin TEXT NOT NULL,
    commit_sha TEXT NOT NULL,
    benchmark TEXT NOT NULL,
    metric TEXT NOT NULL,
    statistic TEXT NOT NULL,
    factors TEXT NOT NULL,
    log_ratio REAL NOT NULL,
    variance REAL NOT NULL,
    PRIMARY KEY (project, machine, run, benchmark, metric, statistic, factors)
)
"""
NIGHTS_KEPT = 800
"""Days of one project and machine that are kept: two years of nights, which tests of one year go by."""

_SELECT = """
SELECT id, created, kind, project, host, commit_sha,
       benchmark, metric, factors, statistic, setup, remembered, costs
FROM session JOIN finding ON session = id WHERE {} ORDER BY created DESC, id DESC, finding.rowid
"""


class History:
    """The history in one file; safe under concurrent processes, each of which holds it for an instant only."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        """Take an open database of the right schema; `open` and `look` make them."""
        self._path = path
        self._connection = connection

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open the history to write in it; it is made when it does not exist.

        Raises:
            HistoryError: it cannot be made or written, is damaged, another program's, or of a newer schema.
        """
        with _told(path):
            # private, as the XDG base directory specification asks for
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        opened = cls._connected(path, "rwc")
        try:
            with _told(path):
                made = opened._version() > 0
            if not made:
                with opened._transaction():
                    # another process may have made it meanwhile
                    if opened._version() == 0:
                        opened._make()
        except BaseException:
            opened.close()
            raise
        return opened

    @classmethod
    def look(cls, path: Path) -> Self | None:
        """Open the history to read in it; None when there is none yet.

        Raises:
            HistoryError: it cannot be read, is damaged, another program's, or of a newer schema.
        """
        with _told(path):
            if not path.exists():
                return None
        opened = cls._connected(path, "ro")
        try:
            with _told(path):
                if opened._version() > 0:
                    return opened
        except BaseException:
            opened.close()
            raise
        # a file that another process is just making
        opened.close()
        return None

    @classmethod
    def _connected(cls, path: Path, mode: str) -> Self:
        uri = f"{path.absolute().as_uri()}?mode={mode}"
        with _told(path):
            if path.is_dir():
                raise HistoryError(f"{path}: is a folder, not a file: {ELSEWHERE}")
            # transactions are begun by hand: Python's own begin too late to be safe
            connection = sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None)
        return cls(path, connection)

    def _version(self) -> int:
        """Return the schema, 0 for an empty file.

        Raises:
            HistoryError: a newer schema, or another program's file.
        """
        # one statement: between two of them another process may have made the tables
        version, application, tables = self._connection.execute(
            "SELECT user_version, application_id, (SELECT count(*) FROM sqlite_master) "
            "FROM pragma_user_version, pragma_application_id"
        ).fetchone()
        if application != APPLICATION and (tables or version):
            raise HistoryError(f"{self._path}: is a database of another program: {ELSEWHERE}")
        if version > SCHEMA:
            raise HistoryError(
                f"{self._path}: schema {version} is newer than this perfgate reads ({SCHEMA}): use a newer perfgate"
            )
        return int(version)

    def _make(self) -> None:
        for statement in _TABLES.split(";\n"):
            self._connection.execute(statement)
        self._connection.execute(f"PRAGMA application_id = {APPLICATION}")
        self._connection.execute(f"PRAGMA user_version = {SCHEMA}")

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        with _told(self._path):
            self._connection.execute("PRAGMA foreign_keys = ON")
            # the lock is taken at once: a reader that becomes a writer later can fail without a wait
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def add(self, session: Session, findings: Sequence[Learned]) -> bool:
        """Add a session and its findings; return False if that id is already there, and change nothing.

        Of its kind, project and machine the newest KEPT sessions stay.

        Raises:
            HistoryError: the file cannot be written.
        """
        with self._transaction():
            cursor = self._connection.execute(
                "INSERT OR IGNORE INTO session VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    session.id,
                    session.created,
                    session.kind,
                    session.project,
                    session.fingerprint,
                    _json(session.host),
                    session.commit,
                ),
            )
            if cursor.rowcount == 0:
                return False
            self._connection.executemany(
                "INSERT INTO finding VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    (
                        session.id,
                        found.benchmark,
                        found.metric,
                        _json(found.factors),
                        found.statistic,
                        *map(_json, (found.setup, found.remembered, found.costs)),
                    )
                    for found in findings
                ],
            )
            of = (session.project, session.fingerprint, session.kind)
            self._connection.execute(
                "DELETE FROM session WHERE id IN (SELECT id FROM session WHERE project = ? AND fingerprint = ? "
                "AND kind = ? ORDER BY created DESC, id DESC LIMIT -1 OFFSET ?)",
                (*of, KEPT),
            )
        return True

    def add_nights(self, project: str, machine: str, cases: Sequence[CaseNights]) -> None:
        """Add what a night showed of each case; what is there of the same run stays.

        Of a project and machine the newest NIGHTS_KEPT days stay.

        Raises:
            HistoryError: the file cannot be written.
        """
        rows = [
            (night.run, night.day, project, machine, night.pin, night.commit, case.benchmark, case.metric,
             case.statistic, _json(case.factors), night.log_ratio, night.variance)
            for case in cases
            for night in case.nights
        ]  # fmt: skip
        with self._transaction():
            self._connection.execute(_NIGHTS)
            self._connection.executemany(
                f"INSERT OR IGNORE INTO night VALUES ({', '.join('?' * 12)})",  # noqa: S608  # question marks alone
                rows,
            )
            self._connection.execute(
                "DELETE FROM night WHERE project = ? AND machine = ? AND day < (SELECT min(day) FROM (SELECT DISTINCT "
                "day FROM night WHERE project = ? AND machine = ? ORDER BY day DESC LIMIT ?))",
                (project, machine, project, machine, NIGHTS_KEPT),
            )

    def nights(self, project: str, machine: str) -> list[CaseNights]:
        """Return the nights of a project on a machine, by case, the oldest first.

        Raises:
            HistoryError: the file cannot be read.
        """
        with _told(self._path):
            if not self._connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'night'").fetchone():
                return []
            rows = self._connection.execute(
                "SELECT benchmark, metric, statistic, factors, run, day, pin, commit_sha, log_ratio, variance "
                "FROM night WHERE project = ? AND machine = ? ORDER BY day, run",
                (project, machine),
            ).fetchall()
        cases: dict[tuple[str, ...], list[Night]] = {}
        for row in rows:
            run, day, pin, commit, log_ratio, variance = row[4:]
            night = Night(run=run, day=day, pin=pin, commit=commit, log_ratio=log_ratio, variance=variance)
            cases.setdefault(row[:4], []).append(night)
        return [
            CaseNights(
                benchmark=benchmark,
                metric=metric,
                statistic=statistic,
                factors=msgspec.json.decode(factors, type=dict[str, Any]),
                nights=nights,
            )
            for (benchmark, metric, statistic, factors), nights in cases.items()
        ]

    def of_project(self, project: str) -> list[Entry]:
        """Return all that is remembered of a project, on whatever machine, the newest session first.

        Raises:
            HistoryError: the file cannot be read.
        """
        return self._entries("project = ?", (project,))

    def of_host(self, fingerprint: str, project: str | None = None) -> list[Entry]:
        """Return all that is remembered on machines of one make, of one project or of all; the newest session first.

        Raises:
            HistoryError: the file cannot be read.
        """
        if project is None:
            return self._entries("fingerprint = ?", (fingerprint,))
        return self._entries("fingerprint = ? AND project = ?", (fingerprint, project))

    def _entries(self, where: str, values: Sequence[str]) -> list[Entry]:
        with _told(self._path):
            rows = self._connection.execute(_SELECT.format(where), values).fetchall()
        try:
            return [_entry(row) for row in rows]
        except (msgspec.MsgspecError, UnicodeDecodeError, TypeError, RecursionError) as error:
            raise HistoryError(_damaged(self._path, str(error))) from None

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> Self:
        """Use as a context that closes the file."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self.close()


def _entry(row: Sequence[Any]) -> Entry:
    keys = ("id", "created", "kind", "project", "host", "commit")
    session = dict(zip(keys, row[:6], strict=True)) | {"host": msgspec.json.decode(row[4])}
    benchmark, metric, factors, statistic, setup, remembered, costs = row[6:]
    return Entry(
        session=msgspec.convert(session, Session),
        learned=Learned(
            benchmark=benchmark,
            metric=metric,
            factors=msgspec.json.decode(factors, type=dict[str, Any]),
            statistic=statistic,
            setup=msgspec.json.decode(setup, type=Setup),
            remembered=msgspec.json.decode(remembered, type=Remembered),
            costs=msgspec.json.decode(costs, type=Costs),
        ),
    )


def _json(value: object) -> str:
    return msgspec.json.encode(value, order="sorted").decode()


@contextlib.contextmanager
def _told(path: Path) -> Iterator[None]:
    """Turn errors of SQLite and of the file system into one line that says what to do."""
    try:
        yield
    except OSError as error:
        raise HistoryError(f"{path}: cannot be used: {error.strerror}: {ELSEWHERE}") from None
    except sqlite3.Error as error:
        raise HistoryError(_why(path, error)) from None


def _why(path: Path, error: sqlite3.Error) -> str:
    # extended codes hold the plain one in their lowest byte
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_ERROR):
        return _damaged(path, str(error))
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return f"{path}: another process has held it for {BUSY_SECONDS:.0f} s: try again, or end that process"
    if code == sqlite3.SQLITE_FULL:
        return f"{path}: the disk is full: make room, or {ELSEWHERE}"
    return f"{path}: cannot be used: {error}: {ELSEWHERE}"


def _damaged(path: Path, why: str) -> str:
    return f"{path}: is damaged, or no history of perfgate ({why}): move it away, and calibrate again"
