"""The scripts of completion: of bash 3.2, fish 3 and zsh 5, and later ones."""

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

SCRIPTS = {"bash": _BASH, "fish": _FISH, "zsh": _ZSH}
