"""The hyperfine instrument against versions of hyperfine that the host does not have, built by cargo into .tools/."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
pytestmark = pytest.mark.tools


@pytest.mark.parametrize("version", ["1.20.0", "2.0.0"])
def test_the_real_tool(version: str) -> None:
    cargo = shutil.which("cargo")
    if cargo is None:
        pytest.skip("absent: cargo (no other hyperfine was built)")
    place = ROOT / ".tools" / f"hyperfine-{version}"
    if not (place / "bin/hyperfine").exists():
        # the minimum of Rust that 2.0.0 declares is higher than what it needs
        build = [cargo, "install", "--quiet", "--locked", "--ignore-rust-version", "--root", str(place)]
        subprocess.run([*build, "hyperfine", "--version", version], check=True)
    path = f"{place / 'bin'}{os.pathsep}{os.environ['PATH']}"
    tests = [sys.executable, "-m", "pytest", "-q", "-k", "real", "tests/harness/instruments/test_hyperfine.py"]
    done = subprocess.run(
        tests, cwd=ROOT, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    assert "skipped" not in done.stdout
