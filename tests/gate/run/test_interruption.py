"""What an interruption says, also before the project is found."""

import errno
import os
import signal
import time
from contextlib import suppress
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


def interrupted(folder: Path | None, *, resume: bool) -> str:
    with pytest.raises(EndedError) as ended, orderly(Folder(folder, DEFAULT, resume=resume)):
        raise Interrupted(signal.SIGINT)
    assert ended.value.exit_code == 130
    return str(ended.value)


def test_before_the_project_is_found_a_resumed_run_loses_nothing(kept: Path, tmp_path: Path) -> None:
    assert interrupted(None, resume=True) == "SIGINT: what was measured before stays"
    assert interrupted(None, resume=False) == interrupted(tmp_path, resume=True) == "SIGINT: nothing was measured"


def test_a_disk_that_is_full_is_an_error_that_says_what_is_kept(kept: Path) -> None:
    folder = Folder(kept, DEFAULT, resume=False)
    folder.begin()
    with pytest.raises(EndedError) as ended, orderly(folder):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert ended.value.exit_code == 4
    assert str(ended.value).startswith(f"No space left on device: 2 starts are kept in {kept}/measurements.jsonl; ")


def test_what_an_earlier_run_left_is_none_of_a_run_that_waits(kept: Path) -> None:
    assert interrupted(kept, resume=False) == "SIGINT: nothing was measured"
    assert interrupted(kept, resume=True).startswith("SIGINT: 2 starts are kept")


def test_without_a_folder_nothing_is_kept() -> None:
    with pytest.raises(EndedError, match=r"^SIGTERM: nothing was measured$"), orderly():
        raise Interrupted(signal.SIGTERM)


def signalled_then_broken() -> None:
    with orderly():
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        finally:
            raise OSError(errno.EBADF, "Bad file descriptor")


def test_what_cleaning_up_fails_at_does_not_hide_the_signal() -> None:
    with pytest.raises(EndedError, match=r"^SIGTERM: nothing was measured$") as ended:
        signalled_then_broken()
    assert ended.value.exit_code == 143


def test_a_signal_that_was_swallowed_ends_the_command_all_the_same() -> None:
    """As one is that comes within a destructor."""
    with pytest.raises(EndedError, match=r"^SIGTERM: nothing was measured$"), orderly(), suppress(BaseException):
        os.kill(os.getpid(), signal.SIGTERM)


class Dying:
    """Gets a signal while it is removed."""

    def __del__(self) -> None:
        os.kill(os.getpid(), signal.SIGTERM)


def signalled_in_a_destructor(goes_on: list[str]) -> None:
    with orderly():
        Dying()
        time.sleep(10)
        goes_on.append("for long")


@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
def test_a_signal_within_a_destructor_ends_what_goes_on_after_it() -> None:
    goes_on: list[str] = []
    with pytest.raises(EndedError, match=r"^SIGTERM: nothing was measured$"):
        signalled_in_a_destructor(goes_on)
    assert not goes_on


def lost_twice(goes_on: list[str]) -> None:
    with orderly():
        for each in ("first", "second"):
            with suppress(Interrupted):
                os.kill(os.getpid(), signal.SIGTERM)
                time.sleep(10)
            goes_on.append(each)
        time.sleep(10)
        goes_on.append("for long")


def test_a_lost_interruption_comes_again() -> None:
    """CPython 3.11.2 loses one while it formats the message of another exception."""
    goes_on: list[str] = []
    with pytest.raises(EndedError, match=r"^SIGTERM: nothing was measured$"):
        lost_twice(goes_on)
    assert goes_on == ["first", "second"]


def signalled_while_it_cleans_up(cleaned: list[str]) -> None:
    with orderly():
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        finally:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.02)
            cleaned.append("up")


def test_cleaning_up_is_not_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gate.run.interruption._AGAIN", 0.001)
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    cleaned: list[str] = []
    with pytest.raises(EndedError, match=r"^SIGTERM: nothing was measured$"):
        signalled_while_it_cleans_up(cleaned)
    assert cleaned == ["up"]
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)] == handlers
