"""The profiles of valgrind's callgrind and cachegrind."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import zip_longest

import msgspec

from gate.formats.parts.output import OutputError
from gate.formats.parts.result import About, FailedResult, Format, ProcessValues, Result
from gate.formats.parts.source import Source
from gate.model import Metric

FORMAT = Format(title="callgrind and cachegrind (`callgrind.out.PID`, `cachegrind.out.PID`)", again="process")
_NAMES = {"Ir": "instructions"}
_KEYS = (b"events:", b"totals:", b"summary:", b"cmd:", b"pid:", b"creator:")
_TOTALS = re.compile(rb"^totals:.*\n", re.MULTILINE)
_EVENTS = re.compile(r"^events: *\S", re.MULTILINE)
_COST = re.compile(r"^(fn=|fl=|cmd:|creator:|positions:|summary:|totals:)", re.MULTILINE)


class CountedProcess(msgspec.Struct):
    """A process, and what was counted of it."""

    command: str = ""
    events: list[str] = []
    """In the order of their counts."""
    parts: list[list[int]] = []
    """The counts of each part of it; empty: they are cut off."""

    @property
    def counts(self) -> dict[str, int]:
        """The counts of all parts by event; empty where those of a part are cut off."""
        # trailing zeros are left out
        whole = [dict(zip_longest(self.events, part, fillvalue=0)) for part in self.parts if part]
        complete = len(whole) == len(self.parts) > 0
        return {event: sum(part[event] for part in whole) for event in self.events} if complete else {}


def recognises(source: Source) -> bool:
    """Return whether it has a line "events:" among others of a profile."""
    text = source.head.text
    return _EVENTS.search(text) is not None and len(set(_COST.findall(text))) > 1


def read(source: Source) -> Iterator[Result]:
    """Yield a process for each one that the file counts."""
    creator, processes = profiles(source)
    yield About(tool=creator)
    for process in processes:
        # wherever the program was built
        program, blank, arguments = process.command.partition(" ")
        name = f"{program.rpartition('/')[2]}{blank}{arguments}" or source.name
        counts = process.counts
        if not counts:
            yield FailedResult(benchmark=name, status="no totals: the file is cut off")
            continue
        metrics = {
            _NAMES.get(event, event): Metric(unit="", better="lower", values=[float(count)], exact=True)
            for event, count in counts.items()
        }
        yield ProcessValues(benchmark=name, metrics=metrics)


def profiles(source: Source) -> tuple[str, list[CountedProcess]]:
    """Read the totals of each part of a profile; where they are cut off, its summary, which stands before the costs.

    Returns:
        What wrote it, and the processes that it counts.

    Raises:
        OutputError: a count is none.
    """
    found: dict[bytes, CountedProcess] = {}
    process, creator = CountedProcess(), ""
    for place, line in enumerate(source.bytes_lines(), 1):
        if not line.startswith(_KEYS) or source.unended:
            # of a number that is cut off the beginning is a number, too
            continue
        key, _, value = line.partition(b":")
        text = value.decode("utf-8", "replace").strip()
        if key == b"creator":
            creator = text
        elif key == b"pid":
            process = found.setdefault(value.strip(), CountedProcess())
        elif key == b"cmd":
            process.command = text
        elif key == b"events":
            process.events = text.split()
            process.parts.append([])
        elif process.parts:
            # the totals behind the costs are the summary before them, which cachegrind writes at the end
            words = text.replace(",", "").split()
            if not all(word.isdigit() and len(word) <= 20 for word in words):
                raise OutputError(f"line {place}: {text!r} are no counts of events")
            process.parts[-1] = list(map(int, words))
    return creator, list(found.values()) or [process]


def instructions(files: Iterable[bytes]) -> int:
    """Add up the instructions (Ir) of all profiles: one for each process, and for each part between two forks.

    Raises: OutputError: there is no profile, or one is cut off.
    """
    counts: list[int] = []
    for data in files:
        if _TOTALS.search(data) is None:
            raise OutputError("a profile of callgrind is cut off: no totals")
        found = [process.counts.get("Ir") for process in profiles(Source("a profile", None, data))[1]]
        if None in found:
            raise OutputError("a profile of callgrind holds no count of instructions (Ir)")
        counts.append(sum(filter(None, found)))
    if not counts:
        raise OutputError("callgrind wrote no profile")
    return sum(counts)
