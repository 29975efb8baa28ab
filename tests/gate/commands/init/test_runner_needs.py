"""What a workflow needs on its runner: shared paths that a step makes, programs, and commands that are still missing."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from gate.commands.init.workflow import KINDS, needs_of
from tests.support.initialized import init, make_project

VENV = '[build]\nshare = [".venv"]\n[[benchmark]]\nname = "a"\ncommand = [".venv/bin/python", "bench.py"]\n'


def told(directory: Path, kind: str) -> str:
    code, out, _ = init(directory, workflow=kind)
    assert code == 0
    return out


def loaded(directory: Path, name: str) -> dict[str, Any]:
    found = YAML(typ="safe", pure=True).load((directory / ".github/workflows" / name).read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize(
    ("files", "install"),
    [
        ({"requirements.txt": "", "dev-requirements.txt": "", "notes.txt": ""}, "-r dev-requirements.txt -r requirements.txt"),
        # what the benchmarks' own tool stands beside is theirs, and a list for mypy is nobody's
        ({"requirements-mypy.txt": "", "docs-requirements.txt": "", "requirements-docker.txt": ""}, "-r requirements-docker.txt"),
        (
            {
                "perfgate.toml": VENV.replace("command", 'instrument = "pytest-benchmark"\ncommand'), "requirements.txt": "",
                "pyproject.toml": '[project]\nname = "a"\n[project.optional-dependencies]\ntests = ["freezegun", "pytest-benchmark"]\n',
            },
            "freezegun pytest-benchmark",
        ),
        (
            {"pyproject.toml": '[project]\nname = "a"\ndependencies = ["attrs>=1", "b"]\n[project.optional-dependencies]\ndev = ["c[x]; python_version > \\"3\\""]\n'},
            """'attrs>=1' b 'c[x]; python_version > "3"'""",
        ),
        ({"pyproject.toml": '[project]\nname = "a"\ndependencies = ["a @ https://x.invalid/$(id)", "q\'q"]\n'}, ""),
    ],
)  # fmt: skip
def test_an_environment_is_made_of_what_is_declared(tmp_path: Path, files: dict[str, str], install: str) -> None:
    needs = needs_of(make_project(tmp_path, {"perfgate.toml": VENV, **files}, git=False))
    (step,) = needs.steps
    lines = ["python3 -m venv .venv"]
    assert step[1] == [*lines, *([f".venv/bin/pip install --quiet {install}"] if install else [])]
    # a shell reads each requirement as one word
    subprocess.run(["sh", "-n", "-c", "\n".join(step[1])], check=True)


def test_a_lock_of_uv_does_not_install_the_project_and_the_benchmark_tool_is_installed(tmp_path: Path) -> None:
    instrument = f'{VENV}instrument = "pytest-benchmark"\n'
    needs = needs_of(make_project(tmp_path, {"perfgate.toml": instrument}, git=False))
    assert needs.steps[0][1][-1] == ".venv/bin/pip install --quiet pytest-benchmark"
    needs = needs_of(make_project(tmp_path, {"perfgate.toml": VENV, "uv.lock": ""}, git=False))
    # with no uv on the runner
    assert needs.steps[0][1] == [
        "python3 -m venv .venv",
        ".venv/bin/pip install --quiet uv",
        ".venv/bin/uv sync --frozen --inexact --no-install-project",
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_each_job_that_measures_makes_the_environment_first(tmp_path: Path, kind: str) -> None:
    directory = make_project(tmp_path, {"sub/perfgate.toml": VENV})
    told(directory / "sub", kind)
    name = next(iter(KINDS[kind].files.values())).replace("perfgate", "perfgate-sub", 1)
    made = 0
    for job in loaded(directory, name)["jobs"].values():
        names = [step["name"] for step in job["steps"]]
        measures = "Check out" in names and not {"Plan", "Record"} & set(names)
        assert measures is ("Make .venv" in names)
        if measures:
            place = names.index("Make .venv")
            step, after = job["steps"][place : place + 2]
            assert (step["working-directory"], step["run"], "uses" in after) == ("sub", "python3 -m venv .venv\n", True)
            assert names.index("Check out") < place
            made += 1
    assert made == 1


def test_what_a_step_cannot_make_is_said(tmp_path: Path) -> None:
    config = '[build]\nshare = ["data/", "node_modules/"]\n'
    directory = make_project(tmp_path, {"perfgate.toml": config, "package-lock.json": "{}"})
    text = told(directory, "pull-request")
    assert "note: a step makes node_modules, which perfgate.toml shares: npm ci --no-audit --no-fund\n" in text
    assert "note: perfgate.toml shares data, which git does not track: add a step that makes it" in text
    assert loaded(directory, "perfgate.yml")["jobs"]["measure"]["steps"][1]["run"] == "npm ci --no-audit --no-fund\n"


def test_what_fails_for_forks_says_so_first_and_a_placeholder_is_noticed(tmp_path: Path) -> None:
    placeholder = '[[benchmark]]\nname = "placeholder"\ncommand = []\n'
    noticed = "note: perfgate.toml has a benchmark without a command, so the workflow will fail"
    assert noticed in told(make_project(tmp_path / "a", {"perfgate.toml": placeholder}), "forks")
    for kind in ("pull-request", "trusted", "matrix"):
        _, _, steps = told(make_project(tmp_path / kind, {"perfgate.toml": ""}), kind).partition("next:\n")
        assert steps.startswith("  - public repository? Write `perfgate init --workflow forks --force` instead")


def test_a_config_that_cannot_be_read_needs_nothing(tmp_path: Path) -> None:
    for text in ("", "[", "build = 3", "[build]\nshare = 3\n", "[build]\nshare = [1]\n", "benchmark = [1]"):
        needs = needs_of(make_project(tmp_path, {"perfgate.toml": text}, git=False))
        assert (needs.placeholder, needs.steps, needs.others) == (False, [], [])
