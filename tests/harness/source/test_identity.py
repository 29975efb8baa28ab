"""What a study compares of a commit: all of it but perfgate's own configuration."""

from pathlib import Path

import pytest

from harness.source.repository import find_repository, sources_of
from tests.support.project import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project(tmp_path / "repo")
    project.write("bench.py", "1")
    project.write("perfgate.toml", "[study]")
    project.write("pyproject.toml", '[project]\nname = "x"\n[tool.perfgate.plan]\nbuilds = 2\n')
    project.commit()
    return project


def identity(project: Project, *configs: str) -> str:
    return sources_of(find_repository(project.top), "HEAD", configs)


def changed(project: Project, name: str, text: str, *configs: str) -> bool:
    before = identity(project, *configs)
    project.write(name, text)
    project.commit()
    return identity(project, *configs) != before


def test_what_a_study_compares_is_all_but_the_configuration_of_perfgate(project: Project) -> None:
    assert not changed(project, "perfgate.toml", "[study]\nreplicates = 9")
    assert not changed(project, "pyproject.toml", '[project]\nname = "x"\n[tool.perfgate.plan]\nbuilds = 3\n')
    assert changed(project, "pyproject.toml", '[project]\nname = "y"\n[tool.perfgate.plan]\nbuilds = 3\n')
    assert changed(project, "pyproject.toml", '[project]\nname = "y"\n')
    assert changed(project, "pyproject.toml", "no TOML")
    assert changed(project, "bench.py", "2")
    assert changed(project, "sub/perfgate.toml", "[study]")
    assert changed(project, "new.py", "")
    # nor what an option names as such
    assert changed(project, "rules/bench.toml", "1")
    assert not changed(project, "rules/bench.toml", "2", "rules/bench.toml")
    assert changed(project, "rules/bench.toml", "3")
