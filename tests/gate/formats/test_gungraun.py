"""Gungraun's summaries in all their schemas, its output and its folder."""

import json
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from gate.formats.parts.reading import Reading, columns, read, recognised
from gate.formats.parts.source import Source
from tests.support.foreign import of_text, reading

of = partial(reading, "gungraun")
made = partial(of_text, "gungraun")
DATA = Path(__file__).parents[2] / "data/results/gungraun"
NEW_AND_OLD = {
    "lib_bench::adding::plain": (352, 302),
    "lib_bench::adding::sum long": (6523, 5523),
    "lib_bench::adding::sum short": (92, 82),
}


def counts(reading: Reading, event: str = "Ir") -> dict[tuple[str, str], float]:
    return {
        (each.benchmark, each.labels["baseline"]): each.metrics[event].values[0]
        for each in reading.measured
        if event in each.metrics
    }


def test_the_old_run_and_the_new_one_are_columns() -> None:
    found = of("summaries")
    assert [label for label, _ in columns(found)] == ["old", "new"]
    assert counts(found) == {
        (name, label): value
        for name, values in NEW_AND_OLD.items()
        for label, value in zip(("new", "old"), values, strict=True)
    }
    assert {each.execution for each in found.measured} == {0}
    instructions, *_ = found.measured[0].metrics.items()
    assert (instructions[0], instructions[1].unit, instructions[1].better) == ("Ir", "", "lower")
    rate = found.measured[0].metrics["L1HitRate"]
    assert (rate.unit, rate.better) == ("%", "higher")


def test_standard_output_one_summary_a_line_or_over_many() -> None:
    expected = {(name, label): new for name, (new, _) in NEW_AND_OLD.items() for label in ("new", "old")}
    found = of("stdout.jsonl")
    assert counts(found) == expected
    lines = (DATA / "stdout.jsonl").read_text().splitlines()
    pretty = "   Compiling x\n" + "".join(json.dumps(json.loads(line), indent=2) + "\n" for line in lines)
    source = Source("x", None, pretty.encode())
    assert recognised(source) == "gungraun"
    assert counts(read(source)) == expected
    assert counts(read(Source("x", None, f"[{','.join(lines)}]".encode()))) == expected


def test_profiles_where_there_are_no_summaries() -> None:
    found = of("profiles")
    assert counts(found) == {
        ("lib_bench::adding::sum short", "old"): 82,
        ("lib_bench::adding::sum short", "new"): 92,
    }  # fmt: skip
    assert counts(found, "Dw")["lib_bench::adding::sum short", "new"] == 4


def test_a_folder_above(tmp_path: Path) -> None:
    shutil.copytree(DATA / "profiles", tmp_path / "target/gungraun")
    place = tmp_path / "target/gungraun/tiny/lib_bench/adding/sum.short"
    (place / "callgrind.sum.short.out.old").rename(place / "callgrind.sum.short.out.base@main")
    assert counts(read(Source("x", tmp_path))) == {
        ("lib_bench::adding::sum short", "main"): 82,
        ("lib_bench::adding::sum short", "new"): 92,
    }
    (place / "callgrind.sum.short.out").write_bytes(b"events: Ir\n")
    found = read(Source("x", tmp_path))
    assert [each.benchmark for each in found.failed] == ["lib_bench::adding::sum short"]


def summary(**keys: Any) -> bytes:
    own = {"version": "3", "kind": "LibraryBenchmark", "module_path": "m::g::f", "function_name": "f", "id": "a"}
    return json.dumps(own | keys).encode()


IR = {"metrics": {"Both": [12, 10]}}
FLOATS = {"metrics": {"Both": [{"Float": 99.5}, {"Int": 99}]}}


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (summary(version="4", baselines=[None, "main"], profiles=[{"tool": "Callgrind", "summaries": {
            "parts": [], "total": {"regressions": [], "summary": {"Callgrind": {"Ir": IR}}}}}]),
         {"new": 12, "main": 10}),
        (summary(version="6", baselines=["b", "a"], profiles=[{"tool": "Callgrind", "summaries": {
            "parts": [], "total": {"regressions": [], "summary": {"Callgrind": {"Ir": {"metrics": {
                "Both": [{"Int": 12}, {"Int": 10}]}}}}}}}]), {"b": 12, "a": 10}),
    ],
    ids=["4", "6"],
)  # fmt: skip
def test_older_schemas(data: bytes, expected: dict[str, float]) -> None:
    source = Source("x", None, data)
    assert recognised(source) == "gungraun"
    assert counts(read(source)) == {("m::g::f a", label): value for label, value in expected.items()}


def test_a_file_of_an_older_version() -> None:
    found = of("schema-6.json")
    short = "lib_bench::adding::sum short"
    assert counts(found) == {(short, "old"): 92, (short, "new"): 92}
    assert counts(found, "EstimatedCycles")[short, "new"] == 204


def test_summaries_before_schema_4_are_not_read_but_the_profiles_beside_them(tmp_path: Path) -> None:
    old = summary(callgrind_summary={"callgrind_run": {"total": {"summary": {"Ir": IR}}}})
    assert recognised(Source("x", None, old)) is None
    shutil.copytree(DATA / "profiles", tmp_path, dirs_exist_ok=True)
    (tmp_path / "tiny/lib_bench/adding/sum.short/summary.json").write_bytes(old)
    assert counts(read(Source("x", tmp_path))) == counts(of("profiles"))


def test_several_tools() -> None:
    profiles = [
        {"tool": tool, "summaries": {"parts": [], "total": {"summary": {tool: table}}}}
        for tool, table in (("Callgrind", {"Ir": IR, "L1HitRate": FLOATS}), ("Cachegrind", {"Ir": IR}),
                            ("DHAT", {"TotalBytes": IR}))
    ]  # fmt: skip
    metrics = read(Source("x", None, summary(version="6", profiles=profiles))).measured[1].metrics
    assert {name: (metric.unit, metric.values) for name, metric in metrics.items()} == {
        "Ir": ("", [12]), "L1HitRate": ("%", [99.5]), "Cachegrind Ir": ("", [12]), "TotalBytes": ("B", [12]),
    }  # fmt: skip


def test_only_what_valgrind_counts_is_exact() -> None:
    profiles = [
        {"tool": "Callgrind", "data": {"total": {"metrics": {"Ir": {"values": {"new": 12}}}}, "parts": []}},
        {"tool": "Perf", "data": {"total": {"metrics": {}}, "parts": [
            {"metrics": {"cycles": {"values": {"new": {"value": 34, "n": 3}}}}}]}},
    ]  # fmt: skip
    metrics = read(Source("x", None, summary(version="7", profiles=profiles))).measured[0].metrics
    assert {name: (metric.values, metric.exact) for name, metric in metrics.items()} == {
        "Ir": ([12], True), "Perf cycles": ([34], False)
    }  # fmt: skip


def test_one_name_in_two_packages() -> None:
    table = [{"tool": "Callgrind", "summaries": {"total": {"summary": {"Callgrind": {"Ir": IR}}}}}]
    lines = [summary(version="6", profiles=table, package_dir=name) for name in ("p", "q")]
    found = read(Source("x", None, b"\n".join(lines) + b"\n"))
    assert [each.labels.get("package") for each in found.measured] == ["p", "q", "p", "q"]


FILE = DATA / "changed.txt"
SHORT, LONG, PLAIN = (f"lib_bench::adding::{name}" for name in ("sum short", "sum long", "plain"))


def test_names_and_events_are_those_of_the_summaries() -> None:
    found = read(Source("x", FILE))
    assert [label for label, _ in columns(found)] == ["old", "new"]
    assert counts(found) == {
        (SHORT, "old"): 82, (LONG, "old"): 5523, (PLAIN, "old"): 302,
        (SHORT, "new"): 92, (LONG, "new"): 6523, (PLAIN, "new"): 352,
    }  # fmt: skip
    summaries = read(Source("x", DATA / "summaries"))
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
