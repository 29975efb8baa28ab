"""A second clock for the benchmarks of Go: CPU time beside the wall time of the package testing.

On a busy host the wall time of a benchmark holds what other programs took; its CPU time does not, in the same values.
Go lets a build read other files in place of its own (-overlay): benchmark.go of testing as this toolchain has it, with
a reading of the clock beside each of its own. The tree, and what is no test, stay as they are. Lines of results get
"cpu-ns/op" and "wait-share", the share of the wall time in which the program neither ran nor waited for a processor:
where it is large, CPU time does not show how long the benchmark takes. A benchmark in parallel counts as waiting.
"""

from __future__ import annotations

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
package testing

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

var (
	perfgateStart, perfgateSpent  int64
	perfgateCPU0, perfgateDelay0  int64
	perfgateWall0                 time.Time
	perfgateParallel              bool
)

// perfgateCPU returns the CPU time of this process in nanoseconds.
func perfgateCPU() int64 {
	var t syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, 2, uintptr(unsafe.Pointer(&t)), 0)
	return t.Nano()
}

// perfgateDelay returns how long the threads of this process waited for a processor.
func perfgateDelay() int64 {
	var sum int64
	tasks, _ := os.ReadDir("/proc/self/task")
	for _, task := range tasks {
		text, _ := os.ReadFile("/proc/self/task/" + task.Name() + "/schedstat")
		if words := strings.Fields(string(text)); len(words) > 1 {
			delay, _ := strconv.ParseInt(words[1], 10, 64)
			sum += delay
		}
	}
	return sum
}

func perfgateBegin() {
	perfgateParallel = false
	perfgateDelay0, perfgateCPU0, perfgateWall0 = perfgateDelay(), perfgateCPU(), time.Now()
}

func perfgateEnd(b *B) {
	wall := time.Since(perfgateWall0).Nanoseconds()
	waited := wall - (perfgateCPU() - perfgateCPU0) - (perfgateDelay() - perfgateDelay0)
	if perfgateParallel {
		waited = wall
	}
	if b.N > 0 && wall > 0 {
		b.extra["cpu-ns/op"] = float64(perfgateSpent) / float64(b.N)
		b.extra["wait-share"] = max(0, float64(waited)/float64(wall))
	}
}
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
        text, found = re.subn(
            pattern, lambda match, instead=instead: instead.format(match[1], all=match[0]), text, flags=re.MULTILINE
        )
        if not found:
            return None
    directory.mkdir()
    files = {"benchmark.go": text, "perfgate_clock.go": _CLOCK}
    for name, content in files.items():
        (directory / name).write_text(content, encoding="utf-8")
    path = directory / "overlay.json"
    instead_of = {str(testing / name): str(directory / name) for name in files}
    path.write_text(json.dumps({"Replace": instead_of}), encoding="utf-8")
    return path
