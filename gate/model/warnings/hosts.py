"""What happened to a machine while it measured, and which machines measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from gate.model.names import Side
from gate.model.warnings.base import First
from gate.units import format_value
from gate.writing.phrases import joined, listed, machine
from gate.writing.plain import distinct
from gate.writing.sentences import Sentence, filled

Resource = Literal["cpu", "memory", "io"]


class HostWarning(First, frozen=True):
    """Of one machine."""


# --- as it is set up --------------------------------------------------------------------------------------------------


class Unfit(Sentence, frozen=True):
    """Why a host is unfit as it is set up."""


class HeldDown(Unfit, frozen=True):
    says = "governor: {governors}"
    governors: tuple[str, ...]
    """Their governors, with counts where there are several, as "powersave on 2"."""


class OnBattery(Unfit, frozen=True):
    says = "power supply: battery, discharging"


class LittleMemory(Unfit, frozen=True):
    """Hardly any memory is available; in bytes."""

    available: int
    """Bytes that programs can still get."""
    total: int
    """Bytes of the machine or control group."""
    in_group: bool
    """Whether that is of the control group."""

    def _said(self) -> str:
        available, total = (format_value(each, "B", digits=2) for each in (self.available, self.total))
        return f"memory: {available} of {total} available{' in its control group' if self.in_group else ''}"


class NoTemporaryFiles(Unfit, frozen=True):
    """The folder for temporary files cannot be used."""

    folder: str
    because: Literal["unreadable", "unwritable", "noexec", "full"]
    free: int = 0
    """Bytes that are free, where it is full."""
    error: str = ""
    """What the system said, where it is unreadable."""

    def _said(self) -> str:
        why = {
            "unreadable": f": {self.error}",
            "unwritable": " cannot be written",
            "noexec": " is mounted noexec: what is built there does not start",
            "full": f" has only {format_value(self.free, 'B', digits=2)} free",
        }[self.because]
        return f"temporary files: {self.folder}{why}"


Problem = HeldDown | OnBattery | LittleMemory | NoTemporaryFiles


class OnMachine(msgspec.Struct, frozen=True):
    """One of several machines."""

    session: int
    host: str | None


class UnfitHost(First, frozen=True):
    """The host was unfit when measuring began."""

    problem: Problem
    machines: tuple[OnMachine, ...] = ()
    """Of several sessions those whose host it is; empty: there is one."""

    def _said(self) -> str:
        where = joined([machine(at.session, at.host) for at in self.machines])
        return f"{where}{': ' if where else ''}the host was unfit when measuring began: {self.problem.sentence()}"


# --- what happened ----------------------------------------------------------------------------------------------------


class Event(HostWarning, frozen=True, kw_only=True):
    """Something that happened to a machine during a run; `says` is told behind where it was."""

    run: Side | None = None
    """Which of two runs that are compared; None: there is one."""
    session: int | None = None
    """Number of the session, from 0; None: there is one."""
    host: str | None = None

    def _said(self) -> str:
        run = f"{self.run}'s run: " if self.run else ""
        session = "" if self.session is None else f"{machine(self.session, self.host)}: "
        return f"host: {run}{session}{self._happened()}"

    def _happened(self) -> str:
        return filled(self.says, self)


class Rebooted(Event, frozen=True):
    says = "the machine was rebooted during the run"


class Steal(Event, frozen=True):
    says = "the hypervisor took {share:share} of the CPU time that programs wanted (steal)"
    share: float
    """Share of the time that programs wanted."""


class Throttled(Event, frozen=True):
    says = "the control group's quota throttled the processors {times:time} ({seconds:duration})"
    times: float
    seconds: float
    """For how long in all."""


class Load(Event, frozen=True):
    says = "the load was {start:.1f} at the start, {end:.1f} at the end{processors:? on {processors:processor}}"
    start: float
    end: float
    """Load average when it ended."""
    processors: float | None
    """Of the machine; None: not known."""


class Pressure(Event, frozen=True):
    says = (
        "{resource} pressure: some program waited for {resource:=cpu?a processor|{resource:=io?a disk|memory}} "
        "{share:share} of the time"
    )
    resource: Resource
    share: float
    """Share of the time in which some program waited."""


class Swapped(Event, frozen=True):
    says = "memory was swapped: {written:page} to disk, {read:.0f} back"
    written: float
    read: float


class ThermalThrottling(Event, frozen=True):
    says = "thermal throttling: heat slowed the processors down {times:time}"
    times: float


class OutOfMemory(Event, frozen=True):
    says = "the kernel killed {processes:program} because memory ran out"
    processes: float


# --- machines ---------------------------------------------------------------------------------------------------------


class Machine(msgspec.Struct, frozen=True):
    """What a run line tells of its machine; None where it does not tell."""

    fingerprint: str | None
    """Hash over what the machine is."""
    hostname: str | None
    """Hash of its name."""
    kernel: str | None
    boot_id: str | None
    """Hash of the id of this boot."""

    def named(self, others: Sequence[Machine]) -> str:
        """Name it among others, by whatever distinguishes them: "host a (kernel 6.1.0)"."""
        details = []
        if len({other.kernel for other in others}) > 1:
            details.append(f"kernel {self.kernel or 'unknown'}")
        if len({other.fingerprint for other in others}) > 1:
            details.append(f"machine {(self.fingerprint or 'unknown')[:8]}")
        if not details and len({other.boot_id for other in others if other.hostname == self.hostname}) > 1:
            details.append(f"boot {(self.boot_id or 'unknown')[:8]}")
        name = f"host {self.hostname}" if self.hostname else "an unnamed host"
        return f"{name} ({', '.join(details)})" if details else name


Machines = tuple[Machine | None, ...]
"""None: a machine of which nothing is known."""


def _named(machines: Machines, among: Machines) -> str:
    others = [each for each in among if each is not None]
    names = ["an unnamed machine" if each is None else each.named(others) for each in machines]
    return joined(list(dict.fromkeys(names)))


_LONGEST = 40


class FactOfSides(msgspec.Struct, frozen=True):
    """A fact of the machines, compilers or runtimes."""

    name: str
    """Such as "cpu"."""
    base: tuple[str, ...]
    head: tuple[str, ...]

    def __str__(self) -> str:
        """Say it: "cpu (X, Y)", of both sides "system (a and b)"."""
        # long ones often begin and end alike
        every = list(dict.fromkeys([*self.base, *self.head]))
        shown = dict(zip(every, distinct(every, _LONGEST), strict=True))
        base, head = (joined([shown[value] for value in side], 3) for side in (self.base, self.head))
        return f"{self.name} ({base})" if self.base == self.head else f"{self.name} ({base}, {head})"


class SeveralMachines(HostWarning, frozen=True):
    """Several machines measured, and the report shows the facts of the first."""

    machines: Machines
    """Those that measured, the first one first."""

    def _said(self) -> str:
        every = _named(self.machines, self.machines)
        count = f"{len(self.machines)} machines or boots"
        return f"host: measured on {count}, {every}; only the facts of the first are shown"


class SidesApart(First, frozen=True):
    """Base and head were measured on different machines."""

    benchmarks: tuple[str, ...]
    """Names of the benchmarks; empty: all."""
    session: int | None
    """Number of the session, from 0; None: there is one."""
    base: Machines
    """The machines that measured base; empty: result files of another tool, which do not name them."""
    head: Machines
    facts: tuple[FactOfSides, ...] = ()
    """What they differ in as far as the files say, the worst first."""

    def _said(self) -> str:
        differing = [str(fact) for fact in self.facts if fact.base != fact.head]
        mixed = [str(fact) for fact in self.facts if fact.base == fact.head]
        told = [
            *([f"base and head differ in {listed(differing, 4)}"] if differing else []),
            *([f"each side mixes {listed(mixed, 4)}"] if mixed else []),
        ]
        if not self.base:
            return f"{'; '.join(told)}: the ratio also compares these"
        shown = tuple({*self.base, *self.head})
        base, head = (_named(side, shown) for side in (self.base, self.head))
        measured = "; ".join([f"base was measured on {base}, head on {head}", *told])
        where = "" if self.session is None else f"session {self.session}: "
        where = f"{joined(self.benchmarks)}: {where}" if self.benchmarks else where
        return f"{where}{measured}: the ratio also compares the machines"
