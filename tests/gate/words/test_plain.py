"""Names that are shortened."""

import shlex

import pytest

from gate.config.rules import matches
from gate.words.plain import benchmark_option, clip, columns, distinct

GJSON = [
    "gjson/BenchmarkGetComplexPath",
    "gjson/BenchmarkGetBytes",
    "gjson/BenchmarkIsValidBytes",
    "gjson/BenchmarkValidBytes",
]


def test_different_names_stay_different() -> None:
    assert clip("gjson/BenchmarkIsValidBytes", 17) == clip("gjson/BenchmarkValidBytes", 17)
    shown = distinct(GJSON, 17)
    assert len({*shown}) == len(GJSON)
    assert shown[0] == clip(GJSON[0], 17), "a name that is alone in its shape is shortened as ever"
    assert all(columns(name) <= 17 for name in shown)


@pytest.mark.parametrize(
    "names",
    [
        ["short", "other"],
        [f"suite/{'x' * 40}/{'y' * n}/end" for n in range(1, 6)],
        [f"{letter}{'x' * 60}{end}" for letter in "abc" for end in "12"],
        [f"{'x' * 30}{middle}{'y' * 30}" for middle in ("one", "two", "three")],
        [f"{'x' * n}" for n in range(30, 40)],
        ["漢字" * 20 + "一" + "漢字" * 20, "漢字" * 20 + "二" + "漢字" * 20],
    ],
)
@pytest.mark.parametrize("width", [12, 17, 29])
def test_however_they_differ(names: list[str], width: int) -> None:
    shown = distinct(names, width)
    assert len({*shown}) == len(names), shown
    assert all(columns(name) <= width for name in shown), shown


def test_names_that_are_one_stay_one() -> None:
    first, second, other = distinct(["x" * 50, "x" * 50, "y" * 50], 10)
    assert first == second != other


@pytest.mark.parametrize("name", ["parse", "-x", "a b", "parse[a*]", "it's", "--set"])
def test_an_option_selects_the_benchmark_of_that_name(name: str) -> None:
    words = shlex.split(benchmark_option(name))
    assert words[0].startswith("--benchmark")
    glob = words[1] if len(words) > 1 else words[0].partition("=")[2]
    # argparse reads a word that begins with a dash as another option
    assert len(words) == 1 or not glob.startswith("-")
    assert matches(glob, name)
