"""How numbers of a value, a rule, a change and a limit are written: the same in a sentence and in a table."""

from __future__ import annotations

import math
from typing import Literal, Protocol, TypeGuard

from gate.writing.plain import clip, visible
from gate.writing.units import format_confidence, format_share

_SHOWN: dict[str, list[tuple[float, str]]] = {
    "s": [(1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")],
    "B": [(1024.0**3, "GiB"), (1024.0**2, "MiB"), (1024.0, "KiB"), (1.0, "B")],
    "B/s": [(1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1.0, "B/s")],
}


def known(value: float | None) -> TypeGuard[float]:
    """Return whether a number exists; NaN and infinity are treated as numbers that do not."""
    return value is not None and math.isfinite(value)


def format_percent(share: float) -> str:
    """Write a share as it was configured: "3%"; a confidence as everywhere: "99.58%"."""
    return format_confidence(share) if known(share) else "unknown"


def format_p(p: float | None) -> str:
    """Write a p value: "0.0048", "< 0.0001", "none"."""
    if not known(p):
        return "none"
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}" if p < 0.1 else f"{p:.2f}"


def as_configured(number: float, unit: str) -> str:
    """Write an amount of a rule: "1 us"."""
    scale, name = shown_unit(number, unit)
    return f"{number / scale:.4g} {'' if name == 'count' else name}".rstrip()


def amount(number: float | None, unit: str, like: float | None) -> str:
    """Write a value of a metric; whole counts are written in full."""
    if not known(number):
        return "unknown"
    shown = clip(visible(unit), 12)
    if shown in ("", "count"):
        whole = float(number).is_integer() and abs(number) < 1e15
        return f"{number:,.0f}" if whole else _separated(format_number(number))
    return _separated(format_value(number, shown, like=like if known(like) else None))


def _separated(text: str) -> str:
    number, blank, unit = text.partition(" ")
    return f"{int(number):,}{blank}{unit}" if number.removeprefix("-").isdecimal() else text


def shown_unit(value: float, unit: str) -> tuple[float, str]:
    """Return the scale and the name of the unit in which a value of a base unit reads best."""
    if value == 0 or not math.isfinite(value):
        return 1.0, unit
    choices = _SHOWN.get(unit)
    if choices is None:
        return 1.0, unit
    for scale, name in choices:
        # 0.9995 rounds to 1.000 at the four digits that are shown
        if abs(value) >= scale * 0.9995:
            return scale, name
    return choices[-1]


def format_value(value: float, unit: str, *, like: float | None = None, digits: int = 4) -> str:
    """Write a value of a base unit with a scaled unit: 0.1015 s -> "101.5 ms".

    like: take the scale from this value instead, so that numbers beside each other share a unit.
    """
    scale, name = shown_unit(value if like is None else like, unit)
    return f"{format_number(value / scale, digits)} {name}".rstrip()


def format_number(value: float, digits: int = 4) -> str:
    """Write a number with so many significant digits, trailing zeros kept, exponents only where they help."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    exponent = math.floor(math.log10(abs(float(f"{value:.{digits - 1}e}"))))
    if -4 <= exponent < 7:
        return f"{value:.{max(0, digits - 1 - exponent)}f}"
    return f"{value:.{digits - 1}e}"


def both_amounts(base: float, head: float, unit: str) -> list[str]:
    """Write the values of both sides in the unit that suits the larger, since one may be 0: "101.5 ms", "109.9 ms"."""
    like = max(base, head, key=abs)
    return [amount(value, unit, like) for value in (base, head)]


def in_one_unit(first: str, second: str) -> tuple[str, str]:
    """Say the unit of two amounts once where they have the same."""
    number, _, unit = first.rpartition(" ")
    return number if number and second.endswith(f" {unit}") else first, second


# --- changes ----------------------------------------------------------------------------------------------------------


class Directed(Protocol):
    """What has a direction: a finding, a recorded metric."""

    @property
    def unit(self) -> str:
        """Of the metric."""

    @property
    def better(self) -> Literal["lower", "higher"]:
        """Which direction is better."""


def is_time(case: Directed) -> bool:
    """Return whether less of it is faster; a rate in seconds is no time."""
    return case.unit == "s" and case.better == "lower"


def direction(case: Directed, ratio: float) -> str:
    """Write the sign of a change: "slower"."""
    more, less = ("slower", "faster") if is_time(case) else ("higher", "lower")
    return more if ratio > 1 else less


def moved(case: Directed, ratio: float, limit: float = math.nan) -> str:
    """Write a change with its direction: "5.1% slower", "12x as slow"; limit: as of size."""
    way = direction(case, ratio)
    return f"{size(ratio, limit)} {way if ratio < FACTORS else _AS[way]}"


_AS = {"slower": "as slow", "higher": "as high"}
FACTORS = 10.0
"""From this ratio on a change is written as a factor: percent of such size are counted, and not read."""
_COUNTED = 1e9


def factor(ratio: float) -> str:
    """Write a ratio as a factor: "12.5x", "1,205,062x", "1.2e+12x"."""
    if ratio >= _COUNTED:
        return f"{ratio:.2g}x"
    return f"{ratio:,.0f}x" if ratio >= 99.95 else f"{ratio:.1f}".removesuffix(".0") + "x"


def changed(ratio: float) -> str:
    """Write a ratio as a change: "+5.1%", "12.5x"."""
    if ratio >= FACTORS:
        return factor(ratio)
    # what is left of it is not nothing, which "-100%" would say
    return f"-{format_confidence(1 - ratio)}" if 0 < ratio < 0.0005 else format_share(ratio - 1, sign=True)


def size(ratio: float, limit: float = math.nan) -> str:
    """Write a change without its direction: "5.1%"; with more digits where it would read like a limit it is not."""
    if ratio >= FACTORS:
        return factor(ratio)
    share = abs(ratio - 1)
    text = format_share(share)
    if text != format_share(limit) or math.isclose(share, limit, rel_tol=1e-9):
        return text
    more = (
        f"{share * 100:.{digits}g}%" for digits in (3, 4, 5, 6, 8) if f"{share:.{digits}g}" != f"{limit:.{digits}g}"
    )
    return next(more, text)


# --- changes for the worse --------------------------------------------------------------------------------------------


def caught(case: Directed, least: float, limit: float = math.nan) -> str:
    """Say which changes for the worse would show: "slowdowns above 9.1%"; of a rate as what is lost of it.

    limit: a size that it must not read like, if it is another.
    """
    lower = case.better == "lower"
    noun, ratio = nouns(case)[0 if lower else 1], 1 + least if lower else 1 / (1 + least)
    return f"{noun}s above {size(ratio, limit if lower else 1 - 1 / (1 + limit))}"


def not_worse(case: Directed) -> str:
    """Say that a change for the worse is excluded: "not slower"."""
    return f"not {direction(case, 2.0 if case.better == 'lower' else 0.5)}"


def nouns(finding: Directed) -> tuple[str, str]:
    """Name a change to ratios above 1, and one to ratios below."""
    return ("slowdown", "speedup") if is_time(finding) else ("increase", "decrease")
