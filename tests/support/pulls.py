"""A repository with a pull request, as a forge keeps it, and checkouts of it as actions/checkout makes them."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pytest

from gate.github.event import Event, Pull
from tests.support.project import Project, environment

BRANCH = 'zzz";echo${IFS}"hello";#'
"""A legal name of a branch."""


@dataclass(frozen=True)
class Origin:
    """main: its commits, oldest first. feature: of the branch that left main at main[left]. merge: of main[-1] and the last of them."""

    bare: Path
    main: list[str]
    feature: list[str]
    merge: str

    @property
    def url(self) -> str:
        return f"file://{self.bare}"

    def pull(self, **changes: object) -> Pull:
        facts: dict[str, object] = {
            "number": 7, "head_sha": self.feature[-1], "head_ref": BRANCH, "base_sha": self.main[-1], "base_ref": "main", "fork": False,
        } | changes  # fmt: skip
        return Pull(**facts)  # type: ignore[arg-type]  # words of the test

    def event(self, name: str = "pull_request", **changes: object) -> Event:
        facts: dict[str, object] = {
            "name": name, "action": None, "repository": "acme/widget", "default_branch": "main", "ref": "refs/pull/7/merge",
            "sha": self.merge, "run_id": 1, "run_attempt": 1, "server_url": "https://github.com", "api_url": "https://api.github.com",
            "pull": self.pull() if name == "pull_request" else None, "merge_base": None, "merge_head": None, "before": None,
            "source": None, "hosted": False,
        } | changes  # fmt: skip
        return Event(**facts)  # type: ignore[arg-type]  # words of the test


def make_origin(folder: Path, *, commits: int = 6, branch: str = "main", left: int = 2) -> Origin:
    """Make folder/origin.git; every commit changes file "at", so that a checkout shows which it is of."""
    made = _made_once(commits, branch, left)
    shutil.copytree(made.bare.parent, folder)
    return replace(made, bare=folder / made.bare.name)


_TEMPLATES = tempfile.TemporaryDirectory(prefix="perfgate-origins-")


@cache
def _made_once(commits: int, branch: str, left: int) -> Origin:
    folder = Path(_TEMPLATES.name, f"{branch}-{commits}-{left}")
    work = Project(folder / "work")
    work.git("symbolic-ref", "HEAD", f"refs/heads/{branch}")
    main = work.commits(*(f"m{n}" for n in range(commits)), files=lambda name: {"at": name, f"files/{name}": name})
    work.git("reset", "-q", "--hard")
    work.git("checkout", "-q", "-b", BRANCH, main[left])
    work.write("other", "x")
    feature = [work.commit(f"f{n}") for n in range(3)]
    work.git("checkout", "-q", branch)
    work.git("checkout", "-q", "--detach")
    work.git("merge", "-q", "--no-ff", "-m", "merge", feature[-1])
    merge = work.git("rev-parse", "HEAD")
    work.git("checkout", "-q", branch)
    bare = folder / "origin.git"
    subprocess.run(["git", "clone", "-q", "--bare", str(work.top), str(bare)], check=True, env=environment())
    for name, sha in {"pull/7/merge": merge, "pull/7/head": feature[-1]}.items():
        work.git("push", "-q", str(bare), f"{sha}:refs/{name}")
    for key in ("uploadpack.allowFilter",):
        subprocess.run(["git", "-C", str(bare), "config", key, "true"], check=True, env=environment())
    return Origin(bare, main, feature, merge)


def check_out(
    place: Path,
    url: str,
    sha: str,
    *,
    ref: str = "refs/remotes/pull/7/merge",
    depth: int | None = 1,
    options: tuple[str, ...] = (),
    settings: Mapping[str, str] | None = None,
) -> Project:
    """Check a commit out as actions/checkout does: into an empty repository, by its id; settings: of git, for this once."""
    made = Project(place)
    with (place / ".git/config").open("a", encoding="utf-8") as config:
        config.write(f'[remote "origin"]\n\turl = {url}\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n')
    given = [part for key, value in (settings or {}).items() for part in ("-c", f"{key}={value}")]
    shallow = [f"--depth={depth}"] if depth else []
    made.git(*given, "fetch", "-q", "--no-tags", *shallow, *options, "origin", f"+{sha}:{ref}")
    if depth is None:
        made.git(*given, "fetch", "-q", "origin", "+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*")
    branch = ref.removeprefix("refs/remotes/origin/")
    if branch != ref:
        made.git("checkout", "-q", "-B", branch, ref)
    else:
        made.git("checkout", "-q", "--detach", ref)
    return made


@contextmanager
def git_of_nobody() -> Iterator[pytest.MonkeyPatch]:
    """Take the user's git configuration and any workflow's variables away."""
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith(("GIT_", "GITHUB_", "CI_")) or name == "CI":
                patch.delenv(name)
        patch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        yield patch
