"""Whether directories can stand at another path for one command alone, and the command for which one does."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

from harness.process import mounted
from harness.process.execute import Command

_SECONDS = 10


def standing(command: Command, directory: Path, path: Path) -> Command:
    """Return a command for which a directory stands at a path, an existing one, at or below which it runs.

    It exits with 125 where that cannot be.
    """
    before = (sys.executable, "-I", "-S", mounted.__file__, str(directory), str(path), str(command.directory))
    return replace(command, argv=(*before, *command.argv), directory=path, launch=None)


@cache
def mounts_here() -> bool:
    """Return whether it can be done here: containers and some systems refuse it (AppArmor on Ubuntu 24.04)."""
    if sys.platform != "linux":
        return False
    # two that are there: a temporary one would stay where perfgate is killed meanwhile
    here = Path(__file__)
    directory, path = here.parent, here.parents[1]
    tried = standing(Command(("/bin/sh", "-c", f"test -e {here.name}"), path, {}, _SECONDS), directory, path)
    try:
        return subprocess.run(tried.argv, capture_output=True, timeout=_SECONDS, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False
