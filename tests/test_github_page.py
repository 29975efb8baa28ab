"""docs/github.md names what action.yml has, workflows shown are valid, and perfgate gates itself by its own template."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from gate.commands.init.workflow import KINDS
from gate.document.html import templates
from tests.support.pages import ROOT

PAGE = (ROOT / "docs" / "github.md").read_text(encoding="utf-8")
WORKFLOW = re.compile(r"^```yaml\n(name: (?s:.*?))^```$", re.MULTILINE)

(FIRST,) = WORKFLOW.findall((ROOT / "README.md").read_text(encoding="utf-8"))


def loaded(file: Path) -> Any:
    return YAML(typ="safe", pure=True).load(file.read_text(encoding="utf-8"))


ACTION = loaded(ROOT / "action.yml")
OURS = re.compile(r"perfgate/perfgate@v1|\./")


def table(heading: str) -> dict[str, list[str]]:
    """The rows of the first table or list below a heading, by what stands in code in their first column."""
    (_, _, after) = PAGE.partition(f"\n{heading}\n")
    lines = after.partition("\n#")[0].splitlines()
    rows = [line.strip("|").split("|") for line in lines if line.startswith("| `")]
    rows = rows or [re.split(r"(?<=`): ", line[2:], maxsplit=1) for line in lines if line.startswith("- `")]
    return {first.strip().strip("`"): [cell.strip() for cell in more] for first, *more in rows}


def test_inputs_and_outputs() -> None:
    inputs = ACTION["inputs"]
    rows = table("## Inputs")
    assert list(rows) == list(inputs)
    for name, declared in inputs.items():
        default, told = declared.get("default", ""), rows[name][0]
        if default and "${{" not in default:
            assert told == f"`{default}`", name
    assert list(table("## Outputs")) == list(ACTION["outputs"])


def test_every_permission_of_the_workflows_is_explained() -> None:
    explained = {row.partition(":")[0] for row in table("## Permissions")}
    wanted = set()
    for file in (templates() / "workflows").iterdir():
        for job in loaded(file)["jobs"].values():
            wanted |= set(job["permissions"])
    assert wanted == explained


def test_every_workflow_is_named_and_the_first_one_is_short() -> None:
    assert set(table("## The first workflow")) == set(KINDS)
    assert len(FIRST.splitlines()) <= 12


@pytest.mark.endtoend
@pytest.mark.parametrize("text", [FIRST, *WORKFLOW.findall(PAGE)], ids=lambda text: text.splitlines()[0])
def test_the_workflows_of_the_page_are_valid(text: str, tmp_path: Path) -> None:
    workflow = tmp_path / "perfgate.yml"
    workflow.write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", str(workflow)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_actions_of_pages_are_pinned_as_in_the_templates() -> None:
    pin = re.compile(r"actions/checkout@[^\n]*")
    shown = {*pin.findall(PAGE), *pin.findall((ROOT / "README.md").read_text(encoding="utf-8"))}
    files = (file.read_text(encoding="utf-8") for file in (templates() / "workflows").iterdir())
    assert {found for text in files for found in pin.findall(text)} == shown


# --- perfgate's own workflows -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("own", "template"), [("perfgate", "forks"), ("perfgate-publish", "forks-publish")])
def test_it_is_the_template(own: str, template: str) -> None:
    texts = [ROOT / ".github/workflows" / f"{own}.yml", ROOT / "templates/workflows" / f"{template}.yml"]
    ours, theirs = (loaded(file) for file in texts)
    for workflow in (ours, theirs):
        for job in workflow["jobs"].values():
            uses = [step["uses"] for step in job["steps"]]
            assert sum(bool(OURS.fullmatch(one)) for one in uses) == 1
            job["steps"] = [{**step, "uses": "perfgate"} for step in job["steps"] if OURS.fullmatch(step["uses"])]
    assert ours == theirs


def test_no_checkout_keeps_a_token_on_the_disk() -> None:
    for name in ("nightly", "perfgate", "perfgate-publish"):
        workflow = loaded(ROOT / f".github/workflows/{name}.yml")
        for job in workflow["jobs"].values():
            checkouts = [step for step in job["steps"] if step.get("uses", "").startswith("actions/checkout@")]
            assert [step["with"]["persist-credentials"] for step in checkouts] == [False]


def test_the_nightly_run_is_that_of_make() -> None:
    workflow = loaded(ROOT / ".github/workflows/nightly.yml")
    (job,) = workflow["jobs"].values()
    assert [step["run"] for step in job["steps"] if "run" in step] == [".ci/run nightly"]
    assert workflow["on"]["schedule"] and job["permissions"] == {"contents": "read"}
    target = re.search(r"^nightly: .*\n\t@.* -m pytest .*-m \"(.*)\"$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert target and target[1] == "nightly and not tools"
