"""What the tests of `perfgate init` share."""

from pathlib import Path

import pytest

from gate.commands.init.detect import python
from tests.support import initialized
from tests.support.initialized import Project, make_project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Make a git repository of files, in a folder whose name holds a space."""

    def make(files: dict[str, str], *, git: bool = True) -> Path:
        return make_project(tmp_path / "a project", files, git=git)

    return make


@pytest.fixture(autouse=True)
def asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask no interpreter twice what it has."""
    initialized.ask_once(monkeypatch)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, asked_once: None) -> None:
    """Ask the interpreter in the project, as a user does."""
    monkeypatch.setattr(python, "_installed", initialized.asked)
