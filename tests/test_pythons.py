"""Which versions of CPython are supported: the classifiers say it, and everything else says the same."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
VERSIONS = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["project"]["classifiers"]))
FIRST, LAST = VERSIONS[0], VERSIONS[-1]


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def pair(version: str) -> str:
    return f"({version.replace('.', ', ')})"


def test_the_first_version_is_what_the_code_is_written_for() -> None:
    assert PROJECT["project"]["requires-python"] == f">={FIRST}"
    assert PROJECT["tool"]["ruff"]["target-version"] == f"py{FIRST.replace('.', '')}"
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
        "scripts/install",
        "scripts/venv",
        "README.md",
        "docs/github.md",
        "docs/dependencies.md",
        "docs/install.md",
        "docs/releasing.md",
    ],
)
def test_people_are_told_the_same(name: str) -> None:
    assert set(re.findall(r"(3\.1\d)(?: to |-|, 3\.1\d or )(3\.1\d)", text(name))) == {(FIRST, LAST)}


@pytest.mark.parametrize("workflow", ["tests", "release"])
def test_every_version_is_tested(workflow: str) -> None:
    found = re.search(r"python: \[(.*)\]", text(f".github/workflows/{workflow}.yml"))
    assert found and re.findall(r"3\.\d+", found[1]) == VERSIONS
