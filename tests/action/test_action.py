"""What action.yml promises: inputs by `env:` only, one line of shell a step, the token where no code of the project runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]
ACTION: dict[str, Any] = YAML(typ="safe", pure=True).load(ROOT / "action.yml")
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
RUN = [step for step in STEPS if "run" in step]
USES = [step for step in STEPS if "uses" in step]
TOKENS = {"GITHUB_TOKEN", "GH_TOKEN", "INPUT_TOKEN", "ACTIONS_RUNTIME_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN"}
LOADER = {"LD_PRELOAD", "LD_AUDIT", "GCONV_PATH", "BASH_ENV", "ENV"}
MEASURED = "(steps.measure.outcome == 'success' || steps.measure.outcome == 'skipped')"
UNMEASURED = "steps.measure.outcome != 'success' && steps.measure.outcome != 'skipped'"


def step(identity: str) -> dict[str, Any]:
    return next(s for s in STEPS if s.get("id") == identity)


def test_the_steps() -> None:
    assert ACTION["runs"]["using"] == "composite"
    assert [s.get("id") for s in STEPS] == [
        *("install", "prepare", "measure", "decide", "upload-report", "upload-data", "publish", None),
    ]


@pytest.mark.parametrize("kind", ["inputs", "outputs"])
def test_every_input_and_output_is_documented(kind: str) -> None:
    for name, about in ACTION[kind].items():
        assert len(about["description"]) > 20 and about["description"].endswith("."), name
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", name)


def test_nothing_is_required_and_all_have_a_default() -> None:
    assert all(set(about) == {"description", "default"} for about in ACTION["inputs"].values())


def test_every_input_is_used() -> None:
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    used = set(re.findall(r"\$\{\{.*?inputs\.([a-z-]+).*?\}\}", text))
    assert used == ACTION["inputs"].keys()


def test_prepare_has_each_input_under_its_name() -> None:
    given = {n: v for n, v in step("prepare")["env"].items() if n.startswith("INPUT_") and n != "INPUT_PYTHON"}
    elsewhere = {"token", "perfgate-path"}
    assert given == {
        f"INPUT_{name.upper().replace('-', '_')}": f"${{{{ inputs.{name} }}}}"
        for name in ACTION["inputs"]
        if name not in elsewhere
    }


@pytest.mark.parametrize("run", RUN, ids=lambda s: str(s["name"]))
def test_one_line_of_shell_without_expressions(run: dict[str, Any]) -> None:
    assert "${{" not in run["run"] and "\n" not in run["run"].strip()
    # a shell that no name in PATH stands for, and that reads no file of the caller before it starts
    assert run["shell"] == "/bin/sh -e {0}"
    assert run.keys() <= {"name", "id", "if", "shell", "env", "run"}


def test_perfgate_is_started_isolated_by_its_absolute_path() -> None:
    for run in RUN[1:-1]:
        assert re.search(rf'(^|; )exec "\$INPUT_PYTHON" -I -m gate action {run["id"]}$', run["run"]), run["name"]
        assert run["env"]["INPUT_PYTHON"] == "${{ steps.install.outputs.python }}"


def test_the_token_is_in_three_steps_only() -> None:
    having = [s["id"] for s in STEPS if "inputs.token" in str(s) or "github.token" in str(s)]
    assert having == ["prepare", "decide", "publish"]
    assert step("prepare")["env"]["GITHUB_TOKEN"] == "${{ inputs.token }}"


def test_after_a_failed_measuring_step_no_step_has_the_token() -> None:
    for late in ("decide", "publish"):
        environment = step(late)["env"]
        assert environment["GITHUB_TOKEN"] == f"${{{{ {MEASURED} && inputs.token || '' }}}}"
        assert environment["INPUT_MEASURED"] == "${{ steps.measure.outcome }}"
    assert step("publish")["env"]["INPUT_DECIDED"] == "${{ steps.decide.outcome }}"
    assert all(MEASURED in use["if"] for use in USES)


def test_after_a_failed_measuring_step_nothing_that_is_said_counts() -> None:
    values = {name: about["value"] for name, about in ACTION["outputs"].items()}
    for name, instead in (("verdict", "error"), ("exit-code", "4")):
        nothing = f"({UNMEASURED} || steps.publish.outputs.exit-code == '')"
        assert values[name] == f"${{{{ {nothing} && '{instead}' || steps.publish.outputs.{name} }}}}"
    for name in ("report", "json", "comment-url"):
        assert values[name] == f"${{{{ {MEASURED} && steps.publish.outputs.{name} || '' }}}}"


def test_what_the_loader_and_shells_go_by_is_empty_after_measuring() -> None:
    for late in (step("decide"), step("publish"), STEPS[-1]):
        assert {n for n, v in late["env"].items() if v == ""} == LOADER, late["name"]


def test_the_measuring_step_blanks_every_token() -> None:
    measure = step("measure")
    assert {n for n, v in measure["env"].items() if v == ""} == TOKENS
    assert set(measure["env"]) == TOKENS | {"INPUT_PYTHON", "INPUT_REQUEST"}
    # the runner sets these after env:, when the job may ask for them
    unset = measure["run"].partition("; exec ")[0].split()
    assert unset[0] == "unset" and {"ACTIONS_ID_TOKEN_REQUEST_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_URL"} <= set(unset)


def test_one_nested_action_by_its_commit_at_most_twice() -> None:
    assert len({s["uses"] for s in USES}) == 1 and len(USES) == 2
    for use in USES:
        assert re.fullmatch(r"actions/upload-artifact@[0-9a-f]{40}", use["uses"])
        assert use["continue-on-error"] is True and "inputs.artifact != 'false'" in use["if"]


def test_an_upload_replaces_only_what_it_names() -> None:
    assert all("name" in use["with"] for use in USES if "overwrite" in use["with"])
    assert step("upload-report")["with"]["archive"] is False


def test_a_failure_before_does_not_stop_publishing_nor_the_verdict() -> None:
    for late in STEPS[3:]:
        assert late["if"].startswith("${{ !cancelled()"), late["name"]
    assert STEPS[-1]["env"]["CODE"] == f"${{{{ {UNMEASURED} && '4' || steps.publish.outputs.exit-code }}}}"
    assert STEPS[-1]["run"] == 'exit "${CODE:-4}"'
    assert not any(s.get("continue-on-error") for s in RUN)
