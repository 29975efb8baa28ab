"""What the gate of this repository measures: perfgate's own commands, in CPU seconds of a process that has started.

    python -m benchmarks.gated read|decide|page OUTPUT

The instrument `values` starts it (perfgate.toml). Only the command line is used, which is stable: head's copy of
this program runs with the code of base too. The measurements that it reads are the same each time.
"""

from __future__ import annotations

import io
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from gate.cli.main import main as perfgate


@dataclass(frozen=True, slots=True)
class Work:
    """A run to read: how many benchmarks, builds of a side, executions, iterations; and what is written of it."""

    benchmarks: int
    builds: int
    executions: int
    iterations: int
    options: tuple[str, ...] = ()


WORKS: Mapping[str, Work] = {
    "read": Work(1, 5, 10, 4000),
    "decide": Work(50, 6, 3, 5),
    "page": Work(3, 6, 3, 20, ("--html", "page.html")),
}


def lines(work: Work) -> Iterator[str]:
    """Make up the lines of a measurements.jsonl; head is as fast as base."""
    drawn = random.Random(7)  # noqa: S311  # repeatable, not secret
    for build in range(work.builds):
        for execution in range(work.executions):
            for benchmark in range(work.benchmarks):
                for side in ("base", "head"):
                    values = [0.01 * drawn.gauss(1, 0.01) for _ in range(work.iterations)]
                    metrics = {"time": {"unit": "s", "better": "lower", "values": values}}
                    yield json.dumps(
                        {
                            "type": "execution",
                            "benchmark": f"group/case-{benchmark:02}",
                            "side": side,
                            "build": build,
                            "execution": execution,
                            "metrics": metrics,
                        }
                    )


def seconds(file: Path, options: tuple[str, ...]) -> float:
    """Decide once, as the command does; CPU seconds, all threads together."""
    out, err = io.StringIO(), io.StringIO()
    begin = time.process_time()
    code = perfgate(["decide", str(file), *options], out, err)
    taken = time.process_time() - begin
    if code:
        sys.exit(f"perfgate decide ended with {code}: {err.getvalue()}")
    return taken


def main() -> None:
    """Write one line for each iteration, warm-up included."""
    work, output = WORKS[sys.argv[1]], Path(sys.argv[2]).absolute()
    counts = [int(os.environ.get(name, "1")) for name in ("PERFGATE_WARMUP", "PERFGATE_ITERATIONS")]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # away from this project's own configuration
        file = Path("measurements.jsonl")
        file.write_text("".join(line + "\n" for line in lines(work)), encoding="utf-8")
        took = [seconds(file, work.options) for _ in range(sum(counts))]
        os.chdir("/")
    output.write_text("".join(f"{taken}\n" for taken in took), encoding="utf-8")


if __name__ == "__main__":
    main()
