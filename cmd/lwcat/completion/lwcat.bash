# Completion of lwcat for bash: source <(lwcat completion bash)

_lwcat() {
    local line=${COMP_LINE:0:COMP_POINT} word=${COMP_WORDS[COMP_CWORD]} current= head candidate
    local -a words
    # bash parts words at = and : too; a word here is what stands between blanks.
    read -ra words <<<"$line"
    if [[ $line != *[[:blank:]] ]]; then
        current=${words[${#words[@]}-1]}
        unset "words[${#words[@]}-1]"
    fi
    case $word in
    '' | = | :) word= ;;
    *) word=${word:0:${#current}} ;;
    esac
    head=${current%"$word"} # what bash keeps
    COMPREPLY=()
    while IFS=$'\t' read -r candidate _; do
        if [[ $candidate == :files ]]; then
            compopt -o filenames 2>/dev/null
            while IFS= read -r candidate; do COMPREPLY+=("$candidate"); done < <(compgen -f -- "$word")
            return
        fi
        [[ $candidate == *= ]] && compopt -o nospace 2>/dev/null
        COMPREPLY+=("${candidate#"$head"}")
    done < <("${COMP_WORDS[0]}" __complete "${words[@]:1}" "$current" 2>/dev/null)
}

complete -F _lwcat lwcat
