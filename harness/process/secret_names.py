"""Environment variables that are hidden from measured code."""

from __future__ import annotations

import re

_OF_RUNNER = re.compile(r"GITHUB_|ACTIONS_|RUNNER_|INPUT_", re.IGNORECASE)
_SECRET = re.compile(r"TOKEN|SECRET|PASSWORD|CREDENTIAL|KEY", re.IGNORECASE)


def is_of_runner(name: str) -> bool:
    """Return whether a CI runner sets a variable for its own steps."""
    return _OF_RUNNER.match(name) is not None


def is_secret(name: str) -> bool:
    """Return whether a variable's name says that it holds a secret."""
    return _SECRET.search(name) is not None
