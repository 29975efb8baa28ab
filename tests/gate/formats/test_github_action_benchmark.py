"""github-action-benchmark's data.js."""

import json
import re

import pytest

from gate.formats import github_action_benchmark
from gate.formats.parts.reading import columns
from gate.formats.parts.source import Source
from tests.support.foreign import DATA, failed, of_file, of_text

CHARTS = "github_action_benchmark/data.js"


def test_commits_are_columns_oldest_first_over_all_suites() -> None:
    found = of_file(CHARTS)
    assert [label for label, _ in columns(found)] == ["aaaaaaaa", "bbbbbbbb", "cccccccc"]


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
