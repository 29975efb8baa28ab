"""Layout perturbation: what is set differently for each build and execution of equal source (docs/layout.md)."""

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from harness.build import go_clock, linker
from harness.build.archives import TREE
from harness.build.record import LINKS
from harness.process.execute import MAX_PADDING, PADDING

_which = lru_cache(shutil.which)
_LINKERS = "linkers"
_NODE = "node"
_GOFLAGS = "goflags"
_GOLINKER = "golinker"
_GOCLOCK = "goclock"
_ALIGNED = "-funcalign"
_LINE = 64
"""Bytes to whose multiples functions of Go are moved: a cache line, and what a processor fetches at once."""
# gcc looks for collect-ld before any linker, whatever -fuse-ld and -B say; clang for the name that it wants.
_LINKER_NAMES = ("collect-ld", "ld", "ld.bfd", "ld.gold", "ld.lld", "ld.mold")
_GO_SECONDS = 30
_GO = re.compile(r"\bgo\b")

_LINKER_SHIM = """#!/bin/sh
exec {python} -I -S {script} "$0" "$@"
"""

_NODE_SHIM = """#!/bin/sh
set -f
IFS=:
for directory in $PATH; do
    [ "$directory" = {here} ] && continue
    [ -f "${{directory:-.}}/node" ] && [ -x "${{directory:-.}}/node" ] &&
        exec "${{directory:-.}}/node" --hash-seed="${{PERFGATE_SEED:-0}}" "$@"
done
echo "node: not found" >&2
exit 127
"""


def build_environment(
    perturb: Collection[str], seed: int, environment: Mapping[str, str], shims: Path | None
) -> dict[str, str]:
    """Return the variables that lay out one build: added to an environment that has PERFGATE_SEED.

    perturb: entries of [build] perturb. environment: of the build so far; what it sets is kept, or extended. shims: as
    make_shims wrote them; None: there are none.
    """
    added = _seeds(perturb, seed, environment, shims)
    if "environment" in perturb:
        digest = hashlib.sha256(f"{seed} padding".encode()).digest()
        added[PADDING] = "x" * (int.from_bytes(digest[:8], "big") % MAX_PADDING)
    if "link-order" in perturb and shims is not None and (shims / _LINKERS).is_dir():
        added["COMPILER_PATH"] = _before(_linkers(shims), environment.get("COMPILER_PATH"))
    return added


def execution_environment(
    perturb: Collection[str], seed: int, environment: Mapping[str, str], shims: Path | None
) -> dict[str, str]:
    """Return the variables that lay out one execution: added to an environment that has PERFGATE_SEED.

    The padding of the environment is not among them. Arguments as of build_environment.
    """
    added = _seeds(perturb, seed, environment, shims)
    path = environment.get("PATH", os.defpath)
    if "hash-seed" in perturb and shims is not None and (shims / _NODE).is_dir() and _which("node", path=path):
        added["PATH"] = _before(shims / _NODE, path)
    return added


def without_shims(environment: Mapping[str, str], shims: Path | None) -> dict[str, str]:
    """Return an environment without the directories of the shims, which serve perfgate alone, and of their records."""
    result = {name: value for name, value in environment.items() if name not in (LINKS, TREE)}
    if shims is None:
        return result
    for name, folder in (("COMPILER_PATH", _linkers(shims)), ("PATH", shims / _NODE)):
        first, _, rest = environment.get(name, "").partition(os.pathsep)
        if first == str(folder):
            result[name] = rest
    if result.get("COMPILER_PATH") == "":
        del result["COMPILER_PATH"]
    return result


def uses_go(paths: Iterable[str], commands: Iterable[str | list[str] | None]) -> bool:
    """Return whether go may build some of a project: it has files of go, or a command names it."""
    if any(path.endswith((".go", "go.mod", "go.work")) for path in paths):
        return True
    texts = (command if isinstance(command, str) else " ".join(command or ()) for command in commands)
    return any(_GO.search(text) for text in texts)


def make_shims(
    directory: Path, environment: Mapping[str, str], *, go: bool, aligned: bool = False, clock: bool = False
) -> None:
    """Write the programs that stand before the linkers and node into a new directory, and ask go what it knows.

    environment: of the caller; a PATH of its own in [env] is respected when the shims run. go: whether it may build
    something; its flags say nothing to those who repeat a command of another language. aligned: whether its functions
    start at multiples of a cache line. A common order alone does not give both sides common places: a function that
    grows by 56 bytes moves those after it, and where they begin within a line changes how fast they are. clock: whether
    benchmarks of go shall tell their CPU time.

    Raises: OSError: they cannot be written.
    """
    directory.mkdir()
    if os.pathsep in str(directory):
        return  # no search path can name it
    if sys.platform == "linux":
        _link_to_linkers(directory / _LINKERS, environment)
    node = directory / _NODE
    node.mkdir()
    _write(node / "node", _NODE_SHIM.format(here=shlex.quote(str(node))))
    program = shutil.which("go", path=environment.get("PATH", os.defpath)) if go else None
    if program is None:
        return
    # not the toolchain that a go.mod wants: it would be downloaded
    local = {**environment, "GOTOOLCHAIN": "local"}
    try:
        linking, flags = (
            subprocess.run(
                [program, *words], cwd=directory, env=local, capture_output=True, text=True, timeout=_GO_SECONDS
            )
            for words in (["tool", "link", "-help"], ["env", "GOFLAGS", "GOROOT"])
        )
    except (OSError, subprocess.TimeoutExpired):
        return
    options = linking.stderr + linking.stdout
    if "-randlayout" in options and flags.returncode == 0:  # Go 1.22
        # what go takes as GOFLAGS, from `go env -w` too
        own, goroot = (*flags.stdout.splitlines(), "", "")[:2]
        (directory / _GOFLAGS).write_text(own.strip(), encoding="utf-8")
        if clock and sys.platform == "linux" and not re.search(r"[\s'\"]", str(directory)):
            # a toolchain without its sources is one whose benchmarks have one clock
            with suppress(OSError):
                go_clock.overlay(directory / _GOCLOCK, goroot)
        fixed = f"{_ALIGNED}={_LINE}" if aligned and _ALIGNED in options else ""
        (directory / _GOLINKER).write_text(fixed, encoding="utf-8")


def _link_to_linkers(link: Path, environment: Mapping[str, str]) -> None:
    """Put the linkers' shims where every run has them, and link to them; without such a place they are the run's own.

    ccache takes their path for a part of the compiler: with another one in each run it would find nothing.
    """
    script = _LINKER_SHIM.format(python=shlex.quote(sys.executable), script=shlex.quote(linker.__file__))
    cache = environment.get("XDG_CACHE_HOME") or os.path.join(environment.get("HOME") or "", ".cache")  # noqa: PTH118
    digest = hashlib.sha256(script.encode()).hexdigest()[:16]
    place = Path(cache, "perfgate", f"{_LINKERS}-{digest}")
    if place.is_absolute() and os.pathsep not in str(place):
        with suppress(OSError):
            place.mkdir(parents=True, exist_ok=True)
            for path in (place / name for name in _LINKER_NAMES):
                # other runs use it at the same time
                if not (path.is_file() and path.read_text(encoding="utf-8") == script and os.access(path, os.X_OK)):
                    new = path.with_name(f".{path.name}-{os.getpid()}")
                    _write(new, script)
                    new.replace(path)
            link.symlink_to(place)
            return
    link.mkdir()
    for name in _LINKER_NAMES:
        _write(link / name, script)


def _linkers(shims: Path) -> Path:
    """Give the folder of the linkers' shims by the name that is the same in every run."""
    folder = shims / _LINKERS
    return folder.readlink() if folder.is_symlink() else folder


def _write(path: Path, script: str) -> None:
    path.write_text(script, encoding="utf-8")
    path.chmod(0o755)


def _seeds(perturb: Collection[str], seed: int, environment: Mapping[str, str], shims: Path | None) -> dict[str, str]:
    """Return the variables that builds and executions share: what runs may be built as it runs (go test)."""
    added = {}
    if "hash-seed" in perturb and not environment.get("PYTHONHASHSEED"):
        added["PYTHONHASHSEED"] = str(seed % 2**32)
    if shims is not None and (shims / _GOFLAGS).is_file():
        flags = own = environment.get("GOFLAGS") or (shims / _GOFLAGS).read_text(encoding="utf-8")
        if "-overlay" not in flags and (shims / _GOCLOCK / "overlay.json").is_file():
            flags = f"{flags} -overlay={shims / _GOCLOCK / 'overlay.json'}".lstrip()
        if "go-randlayout" in perturb and "-ldflags" not in flags:
            fixed = (shims / _GOLINKER).read_text(encoding="utf-8")
            more = f"-ldflags=-randlayout={seed or 1}"
            # no quotes without need: scripts may split $GOFLAGS at spaces
            flags = f"{flags} '{more} {fixed}'".lstrip() if fixed else f"{flags} {more}".lstrip()
        if flags != own:
            added["GOFLAGS"] = flags
    return added


def _before(directory: Path, path: str | None) -> str:
    return f"{directory}{os.pathsep}{path}" if path else str(directory)
