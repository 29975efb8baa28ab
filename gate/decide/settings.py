"""The settings of factors as a reader sees them, in decide's words and in every report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def shown(setting: Any) -> str:
    """Write a setting; a text that looks like a number stands in quotes, since 1 and "1" are two settings."""
    return f'"{setting}"' if isinstance(setting, str) and _like_a_number(setting) else str(setting)


def _like_a_number(text: str) -> bool:
    # float() also reads "nan" and "inf", which are names here
    if not any(character.isdigit() for character in text):
        return False
    try:
        float(text)
    except ValueError:
        return False
    return True


def pair(factor: str, setting: Any) -> str:
    """Write one setting with its factor: "load=busy"."""
    return f"{factor}={shown(setting)}"


def pairs(factors: Mapping[str, Any], between: str = ", ") -> str:
    """Write settings: "load=busy, size=10"; "" where there are none."""
    return between.join(pair(factor, setting) for factor, setting in factors.items())
