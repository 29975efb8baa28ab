"""The locks: complete, hashed, without a word about where packages come from, and installed as far as a host can."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LOCKS = ("requirements.lock", "requirements-dev.lock")


def pins(name: str) -> dict[str, str]:
    """Package -> its whole entry: version, marker and hashes."""
    text = (ROOT / name).read_text(encoding="utf-8")
    entries = re.split(r"^(?=\w)", text, flags=re.MULTILINE)
    return {entry.partition("==")[0]: re.sub(r"\n    #.*", "", entry) for entry in entries if entry}


def names(requirements: list[str]) -> set[str]:
    return {match.group() for requirement in requirements if (match := re.match(r"[\w-]+", requirement))}


@pytest.mark.parametrize("lock", LOCKS)
def test_every_package_is_pinned_and_hashed_without_an_index_address_or_a_path(lock: str) -> None:
    assert [name for name, entry in pins(lock).items() if "--hash=sha256:" not in entry] == []
    text = (ROOT / lock).read_text(encoding="utf-8")
    assert re.findall(r"://|--index|--find-links|(?<=\s)/\S+", text) == []


def test_the_locks_hold_what_pyproject_declares() -> None:
    runtime = names(PYPROJECT["project"]["dependencies"] + PYPROJECT["project"]["optional-dependencies"]["hyperfine"])
    assert runtime <= pins("requirements.lock").keys()
    assert runtime | names(PYPROJECT["dependency-groups"]["dev"]) <= pins("requirements-dev.lock").keys()


def test_the_runtime_lock_is_a_part_of_the_other() -> None:
    # for which implementations of Python is the affair of each: development may need a package on more of them
    runtime, everything = (
        {name: re.sub(r" ;[^\\]*", " ", entry) for name, entry in pins(lock).items()}
        for lock in ("requirements.lock", "requirements-dev.lock")
    )
    assert {name: everything.get(name) for name in runtime} == runtime


@pytest.mark.parametrize("libc", ["glibc", ""])
def test_the_environment_of_development_does_without_hyperfine_on_musl(tmp_path: Path, libc: str) -> None:
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts/venv", tmp_path / "scripts")
    for name in ("pyproject.toml", "requirements-dev.lock"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "sitecustomize.py").write_text(
        f'import platform, sys\nsys.platform, platform.libc_ver = "linux", lambda: ("{libc}", "")\n'
    )
    uv = tmp_path / "bin/uv"
    uv.parent.mkdir()
    uv.write_text(
        "#!/bin/sh\ncase $* in *--require-hashes*) cat .venv/locked.txt >asked ;; venv*) mkdir -p .venv/bin; ln -s /bin/true .venv/bin/python ;; esac\n"
    )
    uv.chmod(0o755)
    env = {**os.environ, "PATH": f"{uv.parent}:{os.environ['PATH']}", "PYTHON": sys.executable}
    subprocess.run(["scripts/venv"], cwd=tmp_path, env={**env, "PYTHONPATH": str(tmp_path)}, check=True)
    locked = (ROOT / "requirements-dev.lock").read_text(encoding="utf-8")
    hyperfine = re.search(r"^astral-dev-toolchain-hyperfine==.*\n(?: .*\n)+", locked, re.MULTILINE)
    assert hyperfine
    asked = (tmp_path / "asked").read_text(encoding="utf-8")
    assert asked == (locked if libc else locked.replace(hyperfine.group(), ""))


@pytest.mark.parametrize(("there", "says"), [(["git"], "CPython"), ([], "git is not on PATH")])
def test_a_machine_that_lacks_what_make_needs_is_told_in_one_line(tmp_path: Path, there: list[str], says: str) -> None:
    for name in (*there, "dirname", "cat", "cmp"):
        (tmp_path / name).symlink_to(shutil.which(name) or pytest.skip(f"no {name}"))
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts/venv", tmp_path / "scripts")
    script = tmp_path / "scripts/venv"
    done = subprocess.run(
        [script], cwd=tmp_path, env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert says in done.stderr
