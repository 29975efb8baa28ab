"""perfgate gates itself by the workflow that it writes for public repositories, with the action of its own checkout."""

import re
from pathlib import Path

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parent.parent
ACTION = re.compile(r"perfgate/perfgate@v1|\./")


@pytest.mark.parametrize(("own", "template"), [("perfgate", "forks"), ("perfgate-publish", "forks-publish")])
def test_it_is_the_template(own: str, template: str) -> None:
    texts = [ROOT / ".github/workflows" / f"{own}.yml", ROOT / "templates/workflows" / f"{template}.yml"]
    ours, theirs = (YAML(typ="safe", pure=True).load(file.read_text(encoding="utf-8")) for file in texts)
    for workflow in (ours, theirs):
        for job in workflow["jobs"].values():
            uses = [step["uses"] for step in job["steps"]]
            assert sum(bool(ACTION.fullmatch(one)) for one in uses) == 1
            job["steps"] = [{**step, "uses": "perfgate"} for step in job["steps"] if ACTION.fullmatch(step["uses"])]
    assert ours == theirs


def test_no_checkout_keeps_a_token_on_the_disk() -> None:
    for name in ("nightly", "perfgate", "perfgate-publish"):
        workflow = YAML(typ="safe", pure=True).load(
            (ROOT / f".github/workflows/{name}.yml").read_text(encoding="utf-8")
        )
        for job in workflow["jobs"].values():
            checkouts = [step for step in job["steps"] if step.get("uses", "").startswith("actions/checkout@")]
            assert [step["with"]["persist-credentials"] for step in checkouts] == [False]


def test_the_nightly_run_is_that_of_make() -> None:
    workflow = YAML(typ="safe", pure=True).load((ROOT / ".github/workflows/nightly.yml").read_text(encoding="utf-8"))
    (job,) = workflow["jobs"].values()
    assert [step["run"] for step in job["steps"] if "run" in step] == [".ci/run nightly"]
    assert workflow["on"]["schedule"] and job["permissions"] == {"contents": "read"}
    target = re.search(r"^nightly: .*\n\t@.* -m pytest .*-m \"(.*)\"$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert target and target[1] == "nightly and not tools"
