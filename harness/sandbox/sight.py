"""What is out of sight: files that nothing measured needs, and whose content would be worth stealing."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from harness.sandbox.landlock import READ, READ_DIR, Rule

_REGISTRATION = (
    ".credentials",
    ".credentials_rsaparams",
    ".credentials_migrated",
    ".runner",
    ".runner_migrated",
    ".env",
    "_diag",
)
_OF_RUNNER = ("GITHUB_WORKSPACE", "RUNNER_WORKSPACE", "RUNNER_TEMP", "RUNNER_TOOL_CACHE")


def runner_secrets(environment: Mapping[str, str]) -> list[Path]:
    """Return what a self-hosted runner keeps of its registration and its jobs, beside its program.

    Args:
        environment: of perfgate itself, in a step of a workflow.
    """
    found = []
    for variable in _OF_RUNNER:
        value = environment.get(variable, "")
        for above in Path(value).parents if os.path.isabs(value) else ():  # noqa: PTH117
            if (above / ".runner").is_file() or (above / ".credentials").is_file():
                found += [above / name for name in _REGISTRATION]
    return list(dict.fromkeys(found))


def sight(hidden: Iterable[Path]) -> Iterator[Rule]:
    """Yield what lets all be read and executed but some paths; names of files are seen everywhere.

    A rule allows, and none forbids: so the neighbours of each hidden path, and of the directories above it, are allowed
    one by one.
    """
    real = {Path(os.path.realpath(each)) for each in hidden if os.path.lexists(each)}
    yield from _around(Path("/"), real)
    if real:
        yield Rule(Path("/"), READ_DIR)


def _around(directory: Path, hidden: Collection[Path]) -> Iterator[Rule]:
    inside = {each for each in hidden if each.is_relative_to(directory)}
    if not inside:
        yield Rule(directory, READ)
        return
    if directory in inside:
        return
    with suppress(OSError):
        for entry in os.scandir(directory):
            # what a link leads to has a place of its own
            if not entry.is_symlink():
                yield from _around(Path(entry.path), inside)
