"""What a workflow needs on its runner: shared paths that a step makes, programs, and commands that are still missing."""

import subprocess
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from gate.commands.init.workflow import KINDS, needs_of
from tests.support.initialized import init, make_project

VENV = '[build]\nshare = [".venv"]\n[[benchmark]]\nname = "a"\ncommand = [".venv/bin/python", "bench.py"]\n'


def told(directory: Path, kind: str) -> str:
    code, out, _ = init(directory, workflow=kind)
    assert code == 0
    return out


def steps_of(directory: Path, name: str, job: str) -> list[dict[str, str]]:
    loaded = YAML(typ="safe", pure=True).load((directory / ".github/workflows" / name).read_text(encoding="utf-8"))
    found = loaded["jobs"][job]["steps"]
    assert isinstance(found, list)
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


def test_a_lock_of_uv_does_not_install_the_project(tmp_path: Path) -> None:
    needs = needs_of(make_project(tmp_path, {"perfgate.toml": VENV, "uv.lock": ""}, git=False))
    # with no uv on the runner
    assert needs.steps[0][1] == [
        "python3 -m venv .venv",
        ".venv/bin/pip install --quiet uv",
        ".venv/bin/uv sync --frozen --inexact --no-install-project",
    ]
    assert needs.tools == ["python3"]


def test_the_benchmark_tool_is_installed(tmp_path: Path) -> None:
    config = VENV + 'instrument = "pytest-benchmark"\n'
    needs = needs_of(make_project(tmp_path, {"perfgate.toml": config}, git=False))
    assert needs.steps[0][1][-1] == ".venv/bin/pip install --quiet pytest-benchmark"


@pytest.mark.parametrize("kind", KINDS)
def test_each_job_that_measures_makes_the_environment_first(tmp_path: Path, kind: str) -> None:
    directory = make_project(tmp_path, {"sub/perfgate.toml": VENV})
    told(directory / "sub", kind)
    name = KINDS[kind].files[next(iter(KINDS[kind].files))].replace("perfgate", "perfgate-sub", 1)
    loaded = YAML(typ="safe", pure=True).load((directory / ".github/workflows" / name).read_text(encoding="utf-8"))
    made = 0
    for job in loaded["jobs"].values():
        names = [step["name"] for step in job["steps"]]
        if "Check out" in names and not {"Plan", "Record"} & set(names):
            step = job["steps"][names.index("Make .venv")]
            assert (step["working-directory"], step["run"]) == ("sub", "python3 -m venv .venv\n")
            assert names.index("Check out") < names.index("Make .venv") < len(names) - 1
            assert "uses" in job["steps"][names.index("Make .venv") + 1]
            made += 1
        else:
            assert "Make .venv" not in names
    assert made == 1


def test_what_a_step_cannot_make_is_said(tmp_path: Path) -> None:
    config = '[build]\ncommand = "go build && npm run build"\nshare = ["data/", "node_modules/"]\n'
    directory = make_project(tmp_path, {"perfgate.toml": config, "package-lock.json": "{}"})
    text = told(directory, "pull-request")
    assert "note: a step makes node_modules, which perfgate.toml shares: npm ci --no-audit --no-fund\n" in text
    assert "note: perfgate.toml shares data, which git does not track: add a step that makes it" in text
    assert "what it lacks of git, CPython 3.11 to 3.14, go, npm, node. A hosted runner is enough" in text
    assert steps_of(directory, "perfgate.yml", "measure")[1]["run"] == "npm ci --no-audit --no-fund\n"


def test_a_placeholder_is_noticed(tmp_path: Path) -> None:
    directory = make_project(tmp_path, {"perfgate.toml": '[[benchmark]]\nname = "placeholder"\ncommand = []\n'})
    assert "note: perfgate.toml has a benchmark without a command, so the workflow will fail" in told(
        directory, "forks"
    )


@pytest.mark.parametrize("kind", ["pull-request", "trusted", "matrix"])
def test_what_fails_for_forks_says_so_first(tmp_path: Path, kind: str) -> None:
    _, _, steps = told(make_project(tmp_path, {"perfgate.toml": ""}), kind).partition("next:\n")
    assert steps.startswith("  - public repository? Write `perfgate init --workflow forks --force` instead")


@pytest.mark.parametrize(
    "text", ["", "[", "build = 3", "[build]\nshare = 3\n", "[build]\nshare = [1]\n", "benchmark = [1]"]
)
def test_a_config_that_cannot_be_read_needs_nothing(tmp_path: Path, text: str) -> None:
    needs = needs_of(make_project(tmp_path, {"perfgate.toml": text}, git=False))
    assert (needs.placeholder, needs.tools, needs.steps, needs.others) == (False, [], [], [])
