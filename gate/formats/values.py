"""What programs write for the values instrument -> values: one number a line, or JSON lines."""

from __future__ import annotations

import io
import itertools
from collections.abc import Callable, Mapping

import msgspec

from gate.formats.parts.output import OutputError, Series, checked, number, plain_metric, refuse_cut_off, shown, usable
from gate.model.digits import FEW, Digits
from gate.units import meant, to_base

_PART = 100_000
_VARIED = 20
"""Different values of all metrics, of which none can have so few that its rounding does not average out."""


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
        # one for all that are written alike
        known: dict[bytes, Digits] = {}
        read = [known.get(line) or known.setdefault(line, Digits(line)) for line in io.BytesIO(data) if line.strip()]
    name, found = plain_metric(units), dict[str, Series]()
    scale = _scale(name, None, units, found)
    values = read if scale == 1 else [value * scale for value in read]
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
            if line.startswith(b"{"):
                read = _DECODER.decode(line)
                name, value, unit = read.metric, Digits.shortest(read.value), read.unit
                if not name:
                    raise OutputError(f"{shown(line)}: the metric has no name")
            else:
                name, value, unit = plain, number(line), None
            scale = scales.get((name, unit))
            if scale is None:
                scale = scales[name, unit] = _scale(name, unit, units, found)
            found[name].values.append(checked(value * scale, found[name].unit, line))
        except OutputError as error:
            raise OutputError(f"line {place} of the output: {error}") from None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            reason = str(error).replace("`", "").removesuffix(" - at $")
            raise OutputError(f"line {place} of the output: {shown(line)}: {reason}") from None
    return found


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


LIVE = parse
