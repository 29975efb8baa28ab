"""No room is left while a run writes: that is an error, and no fault of the command line (L2)."""

from __future__ import annotations

import resource

import pytest

from tests.hostile.conftest import PLAN, Stage


@pytest.mark.parametrize("room", [2_000, 12_000])
def test_ends_with_4(stage: Stage, room: int) -> None:
    """No file may be longer: the measurements, report.json or report.html."""
    stage.commit(
        f'[gate]\nsameness = "off"\n{PLAN}[[benchmark]]\nname = "b"\ncommand = "true"\n', {"x": "1"}, {"x": "2"}
    )
    stage.check(before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room)))
    assert stage.code == 4, stage.shown
    assert "Traceback" not in stage.shown
    assert "File too large" in stage.shown
