"""What the tests of commands share."""

import pytest

from tests.support.forge.clock import hurried


@pytest.fixture(autouse=True)
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for GitHub: there is one job at a time, so that nothing is written between reading and writing."""
    hurried(monkeypatch)
