"""Names for a machine and its boots that tell them apart and do not tell which they are.

A report is published, and a host name or a boot id is of use to whoever looks for a way in. Hashed by the machine's own
id (machine-id(5): 128 random bits that do not leave the machine), a name stays the same from run to run, and nobody can
try a list of names without that id. It protects against readers of a report, not against programs on the machine, which
see both anyway; nor where the id is public, as in an image that many machines were made from.
"""

from __future__ import annotations

import hashlib
import hmac
import uuid
from functools import cache
from pathlib import Path
from typing import Literal

_DIGITS = 12
_FILES = ("/etc/machine-id", "/var/lib/dbus/machine-id", "/proc/sys/kernel/random/boot_id")
"""The last tells the boots of one machine apart as well, where there is nothing else, as in a container."""


def pseudonym(kind: Literal["host", "boot"], name: str, key: bytes | None = None) -> str:
    """Hash a name of this machine; key: what only the machine knows, its own id by default."""
    made = hmac.new(machine_key() if key is None else key, f"perfgate {kind} {name}".encode(), hashlib.sha256)
    return made.hexdigest()[:_DIGITS]


@cache
def machine_key(files: tuple[str, ...] = _FILES) -> bytes:
    """Return what only this machine knows; without any of the files its network address, which is easier to guess."""
    for file in files:
        try:
            found = Path(file).read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError):
            continue
        # systemd writes this word while it first boots
        if found and found != "uninitialized":
            return found.encode()
    return str(uuid.getnode()).encode()
