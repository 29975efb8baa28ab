"""Made-up projects for `perfgate init`: their files, what it detects in them, and the file that it writes."""

import io
import os
import pkgutil
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from gate.commands.init.detect import python
from gate.commands.init.detect.choose import choose
from gate.commands.init.detect.result import Found
from gate.commands.init.detect.tree import read_tree
from gate.commands.init.init import InitOptions, run
from gate.config.parse import parse_types
from gate.config.source import read_source
from gate.config.types import Config
from tests.support.project import empty

Project = Callable[..., Path]


def make_project(directory: Path, files: dict[str, str], *, git: bool = True) -> Path:
    """Make a git repository of files; .gitignore comes first, so that what it names is not added."""
    directory.mkdir(exist_ok=True)
    for name, text in files.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text(text, encoding="utf-8")
    if git:
        shutil.copytree(empty(), directory, dirs_exist_ok=True)
    return directory


def init(directory: Path, kind: str | None = None, *, force: bool = False) -> tuple[int, str, str]:
    """Return the exit code, the output and the errors."""
    out, err = io.StringIO(), io.StringIO()
    code = run(InitOptions(directory, kind, force), out, err)
    return code, out.getvalue(), err.getvalue()


def written(directory: Path, kind: str | None = None) -> Config:
    """Return the configuration that is written, which must be one that can be read."""
    code, _, err = init(directory, kind)
    assert (code, err) == (0, "")
    return parse_types(read_source((directory / "perfgate.toml").read_text(encoding="utf-8"), "perfgate.toml"))


def detected(directory: Path) -> Found:
    """Return what is found first."""
    return choose(read_tree(directory), None)[0]


asked = python._installed


def ask_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask an interpreter once what it has, not for each project: of a project it only sees the folders and files."""

    def installed(executable: str, directory: Path) -> python._Installed:
        found = shutil.which(executable)
        if found is None or not Path(found).is_absolute():
            return asked(executable, directory)
        has = _has(found, os.environ.get("PYTHONPATH"))
        return has._replace(modules=has.modules | {module.name for module in pkgutil.iter_modules([str(directory)])})

    monkeypatch.setattr(python, "_installed", installed)


@cache
def _has(executable: str, path: str | None) -> python._Installed:
    del path  # in the environment
    return asked(executable, empty())
