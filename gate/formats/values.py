"""What programs write for the values instrument -> values: one number a line, or JSON lines."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from typing import TypeVar

import msgspec

from gate.formats.parts.output import OutputError, Series, checked, refuse_cut_off, shown, usable
from gate.model.bounds import FEW, Digits
from gate.writing.units import meant, to_base

N = TypeVar("N", float, Digits)


def number(line: bytes, kind: Callable[[bytes], N]) -> N:
    """Read a number, as a float or as Digits. Raises OutputError: it is none."""
    try:
        # float() would take 1_000
        if b"_" not in line:
            return kind(line)
    except ValueError:
        pass
    raise OutputError(f"{shown(line)} is not a number")


class Numbers:
    """The values of one metric while they are read, which are Digits as long as few of them differ."""

    def __init__(self, unit: str, most: int = FEW) -> None:
        """Begin with none, in a base unit; most: of different ones are few."""
        self.unit, self._values, self._most = unit, list[float](), most
        self._known: dict[tuple[float | bytes, float], Digits] = {}
        self._few = True

    def add(self, value: float, scale: float, text: bytes | None = None) -> float:
        """Keep a value that a scale takes to the base unit; text: as it was written, None: that is gone."""
        key = value if text is None else text, scale
        found: float | None = self._known.get(key)
        if found is None and self._few:
            found = self._known[key] = (Digits.shortest(value) if text is None else Digits(text)) * scale
            self._few = len({*self._known.values()}) <= self._most
        elif found is None:
            found = value * scale
        self._values.append(found)
        return found

    @property
    def series(self) -> Series:
        """What was read."""
        return Series(self.unit, self._values if self._few else [*map(float, self._values)])


def plain_metric(units: Mapping[str, str | None]) -> str:
    """Name the metric of values that come without a name: the only declared one, else time."""
    return next(iter(units)) if len(units) == 1 else "time"


_VARIED = 20
"""Different values of a metric, where there is JSON, of which the text is gone: the rounding of more averages out."""


class _Line(msgspec.Struct):
    metric: str
    value: float
    unit: str | None = None


_DECODER = msgspec.json.Decoder(_Line)


def parse(data: bytes, units: Mapping[str, str | None]) -> dict[str, Series]:
    """Read numbers, one a line, or lines such as {"metric": "latency", "value": 12.5, "unit": "ms"}.

    units: the declared metrics and their units (None: not said). A plain number belongs to the only declared metric,
    else to "time". A value without a unit is in the declared one, else in seconds for "time", else a count. Blank
    lines are passed over.

    Raises:
        OutputError: a line that is not such a value, by its number from 1; a time or size below 0; units that do not
            go together; a last line without a newline.
    """
    found = _read(data, units, checks=False)
    if not all(usable(each.values, each.unit) for each in found.values()):
        # again, to say which line it is
        _read(data, units, checks=True)
    refuse_cut_off(data, "the output")
    return found


def _read(data: bytes, units: Mapping[str, str | None], *, checks: bool) -> dict[str, Series]:
    plain, most = plain_metric(units), _VARIED if b"{" in data else FEW
    found: dict[str, Numbers] = {}
    scales: dict[tuple[str, str | None], float] = {}
    for place, raw in enumerate(io.BytesIO(data), 1):
        line = raw.strip()
        if not line:
            continue
        try:
            is_json = line.startswith(b"{")
            if is_json:
                read = _DECODER.decode(line)
                name, value, unit = read.metric, read.value, read.unit
                if not name:
                    raise OutputError(f"{shown(line)}: the metric has no name")
            else:
                name, value, unit = plain, number(line, float), None
            scale = scales.get((name, unit))
            if scale is None:
                base, scale = _known_unit(name, unit, units, found)
                found.setdefault(name, Numbers(base, most))
                scales[name, unit] = scale
            numbers = found[name]
            value = numbers.add(value, scale, None if is_json else line)
            if checks:
                checked(value, numbers.unit, line)
        except OutputError as error:
            raise OutputError(f"line {place} of the output: {error}") from None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            reason = str(error).replace("`", "").removesuffix(" - at $")
            raise OutputError(f"line {place} of the output: {shown(line)}: {reason}") from None
    return {name: each.series for name, each in found.items()}


def _known_unit(
    name: str, unit: str | None, units: Mapping[str, str | None], found: Mapping[str, Numbers]
) -> tuple[str, float]:
    """Return the base unit of a value, and what takes it there; refuse another one than that of the values before."""
    said = unit if unit is not None else units.get(name)
    known = meant(said or "")
    if known is not None:
        raise OutputError(f'{name!r} is in "{said}", which is not a known unit: did you mean "{known}"?')
    base, factor = to_base(said if said is not None else "s" if name == "time" else "")
    declared = units.get(name)
    expected = found[name].unit if name in found else base if declared is None else to_base(declared)[0]
    if base != expected:
        raise OutputError(f"{name!r} is in {base or 'counts'!r} here and in {expected or 'counts'!r} elsewhere")
    return base, factor


LIVE = parse
