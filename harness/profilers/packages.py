"""The command that installs a profiler, by the package manager that this host has."""

from __future__ import annotations

import os
from collections.abc import Mapping

from harness.process.execute import find_program

_INSTALL = {
    "apt": "apt install",
    "dnf": "dnf install",
    "pacman": "pacman -S",
    "zypper": "zypper install",
    "apk": "apk add",
    "brew": "brew install",
}


def install(caller: Mapping[str, str], packages: Mapping[str, str], otherwise: str = "") -> str:
    """Return the command; "" where no package manager is known.

    packages: by package manager. otherwise: the package where a manager is not among them; "": it has none.
    """
    for manager, command in _INSTALL.items():
        if find_program(manager, caller) is None:
            continue
        package = packages.get(manager, otherwise)
        if package:
            root = os.geteuid() == 0 or manager == "brew"
            return f"{'' if root else 'sudo '}{command} {package}"
    return ""
