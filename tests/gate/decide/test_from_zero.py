"""Base is 0: what is a change, what is open, and what a reader can do about it (docs/method.md)."""

import io
from pathlib import Path
from typing import Any

import pytest

from gate.cli.main import main
from gate.decide.next_steps import next_step
from gate.model import Report, reasons
from gate.words import findings, verdict_line
from tests.gate.decide.decided import decided
from tests.support.lines import builds


def report(base: list[float], head: list[float], **metric: Any) -> Report:
    """Decide over five builds of each; base, head: the values of each build."""
    table = {"name": "enc", "command": "x", "instrument": "values", "metric": {"allocs": {"unit": "count", **metric}}}
    lines = [
        line
        for side, values in (("base", base), ("head", head))
        for line in builds(side, [[values]] * 5, benchmark="enc", metric="allocs", unit="count")
    ]
    return decided(lines, {"benchmark": [table]})


@pytest.mark.parametrize(
    ("base", "head", "better", "verdict"),
    [
        ([0.0], [1.0], "lower", "regression"),
        ([0.0], [1.0], "higher", "improvement"),
        ([1.0], [0.0], "lower", "improvement"),
        ([0.0], [0.0], "lower", "unchanged"),
        # with spread it is measured, and still above 0 in every build
        ([0.0, 0.0], [1.0, 2.0], "lower", "regression"),
        ([0.0, 0.0], [0.0, 2.0], "lower", "inconclusive"),
    ],
)
def test_an_exact_count_that_leaves_0_in_every_build_has_changed(
    base: list[float], head: list[float], better: str, verdict: str
) -> None:
    (found,) = report(base, head, exact=True, better=better).findings
    assert found.verdict == verdict


def test_the_sentence_says_from_0_to_what() -> None:
    found = report([0.0], [1.0], exact=True)
    assert found.exit_code == 1
    assert found.findings[0].reason == reasons.ZeroBaseExceeds(floor=None, unit="count")
    assert verdict_line.text(found).startswith(
        "Regression: enc allocs went from 0 to 1, base is 0, and head is above it"
    )
    assert findings.conclusion(found.findings[0]) == (
        "allocs went from 0 to 1: regression, base is 0, and head is above it in every build"
    )


def test_a_floor_of_a_count_still_holds() -> None:
    assert report([0.0], [5.0], exact=True, floor=3).findings[0].verdict == "regression"
    found = report([0.0], [2.0], exact=True, floor=3)
    assert found.findings[0].verdict == "inconclusive"
    assert getattr(next_step(found), "kind", "") == "lower-floor"
    # what the rules allow does not block where noise does
    assert (found.findings[0].is_below_floor, found.findings[0].is_open) == (True, False)
    assert "allocs went from 0 to 2: undecided, beyond" in findings.conclusion(found.findings[0])
    assert not report([0.0], [2.0, 4.0], exact=True, floor=3).findings[0].is_below_floor


GO = "pkg: x/y\nBenchmarkEnc-8 \t 1000000\t        {time} ns/op\t       {bytes} B/op\t       {count} allocs/op\nPASS\n"
RULES = """[[benchmark]]
name = "BenchmarkEnc"
command = ["go", "test", "-bench=.", "-benchmem"]
instrument = "go"
[benchmark.metric."allocs/op"]
exact = true
"""


def test_allocations_of_go_that_go_from_0_to_1_fail_the_gate(tmp_path: Path) -> None:
    for k in range(5):
        (tmp_path / f"b{k}.txt").write_text(GO.format(time=51 + k / 10, bytes=0, count=0))
        (tmp_path / f"h{k}.txt").write_text(GO.format(time=51.05 + k / 10, bytes=16, count=1))
    (tmp_path / "perfgate.toml").write_text(RULES)
    out = io.StringIO()
    sides = [f"{side}={tmp_path}/{side[0]}*.txt" for side in ("base", "head")]
    code = main(["decide", *sides, "--config", str(tmp_path / "perfgate.toml")], out, io.StringIO())
    assert code == 1
    assert "Regression: BenchmarkEnc allocs/op went from 0 to 1" in out.getvalue()
