"""Real tools of this host: found or skipped, their suites measured as an instrument does, their files read back."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gate.config.types import Benchmark
from gate.formats.parts.reading import Reading, read, recognised
from gate.formats.parts.source import Source
from harness.instruments.protocol import Collected, Context, Unusable
from harness.instruments.suite import SuiteInstrument
from harness.process.execute import ProcessExecutor

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"
_INSTALLED = ROOT / ".tools" / "python" / "bin" / "python"
PYTHON = os.environ.get("PERFGATE_TEST_PYTHON", str(_INSTALLED) if _INSTALLED.exists() else sys.executable)
"""A Python that has pytest-benchmark, pyperf and asv: PERFGATE_TEST_PYTHON names one, where scripts/tools made none."""
CAPTURED_ONLY = "its output was tested with captured files only"


def need(*names: str, why: str = CAPTURED_ONLY) -> str:
    """Find the last of some programs; skip where one is absent."""
    path = f"{ROOT / '.tools/bin'}:{os.environ['PATH']}"
    for name in names:
        if shutil.which(name, path=path) is None:
            pytest.skip(f"absent: {name} ({why})")
    return str(shutil.which(names[-1], path=path))


def need_module(*names: str) -> None:
    """Skip where PYTHON lacks a module."""
    for name in names:
        if subprocess.run([PYTHON, "-c", f"import {name}"], capture_output=True, check=False).returncode:
            pytest.skip(f"absent: {name} ({CAPTURED_ONLY})")


def run(
    *command: str | Path, folder: Path | None = None, said: bytes | None = None, env: Mapping[str, str] | None = None
) -> bytes:
    """Run a command that succeeds; return what it prints. said: on its standard input. env: further variables."""
    own = {**os.environ, **(env or {})}
    return subprocess.run(command, cwd=folder, input=said, check=True, capture_output=True, env=own).stdout


def measured(
    suite: SuiteInstrument,
    project: Path,
    command: list[str] | str,
    *,
    iterations: int = 2,
    environment: Mapping[str, str] | None = None,
    **options: Any,
) -> Collected | Unusable:
    """Measure a suite once, with a directory for its output whose name needs quotes."""
    scratch = project.parent / "scratch ' 🐢"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    variables = {**os.environ, **(environment or {})}
    context = Context(project, variables, "head", seed=17, padding=3, iterations=iterations, scratch=scratch)
    benchmark = Benchmark(name="b", command=command, **{"warmup": 1, **options})
    return suite.collect(benchmark, context, ProcessExecutor().run(suite.prepare(benchmark, context)))


def good(found: Collected | Unusable) -> Collected:
    """Return what was collected."""
    assert isinstance(found, Collected), found
    return found


def status(found: Collected | Unusable) -> str:
    """Return why nothing was."""
    assert isinstance(found, Unusable), found
    return found.status


def read_as(name: str, file: Path | bytes) -> Reading:
    """Read a file that is recognised as of a format."""
    source = Source("x", None, file) if isinstance(file, bytes) else Source(str(file), file)
    assert recognised(source) == name
    return read(source)
