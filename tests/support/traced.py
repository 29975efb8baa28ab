"""Commands that are traced in tests."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.process.execute import Command, ProcessEnd, ProcessExecutor
from harness.trace.trace import TracedExecutor, Tracer, tracing
from harness.trace.watcher import Accesses

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")


def words(argv: Sequence[str] | str) -> tuple[str, ...]:
    return ("/bin/sh", "-c", argv) if isinstance(argv, str) else tuple(argv)


def traced(
    argv: Sequence[str] | str,
    place: Path,
    tracer: Tracer,
    *,
    timeout: float = 60,
    since: int = 0,
    environment: dict[str, str] | None = None,
) -> tuple[ProcessEnd, Accesses]:
    given = {"PATH": os.environ["PATH"]} if environment is None else environment
    command = Command(words(argv), place, given, timeout, stdout=place / "printed")
    with tracing(place, since=since, tracer=tracer) as trace:
        outcome = TracedExecutor(ProcessExecutor(), trace).run(command)
        assert trace.tracers == {tracer}
        return outcome, trace.accesses()


def seen(argv: Sequence[str] | str, place: Path, tracer: Tracer, *, since: int = 0) -> Accesses:
    outcome, accesses = traced(argv, place, tracer, since=since)
    while accesses.disturbed:
        outcome, accesses = traced(argv, place, tracer, since=since)
    assert outcome.status == "", outcome.stderr
    assert accesses.doubts == ()
    return accesses


def python(source: str) -> tuple[str, ...]:
    return (sys.executable, "-I", "-S", "-c", source)


def compiled(source: str, place: Path, *options: str, name: str = "x") -> str:
    (place / f"{name}.c").write_text(source)
    subprocess.run(["gcc", "-O1", f"{name}.c", "-o", name, *options], cwd=place, check=True)
    return f"./{name}"
