"""What kept measured code inside, for the first line of a run and the report."""

from __future__ import annotations

from typing import Literal

import msgspec

from gate.writing.phrases import named

OffKind = Literal["asked", "programs", "system", "kernel", "old", "machine", "refused"]


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
    files: Literal["machine", "own"] | None = None
    """Whether commands had directories for temporary files of their own, and no servers; None: not known."""
    why: OffKind | None = None
    """Why there was no sandbox. asked: the configuration says so. programs: two given ones are compared. system: no
    Linux. kernel: no Landlock. old: a version that does not do. machine: its system calls are not known. refused:
    it was tried, and refused. None: there was one."""
    forgeable: list[str] = []
    """Benchmarks whose values were made inside, where their own programs could have changed them."""
    detail: str = ""
    """What the system said, of a sandbox: why commands had no namespaces, or not all; empty: nothing."""

    @property
    def on(self) -> bool:
        """Whether there was a sandbox."""
        return self.why is None

    def __str__(self) -> str:
        """Say whether there was one: "on (Landlock 7)", or "off: why"."""
        if not self.on:
            off = {
                "asked": 'plan.sandbox = "off"',
                "programs": "two given programs run as they are",
                "system": "there is one on Linux only",
                "kernel": (
                    f"this kernel ({self.detail}) has no Landlock, or `lsm=` leaves it out at boot; it needs Linux 5.19"
                ),
                "old": f"this kernel has version {self.detail} of Landlock, and the sandbox needs 2 (Linux 5.19)",
                "machine": f"it is not supported on {self.detail}",
            }.get(self.why or "", f"this system refuses it ({self.detail})")
            return f"off: {off}"
        lacking = ["a network of their own"] if self.network == "on" else []
        why = f" ({self.detail})" if self.detail else ""
        refused = f"this system refuses commands {' and '.join([*lacking, 'a /tmp of their own'])}{why}"
        more = [
            f"Landlock {self.landlock}",
            *(["commands run as nobody"] if self.user else []),
            *(["no network for benchmarks"] if self.network == "off" else []),
            *(["no servers or temporary files of the machine"] if self.files == "own" else []),
            *([refused] if self.files == "machine" else []),
            *([] if self.signals else ["signals to other processes are not stopped before Linux 6.12"]),
        ]
        inside = f"; the values of {named(self.forgeable, 3)} are made inside it" if self.forgeable else ""
        return f"on ({'; '.join(more)}){inside}"
