"""Whether directories can stand at another path for one command alone, and the command for which one does."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

from harness.process import mounted
from harness.process.execute import Command
from harness.process.forkserver import entered, entering

_SECONDS = 10


def standing(command: Command, places: Mapping[Path, Path]) -> Command:
    """Return a command for which directories stand at paths, existing ones; it runs at or below the first.

    It exits with 125 where that cannot be. Its sandbox it enters after that.
    """
    pairs = [str(each) for pair in places.items() for each in pair]
    confined = command.confined
    where = (str(command.directory), *entering(confined), str(len(places)))
    argv = (sys.executable, "-I", "-S", mounted.__file__, *where, *pairs, *command.argv)
    first = next(iter(places.values()))
    return replace(command, argv=argv, directory=first, launch=None, enters=entered(confined))


@cache
def mounts_here() -> bool:
    """Return whether it can be done here: containers and some systems refuse it (AppArmor on Ubuntu 24.04)."""
    if sys.platform != "linux":
        return False
    # two that are there: a temporary one would stay where perfgate is killed meanwhile
    here = Path(__file__)
    directory, path = here.parent, here.parents[1]
    tried = standing(Command(("/bin/sh", "-c", f"test -e {here.name}"), path, {}, _SECONDS), {directory: path})
    try:
        return subprocess.run(tried.argv, capture_output=True, timeout=_SECONDS, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False
