"""Formats of a trend, one file each: its `render` writes it."""

from __future__ import annotations

import math
from importlib import import_module
from typing import Protocol

import msgspec

from gate.store.trend import Trend


class Screen(msgspec.Struct, frozen=True):
    """What shows a trend."""

    color: bool
    width: int


class Render(Protocol):
    """What a file of this folder calls `render`."""

    def __call__(self, trend: Trend, screen: Screen) -> str:
        """Write a trend, ending with a newline."""
        ...


def renderer(name: str) -> Render:
    """Import a format only where it is asked for."""
    found: Render = import_module(f"{__name__}.{name}").render
    return found


def ratio_of(log: float) -> float | None:
    """Return the ratio of a logarithm; None where it is unknown, or no number."""
    return math.exp(log) if math.isfinite(log) and abs(log) <= 700 else None
