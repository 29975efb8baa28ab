"""What an interruption says, also before the project is found."""

import io
import signal
from pathlib import Path

import pytest

from gate.run.interruption import Interrupted, folder_of, guarded
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
    def measure() -> int:
        raise Interrupted(signal.SIGINT)

    err = io.StringIO()
    assert guarded(measure, lambda: folder_of(folder, DEFAULT, resume=resume), err) == 130
    return err.getvalue()


def test_an_early_interruption_of_a_resumed_run_says_what_is_kept(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    below = kept.parents[1] / "src"
    below.mkdir()
    for directory, shown in ((kept.parents[1], DEFAULT), (below, ".." / DEFAULT)):
        monkeypatch.chdir(directory)
        found = f"2 executions are kept in {shown}/measurements.jsonl; the same command with --resume goes on"
        assert interrupted(None, resume=True) == f"perfgate: SIGINT: {found}\n"
        # a new run has measured nothing yet, whatever is there of another
        assert interrupted(None, resume=False) == "perfgate: SIGINT: nothing was measured\n"


def test_the_folder_that_is_known_counts(kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(kept.parents[1])
    assert folder_of(tmp_path, DEFAULT, resume=True) == tmp_path
    assert interrupted(tmp_path, resume=True) == "perfgate: SIGINT: nothing was measured\n"


def test_another_projects_folder_is_not_meant(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = kept.parents[1] / "inner"
    inner.mkdir()
    (inner / "perfgate.toml").touch()
    monkeypatch.chdir(inner)
    assert folder_of(None, DEFAULT, resume=True) is None
