"""airspeed velocity's results: one file of results/MACHINE (of asv since 0.4.2, 2020), or the whole folder of results.

Format: asv/results.py of asv 0.6; asv/benchmarks.py for benchmarks.json.
"""

from __future__ import annotations

import itertools
import math
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from gate.formats.parts.output import OutputError
from gate.formats.parts.result import About, FailedResult, Format, ProcessValues, Result, ToolAggregate
from gate.formats.parts.source import Source
from gate.model import Metric, UserError
from gate.model.bounds import number
from gate.writing.units import meant, to_base

FORMAT = Format(title="asv (a file of `results/MACHINE`, or the folder `results`)", column="commit")
_KEYS = {"commit_hash", "results"}
_OTHERS = ("benchmarks.json", "machine.json")
_HOST = {"machine": "hostname", "cpu": "cpu", "arch": "arch", "os": "os", "ram": "ram", "num_cpu": "cpu_count"}
_TIME, _MEMORY = ("time", "s"), ("memory", "B")
_BY_TYPE = {"time": _TIME, "timeraw": _TIME, "memory": _MEMORY, "peakmemory": _MEMORY}
# as the names of functions and classes begin, in asv_runner/benchmarks
_BY_NAME = re.compile(
    r"(?:(?P<time>(?:time|timeraw)_|Time(?:raw)?[A-Z_])|(?P<memory>(?:peak)?mem_|(?:Peak)?Mem[A-Z_]))"
)
_QUOTED = re.compile(r"u?'(.+)'|<class '(.+)'>", re.DOTALL)
_MACHINES = ("*/", "results/*/", ".asv/results/*/")
_COMBINATIONS = 100_000
"""Of the parameters of one benchmark: more are no file that asv wrote."""
_LONGEST = 200


class _Known(msgspec.Struct):
    type: str = ""
    unit: str = ""
    param_names: list[str] = []


class _File(msgspec.Struct):
    commit_hash: str
    results: dict[str, Any]
    result_columns: list[str] = []
    env_name: str = ""
    date: float | None = None
    params: dict[str, Any] = {}


def recognises(source: Source) -> bool:
    """Return whether it is a JSON document of results of a commit, or a folder with such files."""
    if source.is_folder:
        return source.path is not None and bool(_machines(source.path))
    found = source.head.json
    return (
        isinstance(found, dict) and found.keys() >= _KEYS and isinstance(found["results"], dict) and "params" in found
    )


def read(source: Source) -> Iterator[Result]:
    """Yield each benchmark with each combination of its parameters; of a folder all commits, the oldest first."""
    if not source.is_folder or source.path is None:
        known = _known(source.path.parent.parent) if source.path is not None else {}
        file = source.document(_File, "asv's results")
        yield _about(file, file.commit_hash)
        yield from _results(file, known, {})
        return
    folders = _machines(source.path)
    paths = (path for folder in folders for path in sorted(folder.glob("*.json")) if path.name not in _OTHERS)
    files = [Source(str(path), path).document(_File, f"asv's results {path.name}") for path in paths]
    files.sort(key=lambda file: file.date or 0.0)
    known = _known(*{folder.parent for folder in folders})
    if files:
        yield _about(files[-1], None)
    machines = [str(file.params.get("machine", "")) for file in files]
    environments = Counter(zip((file.commit_hash for file in files), machines, strict=True))
    for file, machine in zip(files, machines, strict=True):
        # only what tells files of a commit apart: an environment changes its name with any requirement
        labels = {"machine": machine} if len(set(machines)) > 1 else {}
        if environments.most_common(1)[0][1] > 1:
            labels["env"] = file.env_name
        yield from _results(file, known, labels)


def _machines(folder: Path) -> list[Path]:
    """Find the folders of machines: in a folder of results, in those above it, or the folder itself."""

    def has_results(each: Path) -> bool:
        first = next((path for path in sorted(each.glob("*.json")) if path.name not in _OTHERS), None)
        return first is not None and first.is_file() and recognises(Source(first.name, first))

    all_ = [folder, *(each for pattern in _MACHINES for each in folder.glob(pattern))]
    # the file of a machine may be missing where somebody kept the results only
    found = [each for each in all_ if (each / "machine.json").is_file()] or list(filter(has_results, all_))
    return sorted(set(found))


def _known(*folders: Path) -> dict[str, _Known]:
    """Read the benchmarks.json beside the results; without a usable one the names must do."""
    found: dict[str, _Known] = {}
    for folder in folders:
        try:
            read = Source("", folder / "benchmarks.json").document(dict[str, Any], "benchmarks.json")
        except (UserError, OutputError):
            continue
        for name, value in read.items():
            try:
                found[name] = msgspec.convert(value, _Known)
            except msgspec.ValidationError:
                # "version", which is no benchmark
                continue
    return found


def _about(file: _File, commit: str | None) -> About:
    host = {name: file.params[key] for key, name in _HOST.items() if file.params.get(key)}
    python = file.params.get("python")
    if isinstance(python, str) and "/" not in python and "\\" not in python:
        host["python_version"] = python
    if file.env_name:
        host["env"] = file.env_name
    rows = [row for row in file.results.values() if isinstance(row, list)]
    at = file.result_columns.index("started_at") if "started_at" in file.result_columns else sys.maxsize
    started = [row[at] for row in rows if len(row) > at]
    times = [each for each in started if isinstance(each, (int, float)) and 0 < each < 1e14]
    created = datetime.fromtimestamp(min(times) / 1000, UTC).isoformat(timespec="seconds") if times else None
    return About(host=host, commit=commit, created=created, tool="asv")


def _results(file: _File, known: Mapping[str, _Known], others: dict[str, str]) -> Iterator[Result]:
    labels = {"commit": file.commit_hash[:8]} | others
    for name, value in file.results.items():
        if not isinstance(value, list):
            yield FailedResult(
                benchmark=name, status="its result is of an older asv: `asv update` brings it up", labels=labels
            )
            continue
        row = dict(zip(file.result_columns, value, strict=False))
        result = row.get("result")
        results = result if isinstance(result, list) else [result]
        given = row.get("params")
        params = [
            [str(v) for v in each] for each in (given if isinstance(given, list) else ()) if isinstance(each, list)
        ]
        # metric, unit and scale: as benchmarks.json says, otherwise as the name begins
        of = known.get(name, _Known())
        begins = (
            None if of.type else next((m for part in reversed(name.split(".")) if (m := _BY_NAME.match(part))), None)
        )
        if of.type in _BY_TYPE:
            metric, unit, scale = *_BY_TYPE[of.type], 1.0
        elif begins:
            metric, unit, scale = *(_TIME if begins["time"] else _MEMORY), 1.0
        else:
            own_unit = of.unit if of.unit != "unit" else ""
            metric, unit, scale = "value", *to_base(meant(own_unit) or own_unit)
        combinations = math.prod(map(len, params))
        # null alone stands for all combinations
        if results != [None] and len(results) != combinations:
            status = f"{len(results)} results for {combinations} combinations of its parameters"
            yield FailedResult(benchmark=name, status=status, labels=labels)
            continue
        for place, combination in enumerate(itertools.islice(itertools.product(*params), _COMBINATIONS)):
            shown = f"{name}({', '.join(combination)})" if combination else name
            own = dict[str, str]()
            for i, text in enumerate(combination):
                # without the quotes of its repr(), as asv's tables do
                plain = _QUOTED.fullmatch(text)
                own[of.param_names[i] if i < len(of.param_names) else f"param{i + 1}"] = (
                    plain[1] or plain[2] if plain else text
                )
            stats = {key.removeprefix("stats_"): _at(each, place) for key, each in row.items() if key != "result"}
            yield from _one(shown, metric, unit, scale, own | labels, _at(results, place), stats)


def _one(
    name: str, metric: str, unit: str, scale: float, labels: dict[str, str], result: Any, stats: dict[str, Any]
) -> Iterator[Result]:
    value = _number(result, scale)
    if value is None:
        # NotImplementedError in its setup
        if not (isinstance(result, float) and math.isnan(result)):
            what = f"its result is {result!r}" if result is not None else "no result"
            yield FailedResult(benchmark=name, status=f"{what}: it failed or timed out"[:_LONGEST], labels=labels)
        return
    samples = stats.get("samples")
    own = samples if isinstance(samples, list) else []
    values = [found for each in own if (found := _number(each, scale)) is not None]
    if len(values) < len(own):
        status = f"{len(own) - len(values)} of {len(own)} samples are no finite numbers"
        yield FailedResult(benchmark=name, status=status, labels=labels)
    elif values or metric != "time":
        # what is not timed is measured once
        yield ProcessValues(
            benchmark=name, metrics={metric: Metric(unit=unit, values=values or [value])}, labels=labels
        )  # fmt: skip
    else:
        low, high, *quartiles = (_number(stats.get(key), scale) for key in ("ci_99_a", "ci_99_b", "q_25", "q_75"))
        low, high, confidence = (None, None, None) if low is None or high is None else (low, high, 0.99)
        for statistic, found in zip(("median", "p25", "p75"), (value, *quartiles), strict=True):
            if found is not None:
                yield ToolAggregate(
                    benchmark=name, metric=metric, statistic=statistic, value=found, unit=unit, labels=labels,
                    count=_number(stats.get("repeat"), 1.0), low=low, high=high, confidence=confidence,
                )  # fmt: skip
            low = high = confidence = None


def _at(values: Any, place: int) -> Any:
    return values[place] if isinstance(values, list) and place < len(values) else None


def _number(value: Any, scale: float) -> float | None:
    found = number(value)
    return found * scale if found is not None and math.isfinite(found * scale) else None
