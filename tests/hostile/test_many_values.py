"""A benchmark prints more values than anybody compares, in far fewer bytes than its output may have (S11)."""

from __future__ import annotations

import resource

from tests.hostile.conftest import PLAN, Stage

BENCHMARK = '[[benchmark]]\nname = "b"\ninstrument = "values"\ncommand = "yes {} | head -c 22000000 > {{output}}"\n'


def test_is_refused_in_words(stage: Stage) -> None:
    stage.commit('[gate]\nsameness = "off"\n' + PLAN + BENCHMARK.format(1), {"x": "1"}, {"x": "2"})
    stage.check()
    assert stage.code == 4, stage.shown
    assert "more than 10,000,000 values in one run" in stage.shown
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 1_000_000
