"""What a commit holds but perfgate's own configuration: whether two of them give the same programs to measure."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Collection

from harness.source.repository import CONFIG_FILE, Repository, files_at, text_at

_SHARED = "pyproject.toml"
"""Holds the project's own tables beside perfgate's."""


def sources_of(repository: Repository, revision: str, configs: Collection[str] = ()) -> str:
    """Hash all files of a commit but perfgate's own configuration, of which others compare the keys.

    configs: further files of the repository that hold nothing else.

    Raises:
        SourceError: git failed.
    """
    own = {repository.inside(CONFIG_FILE), *configs}
    shared = repository.inside(_SHARED)
    digest = hashlib.sha256()
    for entry in files_at(repository, revision):
        if entry.path in own:
            continue
        content = _without_own(repository, revision) if entry.path == shared else None
        digest.update(json.dumps([entry.mode, content or entry.object, entry.path]).encode() + b"\n")
    return f"sha256:{digest.hexdigest()}"


def _without_own(repository: Repository, revision: str) -> str | None:
    """Return the tables of pyproject.toml but perfgate's; None: it has none of perfgate's, or is no TOML."""
    try:
        tables = tomllib.loads(text_at(repository, revision, _SHARED) or "")
    except (ValueError, RecursionError):
        return None
    tools = tables.get("tool")
    if not isinstance(tools, dict) or tools.pop("perfgate", None) is None:
        return None
    return json.dumps(tables, default=str)
