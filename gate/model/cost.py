"""Where the time of a run went."""

from __future__ import annotations

import msgspec


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds of all jobs of a run, by what took them; None: not known."""

    setup: float | None
    """Making the trees and the set-up command."""
    compile: float | None
    """Builds that ran the build command, or were a fresh checkout."""
    link: float | None
    """Builds that linked again what an earlier one had compiled, and the check that this gives the same."""
    measure: float | None
    """Executions with their warm-up and their services."""
    decide: float | None
    """The looks between rounds; the report itself is made later."""
    other: float | None
    """The rest: swapping trees, describing the host, perfgate's own work between two steps."""
    total: float | None
    """From when the machine was free until measuring ended, with what was profiled then."""
    compiled: int
    """Builds in `compile`."""
    linked: int
    """Builds in `link`."""
    profile: float | None = None
    """Executions under a profiler, once a benchmark had regressed."""
    start: float | None = None
    """The first starts on base, before anything of head runs, and those that tell how short turns may be."""
    probe: float | None = None
    """Finding out what cannot differ, and comparing outputs."""
    keep: float | None = None
    """Copying first builds that are kept, and those of earlier runs."""
    again: float | None = None
    """Builds that were tried once more, and what was tried in place of a base that is broken."""
    outside: float | None = None
    """Looking for what builds leave outside their trees, building once more among it."""
    trees: float | None = None
    """Comparing trees with their commits."""

    @property
    def between(self) -> float | None:
        """What each round takes beside its builds and executions; None: not known."""
        return None if self.other is None else self.other + (self.decide or 0.0) + (self.trees or 0.0)

    @property
    def before(self) -> float:
        """What a run does once before it measures, whatever it measures; but for its builds."""
        return sum(each or 0.0 for each in (self.probe, self.start, self.outside))


class Pace(msgspec.Struct, frozen=True, kw_only=True):
    """What rounds take, judging by those of a run; in seconds."""

    once: float
    """Making the trees and set-up, what first builds take longer than later ones, the probe."""
    round: float
    """A round of both sides with all benchmarks, those that were settled early among them."""

    def of(self, rounds: int) -> float:
        """Return what so many rounds take."""
        return self.once + rounds * self.round


PARTS = (
    "setup", "compile", "link", "again", "keep", "trees", "start", "probe", "outside", "measure", "decide", "profile",
    "other",
)  # fmt: skip
"""The fields that add up to the total, in the order in which they are shown."""
