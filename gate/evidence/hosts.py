"""The machines behind the measurements: what happened to one, whether both sides had the same, what else differs."""

from __future__ import annotations

import datetime
import math
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

import msgspec

from gate.evidence.lines import Located
from gate.evidence.runs import File, files_of
from gate.model import SIDES, Execution, HostState, Run, Side, SummaryRecord
from gate.model.bounds import number
from gate.model.warnings import AnyWarning
from gate.model.warnings import hosts as warn
from gate.model.warnings.base import Said
from gate.model.warnings.hosts import FactOfSides
from gate.writing.phrases import machine
from gate.writing.plain import visible
from gate.writing.units import format_duration, format_share, plural, when

STEAL = 0.01
"""Share of the time that programs wanted; a third of the smallest threshold that gates usually have."""
PRESSURES: dict[str, float] = {"cpu": 0.25, "memory": 0.01, "io": 0.25}
"""Share of the run's time in which some program waited. Builds wait for processors and disks, and that does no harm;
waiting for memory reaches whatever runs."""
LOAD_BEFORE = 0.5
"""Load for each processor before measuring began: others were at work."""
LOAD_AFTER = 1.5
"""Load for each processor at the end: more programs than processors, so the measured ones waited."""
SWAPPED = 256
"""Pages: a MiB where they have 4 KiB."""


# --- what happened to a machine ---------------------------------------------------------------------------------------


def state_changes(begin: Mapping[str, Any], end: Mapping[str, Any]) -> list[warn.HostEvent]:
    """Return what happened between two states of a machine that may have touched the values.

    begin, end: as harness.host.fitness.counters.state gives them; what is not in both is not spoken of.
    """

    def grown(key: str) -> float:
        before, after = number(begin.get(key)), number(end.get(key))
        return max(0.0, after - before) if before is not None and after is not None else 0.0

    if rebooted := _reboot(begin, end):
        # counters and loads began anew
        return rebooted
    wanted, seconds = grown("cpu_total") - grown("cpu_idle"), grown("uptime")
    steal = grown("cpu_steal") / wanted if wanted > 0 else 0.0
    waits = {"cpu": "a processor", "memory": "memory", "io": "a disk"}
    waited = {what: min(1.0, grown(f"pressure_{what}") / 1e6 / seconds) if seconds else 0.0 for what in waits}
    read, written = grown("swap_in"), grown("swap_out")
    throttled, hot, killed = (grown(what) for what in ("throttled", "thermal_throttles", "oom_kills"))
    took = format_duration(grown("throttled_seconds"))
    told: list[tuple[str, float, float, str]] = [
        ("steal", steal, STEAL,
         f"the hypervisor took {format_share(steal)} of the CPU time that programs wanted (steal)"),
        ("throttled", throttled, 1, f"the control group's quota throttled the processors {_times(throttled)} ({took})"),
        *_load(begin, end),
        *(
            (f"{what} pressure", share, PRESSURES[what],
             f"{what} pressure: some program waited for {waits[what]} {format_share(share)} of the time")
            for what, share in waited.items()
        ),
        ("swapped", read + written, SWAPPED,
         f"memory was swapped: {plural(round(written), 'page')} to disk, {read:.0f} back"),
        ("thermal throttles", hot, 1, f"thermal throttling: heat slowed the processors down {_times(hot)}"),
        ("oom kills", killed, 1, f"the kernel killed {plural(round(killed), 'program')} because memory ran out"),
    ]  # fmt: skip
    return [warn.HostEvent(what, text, bad) for what, bad, least, text in told if bad >= least]


def _times(count: float) -> str:
    return plural(round(count), "time")


def _reboot(begin: Mapping[str, Any], end: Mapping[str, Any]) -> list[warn.HostEvent]:
    key = "boot_id"
    differs = key in begin and key in end and begin[key] != end[key]
    return [warn.HostEvent("rebooted", "the machine was rebooted during the run", 1)] if differs else []


def _load(begin: Mapping[str, Any], end: Mapping[str, Any]) -> Iterator[tuple[str, float, float, str]]:
    before, after = number(begin.get("load")), number(end.get("load"))
    count = number(end.get("processors")) or math.inf
    if before is not None and after is not None and (before >= LOAD_BEFORE * count or after >= LOAD_AFTER * count):
        text = f"the load was {before:.1f} at the start, {after:.1f} at the end"
        yield "load", after, after, f"{text} on {plural(round(count), 'processor')}"


def run_states(records: Sequence[Located]) -> list[warn.HostEvent]:
    """Return what happened to the machines while they measured, by the host lines of each session in their order.

    A run that was killed has a beginning without an end, and begins again when it is resumed: of the time between, only
    a reboot counts. Of two runs nothing is said together.
    """
    sessions: dict[int, dict[tuple[str, int], list[HostState]]] = defaultdict(lambda: defaultdict(list))
    run = 0
    for each in records:
        run += isinstance(each.record, Run)
        if isinstance(each.record, HostState):
            sessions[each.record.session][each.path, run].append(each.record)
    events: list[warn.HostEvent] = []
    names = _session_hosts(records) if len(sessions) > 1 else {}
    for session, runs in sorted(sessions.items()):
        where = session if len(sessions) > 1 else None
        for states in runs.values():
            found: list[warn.HostEvent] = []
            for first, second in pairwise(states):
                measured = (first.when, second.when) == ("begin", "end")
                found += (state_changes if measured else _reboot)(first.state, second.state)
            events += [msgspec.structs.replace(event, session=where, host=names.get(session)) for event in _once(found)]
    return list(dict.fromkeys(events))


def _once(events: Iterable[warn.HostEvent]) -> Iterable[warn.HostEvent]:
    """Give each kind of event once: of those of a run that was resumed, the worst part's."""
    found: dict[str, warn.HostEvent] = {}
    for event in events:
        if event.what not in found or event.bad > found[event.what].bad:
            found[event.what] = event
    return list(found.values())


def _session_hosts(records: Iterable[Located]) -> dict[int, str]:
    found: dict[int, set[warn.RunMachine | None]] = defaultdict(set)
    for file in files_of(records):
        for session in file.sessions:
            found[session].add(_host(file.run.host or {}))
    return {session: name for session, hosts in found.items() if (name := _named(hosts))}


def with_machines(warnings: Sequence[AnyWarning], records: Sequence[Located]) -> list[AnyWarning]:
    """Name the machines whose hosts were unfit, where there are several sessions."""
    files = [file for file in files_of(records) if (file.run.sessions or 1) > 1]
    names = _session_hosts(records) if files else {}
    unfit: dict[object, list[str]] = {}
    for file in files:
        session = file.run.session or 0
        for warning in file.run.warnings:
            unfit.setdefault(warning, []).append(machine(session, names.get(session)))
    return [
        msgspec.structs.replace(each, machines=tuple(dict.fromkeys(unfit.get(each, ()))))
        if isinstance(each, warn.UnfitHost)
        else each
        for each in warnings
    ]


# --- whether both sides had the same ----------------------------------------------------------------------------------


def side_differences(records: Sequence[Located], away: Collection[str] = ()) -> list[warn.SidesApart]:
    """Return where base and head of one benchmark were measured on other machines, kernels or boots.

    An execution belongs to the last run line before it in its file. Compared is within a session; a session that has
    one side alone is compared with the others that do. Runs that tell nothing of their machine are passed over, unless
    only one side's do. Result files of other tools have no such runs: theirs are compared by all that they say.

    away: keys that somebody compares by.
    """
    found: dict[warn.SidesApart, list[str]] = defaultdict(list)
    measured, facts = _hosts(records), differing(records, away)
    for benchmark, sessions in measured.items():
        single = [sides for sides in sessions.values() if not all(sides.values())]
        together: _Sides = {side: set().union(*(sides[side] for sides in single)) for side in SIDES}
        for session, sides in [*sessions.items(), (None, together)]:
            base, head, where = sides["base"], sides["head"], session if len(sessions) > 1 else None
            if not base or not head:
                continue
            if base != head:
                found[warn.SidesApart((), where, _ordered(base), _ordered(head))].append(benchmark)
    named = {each: tuple(dict.fromkeys(names)) for each, names in found.items()}
    told = [
        msgspec.structs.replace(each, benchmarks=() if len(names) == len(measured) else names)
        for each, names in named.items()
    ]
    if not told and any(f.base != f.head or not measured for f in facts):
        return [warn.SidesApart((), None, (), (), facts)]
    return [msgspec.structs.replace(each, facts=facts) for each in told]


def machines(records: Sequence[Located]) -> list[Said]:
    """Name the machines that measured, where several did: a report shows the facts of the first run line only."""
    measured = _hosts(records).values()
    every = {host for sessions in measured for sides in sessions.values() for side in SIDES for host in sides[side]}
    if len(every) < 2:
        return []
    names = warn.named(_ordered(every), _ordered(every))
    text = f"host: measured on {len(every)} machines or boots, {names}; only the facts of the first are shown"
    return [Said(text, "several-machines", "first")]


def host_names(records: Sequence[Located]) -> dict[str, dict[int, str]]:
    """Name the machine of each benchmark's sessions; a session is left out where nothing is known of its machine."""
    found: dict[str, dict[int, str]] = {}
    for benchmark, sessions in _hosts(records).items():
        names = {session: _named(set().union(*sides.values())) for session, sides in sessions.items()}
        found[benchmark] = {session: name for session, name in names.items() if name}
    return found


def _named(hosts: set[warn.RunMachine | None]) -> str:
    known = (host for host in _ordered(hosts) if host is not None)
    names = (host.hostname or (f"machine {host.fingerprint[:8]}" if host.fingerprint else "") for host in known)
    return " and ".join(dict.fromkeys(name for name in names if name))


_Sides = dict[str, set[warn.RunMachine | None]]


def _hosts(records: Iterable[Located]) -> dict[str, dict[int, _Sides]]:
    """Return, by benchmark, session and side, the machines of all executions that perfgate measured."""
    found: dict[str, dict[int, _Sides]] = defaultdict(lambda: defaultdict(lambda: {side: set() for side in SIDES}))
    for file in files_of(records):
        if file.run.apart:
            continue
        host = _host(file.run.host or {})
        executed = ((e.benchmark, e.session, e.side) for e in file.records if isinstance(e, Execution))
        for benchmark, session, side in dict.fromkeys(executed):
            found[benchmark][session][side].add(host)
    return found


def _host(facts: Mapping[str, Any]) -> warn.RunMachine | None:
    known = [facts.get(name) for name in warn.RunMachine.__struct_fields__]
    texts = [None if fact in (None, "", "unknown") else str(fact) for fact in known]
    return warn.RunMachine(*texts) if any(texts) else None


def _ordered(hosts: set[warn.RunMachine | None]) -> warn.Machines:
    known = (host for host in hosts if host is not None)
    ordered = sorted(known, key=lambda host: [text or "" for text in msgspec.structs.astuple(host)])
    return (*ordered, *([None] if None in hosts else []))


# --- what files know of machines and programs -------------------------------------------------------------------------


_NAMES = {
    "cpu": "cpu",
    "arch": "architecture", "goarch": "architecture", "machine": "architecture",
    "cpu_count": "processors", "num_cpus": "processors", "cores": "processors", "threads": "hardware threads",
    "cpu_affinity": "affinity", "affinity": "affinity", "/gomaxprocs": "GOMAXPROCS",
    "library_build_type": "build type", "configuration": "build type", "debugger": "debugger",
    "runtime": "runtime",
    "jdkVersion": "JDK", "vmName": "JVM", "vmVersion": "JVM version", "jvmArgs": "JVM arguments",
    "python_implementation": "Python", "python_version": "Python version", "python_compiler": "compiler",
    "python_cflags": "Python's compiler flags", "python_config_args": "Python's build options",
    "sdk": "SDK", "env": "environment",
    "mhz_per_cpu": "clock rate", "caches": "caches", "memory": "memory", "ram": "memory",
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
_ROUGH = {_NAMES[key] for key in ("mhz_per_cpu", "memory", "ram")}
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
    files = [
        (file, [r for r in file.records if isinstance(r, (Execution, SummaryRecord))]) for file in files_of(records)
    ]
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
    base, head = (sorted(date for text in dates["created"][side] if (date := when(text)) is not None) for side in SIDES)
    if base and head and max(head[0] - base[-1], base[0] - head[-1]) >= _FAR:
        told.append(FactOfSides("date", *((side[0].date().isoformat(),) for side in (base, head))))
    return tuple(told)


def _nothing() -> _Values:
    return defaultdict(lambda: {side: {} for side in SIDES})


def _single_processor(values: Sequence[Execution | SummaryRecord], found: _Values) -> None:
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
