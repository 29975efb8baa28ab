"""What the rules must know of an instrument: which metrics it decides, its floor, and how it measures.

A file harness/instruments/NAME.py makes an instrument and says this in its INSTRUMENT. The run line carries it, so that
measurements are decided the same where the file is not installed.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

import msgspec

from gate.cli.command import declaring
from gate.writing.units import Quantity

_FLOOR = Quantity.parse("1us")
# a difference below a microsecond means nothing for one start of a process; the value of a suite is a mean over so many
# calls that its spread alone shows what it can tell


class Traits(msgspec.Struct, frozen=True, kw_only=True):
    """How the values of an instrument are judged, and its executions made."""

    chief: tuple[str, ...] | None = ("time", "throughput")
    """The metrics that are decided where the config names none; None: all."""
    floor: Quantity | None = None
    """The floor of a gate that names none; None: there is none, since what is measured may be of any size."""
    suite: bool = False
    """One command yields many benchmarks."""
    exact: bool = False
    """It counts the same each time: executed once a build, without perturbation, and compared as numbers."""
    starts: bool = False
    """It starts a command by itself, so that base and head take turns start by start: each is an execution."""
    own_clock: bool = False
    """The program reads the time itself, by the C library's clock, which perfgate can replace."""


_SUITE = Traits(suite=True)
_CLOCKED = Traits(suite=True, own_clock=True)
# A closed table and no list of what there is: the run lines of these eleven carry no traits, in files that were written
# years ago. Whoever decides over them needs what held when they were measured, whatever their files in harness say by
# then, and without importing one. An instrument that is added declares its traits in its own file, and its run lines
# carry them.
KNOWN: Mapping[str, Traits] = {
    "hyperfine": Traits(floor=_FLOOR),
    "spawn": Traits(floor=_FLOOR, starts=True),
    "values": Traits(chief=None, own_clock=True),
    "perf_stat": Traits(chief=("task-clock",), floor=_FLOOR),
    "callgrind": Traits(chief=("instructions",), exact=True),
    # what the one timer measures, which may be of CPU time
    "pytest-benchmark": Traits(chief=("time", "cpu_time"), suite=True, own_clock=True),
    "pyperf": _CLOCKED,
    "google-benchmark": _CLOCKED,
    "go": _SUITE,
    "criterion": _CLOCKED,
    "jmh": _CLOCKED,
}
"""The instruments whose traits no run line carries."""

COMMAND_METRICS = {"time": "s", "active": "s", "user": "s", "system": "s", "memory": "B"}
"""Metrics of hyperfine and spawn, with their units; active of spawn alone."""


def command_metrics(instrument: str) -> list[str]:
    """Name what an instrument measures of any command; nothing: of its values only a tool knows."""
    if instrument == "hyperfine":
        return [name for name in COMMAND_METRICS if name != "active"]
    return list(COMMAND_METRICS) if instrument == "spawn" else []


def module_of(name: str) -> str:
    """Return the name of an instrument's module in harness/instruments."""
    return name.replace("-", "_")


def instrument_names() -> list[str]:
    """Return the names of all instruments, the known ones first; another one's name is that of its file."""
    known = {module_of(name) for name in KNOWN}
    return [*KNOWN, *(name for name in declaring("harness/instruments", "INSTRUMENT") if name not in known)]


def traits_of(name: str) -> Traits | None:
    """Return the traits of an instrument, if need be as its file declares them; None where there is none."""
    if name in KNOWN or name not in instrument_names():
        return KNOWN.get(name)
    # by its name alone, as a command is found: config knows no instrument
    traits: Traits = import_module(f"harness.instruments.{module_of(name)}").INSTRUMENT.traits
    return traits
