"""The times and rates that any program prints, by lines of public benchmarks."""

import pytest

from gate.formats import printed
from gate.formats.parts.output import OutputError, Series

TIMES = """\
node size: 16; runs: 10
index size: 38,400,092 bytes

index 1000000 boxes       min  520.61ms   mean  648.45±107.95ms
10000 searches 0.1%       min  828.95ms   mean 1187.32±208.52ms
10000 searches of k-1     min  136.39ms   mean  157.56±16.55ms

Expression: sqrt(a^1.5+a^2.5)
native  4.9995e+11\t   59ms\t 1694mfps
interp  5e+11\t  300ms\t  333mfps
120.35% longer
interp  5e+11\t  310ms
grid:
20000: 5.5ms
100000: 1.234s
"""


def read(text: str) -> dict[str, Series]:
    return printed.LIVE(text.encode(), {})


def test_names_are_words_before_a_time_below_the_line_above_them() -> None:
    found = {name: each.values[0] for name, each in read(TIMES).items() if each.view_of is None}
    assert found == pytest.approx(
        {
            "index 1000000 boxes": 0.64845,
            "10000 searches 0.1%": 1.18732,
            "10000 searches of k-1": 0.15756,
            "Expression: sqrt(a^1.5+a^2.5)/native": 0.059,
            "Expression: sqrt(a^1.5+a^2.5)/interp": 0.3,
            # what was computed is no heading: another start may compute another number
            "interp": 0.31,
            "grid/20000": 0.0055,
            "grid/100000": 1.234,
        }
    )


def test_a_mean_has_the_median_and_the_fastest_beside_it_as_views() -> None:
    found = read("sort: median 2 ms, mean 3 ms, best 1 ms, max 9 ms, stddev 4 ms\n")
    assert {name: (each.values, each.view_of, each.sharp) for name, each in found.items()} == {
        "sort": ([3e-3], None, False),
        "sort.median": ([2e-3], "sort", True),
        "sort.fastest": ([1e-3], "sort", False),
    }


def test_a_range_below_a_result_is_part_of_it_and_bars_are_no_name() -> None:
    """As mitata prints them."""
    found = read("noop   39.8 ns/iter 17.6 ns █▂\n   (8.7 ns … 2.4 us) 25.4 ns ██\n\u2588 3 ms\n")
    assert {name: each.values for name, each in found.items()} == {"noop": [39.8e-9], "time": [3e-3]}


@pytest.mark.parametrize(
    ("line", "name", "value", "unit"),
    [
        ("parse x 1,234 ops/sec ±0.50% (90 runs sampled)", "parse x", 1234, "1/s"),
        ("foo: 12.5 ns/iter (+/- 3)", "foo", 12.5e-9, "s"),
        ("Encode 3 MB: 233.5 MB/s", "Encode 3 MB", 233.5e6, "B/s"),
        ("\x1b[32mdone\x1b[0m in 1.5 seconds", "done in", 1.5, "s"),
        ("12:30:01.5 load took 2 s", "load took", 2, "s"),
        ("Iteration - 1, ops/sec: 412,345.50", "Iteration - 1", 412345.5, "1/s"),
        ("parse (ms) = 3.5", "parse", 3.5e-3, "s"),
        ("sort, ns/op: 12 ns/op", "sort, ns/op", 12e-9, "s"),
        ("17 ms for all", "for all", 0.017, "s"),
        ("5 s", "time", 5, "s"),
        # as a terminal shows it, which a counter wrote over
        ("put 1/2\rput 2/2 3 ms\rput  4 ops in 5 ms\r", "put 4 ops in", 5e-3, "s"),
        # nothing was written over it
        ("parse: 12.5 ms\r\x1b[0m", "parse", 12.5e-3, "s"),
        ("parse: 12.5 ms\r\r", "parse", 12.5e-3, "s"),
        ("2024-01-05 12:00:01,123 parse: 5 ms", "parse", 5e-3, "s"),
        ("insert: 100000 ops in 1.23 s", "insert: 100000 ops in", 1.23, "s"),
        ("PASS test_a (12 ms)", "PASS test_a", 0.012, "s"),
        ("Time (mean ± σ):      1.5 ms ±   0.1 ms", "Time (mean ± σ)", 1.5e-3, "s"),
    ],
)
def test_a_result_is_a_number_with_a_unit_of_time_or_a_rate(line: str, name: str, value: float, unit: str) -> None:
    ((own, each),) = read(f"{line}\n").items()
    assert (own, each.unit) == (name, unit)
    assert each.values == pytest.approx([value])


def test_a_line_of_the_slowest_alone_is_no_heading() -> None:
    assert [*read("a mean: 5.0ms\na max: 7.3ms\nb mean: 6.0ms\n")] == ["a", "b"]


def test_what_comes_again_has_a_number_and_a_line_that_has_not_ended_is_no_result() -> None:
    assert [*read("a: 1 ms\na: 2 ms\nb: 3")] == ["a", "a (2)"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "12 items\n",
        "version 1.5\n",
        "a: 5 ms",
        "a: 1,25 ms\n",
        "a: 1 234 ms\n",
        "cpu 3000 Hz\n",
        "and/or: 3\n",
        "a (of): 3\n",
        "b/s: 3%\n",
    ],
)
def test_without_a_time_there_is_nothing(text: str) -> None:
    with pytest.raises(OutputError, match="no benchmark in the output"):
        read(text)
