"""The workflow of a release under the real workflow runner: its dry run, and what it publishes for a tag."""

import io
import json
import subprocess
import sys
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from scripts.release.tags import listed
from tests.e2e.act import events
from tests.e2e.act.runner import HERE, ROOT, Act, Ran, export, pins
from tests.support.forge import FakeGitHub
from tests.support.project import Project, executable

# it downloads what the wheel needs
pytestmark = [pytest.mark.xdist_group("act"), pytest.mark.endtoend]

FILE = ROOT / ".github" / "workflows" / "release.yml"
PYTHON = "{}.{}".format(*sys.version_info)
ONE_LEG = (f"python:{PYTHON}", "os:ubuntu-24.04", "installer:pip")
VERSION = "97.1.0"
# What publishes is played by actions that write down what they were given.
PLAYED = ("actions/attest", "pypa/gh-action-pypi-publish", "actions/upload-pages-artifact", "actions/deploy-pages")
STAND_IN = """\
name: stand-in
inputs: {subject-path: {}, packages-dir: {}, path: {}}
outputs: {page_url: {value: "https://example.org/"}}
runs:
  using: composite
  steps:
    - shell: /bin/sh -e {0}
      env: {GIVEN: "${{ toJSON(inputs) }}", NAME: "WHICH"}
      run: |
        echo "$NAME $(echo "$GIVEN" | tr -d '\\n')" >>"$STAND_IN_PUBLISHED"
        ls dist/packages >>"$STAND_IN_PUBLISHED.files" || true
"""
GH = '#!/bin/sh\necho "gh $*" >>"$STAND_IN_PUBLISHED"\n[ "$2" != view ]\n'


def uses() -> dict[str, str]:
    """The actions of the workflow: owner/name -> commit."""
    jobs = YAML(typ="safe", pure=True).load(FILE.read_text(encoding="utf-8"))["jobs"]
    named = [step["uses"] for job in jobs.values() for step in job["steps"] if "uses" in step]
    return dict(name.split("@") for name in named)


@pytest.fixture
def act(act: Act, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Act:
    for name, ref in pins(FILE).items():
        act.repositories[f"actions/{name}@{ref}"] = HERE / "actions" / name
    for name in PLAYED:
        folder = tmp_path / "played" / name
        folder.mkdir(parents=True)
        (folder / "action.yml").write_text(STAND_IN.replace("WHICH", name))
        act.repositories[f"{name}@{uses()[name]}"] = folder
    program = executable(tmp_path / "bin" / "gh", GH)
    # a runner's Python has no hatchling: the build has to bring it
    (program.parent / "python3").symlink_to(Path(sys.executable).resolve())
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    return act


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """The repository with its remote; what the workflow does not touch is left out."""
    made = Project(tmp_path / "repository")
    export(made.top)
    for name in ("README.md", "LICENSE", "CHANGELOG.md", "requirements-dev.lock", "examples/make_repo.py"):
        made.write(name, (ROOT / name).read_text(encoding="utf-8"))
    for file in (ROOT / "examples" / "textstats").rglob("*"):
        if file.is_file() and file.suffix in (".md", ".py", ".toml", ".patch"):
            made.write(str(file.relative_to(ROOT)), file.read_text(encoding="utf-8"))
    made.write("Makefile", "site:\n\tmkdir site\n")
    made.write(".gitignore", "dist/\n")
    made.commit("everything")
    remote = tmp_path / "remote.git"
    made.git("init", "-q", "--bare", str(remote))
    made.git("remote", "add", "origin", "https://github.com/acme/widget.git")
    made.git("config", f"url.{remote}.insteadOf", "https://github.com/acme/widget.git")
    made.git("push", "-q", "origin", "main")
    return made


def run(act: Act, project: Project, event: events.Event, published: Path, matrix: tuple[str, ...]) -> Ran:
    # pip's own cache: the home of the runner is empty
    cache = subprocess.run([sys.executable, "-m", "pip", "cache", "dir"], capture_output=True, text=True, check=False)
    more = {"PIP_CACHE_DIR": cache.stdout.strip(), "PIP_NO_COMPILE": "1", "STAND_IN_PUBLISHED": str(published)}
    ref = {"GITHUB_REF_NAME": event.ref.split("/", 2)[2]}
    text = FILE.read_text(encoding="utf-8")
    return act.run(project.top, event, text, variables={**more, **ref}, matrix=matrix, timeout=400)


def built(github: FakeGitHub) -> dict[str, bytes]:
    """What the job `build` handed on."""
    (artifact,) = [one for one in github.artifacts if one.name == "release"]
    archive = zipfile.ZipFile(io.BytesIO(artifact.data))
    return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.nightly
def test_a_dry_run_builds_tests_and_publishes_nothing(
    act: Act, project: Project, github: FakeGitHub, tmp_path: Path
) -> None:
    published = tmp_path / "published"
    event = events.workflow_dispatch(project.git("rev-parse", "HEAD"), **{"dry-run": "true"})
    before = listed(project.top, "origin")
    ran = run(act, project, event, published, ONE_LEG)
    assert ran.exit == 0, ran.log
    files = built(github)
    assert {Path(name).suffix for name in files} == {".md", ".whl", ".gz", ""}
    assert files["notes.md"].decode().strip() and b"](docs/" not in files["notes.md"]
    assert "installed by pip" in ran.log and "finds the regression" in ran.log
    assert any("nothing is published" in summary for summary in ran.summaries)
    assert not published.exists() and listed(project.top, "origin") == before


# by day tests/release and tests/test_packages.py show what its steps do
@pytest.mark.nightly
def test_a_tag_is_published_in_order_and_once_all_agrees(
    act: Act, project: Project, github: FakeGitHub, tmp_path: Path
) -> None:
    published = tmp_path / "published"
    step = [sys.executable, "-m", "scripts.release", "--top", str(project.top)]
    module = project.top / "gate" / "__init__.py"
    assert f'"{VERSION}"' not in module.read_text()
    changelog = "# Changelog\n\n## [Unreleased]\n\n- It sings.\n"
    project.write("CHANGELOG.md", changelog)
    # without the example, whose gating the other test shows
    project.write("scripts/release/smoke.py", "print('installed')\n")
    subprocess.run([*step, "prepare", VERSION], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    head = project.commit("Release")
    project.git("push", "-q", "origin", "main")
    project.git("tag", f"v{VERSION}")
    project.git("push", "-q", "origin", f"v{VERSION}")
    event = events.Event(
        "push", {"ref": f"refs/tags/v{VERSION}", "repository": events.repository()}, f"refs/tags/v{VERSION}", head
    )

    ran = run(act, project, event, published, ONE_LEG)

    assert ran.exit == 0, ran.log
    told = published.read_text().splitlines()
    assert [line.split(" ")[0] for line in told] == [
        "actions/attest", "pypa/gh-action-pypi-publish", "gh", "gh", "actions/upload-pages-artifact", "actions/deploy-pages",
    ]  # fmt: skip
    packages = [f"perfgate-{VERSION}-py3-none-any.whl", f"perfgate-{VERSION}.tar.gz"]
    handed = (tmp_path / "published.files").read_text().splitlines()
    assert handed[:3] == ["SHA256SUMS", *packages] and handed[3:5] == packages
    assert f"release create v{VERSION} --verify-tag" in told[3] and all(name in told[3] for name in packages)
    given: dict[str, Any] = json.loads(told[1].partition(" ")[2])
    assert given["packages-dir"] == "dist/packages"
    assert built(github)["notes.md"].decode() == "- It sings.\n"
    assert datetime.now(UTC).strftime("- %Y-") in (project.top / "CHANGELOG.md").read_text()
    refs = listed(project.top, "origin")
    assert refs == {f"v{VERSION}": head, "v97": head, "v97.1": head}


def test_a_tag_that_does_not_fit_stops_before_anything_is_built(
    act: Act, project: Project, github: FakeGitHub, tmp_path: Path
) -> None:
    head = project.git("rev-parse", "HEAD")
    event = events.Event(
        "push", {"ref": "refs/tags/v97.1.0", "repository": events.repository()}, "refs/tags/v97.1.0", head
    )
    ran = run(act, project, event, tmp_path / "published", ONE_LEG)
    assert ran.exit == 1
    assert "release: the tag is v97.1.0, gate/__init__.py has " in ran.log
    assert github.artifacts == [] and not (tmp_path / "published").exists()
