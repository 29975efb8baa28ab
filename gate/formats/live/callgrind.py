"""The profiles that callgrind writes -> instructions executed."""

from __future__ import annotations

import re
from collections.abc import Iterable

from gate.formats.live.values import OutputError

_EVENTS = re.compile(rb"^events:(.*)$", re.MULTILINE)
_TOTALS = re.compile(rb"^totals:(.*)\n", re.MULTILINE)

_DIGITS = 20
"""Of the largest number of 64 bits, in which callgrind counts."""


def instructions(profiles: Iterable[bytes]) -> int:
    """Add up the instructions (Ir) of all profiles: one for each process, and for each part between two forks.

    Raises:
        OutputError: there is no profile, or one is cut off.
    """
    counts = [_count(profile) for profile in profiles]
    if not counts:
        raise OutputError("callgrind wrote no profile")
    return sum(counts)


def _count(profile: bytes) -> int:
    events, totals = _EVENTS.search(profile), _TOTALS.search(profile)
    if events is None or totals is None:
        raise OutputError("a profile of callgrind is cut off: no totals")
    names, numbers = events[1].split(), totals[1].split()
    # trailing zeros are left out
    place = names.index(b"Ir") if b"Ir" in names else len(numbers)
    if not all(number.isdigit() and len(number) <= _DIGITS for number in numbers) or b"Ir" not in names:
        raise OutputError("a profile of callgrind holds no count of instructions (Ir)")
    return int(numbers[place]) if place < len(numbers) else 0
