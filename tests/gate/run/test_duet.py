"""What cannot be measured with both sides at once, and is refused before anything is."""

from __future__ import annotations

import os

import pytest

from gate.config.parse import parse
from gate.config.source import read_source
from gate.config.types import Config
from gate.model import UserError
from gate.run import duet

WORK = '[[benchmark]]\nname = "work"\ncommand = "./work"\n'


def config(*, plan: str = "", benchmark: str = "") -> Config:
    return parse(read_source(f'[plan]\npairing = "duet"\n{plan}\n{WORK}{benchmark}\n', "perfgate.toml"))


def test_wall_time_is_refused_where_one_benchmark_has_one_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duet, "others_load", lambda: 0.0)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    duet.refuse_wall_time(config(plan='metrics = ["time"]'), ["work"])
    found = config(plan='metrics = ["time"]', benchmark='cpus = "0"')
    with pytest.raises(UserError, match=r'work: time cannot be decided in a duet on one processor: .*\["cpu"\]'):
        duet.refuse_wall_time(found, ["work"])


def test_wall_time_is_refused_on_a_busy_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duet, "others_load", lambda: 0.4)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    with pytest.raises(UserError, match=r"work: time .* others take 40% of its processors"):
        duet.refuse_wall_time(config(benchmark="[benchmark.metric.time]"), ["work"])
    # CPU time, the default, is not
    duet.refuse_wall_time(config(), ["work"])
