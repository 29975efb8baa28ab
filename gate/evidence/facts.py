"""What files know of the machines and programs that measured -> where base and head differ in it."""

from __future__ import annotations

import datetime
import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from gate.evidence.records import Located
from gate.evidence.runs import File, files_of
from gate.model import SIDES, Execution, Side, Unsampled
from gate.model.visible import visible
from gate.model.warnings.hosts import Differing

_NAMES = {
    "cpu": "cpu",
    "arch": "architecture", "goarch": "architecture", "machine": "architecture",
    "cpu_count": "processors", "num_cpus": "processors", "cores": "processors", "threads": "hardware threads",
    "cpu_affinity": "affinity", "affinity": "affinity", "/gomaxprocs": "GOMAXPROCS",
    "library_build_type": "build type", "configuration": "build type",
    "runtime": "runtime", "version": "runtime version", "jdkVersion": "JDK", "vmName": "JVM", "vmVersion": "JVM version",
    "jvmArgs": "JVM arguments", "python_implementation": "Python", "python_version": "Python version",
    "python_compiler": "compiler", "sdk": "SDK", "env": "environment",
    "mhz_per_cpu": "clock rate", "clock_speed": "clock rate", "caches": "caches", "memory": "memory", "ram": "memory",
    "goos": "system", "os": "system", "system": "system", "kernel": "kernel", "platform": "platform",
}  # fmt: skip
"""What the tools call a fact, and what it is called here; the worst come first."""
_TELLING = re.compile(
    r"cpus?|processors?|cores?|arch|compiler|toolchain|gcc|clang|cxx|rustc|llvm|jdk|jvm|runtime|kernel|distro|g?libc|"
    r"governor|scaling|aslr|turbo|memory|instance|flags|optimi[sz]ation|gogc|gover(?:sion)?|goversion|go"
)
"""A word in the name of a fact that a project gave to its results itself."""
_WORD = re.compile(r"[a-z]+")
_SILENT = ("", "unknown", "None")
_OF_GO = ("cpu", "goarch", "/gomaxprocs", "goos")
"""Labels that are of a process; those of other tools may as well be parameters of benchmarks."""
_ROUGH = {"clock rate", "memory"}
_ROOM = 0.1
"""A share by which clock rates and memory differ on machines of one make, as these are measured."""
_FAR = datetime.timedelta(days=30)
"""Time between the files of base and head in which machines are replaced and updated."""
_Values = defaultdict[str, dict[Side, dict[str, None]]]


def is_fact(key: str) -> bool:
    """Return whether a label or a key of a file tells of the machine, the compiler or the runtime, and is no name."""
    return key in _NAMES or any(_TELLING.fullmatch(word) for word in _WORD.findall(key.lower()))


def differing(records: Sequence[Located], away: Collection[str] = ()) -> tuple[Differing, ...]:
    """Name the facts of base and head that differ, or of which both sides mix several; the worst first.

    What one side alone says is not spoken of, nor are the names of machines.

    Args:
        away: keys that somebody compares by.
    """
    found, labels = (_Values(lambda: {side: {} for side in SIDES}) for _ in range(2))
    dates: dict[Side, list[datetime.datetime]] = {side: [] for side in SIDES}
    for file in files_of(records):
        values = [r for r in file.records if isinstance(r, (Execution, Unsampled))]
        labelled = {key for record in values for key in record.labels}
        for side in {record.side for record in values}:
            for key, value in _of_file(file, labelled).items():
                found[key][side][value] = None
            if (date := _date(file.run.created)) is not None:
                dates[side].append(date)
        for record in values:
            for key, value in record.labels.items():
                if key not in record.factors and is_fact(key):
                    labels[key][record.side][value] = None
    if "/gomaxprocs" in labels:
        # Go ends no name with a number where it is 1
        for record in (r.record for r in records if isinstance(r.record, (Execution, Unsampled))):
            if "goarch" in record.labels and "/gomaxprocs" not in record.labels:
                labels["/gomaxprocs"][record.side]["1"] = None
    for key, sides in labels.items():
        if key in _OF_GO or all(len(values) == 1 for values in sides.values()):
            found[_NAMES.get(key, key) if key in _OF_GO else key] = sides
    named = {_NAMES.get(key, key) for key in away} | set(away)
    told = [
        Differing(visible(name), *(tuple(sorted(map(visible, sides[side]))) for side in SIDES))
        for name, sides in sorted(found.items(), key=lambda each: _place(each[0]))
        if name not in named and all(sides.values()) and not _alike(name, sides)
    ]
    return (*told, *_far_apart(dates))


def _of_file(file: File, labelled: set[str]) -> Mapping[str, str]:
    """Give what a file says once, but for what it says of each value."""
    said: dict[str, Any] = dict(file.run.host or {})
    found = {_NAMES.get(key, key): _text(value) for key, value in said.items() if is_fact(key) and key not in labelled}
    if not file.run.apart:
        # a machine of perfgate's own runs is named with it
        found.pop("kernel", None)
    elif file.run.tools and any(c.isdigit() for c in file.run.tools[0]):
        found["measuring tool"] = file.run.tools[0]
    return {key: value for key, value in found.items() if value not in _SILENT}


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def _place(name: str) -> tuple[int, str]:
    order = list(dict.fromkeys(_NAMES.values()))
    return (order.index(name) if name in order else len(order)), name


def _alike(name: str, sides: Mapping[Side, Mapping[str, None]]) -> bool:
    base, head = (list(sides[side]) for side in SIDES)
    if name in _ROUGH:
        numbers = [[_number(value) for value in side] for side in (base, head)]
        low, high = ([n for n in side if n is not None] for side in numbers)
        if low and high:
            return max(*low, *high) <= min(*low, *high) * (1 + _ROOM)
    return len(base) == 1 and base == head


def _number(text: str) -> float | None:
    match = re.match(r"[\d.]*\d", text)
    return float(match[0]) if match and match[0].count(".") < 2 else None


def _date(text: str | None) -> datetime.datetime | None:
    try:
        found = datetime.datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=datetime.UTC)


def _far_apart(dates: Mapping[Side, Sequence[datetime.datetime]]) -> Sequence[Differing]:
    """Name the days between which base and head were measured, where these are months and not days."""
    base, head = (sorted(dates[side]) for side in SIDES)
    if not base or not head or max(head[0] - base[-1], base[0] - head[-1]) < _FAR:
        return ()
    return [Differing("date", *((side[0].date().isoformat(),) for side in (base, head)))]
