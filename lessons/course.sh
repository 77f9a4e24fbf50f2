#!/bin/sh
# make course OUT=DIR CONF=course.ini: what students get, what graders get.
#   OUT/student       the source without answers, hidden properties, the answers' tests or history
#   OUT/copies/ID     each student's lab files, where CONF names a roster (one ID a line)
#   OUT/gradescope    lab-NN.zip for each lab: upload one as an assignment's autograder
# usage: lessons/course.sh BUILD OUT CONF
set -e
build=$(cd "$1" && pwd) out=$2 conf=$3
refuse() { echo "make course: $1" >&2 && exit 2; }
[ -n "$out" ] || refuse 'OUT=DIR is missing: make course OUT=DIR CONF=course.ini'
[ -f "$conf" ] || refuse "CONF=$conf: no such file; lessons/INSTRUCTOR.md shows one"
[ ! -e "$out" ] || refuse "OUT=$out exists; name a new folder"
command -v zip >/dev/null || refuse 'zip is not found: apt-get install zip'
setting() { sed -n "s/^ *$1 *= *//p" "$conf" | sed 's/ *#.*//; s/ *$//' | head -n 1; }
"$build/flashulp" lab 07 --stub --conf "$conf" >/dev/null || exit 2
[ -n "$(setting secret)" ] || refuse "CONF=$conf: secret = ... is missing"
labs=$(setting labs)
[ -n "$labs" ] || labs=$("$build/flashulp" lab | sed -n 's/^ \([0-9][0-9]\)  .*/\1/p')
mkdir -p "$out/student" "$out/gradescope"
out=$(cd "$out" && pwd)
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT INT TERM

# A tree without what would give the answers away; build folders and history are not of it.
(git ls-files 2>/dev/null || true) >"$work/list"
[ -s "$work/list" ] || find . -type f ! -path './build*' ! -path './.git/*' | sed 's,^\./,,' >"$work/list"
grep -v -e '/answer\.' -e '^tests/labs/' -e '^tests/check_labs' -e '^lessons/INSTRUCTOR' \
    -e '^lessons/course\.sh' -e '^lessons/gradescope' "$work/list" >"$work/shown"
while read -r file; do # what git knows and is there
    [ ! -f "$file" ] || echo "$file"
done <"$work/shown" >"$work/here"
tar -cf - -T "$work/here" | tar -xf - -C "$out/student"
mkdir "$work/full" && tar -cf - -T "$work/here" | tar -xf - -C "$work/full"

# Students' checks have no hidden properties.
for file in "$out"/student/lessons/*/check.c "$out/student/lessons/fold_cases.c"; do
    sed -e '/^static void hidden(/,/^}/d' -e '/^void fold_case_hidden(/,/^}/d' \
        -e 's/^ *{"hidden.*, true}}};$/                   }};/' "$file" >"$work/check.c"
    cat "$work/check.c" >"$file"
done
sed -i '/fold_case_hidden/d' "$out/student/lessons/fold.h"

roster=$(setting roster)
if [ -n "$roster" ]; then
    [ -f "$roster" ] || refuse "roster = $roster: no such file"
    while read -r id; do
        case $id in '') continue ;; *[!A-Za-z0-9._-]*) refuse "roster: '$id': letters, digits, . _ - are right" ;; esac
        mkdir -p "$out/copies/$id"
        for lab in $labs; do
            "$build/flashulp" lab "$lab" --stub --conf "$conf" --student "$id" >"$out/copies/$id/$(basename lessons/"$lab"-*/lab.c* | sed "s/lab/lab-$lab/")"
        done
    done <"$roster"
fi

tar -C "$work/full" -czf "$work/flashulp.tar.gz" .
for lab in $labs; do
    mkdir -p "$work/zip"
    cp lessons/gradescope/setup.sh lessons/gradescope/run_autograder "$work/flashulp.tar.gz" "$work/zip/"
    cp "$conf" "$work/zip/course.ini"
    echo "$lab" >"$work/zip/lab"
    chmod +x "$work/zip/setup.sh" "$work/zip/run_autograder"
    (cd "$work/zip" && zip -q -r "$out/gradescope/lab-$lab.zip" .)
    rm -rf "$work/zip"
done
echo "$out: student tree, $(find "$out/gradescope" -name '*.zip' | wc -l | tr -d ' ') autograders$(
    [ -z "$roster" ] || echo ", copies for $(ls "$out/copies" | wc -l | tr -d ' ') students")"
