"""Properties that hold for every seed: a few of them in `make test`, all under `make promise` or `make nightly`."""

from collections.abc import Iterable
from typing import Any

import pytest

QUICK = 5


def seeds(count: int) -> list[Any]:
    """Give seeds to parametrize by."""
    return some(range(count), QUICK)


def some(cases: Iterable[Any], quick: int, rest: pytest.MarkDecorator = pytest.mark.promise) -> list[Any]:
    """Mark what comes after the first cases as a promise, or with another mark."""
    return [
        case if number < quick else pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=rest)
        for number, case in enumerate(cases)
    ]
