"""What Gungraun, Iai-Callgrind and Iai print."""

from pathlib import Path

from gate.formats.parts.reading import Reading, columns, read, recognised
from gate.formats.parts.source import Source

DATA = Path(__file__).parents[2] / "data/results"
FILE = DATA / "gungraun/changed.txt"
SHORT, LONG, PLAIN = (f"lib_bench::adding::{name}" for name in ("sum short", "sum long", "plain"))


def made(text: str) -> Reading:
    return read(Source("x", None, text.encode()))


def counts(reading: Reading, event: str = "Ir") -> dict[tuple[str, str], float]:
    return {
        (each.benchmark, each.labels["baseline"]): each.metrics[event].values[0]
        for each in reading.measured
        if event in each.metrics
    }


def test_names_and_events_are_those_of_the_summaries() -> None:
    found = read(Source("x", FILE))
    assert [label for label, _ in columns(found)] == ["old", "new"]
    assert counts(found) == {
        (SHORT, "old"): 82, (LONG, "old"): 5523, (PLAIN, "old"): 302,
        (SHORT, "new"): 92, (LONG, "new"): 6523, (PLAIN, "new"): 352,
    }  # fmt: skip
    summaries = read(Source("x", DATA / "gungraun/summaries"))
    assert counts(summaries) == counts(found)
    assert set(found.measured[0].metrics) <= set(summaries.measured[0].metrics)


def test_other_tools_colours_and_arguments_over_several_lines() -> None:
    found = made(
        "\x1b[32mb::g::f\x1b[0m id:one\nline\n"
        "  ======= DHAT ====================\n"
        "  At t-gmax bytes:            29499|N/A             (*********)\n"
        "  ======= CACHEGRIND ==============\n"
        "  Instructions:                   3|N/A             (*********)\n"
        "  I1 Miss Rate:             1.50000|N/A             (*********)\n"
        "  ======= CALLGRIND ===============\n"
        "  Instructions:                \x1b[1m1734\x1b[0m|N/A             (*********)\n"
        "b::g::f two\n"
        "  Instructions:                   7|0               (+++inf+++) [+++inf+++]\n"
    )
    first, *_ = (each for each in found.measured if each.labels["baseline"] == "new")
    assert first.benchmark == "b::g::f id"
    assert {name: (metric.unit, metric.values) for name, metric in first.metrics.items()} == {
        "Ir": ("", [1734]), "AtTGmaxBytes": ("B", [29499]), "Cachegrind Ir": ("", [3]), "I1MissRate": ("%", [1.5]),
    }  # fmt: skip
    assert counts(found)["b::g::f two", "old"] == 0


def test_iai_of_old() -> None:
    text = (
        "bench_short\n"
        "  Instructions:                1243 (+1.139138%)\n"
        "  L1 Accesses:                 1580 (No change)\n\n"
        "bench_long\n"
        "  Instructions:            18454953\n"
        "  L1 Accesses:             23447195\n"
    )
    assert recognised(Source("x", None, text.encode())) == "gungraun"
    assert counts(made(text)) == {("bench_short", "new"): 1243, ("bench_long", "new"): 18454953}
    assert counts(made(text), "L1Accesses")["bench_short", "new"] == 1580
