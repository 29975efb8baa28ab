"""The locks: complete, hashed, and without a word about where packages come from."""

import re
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
def test_every_package_is_pinned_and_hashed(lock: str) -> None:
    assert [name for name, entry in pins(lock).items() if "--hash=sha256:" not in entry] == []


@pytest.mark.parametrize("lock", LOCKS)
def test_no_index_address_and_no_path(lock: str) -> None:
    text = (ROOT / lock).read_text(encoding="utf-8")
    assert re.findall(r"://|--index|--find-links|(?<=\s)/\S+", text) == []


def test_the_locks_hold_what_pyproject_declares() -> None:
    runtime = names(PYPROJECT["project"]["dependencies"])
    assert runtime <= pins("requirements.lock").keys()
    assert runtime | names(PYPROJECT["dependency-groups"]["dev"]) <= pins("requirements-dev.lock").keys()


def test_the_runtime_lock_is_a_part_of_the_other() -> None:
    # for which implementations of Python is the affair of each: development may need a package on more of them
    runtime, everything = (
        {name: re.sub(r" ;[^\\]*", " ", entry) for name, entry in pins(lock).items()}
        for lock in ("requirements.lock", "requirements-dev.lock")
    )
    assert {name: everything.get(name) for name in runtime} == runtime
