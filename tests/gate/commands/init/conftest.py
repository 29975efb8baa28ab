"""What the tests of `perfgate init` share."""

import os
import pkgutil
import shutil
from functools import cache
from pathlib import Path

import pytest

from gate.commands.init.detect import python
from tests.support.initialized import Project, make_project
from tests.support.project import empty


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Make a git repository of files, in a folder whose name holds a space."""

    def make(files: dict[str, str], *, git: bool = True) -> Path:
        return make_project(tmp_path / "a project", files, git=git)

    return make


_asked = python._installed


@pytest.fixture(autouse=True)
def asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask an interpreter once what it has, not for each project: of a project it only sees the folders and files."""

    def installed(executable: str, directory: Path) -> python._Installed:
        found = shutil.which(executable)
        if found is None or not Path(found).is_absolute():
            return _asked(executable, directory)
        has = _has(found, os.environ.get("PYTHONPATH"))
        return has._replace(modules=has.modules | {module.name for module in pkgutil.iter_modules([str(directory)])})

    monkeypatch.setattr(python, "_installed", installed)


@cache
def _has(executable: str, path: str | None) -> python._Installed:
    del path  # in the environment
    return _asked(executable, empty())


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, asked_once: None) -> None:
    """Ask the interpreter in the project, as a user does."""
    monkeypatch.setattr(python, "_installed", _asked)
