"""The options of perfgate completion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TextIO

from gate.cli.command import Command
from gate.cli.listing import declaring
from gate.cli.options import argument

_SHELLS = declaring("gate/commands/completion", "BEGIN")


@dataclass(frozen=True, eq=False, repr=False)
class Options:
    """For which shell."""

    shell: str = argument("shell that reads the script", metavar="SHELL", choices=_SHELLS)


def run(options: Options, out: TextIO, _: TextIO) -> int:
    """Print the script."""
    from importlib import import_module

    out.write(import_module(f"gate.commands.completion.{options.shell}").script())
    return 0


COMMAND = Command(
    help="print a script of completions for bash, zsh or fish",
    example='eval "$(perfgate completion bash)"\n'
    "perfgate completion bash > ~/.local/share/bash-completion/completions/perfgate\n"
    'perfgate completion zsh > "${fpath[1]}/_perfgate"\n'
    "perfgate completion fish > ~/.config/fish/completions/perfgate.fish",
    options=Options,
    run=run,
)
