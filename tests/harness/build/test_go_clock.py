"""The second clock of Go's benchmarks, in the toolchain that is here."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gate.formats import go_bench
from harness.build.go_clock import overlay
from harness.build.perturb import build_environment, make_shims

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the clock is Linux's")

TESTING = """\
func (b *B) StartTimer() {
		b.start = time.Now()
}
func (b *B) StopTimer() {
		b.duration += time.Since(b.start)
}
func (b *B) ResetTimer() {
		b.start = time.Now()
	b.duration = 0
}
func (b *B) runN(n int) {
	b.parallelism = 1
	b.previousDuration = b.duration
}
func (b *B) RunParallel(body func(*PB)) {
}
"""
BENCHMARKS = """\
package m

import (
	"testing"
	"time"
)

func work() (x uint64) {
	for i := uint64(0); i < 20000; i++ {
		x = x*31 + i
	}
	return x
}

var Sink uint64

func BenchmarkComputes(b *testing.B) {
	time.Sleep(time.Millisecond)
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		Sink += work()
	}
}

func BenchmarkHalf(b *testing.B) {
	for i := 0; i < b.N; i++ {
		b.StopTimer()
		Sink += work()
		b.StartTimer()
		Sink += work()
	}
}

func BenchmarkWaits(b *testing.B) {
	for i := 0; i < b.N; i++ {
		Sink += work()
		time.Sleep(time.Millisecond)
	}
}

func BenchmarkAllocates(b *testing.B) {
	for i := 0; i < b.N; i++ {
		kept = make([]byte, 1<<16)
	}
}

var kept []byte

func BenchmarkHandsOver(b *testing.B) {
	for i := 0; i < b.N; i++ {
		done := make(chan uint64)
		for j := 0; j < 4; j++ {
			go func() { done <- work() }()
		}
		for j := 0; j < 4; j++ {
			Sink += <-done
		}
	}
}

func BenchmarkRestarts(b *testing.B) {
	for i := 0; i < b.N; i++ {
		b.StopTimer()
		b.StartTimer()
		Sink += uint64(i)
	}
}

func BenchmarkOwn(b *testing.B) {
	for i := 0; i < b.N; i++ {
		Sink += work()
	}
	b.ReportMetric(42, "cpu-ns/op")
}

func BenchmarkTogether(b *testing.B) {
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			work()
		}
	})
}
"""


def goroot(top: Path, text: str) -> str:
    (top / "src" / "testing").mkdir(parents=True)
    (top / "src" / "testing" / "benchmark.go").write_text(text)
    return str(top)


def test_a_reading_stands_beside_each_of_testings_own_and_adds_nothing_to_it(tmp_path: Path) -> None:
    path = overlay(tmp_path / "clock", goroot(tmp_path / "go", TESTING))
    assert path is not None
    files = json.loads(path.read_text())["Replace"]
    assert {Path(each).name for each in files} == {"benchmark.go", "perfgate_clock.go", "perfgate_no_clock.go"}
    lines = Path(files[f"{tmp_path}/go/src/testing/benchmark.go"]).read_text().splitlines()
    assert lines[1:3] == ["\t\tperfgateStart = perfgateCPU()", "\t\tb.start = time.Now()"]
    assert [line for line in lines if "perfgate" not in line] == TESTING.splitlines()
    assert sum("perfgate" in line for line in lines) == 7


@pytest.mark.parametrize("line", [line for line in TESTING.splitlines() if "b.duration" in line or "Parallel" in line])
def test_a_toolchain_of_another_shape_has_its_own_clock_only(tmp_path: Path, line: str) -> None:
    assert overlay(tmp_path / "clock", goroot(tmp_path / "go", TESTING.replace(line, ""))) is None
    assert not (tmp_path / "clock").exists()


_TRIES = 20


@pytest.mark.endtoend
@pytest.mark.skipif(shutil.which("go") is None, reason="absent: go (no benchmark told its CPU time)")
def test_cpu_time_is_sharp_where_a_benchmark_computes(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "go.mod").write_text("module example.com/m\n\ngo 1.19\n")
    (project / "m_test.go").write_text(BENCHMARKS)
    caller = {name: os.environ[name] for name in ("PATH", "HOME")} | {"GOTOOLCHAIN": "local"}
    make_shims(tmp_path / "shims", caller, go=True, clock=True)
    environment = caller | build_environment([], 1, caller, tmp_path / "shims")
    if "-overlay" not in environment.get("GOFLAGS", ""):
        pytest.skip("absent: go of 1.22 or later")
    subprocess.run(["go", "test", "-c", "-o", "m.test", "."], cwd=project, env=environment, check=True)

    def ran(which: str, times: str) -> dict[str, Any]:
        options = ["-test.run=^$", f"-test.bench={which}", f"-test.benchtime={times}", "-test.count=4", "-test.v"]
        done = subprocess.run([project / "m.test", *options], cwd=project, capture_output=True, check=True)
        return dict(go_bench.suite(done.stdout, several=False).benchmarks)

    found = ran(".", "200x")
    # of so few milliseconds the collection before them is a part, and what a hypervisor takes
    for _ in range(_TRIES):
        found |= ran("Computes", "5000x")
        if found["BenchmarkComputes"]["cpu_time"].sharp:
            break
    own = found.pop("BenchmarkOwn")["cpu_time"]
    assert own.view_of is None
    assert [*own.values] == pytest.approx([42e-9] * 4)
    # of BenchmarkHalf the clock itself takes nearly 5%
    sharp = {name for name, metrics in found.items() if metrics["cpu_time"].sharp} - {"BenchmarkHalf"}
    assert sharp == {"BenchmarkComputes"}
    least = {name: {key: min(metric.values) for key, metric in metrics.items()} for name, metrics in found.items()}
    # the same work, alone between the readings of the clock
    assert 0.4 < least["BenchmarkHalf"]["cpu_time"] / least["BenchmarkComputes"]["cpu_time"] < 2.5
    assert least["BenchmarkWaits"]["time"] > 1e-3 > 2 * least["BenchmarkWaits"]["cpu_time"]
    assert {(each["cpu_time"].view_of, len(each["cpu_time"].values)) for each in found.values()} == {("time", 4)}
    assert set(found["BenchmarkComputes"]) == {"time", "cpu_time"}
    other = environment | {"GOOS": "js", "GOARCH": "wasm"}
    subprocess.run(["go", "test", "-c", "-o", "m.wasm", "."], cwd=project, env=other, check=True)
