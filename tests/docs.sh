#!/bin/sh
# What the documentation shows is what the command does: every flashulp line of a README, of the
# front page and of the manual pages is run; output shown is compared whole, a line without output
# must succeed.  A command whose output ends with "exit N" must exit so, every other with 0.
# Prints what is wrong, a line or a difference each; false if anything is.
# usage: tests/docs.sh README FOLDER-OF-FLASHULP [CACHE]     outputs are kept in CACHE by command
# FLASHULP_DOCS names what is looked at: readme, or a verb's page; all by default.
readme=$1 programs=$(cd "$2" && pwd) source=$(pwd)
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT INT TERM
items=$folder/items sandbox=$folder/sandbox
cache=${3:-$folder/cache}
mkdir -p "$items" "$sandbox/tests" "$cache"
PATH=$programs:$PATH
export PATH

# Items: N.command, N.where and, of those with an output shown, N.want.
extract='
function item(command, where) {
    file = sprintf("%s/%s%04d", items, kind, ++count)
    print command >(file ".command"); close(file ".command")
    print where >(file ".where"); close(file ".where")
    return file
}
# A command inside a line of prose or output: up to two blanks, or a full stop at the end.
function mentioned(line, where) {
    while (match(line, /flashulp [a-z][a-z]*( |$)/)) {
        line = substr(line, RSTART)
        command = line
        sub(/   *.*/, "", command); sub(/[.),;]+$/, "", command)
        if (command !~ / --[a-z-]+$/) item(command, where) # else it goes on below
        line = substr(line, length(command) + 1)
    }
}'
of_readme=$extract'
function code_spans(text, where,   n, part, i) {
    n = split(text, part, "`")
    for (i = 2; i <= n; i += 2)
        if (part[i] ~ /^(build\/)?flashulp /) { sub(/^build\//, "", part[i]); item(part[i], where) }
}
{ where = FILENAME ":" FNR }
/^<!-- end -->/ { shown = ""; next }
/^<!-- picture: / { next }
/^<!-- / {
    words = $0; sub(/^<!-- /, "", words); sub(/ -->$/, "", words)
    shown = item("flashulp " words, where); printf "" >(shown ".want"); next
}
shown != "" && /^```/ { next }
shown != "" { print >(shown ".want"); mentioned($0, where); next }
/^```/ { fenced = !fenced; next }
/^    / || fenced {
    command = $0
    if (sub(/^ *(\$ )?(build\/)?flashulp /, "flashulp ", command)) item(command, where)
    next
}
/^$/ { code_spans(paragraph, where); paragraph = "" }
{ paragraph = paragraph " " $0 }
END { code_spans(paragraph, where) }'
# The transcripts of a page: the lines below a command are its output.
of_page=$extract'
{ where = page " line " FNR }
/^\.SH/ { examples = /EXAMPLES/; shown = ""; next }
!examples { next }
/^\./ { shown = ""; next }
{ line = $0; gsub(/\\-/, "-", line); sub(/^\\&/, "", line); gsub(/\\e/, "\\", line) }
line ~ /^\$ / { sub(/^\$ /, "", line); shown = item(line, where); alone = 1; next }
shown != "" { print line >(shown ".want") }'

wrong() { echo "$1" && touch "$folder/failed"; }

# The files the README speaks of.
make_sandbox() {
    ln -s "$source/tests/data" "$sandbox/tests/data"
    ln -s "$source/lessons" "$sandbox/lessons"
    (cd "$sandbox" && flashulp run --generate gaussian --shape 1,2,2,5,5,8 --out q.npy >/dev/null &&
        for name in k v got want; do cp q.npy $name.npy; done
        printf '%s\n' '#!/bin/sh' \
            'exec flashulp run --q "$1" --k "$2" --v "$3" --out "$4" --force' >yours
        chmod +x yours)
}

# run COMMAND: its output and "exit N" in $cache; a page's commands share a folder of their own.
run() {
    key=$cache/$(printf '%s' "$1" | cksum | tr ' ' -)
    if [ ! -f "$key.status" ]; then
        # an example shown twice may write its file twice
        (cd "$2" && rm -f report.html map.svg && sh -c "$1") >"$key.out" 2>"$key.err" </dev/null
        echo $? >"$key.status"
    fi
}

# A digest's line ends with the seconds it took.
timeless() { sed '/^digest /s/ [0-9.]* s$/ T s/' "$1"; }

check() { # ITEM FOLDER
    [ -f "$1.command" ] || return
    command=$(cat "$1.command") where=$(cat "$1.where")
    run "$command" "$2"
    status=$(cat "$key.status")
    said=$(tail -n 1 "$key.out" | sed -n 's/^exit \([01]\)$/\1/p')
    [ "$status" = "${said:-0}" ] || wrong "$where: $command: exit $status: $(head -n 1 "$key.err")"
    [ ! -s "$key.err" ] || [ "$status" != "${said:-0}" ] ||
        wrong "$where: $command: says on the error output: $(head -n 1 "$key.err")"
    [ -f "$1.want" ] || return
    timeless "$1.want" >"$folder/want" && timeless "$key.out" >"$folder/got"
    cmp -s "$folder/want" "$folder/got" ||
        wrong "$where: $command: prints something else (< shown, > printed):
$(diff "$folder/want" "$folder/got" | head -n 12)"
}

check_readme() {
    make_sandbox
    awk -v items="$items" -v kind=readme "$of_readme" "$readme"
    flashulp --help | awk -v items="$items" -v kind=front "$extract"'/^ / { mentioned($0, "flashulp --help") }'
    for item in "$items"/readme*.command "$items"/front*.command; do
        check "${item%.command}" "$sandbox"
    done
}

check_page() { # VERB or nothing
    page="flashulp${1:+-$1}(1)"
    mkdir -p "$folder/page$1"
    # shellcheck disable=SC2086
    flashulp --man $1 | awk -v items="$items" -v kind="page$1" -v page="$page" "$of_page"
    [ -f "$items/page${1}0001.command" ] || wrong "$page: no example"
    for item in "$items/page$1"[0-9]*.command; do
        check "${item%.command}" "$folder/page$1"
    done
}

case ${FLASHULP_DOCS:-all} in
all)
    check_readme
    check_page ''
    for verb in $(flashulp --man | sed -n 's/^\.BR flashulp\\-\([a-z]*\) (1)$/\1/p'); do
        check_page "$verb"
    done
    ;;
readme) check_readme ;;
*) check_page "$FLASHULP_DOCS" ;;
esac
count() { find "$items" -name "*.$1" | wc -l | tr -d ' '; }
echo "$(count command) lines, $(count want) with their output"
[ ! -f "$folder/failed" ]
