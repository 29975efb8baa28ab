"""What the tests of the forge share."""

from collections.abc import Iterator

import pytest

from tests.support.forge.clock import HurriedClock, hurried
from tests.support.forge.server import FakeGitHub


@pytest.fixture
def github() -> Iterator[FakeGitHub]:
    """The forge, of which nothing is asked that the real one would refuse."""
    with FakeGitHub() as fake:
        yield fake
        assert fake.violations == []


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> HurriedClock:
    """Nobody waits for it; what would be waited for is counted."""
    return hurried(monkeypatch)
