"""For zsh 5 and later."""

SCRIPT = r"""#compdef perfgate
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
