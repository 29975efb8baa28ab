"""Where the first builds of this host are kept."""

from __future__ import annotations

import os
import sys

from harness.build.cache import BuildCache, directory_of


def build_cache() -> BuildCache | None:
    """Return where first builds are kept.

    Nowhere in CI: what a pull request's code does in one job must not be found by the next one.
    """
    directory = None if os.environ.get("CI") or sys.platform != "linux" else directory_of(os.environ)
    return BuildCache(directory) if directory is not None else None
