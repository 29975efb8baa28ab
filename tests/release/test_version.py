"""A tag is released only if gate/__init__.py, CHANGELOG.md and the branch agree with it."""

import re
from importlib.metadata import requires
from itertools import pairwise
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from ruamel.yaml import YAML

from scripts.release.__main__ import main
from scripts.release.errors import ReleaseError
from scripts.release.packages import LOCK, locked
from scripts.release.version import Version, declared, plan
from tests.support.project import Project, repository

ORDER = [
    "0.9.9", "1.0.0a1", "1.0.0b1", "1.0.0b2", "1.0.0rc1", "1.0.0rc10", "1.0.0", "1.0.1", "1.2.0", "1.10.0", "2.0.0",
]  # fmt: skip
CHANGELOG = "# Changelog\n\n## [Unreleased]\n\n## [1.1.0] - 2027-02-28\n\n- New.\n"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    version = '"""Gate."""\n\n__version__ = "1.1.0"\n'
    made = repository(tmp_path / "repository", {"gate/__init__.py": version, "CHANGELOG.md": CHANGELOG})
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


# --- the workflow of a release ----------------------------------------------------------------------------------------


ROOT = Path(__file__).parents[2]
WORKFLOW = YAML(typ="safe", pure=True).load((ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8"))


def test_what_publishes_has_no_more_rights_than_it_needs() -> None:
    assert WORKFLOW["permissions"] == {} and WORKFLOW["concurrency"] == {
        "group": "release",
        "cancel-in-progress": False,
    }
    jobs = WORKFLOW["jobs"]
    assert {name: job["permissions"] for name, job in jobs.items()} == {
        "build": {"contents": "read"}, "test": {"contents": "read"},
        "attest": {"id-token": "write", "attestations": "write"}, "pypi": {"id-token": "write"},
        "github": {"contents": "write"}, "site": {"contents": "read"}, "pages": {"pages": "write", "id-token": "write"},
    }  # fmt: skip
    rights = [name for name, job in jobs.items() if "write" in job["permissions"].values()]
    assert all(jobs[name]["if"] == "needs.build.outputs.publish == 'true'" for name in rights)
    assert jobs["pypi"]["environment"]["name"] == "pypi"
    # the code of this repository runs in none of the jobs that sign or upload
    signing = [name for name, job in jobs.items() if "id-token" in job["permissions"]]
    assert signing == ["attest", "pypi", "pages"]
    assert all("checkout" not in step.get("uses", "") for name in signing for step in jobs[name]["steps"])
    assert [step["run"] for name in signing for step in jobs[name]["steps"] if "run" in step] == [
        "rm dist/packages/SHA256SUMS"
    ]


def test_it_starts_for_the_tags_of_releases_only() -> None:
    # `on` is a boolean to YAML 1.1, and a word to YAML 1.2
    assert WORKFLOW["on"]["push"] == {"tags": ["v[0-9]+.[0-9]+.[0-9]+*"]}
    assert WORKFLOW["on"]["workflow_dispatch"]["inputs"]["dry-run"]["default"] is True


def test_every_action_is_pinned_by_its_commit() -> None:
    steps = [step for job in WORKFLOW["jobs"].values() for step in job["steps"]]
    used = [step["uses"] for step in steps if "uses" in step]
    assert len(used) > 10 and all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", name) for name in used)


def test_every_job_is_explained() -> None:
    page = (ROOT / "docs" / "releasing.md").read_text(encoding="utf-8")
    explained = re.findall(r"^\| `([^`]+)` \|", page, re.MULTILINE)
    assert explained == [job["name"].partition(" on ${{")[0] for job in WORKFLOW["jobs"].values()]


# --- the locked hatchling has all that it needs -----------------------------------------------------------------------


def test_nothing_that_it_needs_is_missing() -> None:
    found = locked("hatchling", (ROOT / LOCK).read_text(encoding="utf-8"))
    for name in found:
        needed = [Requirement(text) for text in requires(name) or []]
        # without what an extra needs, and what only another Python does
        names = {
            canonicalize_name(each.name) for each in needed if not each.marker or each.marker.evaluate({"extra": ""})
        }
        assert names <= found.keys(), name
    assert 1 < len(found) < 10 and all("--hash=sha256:" in entry for entry in found.values())
