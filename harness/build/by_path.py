"""Tools that keep something of a project outside of it, under its path: both sides at one path would share it."""

from __future__ import annotations

import re
from collections.abc import Iterable

_TOLD_OTHERWISE = {
    "poetry": ("POETRY_VIRTUALENVS_IN_PROJECT", "true", "poetry.lock"),
    "pipenv": ("PIPENV_VENV_IN_PROJECT", "1", "Pipfile"),
}
"""By the tool: the variable that has it keep all in the project, its value, and the file of a project that uses it."""
# Output bases, environments, derived data and containers: nothing tells these tools otherwise.
_OTHERS = re.compile(r"\b(bazel(isk)?|buck2?|pants|hatch|xcodebuild|docker[- ]compose)\b")


def keeps_by_path(commands: Iterable[str]) -> bool:
    """Return whether a command names a tool for which each side needs a path of its own."""
    return any(_OTHERS.search(command) for command in commands)


def in_project(paths: Iterable[str], commands: Iterable[str]) -> dict[str, str]:
    """Return the variables that have tools keep in each side's tree what they would keep by its path.

    Args:
        paths: files of a project.
        commands: what is run in it.
    """
    names = {path.rpartition("/")[2] for path in paths}
    words = {word for command in commands for word in re.findall(r"\w+", command)}
    return {
        variable: value for tool, (variable, value, file) in _TOLD_OTHERWISE.items() if tool in words or file in names
    }
