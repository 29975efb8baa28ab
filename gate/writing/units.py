"""Units: text ("3%", "1us", "15m") to base units; shares, time spans and counts as text."""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from datetime import datetime

ERROR_RATE = "error_rate"
"""The metric of an imported load test that is the share of its requests that failed."""
SUCCESS = "success"
"""The metric of a load test that is the share of its requests that succeeded."""
# Scale of each unit towards its base unit, by dimension (the base unit names the dimension).
_SCALES: dict[str, dict[str, float]] = {
    "s": {
        "ps": 1e-12,
        "ns": 1e-9,
        "us": 1e-6,
        "µs": 1e-6,  # micro sign
        "μs": 1e-6,  # Greek mu: both are typed
        "ms": 1e-3,
        "s": 1.0,
        "min": 60.0,
        "m": 60.0,
        "h": 3600.0,
    },
    "B": {
        "B": 1.0,
        "kB": 1e3,
        "KB": 1e3,
        "MB": 1e6,
        "GB": 1e9,
        "KiB": 1024.0,
        "MiB": 1024.0**2,
        "GiB": 1024.0**3,
    },
}
DIMENSIONS = tuple(_SCALES)
"""The base units of amounts that scaled units exist for."""
_SCALES["B/s"] = {f"{unit}/s": scale for unit, scale in _SCALES["B"].items()}

_TO_BASE: dict[str, tuple[str, float]] = {
    unit: (base, scale) for base, units in _SCALES.items() for unit, scale in units.items()
}
_TO_BASE |= {"1": ("", 1.0), "percent": ("%", 1.0), "pct": ("%", 1.0)}  # "1": what UCUM writes for no unit
_OF_ONE = ("", "ratio", "fraction")
"""Units of a share of 1, where the name of the metric says that it is a share."""
_SPELLED_OUT = {
    "nsec": "ns", "nanosecond": "ns", "usec": "us", "microsecond": "us", "msec": "ms", "millisecond": "ms",
    "sec": "s", "second": "s", "minute": "min", "hour": "h", "hr": "h", "byte": "B", "kib": "KiB", "mib": "MiB",
    "kilobyte": "kB", "megabyte": "MB", "gigabyte": "GB",
}  # fmt: skip
# what is counted, for which tools choose a prefix by its size: "Kcycles" of one run are "Mcycles" of another
_COUNTED = re.compile(
    r"([kKMGT]) ?((?:cycle|instr|instruction|insn|op|operation|elem|element|item|iter|alloc|allocation|branch|"
    r"branche|miss|misse|fault|tick|event|flop|bit|req|request|msg|message|sample|token|row|record|call|loop)s?"
    r"(?:[ /-].*)?|FLOPs?(?:/.*)?|FLOPS|ins|cpb|cpe)"
)
_THOUSANDS = {"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_NUMBER = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(.*)")


def to_base(unit: str) -> tuple[str, float]:
    """Return the base unit of a unit and the factor that takes a value there; an unknown unit is its own base."""
    return _TO_BASE.get(unit) or _counted(unit)


@lru_cache(maxsize=1024)
def _counted(unit: str) -> tuple[str, float]:
    prefixed = _COUNTED.fullmatch(unit)
    return (prefixed[2], _THOUSANDS[prefixed[1]]) if prefixed else (unit, 1.0)


def meant(unit: str) -> str | None:
    """Return the known unit that an unknown one was probably meant to be; a unit of one's own is nobody's."""
    if unit in _TO_BASE or not unit:
        return None
    by_case = next((known for known in _TO_BASE if known.casefold() == unit.casefold()), None)
    singular = unit.casefold().removesuffix("s") if len(unit) > 2 else unit
    return by_case or _SPELLED_OUT.get(singular)


def whole_of(metric: str, unit: str) -> float | None:
    """Return what all of a share is, in its unit: 100 of "%", 1 of "share"; None: the metric is no share."""
    unit, _ = to_base(unit)
    if unit == "%":
        return 100.0
    return 1.0 if unit == "share" or (unit in _OF_ONE and metric in (ERROR_RATE, SUCCESS)) else None


def ratio_of(metric: str, unit: str, base: float, head: float) -> float | None:
    """Return the ratio of two values that have no interval: of shares 1 and their difference; None: there is none."""
    whole = whole_of(metric, unit)
    if whole is not None:
        return 1 + (head - base) / whole
    return head / base if base > 0 and head >= 0 else None


def _split(text: str, what: str, right: str) -> tuple[float, str]:
    match = _NUMBER.fullmatch(text.strip())
    value = float(match[1]) if match else math.nan
    if match is None or not math.isfinite(value):
        raise ValueError(f"{text!r} is not {what}: write {right}")
    return value, match[2]


def _as_float(raw: float) -> float:
    try:
        return float(raw)
    except OverflowError:
        raise ValueError("a number of that many digits is out of range") from None


class Share(float):
    """A relative amount, written "3%" or 0.03; never negative."""

    @classmethod
    def parse(cls, raw: object) -> Self:
        """Read "3%", 0.03 or "0.03".

        Raises: ValueError: not a share, or negative.
        """
        if isinstance(raw, str):
            value, unit = _split(raw, "a share", '"3%" or 0.03')
            if unit not in ("", "%"):
                raise ValueError(f'{raw!r} is not a share: write "3%" or 0.03')
            # 3/100 rather than 3*0.01: the closest float to 0.03
            value = value / 100 if unit else value
        elif isinstance(raw, (int, float)) and not isinstance(raw, bool):
            value = _as_float(raw)
        else:
            raise ValueError(f'expected a share such as "3%", got {raw!r}')
        if not (math.isfinite(value) and value >= 0):
            raise ValueError(f'a share is 0 or more, got {raw!r}: write "3%" or 0.03')
        if value >= 1 and not (isinstance(raw, str) and "%" in raw):
            # somebody who writes 3 means 3%, and a gate of 300% would be blind
            raise ValueError(f'{raw!r} is ambiguous: write "{value:g}%" or a number below 1')
        return cls(value)

    def __str__(self) -> str:
        """Write it as a percentage."""
        return f"{float(self) * 100:.12g}%"


_YEAR = 366 * 86400.0
"""Seconds; clocks and timers of the system take no span without end."""


class Duration(float):
    """A time span in seconds, written "15m", "1h", "90s" or a number of seconds; above 0, and a year at most."""

    @classmethod
    def parse(cls, raw: object) -> Self:
        """Read "15m", "1h30m" or 90.

        Raises: ValueError: not a time span, or not above 0.
        """
        if isinstance(raw, str):
            parts = re.findall(r"(\d+(?:\.\d+)?)\s*([a-zµμ]+)\s*", raw.strip())
            if not parts or "".join(n + u for n, u in parts) != "".join(raw.split()):
                raise ValueError(f'{raw!r} is not a time span: write "15m", "90s" or "1h30m"')
            value = 0.0
            for number, unit in parts:
                base, scale = to_base(unit)
                if base != "s":
                    raise ValueError(f'{unit!r} in {raw!r} is not a unit of time: use "s", "m" or "h"')
                value += float(number) * scale
        elif isinstance(raw, (int, float)) and not isinstance(raw, bool):
            value = _as_float(raw)
        else:
            raise ValueError(f'expected a time span such as "15m", got {raw!r}')
        if not (math.isfinite(value) and value > 0):
            raise ValueError(f'a time span is above 0, got {raw!r}: write "15m" or "90s"')
        if value > _YEAR:
            raise ValueError(f"{raw!r} is longer than a year")
        return cls(value)

    def __str__(self) -> str:
        """Write it in the largest unit that keeps it whole, else in seconds."""
        for scale, unit in ((3600.0, "h"), (60.0, "m")):
            if float(self) % scale == 0:
                return f"{float(self) / scale:.0f}{unit}"
        return f"{float(self):.12g}s"


class Quantity:
    """A value with a unit, such as "1us", "4KiB" or "100" (a count)."""

    __slots__ = ("text", "unit", "value")

    def __init__(self, value: float, unit: str, text: str) -> None:
        """Hold a value in its base unit, and the text it was written as."""
        self.value = value
        self.unit = unit
        self.text = text

    @classmethod
    def parse(cls, raw: object) -> Self:
        """Read "1us", "4 KiB" or 100.

        Raises: ValueError: no number in front, or negative.
        """
        if isinstance(raw, bool) or not isinstance(raw, (str, int, float)):
            raise ValueError(f'expected an amount such as "1us", got {raw!r}')
        number, unit = _split(str(raw), "an amount", '"1us", "4KiB" or 100')
        if number < 0:
            raise ValueError(f'an amount is 0 or more, got {raw!r}: write "1us" or 0')
        known = meant(unit)
        if known is not None:
            raise ValueError(f'{unit!r} in {raw!r} is not a known unit: did you mean "{known}"?')
        base, scale = to_base(unit)
        return cls(number * scale, base, str(raw))

    def __str__(self) -> str:
        """Write it as it was read."""
        return self.text

    def __eq__(self, other: object) -> bool:
        """Compare value and unit, not the text."""
        return isinstance(other, Quantity) and (self.value, self.unit) == (other.value, other.unit)

    def __hash__(self) -> int:
        """Agree with equality."""
        return hash((self.value, self.unit))


def format_share(value: float, *, sign: bool = False) -> str:
    """Write a relative amount as a percentage: 0.0312 -> "3.1%", 0.00042 -> "0.042%"."""
    percent = value * 100
    size = abs(percent)
    places = 0 if size >= 99.95 else 1 if size >= 0.95 or size == 0 else 2 if size >= 0.095 else 3
    text = f"{percent:+.{places}f}%" if sign else f"{percent:.{places}f}%"
    # "-0.000%" says nothing that "0.000%" does not
    return text.replace("-", "") if float(text.rstrip("%")) == 0 else text


def format_confidence(confidence: float) -> str:
    """Write a confidence, or any share, without rounding what tells it from 100%: "95%", "99.58%", "99.99979%"."""
    distance = abs(1 - confidence) * 100
    if 0 < distance < 10 and confidence > 0.5:
        places = max(0, 1 - math.floor(math.log10(distance)))
        text = f"{confidence * 100:.{places}f}"
        return f"{text.rstrip('0').rstrip('.') if '.' in text else text}%"
    return str(Share(float(f"{confidence:.4g}")))


def format_duration(seconds: float) -> str:
    """Write a time span for people: "850 ms", "12 s", "3 min 20 s", "1 h 05 min"."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    total = round(seconds)
    if total < 60:
        return f"{total} s"
    if total < 3600:
        return f"{total // 60} min" + (f" {total % 60:02d} s" if total % 60 else "")
    return f"{total // 3600} h {total % 3600 // 60:02d} min"


def plural(count: int, noun: str) -> str:
    """Write a count before its noun: "1 build", "5 builds", "10,000 iterations"."""
    return f"{count} {noun}" if count == 1 else f"{count:,} {noun}s"


def agree(count: int, one: str, more: str) -> str:
    """Choose the verb of a count: "is" of 1, "are" of 0 and of 2."""
    return one if count == 1 else more


def when(text: str | None) -> datetime | None:
    """Read a date and time, in UTC, as which one without a zone is taken; None: it is none."""
    from datetime import UTC, datetime  # late: `--version` needs none

    try:
        found = datetime.fromisoformat(text or "")
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def nominal_gib(memory: int) -> float:
    """Return a memory as it is sold, in GiB: the next size up of 1, 1.25, 1.5, 1.75 times a power of two.

    The kernel keeps some percent of the memory for itself, more or less with each boot and version: a size rounded to
    the nearest GiB could change sides.
    """
    step = 2.0 ** (math.floor(math.log2(memory / 2**30)) - 2)
    return math.ceil(memory / 2**30 / step) * step
