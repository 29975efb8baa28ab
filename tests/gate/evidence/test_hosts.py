"""What happened to machines, and machines that differ between base and head."""

from typing import Any

import pytest

from gate.evidence.hosts import differing, host_names, is_fact, run_states, side_differences, state_changes
from gate.evidence.lines import Located
from gate.evidence.records import read
from gate.model import Execution, HostState, Metric, Record, Run, Side
from gate.model.warnings.hosts import FactOfSides, HostEvent, RunMachine, SidesApart
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
        ({"cpu_steal": 1420}, ["the hypervisor took 4.2% of the CPU time that programs wanted (steal)"]),
        ({"cpu_steal": 1090}, []),
        ({"throttled": 15, "throttled_seconds": 4.1}, ["the control group's quota throttled the processors 12 times (3.1 s)"]),
        ({"load": 5.2}, []),
        ({"load": 6.2}, ["the load was 0.3 at the start, 6.2 at the end on 4 processors"]),
        ({"pressure_memory": 3_200_000}, ["memory pressure: some program waited for memory 3.2% of the time"]),
        ({"pressure_io": 10_000_000}, []),
        ({"pressure_cpu": 34_000_000}, ["cpu pressure: some program waited for a processor 34.0% of the time"]),
        ({"swap_in": 400, "swap_out": 20}, ["memory was swapped: 10 pages to disk, 390 back"]),
        ({"swap_in": 20}, []),
        ({"thermal_throttles": 8}, ["thermal throttling: heat slowed the processors down 3 times"]),
        ({"oom_kills": 2}, ["the kernel killed 1 program because memory ran out"]),
        # after a reboot the counters say nothing
        ({"boot_id": "b", "kernel": "6.8.0", "cpu_steal": 9000, "load": 90}, ["the machine was rebooted during the run"]),
    ],
)  # fmt: skip
def test_changes_of_a_machine(change: dict[str, Any], said: list[str]) -> None:
    assert happened(BEGIN, {**BEGIN, **QUIET, **change}) == said


def happened(begin: dict[str, Any], end: dict[str, Any]) -> list[str]:
    return [each.happened for each in state_changes(begin, end)]


def test_a_load_from_before() -> None:
    said = ["the load was 2.4 at the start, 1.2 at the end on 4 processors"]
    assert happened({**BEGIN, "load": 2.4}, {**BEGIN, **QUIET}) == said


def without(key: str, state: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in state.items() if name != key}


@pytest.mark.parametrize("key", list(BEGIN))
def test_what_is_not_in_both_or_of_another_shape_is_not_spoken_of(key: str) -> None:
    end = {**BEGIN, **QUIET}
    assert state_changes(without(key, BEGIN), end) == state_changes(BEGIN, without(key, end)) == []
    # by hand, or of a newer perfgate
    odds: tuple[object, ...] = (None, "many", [], {}, True, -5)
    for odd in odds:
        state_changes({**BEGIN, key: odd}, end)
        state_changes(BEGIN, {**end, key: odd})
    assert state_changes({}, {}) == []


def host(when: Any, session: int = 0, **change: Any) -> HostState:
    return HostState(when=when, session=session, state={**BEGIN, **(QUIET if when == "end" else {}), **change})


def part(session: int = 0, **change: Any) -> list[Record]:
    """Make a part of a run, on a machine that is another one from its beginning on."""
    return [host("begin", session, **change), host("end", session, **change)]


def states(*records: Record, path: str = "m.jsonl") -> list[HostEvent]:
    return run_states([Located(record, path, i) for i, record in enumerate(records, 1)])


STOLEN = {"cpu_steal": 1420}


@pytest.mark.parametrize(
    ("records", "said"),
    [
        ([], []),
        (part(), []),
        # of a run that was killed there is no end: what happened until the next beginning is not of the measuring
        ([host("begin"), *part(**STOLEN)], []),
        (
            [host("begin"), host("begin"), host("end", **STOLEN)],
            ["host: the hypervisor took 4.2% of the CPU time that programs wanted (steal)"],
        ),
        ([host("begin"), *part(boot_id="b")], ["host: the machine was rebooted during the run"]),
        # sessions are apart
        (
            [host("begin"), host("begin", 1, boot_id="b"), host("end", 1, boot_id="b", oom_kills=3), host("end")],
            ["host: session 1: the kernel killed 2 programs because memory ran out"],
        ),
        # two runs are not one machine that was rebooted
        ([Run(), *part(), Run(), *part(boot_id="b", kernel="6.8")], []),
    ],
)
def test_runs_that_were_killed_resumed_or_put_together(records: list[Record], said: list[str]) -> None:
    assert [each.sentence() for each in states(*records)] == said


def test_files_are_apart() -> None:
    runs = {"a": part(), "b": [Run(), *part(boot_id="b", kernel="6.8")]}
    assert run_states([Located(record, path, 1) for path, run in runs.items() for record in run]) == []


def test_what_happened_in_both_parts_of_a_resumed_run_is_told_once() -> None:
    first = [host("begin"), host("end", cpu_steal=1220, pressure_memory=5_000_000)]
    second = [host("begin"), host("end", **STOLEN)]
    (stolen,) = states(*second)
    assert len(states(*first)) == 2
    assert [event.what for event in states(*first, *second)] == ["steal", "memory pressure"]
    assert stolen in states(*first, *second)
    assert states(*second, *first)[0] == stolen


def test_what_happened_to_one_of_several_machines_names_it() -> None:
    lines: dict[str, list[dict[str, Any]]] = {}
    for session, name in enumerate(("arm", "amd")):
        state = {**BEGIN, **QUIET, "oom_kills": 1 + session}
        lines[name] = [
            {"type": "run", "session": session, "sessions": 2, "host": {"hostname": name}},
            {"type": "host", "when": "begin", "session": session, "state": BEGIN},
            *one("base", "head", session=session),
            {"type": "host", "when": "end", "session": session, "state": state},
        ]
    (said,) = run_states(files(**lines))
    assert said.sentence() == "host: session 1 (amd): the kernel killed 1 program because memory ran out"


# --- base and head ------------------------------------------------------------------------------------------------------

A = {"fingerprint": "aaaaaaaaaaaa", "hostname": "a", "kernel": "6.1.0", "boot_id": "boot-a-1"}
MACHINE = RunMachine(**A)
OTHER = RunMachine(**{**A, "hostname": "b"})


def run(**host: str) -> dict[str, Any]:
    return {"type": "run", "host": host}


def files(**lines: list[dict[str, Any]]) -> list[Located]:
    return [record for name, content in lines.items() for record in read(name, text(content).encode()).records]


def one(*sides: str, **more: Any) -> list[dict[str, Any]]:
    return [execution(side, [1.0], **more) for side in sides]


B = {**A, "hostname": "b"}


def test_what_machines_differ_in_stands_beside_their_names() -> None:
    cpus = (FactOfSides("cpu", ("X",), ("Y",)),)
    first, second = ({**A, "cpu": cpu, "cores": "2", "python": "3"} for cpu in "XY")
    second["fingerprint"] = "bbbbbbbbbbbb"
    (found,) = side_differences(files(x=[run(**first), *one("base")], y=[run(**second), *one("head")]))
    assert (found.base, found.facts) == ((MACHINE,), cpus)
    # a line of another program may know nothing but that
    records = files(x=[run(cpu="X"), *one("base")], y=[run(cpu="Y"), *one("head")])
    assert side_differences(records) == [SidesApart((), None, (), (), cpus)]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ({}, []),
        ({"x": [run(**A), *one("base", "head")]}, []),
        ({"x": [run(**A), *one("base")], "y": [run(**A), *one("head")]}, []),
        # each difference tells
        *[
            (
                {"x": [run(**A), *one("base")], "y": [run(**{**A, key: value}), *one("head")]},
                [SidesApart((), None, (MACHINE,), (RunMachine(**{**A, key: value}),))],
            )
            for key, value in (("kernel", "6.8.0"), ("boot_id", "boot-a-2"), ("fingerprint", "b" * 12))
        ],
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
            [],
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
def test_machines_of_both_sides(lines: dict[str, list[dict[str, Any]]], said: list[SidesApart]) -> None:
    assert side_differences(files(**lines)) == said


def test_the_benchmarks_are_named_where_others_do_not_differ() -> None:
    base, head = ([line for name in "pqrst" for line in one(side, benchmark=name)] for side in ("base", "head"))
    same = [run(**A), *one("base", "head", benchmark="same")]
    found = side_differences(files(x=[*same, *base], y=[run(**B), *head]))
    assert found == [SidesApart(tuple("pqrst"), None, (MACHINE,), (OTHER,))]


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


# --- what else the files know of machines, compilers and runtimes -----------------------------------------------------


def side(name: Side, *files: dict[str, Any], labels: dict[str, str] | None = None) -> list[Located]:
    """Give a file of a side for each host; "created" and "tools" are of its run line."""
    found = []
    for number, host in enumerate(files):
        own = {key: value for key, value in host.items() if key not in ("created", "tools")}
        run = Run(host=own, apart=True, created=host.get("created"), tools=host.get("tools", []))
        metrics = {"time": Metric(unit="s", values=[1.0])}
        e = Execution(benchmark="b", side=name, build=number, execution=0, metrics=metrics, labels=labels or {})
        found += [Located(run, f"{name}{number}", 1), Located(e, f"{name}{number}", 2)]
    return found


@pytest.mark.parametrize(
    ("base", "head", "said"),
    [
        # the worst comes first, under one name for all tools
        (
            {"kernel": "6.1", "python_version": "3.11", "num_cpus": 2, "cpu": "A"},
            {"kernel": "6.8", "python_version": "3.12", "cpu_count": 4, "cpu": "B"},
            [("cpu", "A", "B"), ("processors", "2", "4"), ("Python version", "3.11", "3.12"), ("kernel", "6.1", "6.8")],
        ),
        *[
            ({key: base}, {key: head}, said)
            for key, base, head, said in (
                ("hostname", "a", "b", []),
                ("host_name", "a", "b", []),
                ("boot_id", "a", "b", []),
                ("executable", "a", "b", []),
                ("jvm", "/a/java", "/b/java", []),
                ("git_commit", "a", "b", []),
                ("mhz_per_cpu", 2600, 2400, []),
                ("mhz_per_cpu", 2600, 3600, [("clock rate", "2600", "3600")]),
                ("memory", "16GB", "15.6GB", []),
                ("memory", "16GB", "64GB", [("memory", "16GB", "64GB")]),
                ("cpu", "A", "unknown", []),
                ("cpu", "A", None, []),
                ("created", "2026-11-01", "2026-11-20", []),
                ("created", "?", "2020-01-01", []),
                ("created", "2026-01-05T10:00:00Z", "2026-11-20 08:00:00", [("date", "2026-01-05", "2026-11-20")]),
                ("tools", ["Catch2"], ["Catch2 3.7.1"], []),
                ("tools", ["pyperf 2.6.0"], ["pyperf 2.9.0"], [("measuring tool", "pyperf 2.6.0", "pyperf 2.9.0")]),
                ("cpu_scaling_enabled", True, False, [("cpu_scaling_enabled", "on", "off")]),
                ("jvmArgs", [], ["-Xmx4g", "-ea"], [("JVM arguments", "none", "-Xmx4g -ea")]),
                ("debugger", False, True, [("debugger", "off", "on")]),
                ("python_cflags", "-O2", "-O0", [("Python's compiler flags", "-O2", "-O0")]),
            )
        ],
    ],
)
def test_what_both_files_say_of_a_fact(base: dict[str, Any], head: dict[str, Any], said: list[tuple[str, ...]]) -> None:
    found = differing([*side("base", base), *side("head", head)])
    assert [(f.name, *f.base, *f.head) for f in found] == said


@pytest.mark.parametrize(
    ("base", "head", "said"),
    [
        ({"toolchain": "go1.20"}, {"toolchain": "go1.21"}, [("toolchain", "go1.20", "go1.21")]),
        ({"branch": "a", "format": "json"}, {"branch": "b", "format": "xml"}, []),
        ({"/gomaxprocs": "8", "goarch": "x"}, {"goarch": "x"}, [("GOMAXPROCS", "8", "1")]),
        ({"/gomaxprocs": "8"}, {}, []),
        ({"date": "2020-01-01"}, {"date": "2026-01-01"}, [("date", "2020-01-01", "2026-01-01")]),
    ],
)
def test_labels_that_are_facts(base: dict[str, str], head: dict[str, str], said: list[tuple[str, ...]]) -> None:
    found = differing([*side("base", {}, labels=base), *side("head", {}, labels=head)])
    assert [(f.name, *f.base, *f.head) for f in found] == said


def test_facts_of_sides_that_mix_several_and_of_one_side_and_what_somebody_compares_by() -> None:
    records = [*side("base", {"cpu": "B"}, {"cpu": "A"}), *side("head", {"cpu": "A"}, {"cpu": "B"})]
    assert differing(records) == (FactOfSides("cpu", ("A", "B"), ("A", "B")),)
    two = [*side("base", {}, labels={"runtime": "6"}), *side("base", {}, labels={"runtime": "8"})]
    assert differing([*two, *side("head", {}, labels={"runtime": "8"})]) == ()
    assert differing(side("head", {"cpu": "A"}, labels={"/gomaxprocs": "8", "goarch": "x"})) == ()
    records = [*side("base", {"num_cpus": 2, "cpu": "A"}), *side("head", {"num_cpus": 4, "cpu": "B"})]
    assert [f.name for f in differing(records, {"cpu"})] == ["processors"]
    assert differing(records, {"cpu", "num_cpus"}) == ()


def test_names_that_projects_give_to_facts() -> None:
    names = ("compiler", "cxx_flags", "ldflags", "goexperiment", "CPU model", "branch", "version_of_app")
    assert [name for name in names if not is_fact(name)] == ["branch", "version_of_app"]
