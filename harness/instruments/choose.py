"""Which instruments a run uses on this host."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from harness.instruments.common import Instrument
from harness.instruments.hyperfine import Hyperfine, find_hyperfine
from harness.instruments.spawn import Spawn
from harness.instruments.values import Values


@dataclass(frozen=True, slots=True)
class Instruments:
    """The instruments of a run by the name in the configuration, and what the reader must know about them."""

    by_name: Mapping[str, Instrument]
    warnings: tuple[str, ...]
    versions: Mapping[str, str]
    """Of the external tools that measure, by name."""


def choose(wanted: Collection[str], caller: Mapping[str, str]) -> Instruments:
    """Return the instruments that a run needs: without hyperfine on the caller's PATH spawn measures all of it.

    wanted: the names in the configuration. hyperfine is looked for once, and only if it is wanted.
    """
    spawn = Spawn()
    by_name: dict[str, Instrument] = {"values": Values(), "spawn": spawn}
    if "hyperfine" not in wanted:
        return Instruments(by_name, (), {})
    found = find_hyperfine(caller)
    if isinstance(found, Hyperfine):
        return Instruments(by_name | {"hyperfine": found}, (), {"hyperfine": ".".join(map(str, found.version))})
    return Instruments(by_name | {"hyperfine": spawn}, (f"{found}: measured with the built-in spawn",), {})
