#!/bin/sh
# make gradescope-test LAB=07 [FILE=lab.c]: the autograder of that lab as Gradescope would lay it out, in
# a folder of this machine, with the programs that are built here; shows results.json.
# usage: lessons/gradescope_test.sh BUILD LAB [FILE]
set -e
build=$(cd "$1" && pwd) lab=$2
refuse() { echo "make gradescope-test: $1" >&2 && exit 2; }
[ -n "$lab" ] || refuse 'LAB=07 is missing'
folder=$(echo lessons/"$lab"-*)
[ -d "$folder" ] || refuse "LAB=$lab: no such lab; flashulp lab lists them"
file=${3:-$(ls "$folder"/lab.c*)}
[ -f "$file" ] || refuse "FILE=$file: no such file"
command -v unzip >/dev/null || refuse 'unzip is not found: apt-get install unzip'
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT INT TERM
printf 'secret = only for this test, and gone\nhidden = now\nlabs = %s\n' "$lab" >"$work/course.ini"
lessons/course.sh "$build" "$work/course" "$work/course.ini" >/dev/null
AUTOGRADER=$work/autograder AUTOGRADER_BUILT=$build
export AUTOGRADER AUTOGRADER_BUILT
mkdir -p "$AUTOGRADER/source" "$AUTOGRADER/submission" "$AUTOGRADER/results"
unzip -q "$work/course/gradescope/lab-$lab.zip" -d "$AUTOGRADER/source"
cp "$file" "$AUTOGRADER/submission/"
echo '{"users": [{"email": "test@example.org"}]}' >"$AUTOGRADER/submission_metadata.json"
"$AUTOGRADER/source/setup.sh"
"$AUTOGRADER/source/run_autograder"
cat "$AUTOGRADER/results/results.json"
