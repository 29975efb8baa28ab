"""The wheel as a stranger gets it: built, installed with the lock in an empty environment, used in another place."""

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from gate import __version__

ROOT = Path(__file__).parent.parent
# One worker builds and installs once.
pytestmark = [pytest.mark.xdist_group("wheel"), pytest.mark.endtoend]

CONFIG = """\
[plan]
builds = 2
executions = 2
iterations = 3

[[benchmark]]
name = "constant"
command = "printf '0.101\\n0.102\\n0.103\\n' > {output}"
instrument = "values"
"""


def run(command: Sequence[str | Path], directory: Path, **more: str) -> subprocess.CompletedProcess[str]:
    # Nothing of the environment that runs the tests may help.
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON") and name != "VIRTUAL_ENV"}
    return subprocess.run(command, cwd=directory, env={**env, **more}, capture_output=True, text=True, check=False)


def succeed(command: Sequence[str | Path], directory: Path, **more: str) -> str:
    done = run(command, directory, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("dist")
    succeed([sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", directory], ROOT)
    (built,) = directory.iterdir()
    return built


@pytest.fixture(scope="module")
def perfgate(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    environment = tmp_path_factory.mktemp("an environment") / "venv"
    uv = [sys.executable, "-m", "uv", "--quiet"]
    install = [*uv, "pip", "install", "--python", str(environment)]
    succeed([*uv, "venv", "--python", sys.executable, environment], ROOT)
    succeed([*install, "--require-hashes", "--requirements", "requirements.lock"], ROOT)
    succeed([*install, "--no-deps", "--offline", wheel], ROOT)
    return environment / "bin" / "perfgate"


def test_it_holds_both_packages_and_the_templates(wheel: Path) -> None:
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    files = [path for path in (ROOT / "templates").rglob("*") if path.is_file()]
    templates = {f"gate/templates/{path.relative_to(ROOT / 'templates').as_posix()}" for path in files}
    assert templates
    assert templates <= names
    assert {"gate/cli/main.py", "harness/loop/measure.py"} <= names
    # `pipx install` and `uv tool install` put data where man looks
    (manual,) = {name for name in names if ".data/" in name}
    assert manual.endswith(".data/data/share/man/man1/perfgate.1")
    assert {name.partition("/")[0] for name in names - {manual}} == {"gate", "harness", "perfgate.py"}


def test_it_prints_version_and_schemas_and_installs_the_man_page(perfgate: Path, tmp_path: Path) -> None:
    assert succeed([perfgate, "--version"], tmp_path).strip() == f"perfgate {__version__}"
    for command, name in (("config", "perfgate"), ("report", "report")):
        printed = succeed([perfgate, command, "--schema"], tmp_path)
        assert printed == (ROOT / "gate" / f"{name}.schema.json").read_text(encoding="utf-8")
    installed = perfgate.parents[1] / "share" / "man" / "man1" / "perfgate.1"
    assert installed.read_text(encoding="utf-8") == (ROOT / "man" / "perfgate.1").read_text(encoding="utf-8")


def test_check_in_a_project_with_a_gate_of_its_own(perfgate: Path, tmp_path: Path) -> None:
    (tmp_path / "perfgate.toml").write_text(CONFIG, encoding="utf-8")
    for package in ("gate", "harness"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text("raise SystemExit('imported')\n", encoding="utf-8")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.invalid", "-c", "commit.gpgsign=false"]
    succeed([*git, "init", "--quiet"], tmp_path)
    succeed([*git, "add", "."], tmp_path)
    succeed([*git, "commit", "--quiet", "--message=first"], tmp_path)
    succeed([*git, "commit", "--quiet", "--message=second", "--allow-empty"], tmp_path)

    succeed([perfgate, "check", "--base", "HEAD~1", "--head", "HEAD"], tmp_path, PYTHONPATH=str(tmp_path))

    report = json.loads((tmp_path / ".perfgate" / "report.json").read_text(encoding="utf-8"))
    assert ([finding["benchmark"] for finding in report["findings"]], report["failures"]) == (["constant"], [])
    assert "constant" in (tmp_path / ".perfgate" / "report.html").read_text(encoding="utf-8")
