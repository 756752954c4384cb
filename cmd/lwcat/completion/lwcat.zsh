#compdef lwcat
# Completion of lwcat for zsh: source <(lwcat completion zsh), or a file _lwcat in a folder of $fpath.

_lwcat() {
    local line
    local -a candidates
    for line in "${(@f)$("${words[1]}" __complete "${(@)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)}"; do
        [[ -n $line ]] || continue
        if [[ ${line%%$'\t'*} == :files ]]; then
            [[ $PREFIX == --*=* ]] && compset -P '*='
            _files
            return
        fi
        candidates+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
    done
    (( $#candidates )) || return 1
    _describe -t lwcat lwcat candidates -U
}

if [[ ${funcstack[1]} == _lwcat ]]; then
    _lwcat "$@"
else
    compdef _lwcat lwcat
fi
