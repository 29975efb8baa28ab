"""For fish 3 and later."""

SCRIPT = r"""# perfgate completion for fish; written by `perfgate completion fish`

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
