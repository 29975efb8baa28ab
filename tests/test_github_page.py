"""The pages about GitHub and the action agree: docs/github.md names what action.yml has, and workflows shown are valid."""

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


def action() -> dict[str, Any]:
    found = YAML(typ="safe", pure=True).load((ROOT / "action.yml").read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def table(heading: str) -> dict[str, list[str]]:
    """The rows of the first table or list below a heading, by what stands in code in their first column."""
    (_, _, after) = PAGE.partition(f"\n{heading}\n")
    lines = after.partition("\n#")[0].splitlines()
    rows = [line.strip("|").split("|") for line in lines if line.startswith("| `")]
    rows = rows or [re.split(r"(?<=`): ", line[2:], maxsplit=1) for line in lines if line.startswith("- `")]
    return {first.strip().strip("`"): [cell.strip() for cell in more] for first, *more in rows}


def test_inputs() -> None:
    inputs = action()["inputs"]
    rows = table("## Inputs")
    assert list(rows) == list(inputs)
    for name, declared in inputs.items():
        default, told = declared.get("default", ""), rows[name][0]
        if default and "${{" not in default:
            assert told == f"`{default}`", name


def test_outputs() -> None:
    assert list(table("## Outputs")) == list(action()["outputs"])


def test_every_permission_of_the_workflows_is_explained() -> None:
    explained = {row.partition(":")[0] for row in table("## Permissions")}
    wanted = set()
    for file in (templates() / "workflows").iterdir():
        for job in YAML(typ="safe", pure=True).load(file.read_text(encoding="utf-8"))["jobs"].values():
            wanted |= set(job["permissions"])
    assert wanted == explained


def test_every_workflow_is_named() -> None:
    assert set(table("## The first workflow")) == set(KINDS)


def test_the_first_workflow_is_short() -> None:
    assert len(FIRST.splitlines()) <= 12


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
