"""Made-up projects for `perfgate init`: what it detects in them, the file that it writes, and a check of that."""

import io
import shutil
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest

from gate.commands.init.ask import asked
from gate.commands.init.command import Options, run
from gate.commands.init.found import Found
from gate.commands.init.init import choose
from gate.commands.init.tree import read_tree
from gate.config.config_text import read_source
from gate.config.parse import parse
from gate.config.types import Config
from tests.support.project import Project as Repository
from tests.support.project import empty

Project = Callable[..., Path]


def need(*programs: str) -> None:
    """Skip where a program is absent."""
    for program in programs:
        if shutil.which(program) is None:
            pytest.skip(f"absent: {program} (what `perfgate init` writes for it was not run)")


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
    # what a host takes long for is no fault
    told = [line for line in err.getvalue().splitlines(keepends=True) if not line.startswith("perfgate: asking ")]
    return code, out.getvalue(), "".join(told)


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


def checked(
    project: Repository, *, kind: str, iterations: int = 2, timeout: float = 300, **more: str
) -> list[tuple[str, str]]:
    """Init, commit and check a project as a user would; return the cases that were measured. more: variables.

    Of a benchmark with a view of its active time that is the case: which of two views is sharper in two builds is chance.
    """
    done = project.process("init", "--no-try")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"detected: {kind} ")
    project.git("add", "perfgate.toml")
    project.git("commit", "--quiet", "--message=gate")
    # what git says about the checkout: a check must leave it as it was
    status = ("status", "--porcelain", "--ignored", "--", ".", ":!.perfgate")
    before = project.git(*status)
    few = [f"--set=plan.{key}={count}" for key, count in (("builds", 2), ("executions", 1), ("iterations", iterations))]
    done = project.process("check", "--base", "HEAD", "--head", "HEAD", *few, cwd=None, timeout=timeout, **more)
    # two builds are too few to call a change: nothing but a failure to build or measure can go wrong
    assert done.returncode == 0, done.stdout + done.stderr
    assert project.git(*status) == before
    report = project.report()
    assert report["failures"] == []
    views = [[each["metric"] for each in (found, *found["beside"])] for found in report["findings"]]
    names = [found["benchmark"] for found in report["findings"]]
    return [(name, "active" if "active" in own else own[0]) for name, own in zip(names, views, strict=True)]
