"""Where an execution happens, and tools that stand in for real ones."""

import os
from pathlib import Path

import pytest

from harness.instruments.protocol import Context


@pytest.fixture
def context(tmp_path: Path) -> Context:
    """In a directory for itself, with a scratch directory of a strange name."""
    scratch = tmp_path / "100%p of 'x 🐢"
    scratch.mkdir()
    return Context(tmp_path, {"PATH": os.environ["PATH"]}, "head", seed=17, padding=5, iterations=3, scratch=scratch)


def install(folder: Path, **programs: str) -> dict[str, str]:
    """Put programs first on a PATH."""
    folder.mkdir(exist_ok=True)
    for name, script in programs.items():
        (folder / name).write_text(script if script.startswith("#!") else f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
    return {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
