"""Which benchmarks that are missing the rules allow, and by what."""

from __future__ import annotations

from collections.abc import Sequence

from gate.config.rules import Policy, missing_fails
from gate.model import Failure
from gate.model.warnings.measured import MissingAllowed


def missing_allowed(failures: Sequence[Failure], policy: Policy) -> list[MissingAllowed]:
    """Name the missing benchmarks that do not fail: by the rules, by an accepting label."""
    names = list(dict.fromkeys(f.benchmark for f in failures if f.kind == "missing" and f.benchmark is not None))
    by_rules = tuple(name for name in names if not missing_fails(policy.config, name))
    by_label = tuple(name for name in names if name not in by_rules) if policy.label is not None else ()
    return [
        *([MissingAllowed(by_rules, None)] if by_rules else []),
        *([MissingAllowed(by_label, policy.label)] if by_label else []),
    ]
