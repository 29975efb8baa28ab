"""Where the first builds of this host are kept."""

from __future__ import annotations

import os
import sys

from gate.model import SIDES, Side
from gate.run.trust import is_proposed
from harness.build.cache import BuildCache, directory_of


def build_cache(*, sandboxed: bool) -> BuildCache | None:
    """Return where first builds are kept; in CI of base alone, unless head is what the default branch is.

    What a pull request's code does in one job must not be found by the next one: outside a sandbox it could write
    anywhere, and none are kept in CI.
    """
    if sys.platform != "linux" or (os.environ.get("CI") and not sandboxed):
        return None
    directory = directory_of(os.environ)
    kept: tuple[Side, ...] = ("base",) if is_proposed() else SIDES
    return BuildCache(directory, keeps=kept) if directory is not None else None
