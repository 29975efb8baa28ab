"""What the tests of publishing share with those of the forge itself."""

from tests.gate.github.conftest import clock, github

__all__ = ["clock", "github"]
