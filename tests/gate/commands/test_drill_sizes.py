"""What a drill says that its gate finds: the size of a slowdown, whichever look the planted one was called at."""

from pathlib import Path

import numpy as np
import pytest

from gate.cli.groups import RulesOptions
from gate.commands.drill.drill import _sizes
from gate.evidence.records import read_inputs
from gate.planning.deciding import decide_inputs
from tests.gate.decide.decided import rounds_of
from tests.support import lines

CONFIG = {"plan": {"builds": {"min": 4, "max": 12}}, "gate": {"threshold": "5%", "interval": "paired"}}


def size(folder: Path, rounds: int, slower: float, **until: int) -> float:
    rng = np.random.default_rng(5)
    base, noise = rng.normal(0.1, 0.001, 12), rng.normal(1, 0.02, 12)
    found = rounds_of({"bench": (base.tolist(), (base * slower * noise).tolist())}, rounds, CONFIG, until=until)
    file = folder / f"{rounds}.jsonl"
    file.write_text(lines.text(found), encoding="utf-8")
    return _sizes(decide_inputs(read_inputs([str(file)]), RulesOptions()))["bench"]


def test_a_planted_slowdown_that_is_called_early_does_not_hide_what_the_whole_plan_finds(tmp_path: Path) -> None:
    early, whole = size(tmp_path, 6, 1.25, bench=6), size(tmp_path, 12, 1.0)
    # 12 rounds estimate the noise anew: the same but for its chance
    assert 0.05 < whole < 0.1
    assert early == pytest.approx(whole, rel=0.25)
