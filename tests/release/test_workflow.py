"""The workflow of a release gives each job the rights that it needs, and docs/releasing.md explains each job."""

import re
from pathlib import Path

from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]
WORKFLOW = YAML(typ="safe", pure=True).load((ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8"))


def test_what_publishes_has_no_more_rights_than_it_needs() -> None:
    assert WORKFLOW["permissions"] == {} and WORKFLOW["concurrency"] == {
        "group": "release",
        "cancel-in-progress": False,
    }
    jobs = WORKFLOW["jobs"]
    assert {name: job["permissions"] for name, job in jobs.items()} == {
        "build": {"contents": "read"},
        "test": {"contents": "read"},
        "attest": {"id-token": "write", "attestations": "write"},
        "pypi": {"id-token": "write"},
        "github": {"contents": "write"},
        "site": {"contents": "read"},
        "pages": {"pages": "write", "id-token": "write"},
    }
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
