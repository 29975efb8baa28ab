"""What a resumed run must find unchanged."""

from pathlib import Path

import msgspec
import pytest

from gate.config.parse import parse
from gate.config.schema import to_tables
from gate.config.source import from_tables
from gate.model import Run, UserError
from gate.run.folder import refuse_other


def run(**plan: object) -> Run:
    tables = {"plan": plan, "benchmark": [{"name": "a", "command": "true", "instrument": "values"}]}
    return Run(id="1", seed=7, config=to_tables(parse(from_tables(tables, "test"))), benchmarks={"base": ["a"]})


def test_a_key_that_an_older_perfgate_did_not_know_changes_nothing() -> None:
    now = run()
    assert now.config is not None and "format" in now.config["benchmark"][0]
    older = [{key: value for key, value in each.items() if key != "format"} for each in now.config["benchmark"]]
    refuse_other(msgspec.structs.replace(now, config=now.config | {"benchmark": older}), now, Path("folder"))


def test_another_plan_is_another_run() -> None:
    with pytest.raises(UserError, match="the rules, benchmarks or plan have changed"):
        refuse_other(run(), run(iterations=9), Path("folder"))
