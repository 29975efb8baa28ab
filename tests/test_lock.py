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


# --- the script behind .github/workflows/update.yml -------------------------------------------------------------------


GH = """#!/bin/sh
printf '%s\\n' "$*" >> "$ASKED"
case $2 in list) printf '%s' "$OPEN" ;; esac
"""


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    done = subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    git(tmp_path, "init", "--quiet", "--bare", "--initial-branch=main", "remote")
    git(tmp_path, "clone", "--quiet", "remote", "clone")
    folder = tmp_path / "clone"
    (folder / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "propose", folder / "scripts" / "propose")
    for name in ("requirements.lock", "requirements-dev.lock", "other"):
        (folder / name).write_text("numpy==1\n")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "first")
    git(folder, "push", "--quiet", "origin", "HEAD:main")
    gh = tmp_path / "bin" / "gh"
    gh.parent.mkdir()
    gh.write_text(GH)
    gh.chmod(0o755)
    return folder


def propose(clone: Path, *, open_: str = "") -> list[str]:
    asked = clone.parent / "asked"
    path = f"{clone.parent / 'bin'}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "ASKED": str(asked), "OPEN": open_, "GH_TOKEN": "t"}
    subprocess.run(["scripts/propose", "update/locks", "Raise them"], cwd=clone, env=environment, check=True)
    return asked.read_text().splitlines() if asked.exists() else []


def test_changed_locks_alone_are_pushed_and_proposed_once(clone: Path) -> None:
    (clone / "other").write_text("changed\n")
    assert propose(clone) == []
    assert git(clone, "ls-remote", "origin", "refs/heads/update/locks") == ""
    (clone / "requirements.lock").write_text("numpy==2\n")
    asked = propose(clone)
    assert [line.split()[:2] for line in asked] == [["pr", "list"], ["pr", "create"]]
    git(clone, "fetch", "--quiet", "origin", "update/locks")
    assert git(clone, "diff", "--name-only", "origin/main", "FETCH_HEAD") == "requirements.lock"


# --- which versions of CPython are supported --------------------------------------------------------------------------


VERSIONS = re.findall(r"Python :: (3\.\d+)", "\n".join(PYPROJECT["project"]["classifiers"]))
FIRST, LAST = VERSIONS[0], VERSIONS[-1]


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def pair(version: str) -> str:
    return f"({version.replace('.', ', ')})"


def test_the_first_version_is_what_the_code_is_written_for() -> None:
    assert PYPROJECT["project"]["requires-python"] == f">={FIRST}"
    assert PYPROJECT["tool"]["ruff"]["target-version"] == f"py{FIRST.replace('.', '')}"
    assert f"--python-version {FIRST} " in text("scripts/lock")


def test_the_lower_bounds_are_for_the_last_version() -> None:
    assert f"the first releases with wheels for CPython {LAST};" in text("pyproject.toml")


@pytest.mark.parametrize("name", ["scripts/install", "scripts/venv"])
def test_scripts_look_for_each_version_and_take_no_other(name: str) -> None:
    script = text(name)
    assert f"{pair(FIRST)} <= " in script and f" <= {pair(LAST)}" in script
    assert re.search(r"python3((?: python3\.\d+)+); do", script)[1].split() == [f"python{v}" for v in VERSIONS[::-1]]  # type: ignore[index]
    globs = re.findall(r"/python3\.1\[(\d)-(\d)\]", script)
    assert set(globs) <= {(FIRST[-1], LAST[-1])} and bool(globs) == (name == "scripts/install")


@pytest.mark.parametrize(
    "name",
    [
        "scripts/install", "scripts/venv", "README.md", "docs/github.md", "docs/dependencies.md", "docs/install.md",
        "docs/releasing.md",
    ],
)  # fmt: skip
def test_people_are_told_the_same(name: str) -> None:
    assert set(re.findall(r"(3\.1\d)(?: to |-|, 3\.1\d or )(3\.1\d)", text(name))) == {(FIRST, LAST)}


@pytest.mark.parametrize("workflow", ["tests", "release"])
def test_every_version_is_tested(workflow: str) -> None:
    found = re.search(r"python: \[(.*)\]", text(f".github/workflows/{workflow}.yml"))
    assert found and re.findall(r"3\.\d+", found[1]) == VERSIONS
