"""The script for zsh 5 and later."""

from __future__ import annotations

from gate.cli.catalogue import Entry, Parameter, entries, kind, setting_keys
from gate.commands.completion import dynamic

BEGIN = f"""\
#compdef perfgate
# perfgate completion for zsh; written by `perfgate completion zsh`

_perfgate_refs() {{
    local -a refs=(${{(f)"$({dynamic.REFS})"}})
    _describe -t refs 'git ref' refs
}}

_perfgate_benchmarks() {{
    local folder=$PWD file
    local -a names
    while true; do
        for file in {" ".join(dynamic.FILES)}; do
            if [[ -f $folder/$file ]]; then
                names+=(${{(f)"$(awk {dynamic.NAMES} "$folder/$file")"}})
            fi
        done
        [[ -n $folder && ! -f $folder/perfgate.toml && ! -e $folder/.git ]] || break
        folder=${{folder%/*}}
    done
    compadd -X benchmark -a names
}}

_perfgate_runs() {{
    local -a runs=({" ".join(f"{each.rstrip('/')}(N/)" for each in dynamic.RUNS.split())})
    compadd -X run -a runs
    _files
}}

_perfgate_rules() {{
    compadd base head
    _files
}}
"""
_VALUES = {
    "ref": "_perfgate_refs",
    "benchmark": "_perfgate_benchmarks",
    "setting": "_perfgate_settings",
    "folder": "_files -/",
    "file": "_files",
    "rules": "_perfgate_rules",
    "run": "_perfgate_runs",
    "": " ",
}
_END = """
if [[ $funcstack[1] == _perfgate ]]; then
    _perfgate "$@"
else
    # read by eval or source, not found in fpath
    (( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
    compdef _perfgate perfgate
fi
"""


def script() -> str:
    """Return the script."""
    found = entries()
    keys = "\n".join(f"        {each}" for each in setting_keys())
    top = [each for each in found if " " not in each.name]
    return "".join(
        (
            BEGIN,
            f"\n_perfgate_settings() {{\n    local -a keys=(\n{keys}\n    )\n",
            "    compadd -S = -X setting -a keys\n}\n",
            *(_function(each) for each in found),
            _commands(
                "_perfgate", "", top, ["'--version[print the version]'", "'(-h --help)'{-h,--help}'[show help]'"]
            ),
            _END,
        )
    )


def _function(entry: Entry) -> str:
    name = "_perfgate_of_" + entry.name.replace(" ", "_")
    if entry.command.parts:
        parts = [Entry(f"{entry.name} {part}", own, ()) for part, own in entry.command.parts.items()]
        return _commands(name, entry.name, parts, _specs(entry))
    return f"\n{name}() {{\n    _arguments -s \\\n{_listed(_specs(entry))}\n}}\n"


def _specs(entry: Entry) -> list[str]:
    specs = ["'(-h --help)'{-h,--help}'[show help]'"]
    for each in entry.parameters:
        if each.flag:
            repeated = "*" if each.repeatable else ""
            value = "" if each.metavar is None else f"{':' if each.value_optional else ''}:{_value(each)}"
            flag = f"{each.flag}=" if value else each.flag
            specs.append(_quoted(f"{repeated}{flag}[{_escaped(each.help)}]{value}"))
        else:
            specs.append(_quoted(f"*:{_value(each)}"))
    return specs


def _value(each: Parameter) -> str:
    said = kind(each)
    action = f"({' '.join(each.known)})" if said == "words" else _VALUES[said]
    return f"{_escaped(each.metavar or '')}:{action}"


def _commands(name: str, above: str, found: list[Entry], specs: list[str]) -> str:
    """Return a function that completes a command or one of its parts, and then what belongs to that."""
    described = "".join(
        f"        {_quoted(each.name.rpartition(' ')[2] + ':' + each.command.help.replace(':', chr(92) + ':'))}\n"
        for each in found
    )
    of = "_perfgate_of_" + (f"{above}_" if above else "")
    own = [each for each in specs if not each.startswith("'*:")]
    first = next((each[3:-1].partition(":")[2] for each in specs if each.startswith("'*:")), "")
    also = f"            {first}\n" if first and first.strip() else ""
    names = "|".join(each.name.rpartition(" ")[2] for each in found)
    return f"""
{name}() {{
    local context state line curcontext="$curcontext"
    local -a commands=(
{described}    )
    if (( CURRENT > 2 )) && [[ $words[2] == ({names}) ]]; then
        local chosen=$words[2]
        shift words
        (( CURRENT-- ))
        {of}$chosen
        return
    fi
    _arguments -s -C \\
{_listed([*own, "'*::command:->command'"])}
    case $state in
        command)
            (( CURRENT != 1 )) || _describe -t commands command commands
{also}            ;;
    esac
}}
"""


def _listed(specs: list[str]) -> str:
    return " \\\n".join(f"        {each}" for each in specs)


def _escaped(text: str) -> str:
    for special in ("\\", "[", "]", ":"):
        text = text.replace(special, f"\\{special}")
    return text


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
