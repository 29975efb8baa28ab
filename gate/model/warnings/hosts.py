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
    """Their governors, with counts where there are several, as "powersave on 2"."""


class OnBattery(Unfit, frozen=True):
    """The machine runs on its battery."""


class LittleMemory(Unfit, frozen=True):
    """Hardly any memory is available; in bytes."""

    available: int
    """Bytes that programs can still get."""
    total: int
    """Bytes of the machine or control group."""
    in_group: bool
    """Whether that is of the control group."""


class NoTemporaryFiles(Unfit, frozen=True):
    """The folder for temporary files cannot be used."""

    folder: str
    """Its path."""
    because: Literal["unreadable", "unwritable", "noexec", "full"]
    """What is wrong with it."""
    free: int = 0
    """Bytes that are free, where it is full."""
    error: str = ""
    """What the system said, where it is unreadable."""


Problem = LowPowerProfile | HeldDown | OnBattery | LittleMemory | NoTemporaryFiles


class OnMachine(msgspec.Struct, frozen=True):
    """One of several machines."""

    session: int
    host: str | None
    """Name of the machine; None: not known."""


class UnfitHost(Base, frozen=True):
    """The host was unfit when measuring began."""

    weight: ClassVar[Weight] = "first"
    problem: Problem | str
    """What is wrong with it; a text is of an older perfgate."""
    machines: tuple[OnMachine, ...] = ()
    """Of several sessions those whose host it is; empty: there is one."""


class HostEvent(HostWarning, frozen=True, kw_only=True):
    """Something that happened to a machine during a run."""

    run: Side | None = None
    """Which of two runs that are compared; None: there is one."""
    session: int | None = None
    """Number of the session, from 0; None: there is one."""
    host: str | None = None
    """Name of its machine; None: not known."""


class Rebooted(HostEvent, frozen=True):
    """The machine was rebooted."""


class KernelChanged(HostEvent, frozen=True):
    """The kernel is another."""

    was: str
    now: str


class Steal(HostEvent, frozen=True):
    """The hypervisor took time from the processors."""

    share: float
    """Share of the time that programs wanted."""


class Throttled(HostEvent, frozen=True):
    """The control group's quota stopped the processors."""

    times: float
    """How often."""
    seconds: float
    """For how long in all."""


class Load(HostEvent, frozen=True):
    """Other programs were at work."""

    start: float
    """Load average when measuring began."""
    end: float
    """Load average when it ended."""
    processors: float | None
    """Of the machine; None: not known."""


class Pressure(HostEvent, frozen=True):
    """Programs waited for something."""

    resource: Resource
    """What they waited for."""
    share: float
    """Share of the time in which some program waited."""


class Swapped(HostEvent, frozen=True):
    """Memory was swapped; in pages."""

    written: float
    """Pages written to swap."""
    read: float
    """Pages read from swap."""


class ThermalThrottling(HostEvent, frozen=True):
    """Processors were slowed down for their heat."""

    times: float
    """How often."""


class OutOfMemory(HostEvent, frozen=True):
    """The kernel ended processes because memory ran out."""

    processes: float
    """How many."""


class FrequencySetting(HostEvent, frozen=True):
    """A setting of the processors' frequency changed."""

    setting: Literal["governor", "turbo"]
    """Which one."""
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
    """Hash over what the machine is."""
    hostname: str | None
    """Hash of its name."""
    kernel: str | None
    """Its version."""
    boot_id: str | None
    """Hash of the id of this boot."""


Machines = tuple[Machine | None, ...]
"""None: a machine of which nothing is known."""


class FactOfSides(msgspec.Struct, frozen=True):
    """A fact of the machines, compilers or runtimes."""

    name: str
    """Such as "cpu"."""
    base: tuple[str, ...]
    """What base's files say; the same as `head`: both sides mix them."""
    head: tuple[str, ...]
    """What head's files say."""


class SeveralMachines(HostWarning, frozen=True):
    """Several machines measured, and the report shows the facts of the first."""

    machines: Machines
    """Those that measured, the first one first."""


class SidesApart(Base, frozen=True):
    """Base and head were measured on different machines."""

    weight: ClassVar[Weight] = "first"
    benchmarks: tuple[str, ...]
    """Names of the benchmarks; empty: all."""
    session: int | None
    """Number of the session, from 0; None: there is one."""
    base: Machines
    """The machines that measured base; empty: result files of another tool, which do not name them."""
    head: Machines
    """The machines that measured head."""
    facts: tuple[FactOfSides, ...] = ()
    """What they differ in as far as the files say, the worst first."""


class SidesMixed(Base, frozen=True):
    """Base and head were each measured on the same several machines."""

    weight: ClassVar[Weight] = "first"
    benchmarks: tuple[str, ...]
    """Names of the benchmarks; empty: all."""
    session: int | None
    """Number of the session, from 0; None: there is one."""
    machines: Machines
    """Those that measured."""
