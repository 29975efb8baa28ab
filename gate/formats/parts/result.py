"""What a result file of another tool says, before anybody says which side and build it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, Protocol

import msgspec

from gate.model import Better, Metric

if TYPE_CHECKING:
    from gate.formats.parts.source import Source


class Otherwise(msgspec.Struct, frozen=True):
    """What a result is called if what ends its name in the file is a part of it."""

    benchmark: str
    labels: dict[str, str]


class Measured(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The values of one benchmark in one process."""

    benchmark: str
    metrics: dict[str, Metric]
    """By name, in base units (s, B, 1/s, B/s) or as the tool names them; `values` may be an array("d")."""
    execution: int = 0
    """The process that measured them, counted from 0 within the file."""
    labels: dict[str, str] = {}
    """What else the file says of these values, for --by and --filter: parameters, "goos", "baseline", "commit".

    Where two of one name differ in a label, it becomes a factor of both, so parameters need not be part of the name.
    """
    otherwise: Otherwise | None = None
    """Where the file alone does not say what its name is: the other one (`reading.named_alike` chooses)."""


class Aggregate(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A mean, median or quantile that a tool gives without the values behind it (see gate.evidence.aggregates)."""

    benchmark: str
    metric: str
    statistic: str
    """Such as "mean", "median", "min", "p99"; "value" where the file does not say."""
    value: float
    unit: str = ""
    better: Better | None = None
    """What the file or the format says; None: its name and unit are all there is."""
    low: float | None = None
    high: float | None = None
    """The tool's own interval of the value, in the same unit; None: it gives none."""
    confidence: float | None = None
    """Of that interval; None: not known."""
    sd: float | None = None
    """Standard deviation of the values, in the same unit."""
    step: float | None = None
    """Of the last digit that is written of the value, in its unit; None: as a `Digits` says, or its own digits."""
    count: float | None = None
    """The values that it is of, as the file says; what is none from 1 to 2^53 is left out."""
    execution: int = 0
    labels: dict[str, str] = {}


class Failed(msgspec.Struct, frozen=True, kw_only=True):
    """A benchmark, or a process of it, that the file says has failed."""

    benchmark: str | None
    status: str
    """In a few words: "exit 1 in 3 of 10 runs"."""
    stderr: str = ""
    execution: int = 0
    labels: dict[str, str] = {}
    otherwise: Otherwise | None = None
    """As of `Measured`."""


class LeftOut(msgspec.Struct, frozen=True):
    """Something in the file that looks like a result, and was left out or read in part."""

    status: str
    """What and where, in a few words: "line 5: something was printed into the results of BenchmarkX"."""


class About(msgspec.Struct, frozen=True, kw_only=True):
    """What a file says of itself, once."""

    host: dict[str, Any] = {}
    """Of the machine: "hostname", "cpu", "kernel" and whatever else the tool records."""
    commit: str | None = None
    dirty: bool = False
    """It had changes that were not committed."""
    created: str | None = None
    """When it was measured, ISO 8601."""
    tool: str = ""
    """The tool with its version, such as "pyperf 2.9.0"."""


Result = Measured | Aggregate | Failed | LeftOut | About


class Format(msgspec.Struct, frozen=True, kw_only=True):
    """A format, and how its repetitions are read; the rows of docs/import.md."""

    title: str
    """The tool, and what writes the file: "pyperf (`-o FILE`)"."""
    execution: str
    """What becomes an execution: a process. "the file" where it is one."""
    iteration: str
    """What becomes an iteration; "none" where there are aggregates only."""
    trap: str
    """What misleads who reads such a file."""
    again: Literal["", "number", "process", "rounds"] = ""
    """What a benchmark is that a file has again under one name and labels (of one execution an error).

    number: another one, told apart by the label "number". process: a further process. rounds: of the same process.
    "": as the reader says.
    """
    column: str = ""
    """The label that tells several measurings in one file apart, oldest first ("baseline", "commit"); "": one only."""

    @property
    def tool(self) -> str:
        """The tool alone."""
        return self.title.partition(" (")[0]


class Adapter(Protocol):
    """A module of gate/formats."""

    @property
    def FORMAT(self) -> Format:  # noqa: N802  # a constant of the module
        """The format that it reads."""
        ...

    def recognises(self, source: Source, /) -> bool:
        """Return whether a file begins like one of this format (`source.head`), or a folder holds its files."""
        ...

    def read(self, source: Source, /) -> Iterator[Result]:
        """Yield what a file says, in its order.

        Raises:
            OutputError: what cannot be read, with its line or its place.
        """
        ...
