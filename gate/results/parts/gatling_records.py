"""What a log of Gatling holds, gathered by request and by group."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

GROUP_SEPARATOR = b","
"""Between the groups of a path, as the text of a log has it; names have none."""
_MS = 1e-3


@dataclass(slots=True)
class Requests:
    """The requests of one name in one group, or the passes of a group."""

    times: array[float] = field(default_factory=lambda: array("d"))
    """Of the successful ones, in s."""
    failed: int = 0
    """How many failed."""


@dataclass(slots=True)
class Run:
    """A run of one simulation."""

    version: str = ""
    """Of Gatling."""
    start: int = 0
    """In ms since 1970."""
    first: int = 1 << 62
    """When the first request began, in ms."""
    last: int = 0
    """When the last request ended, in ms."""
    requests: dict[tuple[bytes, bytes], Requests] = field(default_factory=dict)
    """By the path of groups and the name."""
    groups: dict[bytes, Requests] = field(default_factory=dict)
    """By the path."""

    def request(self, key: tuple[bytes, bytes], start: int, end: int, *, ok: bool) -> None:
        """Add a request; one that never ended has an end before its start, and has failed."""
        own = self.requests.get(key)
        if own is None:
            own = self.requests[key] = Requests()
        if ok and end >= start:
            own.times.append((end - start) * _MS)
        else:
            own.failed += 1
        if start < self.first:
            self.first = start
        if end > self.last:
            self.last = end

    def group(self, path: bytes, start: int, end: int, cumulated: int, *, ok: bool) -> None:
        """Add a pass of a group, with the sum of its requests' times."""
        own = self.groups.get(path)
        if own is None:
            own = self.groups[path] = Requests()
        if ok and end >= start:
            own.times.append(cumulated * _MS)
        else:
            own.failed += 1
