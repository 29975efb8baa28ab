"""Processes: ending whole groups, and whether a process that wrote its id down is still the one that has it."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path


def start_time(pid: int) -> str | None:
    """Give when a process started, as an opaque text; None where the system does not tell (no /proc) or it is gone."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # proc(5): field 22, counted after the name, which may hold spaces and brackets
    return f"{boot}:{stat.rpartition(')')[2].split()[19]}"


def alive(pid: int, started: str | None) -> bool:
    """Tell whether a process runs; with a start time also whether it is the same, since ids are used again."""
    if pid <= 0:
        return False
    now = start_time(pid)
    if started is not None and now is not None:
        return now == started
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def end_group(process: subprocess.Popen[bytes], grace: float) -> None:
    """End a process that leads its own group, and all of the group: SIGTERM, and SIGKILL after `grace` seconds."""
    deadline = time.monotonic() + grace
    alive = True
    try:
        signal_group(process.pid, signal.SIGTERM)
        while time.monotonic() < deadline:
            # reaped first: as a zombie the leader would count as a living member
            alive = process.poll() is None or signal_group(process.pid, 0)
            if not alive:
                return
            time.sleep(0.01)
    finally:
        if alive:
            signal_group(process.pid, signal.SIGKILL)
        process.wait()


def signal_group(group: int, number: int) -> bool:
    """Send a signal to a process group; tell whether it still has members."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        # macOS answers EPERM when only zombies are left
        return False
    return True
