"""What action.yml promises: inputs by `env:` only, one line of shell a step, the token where no code of the project runs."""

import os
import re
import subprocess
import sys
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
STEP = ROOT / "scripts" / "step"


def step(identity: str) -> dict[str, Any]:
    return next(s for s in STEPS if s.get("id") == identity)


def test_the_steps() -> None:
    assert ACTION["runs"]["using"] == "composite"
    assert [s.get("id") for s in STEPS] == [
        *("install", "prepare", "measure", "decide", "upload-report", "upload-data", "publish"),
    ]


@pytest.mark.parametrize("kind", ["inputs", "outputs"])
def test_every_input_and_output_is_documented(kind: str) -> None:
    for name, about in ACTION[kind].items():
        assert len(about["description"]) > 20 and about["description"].endswith("."), name
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", name)


def test_there_are_eighteen_inputs_at_most_and_none_is_required() -> None:
    assert len(ACTION["inputs"]) <= 18
    assert all(set(about) == {"description", "default"} for about in ACTION["inputs"].values())


def test_prepare_has_all_inputs_with_those_that_it_no_longer_knows() -> None:
    assert step("prepare")["env"]["INPUTS"] == "${{ toJSON(inputs) }}"


@pytest.mark.parametrize("run", RUN, ids=lambda s: str(s["name"]))
def test_one_line_of_shell_without_expressions(run: dict[str, Any]) -> None:
    assert "${{" not in run["run"] and "\n" not in run["run"].strip()
    # a shell that no name in PATH stands for, and that reads no file of the caller before it starts
    assert run["shell"] == "/bin/sh -e {0}"
    assert run.keys() <= {"name", "id", "if", "shell", "env", "run"}


def test_perfgate_is_started_by_one_script_isolated_by_its_absolute_path() -> None:
    for run in RUN[1:]:
        assert run["run"] == f'exec /bin/sh "$GITHUB_ACTION_PATH/scripts/step" {run["id"]}'
        assert run["env"]["INPUT_PYTHON"] == "${{ steps.install.outputs.python }}"
    assert 'exec "$INPUT_PYTHON" -I -m gate action "$1" <<' in STEP.read_text(encoding="utf-8")


def test_the_token_is_in_three_steps_only() -> None:
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    assert "inputs.token" not in text and text.count("github.token") == 1
    assert [s["id"] for s in STEPS if "toJSON(inputs)" in str(s)] == ["prepare", "decide", "publish"]


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks into /proc")
def test_what_a_step_starts_finds_the_token_in_no_environment(tmp_path: Path) -> None:
    """Neither its own nor of a process above it, also as root; perfgate has it all the same."""
    python = tmp_path / "python"
    code = (
        "import os,sys;p=os.getpid();n=0\n"
        "while p>1 and n<2:\n e=open(f'/proc/{p}/environ','rb').read();assert b'ghs_made_up' not in e,e\n"
        " p=int(open(f'/proc/{p}/stat').read().rpartition(')')[2].split()[1]);n+=1\n"
        "print(sys.argv[-1],sys.stdin.read())"
    )
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{code}" "$@"\n')
    python.chmod(0o755)
    given = dict.fromkeys(TOKENS, "ghs_made_up") | {"INPUT_PYTHON": str(python), "PATH": os.environ["PATH"]}
    given |= {"INPUTS": '{"token": "ghs_made_up $HOME"}', "ACTIONS_ID_TOKEN_REQUEST_URL": "x"}
    # a parent without it: that of this test has the environment of whoever started it
    done = subprocess.run(["/bin/sh", str(STEP), "prepare"], env=given, capture_output=True, text=True, check=True)
    assert done.stdout == 'prepare {"token": "ghs_made_up $HOME"}\n\n'


def test_a_step_that_fails_ends_the_action() -> None:
    """What the measuring step left counts for nothing where that failed: no later step runs, or has the token."""
    for late in STEPS[3:]:
        assert "cancelled()" not in str(late.get("if")) and "always()" not in str(late.get("if")), late["name"]
    assert not any(s.get("continue-on-error") for s in RUN)
    values = {name: about["value"] for name, about in ACTION["outputs"].items()}
    assert values["exit-code"] == "${{ steps.publish.outputs.exit-code || '4' }}"
    assert (
        values["verdict"] == "${{ steps.publish.outputs.exit-code == '' && 'error' || steps.publish.outputs.verdict }}"
    )


def test_what_the_loader_goes_by_is_empty_after_measuring() -> None:
    for late in (step("decide"), step("publish")):
        assert {n for n, v in late["env"].items() if v == ""} == {"LD_PRELOAD", "LD_AUDIT"}, late["name"]


def test_the_measuring_step_blanks_every_token() -> None:
    assert {n for n, v in step("measure")["env"].items() if v == ""} == TOKENS
    assert set(step("measure")["env"]) == TOKENS | {"INPUT_PYTHON", "INPUT_REQUEST"}


def test_one_nested_action_by_its_commit_at_most_twice() -> None:
    assert len({s["uses"] for s in USES}) == 1 and len(USES) == 2
    for use in USES:
        assert re.fullmatch(r"actions/upload-artifact@[0-9a-f]{40}", use["uses"])
        assert use["continue-on-error"] is True and "inputs.artifact != 'false'" in use["if"]


def test_an_upload_replaces_only_what_it_names() -> None:
    assert all("name" in use["with"] for use in USES if "overwrite" in use["with"])
    assert step("upload-report")["with"]["archive"] is False
