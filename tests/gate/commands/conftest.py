"""What the tests of commands share."""

from pathlib import Path

import pytest

from tests.support.forge.clock import hurried


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for GitHub."""
    hurried(monkeypatch)


@pytest.fixture(scope="session")
def nowhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty folder."""
    return tmp_path_factory.mktemp("nowhere")


@pytest.fixture(autouse=True)
def away(monkeypatch: pytest.MonkeyPatch, nowhere: Path) -> None:
    """Run commands where there is no project: the rules of this one would be read, and decide, in each of them."""
    monkeypatch.chdir(nowhere)
