"""Builds the wheel and the sdist of a commit; the same commit always gives the same bytes.

They are built from what git has of the commit, in a new folder, so nothing else of the checkout gets into them. The
wheel is built from the unpacked sdist, as pip does it: whoever builds the sdist gets the published wheel, byte by byte.
All files have hatchling's own fixed date and modes. SOURCE_DATE_EPOCH is not passed on: with the commit's date the
wheel that pip builds from the sdist would differ from the published one.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

from scripts.release.errors import ReleaseError

LOCK = "requirements-dev.lock"
LOCKED = re.compile(r"^(?P<name>[\w.-]+)==.*\n(?:[ \t]+.*\n)*", re.MULTILINE)
SUMS = "SHA256SUMS"


def build(top: Path, commit: str, out: Path) -> list[Path]:
    """Build a commit of the repository at top into the folder out, with SHA256SUMS; returns the two packages.

    Raises:
        ReleaseError: the commit does not exist, or a package cannot be built.
    """
    out.mkdir(parents=True, exist_ok=True)
    present = [path.name for path in (*out.glob("*.whl"), *out.glob("*.tar.gz"))]
    if present:
        raise ReleaseError(f"{out} has packages already ({', '.join(sorted(present))}): name another folder")
    with tempfile.TemporaryDirectory(prefix="perfgate-build-") as folder:
        box = Path(folder)
        python = _builder(top, box / "builder")
        _export(top, commit, box / "commit")
        sdist = _hatchling(python, "sdist", box / "commit", out)
        with tarfile.open(sdist) as archive:
            archive.extractall(box / "sdist", filter="data")
        (unpacked,) = (box / "sdist").iterdir()
        wheel = _hatchling(python, "wheel", unpacked, out)
    packages = [sdist, wheel]
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in packages]
    (out / SUMS).write_text("".join(sums), encoding="utf-8")
    return packages


def _export(top: Path, commit: str, to: Path) -> None:
    command = ["git", "archive", "--format=tar", commit]
    done = subprocess.run(command, cwd=top, capture_output=True, check=False)
    if done.returncode:
        raise ReleaseError(f"git archive {commit}: {done.stderr.decode(errors='replace').strip()}")
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extractall(to, filter="data")


def _builder(top: Path, environment: Path) -> Path:
    """Return a Python with the locked hatchling: this one, or that of a new environment."""
    wanted = locked("hatchling", (top / LOCK).read_text(encoding="utf-8"))
    if _has(wanted["hatchling"]):
        return Path(sys.executable)
    _run([sys.executable, "-I", "-m", "venv", environment])
    lock = environment / LOCK
    lock.write_text("".join(wanted.values()), encoding="utf-8")
    python = environment / "bin" / "python"
    pip = ["-m", "pip", "--quiet", "--disable-pip-version-check", "install", "--only-binary", ":all:"]
    _run([python, "-I", *pip, "--require-hashes", "--requirement", lock])
    return python


def locked(name: str, lock: str) -> dict[str, str]:
    """Return the entries of a lock for a package and for all that it needs, by name.

    Raises:
        ReleaseError: the lock does not have the package.
    """
    entries = {found["name"]: found[0] for found in LOCKED.finditer(lock)}
    if name not in entries:
        raise ReleaseError(f"{LOCK} has no {name}")
    wanted: dict[str, str] = {}
    new = {name}
    while new:
        wanted |= {each: entries[each] for each in new}
        # the lock says below each package for which others it is there
        needed = [each for each, entry in entries.items() if not wanted.keys().isdisjoint(_via(entry))]
        new = set(needed) - wanted.keys()
    return wanted


def _via(entry: str) -> list[str]:
    return [line.split()[-1] for line in entry.splitlines() if line.lstrip().startswith("#")]


def _has(entry: str) -> bool:
    version = re.match(r"hatchling==([^\s\\]+)", entry)
    command = [sys.executable, "-I", "-c", "from importlib.metadata import version; print(version('hatchling'))"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return version is not None and done.stdout.strip() == version[1]


def _hatchling(python: Path, target: str, source: Path, out: Path) -> Path:
    before = set(out.iterdir())
    _run([python, "-I", "-m", "hatchling", "build", "--target", target, "--directory", out.resolve()], source)
    (built,) = set(out.iterdir()) - before
    # a package is for everybody, whatever the umask
    built.chmod(0o644)
    return built


def _run(command: Sequence[str | Path], directory: Path | None = None) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"}
    done = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ReleaseError(f"{' '.join(map(str, command))}: {(done.stderr or done.stdout).strip()}")
