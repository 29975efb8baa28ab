"""perfgate completion: a script for a shell, and what completes a line that is being typed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TextIO

from gate.cli.catalogue import headings, kind, setting_keys
from gate.cli.command import Command, command_names, command_of
from gate.cli.options import argument

_BESIDE = {"file": "file", "rules": "file", "folder": "folder", "setting": "setting"}
"""What a shell does besides, by kinds of values: it lists files or folders, or puts no blank behind a word."""


@dataclass(frozen=True, eq=False, repr=False)
class Options:
    """For which shell."""

    shell: str = argument("shell that reads the script", metavar="SHELL", choices=("bash", "fish", "zsh"))
    line: tuple[str, ...] = argument("a line to complete, which the script asks", metavar="WORD", nargs="...")


def run(options: Options, out: TextIO, _: TextIO) -> int:
    """Print the script; or what completes a line: first, behind a tab, what the shell does besides."""
    if not options.line:
        out.write(_SCRIPTS[options.shell])
        return 0
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


def candidates(line: Sequence[str]) -> tuple[str, Mapping[str, str]]:
    """Return what a shell does besides (file, folder, setting or nothing), and each word with what it means.

    line: from the program's name to the word at the cursor, which may be empty. bash makes words of their own of "=".
    """
    *before, current = [word for word in [*line[1:], *([""] if line[-1] == "=" else [])] if word != "="]
    option, equals, value = current.partition("=")
    given = option.startswith("--") and bool(equals)
    option, current = (option, value) if given else (before[-1] if before else "", current)
    also, found = _all(before, option, current)
    return also, {word: about for word, about in found.items() if word.startswith(current)}


def _all(before: Sequence[str], option: str, current: str) -> tuple[str, Mapping[str, str]]:
    names = [word for word in before if not word.startswith("-")]
    if not names:
        commands = {name: command_of(name).help for name in command_names()}
        return "", {**commands, "--help": "show help", "--version": "show the version"}
    if names[0] not in command_names():
        return "", {}
    command = command_of(names[0])
    part = command.parts.get(before[1]) if len(before) > 1 else None
    parts = {name: own.help for name, own in command.parts.items()} if len(before) == 1 else {}
    parameters = [each for heading in headings(part or command) for each in heading.parameters]
    asked = next((each for each in parameters if each.flag and each.flag == option and each.metavar is not None), None)
    if asked is None and current.startswith("-"):
        return "", {**{each.flag: each.help for each in parameters if each.flag}, "--help": "show help"}
    asked = asked or next((each for each in parameters if not each.flag), None)
    said = "" if asked is None else kind(asked)
    kinds: Mapping[str, tuple[str, Iterable[str]]] = {
        "words": ("", asked.known if asked is not None else ()), "rules": ("", ("base", "head")),
        "ref": ("git ref", _refs()),
        "setting": ("setting", (f"{key}=" for key in setting_keys())),
    }  # fmt: skip
    about, words = kinds.get(said, ("", ()))
    return _BESIDE.get(said, ""), {**dict.fromkeys(words, about), **parts}


def _refs() -> Iterator[str]:
    import subprocess

    command = ["git", "for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/tags", "refs/remotes"]
    yield from subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()


# Scripts for bash 3.2, fish 3 and zsh 5, and later ones.

_BASH = r"""# perfgate completion for bash; written by `perfgate completion bash`

_perfgate() {
    local IFS=$'\n' cur=${COMP_WORDS[COMP_CWORD]} each also=""
    COMPREPLY=()
    while read -r each; do
        case $each in
            $'\t'*) also=${each#?} ;;
            *) COMPREPLY+=("$(printf '%q' "${each%%$'\t'*}")") ;;
        esac
    done < <(command perfgate completion bash -- "${COMP_WORDS[@]:0:COMP_CWORD+1}" 2>/dev/null)
    [[ $cur != "=" ]] || cur=""
    # outside of a completion, as in a test, there is no compopt to ask
    case $also in
        file) COMPREPLY=($({ printf '%s\n' "${COMPREPLY[@]}"; compgen -f -- "$cur"; } | sort -u)) ;;
        folder) COMPREPLY=($(compgen -d -- "$cur")) ;;
        setting) compopt -o nospace 2>/dev/null || true; return ;;
        *) return ;;
    esac
    compopt -o filenames 2>/dev/null || true
}

complete -F _perfgate perfgate
"""

_FISH = r"""# perfgate completion for fish; written by `perfgate completion fish`

function __perfgate
    set -l written (commandline -ct)
    # what stands behind an option and "=" is completed with it
    set -l begin (string match -r -- '^--[^=]*=' "$written")
    set -l value (string replace -- "$begin" '' "$written")
    # a quote may still be open
    set -l current "$begin"(string replace -r -- '^["\']' '' "$value" | string unescape)
    set -l before (commandline -opc)
    set -l found (command perfgate completion fish -- $before "$current" 2>/dev/null)
    set -l also $found[1]
    set -e found[1]
    switch "$also"
        case '*file'
            set -a found (complete -C "'' $value")
        case '*folder'
            set -a found (complete -C "'' $value" | string match -r '.*/(?=\t|$)')
    end
    set -q found[1]; and printf '%s\n' "$begin"$found
end

complete -c perfgate -f -a '(__perfgate)'
"""

_ZSH = r"""#compdef perfgate
# perfgate completion for zsh; written by `perfgate completion zsh`

_perfgate() {
    local -a line=("${(@Q)words[1,CURRENT-1]}" "${(Q)PREFIX}")
    local -a lines=("${(@f)$(command perfgate completion zsh -- "${(@)line}" 2>/dev/null)}")
    local also=${lines[1]#$'\t'} each
    local -a found=()
    for each in "${(@)lines[2,-1]}"; do
        found+=("${${each%%$'\t'*}//:/\\:}:${each#*$'\t'}")
    done
    [[ $words[CURRENT] != --*=* ]] || compset -P '*='
    case $also in
        file) _describe -t words perfgate found; _files ;;
        folder) _files -/ ;;
        setting) _describe -t words perfgate found -S '' ;;
        *) _describe -t words perfgate found ;;
    esac
}

if [[ $funcstack[1] == _perfgate ]]; then
    _perfgate "$@"
else
    # read by eval or source, not found in fpath
    (( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
    compdef _perfgate perfgate
fi
"""

_SCRIPTS = {"bash": _BASH, "fish": _FISH, "zsh": _ZSH}
