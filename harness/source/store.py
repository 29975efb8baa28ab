"""Perfgate's own git repository in the work directory: it takes every object that perfgate makes or fetches for a run.

It reads the objects of the user's repository, and has neither its configuration nor its refs: what is checked out from
it depends on the commit alone. Nothing of the user's repository changes.
"""

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.process.budget import Budget
from harness.source.git import Git, GitAnswer, settings
from harness.source.workdir import WorkDirectory

PATIENCE = 600.0
"""Seconds that comparing the user's files with commits may take: it starts filters, before there is a budget."""
_NAME = ".store"  # no name of a tree begins with a dot
_ISOLATED = {
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_PARAMETERS": "",
}
_TAKEN = re.compile(
    # what .gitattributes names (git lfs is one), and how to reach servers; through the environment, since some of it
    # is secret
    r"(filter|lfs|remote|url|http|credential|protocol|ssh|safe)\.|core\.(sshcommand|gitproxy|askpass)$"
)
_CONTENT = (
    # what a commit's files are is for .gitattributes alone to say
    ("core.attributesFile", os.devnull), ("core.autocrlf", "false"), ("core.eol", "lf"),
    ("core.sparseCheckout", "false"), ("core.symlinks", "true"),
)  # fmt: skip
_LACKING = re.compile(r"^fatal: (.*): smudge filter lfs failed$", re.MULTILINE)
_NOT_BY_COMMIT = re.compile(r"not our ref|unadvertised object|does not support shallow", re.IGNORECASE)


class Store:
    """The repository, made in the work directory when something is first written to it."""

    def __init__(self, checkout: Git, common: Path, work: WorkDirectory) -> None:
        """Begin without one. checkout: git in the checkout. common: the git directory that all its worktrees share."""
        self.work = work
        self._checkout = checkout
        self._common = common
        self._settings: dict[str, str] | None = None
        self._listed: list[tuple[str, str, str]] | None = None
        self._blobs: dict[str, bytes] = {}
        self.submodules: dict[str, list[Any]] = {}
        """Of commits, as far as they were asked for (harness.source.submodules)."""
        self.files: dict[tuple[str, ...], list[Any]] = {}
        """The same of files (harness.source.repository): a commit and the paths that were asked about."""
        self.budget: Budget | None = None
        """What ends whatever is exported or fetched."""

    @property
    def git(self) -> Git:
        """Give git in the user's checkout; it also sees what perfgate made."""
        return self._checkout.seeing(GIT_OBJECT_DIRECTORY=str(self._objects)) if self.made else self._checkout

    @property
    def writing(self) -> Git:
        """Give git in the user's checkout, with its configuration; the objects that it makes are perfgate's own."""
        self._make()
        return self.git

    @property
    def reading_files(self) -> Git:
        """Give git in the user's checkout to compare files with commits; what git lfs makes is perfgate's own."""
        keys = {key for key, _, _ in self.configured()}
        if "filter.lfs.clean" not in keys or "lfs.storage" in keys:
            return replace(self.git, patience=PATIENCE)
        # where git lfs looks for it when it fills a tree
        stored = ("lfs.storage", str(self._path / "lfs"))
        return replace(self.writing.seeing(**settings([stored])), patience=PATIENCE)

    def configured(self) -> list[tuple[str, str, str]]:
        """Give the user's settings, read once: key, a newline or "" where it is without a value, value."""
        if self._listed is None:
            listed = os.fsdecode(self._checkout.run("config", "--list", "-z")).split("\0")
            self._listed = [setting.partition("\n") for setting in listed]
        return self._listed

    def blob(self, object_: str) -> bytes:
        """Read a small file by its id: it is read once, also where both sides have it."""
        if object_ not in self._blobs:
            self._blobs[object_] = self.git.run("cat-file", "blob", object_)
        return self._blobs[object_]

    @property
    def made(self) -> bool:
        """Whether it exists."""
        return self.work.made and self._objects.is_dir()

    @property
    def _path(self) -> Path:
        return self.work.path / _NAME

    @property
    def _objects(self) -> Path:
        return self._path / "objects"

    @contextmanager
    def index(self) -> Iterator[Git]:
        """Give git as `writing` does, with an index of its own, not yet made, in GIT_INDEX_FILE."""
        self._make()
        file = self._path / "index"
        file.unlink(missing_ok=True)
        yield self.reading_files.seeing(GIT_INDEX_FILE=str(file))

    def export(self, revision: str, tree: Path, *, skip_lfs: bool = False) -> GitAnswer:
        """Write the files of a commit into an empty directory, and give git's answer.

        skip_lfs: pointers of git lfs stay pointers.
        """
        index = self._path / "exported"
        index.unlink(missing_ok=True)
        seen = {"GIT_LFS_SKIP_SMUDGE": "1"} if skip_lfs else {}
        git = self._isolated(tree).seeing(GIT_INDEX_FILE=str(index), **seen)
        return git.attempt("read-tree", "--reset", "-u", revision)

    def export_files(self, revision: str, paths: Sequence[str], tree: Path, *, skip_lfs: bool = False) -> None:
        """Write some files of a commit into an empty directory, whatever is left of the budget."""
        seen = {"GIT_LFS_SKIP_SMUDGE": "1"} if skip_lfs else {}
        git = self._isolated(tree).seeing(GIT_INDEX_FILE=str(self._path / "compared"), **seen)
        git = replace(git, budget=None, patience=PATIENCE)
        git.run("read-tree", "--reset", revision)
        git.run("checkout-index", "-q", "-z", "--stdin", stdin=b"".join(os.fsencode(path) + b"\0" for path in paths))

    def attach(self, revision: str, tree: Path) -> None:
        """Give the tree that was exported last a .git of its own: HEAD at its commit, with history and the user's tags.

        What is written to it is lost with the tree. Files may have got other times since they were exported.

        Raises: OSError: it cannot be written.
        """
        directory = tree / ".git"
        self._init(directory, bare=False)
        _borrow(directory, self._objects)
        index = self._path / "exported"
        self._isolated(tree).seeing(GIT_INDEX_FILE=str(index)).attempt("update-index", "-q", "--refresh")
        shutil.copy2(index, directory / "index")
        tags = self._checkout.run(
            "for-each-ref",
            "--format=%(objectname) %(refname)%(if)%(*objectname)%(then)%0a^%(*objectname)%(end)",
            "refs/tags",
        )
        (directory / "packed-refs").write_bytes(b"# pack-refs with: peeled fully-peeled sorted \n" + tags)
        shallow = self._common / "shallow"
        if shallow.is_file():
            shutil.copyfile(shallow, directory / "shallow")
        (directory / "HEAD").write_text(f"{revision}\n", encoding="ascii")

    def borrow(self, objects: Path) -> None:
        """Read the objects of one more repository."""
        self._make()
        _borrow(self._path, objects)

    def has(self, sha: str) -> bool:
        """Return whether a commit is here."""
        return self.isolated.attempt("cat-file", "-e", sha + "^{commit}").status == 0

    def fetch(self, url: str, sha: str) -> str:
        """Fetch a commit; return what went wrong, "" for nothing.

        As `git submodule` does, a URL of the repository may not name a transport that runs a command or reads local
        files.
        """
        git = self.isolated.seeing(GIT_PROTOCOL_FROM_USER="0")
        quiet = ("fetch", "--quiet", "--no-tags")
        answer = git.attempt(*quiet, "--depth=1", "--", url, sha)
        if answer.status != 0 and _NOT_BY_COMMIT.search(answer.stderr):
            answer = git.attempt(*quiet, "--", url, "+refs/*:refs/fetched/*")
            if answer.status == 0 and not self.has(sha):
                return "it has no such commit"
        return "" if answer.status == 0 else answer.reason

    @property
    def isolated(self) -> Git:
        """Give git in the store itself."""
        return self._isolated(self._path)

    @property
    def unhurried(self) -> Git:
        """Give git in the store itself, whatever is left of the budget."""
        return replace(self.isolated, budget=None, patience=PATIENCE)

    def _isolated(self, tree: Path) -> Git:
        self._make()
        if self._settings is None:
            # those of the user's settings that count for the store, as variables
            taken = []
            for key, given, value in self.configured():
                if _TAKEN.match(key):
                    told = value if given else "true"
                    # relative to the git directory
                    taken.append((key, str(self._common / told) if key == "lfs.storage" else told))
            self._settings = {**_ISOLATED, **settings([*taken, *_CONTENT], alone=True), "GIT_DIR": str(self._path)}
        return Git(tree, {**self._settings, "GIT_WORK_TREE": str(tree)}, self.budget)

    def _make(self) -> None:
        if not self.made:
            self._init(self._path, bare=True)
            _borrow(self._path, self._common / "objects")

    def _init(self, directory: Path, *, bare: bool) -> None:
        where = {"GIT_DIR": str(directory)} | ({} if bare else {"GIT_WORK_TREE": str(directory.parent)})
        Git(self.work.path, {**_ISOLATED, **where}).run("init", "--quiet", "--template=", *(["--bare"] if bare else []))


def lacking_file(answer: GitAnswer) -> str | None:
    """Return the file whose content git lfs neither had nor could download for an export; None for none."""
    found = _LACKING.search(answer.stderr)
    return found[1] if found else None


def _borrow(repository: Path, objects: Path) -> None:
    """Have a repository read the objects of another."""
    file = repository / "objects" / "info" / "alternates"
    name = os.fsencode(objects)
    if re.search(rb'^[#"]|\n', name):
        name = b'"' + re.sub(rb'["\\\n]', lambda found: b"\\%03o" % found[0][0], name) + b'"'
    lines = file.read_bytes().splitlines() if file.exists() else []
    if name not in lines:
        file.write_bytes(b"".join(line + b"\n" for line in [*lines, name]))
