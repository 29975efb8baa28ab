"""The choice of the instruments of a run on this host."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from gate.model.warnings import AnyWarning
from gate.model.warnings.setup import InstrumentLimits, SpawnInstead
from harness.errors import InstrumentError
from harness.instruments.callgrind import Callgrind, find_callgrind
from harness.instruments.common import Instrument
from harness.instruments.criterion import Criterion
from harness.instruments.go import Go
from harness.instruments.google_benchmark import GoogleBenchmark
from harness.instruments.hyperfine import Hyperfine, find_hyperfine
from harness.instruments.jmh import Jmh
from harness.instruments.perf_stat import PerfStat, find_perf
from harness.instruments.pyperf import Pyperf
from harness.instruments.pytest_benchmark import PytestBenchmark
from harness.instruments.spawn import Spawn
from harness.instruments.suite import SuiteInstrument, Tool
from harness.instruments.values import Values

_TOOLS: Mapping[str, Callable[[], Tool]] = {
    "pytest-benchmark": PytestBenchmark,
    "pyperf": Pyperf,
    "google-benchmark": GoogleBenchmark,
    "go": Go,
    "criterion": Criterion,
    "jmh": Jmh,
}


@dataclass(frozen=True, slots=True)
class Instruments:
    """The instruments of a run by the name in the configuration, and what the reader must know about them."""

    by_name: Mapping[str, Instrument]
    warnings: tuple[AnyWarning, ...]
    versions: Mapping[str, str]
    """Of the external tools that measure, by name."""


def choose(wanted: Collection[str], caller: Mapping[str, str]) -> Instruments:
    """Return the instruments that a run needs: without hyperfine on the caller's PATH spawn measures all of it.

    wanted: the names in the configuration. External tools are looked for once, and only if they are wanted.

    Raises:
        InstrumentError: a tool that nothing can stand in for is not there.
    """
    by_name: dict[str, Instrument] = {"values": Values(), "spawn": Spawn()}
    by_name |= {name: SuiteInstrument(tool()) for name, tool in _TOOLS.items() if name in wanted}
    warnings: list[AnyWarning] = []
    versions: dict[str, str] = {}
    if "hyperfine" in wanted:
        hyperfine = find_hyperfine(caller)
        if isinstance(hyperfine, Hyperfine):
            by_name["hyperfine"] = hyperfine
            versions["hyperfine"] = ".".join(map(str, hyperfine.version))
        else:
            by_name["hyperfine"] = by_name["spawn"]
            warnings.append(SpawnInstead(hyperfine))
    finders: dict[str, Callable[[Mapping[str, str]], PerfStat | Callgrind | str]]
    finders = {"perf_stat": find_perf, "callgrind": find_callgrind}
    for name in sorted(finders.keys() & set(wanted)):
        found = finders[name](caller)
        if isinstance(found, str):
            raise InstrumentError(f'instrument = "{name}": {found}')
        by_name[name] = found
        versions[name] = found.version
        warnings += [InstrumentLimits(name, found.limits)] if found.limits else []
    return Instruments(by_name, tuple(warnings), versions)
