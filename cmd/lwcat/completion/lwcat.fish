# Completion of lwcat for fish: lwcat completion fish | source

function __lwcat_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l found ($words[1] __complete $words[2..-1] "$current" 2>/dev/null)
    if string match -q ':files*' -- "$found[1]"
        set -l flag (string match -r '^--[^=]*=' -- "$current") # which stays in front of the name
        __fish_complete_path (string replace -r '^--[^=]*=' '' -- "$current") | string replace -r '^' -- "$flag"
        return
    end
    printf '%s\n' $found
end

complete -c lwcat -f -a '(__lwcat_complete)'
