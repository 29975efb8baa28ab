"""An improvement too large to believe is held up in the headline: a head that does nothing is fast."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.gate.decide.decided import Lines, both, typed
from tests.support.lines import text

QUESTION = "does head still do the work?"
BOTH = {"parse": 0.055, "half": 0.6}
OVERRIDE = {"override": [{"benchmark": "parse", "implausible": "0"}, {"benchmark": "half", "implausible": "30%"}]}


def written(folder: Path, factors: dict[str, float], builds: int = 5, **rules: Any) -> str:
    rng = np.random.default_rng(5)
    better = rules.pop("better", "lower")
    found: Lines = [{"type": "run", "config": {"gate": {"floor": "0"}, **rules}}]
    for name, factor in factors.items():
        sides = ([[rng.normal(mean, 0.005 * mean, 3).tolist()] for _ in range(builds)] for mean in (1.0, factor))
        found += both(*sides, benchmark=name, better=better)
    (folder / "measurements.jsonl").write_text(text(found))
    return str(folder)


def asked(folder: str, *options: str) -> list[dict[str, Any]]:
    report = json.loads(typed("decide", folder, "--json", "-", *options)[1])
    return [{"text": w["text"], **w["details"]} for w in report["warnings"] if w["kind"] == "implausible"]


def names(folder: str, *options: str) -> list[str]:
    """The benchmarks whose improvement is asked about, in one warning."""
    return [each.partition(" ")[0] for warning in asked(folder, *options) for each in warning["improvements"]]


def test_it_is_in_every_headline_and_the_verdict_stays(tmp_path: Path) -> None:
    folder = written(tmp_path, {"parse": 0.055, "same": 1.0, "half": 0.6})
    code, shown = typed("decide", folder)
    assert code == 0
    headline = " ".join(shown.partition("\n\n")[0].split())
    assert headline.startswith("✔ Pass: 3 results, none worse; parse is 94.5% faster (at least ")
    assert headline.endswith(f"; parse is 94.5% faster: {QUESTION}")
    for form, found in (
        ("markdown", "✅ **Pass**: "),
        ("summary", "✅ **Pass**: "),
        ("html", '<span class="word">Pass</span>: '),
    ):
        _, written_as = typed("report", folder, "--format", form)
        (line,) = (each for each in written_as.splitlines() if found in each)
        assert "parse is 94.5% faster" in line and QUESTION in line
    (warning,) = asked(folder)
    assert warning["improvements"] == ["parse is 94.5% faster"]
    assert warning["text"] == f"parse is 94.5% faster: {QUESTION}"
    _, report = typed("decide", folder, "--json", "-")
    assert json.loads(report)["verdict"] == "pass"


def test_a_higher_rate_is_measured_by_its_inverse(tmp_path: Path) -> None:
    # a rate of 1.9 times is 47% less time, one of 2.1 times is 52% less
    folder = written(tmp_path, {"nearly": 1.9, "beyond": 2.1}, better="higher")
    (warning,) = asked(folder)
    assert [each.partition(" ")[0] for each in warning["improvements"]] == ["beyond"]
    assert "beyond is 110% higher" in warning["text"].replace("109%", "110%").replace("111%", "110%")


@pytest.mark.parametrize(
    ("factors", "more", "options", "expected"),
    [
        (BOTH, {}, ("--set", "gate.implausible=0"), []),
        (BOTH, {}, ("--set", "gate.implausible=30%"), ["parse", "half"]),
        (BOTH, {}, ("--set", "gate.implausible=50%"), ["parse"]),
        (BOTH, {}, ("--set", "gate.implausible=100%"), []),
        # an override has its own
        (BOTH, OVERRIDE, (), ["half"]),
        # it needs an interval and no verdict: two builds are too few for one
        ({"parse": 0.055}, {"builds": 2}, (), ["parse"]),
        ({"parse": 0.055}, {"builds": 1}, (), []),
        # a rate that fell to nothing is a regression and no improvement
        ({"gone": 0.0}, {"better": "higher"}, (), []),
    ],
)
def test_what_is_asked_about(
    tmp_path: Path, factors: dict[str, float], more: dict[str, Any], options: tuple[str, ...], expected: list[str]
) -> None:
    assert names(written(tmp_path, factors, **more), *options) == expected


def test_many_are_counted(tmp_path: Path) -> None:
    folder = written(tmp_path, {name: 0.1 + k / 100 for k, name in enumerate("abcde")})
    (warning,) = asked(folder)
    assert len(warning["improvements"]) == 5
    assert warning["text"].startswith("a is 90.")
    assert warning["text"].endswith(f"and 2 more: {QUESTION}")


def test_a_comparison_of_two_runs_does_not_ask(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    for folder in (first, second):
        folder.mkdir()
    one, other = written(first, {"parse": 1.0}), written(second, {"parse": 0.055})
    assert QUESTION not in typed("compare", one, other)[1]
