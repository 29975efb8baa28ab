"""What it costs to render a report, beside what it costs to decide it, and how large it gets.

    python -m benchmarks.report [--quick]

Runs of several sizes are made up and written as a measurements.jsonl. Each is read and decided, and rendered in every
format, in a process of its own. Seconds are of the processor, all threads together; `of deciding` is the time over that
of reading and deciding. Ends with 1 unless the page of 100 cases takes at most 10 seconds with everything that the
command does (start, reading, deciding) and 5 MB, that of 500 cases 10 MB, the comment 60,000 bytes and the summary
1 MiB.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec

from gate.cli.groups import RulesOptions
from gate.evidence.inputs import read_inputs
from gate.planning.deciding import decide_inputs
from gate.report import Links
from gate.report.formats import renderer
from tests.support import runs

FORMATS: tuple[str, ...] = ("text", "markdown", "summary", "json", "html", "junit", "csv")
MB = 1_000_000


class Size(msgspec.Struct, frozen=True):
    """A run to render; seconds and megabytes: what its page may take, seconds with start and deciding."""

    name: str
    shape: runs.Shape
    megabytes: float
    seconds: float | None = None


class Cost(msgspec.Struct, frozen=True):
    """Processor seconds of starting, of reading and deciding, and of each format, and the bytes of each."""

    start: float
    decide: float
    seconds: dict[str, float]
    sizes: dict[str, int]

    @property
    def page(self) -> float:
        """Seconds of everything that leads to the page."""
        return self.start + self.decide + self.seconds["html"]


SIZES = [
    Size("1 case", runs.Shape(), 5),
    Size("100 cases", runs.Shape(cases=100), 5, 10),
    Size("500 cases", runs.Shape(cases=500), 10),
    Size("1,000,000 values", runs.Shape(builds=5, executions=10, iterations=10_000), 5),
]
QUICK = SIZES[:2]
LIMITS: dict[str, int] = {"markdown": 60_000, "summary": 1 << 20}


def cost(folder: str) -> Cost:
    """Read, decide and render one run in this process, which has done nothing else."""
    start = time.process_time()
    decided = decide_inputs(read_inputs([folder]), RulesOptions())
    decide = time.process_time() - start
    seconds: dict[str, float] = {}
    sizes: dict[str, int] = {}
    for form in FORMATS:
        begin = time.process_time()
        text = renderer(form)(decided, Links())
        seconds[form] = time.process_time() - begin
        sizes[form] = len(text.encode())
    return Cost(start, decide, seconds, sizes)


SCRIPT = """
import sys, msgspec
from benchmarks import report
sys.stdout.buffer.write(msgspec.json.encode(report.cost(sys.argv[1])))
"""


def measure(size: Size) -> Cost:
    """Make up a run and measure it in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        runs.write(Path(folder), runs.plain(size.shape))
        done = subprocess.run([sys.executable, "-c", SCRIPT, folder], capture_output=True, text=True, check=True)
    return msgspec.json.decode(done.stdout, type=Cost)


def show(size: Size) -> bool:
    """Measure one size and write its lines; tell whether it keeps to its limits."""
    found = measure(size)
    sys.stdout.write(f"{size.name:17} {'deciding':9} {found.decide:8.2f}\n")
    for form in FORMATS:
        took, taken = found.seconds[form], found.sizes[form]
        sys.stdout.write(f"{'':17} {form:9} {took:8.2f} {took / found.decide:12.2f} {taken:12,}\n")
    kept = found.sizes["html"] <= size.megabytes * MB and (size.seconds is None or found.page <= size.seconds)
    kept = kept and all(found.sizes[form] <= most for form, most in LIMITS.items())
    limits = f"{size.megabytes:g} MB" + (f", {size.seconds:g} s" if size.seconds else "")
    page = f"the page with all before it {found.page:.2f} s, {found.sizes['html'] / MB:.2f} MB (may take {limits})"
    sys.stdout.write(f"{'':17} {page}{'' if kept else '  beyond'}\n\n")
    sys.stdout.flush()
    return kept


def main() -> int:
    """Measure, and tell by the exit code whether every report keeps to its limits."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.report", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="up to 100 cases, some seconds")
    quick = parser.parse_args().quick
    sys.stdout.write(f"{'run':17} {'':9} {'CPU s':>8} {'of deciding':>12} {'bytes':>12}\n")
    kept = [show(size) for size in (QUICK if quick else SIZES)]
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
