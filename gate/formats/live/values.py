"""The output of the values instrument -> values: one number a line, or JSON lines; the error of all adapters."""

from __future__ import annotations

import io
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from gate.model import Better
from gate.model.bounds import out_of_bounds, why_out_of_bounds
from gate.model.digits import FEW, Digits
from gate.model.visible import visible
from gate.units import meant, to_base

_LONGEST = 500
"""Characters of an error."""


class OutputError(ValueError):
    """A tool's output that gives no usable values; its text is one line, whatever it quotes."""

    def __init__(self, why: str) -> None:
        """Keep why."""
        line = visible(why)
        super().__init__(line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…")


class EmptyError(OutputError):
    """The output of a tool that found no benchmark."""


_SHOWN = 60
_PART = 100_000
_VARIED = 20
"""Different values of all metrics, of which none can have so few that its rounding does not average out."""
_NO_NEGATIVES = ("s", "B")


@dataclass(frozen=True, slots=True)
class Series:
    """The values of one metric in order, in its base unit (s, B or a count)."""

    unit: str
    values: list[float]
    better: Better | None = None
    """What the tool says; None: its name and unit are all there is."""
    whole: bool = False
    """Its one value is of the whole output, which has no warm-up to drop."""
    view_of: str | None = None
    """The metric that it shows by another clock or statistic; None: it is one of its own."""
    sharp: bool = False
    """Of such a view: what else runs on the host disturbs it less."""


Format = Callable[[bytes, Mapping[str, str | None]], dict[str, Series]]
"""Reads a program's output, given the declared metrics and their units (None: not said); raises OutputError.

A module of this folder whose FORMAT is one can be the `format` of a benchmark, by the module's name.
"""


class _Line(msgspec.Struct):
    metric: str
    value: float
    unit: str | None = None


_DECODER = msgspec.json.Decoder(_Line)


def refuse_cut_off(data: bytes, what: str) -> None:
    """Refuse a text whose last line has no newline at its end: of 0.123 the beginning is a number too.

    Raises:
        OutputError: naming what it is.
    """
    end = data.rpartition(b"\n")[2].strip()
    if end:
        raise OutputError(
            f"the last line of {what}, {shown(end)}, has no newline at its end, so it may be cut off: end every line "
            "with a newline"
        )


def parse(data: bytes, units: Mapping[str, str | None]) -> dict[str, Series]:
    """Read numbers, one a line, or lines such as {"metric": "latency", "value": 12.5, "unit": "ms"}.

    units: the declared metrics and their units (None: not said). A plain number belongs to the only declared metric,
    else to "time". A value without a unit is in the declared one, else in seconds for "time", else a count. Blank
    lines are passed over.

    Raises:
        OutputError: a line that is not such a value, by its number from 1; a time or size below 0; units that do not
            go together; a last line without a newline.
    """
    found = _all_json(data, units) if data.lstrip()[:1] == b"{" else _all_plain(data, units)
    if found is None:
        found = _line_by_line(data, units)
    refuse_cut_off(data, "the output")
    return found


def _all_plain(data: bytes, units: Mapping[str, str | None]) -> dict[str, Series] | None:
    """Read many plain numbers fast; None where something is not plain, or wrong: then the line must be found."""
    # float() would take 1_000
    if b"_" in data:
        return None
    read: list[float] = []
    numbers = map(float, filter(bytes.strip, io.BytesIO(data)))
    try:
        # in parts: a signal, such as that of a time limit, is not handled within one
        while part := list(itertools.islice(numbers, _PART)):
            read += part
    except ValueError:
        return None
    if not read:
        return {}
    if len(set(read)) <= FEW:
        read = [Digits(line) for line in io.BytesIO(data) if line.strip()]
    name, found = plain_metric(units), dict[str, Series]()
    scale = _scale(name, None, units, found)
    values = [value * scale for value in read]
    return {name: Series(found[name].unit, values)} if usable(values, found[name].unit) else None


def _all_json(data: bytes, units: Mapping[str, str | None]) -> dict[str, Series] | None:
    """Read many JSON lines fast; None as above."""
    found: dict[str, Series] = {}
    appends: dict[tuple[str, str | None], tuple[float, Callable[[float], None]]] = {}
    try:
        lines = _DECODER.decode_lines(data)
        # it would take several objects on one line, and one on several
        if len(lines) != sum(map(bool, map(bytes.strip, io.BytesIO(data)))):
            return None
        # of JSON the text is gone
        of: Callable[[float], float] = Digits.shortest if len({line.value for line in lines}) <= _VARIED else float
        for line in lines:
            key = (line.metric, line.unit)
            known = appends.get(key)
            if known is None:
                scale = _scale(line.metric, line.unit, units, found)
                known = appends[key] = scale, found[line.metric].values.append
            known[1](of(line.value) * known[0])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, OutputError):
        return None
    return found if "" not in found and all(usable(each.values, each.unit) for each in found.values()) else None


def _line_by_line(data: bytes, units: Mapping[str, str | None]) -> dict[str, Series]:
    plain = plain_metric(units)
    found: dict[str, Series] = {}
    scales: dict[tuple[str, str | None], float] = {}
    for place, raw in enumerate(data.split(b"\n"), 1):
        line = raw.strip()
        if not line:
            continue
        try:
            name, value, unit = _json(line) if line.startswith(b"{") else (plain, number(line), None)
            scale = scales.get((name, unit))
            if scale is None:
                scale = scales[name, unit] = _scale(name, unit, units, found)
            found[name].values.append(checked(value * scale, found[name].unit, line))
        except OutputError as error:
            raise OutputError(f"line {place} of the output: {error}") from None
    return found


def number(line: bytes) -> Digits:
    """Read a number.

    Raises:
        OutputError: it is none.
    """
    try:
        # float() would take 1_000
        if b"_" in line:
            raise ValueError
        return Digits(line)
    except ValueError:
        raise OutputError(f"{shown(line)} is not a number") from None


def _json(line: bytes) -> tuple[str, Digits, str | None]:
    try:
        read = _DECODER.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        reason = str(error).replace("`", "").removesuffix(" - at $")
        raise OutputError(f"{shown(line)}: {reason}") from None
    if not read.metric:
        raise OutputError(f"{shown(line)}: the metric has no name")
    return read.metric, Digits.shortest(read.value), read.unit


def _scale(name: str, unit: str | None, units: Mapping[str, str | None], found: dict[str, Series]) -> float:
    said = unit if unit is not None else units.get(name)
    known = meant(said or "")
    if known is not None:
        raise OutputError(f'{name!r} is in "{said}", which is not a known unit: did you mean "{known}"?')
    base, factor = to_base(said if said is not None else "s" if name == "time" else "")
    declared = units.get(name)
    expected = found[name].unit if name in found else base if declared is None else to_base(declared)[0]
    if base != expected:
        raise OutputError(f"{name!r} is in {base or 'counts'!r} here and in {expected or 'counts'!r} elsewhere")
    found.setdefault(name, Series(base, []))
    return factor


def plain_metric(units: Mapping[str, str | None]) -> str:
    """Name the metric of values that come without a name: the only declared one, else time."""
    return next(iter(units)) if len(units) == 1 else "time"


def usable(values: Sequence[float], unit: str) -> bool:
    """Return whether `checked` takes all of some values."""
    return out_of_bounds(values) is None and (unit not in _NO_NEGATIVES or min(values, default=0.0) >= 0)


def checked(value: float, unit: str, line: bytes) -> float:
    """Return a value of a base unit.

    Raises:
        OutputError: it is no finite number, too large or small, or a time or size below 0; line: what it was read from.
    """
    if not math.isfinite(value):
        raise OutputError(f"{shown(line)} is not a finite number")
    if out_of_bounds([value]) is not None:
        raise OutputError(f"{shown(line)} is {why_out_of_bounds(value)}")
    if value < 0 and unit in _NO_NEGATIVES:
        raise OutputError(f"{shown(line)} is below 0, which a {'time' if unit == 's' else 'size'} cannot be")
    return value


def shown(line: bytes) -> str:
    """Quote the beginning of a line for a message, without control characters."""
    text = line.decode("utf-8", "replace")
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…")


FORMAT = parse
