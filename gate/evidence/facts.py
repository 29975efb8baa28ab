"""What files know of the machines and programs that measured -> where base and head differ in it."""

from __future__ import annotations

import datetime
import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any

from gate.evidence.records import Located
from gate.evidence.runs import File, files_of
from gate.model import SIDES, Execution, Side, Unsampled
from gate.model.warnings.hosts import FactOfSides
from gate.writing.plain import visible

_NAMES = {
    "cpu": "cpu",
    "arch": "architecture", "goarch": "architecture", "machine": "architecture",
    "cpu_count": "processors", "num_cpus": "processors", "cores": "processors", "threads": "hardware threads",
    "cpu_affinity": "affinity", "affinity": "affinity", "/gomaxprocs": "GOMAXPROCS",
    "library_build_type": "build type", "configuration": "build type", "debugger": "debugger",
    "runtime": "runtime", "version": "runtime version",
    "jdkVersion": "JDK", "vmName": "JVM", "vmVersion": "JVM version", "jvmArgs": "JVM arguments",
    "python_implementation": "Python", "python_version": "Python version", "python_compiler": "compiler",
    "python_cflags": "Python's compiler flags", "python_config_args": "Python's build options",
    "sdk": "SDK", "env": "environment",
    "mhz_per_cpu": "clock rate", "clock_speed": "clock rate", "caches": "caches", "memory": "memory", "ram": "memory",
    "goos": "system", "os": "system", "system": "system", "kernel": "kernel", "platform": "platform",
}  # fmt: skip
"""What the tools call a fact, and what it is called here; the worst come first."""
_TELLING = re.compile(
    r"cpus?|processors?|cores?|arch|compiler|toolchain|gcc|clang|cxx|rustc|llvm|jdk|runtime|kernel|distro|g?libc|"
    r"governor|scaling|aslr|turbo|memory|instance|[a-z]*flags|optimi[sz]ation|gogc|gover(?:sion)?|goversion|goexperiment|go"
)
"""A word in the name of a fact that a project gave to its results itself."""
_VERSION = re.compile(r"\d\.\d")
_WORD = re.compile(r"[a-z]+")
_NUMBERED = re.compile(r"-\d+$")
_SILENT = ("", "unknown", "None")
_PROCESSORS = "/gomaxprocs"
_OF_GO = ("cpu", "goarch", _PROCESSORS, "goos")
"""Labels that are of a process; those of other tools may as well be parameters of benchmarks."""
_ROUGH = {_NAMES[key] for key in ("mhz_per_cpu", "clock_speed", "memory", "ram")}
_ROOM = 0.1
"""A share by which clock rates and memory differ on machines of one make, as these are measured."""
_FAR = datetime.timedelta(days=30)
"""Time between the files of base and head in which machines are replaced and updated."""
_Values = defaultdict[str, dict[Side, dict[str, None]]]
"""By fact and side, what is said of it."""


@lru_cache(maxsize=1024)
def is_fact(key: str) -> bool:
    """Return whether a label or a key of a file tells of the machine, the compiler or the runtime, and is no name."""
    return key in _NAMES or any(_TELLING.fullmatch(word) for word in _WORD.findall(key.lower()))


def differing(records: Sequence[Located], away: Collection[str] = ()) -> tuple[FactOfSides, ...]:
    """Name the facts of base and head that differ, or of which both sides mix several; the worst first.

    What one side alone says is not spoken of, nor are the names of machines.

    away: keys that somebody compares by.
    """
    files = [(file, [r for r in file.records if isinstance(r, (Execution, Unsampled))]) for file in files_of(records)]
    found, dates, labels = _nothing(), _nothing(), _nothing()
    for file, values in files:
        for record in values:
            # a setting of a benchmark, which is compared with its like, is no fact
            for key in filter(is_fact, record.labels.keys() - record.factors.keys()):
                labels[key][record.side][record.labels[key]] = None
            dates["created"][record.side][file.run.created or record.labels.get("date", "")] = None
    _single_processor([record for _, values in files for record in values], labels)
    for file, values in files:
        # what each value says, too, is known better from there
        for key, value in _of_file(file).items():
            for side in {record.side for record in values} if key not in labels else ():
                found[_NAMES.get(key, key)][side][value] = None
    for key, sides in labels.items():
        if key in _OF_GO or all(len(said) == 1 for said in sides.values()):
            found[_NAMES[key] if key in _OF_GO else key] = sides
    known = {name: sides for name, sides in found.items() if all(sides.values()) and not _alike(name, sides)}
    named = {*away, *(_NAMES.get(key, key) for key in away)}
    order = list(dict.fromkeys(_NAMES.values()))
    places = {name: (order.index(name) if name in order else len(order), name) for name in known}
    told = [
        FactOfSides(visible(name), *(tuple(sorted(map(visible, known[name][side]))) for side in SIDES))
        for name in sorted(known, key=places.__getitem__)
        if name not in named
    ]
    # the days on which they were measured, where months lie between them and not days
    base, head = (
        sorted(date for text in dates["created"][side] if (date := _date(text)) is not None) for side in SIDES
    )
    if base and head and max(head[0] - base[-1], base[0] - head[-1]) >= _FAR:
        told.append(FactOfSides("date", *((side[0].date().isoformat(),) for side in (base, head))))
    return tuple(told)


def _nothing() -> _Values:
    return defaultdict(lambda: {side: {} for side in SIDES})


def _single_processor(values: Sequence[Execution | Unsampled], found: _Values) -> None:
    """Add the GOMAXPROCS of a side whose names end with none, where the other side's do."""
    whole = {record.benchmark for record in values if _PROCESSORS in record.labels}
    for side in SIDES if _PROCESSORS in found else ():
        own = [record for record in values if record.side == side]
        # Go ends no name with a number where it is 1; one that the other side has, too, is a part of the name
        if own and all(
            "goarch" in record.labels
            and _PROCESSORS not in record.labels
            and (record.benchmark in whole or not _NUMBERED.search(record.benchmark))
            for record in own
        ):
            found[_PROCESSORS][side]["1"] = None


def _of_file(file: File) -> Mapping[str, str]:
    found = {key: _text(value) for key, value in (file.run.host or {}).items() if is_fact(key)}
    if not file.run.apart:
        # a machine of perfgate's own runs is named with it
        found.pop("kernel", None)
    elif file.run.tools and _VERSION.search(file.run.tools[0]):
        found["measuring tool"] = file.run.tools[0]
    return {key: value for key, value in found.items() if value not in _SILENT}


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return (" ".join(map(str, value)) or "none") if isinstance(value, list) else str(value)


def _alike(name: str, sides: Mapping[Side, Mapping[str, None]]) -> bool:
    base, head = (list(sides[side]) for side in SIDES)
    if name in _ROUGH:
        number = re.compile(r"\d+(?:\.\d+)?")
        low, high = ([float(found[0]) for value in side if (found := number.match(value))] for side in (base, head))
        if low and high:
            return max(*low, *high) <= min(*low, *high) * (1 + _ROOM)
    return len(base) == 1 and base == head


def _date(text: str) -> datetime.datetime | None:
    try:
        found = datetime.datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=datetime.UTC)
