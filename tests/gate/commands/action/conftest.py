"""What the tests of the action share."""

from collections.abc import Iterator

import pytest

from tests.support.forge.server import FakeGitHub


@pytest.fixture
def forge() -> Iterator[FakeGitHub]:
    """A forge, of which nothing is asked that the real one would refuse."""
    with FakeGitHub() as fake:
        yield fake
        assert fake.violations == []
