"""What a run could have shown: against the noncentral t of scipy, and against how often such a change is called."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from gate.model import Report
from gate.stats.sequential import spending
from tests.gate.decide.decided import Lines, Means, decided, ones, only, rounds_of, typed
from tests.support.lines import text


def report(means: Means, rules: Any = (), **gate: Any) -> Report:
    """A run of six builds of a value each."""
    gate = {"threshold": "3%", "floor": "0", "interval": "fieller", "detectable": "threshold", **gate}
    found = [line for name, sides in means.items() for line in ones(*sides, benchmark=name)]
    return decided(found, {"gate": gate, "benchmark": list(rules)})


def drawn(rng: np.random.Generator, builds: int, sd: float) -> tuple[list[float], list[float]]:
    return rng.normal(1, sd, builds).tolist(), rng.normal(1, sd, builds).tolist()


def twin(base: list[float], head: list[float], threshold: float, alpha: float) -> float:
    """The smallest change by bisection on the power of T, without any closed form."""
    b, h, n = np.array(base), np.array(head), len(base)
    v_x, v_y = (float(s.var(ddof=1)) / n / float(s.mean()) ** 2 for s in (b, h))
    # Satterthwaite's degrees at the estimated ratio
    u, w = float(b.var(ddof=1)) * (h.mean() / b.mean()) ** 2, float(h.var(ddof=1))
    df = (u + w) ** 2 / ((u**2 + w**2) / (n - 1))
    limit = float(stats.t.ppf(1 - alpha / 2, df))

    def power(change: float) -> float:
        t = (change - threshold) / math.sqrt((1 + change) ** 2 * v_y + (1 + threshold) ** 2 * v_x)
        return float(stats.nct.sf(limit, df, t))

    low, high = threshold, 10.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if power(middle) >= 0.8 else (middle, high)
    return high


@pytest.mark.parametrize("cases", [1, 12])
@pytest.mark.parametrize("sd", [0.005, 0.05])
def test_a_literal_twin(cases: int, sd: float) -> None:
    rng = np.random.default_rng(4)
    means = {f"case-{k}": drawn(rng, 6, sd) for k in range(cases)}
    for finding in report(means).findings:
        assert finding.verdict in ("inconclusive", "unchanged")
        expected = twin(*means[finding.benchmark], threshold=0.03, alpha=0.05 / cases)
        assert finding.detectable == pytest.approx(expected, rel=1e-4)


def test_what_looks_leave_at_the_last_one() -> None:
    means = {"a": drawn(np.random.default_rng(9), 12, 0.03)}
    gate = {"threshold": "3%", "floor": "0", "interval": "fieller", "detectable": "threshold"}
    found = only(rounds_of(means, 12, {"plan": {"builds": {"min": 4, "max": 12}}, "gate": gate}))
    alpha = spending((4, 6, 8, 12)).nominal(3, 0.05)
    assert found.verdict == "inconclusive"
    assert found.detectable == pytest.approx(twin(*means["a"], threshold=0.03, alpha=alpha), rel=1e-4)


def test_a_floor_is_needed_too() -> None:
    means = {"a": drawn(np.random.default_rng(4), 6, 0.005)}
    without, found = (report(means, floor=floor).findings[0].detectable for floor in ("0", "0.2s"))
    assert without is not None and without < 0.2
    assert found is not None and 0.2 < found < 0.25


@pytest.mark.parametrize(
    ("means", "rules"),
    [
        (([1.0, 1.01, 0.99], [1.0, 1.02, 0.98]), {}),
        (([1.0, 1.9, 0.1, 1.7, 0.2], [1.1, 1.8, 0.2, 1.9, 0.1]), {}),
        (([1.0] * 5, [1.0] * 5), {"exact": True}),
    ],
    ids=["too few builds", "too noisy for any", "exact"],
)
def test_where_nothing_would_be_called_there_is_none(means: tuple[list[float], list[float]], rules: Any) -> None:
    table = {"name": "a", "command": "x", "instrument": "values", "metric": {"time": rules}}
    (found,) = report({"a": means}, [table]).findings
    assert found.verdict in ("inconclusive", "unchanged")
    assert found.detectable is None


def test_every_format_says_it_and_one_finding_has_one_sentence(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    found: Lines = [{"type": "run", "config": {"gate": {"floor": "0", "detectable": "threshold"}}}]
    for name, sd in (("calm", 0.004), ("noisy", 0.06)):
        found += ones(*drawn(rng, 6, sd), benchmark=name)
    (tmp_path / "measurements.jsonl").write_text(text(found))
    report = json.loads(typed("decide", str(tmp_path), "--json", "-")[1])
    noisy = next(f["detectable"] for f in report["findings"] if f["benchmark"] == "noisy")
    for form in ("markdown", "summary", "html"):
        said = typed("report", str(tmp_path), "--format", form)[1].replace("&nbsp;", " ")
        assert f"{noisy * 100:.1f}" in said
    alone = typed("decide", str(tmp_path), "--benchmark", "noisy", "--all")[1]
    assert " ".join(alone.split()).count("this run catches slowdowns above") == 1
