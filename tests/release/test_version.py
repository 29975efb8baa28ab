"""A tag is released only if gate/__init__.py, CHANGELOG.md and the branch agree with it."""

from itertools import pairwise
from pathlib import Path

import pytest

from scripts.release.__main__ import main
from scripts.release.errors import ReleaseError
from scripts.release.version import Version, declared, plan
from tests.support.project import Project

ORDER = [
    "0.9.9",
    "1.0.0a1",
    "1.0.0b1",
    "1.0.0b2",
    "1.0.0rc1",
    "1.0.0rc10",
    "1.0.0",
    "1.0.1",
    "1.2.0",
    "1.10.0",
    "2.0.0",
]
CHANGELOG = "# Changelog\n\n## [Unreleased]\n\n## [1.1.0] - 2027-02-28\n\n- New.\n"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path / "repository")
    made.write("gate/__init__.py", '"""Gate."""\n\n__version__ = "1.1.0"\n')
    made.write("CHANGELOG.md", CHANGELOG)
    made.commit()
    made.git("tag", "v1.1.0")
    return made


def test_versions_have_an_order_and_are_written_as_read() -> None:
    parsed = [Version.parse(text) for text in ORDER]
    assert all(earlier < later for earlier, later in pairwise(parsed))
    assert [str(version) for version in parsed] == ORDER
    assert [version.final for version in parsed].count(False) == 5


@pytest.mark.parametrize("tag", ["1.1.0", "v1", "v1.1", "v1.1.0.0", "v1.1.0-rc1", "version", "v1.1.0rc", "v01.1.0 "])
def test_other_tags_are_none_of_a_release(tag: str) -> None:
    with pytest.raises(ReleaseError):
        Version.of_tag(tag)


@pytest.mark.parametrize(
    ("file", "before", "after", "words"),
    [
        ("gate/__init__.py", "1.1.0", "1.1.1", ["the tag is v1.1.0, gate/__init__.py has 1.1.1"]),
        ("CHANGELOG.md", "1.1.0", "1.0.9", ["the newest release of CHANGELOG.md is 1.0.9"]),
        ("CHANGELOG.md", "## [1.1.0] - 2027-02-28\n", "", ["has no release", "entries under [Unreleased]"]),
        ("CHANGELOG.md", "## [Unreleased]\n", "## [Unreleased]\n\n- More.\n", ["entries under [Unreleased]"]),
    ],
)
def test_what_does_not_agree_is_named(
    project: Project, capsys: pytest.CaptureFixture[str], file: str, before: str, after: str, words: list[str]
) -> None:
    project.write(file, (project.top / file).read_text().replace(before, after))
    assert main(["--top", str(project.top), "check", "v1.1.0"]) == 1
    told = capsys.readouterr().err
    assert all(each in told for each in words) and "prepare 1.1.0" in told
    assert all(line.startswith("release: ") for line in told.splitlines())


def test_a_commit_that_was_never_merged_is_not_released(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    check = ["--top", str(project.top), "check", "--on", "main"]
    assert main([*check, "v1.1.0"]) == 0
    project.git("switch", "-q", "-c", "aside")
    project.commit("not reviewed")
    project.git("tag", "-f", "v1.1.0")
    assert main([*check, "v1.1.0"]) == 1
    assert "is not on main" in capsys.readouterr().err


def test_prepare_writes_what_check_wants(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    step = ["--top", str(project.top)]
    project.write("CHANGELOG.md", CHANGELOG.replace("## [Unreleased]\n", "## [Unreleased]\n\n- More.\n"))
    assert main([*step, "prepare", "1.0.0"]) == 1
    assert main([*step, "prepare", "1.2.0"]) == 0
    assert str(declared(project.top)) == "1.2.0"
    assert main([*step, "check", "v1.2.0"]) == 0
    capsys.readouterr()
    assert main([*step, "notes", "v1.2.0"]) == 0
    assert capsys.readouterr().out == "- More.\n"


@pytest.mark.parametrize(
    ("environment", "publish"),
    [
        ({"GITHUB_REF": "refs/tags/v1.1.0", "DRY_RUN": "false"}, True),
        ({"GITHUB_REF": "refs/tags/v1.1.0", "DRY_RUN": "true"}, False),
        ({"GITHUB_REF": "refs/tags/v1.1.0"}, False),
    ],
)
def test_only_a_tag_is_published(project: Project, environment: dict[str, str], publish: bool) -> None:
    found = plan(project.top, environment, "main")
    assert (found.tag, found.publish, found.notes) == ("v1.1.0", publish, "- New.\n")
    assert ("nothing is published" in found.summary) == (not publish)


@pytest.mark.parametrize("ref", ["refs/heads/main", "refs/tags/v1", "refs/heads/v1.1.0", ""])
def test_nothing_else_is_published(project: Project, ref: str) -> None:
    with pytest.raises(ReleaseError):
        plan(project.top, {"GITHUB_REF": ref, "DRY_RUN": "false"}, "main")


def test_a_branch_is_tried_out_with_what_is_unreleased(project: Project) -> None:
    project.write("CHANGELOG.md", CHANGELOG.replace("## [Unreleased]\n", "## [Unreleased]\n\n- More.\n"))
    found = plan(project.top, {"GITHUB_REF": "refs/heads/main", "DRY_RUN": "true"}, "main")
    assert (found.tag, found.publish, found.notes) == ("", False, "- More.\n")
