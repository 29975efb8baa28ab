"""What the tests of `perfgate init` share."""

from pathlib import Path

import pytest

from tests.support.initialized import Project, make_project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Make a git repository of files, in a folder whose name holds a space."""

    def make(files: dict[str, str], *, git: bool = True) -> Path:
        return make_project(tmp_path / "a project", files, git=git)

    return make
