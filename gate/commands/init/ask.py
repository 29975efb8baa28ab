"""Asks a project's own tools what it holds: in a private copy of it, inside the sandbox, half a minute each."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from threading import Timer
from typing import Any

from gate.commands.init.tree import Tree
from gate.removal import remove_tree
from gate.run.refusal import RefusedError, refuse_unsafe
from gate.writing.plain import clip
from harness.build.cache import directory_of
from harness.process.execute import Command, ProcessExecutor, clean_environment
from harness.sandbox.home import named
from harness.sandbox.sandbox import Ground, Landlocked, Sandbox, examined
from harness.source.git import checkout_of

SECONDS = 30.0
"""For each question, where the host is free; up to three times as much where others use it."""
PATIENCE = 3.0
"""Seconds without a word."""
_SHOWN = 60
_LARGEST = 2_000_000_000
_TOLD = 240


def has(tool: str) -> bool:
    """Return whether a tool is installed, or the project's own."""
    return tool.startswith((".", "/")) or shutil.which(tool) is not None


class Asked:
    """The tools of a project. notes: what could not be asked, in words."""

    def __init__(
        self, tree: Tree, work: Path, sandbox: Sandbox, processes: ProcessExecutor, tell: Callable[[str], object]
    ) -> None:
        """Copy nothing before something is asked; tell: says in a line what takes long."""
        self._tree = tree
        self._work = work
        self._sandbox = sandbox
        self._processes = processes
        self._tell = tell
        self.copy = work / "project"
        self.notes: list[str] = []
        self.failed = ""
        self.late = False
        """Whether the last tool took too long."""
        self.output = ""
        """What the last tool that gave no answer said."""

    def run(self, *words: str, folder: str = "", environment: dict[str, str] | None = None) -> str | None:
        """Return what a tool prints; None where it is absent, fails or takes too long, which `failed` tells.

        Args:
            words: its name and arguments.
            folder: of the project, to run it in.
            environment: variables beside its own.
        """
        if not has(words[0]):
            self.failed = f"{words[0]} is not installed"
            self._note(f"{self.failed}: its files were read without it")
            return None
        try:
            refuse_unsafe()
        except RefusedError as error:
            self.failed = str(error)
            return None
        if not self.copy.exists():
            self._copy()
        given = {**clean_environment(os.environ, (), environment), **self._sandbox.environment("head")}
        output = self._work / "outputs" / "head" / "answer"
        output.parent.mkdir(parents=True, exist_ok=True)
        confined = self._sandbox.confined("head", self.copy, building=True)
        busy = os.getloadavg()[0] / (os.cpu_count() or 1) if hasattr(os, "getloadavg") else 1.0
        limit = SECONDS * min(max(busy, 1.0), 3.0)
        late = Timer(PATIENCE, self._tell, [f"asking {clip(shlex.join(words), _SHOWN)}, {limit:.0f} s at most"])
        late.daemon = True
        late.start()
        try:
            outcome = self._processes.run(
                Command(words, self.copy / folder, given, limit, stdout=output, confined=confined)
            )
        finally:
            late.cancel()
        self.late = outcome.timed_out
        answer = output.read_text(encoding="utf-8", errors="replace") if output.is_file() else ""
        output.unlink(missing_ok=True)
        if not outcome.status:
            return answer
        plain = re.sub(r"\x1b\[[\d;]*m", "", outcome.stderr or answer)
        lines = [line.strip() for line in plain.splitlines() if line.strip()]
        # a JVM first says what it was given, and last where it was
        lines = [line for line in lines if not line.startswith(("Picked up ", "openjdk ", "OpenJDK ", "at "))]
        told = f"longer than {limit:.0f} s" if outcome.timed_out else " ".join(lines[:3]) or outcome.status
        self.failed = f"{words[0]}: {told}"[:_TOLD]
        self.output = f"{answer}\n{outcome.stderr}"
        return None

    def ends(self, build: str, path: str) -> bool:
        """Return whether a program ends by itself, and not with its usage; what takes too long here a trial tells."""
        made = self.run("sh", "-c", build)
        said = None if made is None else self.run("sh", "-c", f"exec ./{shlex.quote(path)} 2>&1")
        return self.late if said is None else "usage" not in said.lower()

    def json(self, *words: str, folder: str = "") -> Any:
        """Return the JSON that a tool prints; None as for `run`, with a note."""
        answer = self.run(*words, folder=folder)
        try:
            return None if answer is None else json.loads(answer)
        except (ValueError, RecursionError):
            return None

    def refused(self, what: str) -> None:
        """Note that files are read simply, as their tool gave no answer."""
        if "not installed" not in self.failed:
            self._note(f"{what} was read without its tool ({self.failed})")

    def write(self, path: str, text: str) -> None:
        """Put a file into the copy."""
        if not self.copy.exists():
            self._copy()
        place = self.copy / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
        self._sandbox.own(self.copy / path.split("/", 1)[0])

    def read(self, pattern: str) -> list[str]:
        """Return the texts of files of the copy, as a glob names them."""
        found = sorted(self.copy.glob(pattern))
        # a link that a tool of the project left there is not followed
        plain = [each for each in found if each.is_file() and not each.is_symlink()]
        return [each.read_text(encoding="utf-8", errors="replace") for each in plain]

    def inside(self, path: str) -> str | None:
        """Return a path that a tool gave, below the project; None: it lies elsewhere."""
        place = Path(os.path.normpath(self.copy / path))
        return place.relative_to(self.copy).as_posix() if place.is_relative_to(self.copy) else None

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def _copy(self) -> None:
        self.copy.mkdir()
        left = _LARGEST
        for path in self._tree.files:
            source, target = self._tree.directory / path, self.copy / path
            target.parent.mkdir(parents=True, exist_ok=True)
            with suppress(OSError):
                found = source.lstat()
                if stat.S_ISDIR(found.st_mode):
                    shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)  # a submodule
                elif stat.S_ISLNK(found.st_mode):
                    target.symlink_to(source.readlink())
                elif stat.S_ISREG(found.st_mode) and found.st_size <= left:
                    left -= found.st_size
                    shutil.copy2(source, target)
        # what is shared with builds is there as well, to be read
        for path in (*self._tree.needed, *filter(None, [self._tree.environment])):
            with suppress(OSError):
                (self.copy / path.rstrip("/")).symlink_to(self._tree.directory.absolute() / path.rstrip("/"))
        self._sandbox.own(self.copy)


@contextmanager
def asked(tree: Tree, tell: Callable[[str], object] = str) -> Iterator[Asked]:
    """Give what asks a project's tools; in the end nothing of it is left. tell: says in a line what takes long."""
    work = Path(tempfile.mkdtemp(prefix="perfgate-init-")).resolve()
    try:
        with closing(ProcessExecutor(work / "running", (work,))) as processes, ExitStack() as stack:
            sandbox: Sandbox = Sandbox()
            if examined("auto").on:
                sandbox = stack.enter_context(closing(Landlocked(_ground(tree, work))))
            yield Asked(tree, work, sandbox, processes, tell)
    finally:
        remove_tree(work)


def _ground(tree: Tree, work: Path) -> Ground:
    environment = clean_environment(os.environ)
    builds = directory_of(os.environ)
    return Ground(
        work=work,
        outputs=work / "outputs",
        project=tree.directory.absolute(),
        write={"base": None, "head": None},
        environments={"base": environment, "head": environment},
        links={"base": work / "links" / "base", "head": work / "links" / "head"},
        copied=False,
        one_path=False,
        names=named(tree.files, ()),
        git=checkout_of(tree.directory).common if tree.git else (tree.directory / ".git").resolve(),
        kept=None if builds is None else builds.parent / "caches",
    )
