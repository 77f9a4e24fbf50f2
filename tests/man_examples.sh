#!/bin/sh
# Prints simulator/cli/man_examples.def with the outputs the program has today.
# usage: tests/man_examples.sh BUILD > new
PATH=$(cd "$1" && pwd):$PATH
table=simulator/cli/man_examples.def
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT INT TERM
command='' said=no
while IFS= read -r line; do
    case $line in
    '    "$ '*)
        command=${line#'    "$ '}
        command=$(printf '%s' "${command%'\n"'}" | sed 's/\\"/"/g')
        printf '%s\n' "$line"
        (cd "$folder" && sh -c "$command") >"$folder/.out"
        said=no
        ;;
    '    "'*)
        [ $said = no ] && sed 's/["\\]/\\&/g; s/.*/    "&\\n"/' "$folder/.out"
        said=yes
        ;;
    *) printf '%s\n' "$line" ;;
    esac
done <$table
