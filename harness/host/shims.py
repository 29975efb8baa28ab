"""What a command starts: the shims of version managers, which only start another program, and machine code."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gate.walking import beginning

_MOST = 4096
"""Bytes of a script that are looked at; shims are shorter."""
_SECONDS = 5.0
_STARTS = 3
# pyenv and its like (rbenv, nodenv, ...), and asdf
_SCRIPT = re.compile(r'^exec\s+"?(?P<manager>[^"\s]*\b(?:\w+env|asdf|mise))"?\s+exec\s', re.MULTILINE)
# Programs that tell by the name that they are called by: the name of their file, and of the manager.
_LINKED = {"volta-shim": "volta", "mise": "mise", "rustup": "rustup"}
_NVM = "nvm-exec"
_CHOOSES = re.compile(r"\.(?:\w+-version|tool-versions)")
"""Files by which managers choose a version."""
# in front of a program's name
_LEADING = ("exec", "env", "command", "time", "nice")


@dataclass(frozen=True, slots=True)
class Shim:
    """A program that starts another one."""

    manager: str
    """The version manager that it belongs to."""
    path: str
    program: str
    """The path of the program behind it; "" where the manager does not tell."""
    seconds: float | None
    """What it takes longer to start than that program; None: not known."""


class Shims:
    """The shims among commands executed in one environment and directory; none where a project chooses them."""

    def __init__(self, environment: Mapping[str, str], directory: Path) -> None:
        """Begin; directory: version managers choose by the files there."""
        own = _own(environment)
        self._chosen = own is None
        self._run = _Runner(own or {}, directory)
        self._known: dict[tuple[str, ...], Shim | None] = {}

    def find(self, command: str | Sequence[str]) -> Shim | None:
        """Look whether the program of a command is a shim; and start it and what is behind it a few times, once."""
        words = _words(command)
        path = _found(words[0], self._run.environment) if words and not self._chosen else None
        if path is None:
            return None
        # the program of nvm-exec is its first argument
        shim = (path, *words[1:2]) if Path(path).name == _NVM else (path,)
        if shim not in self._known:
            self._known[shim] = self._looked_at(shim)
        return self._known[shim]

    def _looked_at(self, shim: tuple[str, ...]) -> Shim | None:
        path = shim[0]
        manager = _manager(path)
        if manager is None:
            return None
        if Path(path).name == _NVM:
            ask = (path, "sh", "-c", 'command -v "$0"', *shim[1:])
            program = self._run.said(ask) if shim[1:] else ""
        else:
            program = self._run.said((_called(manager, self._run.environment), "which", Path(path).name))
        return Shim(Path(manager).name, path, program, self._run.longer(shim, (program,)) if program else None)


def behind(environment: Mapping[str, str], commands: Iterable[str], paths: Iterable[str]) -> Mapping[str, str]:
    """Return an environment in which what shims start comes before them, so that no start holds a manager's own time.

    Where a file of the project may choose another version, shims stay: sides may have different ones.

    Args:
        environment: that commands are executed in.
        commands: all of them, as texts.
        paths: the files of both sides.
    """
    own = _own(environment)
    if own is None or any(_CHOOSES.fullmatch(Path(path).name) for path in paths):
        return environment
    folders = environment.get("PATH", os.defpath).split(os.pathsep)
    run, found = _Runner(own, Path("/")), set[tuple[str, str]]()
    for name in sorted({word for text in commands for word in re.findall(r"[\w.+-]+", text)}):
        path = shutil.which(name, path=os.pathsep.join(filter(os.path.isabs, folders)))
        manager = _manager(path) if path is not None else None
        if path is None or manager is None or not manager.endswith("env") or str(Path(path).parent) not in folders:
            continue
        program = run.said((_called(manager, own), "which", name))
        if program:
            found.add((str(Path(path).parent), str(Path(program).parent)))
    # programs of two versions: the folder of one would bring its own of the other's name
    if len(found) != 1:
        return environment
    ((shims, programs),) = found
    folders.insert(folders.index(shims), programs)
    return {**environment, "PATH": os.pathsep.join(folders)}


def _own(environment: Mapping[str, str]) -> Mapping[str, str] | None:
    """Return what whoever starts perfgate has of an environment; None: its project chooses managers or versions.

    Managers run outside of the sandbox: by nothing that a project sets.
    """
    own = {name: value for name, value in environment.items() if os.environ.get(name) == value}
    chosen = any(name == "PATH" or re.match("[A-Z]+ENV_", name) for name in environment if name not in own)
    return None if chosen else own


def _words(command: str | Sequence[str]) -> list[str]:
    try:
        words = shlex.split(command, comments=True) if isinstance(command, str) else list(command)
    except ValueError:
        return []
    while words and (Path(words[0]).name in _LEADING or re.match(r"\w+=", words[0], re.ASCII)):
        words = words[1:]
    return words


def _found(name: str, environment: Mapping[str, str]) -> str | None:
    if "/" in name:
        # what belongs to the project is no version manager's
        return name if Path(name).is_absolute() else None
    return shutil.which(name, path=environment.get("PATH", os.defpath))


def _manager(path: str) -> str | None:
    """Return the manager of a shim, by its name or its path; None: it is no shim."""
    try:
        real = Path(path).resolve()
    except OSError:
        return None
    text = beginning(real, _MOST).decode("utf-8", "replace")
    name = Path(path).name
    if name == _NVM and "nvm.sh" in text:
        return "nvm"
    if real.name in _LINKED and name != real.name:
        return _LINKED[real.name]
    script = _SCRIPT.search(text) if text.startswith("#!") else None
    return script["manager"] if script else None


def _called(manager: str, environment: Mapping[str, str]) -> str:
    """Return what to start for a manager: its path may begin with a variable, such as ${ASDF_DIR}."""
    if Path(manager).is_absolute() and Path(manager).exists():
        return manager
    name = Path(manager).name
    return shutil.which(name, path=environment.get("PATH", os.defpath)) or name


@dataclass(frozen=True, slots=True)
class _Runner:
    environment: Mapping[str, str]
    directory: Path

    def said(self, argv: Sequence[str]) -> str:
        """Return the path that a manager prints; "" where it prints none."""
        try:
            done = self._start(argv)
        except (OSError, subprocess.SubprocessError):
            return ""
        path = done.stdout.decode("utf-8", "replace").strip()
        return path if done.returncode == 0 and Path(path).is_absolute() and Path(path).is_file() else ""

    def longer(self, shim: Sequence[str], program: Sequence[str]) -> float | None:
        """Return how many seconds longer the fastest of a few starts of a shim takes."""
        try:
            through, direct = (min(self._timed(argv) for _ in range(_STARTS)) for argv in (shim, program))
        except (OSError, subprocess.SubprocessError):
            return None
        return max(0.0, through - direct)

    def _timed(self, argv: Sequence[str]) -> float:
        begin = time.perf_counter()
        self._start((*argv, "--version"))
        return time.perf_counter() - begin

    def _start(self, argv: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
            env=dict(self.environment),
            cwd=self.directory,
        )
