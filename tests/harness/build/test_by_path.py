"""Tools that keep something of a project outside of it, under the project's path."""

import pytest

from harness.build.conditions import in_project, keeps_by_path


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
