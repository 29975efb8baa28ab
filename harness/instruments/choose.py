"""The choice of the instruments of a run on this host."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from gate.model.warnings import AnyWarning
from gate.model.warnings.setup import InstrumentLimits, SpawnInstead, ToolUnusable
from harness.errors import InstrumentError
from harness.instruments.common import Instrument
from harness.instruments.declared import Found, declared


@dataclass(frozen=True, slots=True)
class Instruments:
    """The instruments of a run by the name in the configuration, and what the reader must know about them."""

    by_name: Mapping[str, Instrument]
    warnings: tuple[AnyWarning, ...]
    versions: Mapping[str, str]
    """Of the external tools that measure, by name."""


def choose(wanted: Collection[str], caller: Mapping[str, str]) -> Instruments:
    """Return the instruments that a run needs: without hyperfine on the caller's PATH spawn measures all of it.

    wanted: the names in the configuration. Each is imported and looked for once, and only if it is wanted.

    Raises:
        InstrumentError: a tool that nothing can stand in for is not there.
    """
    by_name: dict[str, Instrument] = {}
    warnings: list[AnyWarning] = []
    versions: dict[str, str] = {}
    every = {name: declared(name) for name in wanted}
    # those that another one stands in for come first
    for name, each in sorted(every.items(), key=lambda item: (item[1].instead is None, item[0])):
        found = each.find(caller)
        if isinstance(found, ToolUnusable) and each.instead is not None:
            warnings.append(SpawnInstead(found))
            found = declared(each.instead).find(caller)
        if not isinstance(found, Found):
            raise InstrumentError(f'instrument = "{name}": {found}')
        by_name[name] = found.instrument
        if found.version:
            versions[name] = found.version
        warnings += [InstrumentLimits(name, found.limits)] if found.limits else []
    return Instruments(by_name, tuple(warnings), versions)
