"""Installs a package as users do, in an empty environment, and gates the example's regression with it.

    python3 -I scripts/release/smoke.py --python 3.13 --with pip dist/perfgate-1.0.0-py3-none-any.whl

The standard library only, and nothing else of this repository but the example: what is tested is the package. Versions
of dependencies are those that the installer finds today, as for users; `--constraints requirements.lock` takes the
locked ones. HOME is an empty folder for all of it. `--path DIRECTORY` is PATH for all of it, but for the installer.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
EXAMPLE, BENCHMARK = "textstats", "count-in-memory"
PLAN = ("--set=plan.builds=6", "--set=plan.executions=3", "--set=plan.iterations=5")
"""Enough for a slowdown by a half, on any machine."""

INSTALLERS = ("pip", "uv", "uvx", "pipx")


class SmokeError(Exception):
    """What does not work."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line, install and gate."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("package", type=Path, help="the wheel or the sdist; of a folder its wheel")
    parser.add_argument("--python", default=sys.executable, help="a version such as 3.13, or the path of a Python")
    parser.add_argument("--with", dest="installer", choices=INSTALLERS, default="pip", help="default: pip")
    parser.add_argument("--constraints", type=Path, help="versions of dependencies, for uv only")
    parser.add_argument("--path", type=Path, help="the only folder of programs while it is installed and used")
    options = parser.parse_args(arguments)
    try:
        python = find(options.python)
        tool = [] if options.installer == "pip" else [_tool(options.installer.replace("uvx", "uv"))]
        with tempfile.TemporaryDirectory(prefix="perfgate-smoke-") as folder:
            box = Path(folder).resolve()
            (box / "home").mkdir()
            os.environ["HOME"] = str(box / "home")
            if options.path:
                os.environ["PATH"] = str(options.path.resolve())
            chosen = ["--constraints", options.constraints.resolve()] if options.constraints else []
            command = install(options.installer, [*tool], python, [*chosen, _package(options.package)], box)
            version = gate(command, box)
    except (SmokeError, OSError) as error:
        sys.stderr.write(f"smoke: {error}\n")
        return 1
    sys.stdout.write(f"{version}, installed by {options.installer} with {python}: finds the regression\n")
    return 0


def _package(path: Path) -> Path:
    if not path.is_dir():
        return path.resolve()
    found = sorted(path.glob("*.whl"))
    if len(found) != 1:
        raise SmokeError(f"{path} has {len(found)} wheels: name the package")
    return found[0].resolve()


def find(wanted: str) -> Path:
    """Find a Python by its version: the runner's tool cache first, then PATH.

    Raises:
        SmokeError: there is none.
    """
    for candidate in _candidates(wanted):
        code = "import sys; print(sys.implementation.name + ' %d.%d' % sys.version_info[:2])"
        try:
            done = subprocess.run([candidate, "-I", "-c", code], capture_output=True, text=True, check=False)
        except OSError:
            continue
        # a version manager's shim may be there without a Python behind it
        if done.returncode == 0 and (os.sep in wanted or done.stdout.strip() == f"cpython {wanted}"):
            return Path(candidate)
    raise SmokeError(f"no CPython {wanted} in RUNNER_TOOL_CACHE or on PATH")


def _candidates(wanted: str) -> Iterator[str]:
    if os.sep in wanted:
        yield wanted
        return
    cache = os.environ.get("RUNNER_TOOL_CACHE")
    if cache:
        # not the free-threaded ones, which lie in x64-freethreaded
        yield from map(str, sorted(Path(cache, "Python").glob(f"{wanted}.*/*64/bin/python3")))
    found = shutil.which(f"python{wanted}")
    if found:
        yield found


def install(
    installer: str, tool: list[str | Path], python: Path, what: list[str | Path], box: Path
) -> list[str | Path]:
    """Install the package with nothing else in its environment; returns the command that starts perfgate."""
    if installer == "uvx":
        return [*tool, "tool", "run", "--python", python, "--from", *what, "perfgate"]
    if installer == "pip":
        environment = box / "environment"
        succeed([python, "-I", "-m", "venv", environment], box)
        pip = ["-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
        succeed([environment / "bin" / "python", "-I", *pip, *what], box)
        return [environment / "bin" / "perfgate"]
    places = {"uv": ("UV_TOOL_DIR", "UV_TOOL_BIN_DIR"), "pipx": ("PIPX_HOME", "PIPX_BIN_DIR")}[installer]
    os.environ.update({place: str(box / place) for place in places})
    command = [*tool, "tool"] if installer == "uv" else tool
    succeed([*command, "install", "--python", python, *what], box)
    return [box / places[1] / "perfgate"]


def _tool(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise SmokeError(f"{name} is not on PATH")
    return found


def gate(perfgate: Sequence[str | Path], box: Path) -> str:
    """Gate the example's regression; returns perfgate's version.

    Raises:
        SmokeError: perfgate does not find it, or does not say the same again.
    """
    version = succeed([*perfgate, "--version"], box).strip()
    project = box / "project"
    succeed([sys.executable, "-I", EXAMPLES / "make_repo.py", EXAMPLE, project], box)
    check = [*perfgate, "check", "--head", "regression", "--benchmark", BENCHMARK, *PLAN]
    report = expect(1, check, project)
    if "slower" not in report:
        raise SmokeError(f"the report of the check does not say that it is slower:\n{report}")
    told = json.loads((project / ".perfgate" / "report.json").read_text(encoding="utf-8"))
    if told["verdict"] != "regression":
        raise SmokeError(f"the verdict is {told['verdict']}")
    if not (project / ".perfgate" / "report.html").read_text(encoding="utf-8").rstrip().endswith("</html>"):
        raise SmokeError("report.html is not whole")
    expect(1, [*perfgate, "report", "--format", "markdown"], project)
    again = json.loads(expect(1, [*perfgate, "decide", ".perfgate", "--json", "-"], project))
    if again["findings"] != told["findings"]:
        raise SmokeError("decide does not find again what check found")
    # a check does not load pandas
    expect(1, [*perfgate, "report", "--format", "csv"], project)
    return version


def succeed(command: Sequence[str | Path], directory: Path) -> str:
    """Run a command that must end with 0; returns what it prints."""
    return expect(0, command, directory)


def expect(code: int, command: Sequence[str | Path], directory: Path) -> str:
    """Run a command that must end with this exit code; returns what it prints.

    Raises:
        SmokeError: it ends with another one.
    """
    # nothing of the caller's environment may help
    around = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON") and k != "VIRTUAL_ENV"}
    done = subprocess.run(command, cwd=directory, env=around, capture_output=True, text=True, check=False)
    if done.returncode != code:
        told = " ".join(map(str, command))
        raise SmokeError(f"{told}: exit {done.returncode} instead of {code}\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
