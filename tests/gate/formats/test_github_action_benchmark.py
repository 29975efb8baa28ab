"""github-action-benchmark's data.js."""

import json
import re

import pytest

from gate.formats import github_action_benchmark
from gate.formats.parts.reading import columns
from gate.formats.parts.result import Aggregate
from gate.formats.parts.source import Source
from tests.support.foreign import DATA, aggregates, failed, of_file, of_text

CHARTS = "github_action_benchmark/data.js"


def only(suite: str, benchmark: str, metric: str, **labels: str) -> Aggregate:
    (found,) = aggregates(of_file(CHARTS), benchmark, metric, suite=suite, **labels).values()
    return found


def test_commits_are_columns_oldest_first_over_all_suites() -> None:
    found = of_file(CHARTS)
    assert [label for label, _ in columns(found)] == ["aaaaaaaa", "bbbbbbbb", "cccccccc"]
    labels = {"suite": "Rust", "commit": "bbbbbbbb", "date": "2024-03-21T05:46:41+00:00"}
    assert only("Rust", "fib/20", "time").labels == labels
    # a commit that was measured twice has two executions
    first, second = (a for a in found.aggregates if a.benchmark == "BM_sort/8")
    assert (first.execution, first.value) == pytest.approx((0, 6.5e-6))
    assert (second.execution, second.value) == pytest.approx((1, 6.6e-6))
    assert [(f.benchmark, f.labels["suite"]) for f in found.failed] == [("broken", "Smaller")]


def test_the_direction_is_that_of_the_tool() -> None:
    rate = only("Python", "tests/test_a.py::test_sort", "throughput", commit="aaaaaaaa")
    assert (rate.value, rate.unit, rate.better) == (2000.5, "1/s", "higher")
    assert only("JS", "a x b", "throughput").better == "higher"
    assert only("Bigger", "free", "value").better == "higher"
    assert only("Smaller", "used", "value").better == "lower"
    # the unit overrules the action for JMH
    rate, time = only("JVM", 'a.B.c ( {"size":"10"} )', "throughput"), only("JVM", "a.B.d", "time")
    assert (rate.value, rate.unit, rate.better) == (35500, "1/s", "higher")
    assert (time.value, time.better) == pytest.approx((2.5e-6, "lower"))


def test_units() -> None:
    assert only("Rust", "fib/20", "time").value == pytest.approx(39.056e-6)
    assert only("NET", "A.B.C(n: 8)", "time").value == pytest.approx(800.5e-9)
    assert (only("Smaller", "used", "value").value, only("Smaller", "used", "value").unit) == (100e6, "B")
    assert (only("Bigger", "free", "value").value, only("Bigger", "free", "value").unit) == (31, "%")
    assert only("Bigger", "no unit", "value").unit == ""


def test_all_units_of_go_once() -> None:
    found = of_file(CHARTS)
    own = {
        at: {a.metric: a for a in found.aggregates if (a.labels["suite"], a.labels["commit"]) == ("Go", at * 8)}
        for at in "ac"
    }
    assert {name: (a.value, a.unit, a.better) for name, a in own["c"].items()} == {
        "time": (pytest.approx(1.4e-6), "s", "lower"),
        "MB/s": (80.5, "MB/s", "higher"),
        "B/op": (96, "B", "lower"),
        "allocs/op": (3, "allocs/op", "lower"),
    }
    # versions before 1.18 of the action wrote the units after the first into its text
    assert {name: a.value for name, a in own["a"].items()} == {"time": pytest.approx(1.5e-6)}


def test_users_put_objects_where_texts_belong_and_plain_json_says_the_same() -> None:
    own = {"name": "x", "value": "31", "unit": "ops/s", "range": [1], "extra": {"mean": 0.1}}
    entry = {"commit": {"id": "a"}, "date": 1, "tool": "customBiggerIsBetter", "benches": [own]}
    found = of_text(json.dumps({"lastUpdate": 1, "repoUrl": "", "entries": {"s": [entry]}}), "github_action_benchmark")
    assert [(a.benchmark, a.value) for a in found.aggregates] == [("x", 31)]
    both = [a for a in of_file(CHARTS).aggregates if a.labels["suite"] in ("Python", "JS")]
    assert of_file("github_action_benchmark/external.json").aggregates == both


WRITTEN = {
    "minified": lambda data: f"window.BENCHMARK_DATA={json.dumps(data, separators=(',', ':'))}",
    "tabs": lambda data: "window.BENCHMARK_DATA =\n" + json.dumps(data, indent="\t") + ";\n",
    "entries on one line": lambda data: "window.BENCHMARK_DATA = " + re.sub(r"\n {6,}", " ", json.dumps(data, indent=2)),
}  # fmt: skip


@pytest.mark.parametrize("how", WRITTEN)
def test_any_formatting_of_the_json_says_the_same(how: str) -> None:
    text = (DATA / CHARTS).read_text()
    data = json.loads(text[text.index("{") :].rstrip().removesuffix(";"))
    again = b"\xef\xbb\xbf" + WRITTEN[how](data).replace("\n", "\r\n").encode()
    assert github_action_benchmark.recognises(Source("x", None, again))
    found, expected = of_text(again), of_file(CHARTS)
    assert (found.aggregates, failed(found)) == (expected.aggregates, failed(expected))
