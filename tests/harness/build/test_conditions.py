"""What a person changes in the environment to repeat a command, and tools that keep something under a project's path."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from gate.config.types import BuildTable
from gate.model import Side
from harness.build.conditions import Conditions, Recipe, in_project, keeps_by_path
from harness.process.execute import ProcessExecutor
from harness.sandbox.sandbox import Sandbox

GIVEN = {
    "HOME": "/work/home",
    "TMPDIR": "/work/home/.tmp",
    "CARGO_HOME": "/work/home/.cargo",
    "JAVA_TOOL_OPTIONS": "-D",
}


class Given(Sandbox):
    def environment(self, side: Side) -> Mapping[str, str]:
        return GIVEN


def test_what_the_sandbox_set_is_not_shown_and_what_the_project_set_is(tmp_path: Path) -> None:
    caller = {"HOME": "/home/me", "CARGO_HOME": "/home/me/.cargo", "LANG": "C", "A_TOKEN": "x"}
    own = {"HOME": "/home/me", "CARGO_HOME": "/other", "LANG": "C"}
    recipe = Recipe(BuildTable(), own)
    conditions = Conditions(ProcessExecutor(), {"base": recipe, "head": recipe}, caller, tmp_path, sandbox=Given())
    ran = {**own, **GIVEN, "PERFGATE_SEED": "7"}
    assert conditions.difference("head", ran) == {"A_TOKEN": "", "CARGO_HOME": "/other", "PERFGATE_SEED": "7"}
    # an instrument that extends one says more than the sandbox does
    more = {**ran, "JAVA_TOOL_OPTIONS": "-D -X"}
    assert conditions.difference("head", more)["JAVA_TOOL_OPTIONS"] == "-D -X"


@pytest.mark.parametrize(
    ("command", "kept"),
    [
        ("bazel build //app", True),
        ("./bazelisk run x", True),
        ("hatch run bench", True),
        ("docker compose up -d", True),
        ("docker run image", False),
        ("cmake --build build", False),
        ("./hatchery", False),
    ],
)
def test_what_needs_a_path_for_each_side(command: str, kept: bool) -> None:
    assert keeps_by_path(["make", command]) is kept


@pytest.mark.parametrize(
    ("paths", "commands", "variables"),
    [
        (["lib/poetry.lock"], ["make"], {"POETRY_VIRTUALENVS_IN_PROJECT": "true"}),
        ([], ["poetry install --no-root"], {"POETRY_VIRTUALENVS_IN_PROJECT": "true"}),
        (["Pipfile"], ["make"], {"PIPENV_VENV_IN_PROJECT": "1"}),
        (["a.py", "poetry.py"], ["python3 -m venv .venv"], {}),
    ],
)
def test_what_is_told_to_keep_all_in_the_project(
    paths: list[str], commands: list[str], variables: dict[str, str]
) -> None:
    assert in_project(paths, commands) == variables
