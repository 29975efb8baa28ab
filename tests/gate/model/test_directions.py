"""Which direction of a metric is better: by its name and unit, by its tool, by the rules; else it is not decided."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from gate.cli.main import main
from gate.formats import google_benchmark
from gate.formats.parts.live import suite
from gate.model.directions import direction, told_or_known


@pytest.mark.parametrize(
    ("metric", "unit", "expected"),
    [
        ("time", "", "lower"),
        ("cpu_time", "s", "lower"),
        ("x", "ms", "lower"),
        ("x", "ns/request", "lower"),
        ("x", "us/op", "lower"),
        ("x", "B/msg", "lower"),
        ("B/op", "", "lower"),
        ("memory", "B", "lower"),
        ("p99Latency", "", "lower"),
        ("latency_ms", "", "lower"),
        ("allocs/op", "", "lower"),
        ("errors", "count", "lower"),
        ("LLC-load-misses", "", "lower"),
        ("error_rate", "", "lower"),
        ("instructions", "", "lower"),
        ("syscalls", "count", "lower"),
        ("value", "cycles", "lower"),
        ("bytes_per_second", "B/s", "higher"),
        ("ItemsPerSecond", "", "higher"),
        ("MB/s", "MB/s", "higher"),
        ("queries/s", "", "higher"),
        ("value", "frames/s", "higher"),
        ("throughput_ops_ms", "", "higher"),
        ("L1HitRate", "%", "higher"),
        ("ll-miss-rate", "%", "lower"),
        ("GFLOPS", "", "higher"),
        ("success", "", "higher"),
        ("MatchesFound", "", None),
        ("widgets/op", "", None),
        ("score", "%", None),
        ("time_steps", "", None),
        ("helpers", "", None),
        ("value", "", None),
        # what contradicts itself
        ("errors/s", "", None),
        ("gc.alloc.rate", "MB/sec", None),
        ("failed_ops", "", None),
    ],
)
def test_name_and_unit(metric: str, unit: str, expected: str | None) -> None:
    assert direction(metric, unit) == expected


def google(counters: dict[str, float], k: int) -> str:
    row = {
        "name": "BM_Find/8", "run_name": "BM_Find/8", "run_type": "iteration", "repetitions": 1, "repetition_index": 0,
        "threads": 1, "iterations": 1000, "real_time": 10.01 + k / 100, "cpu_time": 9.01 + k / 100, "time_unit": "ns",
        **{name: value + k / 10 for name, value in counters.items()},
    }  # fmt: skip
    return json.dumps({"context": {"date": "2025-09-12T13:38:31+00:00", "num_cpus": 2}, "benchmarks": [row]})


def decided(folder: Path, base: list[str], head: list[str], ending: str) -> tuple[int, dict[str, Any], str]:
    """Decide over one file a build, by the rules in the folder: exit code, report, and what the terminal shows."""
    for side, texts in (("base", base), ("head", head)):
        for k, text in enumerate(texts):
            (folder / f"{side}{k}{ending}").write_text(text)
    sides = [f"{side}={folder}/{side}*{ending}" for side in ("base", "head")]
    rules = ["--config", str(folder / "perfgate.toml")] if (folder / "perfgate.toml").exists() else []
    out, report = io.StringIO(), folder / "report.json"
    code = main(["decide", *sides, *rules, "--json", str(report)], out, io.StringIO())
    return code, json.loads(report.read_text()), out.getvalue()


def matches_found(folder: Path) -> tuple[int, dict[str, Any], str]:
    base, head = ([google({"MatchesFound": found}, k) for k in range(5)] for found in (100.0, 120.0))
    return decided(folder, base, head, ".json")


def test_a_counter_of_unknown_direction_is_shown_and_not_decided(tmp_path: Path) -> None:
    code, report, text = matches_found(tmp_path)
    assert (code, report["verdict"]) == (0, "pass")
    assert {f["metric"] for f in report["findings"]} == {"time", "cpu_time"}
    (shown,) = report["recorded"]
    assert (shown["metric"], shown["better"]) == ("MatchesFound", None)
    assert shown["ratio"]["estimate"] == pytest.approx(1.2, abs=0.01)
    assert "MatchesFound" not in report["summary"]["text"]
    assert "recorded, not decided" in text
    said = " ".join(text.split())
    assert "direction unknown" in said
    assert '`[[override]]` entry with `metric = "MatchesFound"` and `better = "lower"`' in said


@pytest.mark.parametrize(("better", "code", "verdict"), [("lower", 1, "regression"), ("higher", 0, "improvement")])
@pytest.mark.parametrize(
    "rules",
    [
        '[[override]]\nmetric = "MatchesFound"\nbetter = "{}"\n',
        (
            '[[benchmark]]\nname = "BM_Find/8"\ncommand = "x"\ninstrument = "google-benchmark"\n'
            '[benchmark.metric.MatchesFound]\nbetter = "{}"\n[[override]]\nmetric = "*"\nbetter = "lower"\n'
        ),
    ],
)
def test_the_rules_give_it_one(tmp_path: Path, rules: str, better: str, code: int, verdict: str) -> None:
    (tmp_path / "perfgate.toml").write_text(rules.format(better))
    found, report, text = matches_found(tmp_path)
    assert found == code
    assert {f["verdict"] for f in report["findings"] if f["metric"] == "MatchesFound"} == {verdict}
    assert "direction unknown" not in text


def go(value: float, *, told: str = "") -> str:
    return f"pkg: x/y\n{told}BenchmarkX-8 \t 100\t {value} widgets/op\nPASS\n"


def test_nothing_decided_is_no_pass_and_the_next_step_says_what_to_write(tmp_path: Path) -> None:
    code, report, text = decided(
        tmp_path, [go(10 + k / 10) for k in range(5)], [go(20 + k / 10) for k in range(5)], ".txt"
    )
    assert (code, report["verdict"]) == (4, "error")
    assert "nothing was decided: nothing says which values of widgets/op are better" in " ".join(text.split())
    assert report["next"]["kind"] == "give-direction"


def test_a_file_may_say_it_itself(tmp_path: Path) -> None:
    told = "Unit widgets/op better=higher\n"
    base, head = ([go(value + k / 10, told=told) for k in range(5)] for value in (10, 20))
    code, report, _ = decided(tmp_path, base, head, ".txt")
    assert (code, [f["verdict"] for f in report["findings"]]) == (0, ["improvement"])


def test_live_and_imported_agree(tmp_path: Path) -> None:
    counters = {"MatchesFound": 1.0, "items_per_second": 2.0, "cache_misses": 3.0}
    live = suite(google_benchmark, google(counters, 0).encode()).benchmarks["BM_Find/8"]
    base, head = ([google(counters, k) for k in range(first, first + 5)] for first in (0, 5))
    _, report, _ = decided(tmp_path, base, head, ".json")
    imported = {each["metric"]: each["better"] for key in ("findings", "recorded") for each in report[key]}
    assert {name: told_or_known(each.better, name, each.unit) for name, each in live.items()} == imported
    assert imported["MatchesFound"] is None


def test_what_is_not_decided_fails_nothing_either(tmp_path: Path) -> None:
    # a constant counter, which of a decided metric is a file that was read twice
    lines = [
        {
            "type": "execution", "benchmark": "b", "side": side, "build": k, "execution": 0,
            "metrics": {
                "time": {"unit": "s", "values": [1 + k / 1000 + i / 100 + len(side) / 1e5 * (side == "head") for i in range(6)]},
                "depth": {"values": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]},
            },
        }
        for side in ("base", "head")
        for k in range(5)
    ]  # fmt: skip
    file = tmp_path / "measurements.jsonl"
    for better, code in ((None, 0), ("lower", 4)):
        for line in lines:
            line["metrics"]["depth"]["better"] = better  # type: ignore[index]
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
        assert main(["decide", str(file)], io.StringIO(), io.StringIO()) == code
