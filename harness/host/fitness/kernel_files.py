"""Reads below /proc and /sys, or below a folder that stands for them; what cannot be read is None."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

CPUS = "sys/devices/system/cpu"


@dataclass(frozen=True, slots=True)
class Tree:
    """The files of a machine."""

    root: Path = Path("/")
    """The folder that holds proc and sys."""

    def text(self, name: str) -> str | None:
        """Return what a file holds, without blanks around it; None when it cannot be read."""
        try:
            return (self.root / name).read_text(encoding="utf-8", errors="replace").strip()
        except (OSError, ValueError):
            return None

    def number(self, name: str) -> int | None:
        """Return the whole number that a file holds; None when it holds none."""
        return whole(self.text(name))

    def table(self, name: str) -> dict[str, int]:
        """Return the numbers of a file of "name value" or "name: value kB" lines; kB become bytes."""
        found = {}
        for line in (self.text(name) or "").splitlines():
            words = line.replace(":", " ").split()
            value = whole(words[1]) if len(words) > 1 else None
            if value is not None:
                found[words[0]] = value * 1024 if words[2:] == ["kB"] else value
        return found

    def exists(self, name: str) -> bool:
        """Return whether there is such a file or folder."""
        try:
            return (self.root / name).exists()
        except OSError:
            return False

    def found(self, pattern: str) -> list[str]:
        """Return the names that match a pattern, cpu2 before cpu10."""
        try:
            names = [path.relative_to(self.root).as_posix() for path in self.root.glob(pattern)]
        except OSError:
            return []
        parts = {name: re.split(r"(\d+)", name) for name in names}
        return sorted(
            names, key=lambda name: [(int(each), "") if each.isdigit() else (-1, each) for each in parts[name]]
        )

    def texts(self, pattern: str) -> dict[str, str]:
        """Return what the files that match a pattern hold, without those that cannot be read."""
        texts = {name: self.text(name) for name in self.found(pattern)}
        return {name: text for name, text in texts.items() if text is not None}


def whole(text: str | None) -> int | None:
    """Read a whole number; None when it is none."""
    try:
        return int(text) if text is not None else None
    except ValueError:
        return None


def cpu_list(text: str) -> list[int]:
    """Read a list as the kernel writes it: "0-2,5" is 0, 1, 2, 5.

    Raises:
        ValueError: it is no such list.
    """
    cpus: list[int] = []
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        cpus += range(int(first), int(last or first) + 1)
    return cpus


def written(cpus: Iterable[int]) -> str:
    """Write processors as the kernel and `cpus` of a benchmark do: "0-2,5"."""
    runs: list[list[int]] = []
    for cpu in sorted(cpus):
        if runs and cpu == runs[-1][1] + 1:
            runs[-1][1] = cpu
        else:
            runs.append([cpu, cpu])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
