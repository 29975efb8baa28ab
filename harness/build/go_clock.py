"""A second clock for the benchmarks of Go: CPU time beside the wall time of the package testing.

On a busy host the wall time of a benchmark holds what other programs took; its CPU time does not, in the same values.
Go lets a build read other files in place of its own (-overlay): benchmark.go of testing as this toolchain has it, with
a reading of the clock beside each of its own. The tree, and what is no test, stay as they are. Lines of results get
"cpu-ns/op", the CPU time of the process, and "other-share": how much of the wall time it neither ran nor waited for a
processor, or how much of the CPU time the garbage collector took, whichever is more. Where that is large, CPU time does
not show how long the benchmark takes. Nor does it where goroutines stop and go on with each operation (they wait, or
share the work) or RunParallel is called: there the share is 1. Delays are summed over all threads, so that on a busy
host they hide what such a benchmark waits. And the clock, which is a system call, costs CPU time: who starts the timer
with each short operation has more of it than wall time.
"""

import json
import re
from pathlib import Path

# a reading begins before testing's own and ends after it, so that wall time is what it is without
_READINGS = (
    (r"^(\t+)b\.start = .*$", "{0}perfgateStart = perfgateCPU()\n{all}"),
    (r"^(\t+)b\.duration \+= .*$", "{all}\n{0}perfgateSpent += perfgateCPU() - perfgateStart"),
    (r"^(\t+)b\.duration = 0$", "{all}\n{0}perfgateSpent = 0"),
    (r"^(\t+)b\.parallelism = 1$", "{all}\n{0}perfgateBegin()"),
    (r"^(\t+)b\.previousDuration = b\.duration$", "{all}\n{0}perfgateEnd(b)"),
    (r"^func \(b \*B\) RunParallel\(.*\) {()$", "{all}\n\tperfgateParallel = true"),
)
_CLOCK = """\
//go:build linux

package testing

import (
	"os"
	"runtime/metrics"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// perfgateReading is what this process has used by now, in nanoseconds, and how often goroutines went on.
type perfgateReading struct {
	wall, cpu, delay, collecting int64
	resumed                      uint64
}

var (
	perfgateStart, perfgateSpent int64
	perfgateReadings             uint64
	perfgateBefore               perfgateReading
	perfgateParallel             bool
)

// perfgateCPU reads CLOCK_PROCESS_CPUTIME_ID.
func perfgateCPU() int64 {
	perfgateReadings++
	var t syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, 2, uintptr(unsafe.Pointer(&t)), 0)
	return t.Nano()
}

func perfgateNow() (now perfgateReading) {
	tasks, _ := os.ReadDir("/proc/self/task")
	for _, task := range tasks {
		text, _ := os.ReadFile("/proc/self/task/" + task.Name() + "/schedstat")
		if words := strings.Fields(string(text)); len(words) > 1 {
			delay, _ := strconv.ParseInt(words[1], 10, 64)
			now.delay += delay
		}
	}
	known := []metrics.Sample{{Name: "/cpu/classes/gc/total:cpu-seconds"}, {Name: "/sched/latencies:seconds"}}
	metrics.Read(known)
	if known[0].Value.Kind() == metrics.KindFloat64 {
		now.collecting = int64(1e9 * known[0].Value.Float64())
	}
	if known[1].Value.Kind() == metrics.KindFloat64Histogram {
		for _, count := range known[1].Value.Float64Histogram().Counts {
			now.resumed += 8 * count // it has every eighth
		}
	}
	now.cpu, now.wall = perfgateCPU(), time.Now().UnixNano()
	return now
}

func perfgateBegin() {
	perfgateParallel, perfgateReadings = false, 0
	perfgateBefore = perfgateNow()
}

func perfgateEnd(b *B) {
	if _, own := b.extra["cpu-ns/op"]; own || b.N < 1 {
		return
	}
	now, before := perfgateNow(), perfgateBefore
	wall, cpu := float64(now.wall-before.wall), float64(now.cpu-before.cpu)
	other := 1.0
	// who only computes goes on after each 10 ms, and each time the timer has started or stopped
	some := float64(b.N)/2 + wall/1e7 + float64(perfgateReadings) + 16
	if wall > 0 && cpu > 0 && b.duration > 0 && !perfgateParallel && float64(now.resumed-before.resumed) < some {
		// of the time between the timer's start and stop; waits for a processor are of all the time
		timed, delayed := float64(b.duration), float64(now.delay-before.delay)/wall
		ran := float64(perfgateSpent) / timed
		other = max(0, 1-ran-delayed, ran-1, float64(now.collecting-before.collecting)/cpu)
	}
	b.extra["cpu-ns/op"] = float64(perfgateSpent) / float64(b.N)
	b.extra["other-share"] = min(1, other)
}
"""
# what is built for another system (GOOS=js, run by node) has no such clock
_NO_CLOCK = """\
//go:build !linux

package testing

var (
	perfgateStart, perfgateSpent int64
	perfgateParallel             bool
)

func perfgateCPU() int64 { return 0 }

func perfgateBegin() {}

func perfgateEnd(*B) {}
"""


def overlay(directory: Path, goroot: str) -> Path | None:
    """Write what a build reads in place of the toolchain's own files; None: its testing has another shape.

    Args:
        directory: where, a new one.
        goroot: the directory of the toolchain.

    Raises:
        OSError: it cannot be read or written.
    """
    testing = Path(goroot, "src", "testing")
    text = (testing / "benchmark.go").read_text(encoding="utf-8")
    for pattern, instead in _READINGS:

        def put(match: re.Match[str], instead: str = instead) -> str:
            return instead.format(match[1], all=match[0])

        text, found = re.subn(pattern, put, text, flags=re.MULTILINE)
        if not found:
            return None
    directory.mkdir()
    files = {"benchmark.go": text, "perfgate_clock.go": _CLOCK, "perfgate_no_clock.go": _NO_CLOCK}
    for name, content in files.items():
        (directory / name).write_text(content, encoding="utf-8")
    path = directory / "overlay.json"
    instead_of = {str(testing / name): str(directory / name) for name in files}
    path.write_text(json.dumps({"Replace": instead_of}), encoding="utf-8")
    return path
