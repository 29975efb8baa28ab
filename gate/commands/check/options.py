"""The options of a check that needs no file."""

from __future__ import annotations

from dataclasses import dataclass

from gate.cli.options import argument, option, switch


@dataclass(frozen=True, eq=False, repr=False)
class GivenOptions:
    """What is measured without a file."""

    command: tuple[str, ...] = argument(
        "measure this command at base and head, without a file", metavar="-- COMMAND", nargs="*"
    )
    build: str | None = option("build each side with it (default: as `perfgate init` would)", metavar="COMMAND")
    base_command: str | None = option("compare this program with --head-command, as both are", metavar="COMMAND")
    head_command: str | None = option("the other program", metavar="COMMAND")
    save: bool = switch("also write the perfgate.toml that does the same")
