"""What the captured outputs were made with, as test_suite.py; also run by tests/tools/test_python.py."""

from typing import Any

import pytest


@pytest.mark.parametrize("text", ["a b/'c'\"d\"", "\n\t\x01", "🐢 é", "x]"])
def test_upper(benchmark: Any, text: str) -> None:
    benchmark(text.upper)


class TestSum:
    def test_upper(self, benchmark: Any) -> None:
        benchmark(sum, range(1000))


def test_pedantic(benchmark: Any) -> None:
    benchmark.extra_info["share"] = float("nan")
    benchmark.pedantic(sorted, args=([3, 1, 2],), rounds=2, iterations=5)


@pytest.mark.benchmark(min_rounds=3)
def test_marked(benchmark: Any) -> None:
    benchmark(len, "")


@pytest.mark.skip(reason="not here")
def test_skipped(benchmark: Any) -> None:
    benchmark(len, "")


def test_plain() -> None:
    assert False  # noqa: B011, PT015  # --benchmark-only passes it over
