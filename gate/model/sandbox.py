"""What kept measured code inside, for the first line of a run and the report."""

from __future__ import annotations

from typing import Literal

import msgspec

OffKind = Literal["asked", "system", "kernel", "old", "machine", "refused"]


class Sandboxed(msgspec.Struct, frozen=True, kw_only=True):
    """Whether builds, benchmarks, services and loads were confined, and how."""

    landlock: int = 0
    """The version of Landlock; 0: there was no sandbox."""
    signals: bool = False
    """Whether signals stayed inside."""
    user: bool = False
    """Whether commands ran as another user than perfgate, which was root."""
    network: Literal["on", "off"] = "on"
    """Whether benchmarks that need none had a network."""
    why: OffKind | None = None
    """Why there was no sandbox. asked: the configuration says so. system: no Linux. kernel: no Landlock. old: a version
    that does not do. machine: its system calls are not known. refused: it was tried, and refused. None: there was
    one."""
    forgeable: list[str] = []
    """Benchmarks whose values were made inside, where their own programs could have changed them."""
    detail: str = ""
    """What the system said; empty: nothing."""

    @property
    def on(self) -> bool:
        """Whether there was a sandbox."""
        return self.why is None
