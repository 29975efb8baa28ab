"""The script for bash 3.2 and later."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from gate.cli.catalogue import entries, kind, setting_keys
from gate.commands.completion import dynamic

BEGIN = f"""\
# perfgate completion for bash; written by `perfgate completion bash`

_perfgate_refs() {{
    {dynamic.REFS}
}}

_perfgate_benchmarks() {{
    local folder=$PWD file
    while :; do
        for file in {" ".join(dynamic.FILES)}; do
            if [[ -f $folder/$file ]]; then
                awk {dynamic.NAMES} "$folder/$file"
            fi
        done
        [[ -n $folder && ! -f $folder/perfgate.toml && ! -e $folder/.git ]] || return 0
        folder=${{folder%/*}}
    done
}}

_perfgate_runs() {{
    local each
    for each in {dynamic.RUNS}; do
        [[ ! -d $each ]] || printf '%s\\n' "${{each%/}}"
    done
}}
"""
_END = """
# $1: a kind of value. Names with blanks come one a line.
_perfgate_value() {
    local IFS=$'\\n'
    case $1 in
        ref) COMPREPLY=($(compgen -W "$(_perfgate_refs)" -- "$cur")) ;;
        benchmark) _perfgate_quoted "$(_perfgate_benchmarks)" ;;
        setting) COMPREPLY=($(compgen -S = -W "$(_perfgate_settings)" -- "$cur")); _perfgate_no_space ;;
        folder) COMPREPLY=($(compgen -d -- "$cur")); _perfgate_files ;;
        file) COMPREPLY=($(compgen -f -- "$cur")); _perfgate_files ;;
        rules) _perfgate_or_file $'base\\nhead' ;;
        run) _perfgate_or_file "$(_perfgate_runs)" ;;
        words*) COMPREPLY=($(compgen -W "$(printf '%s' "${1#words }" | tr ' ' '\\n')" -- "$cur")) ;;
    esac
}

_perfgate_or_file() {
    local IFS=$'\\n'
    COMPREPLY=($({ compgen -W "$1" -- "$cur"; compgen -f -- "$cur"; } | sort -u))
    _perfgate_files
}

_perfgate_quoted() {
    local each
    COMPREPLY=()
    while read -r each; do
        [[ $each != "$cur"* ]] || COMPREPLY+=("$(printf '%q' "$each")")
    done <<<"$1"
}

# outside of a completion, as in a test, there is no compopt to ask
_perfgate_no_space() { compopt -o nospace 2>/dev/null || true; }
_perfgate_files() { compopt -o filenames 2>/dev/null || true; }

_perfgate() {
    local cur=${COMP_WORDS[COMP_CWORD]} at="" word index option="" parts
    COMPREPLY=()
    for ((index = 1; index < COMP_CWORD; index++)); do
        word=${COMP_WORDS[index]}
        if [[ -z $at ]]; then
            [[ $word == -* ]] || at=$word
        elif ((index == 2)) && [[ " $(_perfgate_parts "$at") " == *" $word "* ]]; then
            at="$at $word"
        fi
    done
    # bash makes words of their own of "=" and ":"
    if [[ $cur == "=" ]]; then
        cur="" option=${COMP_WORDS[COMP_CWORD - 1]}
    elif ((COMP_CWORD > 1)) && [[ ${COMP_WORDS[COMP_CWORD - 1]} == "=" ]]; then
        option=${COMP_WORDS[COMP_CWORD - 2]}
    elif ((COMP_CWORD > 1)); then
        option=${COMP_WORDS[COMP_CWORD - 1]}
    fi
    if [[ -z $at ]]; then
        COMPREPLY=($(compgen -W "$_perfgate_commands --help --version" -- "$cur"))
        return
    fi
    local kind=none
    [[ $option != --* ]] || kind=$(_perfgate_kind "$at" "$option")
    if [[ $kind != none ]]; then
        _perfgate_value "$kind"
    elif [[ $cur == -* ]]; then
        COMPREPLY=($(compgen -W "$(_perfgate_options "$at") --help" -- "$cur"))
    else
        _perfgate_value "$(_perfgate_kind "$at" "")"
        ((COMP_CWORD != 2)) || COMPREPLY+=($(compgen -W "$(_perfgate_parts "$at")" -- "$cur"))
    fi
}

complete -F _perfgate perfgate
"""


def script() -> str:
    """Return the script."""
    found = entries()
    parts = {each.name: " ".join(each.command.parts) for each in found if each.command.parts}
    flags = {each.name: " ".join(one.flag for one in each.parameters if one.flag) for each in found}
    # patterns of a command with an option, by what its value is
    kinds: dict[str, list[str]] = {}
    for name, each in ((entry.name, each) for entry in found for each in entry.parameters):
        if each.metavar is not None or not each.flag:
            said = kind(each)
            kinds.setdefault(f"words {' '.join(each.known)}" if said == "words" else said, []).append(
                f'"{name} {each.flag}"'
            )
    return "".join(
        (
            BEGIN,
            f"\n_perfgate_commands={shlex.quote(' '.join(each.name for each in found if ' ' not in each.name))}\n",
            f"\n_perfgate_settings() {{\n    printf '%s\\n' {' '.join(setting_keys())}\n}}\n",
            _choosing("_perfgate_parts", '"$1"', [(f'"{name}"', text) for name, text in parts.items()], ""),
            _choosing("_perfgate_options", '"$1"', [(f'"{name}"', text) for name, text in flags.items()], ""),
            "\n# of the value of an option ($2), or of an argument where it is empty; none: a switch\n",
            _choosing("_perfgate_kind", '"$1 $2"', [("|".join(at), text) for text, at in kinds.items()], "none"),
            _END,
        )
    )


def _choosing(name: str, what: str, choices: Sequence[tuple[str, str]], other: str) -> str:
    cases = "".join(f"        {pattern}) echo {shlex.quote(text)} ;;\n" for pattern, text in choices)
    return f"\n{name}() {{\n    case {what} in\n{cases}        *) echo {shlex.quote(other)} ;;\n    esac\n}}\n"
