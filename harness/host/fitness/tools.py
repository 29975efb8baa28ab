"""The programs that instruments need, which are installed, and whether commands can be traced."""

from __future__ import annotations

import re
import shutil
import subprocess

from harness.host.fitness.kernel_files import Check
from harness.process.execute import find_own
from harness.trace.executor import tracer_here

_SECONDS = 3.0
_VERSIONED = ("perf", "valgrind")
_OTHERS = ("setarch", "taskset")
# The first that is there; the packages of git and hyperfine have the same name in all of them.
_INSTALLERS = {
    "apt-get": "sudo apt-get install", "dnf": "sudo dnf install", "pacman": "sudo pacman -S",
    "zypper": "sudo zypper install", "apk": "sudo apk add", "brew": "brew install",
}  # fmt: skip


def tools() -> Check:
    """Look for git, hyperfine, perf, valgrind, setarch and taskset."""
    name = "tools"
    why = "Without hyperfine perfgate starts commands itself; perf_stat needs perf, callgrind needs valgrind."
    if shutil.which("git") is None:
        return Check(
            name, "bad", "no git", "Base and head are commits: without git nothing is measured.", _install("git")
        )
    own = find_own("hyperfine")
    hyperfine = own or shutil.which("hyperfine")
    which = f"({'comes with perfgate' if own else 'on PATH'}: {hyperfine})"
    found = {"hyperfine": _version(hyperfine)} | {tool: _version(shutil.which(tool)) for tool in _VERSIONED}
    found |= {tool: "" if shutil.which(tool) else None for tool in _OTHERS}
    there = [
        " ".join(filter(None, (tool, version, which if tool == "hyperfine" else "")))
        for tool, version in found.items()
        if version is not None
    ]
    absent = [tool for tool, version in found.items() if version is None]
    value = ", ".join(there) + ("; " if there and absent else "") + (f"no {', '.join(absent)}" if absent else "")
    if "hyperfine" in absent:
        return Check(name, "warn", value, why, _install("hyperfine"))
    return Check(name, "ok", value, why)


def _version(path: str | None) -> str | None:
    """Return the version of the tool at a path; "" when it does not tell, None when it is absent or does not run."""
    if path is None:
        return None
    try:
        done = subprocess.run(
            [path, "--version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return None
    if done.returncode:
        # as Ubuntu's perf ends where it is of another kernel
        return None
    number = re.search(rb"\d+(?:\.\d+)+", done.stdout)
    return number[0].decode("ascii") if number else ""


def _install(package: str) -> str | None:
    return next((f"{start} {package}" for tool, start in _INSTALLERS.items() if shutil.which(tool)), None)


def tracer() -> Check:
    """Trace a small command."""
    name = "tracer"
    why = "It sees which files a benchmark reads: one that reads nothing that differs need not be measured."
    try:
        found = tracer_here()
    except OSError as error:
        return Check(name, "warn", f"none: {error.strerror}", why)
    if found is None:
        return Check(name, "warn", "none: neither seccomp nor ptrace works here", why)
    return Check(name, "ok", found if found == "seccomp" else f"{found}, which is slower than seccomp", why)
