"""Gungraun, which was Iai-Callgrind (schemas 4 to 7, since 0.15): its summaries, and its folder."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from gate.formats import callgrind
from gate.formats.parts.json_text import parse_json
from gate.formats.parts.output import OutputError
from gate.formats.parts.result import Failed, Format, Measured, Result
from gate.formats.parts.source import Source
from gate.model import Better, Metric
from gate.model.bounds import number
from gate.walking import walk

FORMAT = Format(
    title="Gungraun and Iai-Callgrind (`summary.json` of `--save-summary`, `--output-format=json`, the folder "
    "`target/gungraun` or `target/iai`)",
    column="baseline",
)
_KINDS = ('"LibraryBenchmark"', '"BinaryBenchmark"')
_SUMMARY = "summary.json"
_PROFILE = re.compile(r"callgrind\..*\.out(?:\.(?P<old>old)|\.base@(?P<name>.+))?", re.DOTALL)
_FOLDERS = ("gungraun", "iai", "target/gungraun", "target/iai")
_MOST = 20_000
"""Folders that are looked at."""
_OF_CLOCK = "Perf "
"""What begins the names of the events of perf, which the processor counts: they are never twice the same."""
_BYTES = ("TotalBytes", "AtTGmaxBytes", "AtTEndBytes", "ReadsBytes", "WritesBytes", "MaximumBytes")


class _Summary(msgspec.Struct):
    module_path: str
    id: str | None = None
    function_name: str = ""
    package_dir: str = ""
    baselines: list[str | None] = []
    profiles: list[dict[str, Any]] = []


class _Side(NamedTuple):
    benchmark: str
    package: str
    """Of cargo; "": not known."""
    baseline: str
    is_new: bool
    """It is the newer one of two."""
    metrics: dict[str, float]
    """By event."""


def recognises(source: Source) -> bool:
    """Return whether it holds summaries of benchmarks, or is a folder with summaries or profiles."""
    if source.is_folder and source.path is not None:
        return next(_files(source.path), None) is not None
    text = source.head.text
    return '"module_path"' in text and '"profiles"' in text and any(kind in text for kind in _KINDS)


def read(source: Source) -> Iterator[Result]:
    """Yield the old runs, then the new ones; where packages share a name, labelled by the package."""
    sides: list[_Side] = []
    if source.is_folder and source.path is not None:
        for file in _files(source.path):
            try:
                sides += _of_file(file, source)
            except OutputError as error:
                yield Failed(benchmark=_by_folder(file.parent, source.path), status=str(error))
    else:
        summaries = [(summary, _of_summary(summary)) for summary in _summaries(source)]
        sides += [side for _, found in summaries for side in found]
        why = "no counts that perfgate can read in its summary"
        yield from (Failed(benchmark=_name(summary), status=why) for summary, found in summaries if not found)
    packages: dict[str, set[str]] = {}
    for side in sides:
        packages.setdefault(side.benchmark, set()).add(side.package)
    for side in sorted(sides, key=lambda side: side.is_new):
        labels = {"baseline": side.baseline}
        if len(packages[side.benchmark]) > 1:
            labels["package"] = side.package
        # the file's order is that of the letters
        metrics: dict[str, Metric] = {}
        for name, value in sorted(side.metrics.items(), key=lambda item: item[0] != "Ir"):
            # all it counts are costs, and what hits the memory missed the caches
            better: Better = "higher" if name.endswith("HitRate") and name != "RamHitRate" else "lower"
            unit = "%" if name.endswith("Rate") else "B" if name in _BYTES else ""
            exact = not name.startswith(_OF_CLOCK)
            metrics[name] = Metric(unit=unit, better=better, values=[value], exact=exact)
        yield Measured(benchmark=side.benchmark, metrics=metrics, labels=labels)


def _files(root: Path) -> Iterator[Path]:
    """Find the summaries; where a benchmark has none, its profiles."""
    root = next((root / name for name in _FOLDERS if (root / name).is_dir()), root)
    for count, (folder, inner, files) in enumerate(walk(root)):
        if count > _MOST:
            return
        inner[:] = sorted(name for name in inner if not name.startswith(".") and name != "node_modules")
        summary = Path(folder) / _SUMMARY
        if _SUMMARY in files and b'"profiles"' in Source("", summary).head.data[: 1 << 14]:
            yield summary
        else:
            yield from (Path(folder) / name for name in sorted(files) if _PROFILE.fullmatch(name))


def _of_file(file: Path, source: Source) -> list[_Side]:
    if file.name == _SUMMARY:
        sides = [side for each in _summaries(Source(str(file), file)) for side in _of_summary(each)]
        if not sides:
            raise OutputError(f"no counts that perfgate can read in {_SUMMARY}")
        return sides
    matched = _PROFILE.fullmatch(file.name)
    baseline = (matched["name"] or matched["old"] or "new") if matched else "new"
    counts: dict[str, float] = {}
    for process in callgrind.profiles(Source(str(file), file))[1]:
        for event, count in process.counts.items():
            counts[event] = counts.get(event, 0.0) + count
    if not counts:
        raise OutputError(f"{file.name} holds no counts")
    folder = file.parent
    return [_Side(_by_folder(folder, source.path or folder), "", baseline, baseline == "new", counts)]


def _by_folder(folder: Path, root: Path) -> str:
    """Name a benchmark by its folder, which is .../package/file/group/function.id, as its summary would."""
    parts = (folder.relative_to(root) if len(folder.relative_to(root).parts) > 2 else folder).parts[-3:]
    name, dot, own = "::".join(parts).partition(".")
    return f"{name} {own}" if dot else name


def _summaries(source: Source) -> Iterator[_Summary]:
    """Read the summaries of a file: one, one a line, or several written over many lines; other lines may be between."""
    begun: list[bytes] = []
    ends: tuple[bytes, ...] = ()
    for line in source.bytes_lines():
        text = line.strip()
        if text.startswith((b'{"', b"[{")):
            # what was begun before it was cut off
            begun = []
            yield from _decoded(text)
        elif begun or text in (b"{", b"["):
            if not begun:
                indent = line[: len(line) - len(line.lstrip())]
                ends = (indent + b"}", indent + b"]")
            begun.append(line)
            if line.rstrip() in ends:
                yield from _decoded(b"\n".join(begun))
                begun = []
    if begun:
        raise OutputError("the last summary is cut off")


def _decoded(data: bytes) -> Iterator[_Summary]:
    found = parse_json(data.decode("utf-8", "replace"), int)
    for each in found if isinstance(found, list) else [found]:
        if isinstance(each, dict) and "module_path" in each:
            yield msgspec.convert(each, _Summary)


def _name(summary: _Summary) -> str:
    name = summary.module_path
    if summary.function_name and not name.endswith(f"::{summary.function_name}"):
        name = f"{name}::{summary.function_name}"
    return f"{name} {summary.id}" if summary.id else name


def _of_summary(summary: _Summary) -> list[_Side]:
    name = _name(summary)
    new: dict[str, float] = {}
    old: dict[str, float] = {}
    for tool, table in _tables(summary):
        for key, value in table.items():
            # what two tools count under one name
            event = f"{tool} {key}" if key in new or key in old or tool == _OF_CLOCK.strip() else key
            both = value.get("values", value.get("metrics")) if isinstance(value, dict) else None
            if isinstance(both, dict) and isinstance(pair := both.get("Both"), list) and len(pair) == 2:
                both = {"new": pair[0], "old": pair[1]}
            for side, keys in ((new, ("new", "Left")), (old, ("old", "Right"))):
                found = _number(both.get(keys[0], both.get(keys[1]))) if isinstance(both, dict) else None
                if found is not None:
                    side[event] = found
    called = [*summary.baselines, None, None]
    sides = [
        _Side(name, summary.package_dir, called[0] or "new", True, new),  # named by the type
        _Side(name, summary.package_dir, called[1] or "old", False, old),
    ]
    return [side for side in sides if side.metrics]


def _tables(summary: _Summary) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the tools with their metrics, each of the whole run of a benchmark."""
    for profile in summary.profiles:
        data = profile.get("data", profile.get("summaries"))
        total, parts = _at(data, "total"), _at(data, "parts")
        table = _at(total, "metrics") or _at(total, "summary")
        if not table and isinstance(parts, list) and len(parts) == 1:
            table = _at(parts[0], "metrics")
        if isinstance(table, dict) and len(table) == 1 and all(key[:1].isupper() for key in table):
            # before schema 7 the tool is named once more
            inner = next(iter(table.values()))
            table = inner if isinstance(inner, dict) and not {"metrics", "values"} & set(inner) else table
        if isinstance(table, dict):
            yield str(profile.get("tool", "")), table


def _number(value: Any) -> float | None:
    if isinstance(value, dict):
        value = next((value[key] for key in ("Int", "Float", "value") if key in value), None)
        value = next(iter(value.values()), None) if isinstance(value, dict) else value
    return number(value)


def _at(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None
