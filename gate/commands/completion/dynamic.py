"""What a shell asks at every completion, in shells' own words: no Python starts, so that Tab answers at once."""

from __future__ import annotations

REFS = "git for-each-ref --format='%(refname:short)' refs/heads refs/tags refs/remotes 2>/dev/null"
"""Branches and tags, a line each."""

NAMES = (
    r"""'/^[ \t]*\[/ { inside = ($0 ~ /^[ \t]*\[\[(tool\.perfgate\.)?benchmark\]\]/) }"""
    r""" inside && /^[ \t]*name[ \t]*=/ { sub(/^[^=]*=[ \t]*["'\'']/, ""); sub(/["'\''][ \t]*(#.*)?$/, ""); print }'"""
)
"""A program of awk: the names in the [[benchmark]] tables of a configuration."""

FILES = ("perfgate.toml", "pyproject.toml")
"""Where the configuration is, in a directory or the nearest one above it."""

RUNS = ".perfgate/ .perfgate/*/ .perfgate/runs/*/"
"""Folders of runs, as a shell globs them."""
