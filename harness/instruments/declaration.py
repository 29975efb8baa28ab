"""What a file of harness/instruments declares as its INSTRUMENT, and which of them measure on this host.

A new file is a new instrument, by its file's name.
"""

import subprocess
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module

from gate.config.instruments import Traits, module_of
from gate.model.warnings import AnyWarning
from gate.model.warnings.base import Said
from gate.model.warnings.setup import SPAWN_INSTEAD
from harness.errors import InstrumentError
from harness.instruments.protocol import Instrument


@dataclass(frozen=True, slots=True)
class FoundInstrument:
    """An instrument that can measure on this host."""

    instrument: Instrument
    version: str = ""
    """Of the external tool that measures; "" where there is none."""
    limits: tuple[str, ...] = ()
    """What its values lack here."""


@dataclass(frozen=True, slots=True)
class Declared:
    """An instrument before it is looked for."""

    find: Callable[[Mapping[str, str]], FoundInstrument | str]
    """Looks for it with the caller's environment; says why it cannot be used."""
    traits: Traits = field(default_factory=Traits)
    """Of an instrument that gate.config.instruments.KNOWN does not list."""
    instead: str | None = None
    """The instrument with the same metric names that measures where this one cannot be used."""
    any_command: bool = False
    """It measures a command as it is, whatever it prints."""


def ask(argv: Sequence[str], caller: Mapping[str, str]) -> subprocess.CompletedProcess[bytes]:
    """Start an external tool in the caller's environment, to learn its version or whether it works here.

    Raises:
        OSError: it cannot be started.
        subprocess.TimeoutExpired: it takes longer than a minute.
    """
    return subprocess.run(
        argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False, env=dict(caller)
    )


def built_in(instrument: Instrument, *, any_command: bool = False) -> Declared:
    """Declare an instrument that needs nothing of the host, or says itself what is missing when it is executed."""
    return Declared(lambda _: FoundInstrument(instrument), any_command=any_command)


def declared(name: str) -> Declared:
    """Import the declaration of an instrument."""
    found: Declared = import_module(f"harness.instruments.{module_of(name)}").INSTRUMENT
    return found


@dataclass(frozen=True, slots=True)
class Instruments:
    """The instruments of a run by the name in the configuration, and what the reader must know about them."""

    by_name: Mapping[str, Instrument]
    warnings: tuple[AnyWarning, ...]
    versions: Mapping[str, str]
    """Of the external tools that measure, by name."""


def choose(wanted: Collection[str], caller: Mapping[str, str]) -> Instruments:
    """Return the instruments that a run needs: without hyperfine spawn measures all of it.

    wanted: the names in the configuration. Each is imported and looked for once, and only if it is wanted.

    Raises: InstrumentError: a tool that nothing can stand in for is not there.
    """
    by_name: dict[str, Instrument] = {}
    warnings: list[AnyWarning] = []
    versions: dict[str, str] = {}
    every = {name: declared(name) for name in wanted}
    # those that another one stands in for come first
    for name, each in sorted(every.items(), key=lambda item: (item[1].instead is None, item[0])):
        found = each.find(caller)
        if isinstance(found, str) and each.instead is not None:
            warnings.append(Said(f"{found}: measured with the built-in spawn", SPAWN_INSTEAD, "first"))
            found = declared(each.instead).find(caller)
        if not isinstance(found, FoundInstrument):
            raise InstrumentError(f'instrument = "{name}": {found}')
        by_name[name] = found.instrument
        if found.version:
            versions[name] = found.version
        warnings += [Said(f"{name}: {'; '.join(found.limits)}", "instrument-limits")] if found.limits else []
    return Instruments(by_name, tuple(warnings), versions)
