"""What the tests of the action share."""

from collections.abc import Iterator

import pytest

from tests.support.forge.server import FakeGitHub


@pytest.fixture(autouse=True)
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """One job at a time: nobody writes between reading and writing."""
    monkeypatch.setattr("gate.github.transport._SETTLED_AFTER", 0.01)


@pytest.fixture
def forge() -> Iterator[FakeGitHub]:
    """A forge, of which nothing is asked that the real one would refuse."""
    with FakeGitHub() as fake:
        yield fake
        assert fake.violations == []
