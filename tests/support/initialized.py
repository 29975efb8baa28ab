"""Made-up projects for `perfgate init`: their files, what it detects in them, and the file that it writes."""

import io
import shutil
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from typing import Any

from gate.commands.init.ask import asked
from gate.commands.init.command import Options, run
from gate.commands.init.found import Found
from gate.commands.init.init import choose
from gate.commands.init.tree import read_tree
from gate.config.config_text import read_source
from gate.config.parse import parse
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


def init(directory: Path, kind: str | None = None, *, tries: bool = False, **options: Any) -> tuple[int, str, str]:
    """Return the exit code, the output and the errors."""
    out, err = io.StringIO(), io.StringIO()
    with chdir(directory):
        code = run(Options(kind=kind, tries=tries, **options), out, err)
    return code, out.getvalue(), err.getvalue()


def written(directory: Path, kind: str | None = None, *, force: bool = False, code: int | None = 0) -> Config:
    """Return the configuration that is written, which must be one that can be read; code: None for any."""
    done, _, err = init(directory, kind, force=force)
    assert err == ""
    assert code is None or done == code
    text = (directory / "perfgate.toml").read_text(encoding="utf-8")
    return parse(read_source(text, "perfgate.toml"), checked=False)


def detected(directory: Path) -> Found:
    """Return what is found first."""
    tree = read_tree(directory)
    with asked(tree) as ask:
        return choose(tree, ask, None)
