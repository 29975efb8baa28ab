"""What happened to machines, and machines that differ between base and head."""

from __future__ import annotations

from typing import Any

import pytest

from gate.evidence.hosts import host_names, run_states, side_differences, state_changes
from gate.evidence.records import Located, read
from gate.model import HostState, Record, Run
from gate.model.warnings.hosts import (
    Event,
    FactOfSides,
    FrequencySetting,
    KernelChanged,
    Load,
    Machine,
    OutOfMemory,
    Pressure,
    Rebooted,
    SidesApart,
    SidesMixed,
    Steal,
    Swapped,
    ThermalThrottling,
    Throttled,
)
from tests.support.lines import execution, text

BEGIN: dict[str, Any] = {
    "time": "2026-11-20T09:00:00.000Z", "boot_id": "a", "kernel": "6.1.0", "uptime": 1000.0, "load": 0.3,
    "processors": 4, "cpu_total": 400_000, "cpu_idle": 300_000, "cpu_steal": 1000, "pressure_cpu": 0,
    "pressure_memory": 0, "pressure_io": 0, "throttled": 3, "throttled_seconds": 1.0, "swap_in": 10, "swap_out": 10,
    "oom_kills": 1, "thermal_throttles": 5, "governor": "performance", "turbo": False,
}  # fmt: skip
QUIET = {"uptime": 1100.0, "time": "2026-11-20T09:01:40.000Z", "cpu_total": 440_000, "cpu_idle": 330_000, "load": 1.2}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, []),
        ({"cpu_steal": 1420}, [Steal(0.042)]),
        ({"cpu_steal": 1090}, []),
        ({"throttled": 15, "throttled_seconds": 4.1}, [Throttled(12, 4.1 - 1.0)]),
        ({"load": 5.2}, []),
        ({"load": 6.2}, [Load(0.3, 6.2, 4)]),
        ({"pressure_memory": 3_200_000}, [Pressure("memory", 0.032)]),
        ({"pressure_io": 10_000_000}, []),
        ({"pressure_cpu": 34_000_000}, [Pressure("cpu", 0.34)]),
        ({"swap_in": 400, "swap_out": 20}, [Swapped(10, 390)]),
        ({"swap_in": 20}, []),
        ({"thermal_throttles": 8}, [ThermalThrottling(3)]),
        ({"oom_kills": 2}, [OutOfMemory(1)]),
        ({"governor": "powersave", "turbo": True}, [FrequencySetting("governor", "performance", "powersave"), FrequencySetting("turbo", False, True)]),
        # after a reboot the counters say nothing
        ({"boot_id": "b", "kernel": "6.8.0", "cpu_steal": 9000, "load": 90}, [Rebooted(), KernelChanged("6.1.0", "6.8.0")]),
    ],
)  # fmt: skip
def test_changes_of_a_machine(change: dict[str, Any], said: list[Event]) -> None:
    assert state_changes(BEGIN, {**BEGIN, **QUIET, **change}) == said


def test_a_load_from_before() -> None:
    (said,) = state_changes({**BEGIN, "load": 2.4}, {**BEGIN, **QUIET})
    assert said == Load(2.4, 1.2, 4)
    alone = {name: value for name, value in BEGIN.items() if name != "processors"}
    (said,) = state_changes(alone, {**alone, **QUIET, "load": 5.2})
    assert said == Load(0.3, 5.2, None)


@pytest.mark.parametrize("key", list(BEGIN))
def test_what_is_not_in_both_is_not_spoken_of(key: str) -> None:
    without = {name: value for name, value in BEGIN.items() if name != key}
    end = {**BEGIN, **QUIET}
    assert state_changes(without, end) == []
    assert state_changes(BEGIN, {name: value for name, value in end.items() if name != key}) == []


@pytest.mark.parametrize("odd", [None, "many", [], {}, True, -5])
def test_states_of_another_shape(odd: object) -> None:
    # by hand, or of a newer perfgate
    for key in BEGIN:
        state_changes({**BEGIN, key: odd}, {**BEGIN, **QUIET})
        state_changes(BEGIN, {**BEGIN, **QUIET, key: odd})
    assert state_changes({}, {}) == []


def test_time_is_taken_where_uptime_is_unknown() -> None:
    begin = {name: value for name, value in BEGIN.items() if name != "uptime"}
    end = {**begin, **QUIET, "pressure_memory": 50_000_000}
    end.pop("uptime")
    assert state_changes(begin, end) == [Pressure("memory", 0.5)]


def host(when: Any, session: int = 0, **change: Any) -> HostState:
    return HostState(when=when, session=session, state={**BEGIN, **(QUIET if when == "end" else {}), **change})


def states(records: list[Record], path: str = "m.jsonl") -> list[Event]:
    return run_states([Located(record, path, i) for i, record in enumerate(records, 1)])


def test_runs_that_were_killed_and_resumed() -> None:
    stolen = {"cpu_steal": 1420}
    quiet: list[Record] = [host("begin"), host("end")]
    assert states(quiet) == []
    assert states([]) == []
    # of a run that was killed there is no end: what happened until the next beginning is not of the measuring
    assert states([host("begin"), host("begin", **stolen), host("end", **stolen)]) == []
    assert states([host("begin"), host("begin"), host("end", **stolen)]) == [Steal(0.042)]
    rebooted: list[Record] = [host("begin"), host("begin", boot_id="b"), host("end", boot_id="b")]
    assert states(rebooted) == [Rebooted()]
    assert states([host("begin"), host("end"), host("begin", kernel="6.8"), host("end", kernel="6.8")]) == [
        KernelChanged("6.1.0", "6.8")
    ]


def test_what_happened_in_both_parts_of_a_resumed_run_is_told_once() -> None:
    little, much = {"cpu_steal": 1220, "pressure_memory": 5_000_000}, {"cpu_steal": 1420}
    first: list[Record] = [host("begin"), host("end", **little)]
    second: list[Record] = [host("begin"), host("end", **much)]
    (stolen,) = states(second)
    assert len(states(first)) == 2
    assert states([*first, *second]).count(stolen) == 1
    assert [type(event) for event in states([*first, *second])] == [Steal, Pressure]
    assert states([*second, *first])[0] == stolen


def test_sessions_are_apart() -> None:
    records: list[Record] = [
        host("begin"), host("begin", 1, boot_id="b"), host("end", 1, boot_id="b", oom_kills=3), host("end"),
    ]  # fmt: skip
    assert states(records) == [OutOfMemory(2, session=1)]


def test_what_happened_to_one_of_several_machines_names_it() -> None:
    lines: dict[str, list[dict[str, Any]]] = {}
    for session, name in enumerate(("arm", "amd")):
        more = {"state": {**BEGIN, **QUIET, "oom_kills": 1 + session}, "session": session}
        lines[name] = [
            {"type": "run", "session": session, "sessions": 2, "host": {"hostname": name}},
            {"type": "host", "when": "begin", "session": session, "state": BEGIN},
            *one("base", "head", session=session),
            {"type": "host", "when": "end", **more},
        ]
    assert run_states(files(**lines)) == [OutOfMemory(1, session=1, host="amd")]


def test_two_runs_are_not_one_machine_that_was_rebooted() -> None:
    one: list[Record] = [Run(), host("begin"), host("end")]
    other: list[Record] = [Run(), host("begin", boot_id="b", kernel="6.8"), host("end", boot_id="b", kernel="6.8")]
    assert states([*one, *other]) == []
    files = [Located(record, path, 1) for path, run in (("a", one[1:]), ("b", other[1:])) for record in run]
    assert run_states(files) == []


# --- base and head ------------------------------------------------------------------------------------------------------

A = {"fingerprint": "aaaaaaaaaaaa", "hostname": "a", "kernel": "6.1.0", "boot_id": "boot-a-1"}
MACHINE = Machine(**A)
OTHER = Machine(**{**A, "hostname": "b"})


def run(**host: str) -> dict[str, Any]:
    return {"type": "run", "host": host}


def files(**lines: list[dict[str, Any]]) -> list[Located]:
    return [record for name, content in lines.items() for record in read(name, text(content).encode()).records]


def one(*sides: str, **more: Any) -> list[dict[str, Any]]:
    return [execution(side, [1.0], **more) for side in sides]


@pytest.mark.parametrize(
    "change",
    [
        {"hostname": "b"},
        {"kernel": "6.8.0"},
        {"hostname": "b", "kernel": "6.8.0"},
        {"boot_id": "boot-a-2"},
        {"fingerprint": "bbbbbbbbbbbb"},
    ],
)
def test_each_difference_is_told(change: dict[str, str]) -> None:
    records = files(x=[run(**A), *one("base")], y=[run(**{**A, **change}), *one("head")])
    head = Machine(**{**A, **change})
    assert side_differences(records) == [SidesApart((), None, (MACHINE,), (head,))]


def test_what_machines_differ_in_stands_beside_their_names() -> None:
    first, second = (
        {**A, "cpu": cpu, "cores": "2", "python": version} for cpu, version in (("X", "3.11"), ("Y", "3.12"))
    )
    second |= {"fingerprint": "bbbbbbbbbbbb"}
    records = files(x=[run(**first), *one("base")], y=[run(**second), *one("head")])
    (found,) = side_differences(records)
    assert isinstance(found, SidesApart)
    assert (found.base, found.facts) == ((MACHINE,), (FactOfSides("cpu", ("X",), ("Y",)),))
    # a line of another program may know nothing but that
    records = files(x=[run(cpu="X"), *one("base")], y=[run(cpu="Y"), *one("head")])
    assert side_differences(records) == [SidesApart((), None, (), (), (FactOfSides("cpu", ("X",), ("Y",)),))]


B = {**A, "hostname": "b"}


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ({}, []),
        ({"x": [run(**A), *one("base", "head")]}, []),
        ({"x": [run(**A), *one("base")], "y": [run(**A), *one("head")]}, []),
        # nothing that is known of machines
        ({"x": one("base", "head")}, []),
        ({"x": [{"type": "run"}, *one("base")], "y": one("head")}, []),
        ({"x": [run(hostname="unknown", kernel="", cores="2"), *one("base")], "y": one("head")}, []),
        # of one side only
        ({"x": [run(**A), *one("base")], "y": one("head")}, [SidesApart((), None, (MACHINE,), (None,))]),
        # in one file the last run line counts
        ({"x": [run(**A), *one("base"), run(**B), *one("head")]}, [SidesApart((), None, (MACHINE,), (OTHER,))]),
        ({"x": [run(**A), run(**B), *one("base", "head")]}, []),
        # several machines on one side, and on both
        (
            {"x": [run(**A), *one("base", "head")], "y": [run(**B), *one("head", build=1)]},
            [SidesApart((), None, (MACHINE,), (MACHINE, OTHER))],
        ),
        (
            {"x": [run(**A), *one("base", "head")], "y": [run(**B), *one("base", "head", build=1)]},
            [SidesMixed((), None, (MACHINE, OTHER))],
        ),
        # shards and sessions may have machines of their own
        ({"x": [run(**A), *one("base", "head")], "y": [run(**B), *one("base", "head", benchmark="other")]}, []),
        ({"x": [run(**A), *one("base", "head")], "y": [run(**B), *one("base", "head", session=1)]}, []),
        (
            {"x": [run(**A), *one("base", "head"), *one("base", session=1)], "y": [run(**B), *one("head", session=1)]},
            [SidesApart((), 1, (MACHINE,), (OTHER,))],
        ),
        # sides in sessions of their own are compared
        (
            {"x": [run(**A), *one("base")], "y": [run(**B), *one("head", session=1)]},
            [SidesApart((), None, (MACHINE,), (OTHER,))],
        ),
        ({"x": [run(**A), *one("base")], "y": [run(**A), *one("head", session=1)]}, []),
    ],
)
def test_machines_of_both_sides(lines: dict[str, list[dict[str, Any]]], said: list[SidesApart | SidesMixed]) -> None:
    assert side_differences(files(**lines)) == said


def test_the_benchmarks_are_named_where_others_do_not_differ() -> None:
    b = run(**{**A, "hostname": "b"})
    same = [run(**A), *one("base", "head", benchmark="same")]
    names = ["p", "q", "r", "s", "t"]
    base = [line for name in names for line in one("base", benchmark=name)]
    head = [line for name in names for line in one("head", benchmark=name)]
    found = side_differences(files(x=[*same, *base], y=[b, *head]))
    assert found == [SidesApart(tuple(names), None, (MACHINE,), (OTHER,))]


def test_the_machine_of_a_session_is_named_as_far_as_it_is_known() -> None:
    lines: list[dict[str, Any]] = []
    for session, host in enumerate(({"hostname": "arm"}, {"fingerprint": "0123456789"}, {}, {"hostname": "amd"})):
        lines += [{"type": "run", "session": session, "sessions": 4, "host": host}]
        lines += [execution(side, [1.0], session=session) for side in ("base", "head")]
    # a second shard of the last session, on another machine
    lines += [{"type": "run", "session": 3, "sessions": 4, "host": {"hostname": "amd-2"}}]
    lines += [execution("base", [1.0], session=3, build=1), execution("base", [1.0], session=3, benchmark="other")]
    records = read("m.jsonl", text(lines).encode()).records
    assert host_names(records) == {
        "bench": {0: "arm", 1: "machine 01234567", 3: "amd and amd-2"},
        "other": {3: "amd-2"},
    }
