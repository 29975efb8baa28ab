"""Evidence and policy -> Report: the only place where a verdict is made.

The rules are those of docs/method.md. With r = head/base where lower is better and its inverse where higher is better,
and d the threshold: regression when the interval at the family's level lies above 1 + d, improvement when it lies below
1/(1 + d), unchanged when the nominal interval lies between, else inconclusive.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gate.decide.report import decide, look

__all__ = ["decide", "look"]


def __getattr__(name: str) -> Any:
    """Import them where they are used: they need the arrays, which rules and policies do without."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from gate.decide import report

    return getattr(report, name)
