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
    """Of the instruments in gate.config.instruments.KNOWN, those there count."""
    instead: str | None = None
    """The instrument with the same metric names that measures where this one cannot be used."""


def built_in(instrument: Instrument) -> Declared:
    """Declare an instrument that needs nothing of the host, or says itself what is missing when it is executed."""
    return Declared(lambda _: Found(instrument))


def declared(name: str) -> Declared:
    """Import the declaration of an instrument."""
    found: Declared = import_module(f"harness.instruments.{module_of(name)}").INSTRUMENT
    return found
