"""What a machine remembers between runs: a file for each session, in the folder of the history.

Sessions lie below machines/, by machine, project and kind, beside the records of commits: read is what is asked for.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from gate.checkout import refuse_tracked
from gate.model import Remembered, UserError
from gate.model.case import CaseId, OfCase, case_id
from gate.model.history import CaseNights
from gate.store.history_records import RecordError, decode_as, drop_oldest, stem_of, write_new

ELSEWHERE = "name another folder with --history, [gate] history or PERFGATE_HISTORY"
SCHEMA = 1
"""Version of a file."""
KEPT = {"calibration": 50, "check": 50, "night": 800}
"""Sessions of one project and machine. Older variances have lost their weight by then; two years of nights, which tests
of one year go by."""


class HistoryError(UserError):
    """A history that cannot be used, in one line: which file, why, what to do."""


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    """How a benchmark is measured: what must be the same for its variance to be the same. Commands as a shell's."""

    command: str
    instrument: str
    warmup: int | str
    build: str | None
    """The [build] command: what the build level holds depends on it."""
    conditions: str | None = None
    """What else the values depend on, where it is not as by default: perturbations, service, load, processors."""


class StepCosts(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds that one step of a finding's benchmark takes; None: not known."""

    build: float | None
    """Of one side, but for its first build where there were later ones."""
    start: float | None
    """Of an execution, without its iterations."""
    iteration: float | None
    """Of one measured iteration."""
    warmup: float | None
    """Of all the iterations that are dropped."""
    execution: float | None = None
    """Of a whole execution; of a suite's line its share."""
    other: float | None = None
    """perfgate's own work, for each execution; of a suite's line its share."""
    setup: float | None = None
    """Of one side, once."""
    first: float | None = None
    """The first build of one side, with the check of its links."""
    probe: float | None = None
    """Of this benchmark, once: the probe, the first start on base, and looking for what builds leave outside."""


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """One job that measured: a calibration, a check of the default branch whose base counts, a night of creep."""

    id: str
    created: str
    """ISO 8601 in UTC."""
    kind: Literal["calibration", "check", "night"]
    project: str
    """Which one, since two projects may call a benchmark the same."""
    host: dict[str, Any]
    """The facts of the machine, with its fingerprint."""
    commit: str | None

    @property
    def fingerprint(self) -> str:
        """What machines of one make share."""
        return str(self.host.get("fingerprint", ""))


class Learned(OfCase, frozen=True, kw_only=True):
    """What a session shows about one finding."""

    setup: Setup
    remembered: Remembered
    costs: StepCosts


class _File(msgspec.Struct, frozen=True, kw_only=True):
    schema: Annotated[int, msgspec.Meta(ge=1)] = SCHEMA
    session: Session
    learned: list[Learned]
    nights: list[CaseNights]


def folder_of(option: Path | None, configured: str | None, environment: Mapping[str, str]) -> Path:
    """Say where the history is: the option, [gate] history, PERFGATE_HISTORY, or the user's state directory.

    A git ref, which any of them may name, holds the records of commits alone.

    Raises:
        HistoryError: nothing names it, and the user has no home directory.
        UserError: it leads through a link that git tracks.
    """
    for given in (option, configured, environment.get("PERFGATE_HISTORY")):
        if given and not is_ref(given):
            found = _expanded(Path(given), environment)
            refuse_tracked(found, "--history")
            return found
    state = Path(environment.get("XDG_STATE_HOME", ""))
    if not state.is_absolute():  # as the XDG base directory specification asks for
        state = _expanded(Path("~/.local/state"), environment)
    return state / "perfgate" / "history"


def is_ref(place: Path | str) -> bool:
    """Return whether the place of a history is a git ref, and no folder."""
    return str(place).startswith("refs/")


def _expanded(path: Path, environment: Mapping[str, str]) -> Path:
    home = environment.get("HOME")
    if home and path.parts[:1] == ("~",):
        return Path(home, *path.parts[1:])
    try:
        return path.expanduser()
    except RuntimeError:
        raise HistoryError(f"{path}: no home directory is known: {ELSEWHERE}") from None


class Sessions:
    """What machines remember in one folder; safe under concurrent processes, since no file is ever changed."""

    def __init__(self, folder: Path) -> None:
        """Name the folder; it is made when something is added."""
        self._folder = folder

    def require(self) -> None:
        """Make the folder, private as the XDG base directory specification asks for.

        Raises: HistoryError: it cannot be made or written.
        """
        with _told(self._folder):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not os.access(self._folder, os.W_OK | os.X_OK):
                raise HistoryError(f"{self._folder}: cannot be written: {ELSEWHERE}")

    def add(self, session: Session, learned: Sequence[Learned], nights: Sequence[CaseNights] = ()) -> bool:
        """Add a session and what it shows; return False if that id is already there, and change nothing.

        Of its kind, project and machine the newest KEPT sessions stay.

        Raises: HistoryError: the file cannot be written.
        """
        self.require()
        place = self._folder / "machines" / _short(session.fingerprint) / _short(session.project) / session.kind
        with _told(place):
            stem = stem_of(session.created, session.id)
            if any(place.glob(f"*-{stem.partition('-')[2]}.json")):
                return False
            data = msgspec.json.encode(_File(session=session, learned=list(learned), nights=list(nights)))
            if not write_new(place / f"{stem}.json", data):
                return False
            drop_oldest(sorted(place.glob("*.json")), KEPT[session.kind])
        return True

    def of_host(self, fingerprint: str, project: str | None = None) -> list[tuple[Session, Learned]]:
        """Return what sessions on machines of one make ("*": all), of one project or of all, learned; the newest first.

        Raises: HistoryError: a file cannot be read.
        """
        machine = fingerprint if fingerprint == "*" else _short(fingerprint)
        where = f"{machine}/{'*' if project is None else _short(project)}"
        found = [file for kind in ("calibration", "check") for file in self._read(f"{where}/{kind}")]
        found.sort(key=lambda file: (file.session.created, file.session.id), reverse=True)
        return [(file.session, learned) for file in found for learned in file.learned]

    def nights(self, project: str, fingerprint: str) -> list[CaseNights]:
        """Return the nights of a project on a machine, by case, the oldest first.

        Raises: HistoryError: a file cannot be read.
        """
        cases: dict[CaseId, CaseNights] = {}
        for file in self._read(f"{_short(fingerprint)}/{_short(project)}/night"):
            for case in file.nights:
                key = case_id(case, case.statistic)
                before = cases[key].nights if key in cases else []
                cases[key] = msgspec.structs.replace(case, nights=[*before, *case.nights])
        return list(cases.values())

    def _read(self, where: str) -> Iterator[_File]:
        """Read the files of folders, the oldest of each first."""
        if self._folder.is_file():
            raise HistoryError(f"{self._folder}: is a file, and a history is a folder: {ELSEWHERE}")
        with _told(self._folder):
            for place in sorted(self._folder.glob(f"machines/{where}/*.json")):
                # another process may have dropped it meanwhile
                with contextlib.suppress(FileNotFoundError):
                    try:
                        yield decode_as(place.read_bytes(), _File, SCHEMA)
                    except RecordError as error:
                        raise HistoryError(f"{place}: {error}: remove it, and calibrate again") from None


def _short(name: str) -> str:
    """Name a folder after what may hold any letters."""
    return hashlib.sha256(name.encode(errors="surrogateescape")).hexdigest()[:16]


@contextlib.contextmanager
def _told(place: Path) -> Iterator[None]:
    """Turn errors of the file system into one line that says what to do."""
    try:
        yield
    except OSError as error:
        raise HistoryError(f"{error.filename or place}: cannot be used: {error.strerror}: {ELSEWHERE}") from None
