"""Finds the checkout around a directory, so that git never looks for one, and the links that a commit put into it.

git takes a directory with HEAD, objects and refs for a repository, and a pull request can commit these as plain files
of a folder: with the configuration there it could run commands, and name another commit as HEAD. No commit can hold a
file called .git.
"""

from __future__ import annotations

import errno
import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from gate.model import UserError
from gate.walking import open_beneath

# What `git rev-parse --local-env-vars` lists (but for command line config, which may hold safe.directory), and what
# changes the meaning of pathspecs: perfgate started from a git hook inherits them, and they name another repository.
_LOCAL_VARIABLES = frozenset(
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_ATTR_SOURCE",
        "GIT_COMMON_DIR",
        "GIT_CONFIG",
        "GIT_DIR",
        "GIT_GLOB_PATHSPECS",
        "GIT_GRAFT_FILE",
        "GIT_ICASE_PATHSPECS",
        "GIT_IMPLICIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_INTERNAL_SUPER_PREFIX",
        "GIT_NOGLOB_PATHSPECS",
        "GIT_NO_REPLACE_OBJECTS",
        "GIT_OBJECT_DIRECTORY",
        "GIT_PREFIX",
        "GIT_REPLACE_REF_BASE",
        "GIT_SHALLOW_FILE",
        "GIT_WORK_TREE",
    }
)
_ADDED = {
    # without a GIT_DIR of its own git has no repository: it must not look for one in its folder
    "GIT_DIR": "/dev/null/none",
    # what a commit holds and where it stands in history is for the commit alone to say
    "GIT_GRAFT_FILE": "/dev/null/none",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_LITERAL_PATHSPECS": "1",  # a file may be called "*.c" or ":(top)"
    "GIT_OPTIONAL_LOCKS": "0",  # `git status` would rewrite the user's index
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
    "LANGUAGE": "C",
}
_SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",  # it may be a hook, or start a daemon for each worktree
    "core.safecrlf=false",
    "safe.bareRepository=explicit",  # git 2.38 and later
    "core.splitIndex=false",  # would leave a shared index in the user's git directory
    "add.ignoreErrors=false",
    "advice.detachedHead=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
    "color.ui=false",
    "i18n.commitEncoding=UTF-8",
    "i18n.logOutputEncoding=UTF-8",
)
SHA = r"[0-9a-f]{40}(?:[0-9a-f]{24})?"
"""Written of a whole commit id."""
_LONGEST = 40
_MOST_TEXT = 1_000_000


def is_sha(text: str | None) -> bool:
    """Return whether a text is a whole commit id."""
    return re.fullmatch(SHA, text or "") is not None


def top_of(directory: Path) -> Path | None:
    """Return the nearest directory upwards that has a .git, the given one included; None: there is none.

    Args:
        directory: absolute, without links.
    """
    places = ((each, each / ".git") for each in (directory, *directory.parents))
    # a file names the repository: of a linked worktree, of a submodule
    return next((each for each, place in places if place.is_file() or is_repository(place)), None)


def is_repository(place: Path) -> bool:
    """Return whether git would take a directory for a repository; one that is damaged it passes over."""
    return os.path.lexists(place / "HEAD") and (place / "objects").is_dir() and (place / "refs").is_dir()


def git_command(
    directory: Path, arguments: Sequence[str], variables: Mapping[str, str], settings: Sequence[str] = ()
) -> tuple[list[str], dict[str, str]]:
    """Return the words and the environment of each git that perfgate starts.

    Args:
        directory: where it begins.
        arguments: of git.
        variables: added to the caller's, GIT_DIR among them; "" has git look for a repository.
        settings: that override a configuration's, beside those of all.
    """
    options = [part for setting in (*_SETTINGS, *settings) for part in ("-c", setting)]
    environment = {name: value for name, value in os.environ.items() if name not in _LOCAL_VARIABLES}
    environment |= {**_ADDED, **variables}
    if not environment["GIT_DIR"]:
        del environment["GIT_DIR"]
    return ["git", "-C", os.fspath(directory), *options, *arguments], environment


def run_git(top: Path, directory: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Run git in a directory of the checkout with a top; harness.source.git does more.

    Raises: UserError: git is not on PATH, or passes the .git there over.
    """

    def run(place: Path, words: Sequence[str], **variables: str) -> subprocess.CompletedProcess[bytes]:
        argv, environment = git_command(place, words, variables)
        try:
            return subprocess.run(argv, capture_output=True, check=False, env=environment)
        except OSError:
            raise UserError("git is not on PATH") from None

    # asked first: git checks the owner only of a repository that it finds, not of one that GIT_DIR names
    asked = run(top, ("rev-parse", "--absolute-git-dir"), GIT_DIR="")
    if asked.returncode:
        return asked
    found = os.fsdecode(asked.stdout).removesuffix("\n")
    if top.is_relative_to(found):
        raise UserError(f"{top / '.git'} is damaged: git does not take it for a repository")
    return run(directory, arguments, GIT_DIR=found, GIT_WORK_TREE=os.fspath(top))


def text_of(file: Path) -> str:
    """Read a small file of a checkout, bytes that are no UTF-8 replaced; the rest of a large one is left out.

    A commit can make it a link to anything: a device, a pipe, a file of the kernel, none of which ever ends.

    Raises: OSError: there is none, it is no regular file, or a link leads out of the checkout.
    """
    if not os.path.isfile(file):  # noqa: PTH113  # a path may hold what no path can
        raise OSError(errno.EISDIR if os.path.isdir(file) else errno.ENOENT, "no regular file", str(file))  # noqa: PTH112
    place = Path(os.path.realpath(file.parent), file.name)
    top = top_of(place.parent) or Path("/")
    try:
        fd = open_beneath(top, place.relative_to(top))
    except OSError as error:
        why = "a link leads out of the checkout" if error.errno == errno.EXDEV else error.strerror
        raise OSError(error.errno, why, str(file)) from None
    with os.fdopen(fd, "rb") as opened:
        return opened.read(_MOST_TEXT).decode("utf-8", "replace").removeprefix("\ufeff")


def refuse_tracked(path: Path, option: str = "--out") -> None:
    """Refuse to write to a path that leads through a link of a commit: a pull request says where to.

    Links that git does not track are the user's own.

    Args:
        option: that names another place.

    Raises:
        UserError: naming the link.
    """
    link = tracked_link(path)
    if link is not None:
        raise UserError(
            f"{os.path.relpath(link)} is a link that git tracks (to {link.readlink()}), and perfgate writes "
            f"nothing through it: remove it, or name another place ({option})"
        )


def tracked_link(path: Path) -> Path | None:
    """Return the first link that git tracks of those that a path leads through; None: there is none."""
    return next(filter(_is_tracked, _links(path)), None)


def _links(path: Path) -> Iterator[Path]:
    """Yield the links that a path leads through, its last name included."""
    names, here, count = [*reversed(Path(path).absolute().parts[1:])], Path("/"), 0
    while names:
        name = names.pop()
        if name == "..":
            here = here.parent
        elif (here / name).is_symlink() and count < _LONGEST:
            count += 1
            yield here / name
            target = (here / name).readlink()
            names += reversed(target.parts[1:] if target.is_absolute() else target.parts)
            here = Path("/") if target.is_absolute() else here
        else:
            here /= name


def _is_tracked(link: Path) -> bool:
    top = top_of(link.parent)
    if top is None:
        return False
    listed = run_git(top, top, "ls-files", "-z", "--", str(link.relative_to(top)))
    # what git does not say may be so
    return listed.returncode != 0 or listed.stdout != b""
