"""Where an execution happens, and tools that stand in for real ones."""

import os
from pathlib import Path
from typing import Any

import pytest

from gate.config.types import Benchmark
from harness.instruments.protocol import Context, Instrument
from harness.process.execute import ProcessExecutor
from tests.support.project import executable


@pytest.fixture
def context(tmp_path: Path) -> Context:
    """In a directory for itself, with a scratch directory of a strange name."""
    scratch = tmp_path / "100%p of 'x 🐢"
    scratch.mkdir()
    return Context(tmp_path, {"PATH": os.environ["PATH"]}, "head", seed=17, padding=5, iterations=3, scratch=scratch)


def collected(instrument: Instrument, benchmark: Benchmark, context: Context) -> Any:
    """Give what an instrument reads of a real execution."""
    return instrument.collect(benchmark, context, ProcessExecutor().run(instrument.prepare(benchmark, context)))


def install(folder: Path, **programs: str) -> dict[str, str]:
    """Put programs first on a PATH."""
    for name, script in programs.items():
        executable(folder / name, script if script.startswith("#!") else f"#!/bin/sh\n{script}\n")
    return {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
