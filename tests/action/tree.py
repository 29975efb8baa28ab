"""A small copy of the action to install: its real scripts, a tiny perfgate, and a lock with one tiny package."""

import hashlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
VERSION = "9.8.7"
SECONDS = 300

MAIN = """\
import sys
from pathlib import Path
import harness, perfgate, tiny
assert (Path(__file__).parent / "templates" / "some.j2").is_file()
print("perfgate", __import__("gate").__version__)
"""


def base_python() -> str:
    """Return the Python behind the environment that runs the tests."""
    return os.path.realpath(getattr(sys, "_base_executable", sys.executable))


class Action:
    """An action's folder beside a tool directory, a project that is in the way, and a PATH of its own."""

    def __init__(self, top: Path) -> None:
        """Write all of it below a folder; nothing is installed yet."""
        self.path = top / "the action"
        self.cache = top / "tool cache"
        self.project = top / "project"
        self.output = top / "output"
        self.bin = top / "bin"
        self.bin.mkdir(parents=True)
        self.bin.joinpath("python3").symlink_to(base_python())
        self.top = top
        wheel = self.wheel("tiny")
        for script in ("install", "environment.py"):
            text = (ROOT / "scripts" / script).read_text(encoding="utf-8")
            # what this machine's says is no test's business
            self.write(f"scripts/{script}", text.replace('"/etc/pip.conf"', repr(str(top / "pip.conf"))))
        self.write("gate/__init__.py", f'__version__ = "{VERSION}"\n')
        self.write("gate/__main__.py", MAIN)
        self.write("harness/__init__.py", "")
        self.write("templates/some.j2", "")
        self.write("perfgate.py", "")
        self.write("pyproject.toml", "")
        self.lock(wheel.as_uri(), hashlib.sha256(wheel.read_bytes()).hexdigest())
        self._hostile_project()

    def write(self, name: str, text: str) -> None:
        """Write a file of the action."""
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def lock(self, address: str, digest: str) -> None:
        """Lock the one package to where it is and its hash."""
        self.write("requirements.lock", f"tiny @ {address} --hash=sha256:{digest}\n")

    def wheel(self, name: str, *, program: str = "") -> Path:
        """Make a package of one empty module, with a program of its name where one is given."""
        return _wheel(self.top / f"{name}-1.0-py3-none-any.whl", name, program)

    def lock_uv(self, digest: str = "") -> None:
        """Lock a uv that pip can bring, by its hash or a wrong one."""
        real = Path(sys.executable).parent / "uv"
        wheel = self.wheel("uv", program=f'#!/bin/sh\nexec "{real}" "$@"\n')
        digest = digest or hashlib.sha256(wheel.read_bytes()).hexdigest()
        lines = (
            "ruff @ file:///nowhere --hash=sha256:0",
            f"uv @ {wheel.as_uri()} \\",
            f"    --hash=sha256:{digest}",
            "    # via x",
        )
        self.write("requirements-dev.lock", "\n".join(lines) + "\n")

    def pip_conf(self, text: str) -> None:
        """Write the machine's pip.conf."""
        (self.top / "pip.conf").write_text(text, encoding="utf-8")

    def with_uv(self) -> None:
        """Put uv on PATH."""
        uv = Path(sys.executable).parent / "uv"
        self.bin.joinpath("uv").unlink(missing_ok=True)
        self.bin.joinpath("uv").symlink_to(uv)

    def program(self, name: str, text: str) -> None:
        """Put a shell script on PATH."""
        file = self.bin / name
        file.unlink(missing_ok=True)
        file.write_text(f"#!/bin/sh\n{text}", encoding="utf-8")
        file.chmod(0o755)

    def environment(self, **more: str) -> dict[str, str]:
        """Return what a step gets: a short PATH, no HOME, and everything of the caller that could get in the way."""
        bad = str(self.project)
        return {
            "PATH": str(self.bin), "RUNNER_TOOL_CACHE": str(self.cache), "GITHUB_OUTPUT": str(self.output),
            "PYTHONPATH": bad, "PYTHONSTARTUP": f"{bad}/re.py", "PYTHONSAFEPATH": "", "VIRTUAL_ENV": bad,
            "PIP_INDEX_URL": "http://127.0.0.1:9/", "PIP_NO_INDEX": "1", "PIP_TARGET": bad,
            "PIP_REQUIRE_VIRTUALENV": "no such value", "UV_PYTHON": "2.7", "UV_OFFLINE": "1", "UV_TARGET": bad,
            "UV_CONFIG_FILE": f"{bad}/uv.toml", **more,
        }  # fmt: skip

    def start(self, **more: str) -> subprocess.Popen[str]:
        """Start the installation as the action's first step does, in the project, as a process group of its own."""
        return subprocess.Popen(
            ["/bin/sh", f"{self.path}/scripts/install"], cwd=self.project, env=self.environment(**more),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
        )  # fmt: skip

    def install(self, **more: str) -> subprocess.CompletedProcess[str]:
        """Install and wait for it; stdout holds both streams."""
        started = self.start(**more)
        text, _ = started.communicate(timeout=SECONDS)
        return subprocess.CompletedProcess(started.args, started.returncode, text, "")

    def python(self) -> Path:
        """Return what the last installation wrote as its output."""
        name, _, value = self.output.read_text(encoding="utf-8").splitlines()[-1].partition("=")
        assert name == "python"
        return Path(value)

    def made(self) -> list[str]:
        """List what is in the folder of environments, without locks."""
        folder = self.cache / "perfgate"
        return sorted(p.name for p in folder.iterdir() if p.suffix != ".lock") if folder.is_dir() else []

    def _hostile_project(self) -> None:
        self.project.mkdir()
        for name in ("gate", "harness"):
            (self.project / name).mkdir()
            (self.project / name / "__init__.py").write_text("raise SystemExit('the project: gate')", encoding="utf-8")
        for name in ("re", "hashlib", "sitecustomize"):
            (self.project / f"{name}.py").write_text(f"raise SystemExit('the project: {name}')", encoding="utf-8")
        (self.project / "uv.toml").write_text("no such key = 1\n", encoding="utf-8")


def _wheel(file: Path, name: str, program: str) -> Path:
    info = f"{name}-1.0.dist-info"
    script = f"{name}-1.0.data/scripts/{name}"
    with zipfile.ZipFile(file, "w") as made:
        made.writestr(f"{name}.py", "")
        made.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        if program:
            executable = zipfile.ZipInfo(script)
            executable.external_attr = 0o100755 << 16
            made.writestr(executable, program)
        made.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        names = [f"{name}.py", f"{info}/METADATA", f"{info}/WHEEL", f"{info}/RECORD", *([script] if program else [])]
        made.writestr(f"{info}/RECORD", "".join(f"{each},,\n" for each in names))
    return file
