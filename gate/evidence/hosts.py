"""The machines behind the measurements: what happened to one during a run, and whether both sides had the same."""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from gate.evidence.records import Located
from gate.model import SIDES, Execution, HostState, Run
from gate.units import format_duration, format_share

STEAL = 0.01
"""Share of the time that programs wanted; a third of the smallest threshold that gates usually have."""
PRESSURES = {"cpu": 0.25, "memory": 0.01, "io": 0.25}
"""Share of the run's time in which some program waited. Builds wait for processors and disks, and that does no harm;
waiting for memory reaches whatever runs."""
LOAD_BEFORE = 0.5
"""Load for each processor before measuring began: others were at work."""
LOAD_AFTER = 1.5
"""Load for each processor at the end: more programs than processors, so the measured ones waited."""
LOAD_RISE = 2.0
"""Rise of a load where the number of processors is not known; one benchmark alone makes it one."""
SWAPPED = 256
"""Pages: a MiB where they have 4 KiB."""
_NAMES = 3


# --- what happened to a machine ---------------------------------------------------------------------------------------


def state_changes(begin: Mapping[str, Any], end: Mapping[str, Any]) -> list[str]:
    """Say what happened between two states of a machine that may have touched the values, with its size.

    begin, end: as harness.host.state gives them; what is not in both is not spoken of.
    """
    system = _system_changes(begin, end)
    if _differs(begin, end, "boot_id"):
        # counters and loads began anew
        return system
    texts = [
        _steal(begin, end),
        _quota(begin, end),
        _load(begin, end),
        *(_pressure(begin, end, what) for what in PRESSURES),
        _swap(begin, end),
        _heat(begin, end),
        _kills(begin, end),
        _setting(begin, end, "governor", "governor"),
        _setting(begin, end, "turbo", "turbo"),
    ]
    return [*system, *(text for text in texts if text)]


def _number(state: Mapping[str, Any], key: str) -> float | None:
    value = state.get(key)
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _grown(begin: Mapping[str, Any], end: Mapping[str, Any], key: str) -> float:
    """Return by how much a counter grew; 0 where it cannot be told."""
    before, after = _number(begin, key), _number(end, key)
    return max(0.0, after - before) if before is not None and after is not None else 0.0


def _differs(begin: Mapping[str, Any], end: Mapping[str, Any], key: str) -> bool:
    return key in begin and key in end and begin[key] != end[key]


def _system_changes(begin: Mapping[str, Any], end: Mapping[str, Any]) -> list[str]:
    texts = ["the machine was rebooted meanwhile"] if _differs(begin, end, "boot_id") else []
    if _differs(begin, end, "kernel"):
        texts.append(f"the kernel changed from {begin['kernel']} to {end['kernel']}")
    return texts


def _steal(begin: Mapping[str, Any], end: Mapping[str, Any]) -> str:
    wanted = _grown(begin, end, "cpu_total") - _grown(begin, end, "cpu_idle")
    share = _grown(begin, end, "cpu_steal") / wanted if wanted > 0 else 0.0
    if share < STEAL:
        return ""
    return f"the hypervisor took {format_share(share)} of the processors' time that programs wanted (steal)"


def _quota(begin: Mapping[str, Any], end: Mapping[str, Any]) -> str:
    times, seconds = _grown(begin, end, "throttled"), _grown(begin, end, "throttled_seconds")
    if times < 1:
        return ""
    often = "once" if times == 1 else f"{times:.0f} times"
    return f"the processors were throttled {often} ({format_duration(seconds)}) by the quota of the control group"


def _load(begin: Mapping[str, Any], end: Mapping[str, Any]) -> str:
    before, after = _number(begin, "load"), _number(end, "load")
    if before is None or after is None:
        return ""
    processors = _number(end, "processors")
    if processors is None:
        matters, where = after - before >= LOAD_RISE, ""
    else:
        matters = before >= LOAD_BEFORE * processors or after >= LOAD_AFTER * processors
        where = f" on {processors:.0f} processor{'s' if processors > 1 else ''}"
    return f"the load was {before:.1f} at the start, {after:.1f} at the end{where}" if matters else ""


def _pressure(begin: Mapping[str, Any], end: Mapping[str, Any], what: str) -> str:
    seconds = _elapsed(begin, end)
    share = _grown(begin, end, f"pressure_{what}") / 1e6 / seconds if seconds else 0.0
    if share < PRESSURES[what]:
        return ""
    thing = {"cpu": "a processor", "memory": "memory", "io": "a disk"}[what]
    return f"{what} pressure: some program waited for {thing} {format_share(min(share, 1.0))} of the time"


def _elapsed(begin: Mapping[str, Any], end: Mapping[str, Any]) -> float:
    up = _grown(begin, end, "uptime")
    if up:
        return up
    try:
        times = [datetime.datetime.fromisoformat(str(state["time"])) for state in (begin, end)]
        return max(0.0, (times[1] - times[0]).total_seconds())
    except (KeyError, ValueError, TypeError):
        return 0.0


def _swap(begin: Mapping[str, Any], end: Mapping[str, Any]) -> str:
    read, written = _grown(begin, end, "swap_in"), _grown(begin, end, "swap_out")
    if read + written < SWAPPED:
        return ""
    return f"memory was swapped: {written:.0f} pages to disk, {read:.0f} back"


def _heat(begin: Mapping[str, Any], end: Mapping[str, Any]) -> str:
    times = _grown(begin, end, "thermal_throttles")
    return f"thermal throttling: processors were slowed down {times:.0f} times for their heat" if times else ""


def _kills(begin: Mapping[str, Any], end: Mapping[str, Any]) -> str:
    kills = _grown(begin, end, "oom_kills")
    processes = "a process" if kills == 1 else f"{kills:.0f} processes"
    return f"the kernel ended {processes} for want of memory" if kills else ""


def _setting(begin: Mapping[str, Any], end: Mapping[str, Any], key: str, name: str) -> str:
    if not _differs(begin, end, key):
        return ""
    return f"{name} changed from {_worded(begin[key])} to {_worded(end[key])}"


def _worded(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)


def run_states(records: Sequence[Located]) -> list[str]:
    """Say what happened to the machines while they measured, by the host lines of each session in their order.

    A run that was killed has a beginning without an end, and begins again when it is resumed: of the time between, only
    a reboot or another kernel counts. Of two runs nothing is said together.
    """
    sessions: dict[int, dict[tuple[str, int], list[HostState]]] = defaultdict(lambda: defaultdict(list))
    run = 0
    for each in records:
        run += isinstance(each.record, Run)
        if isinstance(each.record, HostState):
            sessions[each.record.session][each.path, run].append(each.record)
    texts = []
    for session, runs in sorted(sessions.items()):
        where = f"session {session}: " if len(sessions) > 1 else ""
        for first, second in (pair for states in runs.values() for pair in pairwise(states)):
            measured = (first.when, second.when) == ("begin", "end")
            changes = state_changes if measured else _system_changes
            texts += [f"host: {where}{text}" for text in changes(first.state, second.state)]
    return list(dict.fromkeys(texts))


# --- whether both sides had the same ----------------------------------------------------------------------------------


class _Host(NamedTuple):
    """What a run line tells of its machine; None where it does not tell."""

    fingerprint: str | None
    hostname: str | None
    kernel: str | None
    boot_id: str | None


def side_differences(records: Sequence[Located]) -> list[str]:
    """Say where base and head of one benchmark were measured on other machines, kernels or boots.

    An execution belongs to the last run line before it in its file. Compared is within a session; a session that has
    one side alone is compared with the others that do. Runs that tell nothing of their machine are passed over, unless
    only one side's do.
    """
    found: dict[str, list[str]] = defaultdict(list)
    measured = _hosts(records)
    for benchmark, sessions in measured.items():
        for session, sides in _comparable(sessions):
            text = _difference(sides["base"], sides["head"])
            if text:
                where = "" if session is None or len(sessions) == 1 else f"session {session}: "
                found[where + text].append(benchmark)
    return [
        text if len(set(benchmarks)) == len(measured) else f"{_joined(dict.fromkeys(benchmarks))}: {text}"
        for text, benchmarks in found.items()
    ]


def machines(records: Sequence[Located]) -> list[str]:
    """Say which machines measured, where several did: a report shows the facts of the first run line only."""
    measured = _hosts(records).values()
    every = {host for sessions in measured for sides in sessions.values() for side in SIDES for host in sides[side]}
    if len(every) < 2:
        return []
    return [f"host: measured on {len(every)} machines or boots, {_side(every, every)}; the facts are the first one's"]


_Sides = dict[str, set[_Host | None]]


def _hosts(records: Iterable[Located]) -> dict[str, dict[int, _Sides]]:
    """Return, by benchmark, session and side, the machines of all executions."""
    runs: dict[str, _Host | None] = {}
    found: dict[str, dict[int, _Sides]] = defaultdict(lambda: defaultdict(lambda: {side: set() for side in SIDES}))
    for located in records:
        record = located.record
        if isinstance(record, Run):
            runs[located.path] = _host(record.host or {})
        elif isinstance(record, Execution):
            found[record.benchmark][record.session][record.side].add(runs.get(located.path))
    return found


def _host(facts: Mapping[str, Any]) -> _Host | None:
    known = [facts.get(name) for name in _Host._fields]
    texts = [None if fact in (None, "", "unknown") else str(fact) for fact in known]
    return _Host(*texts) if any(texts) else None


def _comparable(sessions: Mapping[int, _Sides]) -> list[tuple[int | None, _Sides]]:
    both = [(session, sides) for session, sides in sessions.items() if all(sides.values())]
    single = [sides for sides in sessions.values() if not all(sides.values())]
    together: _Sides = {side: set().union(*(sides[side] for sides in single)) for side in SIDES}
    return [*both, *([(None, together)] if all(together.values()) else [])]


def _difference(base: set[_Host | None], head: set[_Host | None]) -> str:
    if base == head and len(base) == 1:
        return ""
    if base == head:
        return f"base and head were each measured on {_side(base, base)}: the values mix machines"
    shown = base | head
    return f"base was measured on {_side(base, shown)}, head on {_side(head, shown)}: the ratio compares machines too"


def _side(hosts: set[_Host | None], among: set[_Host | None]) -> str:
    """Name machines by their host names, and by what else tells them from the others."""
    known = sorted((host for host in hosts if host is not None), key=lambda host: [text or "" for text in host])
    others = [host for host in among if host is not None]
    names = [_named(host, others) for host in known]
    if None in hosts:
        names.append("a machine that its file does not name")
    return _joined(dict.fromkeys(names))


def _named(host: _Host, others: Sequence[_Host]) -> str:
    details = []
    if len({other.kernel for other in others}) > 1:
        details.append(f"kernel {host.kernel or 'unknown'}")
    if len({other.fingerprint for other in others}) > 1:
        details.append(f"machine {(host.fingerprint or 'unknown')[:8]}")
    same_name = [other for other in others if other.hostname == host.hostname]
    if not details and len({other.boot_id for other in same_name}) > 1:
        details.append(f"boot {(host.boot_id or 'unknown')[:8]}")
    name = f"host {host.hostname}" if host.hostname else "a host without a name"
    return f"{name} ({', '.join(details)})" if details else name


def _joined(names: Iterable[str]) -> str:
    every = list(names)
    more = len(every) - _NAMES
    if more > 0:
        return f"{', '.join(every[:_NAMES])} and {more} more"
    return " and ".join([", ".join(every[:-1]), every[-1]]) if len(every) > 1 else "".join(every)
