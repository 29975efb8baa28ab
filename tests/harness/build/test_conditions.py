"""What a person changes in the environment to repeat a command by hand."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from gate.config.types import BuildTable
from gate.model import Side
from harness.build.conditions import Conditions, Recipe
from harness.process.execute import ProcessExecutor
from harness.sandbox.sandbox import Sandbox

GIVEN = {
    "HOME": "/work/home",
    "TMPDIR": "/work/home/.tmp",
    "CARGO_HOME": "/work/home/.cargo",
    "JAVA_TOOL_OPTIONS": "-D",
}


class Given(Sandbox):
    def environment(self, side: Side) -> Mapping[str, str]:
        return GIVEN


def test_what_the_sandbox_set_is_not_shown_and_what_the_project_set_is(tmp_path: Path) -> None:
    caller = {"HOME": "/home/me", "CARGO_HOME": "/home/me/.cargo", "LANG": "C", "A_TOKEN": "x"}
    own = {"HOME": "/home/me", "CARGO_HOME": "/other", "LANG": "C"}
    recipe = Recipe(BuildTable(), own)
    conditions = Conditions(ProcessExecutor(), {"base": recipe, "head": recipe}, caller, tmp_path, sandbox=Given())
    ran = {**own, **GIVEN, "PERFGATE_SEED": "7"}
    assert conditions.difference("head", ran) == {"A_TOKEN": "", "CARGO_HOME": "/other", "PERFGATE_SEED": "7"}
    # an instrument that extends one says more than the sandbox does
    more = {**ran, "JAVA_TOOL_OPTIONS": "-D -X"}
    assert conditions.difference("head", more)["JAVA_TOOL_OPTIONS"] == "-D -X"
