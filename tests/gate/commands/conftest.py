"""What the tests of commands share."""

import pytest


@pytest.fixture(autouse=True)
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """One job at a time: nobody writes between reading and writing."""
    monkeypatch.setattr("gate.github.transport._SETTLED_AFTER", 0.01)
