"""What a command starts: the shims of version managers, which only start another program, and machine code."""

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gate.walking import beginning

_MOST = 4096
"""Bytes of a script that are looked at; shims are shorter."""
_SECONDS = 5.0
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


def shims(
    environment: Mapping[str, str], directory: Path, commands: Mapping[str, str | Sequence[str]]
) -> dict[Shim, list[str]]:
    """Name the commands whose program is a shim, by shim; none where a project chooses managers or versions.

    directory: version managers choose by the files there.
    """
    own = _own(environment)
    if own is None:
        return {}
    known: dict[tuple[str, ...], Shim | None] = {}
    found: dict[Shim, list[str]] = {}
    for name, command in commands.items():
        try:
            words = shlex.split(command, comments=True) if isinstance(command, str) else list(command)
        except ValueError:
            continue
        while words and (Path(words[0]).name in _LEADING or re.match(r"\w+=", words[0], re.ASCII)):
            words = words[1:]
        program = words[0] if words else ""
        # what belongs to the project is no version manager's
        relative = "/" in program and not Path(program).is_absolute()
        path = shutil.which(program, path=own.get("PATH", os.defpath)) if not relative else None
        if path is None:
            continue
        # the program of nvm-exec is its first argument
        asked = (path, *words[1:2]) if Path(path).name == _NVM else (path,)
        if asked not in known:
            known[asked] = _shim(asked, own, directory)
        if (shim := known[asked]) is not None:
            found.setdefault(shim, []).append(name)
    return found


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
    found: set[tuple[str, str]] = set()
    for name in sorted({word for text in commands for word in re.findall(r"[\w.+-]+", text)}):
        path = shutil.which(name, path=os.pathsep.join(filter(os.path.isabs, folders)))
        if path is None or str(Path(path).parent) not in folders:
            continue
        shim = _shim((path,), own, Path("/"), managers="env")
        if shim is not None and shim.program:
            found.add((str(Path(path).parent), str(Path(shim.program).parent)))
    # programs of two versions: the folder of one would bring its own of the other's name
    if len(found) != 1:
        return environment
    ((before, programs),) = found
    folders.insert(folders.index(before), programs)
    return {**environment, "PATH": os.pathsep.join(folders)}


def _own(environment: Mapping[str, str]) -> Mapping[str, str] | None:
    """Return what whoever starts perfgate has of an environment; None: its project chooses managers or versions.

    Managers run outside of the sandbox: by nothing that a project sets.
    """
    own = {name: value for name, value in environment.items() if os.environ.get(name) == value}
    chosen = any(name == "PATH" or re.match("[A-Z]+ENV_", name) for name in environment if name not in own)
    return None if chosen else own


def _shim(asked: tuple[str, ...], environment: Mapping[str, str], directory: Path, managers: str = "") -> Shim | None:
    """Return a shim, and what its manager says is behind it; None: it is none.

    asked: its path, of nvm-exec with the program that it is to start. managers: others, by the end of their names, are
    not asked.
    """
    path = Path(asked[0])
    try:
        real = path.resolve()
    except OSError:
        return None
    text = beginning(real, _MOST).decode("utf-8", "replace")
    script = _SCRIPT.search(text) if text.startswith("#!") else None
    if path.name == _NVM and "nvm.sh" in text:
        manager = "nvm"
        ask: tuple[str, ...] = (str(path), "sh", "-c", 'command -v "$0"', *asked[1:])
    elif (real.name in _LINKED and path.name != real.name) or script is not None:
        manager = script["manager"] if script is not None else _LINKED[real.name]
        # its path may begin with a variable, such as ${ASDF_DIR}
        there = Path(manager).is_absolute() and Path(manager).exists()
        named = shutil.which(Path(manager).name, path=environment.get("PATH", os.defpath)) or Path(manager).name
        ask = (manager if there else named, "which", path.name)
    else:
        return None
    if not manager.endswith(managers):
        return None
    program = ""
    if path.name != _NVM or asked[1:]:
        try:
            done = subprocess.run(
                ask, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=False,
                env=dict(environment), cwd=directory,
            )  # fmt: skip
            said = done.stdout.decode("utf-8", "replace").strip()
            program = said if done.returncode == 0 and Path(said).is_absolute() and Path(said).is_file() else ""
        except (OSError, subprocess.SubprocessError):
            program = ""
    return Shim(Path(manager).name, str(path), program)
