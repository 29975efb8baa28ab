"""Results of vitest and benchmark.js, written by the real tools."""

import json
import shutil
from pathlib import Path

import pytest

from gate.formats.parts.reading import Reading
from tests.support.foreign import aggregates, of_file
from tests.support.tools import ROOT
from tests.support.tools import run as output_of

MODULES = ROOT / ".tools" / "js" / "node_modules"
pytestmark = [
    pytest.mark.tools,
    pytest.mark.skipif(
        not MODULES.exists() or shutil.which("node") is None,
        reason="absent: node, or its packages in .tools/js (no benchmark of JavaScript ran)",
    ),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "node_modules").symlink_to(MODULES)
    return tmp_path


def run(folder: Path, script: str) -> Reading:
    (folder / "run.mjs").write_text(script)
    (folder / "out").write_bytes(output_of("node", "run.mjs", folder=folder))
    return of_file(folder / "out")


def test_benchmark_js(folder: Path) -> None:
    found = run(
        folder,
        "import Benchmark from 'benchmark'\n"
        "new Benchmark.Suite().add('a x b', () => /o/.test('Hello'), { maxTime: 0.1 })\n"
        "  .on('cycle', event => console.log(String(event.target))).run()\n",
    )
    (rate,) = found.aggregates
    assert (rate.benchmark, rate.metric, rate.better, rate.unit) == ("a x b", "throughput", "higher", "1/s")
    assert rate.value > 1000


def test_vitest(folder: Path) -> None:
    (folder / "a.bench.mjs").write_text(
        "import { bench, describe } from 'vitest'\n"
        "describe('sizes', () => { bench('sort', () => { [3, 1, 2].sort() }, { time: 0, iterations: 9 }) })\n"
    )
    output_of("node", "node_modules/vitest/vitest.mjs", "bench", "--run", "--outputJson", "out.json", folder=folder)
    found = of_file(folder / "out.json")
    mean = aggregates(found, "a.bench.mjs > sizes > sort", "time")["mean"]
    (group,) = json.loads((folder / "out.json").read_text())["files"][0]["groups"]
    assert mean.value == pytest.approx(group["benchmarks"][0]["mean"] / 1000)
    assert mean.count == group["benchmarks"][0]["sampleCount"]
