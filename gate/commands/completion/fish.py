"""The script for fish 3 and later."""

from __future__ import annotations

from gate.cli.catalogue import Entry, Parameter, entries, kind, setting_keys
from gate.commands.completion import dynamic

# a quote within quotes is written otherwise than in sh
_NAMES = dynamic.NAMES.replace("'\\''", "\\'")
BEGIN = f"""\
# perfgate completion for fish; written by `perfgate completion fish`

function __perfgate_refs
    {dynamic.REFS} | string replace -r '$' '\\tgit ref'
end

function __perfgate_benchmarks
    set -l folder $PWD
    while true
        for file in {" ".join(dynamic.FILES)}
            if test -f $folder/$file
                awk {_NAMES} $folder/$file | string replace -r '$' '\\tbenchmark'
            end
        end
        if test -f $folder/perfgate.toml; or test -e $folder/.git; or test "$folder" = /
            return
        end
        set folder (path_of_folder $folder)
    end
end

function __perfgate_runs
    for each in {dynamic.RUNS}
        test -d $each; and printf '%s\\trun\\n' (string trim -r -c / $each)
    end
end

# The command and the part of it that the line names; $argv: is it this one?
function __perfgate_at
    set -l words (commandline -opc)
    set -l at
    for word in $words[2..-1]
        string match -q -- '-*' $word; and break
        set -a at $word
        contains -- "$at" $__perfgate_commands; or begin
            set -e at[-1]
            break
        end
    end
    test "$at" = "$argv"
end
"""
_VALUES = {
    "ref": "-x -a '(__perfgate_refs)'",
    "benchmark": "-x -a '(__perfgate_benchmarks)'",
    "setting": "-x -a '(__perfgate_settings)'",
    "folder": "-x -a '(__fish_complete_directories)'",
    "file": "-r -F",
    "rules": "-r -F -a 'base\\t head\\t'",
    "run": "-r -F -a '(__perfgate_runs)'",
    "": "-x",
}


def script() -> str:
    """Return the script."""
    found = entries()
    # `dirname` is a process; fish 3.5 has `path`, which older ones lack
    lines = [BEGIN.replace("path_of_folder $folder", "string replace -r '/[^/]*$' '' -- $folder; or echo /")]
    names = " ".join(f"'{each.name}'" for each in found)
    lines.append(f"set -g __perfgate_commands {names}\n")
    settings = "\n".join(f"        '{each}='\\tsetting" for each in setting_keys()).replace("\n", " \\\n")
    lines.append(f"function __perfgate_settings\n    printf '%s\\n' \\\n{settings}\nend\n")
    lines.append("complete -c perfgate -f\n")
    lines.append("complete -c perfgate -n '__perfgate_at' -l version -d 'Print the version'\n")
    lines.append(f"complete -c perfgate -s h -l help -d {_quoted('Show help')}\n")
    for entry in found:
        above, _, name = entry.name.rpartition(" ")
        at = _at(above)
        lines.append(f"complete -c perfgate -n {at} -a {name} -d {_quoted(entry.command.help)}\n")
    lines += [_parameter(entry, each) for entry in found for each in entry.parameters]
    return "\n".join(lines[:4]) + "".join(lines[4:])


def _at(name: str) -> str:
    return f"'{' '.join(['__perfgate_at', *name.split()])}'"


def _parameter(entry: Entry, each: Parameter) -> str:
    about = _quoted(each.help)
    flag = f" -l {each.flag.removeprefix('--')}" if each.flag else ""
    if each.metavar is None:
        return f"complete -c perfgate -n {_at(entry.name)}{flag} -d {about}\n"
    said = kind(each)
    # a tab ends the word, so that it does not get the description of the option
    words = " ".join(f"{word}\\t" for word in each.known)
    value = f"-x -a '{words}'" if said == "words" else _VALUES[said]
    if not each.flag:
        # of an argument, what is listed has no description of its own
        return (
            f"complete -c perfgate -n {_at(entry.name)} {value.replace('-r ', '').replace('-x ', '')}\n" if said else ""
        )
    return f"complete -c perfgate -n {_at(entry.name)}{flag} {value} -d {about}\n"


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
