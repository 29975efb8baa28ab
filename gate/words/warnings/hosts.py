"""Sentences about what happened to a machine while it measured, and which machines measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gate.model.warnings import hosts as kinds
from gate.units import format_duration, format_share, format_value
from gate.words.machines import machine
from gate.words.numbers import plural
from gate.words.phrases import joined, listed
from gate.words.plain import distinct


def _unfit_host(warning: kinds.UnfitHost) -> str:
    problem = warning.problem
    said = problem if isinstance(problem, str) else _PROBLEMS[type(problem)](problem)
    where = joined([machine(at.session, at.host) for at in warning.machines])
    return f"{where}{': ' if where else ''}the host was unfit when measuring began: {said}"


def _size(size: int) -> str:
    return format_value(size, "B", digits=2)


def _little_memory(problem: kinds.LittleMemory) -> str:
    where = " in its control group" if problem.in_group else ""
    return f"memory: {_size(problem.available)} of {_size(problem.total)} available{where}"


def _no_temporary_files(problem: kinds.NoTemporaryFiles) -> str:
    why = {
        "unreadable": f": {problem.error}",
        "unwritable": " cannot be written",
        "noexec": " is mounted noexec: what is built there does not start",
        "full": f" has only {_size(problem.free)} free",
    }[problem.because]
    return f"temporary files: {problem.folder}{why}"


_PROBLEMS: dict[type, Callable[[Any], str]] = {
    kinds.LowPowerProfile: lambda _: "governor: platform profile low-power",
    kinds.HeldDown: lambda problem: f"governor: {', '.join(problem.governors)}",
    kinds.OnBattery: lambda _: "power supply: battery, discharging",
    kinds.LittleMemory: _little_memory,
    kinds.NoTemporaryFiles: _no_temporary_files,
}


def _event(event: kinds.HostEvent, what: str) -> str:
    run = f"{event.run}'s run: " if event.run else ""
    session = "" if event.session is None else f"{machine(event.session, event.host)}: "
    return f"host: {run}{session}{what}"


def _rebooted(event: kinds.Rebooted) -> str:
    return _event(event, "the machine was rebooted during the run")


def _kernel_changed(event: kinds.KernelChanged) -> str:
    return _event(event, f"the kernel changed from {event.was} to {event.now}")


def _steal(event: kinds.Steal) -> str:
    share = format_share(event.share)
    return _event(event, f"the hypervisor took {share} of the CPU time that programs wanted (steal)")


def _throttled(event: kinds.Throttled) -> str:
    often = "once" if event.times == 1 else f"{event.times:.0f} times"
    seconds = format_duration(event.seconds)
    return _event(event, f"the control group's quota throttled the processors {often} ({seconds})")


def _load(event: kinds.Load) -> str:
    where = "" if event.processors is None else f" on {plural(round(event.processors), 'processor')}"
    return _event(event, f"the load was {event.start:.1f} at the start, {event.end:.1f} at the end{where}")


def _pressure(event: kinds.Pressure) -> str:
    thing = {"cpu": "a processor", "memory": "memory", "io": "a disk"}[event.resource]
    share = format_share(event.share)
    return _event(event, f"{event.resource} pressure: some program waited for {thing} {share} of the time")


def _swapped(event: kinds.Swapped) -> str:
    return _event(event, f"memory was swapped: {plural(round(event.written), 'page')} to disk, {event.read:.0f} back")


def _thermal_throttling(event: kinds.ThermalThrottling) -> str:
    return _event(event, f"thermal throttling: heat slowed the processors down {plural(round(event.times), 'time')}")


def _out_of_memory(event: kinds.OutOfMemory) -> str:
    processes = "a process" if event.processes == 1 else f"{event.processes:.0f} processes"
    return _event(event, f"the kernel killed {processes} because memory ran out")


def _frequency_setting(event: kinds.FrequencySetting) -> str:
    was, now = (("on" if value else "off") if isinstance(value, bool) else value for value in (event.was, event.now))
    return _event(event, f"{event.setting} changed from {was} to {now}")


# --- machines ---------------------------------------------------------------------------------------------------------


def _several_machines(warning: kinds.SeveralMachines) -> str:
    count, every = len(warning.machines), warning.machines
    return f"host: measured on {count} machines or boots, {_named(every, every)}; only the facts of the first are shown"


def _sides_apart(warning: kinds.SidesApart) -> str:
    facts = [f for f in warning.facts if f.base != f.head]
    mixed = [f for f in warning.facts if f.base == f.head]
    told = [f"base and head differ in {listed([_differing(f) for f in facts], _FACTS)}"] if facts else []
    told += (
        [f"each side mixes {listed([f'{f.name} ({joined(distinct(f.base, _LONGEST), 3)})' for f in mixed], _FACTS)}"]
        if mixed
        else []
    )
    if not warning.base:
        return f"{'; '.join(told)}: the ratio also compares these"
    shown = {*warning.base, *warning.head}
    base, head = (_named(side, tuple(shown)) for side in (warning.base, warning.head))
    measured = "; ".join([f"base was measured on {base}, head on {head}", *told])
    return f"{_where(warning)}{measured}: the ratio also compares the machines"


_FACTS = 4
_LONGEST = 40


def _differing(fact: kinds.FactOfSides) -> str:
    # long ones often begin and end alike
    every = list(dict.fromkeys([*fact.base, *fact.head]))
    shown = dict(zip(every, distinct(every, _LONGEST), strict=True))
    base, head = (joined([shown[value] for value in side], 3) for side in (fact.base, fact.head))
    return f"{fact.name} ({base}, {head})"


def _sides_mixed(warning: kinds.SidesMixed) -> str:
    names = _named(warning.machines, warning.machines)
    return f"{_where(warning)}base and head were each measured on {names}: the values mix machines"


def _where(warning: kinds.SidesApart | kinds.SidesMixed) -> str:
    benchmarks = f"{joined(warning.benchmarks)}: " if warning.benchmarks else ""
    return benchmarks + ("" if warning.session is None else f"session {warning.session}: ")


def _named(machines: kinds.Machines, among: kinds.Machines) -> str:
    """Name machines by their host names, and by whatever else distinguishes them."""
    others = [each for each in among if each is not None]
    names = ["an unnamed machine" if each is None else _name(each, others) for each in machines]
    return joined(list(dict.fromkeys(names)))


def _name(machine: kinds.Machine, others: Sequence[kinds.Machine]) -> str:
    details = []
    if len({other.kernel for other in others}) > 1:
        details.append(f"kernel {machine.kernel or 'unknown'}")
    if len({other.fingerprint for other in others}) > 1:
        details.append(f"machine {(machine.fingerprint or 'unknown')[:8]}")
    same_name = [other for other in others if other.hostname == machine.hostname]
    if not details and len({other.boot_id for other in same_name}) > 1:
        details.append(f"boot {(machine.boot_id or 'unknown')[:8]}")
    name = f"host {machine.hostname}" if machine.hostname else "an unnamed host"
    return f"{name} ({', '.join(details)})" if details else name


SENTENCES: dict[type, Callable[[Any], str]] = {
    kinds.UnfitHost: _unfit_host,
    kinds.Rebooted: _rebooted,
    kinds.KernelChanged: _kernel_changed,
    kinds.Steal: _steal,
    kinds.Throttled: _throttled,
    kinds.Load: _load,
    kinds.Pressure: _pressure,
    kinds.Swapped: _swapped,
    kinds.ThermalThrottling: _thermal_throttling,
    kinds.OutOfMemory: _out_of_memory,
    kinds.FrequencySetting: _frequency_setting,
    kinds.SeveralMachines: _several_machines,
    kinds.SidesApart: _sides_apart,
    kinds.SidesMixed: _sides_mixed,
}
"""The sentence of each type, without a full stop."""
