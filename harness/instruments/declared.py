"""What a file of harness/instruments declares as its INSTRUMENT; a new file is a new instrument, by its file's name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module

from gate.config.instruments import Traits, module_of
from gate.model.warnings.setup import AnyLimit, ToolUnusable
from harness.instruments.common import Instrument


@dataclass(frozen=True, slots=True)
class Found:
    """An instrument that can measure on this host."""

    instrument: Instrument
    version: str = ""
    """Of the external tool that measures; "" where there is none."""
    limits: tuple[AnyLimit, ...] = ()
    """What its values lack here."""


@dataclass(frozen=True, slots=True)
class Declared:
    """An instrument before it is looked for."""

    find: Callable[[Mapping[str, str]], Found | ToolUnusable | str]
    """Looks for it with the caller's environment; says why it cannot be used, in words if nothing stands in for it."""
    traits: Traits = field(default_factory=Traits)
    """Of an instrument that gate.config.instruments.KNOWN does not list."""
    instead: str | None = None
    """The instrument with the same metric names that measures where this one cannot be used."""
    any_command: bool = False
    """It measures a command as it is, whatever it prints: `doctor --metrics` tries it."""
    slower: float = 1
    """How many times longer a command takes under it, about."""


def built_in(instrument: Instrument, *, any_command: bool = False) -> Declared:
    """Declare an instrument that needs nothing of the host, or says itself what is missing when it is executed."""
    return Declared(lambda _: Found(instrument), any_command=any_command)


def declared(name: str) -> Declared:
    """Import the declaration of an instrument."""
    found: Declared = import_module(f"harness.instruments.{module_of(name)}").INSTRUMENT
    return found
