"""Whether commands can be traced, which proves that a benchmark cannot differ."""

from __future__ import annotations

from harness.host.fitness.kernel_files import Check
from harness.trace.executor import tracer_here


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
