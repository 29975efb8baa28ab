"""A project where another tool named perfgate has its perfgate.toml."""

import contextlib
import io
import subprocess
from pathlib import Path

import pytest

from gate.cli.main import main
from tests.support.initialized import make_project

ITS = '[defaults]\nrepeat = 7\n\n[[bench]]\nname = "pst_extract"\ncommand = ["sh", "-c", "true"]\n'
FILES = {"perfgate.toml": ITS, "Makefile": "all:\n\tcc -o app main.c\n", "main.c": "int main(void) { return 0; }\n"}


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    project = make_project(tmp_path / "project", FILES)
    for arguments in (["add", "."], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", "first"]):
        subprocess.run(["git", *arguments], cwd=project, check=True)
    monkeypatch.chdir(project)
    return project


def perfgate(*arguments: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.suppress(SystemExit):
        return main(arguments, out, err), out.getvalue(), err.getvalue()
    raise AssertionError(arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        ("init",),
        ("init", "--force"),
        ("check", "--base", "HEAD"),
        ("check", "--base", "HEAD", "--config", "perfgate.toml"),
        ("try",),
        ("config",),
    ],
)
def test_its_file_is_recognised_and_left_as_it_is(directory: Path, arguments: tuple[str, ...]) -> None:
    code, out, err = perfgate(*arguments)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert "another tool named perfgate (it has [defaults], [[bench]])" in err
    assert (directory / "perfgate.toml").read_text(encoding="utf-8") == ITS


def test_init_writes_another_file_and_names_it(directory: Path) -> None:
    code, out, err = perfgate("init", "--no-try", "--file", "gate.toml")
    assert (code, err) == (0, "")
    assert "wrote gate.toml\n" in out
    assert "perfgate check --config gate.toml " in out
    assert (directory / "perfgate.toml").read_text(encoding="utf-8") == ITS
    assert perfgate("check", "--config", "gate.toml", "--base", "HEAD", "--dry-run")[0] == 0


@pytest.mark.parametrize("name", ["pyproject.toml", "./sub/pyproject.toml"])
def test_pyproject_is_not_written(directory: Path, name: str) -> None:
    code, _, err = perfgate("init", "--force", "--file", name)
    assert code == 2
    assert "--file: names pyproject.toml" in err or "--file names pyproject.toml" in err
    assert not (directory / name).exists()
