# Fills cur, prev, words and cword from the line up to the cursor. Bash splits words at = and :, which are parts of flags,
# types and URNs; here they are joined again.
__NAME_init_completion()
{
    local line=${COMP_LINE:0:$COMP_POINT} rest word i
    COMPREPLY=()
    words=()
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        rest=${line#"${line%%[![:space:]]*}"}
        if ((i == COMP_CWORD)); then
            word=$rest
        fi
        if [[ $i -gt 0 && $rest == "$line" && -n $line &&
            ($word == [=:]* || ${COMP_WORDS[i-1]} == *[=:]) ]]; then
            words[${#words[@]}-1]+=$word
        else
            words[${#words[@]}]=$word
        fi
        line=${rest#"$word"}
    done
    cword=$((${#words[@]} - 1))
    cur=${words[cword]}
    prev=${words[cword > 0 ? cword - 1 : 0]}
}

# Completes names of files, or with -d of folders.
__NAME_filedir()
{
    local kind=-f
    if [[ ${1-} == -d ]]; then
        kind=-d
    fi
    if [[ $(type -t compopt) == builtin ]]; then
        compopt -o filenames
    fi
    IFS=$'\n' read -ra COMPREPLY -d '' < <(compgen $kind -- "$cur")
}
