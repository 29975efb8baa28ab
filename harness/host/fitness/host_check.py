"""A check: one fact about the machine, under a name, with a sentence that says why it matters to a measurement."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from harness.host.fitness.counters import Window, watch
from harness.host.fitness.kernel_files import Tree

State = Literal["ok", "warn", "bad", "unknown"]
"""bad: values measured now would mislead; warn: they are noisier than they need be; unknown: it cannot be read."""


@dataclass(frozen=True, slots=True)
class Check:
    """What a check found."""

    name: str
    state: State
    value: str
    """What was found."""
    why: str
    """One sentence, why it matters to a measurement."""
    command: str | None = None
    """What changes it, for a shell; None where no command does, or nothing needs changing."""


def ok(value: str) -> Check:
    """Find nothing to be changed; as `warn`, without the name and the reason that every check of its kind has."""
    return Check("", "ok", value, "")


def warn(value: str, command: str | None = None) -> Check:
    """Find what makes values noisier than they need be."""
    return Check("", "warn", value, "", command)


def bad(value: str, command: str | None = None, why: str = "") -> Check:
    """Find what makes values mislead; why: another reason than that of its kind."""
    return Check("", "bad", value, why, command)


def unknown(value: str = "this system does not show it") -> Check:
    """Find that something cannot be known here, which is never ok."""
    return Check("", "unknown", value, "")


@dataclass(frozen=True)
class Here:
    """What checks look at: a machine's files, and what happens while it is watched."""

    files: Tree
    seconds: float

    @cached_property
    def window(self) -> Window:
        """Watch the machine for so many seconds, once for all checks that ask."""
        return watch(self.files, self.seconds)


class Checks(dict[str, Callable[[Here], Check]]):
    """The checks of a module, by name."""

    def __call__(self, name: str, why: str) -> Callable[[Callable[[Here], Check | None]], None]:
        """Add one: what it looks for, and why that matters; it finds None where the system does not show it."""

        def add(look: Callable[[Here], Check | None]) -> None:
            def looked(here: Here) -> Check:
                try:
                    found = look(here) or unknown()
                except Exception as error:  # noqa: BLE001  # files that nobody foresaw are unknown, never ok, never the end
                    failed = "This check failed; please report it."
                    return Check(name, "unknown", f"{type(error).__name__}: {error}", failed)
                return replace(found, name=name, why=found.why or why)

            self[name] = looked

        return add
