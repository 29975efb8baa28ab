"""For fish 3 and later."""

SCRIPT = r"""# perfgate completion for fish; written by `perfgate completion fish`

function __perfgate
    set -l current (commandline -ct)
    set -l before (commandline -opc)
    set -l lines ($before[1] completion fish -- $before "$current" 2>/dev/null)
    # what stands behind an option and "=" is completed with it
    set -l begin (string match -r -- '^--[^=]*=' "$current")
    for each in $lines[2..-1]
        echo "$begin$each"
    end
    switch "$lines[1]"
        case '*file'
            __fish_complete_path (string replace -- "$begin" '' "$current")
        case '*folder'
            __fish_complete_directories (string replace -- "$begin" '' "$current")
    end
end

complete -c perfgate -f -a '(__perfgate)'
"""
