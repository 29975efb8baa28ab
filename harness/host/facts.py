"""Facts about the machine, read without changing anything."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from gate.model.warnings.setup import Differing
from gate.units import nominal_gib
from harness.host.pseudonym import pseudonym

UNKNOWN = "unknown"

Facts = dict[str, str | int]


def unsupported_platform(system: str = sys.platform) -> str | None:
    """Say in one line why this machine cannot measure; None when it can."""
    if system.startswith(("win", "cygwin")):
        return "measuring is not supported on Windows: measure on Linux or macOS (WSL too), then `perfgate decide` here"
    return None


def facts() -> Facts:
    """Describe the machine, ready for JSON; what cannot be read is "unknown".

    cores: logical processors of the machine. affinity: those this process may use. memory: bytes. fingerprint: the
    same for machines of one make; neither name nor boot changes it. hostname, boot_id: hashed (harness.host.pseudonym).
    """
    known: Facts = {
        "os": platform.system() or UNKNOWN,
        "kernel": platform.release() or UNKNOWN,
        "machine": platform.machine() or UNKNOWN,
        "cpu": cpu_model(),
        "cores": os.cpu_count() or UNKNOWN,
        "affinity": _affinity(),
        "memory": _memory(),
        "hostname": _hashed("host", socket.gethostname()),
        "python": platform.python_version(),
        "boot_id": _hashed("boot", _read("/proc/sys/kernel/random/boot_id").strip()),
    }
    return known | {"fingerprint": fingerprint(known)}


def _hashed(kind: Literal["host", "boot"], name: str) -> str:
    return pseudonym(kind, name) if name else UNKNOWN


def fingerprint(known: Facts) -> str:
    """Hash what makes two machines comparable: CPU model, cores, memory as it is sold, architecture, system."""
    return hashlib.sha256(json.dumps(list(_comparable(known).values())).encode()).hexdigest()


def differences(before: Mapping[str, object], now: Mapping[str, object]) -> list[Differing]:
    """Name what makes two machines not comparable; empty where their fingerprints agree.

    Args:
        before, now: facts as `facts` gives them, or as an older or newer perfgate wrote them; what is not in them is
            "unknown".
    """
    was, is_ = _comparable(before), _comparable(now)
    return [
        Differing(name, _worded(name, was[name]), _worded(name, is_[name])) for name in was if was[name] != is_[name]
    ]


def _comparable(known: Mapping[str, object]) -> dict[str, object]:
    memory = known.get("memory", UNKNOWN)
    gib = nominal_gib(memory) if isinstance(memory, int) and memory > 0 else UNKNOWN
    named = {"cpu": "cpu", "cores": "cores", "memory": "", "architecture": "machine", "system": "os"}
    return {name: known.get(key, UNKNOWN) if key else gib for name, key in named.items()}


def _worded(name: str, value: object) -> str:
    return f"{value:g} GiB" if name == "memory" and isinstance(value, float) else str(value)


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


def _affinity() -> int | str:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or UNKNOWN


def _memory() -> int | str:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # Windows, a system without the name
        return UNKNOWN


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
