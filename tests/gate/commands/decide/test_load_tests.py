"""The share of requests that succeed, decided like any metric; in process."""

import io
import json
from pathlib import Path

import pytest

from gate.cli.main import main
from gate.model import SIDES
from tests.support.lines import builds, text

BENCHMARK = {"name": "bench", "command": "./load", "instrument": "values", "column": "elapsed"}


@pytest.mark.parametrize(
    ("failed", "verdict"),
    [
        # base, head: the share of requests that failed
        ((0.0, 0.0), "unchanged"),
        ((0.0, 0.05), "regression"),
        ((0.05, 0.0), "improvement"),
        ((0.0, 0.01), "unchanged"),
    ],
)
def test_a_change_in_the_share_of_requests_that_succeed(
    tmp_path: Path, failed: tuple[float, float], verdict: str
) -> None:
    run = {"type": "run", "schema": 1, "id": "1", "config": {"benchmark": [BENCHMARK]}}
    lines = [run]
    for side, share in zip(SIDES, failed, strict=True):
        lines += builds(side, [[[1.0 - share]] * 3] * 5, metric="success", unit="", better="higher")
    path = tmp_path / "measurements.jsonl"
    path.write_text(text(lines))
    out, err = io.StringIO(), io.StringIO()
    code = main(["decide", str(path), "--json", "-"], out, err)
    (finding,) = json.loads(out.getvalue())["findings"]
    assert (finding["verdict"], code) == (verdict, int(verdict == "regression"))
