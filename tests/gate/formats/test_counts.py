"""What callgrind, cachegrind and perf stat count, and the summaries, output and folder of Gungraun."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from gate.formats.callgrind import instructions
from gate.formats.parts.output import OutputError
from gate.formats.parts.reading import Reading, columns, recognised
from gate.formats.parts.source import Source
from gate.formats.perf_stat import Counted, parse
from tests.support.foreign import DATA, failed, of_file, of_text

CAPTURED = Path(__file__).parents[2] / "data"

# --- callgrind and cachegrind -----------------------------------------------------------------------------------------

PLAIN = (DATA / "callgrind/plain.out").read_bytes()


def one(reading: Reading) -> dict[str, float]:
    return {name: metric.values[0] for name, metric in reading.measured[0].metrics.items()}


def test_one_process_and_one_count() -> None:
    found = of_file("callgrind/plain.out")
    assert [(each.benchmark, each.execution) for each in found.measured] == [("tiny", 0)]
    assert one(found) == {"instructions": 6002}
    metric = found.measured[0].metrics["instructions"]
    assert (metric.unit, metric.better, metric.exact) == ("", "lower", True)
    assert found.about.tool.startswith("callgrind")


def test_other_events_and_trailing_zeros() -> None:
    names = ("instructions", "Dr", "Dw", "I1mr", "D1mr", "D1mw", "ILmr", "DLmr", "DLmw", "Bc", "Bcm", "Bi", "Bim")
    counts = (6002, 1000, 1001, 1, 0, 1, 1, 0, 1, 1000, 10, 0, 0)
    assert one(of_file("callgrind/caches.out")) == dict(zip(names, counts, strict=True))
    assert one(of_file("callgrind/cachegrind.out"))["instructions"] == 6006


@pytest.mark.parametrize(
    ("text", "count"),
    [
        # parts are summed
        (PLAIN + PLAIN, 12004),
        # a profile that is cut off still has its summary
        (PLAIN[: PLAIN.index(b"fn=")], 6002),
        (PLAIN[: PLAIN.index(b"summary:")], None),
        # of a number that is cut off the beginning is one, too
        ("pid: 1\ncmd: ./tiny\nevents: Ir\nfn=main\n1 1234\ntotals: 123", None),
        ("pid: 1\ncmd: ./tiny\nevents: Ir\nfn=main\n1 1234\ntotals: 1234\n", 1234),
    ],
)
def test_sums_and_what_is_cut_off(text: str | bytes, count: int | None) -> None:
    found = of_text(text)
    if count is None:
        assert failed(found) == [("tiny", "no totals: the file is cut off")]
    else:
        assert one(found) == {"instructions": count}


HEAD = b"# callgrind format\nversion: 1\nevents: Ir\n"


def test_the_profiles_of_one_execution() -> None:
    # of a process that forks
    profiles = [(CAPTURED / f"callgrind/{name}.txt").read_bytes() for name in ("parent-1", "parent-2", "child")]
    assert instructions(profiles) == 821618 + 1994 + 350780
    # among other events
    assert instructions([b"events: Dr Ir Dw\ntotals: 5 70 1\n", HEAD + b"totals: 2\n"]) == 72
    assert instructions([b"events: Dr Ir\ntotals: 5\n"]) == 0


@pytest.mark.parametrize(
    ("profiles", "why"),
    [
        ([], "callgrind wrote no profile"),
        ([HEAD + b"summary: 5\n1 2\n"], "a profile of callgrind is cut off: no totals"),
        ([HEAD + b"totals: 5\n", b""], "a profile of callgrind is cut off: no totals"),
        ([HEAD + b"totals: 82161"], "a profile of callgrind is cut off: no totals"),
        ([HEAD + b"totals: " + b"1" * 5000 + b"\n"], "line 4: '1+…"),
        ([HEAD + b"totals: x\n"], "line 4: 'x' are no counts of events"),
        ([b"events: Dr\ntotals: 5\n"], r"a profile of callgrind holds no count of instructions \(Ir\)"),
    ],
)
def test_profiles_that_cannot_be_used(profiles: list[bytes], why: str) -> None:
    with pytest.raises(OutputError, match=rf"\A{why}\Z"):
        instructions(profiles)


# --- Gungraun ---------------------------------------------------------------------------------------------------------

SHORT, LONG, BARE = (f"lib_bench::adding::{name}" for name in ("sum short", "sum long", "plain"))
NEW_AND_OLD = {BARE: (352, 302), LONG: (6523, 5523), SHORT: (92, 82)}
COUNTED = {(name, at): n for name, both in NEW_AND_OLD.items() for at, n in zip(("new", "old"), both, strict=True)}


def counts(reading: Reading, event: str = "Ir") -> dict[tuple[str, str], float]:
    found = [each for each in reading.measured if event in each.metrics]
    return {(each.benchmark, each.labels["baseline"]): each.metrics[event].values[0] for each in found}


def test_the_old_run_and_the_new_one_are_columns() -> None:
    found = of_file("gungraun/summaries")
    assert [label for label, _ in columns(found)] == ["old", "new"]
    assert counts(found) == COUNTED
    assert {each.execution for each in found.measured} == {0}
    metrics = found.measured[0].metrics
    assert next(iter(metrics)) == "Ir"
    assert [(metrics[name].unit, metrics[name].better) for name in ("Ir", "L1HitRate")] == [
        ("", "lower"),
        ("%", "higher"),
    ]


def test_standard_output_one_summary_a_line_or_over_many() -> None:
    expected = {(name, label): new for name, (new, _) in NEW_AND_OLD.items() for label in ("new", "old")}
    assert counts(of_file("gungraun/stdout.jsonl")) == expected
    lines = (DATA / "gungraun/stdout.jsonl").read_text().splitlines()
    pretty = "   Compiling x\n" + "".join(json.dumps(json.loads(line), indent=2) + "\n" for line in lines)
    assert recognised(Source("x", None, pretty.encode())) == "gungraun"
    assert counts(of_text(pretty)) == counts(of_text(f"[{','.join(lines)}]")) == expected


def test_profiles_where_there_are_no_summaries(tmp_path: Path) -> None:
    found = of_file("gungraun/profiles")
    assert counts(found) == {(SHORT, "old"): 82, (SHORT, "new"): 92}
    assert counts(found, "Dw")[SHORT, "new"] == 4
    # a folder above
    shutil.copytree(DATA / "gungraun/profiles", tmp_path / "target/gungraun")
    place = tmp_path / "target/gungraun/tiny/lib_bench/adding/sum.short"
    (place / "callgrind.sum.short.out.old").rename(place / "callgrind.sum.short.out.base@main")
    assert counts(of_file(tmp_path)) == {(SHORT, "main"): 82, (SHORT, "new"): 92}
    # beside a summary before schema 4, which is not read
    old = summary(callgrind_summary={"callgrind_run": {"total": {"summary": {"Ir": IR}}}})
    assert recognised(Source("x", None, old)) is None
    (place / "summary.json").write_bytes(old)
    assert counts(of_file(tmp_path)) == {(SHORT, "main"): 82, (SHORT, "new"): 92}
    (place / "callgrind.sum.short.out").write_bytes(b"events: Ir\n")
    assert [each.benchmark for each in of_file(tmp_path).failed] == [SHORT]


def summary(**keys: Any) -> bytes:
    own = {"version": "3", "kind": "LibraryBenchmark", "module_path": "m::g::f", "function_name": "f", "id": "a"}
    return json.dumps(own | keys).encode()


def profile(tool: str, **events: Any) -> dict[str, Any]:
    """Write what a tool counted, as schemas 4 to 6 do."""
    return {"tool": tool, "summaries": {"parts": [], "total": {"regressions": [], "summary": {tool: events}}}}


IR = {"metrics": {"Both": [12, 10]}}
INTS = {"metrics": {"Both": [{"Int": 12}, {"Int": 10}]}}
FLOATS = {"metrics": {"Both": [{"Float": 99.5}, {"Int": 99}]}}


@pytest.mark.parametrize(
    ("version", "baselines", "ir", "expected"),
    [("4", [None, "main"], IR, {"new": 12, "main": 10}), ("6", ["b", "a"], INTS, {"b": 12, "a": 10})],
)
def test_older_schemas(
    version: str, baselines: list[str | None], ir: dict[str, Any], expected: dict[str, float]
) -> None:
    data = summary(version=version, baselines=baselines, profiles=[profile("Callgrind", Ir=ir)])
    assert recognised(Source("x", None, data)) == "gungraun"
    assert counts(of_text(data)) == {("m::g::f a", label): value for label, value in expected.items()}
    found = of_file("gungraun/schema-6.json")
    assert counts(found) == {(SHORT, "old"): 92, (SHORT, "new"): 92}
    assert counts(found, "EstimatedCycles")[SHORT, "new"] == 204


def test_several_tools_and_packages() -> None:
    tools = [
        profile("Callgrind", Ir=IR, L1HitRate=FLOATS),
        profile("Cachegrind", Ir=IR),
        profile("DHAT", TotalBytes=IR),
    ]
    metrics = of_text(summary(version="6", profiles=tools)).measured[1].metrics
    assert {name: (metric.unit, metric.values) for name, metric in metrics.items()} == {
        "Ir": ("", [12]),
        "L1HitRate": ("%", [99.5]),
        "Cachegrind Ir": ("", [12]),
        "TotalBytes": ("B", [12]),
    }
    # one name in two packages
    lines = [summary(version="6", profiles=tools[:1], package_dir=name) for name in ("p", "q")]
    found = of_text(b"\n".join(lines) + b"\n")
    assert [each.labels.get("package") for each in found.measured] == ["p", "q", "p", "q"]


def test_only_what_valgrind_counts_is_exact() -> None:
    ir, cycles = {"Ir": {"values": {"new": 12}}}, {"cycles": {"values": {"new": {"value": 34, "n": 3}}}}
    profiles = [
        {"tool": "Callgrind", "data": {"total": {"metrics": ir}, "parts": []}},
        {"tool": "Perf", "data": {"total": {"metrics": {}}, "parts": [{"metrics": cycles}]}},
    ]
    metrics = of_text(summary(version="7", profiles=profiles)).measured[0].metrics
    exact = {name: (metric.values, metric.exact) for name, metric in metrics.items()}
    assert exact == {"Ir": ([12], True), "Perf cycles": ([34], False)}


# --- perf stat --------------------------------------------------------------------------------------------------------


def perf(name: str) -> Counted:
    return parse((CAPTURED / f"perf/{name}.txt").read_text())


def test_a_machine_without_hardware_counters() -> None:
    found = perf("virtual")
    # shown as 4.25 msec
    clocks: dict[str, Any] = {"time": pytest.approx(0.029916487), "task-clock": pytest.approx(0.004249879)}
    assert found.values == {**clocks, "page-faults": 211, "context-switches": 8}
    assert found.absent == {"cycles": "not supported", "instructions": "not supported"}
    assert not found.user_only
    assert not found.shared


def test_a_user_who_may_not_count_the_kernel_and_a_decimal_comma() -> None:
    found = perf("user")
    assert found.user_only == {"time", "task-clock", "page-faults", "context-switches"}
    assert found.values["page-faults"] == 203
    assert found.absent.keys() == {"cycles", "instructions"}
    found = perf("german")
    assert found.values["task-clock"] == pytest.approx(0.004863987)
    assert found.values["context-switches"] == 7


def test_two_kinds_of_cores_are_added_up_without_perfs_scaling() -> None:
    found = perf("hybrid")
    assert found.values["cycles"] == pytest.approx(3_500_000_000)
    assert found.values["instructions"] == 8_000_000_000
    assert not found.absent
    assert not found.shared
    assert found.user_only == {"instructions"}


def test_counters_that_ran_part_of_the_time_and_a_clock_whose_run_time_is_something_else() -> None:
    found = parse("1000;;cycles;5;62.50;;\n<not counted>;;instructions;0;0.00;;\n7;;branches;5;100.00;;\n")
    assert found == Counted({"cycles": 1000.0}, {"instructions": "not counted"}, frozenset(), {"cycles": 0.625})
    assert parse("100.00;msec;task-clock;5;100.00;;\n").values == {"task-clock": pytest.approx(0.1)}


@pytest.mark.parametrize(
    "line",
    [
        "garbage",
        "1;;cycles",
        "x;;cycles;5;100.00;;",
        "1;;cycles;5;x;;",
        "1;;a b;5;100.00;;",
        "inf;;cycles;5;100.00;;",
        "nan;;cycles;5;100.00;;",
        "-1;;cycles;5;100.00;;",
        "1;;cycles;-5;100.00;;",
        "1;;cycles;5;inf;;",
    ],
)
def test_rows_of_perf_that_are_not_as_expected(line: str) -> None:
    with pytest.raises(OutputError, match=r"\Aperf stat's output is not as expected: '") as caught:
        parse(line)
    assert "\n" not in str(caught.value)


def test_a_row_of_perf_that_is_cut_off() -> None:
    whole = (CAPTURED / "perf/virtual.txt").read_text()
    for length in range(whole.rindex("\n", 0, -1) + 2, len(whole)):
        with pytest.raises(OutputError):
            parse(whole[:length])
