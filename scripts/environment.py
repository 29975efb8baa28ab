"""Makes the environment that the action runs perfgate in, once for each version, and finds it again in an instant.

    python3 -I -S scripts/environment.py

It reads INPUT_PERFGATE_PATH and the runner's variables, and writes `python=<path>` to GITHUB_OUTPUT.
Whatever goes wrong is one line and exit code 4. The standard library only: this runs before anything is installed.

Where uv is not on PATH, pip brings it: the one of requirements-dev.lock, by its hash. It installs in a second what pip
takes eight for. pip does it all where uv cannot be had, and where the machine's pip.conf names a mirror. The packages
that a study alone loads, half of the files, are left out. Of byte code only that is made which a check needs: the rest
follows when it is first used.

An environment is made beside its place under another name, and renamed: killed at any moment it is there whole or not
at all. perfgate runs it as `bin/python -I -m gate`, which works wherever it stands.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ACTION = Path(__file__).resolve().parent.parent
# What perfgate is made of; that a wheel holds the templates elsewhere is in pyproject.toml.
PACKAGES = {"gate": "gate", "harness": "harness", "templates": "gate/templates", "perfgate.py": "perfgate.py"}
LOCK = "requirements.lock"
LOCK_OF_UV = "requirements-dev.lock"
UNUSED_SECONDS = 30 * 24 * 3600
EXIT_ERROR = 4
# an environment, or one that is not finished
NAME = re.compile(r"(?P<name>\d[\w.+]*-[0-9a-f]{16})|\.(?P<unfinished>\d[\w.+]*-[0-9a-f]{16})\.\w{8}")
# The caller's Python, environment and installers are the benchmarks' business. What the machine's owner says counts:
# pip.conf of the system, uv.toml of the system and the user (mirrors), and variables for proxies and certificates.
HOSTILE = re.compile(r"(PYTHON|UV_|PIP_|VIRTUAL_ENV|CONDA_|__PYVENV_LAUNCHER__)")
# What a pip.conf says of where packages come from, which uv does not read.
MIRROR = re.compile(
    r"^\s*((extra-)?index-url|find-links|no-index|trusted-host|proxy|(client-)?cert)\s*[=:]", re.MULTILINE
)
# Packages that only a study loads, with what they alone need.
OF_A_STUDY = frozenset({
    "formulaic", "interface-meta", "narwhals", "packaging", "pandas", "patsy", "python-dateutil",
    "statsmodels", "typing-extensions", "tzdata", "wrapt",
})  # fmt: skip
# Packages without a wheel for musl, which a lock cannot tell from glibc; perfgate does without them.
OF_GLIBC = frozenset({"astral-dev-toolchain-hyperfine"})
# A requirement of a lock, with the hashes below it.
LOCKED = re.compile(r"^(?P<name>[\w.-]+) ?[=@].*\n(?:[ \t]+.*\n)*", re.MULTILINE)
# Parts of libraries that a check does not load, or hardly any of, and what is compiled while they are downloaded.
SELDOM = re.compile(
    r"(gate|harness|pandas|scipy|statsmodels|patsy|formulaic|interface_meta|narwhals|dateutil|tzdata|wrapt|packaging|"
    r"numpy/(f2py|typing|distutils|testing|polynomial|_pyinstaller)|.*\.dist-info|.*\.libs)(/|$)"
)


class InstallError(Exception):
    """What is wrong and what to do, in one line."""


def main() -> int:
    """Find or make the environment and say where its Python is."""
    try:
        given = os.environ.get("INPUT_PERFGATE_PATH", "")
        _hand_back(installed(Path(given)) if given else environment())
    except InstallError as error:
        return _fail(str(error))
    except OSError as error:
        return _fail(f"perfgate's environment cannot be made: {error}")
    except KeyboardInterrupt:
        return 130
    return 0


def _fail(message: str) -> int:
    _print("::error title=perfgate::" + _escaped(message))
    return EXIT_ERROR


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _hand_back(python: Path) -> None:
    if re.search(r"[\r\n]", str(python)):
        raise InstallError(
            f"the path {str(python)!r} has a line break: name another tool directory by RUNNER_TOOL_CACHE"
        )
    output = os.environ.get("GITHUB_OUTPUT")
    if output:
        with Path(output).open("a", encoding="utf-8") as file:
            file.write(f"python={python}\n")


def version() -> str:
    """Return the version of the action's own perfgate."""
    found = re.search(
        r'^__version__ = "(.+)"$', (ACTION / "gate/__init__.py").read_text(encoding="utf-8"), re.MULTILINE
    )
    if found is None:
        raise InstallError(f"{ACTION / 'gate/__init__.py'} has no version: the action is not complete")
    return found[1]


def installed(path: Path) -> Path:
    """Return the Python of a perfgate that is installed already; path is its environment or its bin/perfgate."""
    # where the command is a link (pipx, uv tool), the environment is where it leads; its Python must not be followed
    folder = path.absolute() / "bin" if path.is_dir() else path.resolve().parent
    python = folder / "python"
    if not python.exists():
        raise InstallError(f"perfgate-path: there is no {python}: name the environment's folder, or its bin/perfgate")
    found = _perfgate_of(python)
    if found != version():
        _print(
            "::warning title=perfgate::"
            + _escaped(f"perfgate-path has perfgate {found}, and the action is {version()}: install the same version")
        )
    return python


def _perfgate_of(python: Path) -> str:
    done = _run([python, "-I", "-m", "gate", "--version"], python.parent)
    words = done.stdout.split()
    if done.returncode or len(words) != 2:
        raise InstallError(f"{python} -I -m gate --version does not run: {_reason(done)}")
    return words[1]


def environment() -> Path:
    """Return the Python of this version's environment, made now or before.

    Raises:
        InstallError: it cannot be made.
    """
    began = time.monotonic()
    name = f"{version()}-{_key()}"
    folder = _folder(name)
    place = folder / name
    with _locked(folder, name):
        how = "used again"
        if not place.is_dir():
            by = _make(place)
            how = f"made by {by}"
        # when it was used last; a tool directory that somebody else filled is not cleaned by us either
        with contextlib.suppress(OSError):
            os.utime(place)
    _print(f"perfgate {version()}: {place} {how} ({time.monotonic() - began:.1f} s)")
    _clean(folder, name)
    return place / "bin/python"


def _key() -> str:
    """Hash everything that the environment follows from."""
    about = (sys.version, sys.abiflags, _base(), os.uname().machine, sys.platform)
    found = hashlib.sha256(repr(about).encode())
    for name in (LOCK, "pyproject.toml", "scripts/environment.py", *PACKAGES):
        for file in _files(ACTION / name):
            found.update(f"\0{file.relative_to(ACTION)}\0".encode())
            found.update(file.read_bytes())
    return found.hexdigest()[:16]


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    found = [Path(at) / file for at, _, files in os.walk(path) if not at.endswith("__pycache__") for file in files]
    if not found:
        raise InstallError(f"{path} is missing: the action is not complete")
    return sorted(found)


def _base() -> str:
    # in a virtual environment, which may be the project's and gone tomorrow, the Python behind it
    return os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)


def _folder(name: str) -> Path:
    """Return the folder of environments: the first that has this one already or can be written."""
    told = [os.environ.get(variable) for variable in ("RUNNER_TOOL_CACHE", "AGENT_TOOLSDIRECTORY", "XDG_CACHE_HOME")]
    with contextlib.suppress(RuntimeError):  # no home
        told.append(str(Path("~/.cache").expanduser()))
    candidates = [Path(path) / "perfgate" for path in told if path and Path(path).is_absolute()]
    for folder in candidates:
        if (folder / name).is_dir():
            return folder
        with contextlib.suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            if os.access(folder, os.W_OK | os.X_OK):
                return folder
    looked = ", ".join(map(str, candidates)) or "RUNNER_TOOL_CACHE, XDG_CACHE_HOME and HOME are not set"
    raise InstallError(f"no folder for perfgate's environment can be written ({looked}): set RUNNER_TOOL_CACHE to one")


@contextlib.contextmanager
def _locked(folder: Path, name: str, *, wait: bool = True) -> Iterator[bool]:
    """Hold the lock of one environment; yields False when another has it and wait is not asked for."""
    try:
        lock = (folder / f"{name}.lock").open("w", encoding="utf-8")
    except OSError:
        if not (folder / name).is_dir():
            raise
        # made by somebody else, in a folder that only they write
        yield True
        return
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if not wait:
                yield False
                return
            _print(f"perfgate: another job makes {folder / name}; waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield True


def _make(place: Path) -> str:
    """Make the environment; returns by which tool."""
    # A name of its own, since what a killed install had started may still write there.
    unfinished = Path(tempfile.mkdtemp(prefix=f".{place.name}.", dir=place.parent))
    _print(f"perfgate {version()}: making its environment with {_base()} (once for each version)")
    try:
        unfinished.chmod(0o755)  # jobs of other users may use it too
        uv = _has_uv(unfinished)
        _bare(unfinished, uv=uv)
        with ThreadPoolExecutor(1) as beside:
            # while packages are downloaded
            own = beside.submit(_copy_perfgate, unfinished)
            by = _with_uv(unfinished, "uv") if uv else _with_pip(unfinished)
        own.result()
        _trim_and_compile(unfinished)
        _perfgate_of(unfinished / "bin/python")
        # a machine that loses its power must not find a half under the final name
        os.sync()
        _rename(unfinished, place)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return by


def _rename(unfinished: Path, place: Path) -> None:
    try:
        unfinished.rename(place)
    except OSError:
        # another made it meanwhile, which only a lock that was removed lets happen
        if not place.is_dir():
            raise


def _has_uv(folder: Path) -> bool:
    return shutil.which("uv") is not None and _run(["uv", "--version"], folder).returncode == 0


def _bare(target: Path, *, uv: bool) -> None:
    """Make an environment without packages."""
    if uv:
        _must("uv", _run(["uv", "--quiet", "venv", "--python", _base(), target], target.parent))
        return
    done = _run([_base(), "-I", "-c", "import venv, ensurepip"], target)
    if done.returncode:
        package = f"python3.{sys.version_info.minor}-venv"
        raise InstallError(
            f"{_base()} cannot make environments: install its venv (Debian: apt-get install {package}) or uv"
        )
    without = ["--without-pip"] if _pip_wheel() else []
    _must("venv", _run([_base(), "-I", "-m", "venv", *without, target], target))


def _with_uv(target: Path, uv: str | Path) -> str:
    python = target / "bin/python"
    install = [uv, "--quiet", "pip", "install", "--python", python, *_requirements(target)]
    done = _run(install, target)
    if done.returncode and "certificate" in done.stderr:
        # uv trusts those that it brings, pip those of the machine: only that knows a company's proxy
        done = _run(install, target, UV_SYSTEM_CERTS="1", UV_NATIVE_TLS="1")
    _must("uv", done)
    return "uv"


def _with_pip(target: Path) -> str:
    """Install with the uv that pip brings, otherwise with pip itself."""
    wheel = _pip_wheel()
    # to start the wheel spares unpacking it
    pip = [target / "bin/python", "-I", *([wheel / "pip"] if wheel else ["-m", "pip"]), "--isolated", "--quiet"]
    install = [*pip, "install", "--no-input", "--disable-pip-version-check", "--no-compile"]
    with tempfile.TemporaryDirectory(prefix=".uv.", dir=target) as folder:
        uv = None if _has_mirror() else _bring_uv(install, Path(folder))
        if uv is not None:
            # what uv cannot do, pip may, and says why not
            with contextlib.suppress(InstallError, OSError):
                return f"{_with_uv(target, uv)} that pip brought"
    _must("pip", _run([*install, *_requirements(target)], target))
    return "pip"


def _pip_wheel() -> Path | None:
    """Find the pip that comes with Python; Debian keeps it elsewhere."""
    folders = [sysconfig.get_config_var("WHEEL_PKG_DIR"), f"{sysconfig.get_path('stdlib')}/ensurepip/_bundled"]
    found = [each for folder in folders if folder for each in sorted(Path(folder).glob("pip-*.whl"))]
    return found[-1] if found else next(iter(Path("/usr/share/python-wheels").glob("pip-*.whl")), None)


def _bring_uv(install: Sequence[str | Path], folder: Path) -> Path | None:
    """Install the locked uv into a folder; None: it cannot be had, such as from a mirror that lacks it."""
    with contextlib.suppress(OSError):
        text = (ACTION / LOCK_OF_UV).read_text(encoding="utf-8")
        uv = [each[0] for each in LOCKED.finditer(text) if each["name"] == "uv"]
        if uv:
            only = ["--no-deps", "--retries", "1", *_locked_to(folder / "uv.txt", uv)]
            done = _run([*install, "--target", folder, *only], folder)
            return folder / "bin/uv" if done.returncode == 0 and (folder / "bin/uv").is_file() else None
    return None


def _has_mirror() -> bool:
    """Return whether the machine's files of pip say where packages come from; an isolated pip reads no others."""
    shared = os.environ.get("XDG_CONFIG_DIRS") or "/etc/xdg"
    folders = [*shared.split(":"), "/Library/Application Support"]
    for file in (*(Path(folder) / "pip/pip.conf" for folder in folders), Path("/etc/pip.conf")):
        with contextlib.suppress(OSError):
            if MIRROR.search(file.read_text(encoding="utf-8", errors="replace")):
                return True
    return False


def _requirements(target: Path) -> list[str | Path]:
    text = (ACTION / LOCK).read_text(encoding="utf-8")
    musl = sys.platform == "linux" and platform.libc_ver()[0] != "glibc"
    left_out = OF_A_STUDY | (OF_GLIBC if musl else frozenset())
    wanted = [each[0] for each in LOCKED.finditer(text) if each["name"] not in left_out]
    return _locked_to(target / LOCK, wanted)


def _locked_to(file: Path, requirements: Sequence[str]) -> list[str | Path]:
    file.write_text("".join(requirements), encoding="utf-8")
    # a build from source would run for an hour, and fail for want of a compiler
    return ["--only-binary", ":all:", "--require-hashes", "--requirement", file]


def _copy_perfgate(target: Path) -> None:
    for name, where in PACKAGES.items():
        for file in _files(ACTION / name):
            to = _packages(target) / where / file.relative_to(ACTION / name)
            to.parent.mkdir(parents=True, exist_ok=True)
            # the contents only: the action's files may be read-only
            shutil.copyfile(file, to)
    _compile(target, [path for name in ("gate", "harness") for path in _files(_packages(target) / name)])


def _trim_and_compile(target: Path) -> None:
    """Remove the tests that libraries install with themselves, a quarter of the environment, and compile.

    What a check seldom loads is compiled when it first does.
    """
    packages = _packages(target)
    often: list[Path] = []
    for at, folders, files in os.walk(packages):
        for tests in [name for name in folders if name == "tests"]:
            folders.remove(tests)
            shutil.rmtree(Path(at, tests), ignore_errors=True)
        inner = Path(at).relative_to(packages).as_posix()
        often += [Path(at, name) for name in files if not SELDOM.match(f"{inner}/")]
    _compile(target, often)


def _compile(target: Path, files: Sequence[Path]) -> None:
    names = [f"{path}\n" for path in files if path.suffix == ".py"]
    # what a library brings that does not compile is nothing that perfgate loads
    command = [_base(), "-I", "-m", "compileall", "-qq", "-j", "0", "-i", "-"]
    _run(command, target, given="".join(names))


def _packages(target: Path) -> Path:
    return target / f"lib/python3.{sys.version_info.minor}/site-packages"


def _must(tool: str, done: subprocess.CompletedProcess[str]) -> None:
    if done.returncode:
        raise InstallError(f"perfgate's environment cannot be made, {tool} says: {_reason(done)}")


def _run(
    command: Sequence[str | Path], folder: Path, *, given: str = "", **more: str
) -> subprocess.CompletedProcess[str]:
    """Run without the caller's Python settings and in a folder without a project, whose uv.toml would count."""
    kept = {name: value for name, value in os.environ.items() if not HOSTILE.match(name)}
    return subprocess.run(
        command,
        cwd=folder,
        env={**kept, **more},
        input=given,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )


def _reason(done: subprocess.CompletedProcess[str]) -> str:
    """Put what an installer says is wrong into one line, without passwords in addresses."""
    lines = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
    errors = [line for line in lines if re.match(r"(error|ERROR)\b", line)]
    # uv explains below its first line, pip in lines of errors
    told = " ".join(errors if len(errors) > 1 else lines) if errors else " ".join(lines[-3:])
    told = re.sub(r"//[^/\s@]+@", "//***@", told) or f"exit code {done.returncode}"
    return told if len(told) <= 1000 else told[:1000] + "..."


def _clean(folder: Path, ours: str) -> None:
    """Remove environments that nothing used for 30 days, and what killed installs left."""
    for path in list(folder.iterdir()):
        found = NAME.fullmatch(path.name)
        if found and path.name != ours:
            # what somebody else owns stays
            with contextlib.suppress(OSError):
                _remove(path, found["name"] or found["unfinished"], unfinished=found["unfinished"] is not None)


def _remove(path: Path, name: str, *, unfinished: bool) -> None:
    if not unfinished and time.time() - path.stat().st_mtime < UNUSED_SECONDS:
        return
    # under its lock, so that nobody makes it or takes it up at the same time
    with _locked(path.parent, name, wait=False) as held:
        if not held:
            return
        if not unfinished and time.time() - path.stat().st_mtime > UNUSED_SECONDS:
            # first out of the way, so that half of it is never found
            path = path.rename(tempfile.mkdtemp(prefix=f".{name}.", dir=path.parent))
            path.with_name(f"{name}.lock").unlink()
            unfinished = True
        if unfinished:
            shutil.rmtree(path, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
