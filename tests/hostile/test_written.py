"""What a run writes: more values than anybody compares (S11), commands for a workflow's runner (S12), no room left (L2)."""

import re
import resource

import pytest

from tests.hostile.conftest import PLAN, Stage

MANY = '[[benchmark]]\nname = "b"\ninstrument = "values"\ncommand = "yes 1 | head -c 22000000 > {output}"\n'
LINES = (
    "::error::pwn",
    "  ::stop-commands::tok",
    "##[error]pwn",
    "x ##[group]y",
    "::add-mask::a",
    "\\t::set-output name=x::y",
)
HEARD = re.compile(r"^\s*::|##\[", re.MULTILINE)


def test_values_that_are_too_many_are_refused_in_words(stage: Stage) -> None:
    stage.commit('[gate]\nsameness = "off"\n' + PLAN + MANY, {"x": "1"}, {"x": "2"})
    # of its own: the largest process of these tests may be another's
    stage.check(before=lambda: resource.setrlimit(resource.RLIMIT_DATA, (1_000_000_000, 1_000_000_000)))
    assert stage.code == 4, stage.shown
    assert "more than 10,000,000 values in one run" in stage.shown


@pytest.mark.parametrize("room", [2_000, 12_000])
def test_a_full_disk_ends_with_4(stage: Stage, room: int) -> None:
    """No file may be longer: the measurements, report.json or report.html."""
    stage.commit(
        f'[gate]\nsameness = "off"\n{PLAN}[[benchmark]]\nname = "b"\ncommand = "true"\n', {"x": "1"}, {"x": "2"}
    )
    stage.check(before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room)))
    assert stage.code == 4, stage.shown
    assert "Traceback" not in stage.shown
    assert "File too large" in stage.shown


def test_no_command_is_heard(stage: Stage) -> None:
    script = f"printf '{'%s%b'.replace('%s', '')}\\n' '" + "\\n".join(LINES) + "' >&2; exit 3\n"
    config = f'{PLAN}[[benchmark]]\nname = "::warning::b"\ncommand = "sh b.sh"\n'
    stage.commit(config, {"b.sh": "exit 0\n"}, {"b.sh": script})
    stage.check("check", "--base", "HEAD~1", "--head", "HEAD", GITHUB_ACTIONS="true")
    assert stage.code == 4, stage.shown
    assert "stop-commands" in stage.shown
    assert HEARD.findall(stage.shown) == []
