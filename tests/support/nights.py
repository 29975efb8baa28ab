"""Nights that a creep check remembers, without measuring every one of them."""

import datetime
import json
from pathlib import Path

import numpy as np


def pretend(history: Path, count: int, *, change: float = 0.0, noise: float = 0.003, seed: int = 1) -> None:
    """Put nights before the first one that is remembered, of the same pin and cases.

    Args:
        count: nights.
        change: their log ratio; noise: its standard deviation from night to night.
    """
    rng = np.random.default_rng(seed)
    first = min(history.glob("machines/*/*/night/*.json"))
    kept = json.loads(first.read_bytes())
    date = datetime.datetime.fromisoformat(kept["session"]["created"]).date()
    for before in range(1, count + 1):
        day = (date - datetime.timedelta(days=before)).isoformat()
        run = f"night-{day}"
        kept["session"] |= {"id": run, "created": f"{day}T00:00:00Z"}
        for case in kept["nights"]:
            case["nights"][0] |= {
                "run": run, "day": day, "log_ratio": change + noise * rng.normal(), "variance": noise**2,
            }  # fmt: skip
        first.with_name(f"{day.replace('-', '')}T000000-{run}.json").write_text(json.dumps(kept))
