"""Records of a history -> what the controls of their runs prove together."""

from __future__ import annotations

import math
from collections.abc import Iterable

from gate.model.controls import Proof
from gate.model.history import HistoryRecord
from gate.stats.controls import BEYOND, EXPECTED
from gate.store.records import when


def proof_of(records: Iterable[HistoryRecord]) -> Proof | None:
    """Multiply the e-values of all runs in the order of their measuring; None: no run has controls.

    The run that is named is the one at which the product last came beyond the bound, and since which it has stayed.
    """
    runs = sorted(
        ((record, record.controls) for record in records if record.controls is not None),
        key=lambda each: (each[0].measured or "", each[0].run),
    )
    if not runs:
        return None
    # as a logarithm: years without an alarm are smaller than any float
    evidence, since = 0.0, None
    for record, controls in runs:
        evidence += math.log(controls.e_value)
        if evidence <= math.log(BEYOND):
            since = None
        elif since is None:
            day = when(record.measured)
            since = record.run + (f" of {day:%Y-%m-%d}" if day else "")
    count = sum(own.count for _, own in runs)
    return Proof(
        runs=len(runs),
        count=count,
        alarmed=sum(own.alarmed for _, own in runs),
        expected=count * EXPECTED,
        e_value=math.exp(min(max(evidence, -700.0), 700.0)),
        since=since,
    )
