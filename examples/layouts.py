"""Compares the layouts of a run: `python examples/layouts.py .perfgate/measurements.jsonl BENCHMARK ARTIFACT`.

Builds of one side whose artifact has the same hash are the same program. For each program it prints how many builds
made it, the mean of their values with its standard error, and the smallest value, which other programs on the machine
disturb least.
"""

import argparse
import json
import statistics
from collections import defaultdict
from pathlib import Path


def main() -> None:
    """Read the command line, and print a line for each side and program."""
    parser = argparse.ArgumentParser(description="Compares the layouts of a run.")
    parser.add_argument("measurements", type=Path)
    parser.add_argument("benchmark")
    parser.add_argument("artifact", help="one of [build] artifacts")
    parser.add_argument("--metric", default="time")
    arguments = parser.parse_args()
    programs: dict[tuple[str, int], str] = {}
    values: defaultdict[tuple[str, int], list[float]] = defaultdict(list)
    for line in arguments.measurements.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        if record["type"] == "build":
            programs[record["side"], record["build"]] = record["artifacts"][arguments.artifact].removeprefix("sha256:")
        elif record["type"] == "execution" and record["benchmark"] == arguments.benchmark:
            values[record["side"], record["build"]] += record["metrics"][arguments.metric]["values"]
    builds: defaultdict[str, list[list[float]]] = defaultdict(list)
    for build, measured in values.items():
        builds[programs[build]].append(measured)
    print("program   builds      mean     error  smallest")
    for program, of in sorted(builds.items(), key=lambda item: min(map(min, item[1]))):
        means = [statistics.mean(measured) for measured in of]
        error = statistics.stdev(means) / len(means) ** 0.5 if len(means) > 1 else float("nan")
        print(f"{program[:8]}  {len(of):6}  {statistics.mean(means):8.4g}  {error:8.2g}  {min(map(min, of)):8.4g}")


if __name__ == "__main__":
    main()
