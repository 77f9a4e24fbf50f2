#!/bin/sh
# Prints README.md, or a lesson, with the output of the commands named in its comments, "<!-- VERB ... -->"
# up to "<!-- end -->".  usage: tests/readme.sh BUILD [FILE] > new; tests/docs.sh compares.
flashulp="$1/flashulp"
copying=yes
while IFS= read -r line; do
    case $line in
    "<!-- end -->") copying=yes && printf '%s\n' "$line" ;;
    "<!-- picture: "*) printf '%s\n' "$line" ;;
    "<!-- "*)
        printf '%s\n' "$line"
        words=${line#"<!-- "}
        printf '```\n'
        eval "\"\$flashulp\" ${words% -->}"
        printf '```\n'
        copying=no
        ;;
    *) [ $copying = yes ] && printf '%s\n' "$line" ;;
    esac
done <"${2:-README.md}"
