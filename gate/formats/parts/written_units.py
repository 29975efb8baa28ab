"""Units as people write them ("ns/iter", "ops/sec", "Megabytes") -> base units."""

from __future__ import annotations

import re

import msgspec

from gate.formats.parts.output import NAME
from gate.units import meant, to_base

_OPERATION = (
    r"(?:ops?|operations?|iter(?:s|ations?)?|runs?|calls?|invocations?|execs?|executions?|loops?|req(?:s|uests?)?|times?|x|"
    r"tx|transactions?|quer(?:y|ies)|msgs?|messages?|events?|samples?|cycles?)"
)
_EACH = re.compile(rf"({NAME})\s*+(?:/|\bper\b)\s*+{_OPERATION}", re.IGNORECASE)
_RATE = re.compile(rf"({NAME}|)\s*+(?:/|\bper\b)\s*+(ns|us|µs|μs|ms|s|secs?|seconds?|m|mins?|minutes?)", re.IGNORECASE)
_NAMED_RATES = {"rps", "qps", "tps", "iops", "fps", "hz", "ops"}
_SIZES = {"b", "byte", "bytes"}
_OTHER_SECONDS = {"secs": 1.0, "m": 60.0, "mins": 60.0}


class Written(msgspec.Struct, frozen=True):
    """What a written unit means."""

    unit: str
    """The base unit, or the unit itself where it is not known."""
    scale: float = 1.0
    """Takes a value to it."""
    metric: str = "value"
    """"time", "throughput", or "value" where the unit does not say what is measured."""


def written(text: str) -> Written:
    """Read a unit."""
    own = text.strip()
    each = _EACH.fullmatch(own)
    base, scale = _known(each[1] if each else own)
    if base == "s":
        return Written("s", scale, metric="time")
    if base == "B":
        return Written("B", scale)
    rate = _RATE.fullmatch(own)
    if rate is None:
        return Written("1/s", 1.0, "throughput") if own.lower() in _NAMED_RATES else Written(*_known(own))
    below = rate[2].lower()
    seconds = _OTHER_SECONDS.get(below) or to_base(meant(below) or below)[1]
    of, factor = _known(rate[1])
    if of == "B":
        return Written("B/s", factor / seconds, "throughput")
    if re.fullmatch(_OPERATION, of, re.IGNORECASE) or not rate[1]:
        return Written("1/s", factor / seconds, "throughput")
    return Written(*_known(own), "throughput")


def _known(text: str) -> tuple[str, float]:
    own = text.strip()
    if own.lower() in _SIZES:
        return "B", 1.0
    base, scale = to_base(own)
    if base in ("s", "B"):
        # an "m" alone may be anything
        return (base, scale) if own != "m" else (own, 1.0)
    known = meant(own) if len(own) > 1 else None
    return to_base(known) if known is not None else (base, scale)
