"""Parts that several tables of perfgate.toml share: the base class, commands, services and loads."""

from __future__ import annotations

from typing import Annotated, Literal, TypeVar

import msgspec
from msgspec import Meta

from gate.units import Duration

T = TypeVar("T")

Command = str | list[str]


def default(value: T) -> T:
    """Give a field a default of a type of gate.units."""
    # a factory, because msgspec cannot write a custom type's default into a schema; schema.py adds it
    return msgspec.field(default_factory=lambda: value)


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table of perfgate.toml."""


OF_RUNS = ("traits",)
"""Keys that only the config of a run line has."""


Cpus = Annotated[
    str,
    Meta(
        pattern=r"^[0-9]{1,5}(-[0-9]{1,5})?(,[0-9]{1,5}(-[0-9]{1,5})?)*$",
        extra={"else": "not a list of processors: write 0, 2-3 or 0,2"},
    ),
]


class Service(Table, frozen=True, kw_only=True):
    """A server that a benchmark talks to: started before an execution, stopped after it with all its children."""

    command: Annotated[Command, Meta(examples=["./build/server --port {port}"])]
    """A list is executed, a string goes to sh -c. {seed} and {port} are replaced."""
    ready: str | None = None
    """When it is ready: "tcp:{port}" accepts connections, "http://127.0.0.1:{port}/health" answers with 2xx or 3xx,
    "log:TEXT" has written TEXT, "command:..." exits with 0. Default: "tcp:{port}" if the command contains {port}."""
    per: Literal["execution", "build"] = "execution"
    """How long it runs: for one start, or for all starts of this benchmark in one build."""
    timeout: Duration = default(Duration(30))
    """Time limit until it is ready."""
    grace: Duration = default(Duration(5))
    """Time from SIGTERM to SIGKILL."""
    cpus: Cpus | None = None
    """Processors it may use: "0", "2-3", "0,2"."""


class Load(Table, frozen=True, kw_only=True):
    """A background program that runs exactly as long as the execution."""

    command: Annotated[Command, Meta(examples=["./build/load --port {port}"])]
    """A list is executed, a string goes to sh -c. {seed} and {port} are replaced."""
    cpus: Cpus | None = None
    """Processors it may use: "0", "2-3", "0,2"."""
