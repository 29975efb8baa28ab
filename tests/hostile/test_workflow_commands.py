"""What a failed benchmark wrote stands in the log of a step: a workflow's runner takes no command from it (S12)."""

from __future__ import annotations

import re

from tests.hostile.conftest import PLAN, Stage

LINES = (
    "::error::pwn",
    "  ::stop-commands::tok",
    "##[error]pwn",
    "x ##[group]y",
    "::add-mask::a",
    "\\t::set-output name=x::y",
)
HEARD = re.compile(r"^\s*::|##\[", re.MULTILINE)


def test_none_is_heard(stage: Stage) -> None:
    script = f"printf '{'%s%b'.replace('%s', '')}\\n' '" + "\\n".join(LINES) + "' >&2; exit 3\n"
    config = f'{PLAN}[[benchmark]]\nname = "::warning::b"\ncommand = "sh b.sh"\n'
    stage.commit(config, {"b.sh": "exit 0\n"}, {"b.sh": script})
    stage.check("check", "--base", "HEAD~1", "--head", "HEAD", GITHUB_ACTIONS="true")
    assert stage.code == 4, stage.shown
    assert "stop-commands" in stage.shown
    assert HEARD.findall(stage.shown) == []
