"""Facts about the machine, read without changing anything."""

import hashlib
import hmac
import json
import os
import platform
import re
import socket
import sys
import uuid
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Literal

from gate.writing.units import nominal_gib
from harness.process.affinity import given_priority
from harness.process.execute import find_program

UNKNOWN = "unknown"

Facts = dict[str, str | int]


def unsupported_platform(system: str = sys.platform) -> str | None:
    """Say in one line why this machine cannot measure; None when it can."""
    if system.startswith(("win", "cygwin")):
        return "measuring is not supported on Windows: measure on Linux or macOS (WSL too), then `perfgate decide` here"
    return None


def facts() -> Facts:
    """Describe the machine, ready for JSON; what cannot be read is "unknown".

    cores: logical processors of the machine. affinity: those this process may use. memory: bytes. priority: the nice
    value of what is started. fingerprint: the
    same for machines of one make; neither name nor boot changes it. hostname, boot_id: hashed.
    """
    memory: int | str = UNKNOWN
    with suppress(AttributeError, OSError, ValueError):  # Windows, a system without the name
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    boot = _read("/proc/sys/kernel/random/boot_id").strip()
    known: Facts = {
        "os": platform.system() or UNKNOWN,
        "kernel": platform.release() or UNKNOWN,
        "machine": platform.machine() or UNKNOWN,
        "cpu": cpu_model(),
        "cores": os.cpu_count() or UNKNOWN,
        "affinity": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or UNKNOWN,
        "memory": memory,
        "priority": given_priority(),
        "hostname": pseudonym("host", name) if (name := socket.gethostname()) else UNKNOWN,
        "python": platform.python_version(),
        "boot_id": pseudonym("boot", boot) if boot else UNKNOWN,
    }
    return known | {"fingerprint": fingerprint(known)}


def fingerprint(known: Facts) -> str:
    """Hash what makes two machines comparable: CPU model, cores, memory as it is sold, architecture, system."""
    memory = known.get("memory", UNKNOWN)
    gib = nominal_gib(memory) if isinstance(memory, int) and memory > 0 else UNKNOWN
    own = [
        gib if name == "memory" else known.get(name, UNKNOWN) for name in ("cpu", "cores", "memory", "machine", "os")
    ]
    return hashlib.sha256(json.dumps(own).encode()).hexdigest()


def cpu_model(cpuinfo: str | None = None) -> str:
    """Name the processor, from /proc/cpuinfo where there is one.

    ARM gives numbers instead of a name (implementer, part): they identify the core as well.
    """
    text = _read("/proc/cpuinfo") if cpuinfo is None else cpuinfo
    fields = dict(re.findall(r"^([^\t\n:]+?)[ \t]*:[ \t]*(.+?)[ \t]*$", text, flags=re.MULTILINE))
    for name in ("model name", "Model", "cpu", "uarch", "Processor"):  # x86, Raspberry Pi, POWER, RISC-V, old ARM
        if name in fields:
            return " ".join(fields[name].split())
    if "CPU implementer" in fields and "CPU part" in fields:
        return f"ARM implementer {fields['CPU implementer']} part {fields['CPU part']}"
    return platform.processor() or UNKNOWN


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


_DIGITS = 12
_FILES = ("/etc/machine-id", "/var/lib/dbus/machine-id", "/proc/sys/kernel/random/boot_id")
"""The last tells the boots of one machine apart as well, where there is nothing else, as in a container."""


def pseudonym(kind: Literal["host", "boot"], name: str, key: bytes | None = None) -> str:
    """Hash a name of this machine; key: what only the machine knows, its own id by default.

    A report is published, and a host name or a boot id is of use to whoever looks for a way in. By the machine's own id
    (machine-id(5), which does not leave it) nobody can try a list of names. It protects against readers of a report,
    not against programs on the machine; nor where the id is public, as in an image that many machines were made from.
    """
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


_INSTALL = {
    "apt": "apt install", "dnf": "dnf install", "pacman": "pacman -S", "zypper": "zypper install", "apk": "apk add",
    "brew": "brew install",
}  # fmt: skip


def install(caller: Mapping[str, str], packages: Mapping[str, str], otherwise: str = "") -> str:
    """Return the command that installs a tool; "" where no package manager is known.

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
