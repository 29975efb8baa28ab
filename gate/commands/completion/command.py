"""The options of perfgate completion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TextIO

from gate.cli.command import Command
from gate.cli.listing import declaring
from gate.cli.options import argument

_SHELLS = declaring("gate/commands/completion", "SCRIPT")


@dataclass(frozen=True, eq=False, repr=False)
class Options:
    """For which shell."""

    shell: str = argument("shell that reads the script", metavar="SHELL", choices=_SHELLS)
    line: tuple[str, ...] = argument("a line to complete, which the script asks", metavar="WORD", nargs="...")


def run(options: Options, out: TextIO, _: TextIO) -> int:
    """Print the script; or what completes a line: first, behind a tab, what the shell does besides."""
    if not options.line:
        from importlib import import_module

        out.write(import_module(f"gate.commands.completion.{options.shell}").SCRIPT)
        return 0
    from gate.commands.completion.candidates import candidates

    also, found = candidates(options.line)
    out.writelines([f"\t{also}\n", *(f"{word}\t{about}\n" for word, about in found.items())])
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
