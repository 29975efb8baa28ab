"""What perfgate itself wrote into a checkout: it must not turn up as a change of head's."""

from __future__ import annotations

import contextlib
from collections.abc import Collection
from pathlib import Path

from harness.repository import Repository

_MOST = 1000


def remember_outputs(repository: Repository, outputs: Collection[Path]) -> frozenset[str]:
    """Return the paths, relative to the checkout, of these outputs and of all that earlier runs wrote.

    They are kept in a file of git's own directory, outside everybody's sight.
    """
    file = repository.common / "perfgate" / "outputs"
    known: list[str] = []
    with contextlib.suppress(OSError, UnicodeDecodeError):
        known = file.read_text(encoding="utf-8").splitlines()
    absolute = [Path(path.absolute().parent.resolve(), path.name) for path in outputs]
    new = [p.relative_to(repository.top).as_posix() for p in absolute if p.is_relative_to(repository.top)]
    every = list(dict.fromkeys([*known, *new]))[-_MOST:]
    if every != known:
        # what cannot be remembered is left out of this run's head all the same
        with contextlib.suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("".join(f"{name}\n" for name in every), encoding="utf-8")
    return frozenset(every)
