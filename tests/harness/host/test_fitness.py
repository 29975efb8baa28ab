"""Whole machines: which are fit, which are not, and that nothing unreadable is ever ok."""

import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from harness.host.fitness import examination
from harness.host.fitness.checks import Check, Here
from harness.host.fitness.counters import MachineFiles, Window
from harness.host.fitness.examination import CHECKS, examine, problems, standing_problems, unfit
from tests.support import machines
from tests.support.machines import QUIET, machine, process, ticks, window
from tests.support.project import executable


def found(
    monkeypatch: pytest.MonkeyPatch, tree: MachineFiles, later: Mapping[str, str | None] | None = None
) -> dict[str, Check]:
    """All checks of a machine, which changes so while it is watched."""

    def watch(files: MachineFiles, seconds: float) -> Window:
        return window(files, later={} if later is None else later)

    monkeypatch.setattr("harness.host.fitness.checks.watch", watch)
    return {check.name: check for check in examine(tree)}


def states(checks: Mapping[str, Check], state: str) -> set[str]:
    return {name for name, check in checks.items() if check.state == state}


HERE = {"tools", "tracer", "temporary files"}
"""Checks of the machine that the tests run on."""


@pytest.fixture
def fit_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the machine that the tests run on out."""
    ok = Check("here", "ok", "", "")
    for name in HERE:
        monkeypatch.setitem(examination.CHECKS, name, lambda _: ok)


def quiet_vm(root: Path) -> MachineFiles:
    return machine(root, "cloud-vm", quiet=QUIET, begin=ticks())


SPUN = ticks(busy=52, idle=148, own=50)
"""After a second in which hardly anybody but this process ran."""


PRESSURES = {"cpu pressure", "memory pressure", "io pressure"}


@pytest.mark.usefixtures("fit_here")
@pytest.mark.parametrize(
    ("name", "begin", "later", "bad", "warn", "unknown"),
    [
        # what a virtual machine does not show is unknown
        ("cloud-vm", ticks(), SPUN, [], {"virtual machine"}, {"governor", "turbo", "thermal throttling", "smt"}),
        ("laptop", ticks(processors=8), ticks(busy=104, idle=696, own=100, processors=8), ["power supply"], {"governor", "turbo", "smt"}, set()),
        ("raspberry-pi", ticks(processors=4), ticks(busy=101, idle=299, own=100, processors=4), [], {"governor"}, {"turbo", "thermal throttling", *PRESSURES}),
    ],
)  # fmt: skip
def test_whole_machines(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    begin: Mapping[str, str],
    later: Mapping[str, str],
    bad: list[str],
    warn: set[str],
    unknown: set[str],
) -> None:
    tree = machine(tmp_path, name, quiet=QUIET if name == "cloud-vm" else {}, begin=begin)
    checks = found(monkeypatch, tree, later)
    assert [check.name for check in unfit(checks.values())] == bad
    assert (states(checks, "warn"), states(checks, "unknown")) == (warn, unknown)
    assert checks["virtual machine"].value == ("yes" if name == "cloud-vm" else "no")
    assert standing_problems(tree) == ["power supply: battery, discharging"] * (name == "laptop")
    if name == "laptop":
        machines.write(tmp_path, {**begin, "sys/class/power_supply/BAT0/status": "Charging"})
        assert unfit(found(monkeypatch, tree, later).values()) == []


CPU0, HEAT = "sys/devices/system/cpu/cpu0", "thermal_throttle/core_throttle_count"
BUSY = "some avg10=71.00 avg60=1.0 avg300=1.0 total=1"
STOPPED = {"sys/fs/cgroup/cpu/cpu.stat": "nr_periods 10\nnr_throttled 5\nthrottled_time 240000000"}


@pytest.mark.usefixtures("fit_here")
@pytest.mark.parametrize(
    ("files", "later", "names"),
    [
        ({"proc/loadavg": "7.90 6.00 5.00 9/200 300"}, ticks(busy=200, idle=0, own=60), ["load", "other processes"]),
        ({"proc/pressure/cpu": BUSY}, ticks(busy=110, idle=90, own=58), ["cpu pressure"]),
        ({}, ticks(busy=60, idle=100, steal=40, own=58), ["steal time"]),
        ({"sys/fs/cgroup/cpu/cpu.cfs_quota_us": "50000"}, SPUN | STOPPED, ["cpu quota"]),
        ({"proc/meminfo": "MemTotal: 8000000 kB\nMemAvailable: 300000 kB"}, SPUN, ["memory"]),
        ({f"{CPU0}/cpufreq/scaling_governor": "powersave", f"{CPU0}/cpufreq/scaling_driver": "acpi-cpufreq"}, SPUN, ["governor"]),
        ({f"{CPU0}/{HEAT}": "4"}, {**SPUN, f"{CPU0}/{HEAT}": "7"}, ["thermal throttling"]),
    ],
)  # fmt: skip
def test_a_virtual_machine_becomes_unfit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], later: dict[str, str], names: list[str]
) -> None:
    tree = quiet_vm(tmp_path)
    machines.write(tmp_path, files)
    assert [check.name for check in unfit(found(monkeypatch, tree, later).values())] == names
    # the same words before a run, without the tools
    quiet_vm(tmp_path)
    machines.write(tmp_path, files)
    assert [text.partition(":")[0] for text in problems(tree, 0)] == names


@pytest.mark.usefixtures("fit_here")
def test_a_load_of_the_past_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = quiet_vm(tmp_path)
    past = dict.fromkeys(("proc/pressure/cpu", "proc/pressure/io"), BUSY)
    machines.write(tmp_path, {"proc/loadavg": "3.90 2.00 1.00 1/200 300", **past})
    checks = found(monkeypatch, tree, SPUN)
    assert states(checks, "warn") == {"load", "cpu pressure", "io pressure", "virtual machine"}
    assert unfit(checks.values()) == []


def test_nothing_of_an_empty_tree_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # as on macOS
    checks = found(monkeypatch, MachineFiles(tmp_path / "nowhere"))
    assert {name: check.state for name, check in checks.items() if check.state != "unknown" and name not in HERE} == {}
    assert all(check.command is None for check in checks.values() if check.state == "unknown")


def test_nothing_of_nonsense_is_ok_and_nothing_raises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for nonsense in ("", "nonsense", "-1 \x00 9e999 99999999999999999999999999999", "1 " * 50):
        machine(tmp_path, "laptop")
        for path in tmp_path.rglob("*"):
            if path.is_file():
                path.write_text(nonsense, encoding="utf-8")
        checks = found(monkeypatch, MachineFiles(tmp_path))
        assert "steal time" in checks
        if nonsense in ("", "nonsense"):
            # empty files tell that something is none
            known = {name for name, check in checks.items() if check.state == "ok"} - HERE
            assert known <= {"power supply", "cpu quota", "virtual machine"}


def test_what_may_not_be_read_or_fails_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: MachineFiles, name: str) -> int:
        raise ZeroDivisionError("by chance")

    monkeypatch.setattr(MachineFiles, "number", fails)
    check = found(monkeypatch, quiet_vm(tmp_path))["aslr"]
    assert (check.state, check.value) == ("unknown", "ZeroDivisionError: by chance")


def test_the_machine_here() -> None:
    checks = examine(seconds=0.05)
    assert len({check.name for check in checks}) == len(checks) == 18
    assert all(check.value and check.why and "\n" not in check.value + check.why for check in checks)
    assert all(": " in text for text in problems(seconds=0.05))


# --- single checks that have more than one way to be read -------------------------------------------------------------


def test_the_busiest_process_is_named_and_this_one_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = quiet_vm(tmp_path)
    machines.write(tmp_path, {"proc/31/stat": process(31, 400, "a) b (c"), "proc/32/stat": process(32, 4000)})
    later = {
        **ticks(busy=150, idle=50, own=60),
        "proc/31/stat": process(31, 470, "a) b (c"),
        # another process with the id of one that ended
        "proc/32/stat": process(32, 5, started=900),
        "proc/33/stat": process(33, 20),
    }
    check = found(monkeypatch, tree, later)["other processes"]
    assert (check.state, check.value) == (
        "warn",
        "used 45% of the CPU time; most of it a) b (c (process 31): 70% of a processor",
    )


DMI, GROUP, KINDS = "sys/class/dmi/id", "sys/fs/cgroup", "sys/devices/system/cpu"
BARE = "processor\t: 0\nflags\t\t: fpu"
UNSHOWN = "this system does not show it"


def layouts(setting: str, personality: str = "00000000") -> dict[str, str]:
    return {"proc/sys/kernel/randomize_va_space": setting, "proc/self/personality": personality}


def scaling(governor: str, driver: str, preference: str = "") -> dict[str, str]:
    """Powersave means another thing with each driver."""
    folder = f"{KINDS}/cpu0/cpufreq"
    files = {f"{folder}/scaling_governor": governor, f"{folder}/scaling_driver": driver}
    return files | ({f"{folder}/energy_performance_preference": preference} if preference else {})


@pytest.mark.parametrize(
    ("name", "files", "state", "value"),
    [
        ("governor", scaling("performance", "intel_pstate", "performance"), "ok", "performance"),
        ("governor", scaling("powersave", "intel_pstate", "balance_performance"), "warn", "powersave"),
        ("governor", scaling("powersave", "amd-pstate-epp", "balance_power"), "warn", "powersave"),
        ("governor", scaling("powersave", "intel_pstate", "power"), "bad", "powersave"),
        ("governor", scaling("powersave", "intel_cpufreq"), "bad", "powersave"),
        ("governor", scaling("schedutil", "intel_cpufreq"), "warn", "schedutil"),
        ("virtual machine", {f"{DMI}/sys_vendor": "QEMU"}, "warn", "yes"),
        ("virtual machine", {f"{DMI}/sys_vendor": "Amazon EC2", f"{DMI}/product_name": "c7i.metal-24xl"}, "ok", "no"),
        ("virtual machine", {f"{DMI}/product_name": "Virtual Machine"}, "warn", "yes"),
        ("virtual machine", {"proc/cpuinfo": f"{BARE} hypervisor"}, "warn", "yes"),
        ("virtual machine", {"proc/cpuinfo": BARE}, "ok", "no"),
        ("virtual machine", {"proc/device-tree/model": "linux,dummy-virt\0"}, "warn", "yes"),
        ("cpu quota", {"proc/self/cgroup": "0::/a/b", f"{GROUP}/cgroup.procs": "", f"{GROUP}/a/cgroup.procs": "", f"{GROUP}/a/cpu.max": "150000 100000",
                       f"{GROUP}/a/b/cgroup.procs": "", f"{GROUP}/a/b/cpu.max": "max 100000"}, "warn", "1.50 processors"),
        # in a container the path is the host's
        ("cpu quota", {"proc/self/cgroup": "0::/../host/path", f"{GROUP}/cgroup.procs": "", f"{GROUP}/cpu.max": "50000 100000"}, "warn", "0.50 processors"),
        ("cpu quota", {"proc/self/cgroup": "4:cpu,cpuacct:/docker/1234", f"{GROUP}/cpu,cpuacct/cgroup.procs": "",
                       f"{GROUP}/cpu,cpuacct/cpu.cfs_quota_us": "200000", f"{GROUP}/cpu,cpuacct/cpu.cfs_period_us": "100000"}, "warn", "2.00 processors"),
        ("cpu quota", {"proc/self/cgroup": "0::/", f"{GROUP}/cgroup.procs": ""}, "ok", "none"),
        ("cpu quota", {"proc/self/cgroup": "0::/"}, "unknown", UNSHOWN),
        ("memory", {"proc/meminfo": "MemTotal: 8388608 kB\nMemAvailable: 8000000 kB", "proc/self/cgroup": "0::/", f"{GROUP}/cgroup.procs": "",
                    f"{GROUP}/memory.max": str(2**30), f"{GROUP}/memory.current": str(2**30), f"{GROUP}/memory.stat": f"anon 5\ninactive_file {2**26}"},
         "warn", "64 MiB of 1.0 GiB available in its control group"),
        ("aslr", layouts("2"), "ok", "on"),
        ("aslr", layouts("0"), "warn", "off"),
        ("aslr", layouts("1"), "warn", "partly off"),
        ("aslr", layouts("2", "00040000"), "warn", "off for this process (setarch -R)"),
    ],
)  # fmt: skip
def test_single_checks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, files: Mapping[str, str], state: str, value: str
) -> None:
    machines.write(tmp_path, files)
    check = found(monkeypatch, MachineFiles(tmp_path))[name]
    assert (check.state, check.value) == (state, value)
    assert check.command is None or value != "performance"


# --- folders and tools of this machine ------------------------------------------------------------------------


def look(name: str) -> Check:
    return CHECKS[name](Here(MachineFiles(), 0))


def test_a_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "absent"))
    assert look("temporary files").state == "bad"
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    real = os.statvfs(tmp_path)
    kept = {name: getattr(real, name) for name in ("f_bavail", "f_frsize", "f_flag")}

    def with_(**changes: int) -> str:
        status = type("Status", (), {**kept, "f_flag": 0, "f_frsize": 1, "f_bavail": 2**40, **changes})
        monkeypatch.setattr("harness.host.fitness.examination.os.statvfs", lambda _: status)
        return look("temporary files").state

    assert with_() == "ok"
    assert with_(f_bavail=2**29) == "warn"
    assert with_(f_bavail=2**20) == "bad"
    assert with_(f_flag=os.ST_RDONLY) == "bad"
    assert with_(f_flag=os.ST_NOEXEC) == "bad"


def tool(folder: Path, name: str, says: str, status: int = 0) -> None:
    executable(folder / name, f"#!/bin/sh\necho '{says}'\nexit {status}\n")


def test_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    own = tmp_path / "environment"
    own.mkdir()
    monkeypatch.setattr(sys, "executable", str(own / "python"))
    check = look("tools")
    assert (check.state, check.value, check.command) == ("bad", "no git", None)
    tool(tmp_path, "apt", "")
    as_root = "" if os.geteuid() == 0 else "sudo "
    assert look("tools").command == f"{as_root}apt install git"
    tool(tmp_path, "git", "git version 2.39.5")
    tool(tmp_path, "perf", "WARNING: perf not found for kernel 6.8", 2)
    tool(tmp_path, "setarch", "setarch from util-linux 2.38.1")
    check = look("tools")
    assert (check.state, check.value) == ("warn", "setarch; no hyperfine, perf, valgrind, taskset")
    assert check.command == f"{as_root}apt install hyperfine"
    tool(tmp_path, "hyperfine", "hyperfine 1.15.0")
    check = look("tools")
    which = f"hyperfine 1.15.0 (on PATH: {tmp_path}/hyperfine)"
    assert (check.state, check.value) == ("ok", f"{which}, setarch; no perf, valgrind, taskset")
    tool(own, "hyperfine", "hyperfine 2.0.0")
    assert look("tools").value.startswith(f"hyperfine 2.0.0 (comes with perfgate: {own}/hyperfine), setarch; no ")
