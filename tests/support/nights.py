"""Nights that a creep check remembers, without measuring every one of them."""

from __future__ import annotations

import datetime
import sqlite3
from pathlib import Path

import numpy as np

_INSERT = "INSERT INTO night VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


def pretend(history: Path, count: int, *, change: float = 0.0, noise: float = 0.003, seed: int = 1) -> None:
    """Put nights before the first one that is remembered, of the same pin and cases.

    Args:
        count: nights.
        change: their log ratio; noise: its standard deviation from night to night.
    """
    rng = np.random.default_rng(seed)
    with sqlite3.connect(history) as connection:
        rows = connection.execute("SELECT * FROM night ORDER BY day, run").fetchall()
        first = datetime.date.fromisoformat(rows[0][1])
        for before in range(1, count + 1):
            day = (first - datetime.timedelta(days=before)).isoformat()
            for row in (each for each in rows if each[0] == rows[0][0]):
                made = [f"night-{day}", day, *row[2:10], change + noise * rng.normal(), noise**2]
                connection.execute(_INSERT, made)
    connection.close()
