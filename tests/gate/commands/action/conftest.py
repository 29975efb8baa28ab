"""What the tests of the action share."""

from pathlib import Path

import pytest

from tests.support.forge.server import FakeGitHub
from tests.support.workflow_job import Job, pulled


@pytest.fixture
def job(tmp_path: Path, forge: FakeGitHub) -> Job:
    """The job of a pull request that changes nothing of the benchmark."""
    return pulled(tmp_path, forge)


@pytest.fixture
def slower(tmp_path: Path, forge: FakeGitHub) -> Job:
    """The job of a pull request that makes the benchmark half as slow again."""
    return pulled(tmp_path, forge, head=0.15)
