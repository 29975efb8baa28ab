"""What an interruption says, also before the project is found."""

import errno
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from gate.run.interruption import EndedError, Folder, Interrupted, orderly
from tests.support.lines import builds, text

DEFAULT = Path(".perfgate/study")


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """Measurements of two executions in the default folder of a project."""
    folder = tmp_path / "project" / DEFAULT
    folder.mkdir(parents=True)
    (folder / "measurements.jsonl").write_text(text(builds("head", [[[1.0], [2.0]]])), encoding="utf-8")
    (tmp_path / "project" / "perfgate.toml").touch()
    return folder


@contextmanager
def ends(said: str = "SIGTERM: nothing was measured", code: int = 143, folder: Folder | None = None) -> Iterator[None]:
    """See that what is interrupted ends with these words, or with these and more where they end in a blank."""
    with pytest.raises(EndedError) as ended, orderly(folder) if folder else orderly():
        yield
    assert ended.value.exit_code == code
    assert str(ended.value).startswith(said) if said.endswith(" ") else str(ended.value) == said


@pytest.mark.parametrize(
    ("folder", "resume", "said"),
    [
        # before the project is found a resumed run loses nothing
        (None, True, "what was measured before stays"),
        (None, False, "nothing was measured"),
        (Path(), True, "nothing was measured"),
        # what an earlier run left is none of a run that waits
        (DEFAULT, False, "nothing was measured"),
        (DEFAULT, True, "2 starts are kept in "),
    ],
)
def test_an_interruption_says_what_stays(kept: Path, folder: Path | None, resume: bool, said: str) -> None:
    place = None if folder is None else kept if folder == DEFAULT else kept.parents[2]
    with ends(f"SIGINT: {said}", 130, Folder(place, DEFAULT, resume=resume)):
        raise Interrupted(signal.SIGINT)


def test_a_disk_that_is_full_is_an_error_that_says_what_is_kept(kept: Path) -> None:
    folder = Folder(kept, DEFAULT, resume=False)
    folder.begin()
    with ends(f"No space left on device: 2 starts are kept in {kept}/measurements.jsonl; ", 4, folder):
        raise OSError(errno.ENOSPC, "No space left on device")


def test_without_a_folder_nothing_is_kept() -> None:
    with ends():
        raise Interrupted(signal.SIGTERM)


def test_what_cleaning_up_fails_at_does_not_hide_the_signal() -> None:
    with ends():
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        finally:
            raise OSError(errno.EBADF, "Bad file descriptor")


def test_a_signal_that_was_swallowed_ends_the_command_all_the_same() -> None:
    """As one is that comes within a destructor."""
    with ends(), suppress(BaseException):
        os.kill(os.getpid(), signal.SIGTERM)


class Dying:
    """Gets a signal while it is removed."""

    def __del__(self) -> None:
        os.kill(os.getpid(), signal.SIGTERM)


@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
def test_a_signal_within_a_destructor_ends_what_goes_on_after_it() -> None:
    goes_on: list[str] = []
    with ends():
        Dying()
        time.sleep(10)
        goes_on.append("for long")
    assert not goes_on


def test_a_lost_interruption_comes_again() -> None:
    """CPython 3.11.2 loses one while it formats the message of another exception."""
    goes_on: list[str] = []
    with ends():
        for each in ("first", "second"):
            with suppress(Interrupted):
                os.kill(os.getpid(), signal.SIGTERM)
                time.sleep(10)
            goes_on.append(each)
        time.sleep(10)
        goes_on.append("for long")
    assert goes_on == ["first", "second"]


def test_cleaning_up_is_not_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gate.run.interruption._AGAIN", 0.001)
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    cleaned: list[str] = []
    with ends():
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        finally:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.02)
            cleaned.append("up")
    assert cleaned == ["up"]
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)] == handlers
