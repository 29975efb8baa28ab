"""Downloads of artifacts: each as a file, from a storage that never sees the token."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from gate.github.problems import Task, Trouble, of_error
from gate.github.transport import Overdue, Transport

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
        try:
            return patience.within(patience.left, lambda: _saved(transport, task, place, file, limit, stop))
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


def _saved(
    transport: Transport, task: Task, place: Place, file: Path, limit: int, stop: threading.Event
) -> Trouble | None:
    """Follow a place to a file and save it; what is not there is a trouble; stop: nobody waits any more."""
    from requests import Session  # late: slow to import, and seldom needed

    with Session() as session:
        # not what ~/.netrc holds for the host
        session.auth = lambda request: request
        session.headers.update({"User-Agent": "perfgate", "Accept-Encoding": "identity"})
        for _ in range(_REDIRECTIONS + 1):
            if not place.allowed(transport.api_url):
                return Trouble(task.failed(f"GitHub sends to {place.host} without encryption"))
            timeout = transport.timeout
            with session.get(place.address, stream=True, allow_redirects=False, timeout=timeout) as response:
                status = response.status_code
                if status == 200:
                    return _copied(task, response.iter_content(_CHUNK), file, limit, stop)
                if not response.is_redirect:
                    problem = task.failed(f"the storage {place.host} answers with {status}", status=status)
                    return Trouble(problem, again=status >= 500 or status == 429)
                place = Place(urljoin(place.address, response.headers["Location"]))
    return Trouble(task.failed(f"{place.host} redirects too often"))


def _copied(task: Task, chunks: Iterable[bytes], file: Path, limit: int, stop: threading.Event) -> Trouble | None:
    from requests import RequestException

    written = 0
    try:
        with file.open("wb") as out:
            for chunk in chunks:
                written += len(chunk)
                if written > limit:
                    return Trouble(task.failed(f"it has more than {limit:,} bytes"))
                if stop.is_set():
                    break
                out.write(chunk)
    except RequestException:  # the connection's, not the disk's
        raise
    except OSError as error:
        return Trouble(task.failed(f"{file} cannot be written: {error.strerror}"))
    return None
