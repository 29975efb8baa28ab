"""The nouns of perfgate: frozen types without behaviour and without I/O.

From the lines of measurements.jsonl (what passes from harness to gate) to the Report whose fields are the keys of
report.json. A module is imported with the first of its nouns: the command line needs next to none.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gate.model.evidence import (
        PARTS,
        Case,
        Cost,
        Evidence,
        Round,
        Sample,
        Unfinished,
    )
    from gate.model.names import (
        FEWEST_FOR_STEADY,
        LEVELS,
        REPORT_SCHEMA,
        SCHEMA,
        SIDES,
        VERDICTS,
        Better,
        FailureKind,
        IntervalKind,
        Layouts,
        Level,
        ReportVerdict,
        Side,
        UserError,
        Verdict,
    )
    from gate.model.reasons import Accepted
    from gate.model.records import (
        AfterRound,
        Aside,
        Build,
        Commit,
        Cut,
        Execution,
        Failure,
        FindingMemory,
        HostState,
        Index,
        Look,
        MeanSquare,
        Memory,
        Metric,
        Phase,
        Record,
        Remembered,
        Run,
        Same,
        Stop,
        Turn,
        Unsampled,
        Whose,
    )
    from gate.model.report import (
        Counts,
        DecidedAt,
        Family,
        Finding,
        Identical,
        LookFacts,
        MemoryFacts,
        MemoryUse,
        Overall,
        Pairing,
        PolicyFacts,
        QuantileCurve,
        QuantileEffect,
        RatioInterval,
        Recorded,
        Report,
        RunFacts,
        SideSummary,
        Variance,
        Variances,
    )
    from gate.model.sameness import Proof, Unproved, UnprovedKind

__all__ = [
    "FEWEST_FOR_STEADY",
    "LEVELS",
    "PARTS",
    "REPORT_SCHEMA",
    "SCHEMA",
    "SIDES",
    "VERDICTS",
    "Accepted",
    "AfterRound",
    "Aside",
    "Better",
    "Build",
    "Case",
    "Commit",
    "Cost",
    "Counts",
    "Cut",
    "DecidedAt",
    "Evidence",
    "Execution",
    "Failure",
    "FailureKind",
    "Family",
    "Finding",
    "FindingMemory",
    "HostState",
    "Identical",
    "Index",
    "IntervalKind",
    "Layouts",
    "Level",
    "Look",
    "LookFacts",
    "MeanSquare",
    "Memory",
    "MemoryFacts",
    "MemoryUse",
    "Metric",
    "Overall",
    "Pairing",
    "Phase",
    "PolicyFacts",
    "Proof",
    "QuantileCurve",
    "QuantileEffect",
    "RatioInterval",
    "Record",
    "Recorded",
    "Remembered",
    "Report",
    "ReportVerdict",
    "Round",
    "Run",
    "RunFacts",
    "Same",
    "Sample",
    "Side",
    "SideSummary",
    "Stop",
    "Turn",
    "Unfinished",
    "Unproved",
    "UnprovedKind",
    "Unsampled",
    "UserError",
    "Variance",
    "Variances",
    "Verdict",
    "Whose",
]

_MODULES = ("names", "sameness", "records", "evidence", "reasons", "report")
"""From light to heavy, each with what the ones after it are made of."""


def __getattr__(name: str) -> Any:
    for module in _MODULES if name in __all__ else ():
        noun = getattr(import_module(f"{__name__}.{module}"), name, None)
        if noun is not None:
            globals()[name] = noun
            return noun
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
