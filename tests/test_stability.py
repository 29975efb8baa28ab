"""What docs/stability.md promises: nothing that a release had is taken away before version 2."""

from gate import __version__
from scripts.surface import KEPT, surface


def test_nothing_that_was_there_is_gone() -> None:
    kept = set(KEPT.read_text(encoding="utf-8").splitlines())
    assert len(kept) > 900
    assert sorted(kept - surface()) == []


def test_the_promise_is_of_this_major_version() -> None:
    assert __version__.partition(".")[0] == "1"


def test_each_part_of_the_surface_is_found() -> None:
    known = {
        "perfgate check --base",
        "perfgate history trend --json",
        "perfgate report --format markdown",
        "exit code 5",
        'perfgate.toml gate.family = "holm"',
        "perfgate.toml benchmark[].metric.*.threshold",
        "report.json findings[].ratio.low",
        'report.json findings[].verdict = "no-sign"',
        'report.json reasons = "too-noisy"',
        "measurements.jsonl execution.benchmark",
        "action inputs command",
        "action outputs verdict",
    }
    assert known - surface() == set()
