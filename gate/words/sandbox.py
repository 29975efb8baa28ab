"""What is said about the sandbox of a run."""

from __future__ import annotations

from gate.model.sandbox import Sandboxed
from gate.words.names import named

_NAMED = 3


def sandbox_text(sandbox: Sandboxed) -> str:
    """Say whether there was one: "on (Landlock 7)", or "off: why"."""
    if not sandbox.on:
        return f"off: {_why(sandbox)}"
    more = [
        f"Landlock {sandbox.landlock}",
        *(["commands run as nobody"] if sandbox.user else []),
        *(["no network for benchmarks"] if sandbox.network == "off" else []),
        *([] if sandbox.signals else ["signals to other processes are not stopped before Linux 6.12"]),
    ]
    inside = f"; the values of {named(sandbox.forgeable, _NAMED)} are made inside it" if sandbox.forgeable else ""
    return f"on ({'; '.join(more)}){inside}"


def _why(sandbox: Sandboxed) -> str:
    detail = sandbox.detail
    match sandbox.why:
        case "asked":
            return 'plan.sandbox = "off"'
        case "system":
            return "there is one on Linux only"
        case "kernel":
            return f"this kernel ({detail}) has no Landlock, or `lsm=` leaves it out at boot; it needs Linux 5.19"
        case "old":
            return f"this kernel has version {detail} of Landlock, and the sandbox needs 2 (Linux 5.19)"
        case "machine":
            return f"it is not supported on {detail}"
        case _:
            return f"this system refuses it ({detail})"
