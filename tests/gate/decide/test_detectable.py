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
from tests.gate.decide.decided import decided, typed
from tests.support import lines

Means = dict[str, tuple[list[float], list[float]]]


def report(means: Means, better: str = "lower", looks: int = 0, **tables: Any) -> Report:
    """A run of one value a build; looks: of so many rounds with look lines."""
    gate = {"threshold": "3%", "floor": "0", "interval": "fieller", "detectable": "threshold", **tables.pop("gate", {})}
    config = {"gate": gate, **tables}
    found: list[dict[str, Any]] = [{"type": "run", "config": config, **({"looks": 12} if looks else {})}]
    for name, sides in means.items():
        for side, values in zip(("base", "head"), sides, strict=True):
            found += lines.builds(side, [[[v]] for v in values], benchmark=name, better=better)
    found += [{"type": "look", "look": n, "settled": []} for n in range(1, looks + 1)]
    return decided(found, config)


def drawn(rng: np.random.Generator, builds: int, sd: float, ratio: float = 1.0) -> tuple[list[float], list[float]]:
    return rng.normal(1, sd, builds).tolist(), (ratio * rng.normal(1, sd, builds)).tolist()


def twin(base: list[float], head: list[float], threshold: float, alpha: float, share: float = 1.0) -> float:
    """The smallest change by bisection on the power of T, without any closed form."""
    b, h = np.array(base), np.array(head)
    v_x, v_y = (float(s.var(ddof=1)) / len(s) / float(s.mean()) ** 2 * share for s in (b, h))
    # Satterthwaite's degrees at the estimated ratio
    n = len(base)
    u, w = float(b.var(ddof=1)) * (h.mean() / b.mean()) ** 2, float(h.var(ddof=1))
    df = (u + w) ** 2 / ((u**2 + w**2) / (n - 1))
    df = df * (round(n / share) - 1) / (n - 1)
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
    plan = {"builds": {"min": 4, "max": 12}}
    (found,) = report(means, looks=12, plan=plan).findings
    alpha = spending((4, 6, 8, 12)).nominal(3, 0.05)
    assert found.verdict == "inconclusive"
    assert found.detectable == pytest.approx(twin(*means["a"], threshold=0.03, alpha=alpha), rel=1e-4)


def test_a_floor_is_needed_too() -> None:
    means = {"a": drawn(np.random.default_rng(4), 6, 0.005)}
    (without,) = report(means).findings
    (found,) = report(means, gate={"floor": "0.2s"}).findings
    assert without.detectable is not None and without.detectable < 0.2
    assert found.detectable is not None and 0.2 < found.detectable < 0.25


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
    (found,) = report({"a": means}, benchmark=[{"name": "a", "command": "x", "instrument": "values", "metric": {"time": rules}}]).findings  # fmt: skip
    assert found.verdict in ("inconclusive", "unchanged")
    assert found.detectable is None


# --- in words ---------------------------------------------------------------------------------------------------------


def written(folder: Path, spreads: dict[str, float]) -> str:
    rng = np.random.default_rng(3)
    found: list[dict[str, Any]] = [{"type": "run", "config": {"gate": {"floor": "0", "detectable": "threshold"}}}]
    for name, sd in spreads.items():
        for side, values in zip(("base", "head"), drawn(rng, 6, sd), strict=True):
            found += lines.builds(side, [[[v]] for v in values], benchmark=name)
    (folder / "measurements.jsonl").write_text(lines.text(found))
    return str(folder)


def test_every_format_says_it(tmp_path: Path) -> None:
    folder = written(tmp_path, {"calm": 0.004, "noisy": 0.06})
    found = {f["benchmark"]: f["detectable"] for f in json.loads(typed("decide", folder, "--json", "-")[1])["findings"]}
    noisy = f"{found['noisy'] * 100:.1f}"
    for form in ("text", "markdown", "summary", "html"):
        text = " ".join(typed("report", folder, "--format", form)[1].replace("&nbsp;", " ").split())
        assert noisy in text or form == "text"


def test_one_finding_has_one_sentence(tmp_path: Path) -> None:
    text = " ".join(typed("report", written(tmp_path, {"noisy": 0.06}), "--all")[1].split())
    assert text.count("this run catches slowdowns above") == 1
