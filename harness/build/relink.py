"""Whether and how the later builds of a tree link again what its first build has compiled."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from gate.config.types import BuildTable
from gate.formats.parts.output import OutputError
from gate.model.records import FullBuilds, FullKind, Ordered
from gate.removal import remove_tree
from harness.build import relink_check, replay
from harness.build.record import LINKS
from harness.instruments.protocol import read_regular

_LARGEST = 1 << 16
"""Bytes of an answer."""
_SEEDS = ("{seed}", "PERFGATE_SEED", "PERFGATE_BUILD")


def refused(table: BuildTable) -> FullBuilds | None:
    """Say why no link of a build need be recorded; None: they are."""
    if table.relink == "off":
        return FullBuilds(kind="off")
    if "link-order" not in table.perturb:
        # then a build has its variety from elsewhere, or is to have none
        return FullBuilds(kind="unperturbed")
    command = table.command or ""
    text = command if isinstance(command, str) else "\n".join(command)
    return FullBuilds(kind="seed-used") if any(seed in text for seed in _SEEDS) else None


class Recording:
    """The links of a tree's first build, in a folder of the run's work directory."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def begin(self) -> dict[str, str]:
        """Make room for records; return what a build's environment needs for them.

        Raises:
            OSError: there is no room.
        """
        self.remove()
        self._folder.mkdir(parents=True)
        # what the build makes is younger than this file
        (self._folder / "began").touch()
        return {LINKS: str(self._folder)}

    def command(self, prefix: str, check: Sequence[str] | None = None) -> tuple[str, ...]:
        """Return the command that links again, to be run in place of a build's.

        check: artifacts of the first build, which has just been made: the command checks its records instead.
        """
        program = replay.__file__ if check is None else relink_check.__file__
        # relative to where builds run, whatever that is called there
        up = os.path.relpath(".", prefix)
        return (sys.executable, "-I", "-S", program, str(self._folder), up, *(check or ()))

    def found(self) -> tuple[FullBuilds | None, Ordered | None]:
        """Read what the check, or a link that failed, has left: why later builds are full ones, or what links order.

        A build can write there what it likes.
        """
        try:
            told = os.fsdecode(read_regular(self._folder / replay.ANSWER, _LARGEST) or b"failed")
        except OutputError:
            told = "failed"
        kind, _, said = told.partition("\0")
        ordered: Ordered | None = next((each for each in get_args(Ordered) if not kind and each == said), None)
        if ordered is not None:
            return None, ordered
        self.remove()
        known: FullKind = next((each for each in get_args(FullKind) if each == kind), "failed")
        # a name that is no UTF-8 is no JSON either
        return FullBuilds(kind=known, path=said.encode(errors="replace").decode()), None

    def remove(self) -> None:
        """Remove the records."""
        remove_tree(self._folder)
