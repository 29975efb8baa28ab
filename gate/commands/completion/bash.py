"""For bash 3.2 and later."""

SCRIPT = r"""# perfgate completion for bash; written by `perfgate completion bash`

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
