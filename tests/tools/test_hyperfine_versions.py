"""The hyperfine instrument against an older hyperfine than the locked one, built by cargo into .tools/."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
pytestmark = pytest.mark.tools


def test_the_real_tool() -> None:
    version = "1.20.0"
    cargo = shutil.which("cargo")
    if cargo is None:
        pytest.skip("absent: cargo (no other hyperfine was built)")
    place = ROOT / ".tools" / f"hyperfine-{version}"
    if not (place / "bin/hyperfine").exists():
        build = [cargo, "install", "--quiet", "--locked", "--root", str(place)]
        subprocess.run([*build, "hyperfine", "--version", version], check=True)
    tests = [sys.executable, "-m", "pytest", "-q", "-k", "real", "tests/harness/instruments/test_hyperfine.py"]
    env = {**os.environ, "HYPERFINE_BESIDE": str(place / "bin/python")}
    done = subprocess.run(tests, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "skipped" not in done.stdout
