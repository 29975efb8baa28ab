"""What happened to a machine while it measured, and which machines measured."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec

from gate.model.names import Side
from gate.model.warnings.base import Base, Weight, tag

Resource = Literal["cpu", "memory", "io"]


class HostWarning(Base, frozen=True):
    """Of one machine."""

    weight: ClassVar[Weight] = "first"


class Unfit(msgspec.Struct, frozen=True, tag_field="kind", tag=tag):
    """Why a host is unfit as it is set up."""


class LowPowerProfile(Unfit, frozen=True):
    """The platform saves power."""


class HeldDown(Unfit, frozen=True):
    """Processors stay at or near their lowest frequency."""

    governors: tuple[str, ...]
    """With their counts where there are several, as "powersave on 2"."""


class OnBattery(Unfit, frozen=True):
    """The machine runs on its battery."""


class LittleMemory(Unfit, frozen=True):
    """Hardly any memory is available; in bytes."""

    available: int
    total: int
    in_group: bool
    """Of the control group."""


class NoTemporaryFiles(Unfit, frozen=True):
    """The folder for temporary files cannot be used."""

    folder: str
    because: Literal["unreadable", "unwritable", "noexec", "full"]
    free: int = 0
    """Bytes, where it is full."""
    error: str = ""
    """Of the system, where it is unreadable."""


Problem = LowPowerProfile | HeldDown | OnBattery | LittleMemory | NoTemporaryFiles


class OnMachine(msgspec.Struct, frozen=True):
    """One of several machines."""

    session: int
    host: str | None
    """Its name; None: not known."""


class UnfitHost(Base, frozen=True):
    """The host was unfit when measuring began."""

    weight: ClassVar[Weight] = "first"
    problem: Problem | str
    """A text is of an older perfgate."""
    machines: tuple[OnMachine, ...] = ()
    """Of several sessions those whose host it is; empty: there is one."""


class HostEvent(HostWarning, frozen=True, kw_only=True):
    """Something that happened to a machine during a run."""

    run: Side | None = None
    """Of which of two runs that are compared; None: there is one."""
    session: int | None = None
    """In which of several sessions; None: there is one."""
    host: str | None = None
    """The name of its machine, if it is known."""


class Rebooted(HostEvent, frozen=True):
    """The machine was rebooted."""


class KernelChanged(HostEvent, frozen=True):
    """The kernel is another."""

    was: str
    now: str


class Steal(HostEvent, frozen=True):
    """The hypervisor took time from the processors."""

    share: float
    """Of the time that programs wanted."""


class Throttled(HostEvent, frozen=True):
    """The control group's quota stopped the processors."""

    times: float
    seconds: float


class Load(HostEvent, frozen=True):
    """Other programs were at work."""

    start: float
    end: float
    processors: float | None


class Pressure(HostEvent, frozen=True):
    """Programs waited for something."""

    resource: Resource
    share: float
    """Of the time, in which some program waited."""


class Swapped(HostEvent, frozen=True):
    """Memory was swapped; in pages."""

    written: float
    read: float


class ThermalThrottling(HostEvent, frozen=True):
    """Processors were slowed down for their heat."""

    times: float


class OutOfMemory(HostEvent, frozen=True):
    """The kernel ended processes because memory ran out."""

    processes: float


class FrequencySetting(HostEvent, frozen=True):
    """A setting of the processors' frequency changed."""

    setting: Literal["governor", "turbo"]
    was: str | bool
    now: str | bool


Event = (
    Rebooted
    | KernelChanged
    | Steal
    | Throttled
    | Load
    | Pressure
    | Swapped
    | ThermalThrottling
    | OutOfMemory
    | FrequencySetting
)


class Machine(msgspec.Struct, frozen=True):
    """What a run line tells of its machine; None where it does not tell."""

    fingerprint: str | None
    hostname: str | None
    kernel: str | None
    boot_id: str | None


Machines = tuple[Machine | None, ...]
"""None: a machine of which nothing is known."""


class SeveralMachines(HostWarning, frozen=True):
    """Several machines measured, and the report shows the facts of the first."""

    machines: Machines


class SidesApart(Base, frozen=True):
    """Base and head were measured on different machines."""

    weight: ClassVar[Weight] = "first"
    benchmarks: tuple[str, ...]
    """Empty: all."""
    session: int | None
    base: Machines
    head: Machines


class SidesMixed(Base, frozen=True):
    """Base and head were each measured on the same several machines."""

    weight: ClassVar[Weight] = "first"
    benchmarks: tuple[str, ...]
    """Empty: all."""
    session: int | None
    machines: Machines
