"""Runs in which base and head take turns, as a test asks for them."""

from collections.abc import Sequence

import msgspec

from benchmarks.evidence.turns import HOSTS, Turns, abba, drawn, of_starts, view
from gate.model import Case, Evidence, RoundsDone, Run
from tests.support import simulate

__all__ = ["HOSTS", "LOOKS", "Turns", "abba", "drawn", "evidence", "of_starts", "view"]
LOOKS = [4, 6, 8, 12]


def evidence(cases: Sequence[Case], *, looks: bool = True, rounds: int = 12) -> Evidence:
    """A run of a plan of 4 to 12 rounds."""
    return msgspec.structs.replace(
        simulate.evidence([]),
        cases=list(cases),
        run=Run(created="2026-11-20T09:00:00Z", seed=1, turns=True),
        looks=LOOKS if looks else [],
        rounds=RoundsDone(done=rounds, planned=rounds),
    )
