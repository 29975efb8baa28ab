"""What the tests of the forge share."""

from collections.abc import Iterator

import pytest

from tests.support.forge.clock import HurriedClock, hurried
from tests.support.forge.server import FakeGitHub


@pytest.fixture
def github() -> Iterator[FakeGitHub]:
    """The forge, of which nothing is asked that the real one would refuse."""
    with FakeGitHub() as fake:
        # until a test is over
        fake.delay = 600
        yield fake
        assert fake.violations == []


@pytest.fixture(autouse=True)
def clock(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> HurriedClock:
    """Nobody waits for it; what would be waited for is counted."""
    return hurried(monkeypatch, request.getfixturevalue("github") if "github" in request.fixturenames else None)
