"""What happened to a machine while it measured, and which machines measured."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from gate.model.warnings.base import First
from gate.writing.phrases import joined, listed, machine
from gate.writing.plain import distinct


class UnfitHost(First, frozen=True):
    """The host was unfit when measuring began."""

    problem: str
    """As `perfgate doctor` says it: "power supply: battery, discharging"."""
    machines: tuple[str, ...] = ()
    """Of several sessions those whose host it is, with their machines; empty: there is one."""

    def _said(self) -> str:
        where = joined(self.machines)
        return f"{where}{': ' if where else ''}the host was unfit when measuring began: {self.problem}"


class HostEvent(First, frozen=True):
    """Something that happened to a machine during a run."""

    what: str
    """Its kind: "steal", or "cpu pressure"."""
    happened: str
    bad: float
    """How bad it was, among events of one kind; of steal and pressure the share of the time."""
    session: int | None = None
    """Number of the session, from 0; None: there is one."""
    host: str | None = None

    def _said(self) -> str:
        session = "" if self.session is None else f"{machine(self.session, self.host)}: "
        return f"host: {session}{self.happened}"


class RunMachine(msgspec.Struct, frozen=True):
    """What a run line tells of its machine; None where it does not tell."""

    fingerprint: str | None
    """Hash over what the machine is."""
    hostname: str | None
    """Hash of its name."""
    kernel: str | None
    boot_id: str | None
    """Hash of the id of this boot."""

    def named(self, others: Sequence[RunMachine]) -> str:
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


Machines = tuple[RunMachine | None, ...]
"""None: a machine of which nothing is known."""


def named(machines: Machines, among: Machines) -> str:
    """Name machines by whatever tells them from others; each once."""
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
        benchmarks = f"{joined(self.benchmarks)}: " if self.benchmarks else ""
        where = benchmarks + ("" if self.session is None else f"session {self.session}: ")
        differing = [str(fact) for fact in self.facts if fact.base != fact.head]
        mixed = [str(fact) for fact in self.facts if fact.base == fact.head]
        told = [
            *([f"base and head differ in {listed(differing, 4)}"] if differing else []),
            *([f"each side mixes {listed(mixed, 4)}"] if mixed else []),
        ]
        if not self.base:
            return f"{'; '.join(told)}: the ratio also compares these"
        shown = tuple({*self.base, *self.head})
        base, head = (named(side, shown) for side in (self.base, self.head))
        measured = "; ".join([f"base was measured on {base}, head on {head}", *told])
        return f"{where}{measured}: the ratio also compares the machines"
