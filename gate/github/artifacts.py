"""Downloads of artifacts: each as a file, from a storage that never sees the token."""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from gate.github.problems import Task, Trouble, of_error
from gate.github.transport import Overdue, Transport

if TYPE_CHECKING:
    from requests import Response

_CHUNK = 1 << 16
_REDIRECTIONS = 3
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


def download(transport: Transport, repository: str, artifact_id: int, file: Path, limit: int) -> None:
    """Save an artifact as the zip file that its maker may have forged.

    Args:
        limit: bytes.

    Raises:
        Problem: it has expired, is larger, or cannot be read or saved; no file is left then.
    """
    task = Task(f"download artifact {artifact_id}", "actions: read")
    where = f"/repos/{repository}/actions/artifacts/{artifact_id}/zip"
    answer = transport.call(task, "GET", where, redirect=True)
    address = answer.headers.get("location")
    if not address:
        raise task.failed(f"GitHub gives no address for it ({answer.status})", status=answer.status)
    # save what is at a place
    place = Place(urljoin(transport.api_url, address))

    def attempt() -> Trouble | None:
        stop = threading.Event()
        patience = transport.patience
        reading = _Reading(task, place, transport, file, limit, stop)
        try:
            return patience.within(patience.left, reading.save)
        except Overdue:
            return Trouble(task.failed(f"no end of it within {patience.seconds:g} s from {place.host}"))
        except Exception as error:  # noqa: BLE001  # whatever the libraries raise, in words without the address
            return of_error(task, error, place.host)
        finally:
            stop.set()

    try:
        transport.persist(task, attempt, repeatable=True)
    except BaseException:
        with suppress(OSError):
            file.unlink(missing_ok=True)
        raise


@dataclass(frozen=True, slots=True)
class Place:
    """A signed address, as good as a token: show only its host."""

    address: str

    @property
    def host(self) -> str:
        """The host."""
        return urlsplit(self.address).hostname or "?"

    def allowed(self, api_url: str) -> bool:
        """Say whether it may be read: encrypted, on this machine, or beside an API that is not encrypted either."""
        place, api = urlsplit(self.address), urlsplit(api_url)
        if place.scheme == "http":
            return place.hostname in _LOOPBACK or (api.scheme == "http" and api.hostname == place.hostname)
        return place.scheme == "https" and bool(place.hostname)


@dataclass(frozen=True, slots=True)
class _Reading:
    task: Task
    place: Place
    transport: Transport
    file: Path
    limit: int
    stop: threading.Event

    def save(self) -> Trouble | None:
        """Follow the place to a file and save it; what is not there is a trouble."""
        from requests import Session  # late: slow to import, and seldom needed

        with Session() as session:
            # not what ~/.netrc holds for the host
            session.auth = lambda request: request
            session.headers.update({"User-Agent": "perfgate", "Accept-Encoding": "identity"})
            place = self.place
            for _ in range(_REDIRECTIONS + 1):
                if not place.allowed(self.transport.api_url):
                    return Trouble(self.task.failed(f"GitHub sends to {place.host} without encryption"))
                timeout = self.transport.timeout
                with session.get(place.address, stream=True, allow_redirects=False, timeout=timeout) as response:
                    onward = response.headers.get("Location") if response.is_redirect else None
                    if onward is None:
                        return self._saved(response, place)
                place = Place(urljoin(place.address, onward))
        return Trouble(self.task.failed(f"{place.host} redirects too often"))

    def _saved(self, response: Response, place: Place) -> Trouble | None:
        status = response.status_code
        if status != 200:
            problem = self.task.failed(f"the storage {place.host} answers with {status}", status=status)
            return Trouble(problem, again=status >= 500 or status == 429)
        if self.stop.is_set():  # nobody waits any more
            return None
        try:
            out = self.file.open("wb", buffering=0)
        except OSError as error:
            return Trouble(self.task.failed(f"{self.file} cannot be written: {error.strerror}"))
        with out:
            return self._copied(response, out)

    def _copied(self, response: Response, out: FileIO) -> Trouble | None:
        written = 0
        for chunk in response.iter_content(_CHUNK):
            written += len(chunk)
            if written > self.limit:
                return Trouble(self.task.failed(f"it has more than {self.limit:,} bytes"))
            if self.stop.is_set():
                break
            try:
                rest = memoryview(chunk)
                while rest:
                    rest = rest[out.write(rest) :]
            except OSError as error:  # the disk's, not the connection's
                return Trouble(self.task.failed(f"{self.file} cannot be written: {error.strerror}"))
        return None
