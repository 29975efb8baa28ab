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
_OF_STEPS = ("GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STATE", "GITHUB_STEP_SUMMARY")
_IN_TEMP = "git-credentials-*.config"
"""Where actions/checkout keeps the job's token."""
_OF_GIT = ("config", "config.worktree", "FETCH_HEAD", "modules/**/config", "worktrees/*/config.worktree")
"""What may have a token in it: earlier versions of actions/checkout write it there, and URLs have it."""
_OF_CONTAINER = ("/run/secrets", "/var/run/secrets")
_OF_ROOT = ("etc/shadow*", "etc/gshadow*", "etc/ssh/ssh_host_*_key", "etc/ssl/private")
_HOMES = ("root", "home/*")


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
    temp = environment.get("RUNNER_TEMP", "")
    if os.path.isabs(temp):  # noqa: PTH117
        found += Path(temp).glob(_IN_TEMP)
    for variable in _OF_STEPS:
        value = environment.get(variable, "")
        if os.path.isabs(value):  # noqa: PTH117
            found.append(Path(value))
    return list(dict.fromkeys(found))


def git_secrets(common: Path) -> list[Path]:
    """Return what may hold a token in the git directory of a checkout."""
    return [each for pattern in _OF_GIT for each in common.glob(pattern)]


def system_secrets(names: Iterable[str], own: Path | None, *, root: bool, system: Path = Path("/")) -> list[Path]:
    """Return what a container is given in secret; for root, who may read all, also what is meant for root alone.

    Args:
        names: of secrets in the home directories of others.
        own: the home directory that is not looked at.
        root: whether perfgate is root.
        system: the root directory.
    """
    found = [Path(each) for each in _OF_CONTAINER]
    if root:
        homes = [home for pattern in _HOMES for home in system.glob(pattern) if home != own]
        found += [each for pattern in _OF_ROOT for each in system.glob(pattern)]
        found += [home / name for home in homes for name in names]
    return found


def sight(hidden: Iterable[Path], roots: Iterable[str] = ("/",)) -> Iterator[Rule]:
    """Yield what lets all below some directories be read and executed but some paths; names are seen everywhere.

    A rule allows, and none forbids: so the neighbours of each hidden path, and of the directories above it, are allowed
    one by one.
    """
    real = {os.path.realpath(each) for each in hidden if os.path.lexists(each)}
    above = {str(parent) for each in real for parent in Path(each).parents}
    for root in roots:
        if root in above:
            yield from _around(root, real, above)
        elif not any(Path(each) in (Path(root), *Path(root).parents) for each in real):
            yield Rule(root, READ)
        yield Rule(root, READ_DIR)


def _around(directory: str, hidden: Collection[str], above: Collection[str]) -> Iterator[Rule]:
    with suppress(OSError):
        for entry in os.scandir(directory):
            # what a link leads to has a place of its own
            if entry.path in hidden or entry.is_symlink():
                continue
            if entry.path in above:
                yield from _around(entry.path, hidden, above)
            else:
                yield Rule(entry.path, READ)
