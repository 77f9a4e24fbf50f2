#!/bin/sh
# The labs: every answer and every right solution passes, every stub compiles and fails, every
# dishonest and every wrong submission fails with the sentence it carries.  TAP on the output.
# usage: tests/check_labs.sh     FLASHULP_BUILD: build; FLASHULP_TESTS=full: all of them
. "$(dirname "$0")/tap.sh"
build=$(cd "${FLASHULP_BUILD:-build}" && pwd)
program=$build/flashulp tests=$(cd "$(dirname "$0")" && pwd) full=${FLASHULP_TESTS:-quick}
lessons=$tests/../lessons
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT INT TERM
case $build in *asan*)
    skipped labs 'the address sanitizer reserves more than a lab may; the plain build grades them'
    plan_end
    exit
    ;;
esac

# graded LAB FILE [OPTIONS]: sets got, status and flat (its words on one line)
graded() {
    got=$("$program" lab "$@" 2>&1)
    status=$?
    flat=$(printf '%s' "$got" | tr '\n' ' ' | tr -s ' ')
}
# fails NAME LAB FILE PATTERN [OPTIONS]: exit 1, and the sentence is there
fails() {
    name=$1 lab=$2 file=$3 pattern=$(printf '%s' "$4" | tr -s ' ') ok=no
    shift 4
    graded "$lab" "$file" "$@"
    [ $status -eq 1 ] && printf '%s' "$flat" | grep -q -e "$pattern" && ok=yes
    verdict "lab $lab: $name: $pattern" $ok "exit $status
$got"
}
passes() { # NAME LAB FILE [OPTIONS]
    name=$1
    shift
    graded "$@"
    ok=no
    [ $status -eq 0 ] && ok=yes
    verdict "lab $1: $name passes" $ok "exit $status
$got"
}
# Quick: one of five.
chosen() { turn=$((turn + 1)) && { [ "$full" = full ] || [ $((turn % 5)) -eq 1 ]; }; }

cuda=yes && [ -f "$build/libemulator.a" ] || cuda=no
for answer in "$lessons"/*/answer.c*; do
    number=$(basename "$(dirname "$answer")" | cut -c1-2)
    if [ $cuda = no ] && [ "${answer##*.}" = cu ]; then
        skipped "lab $number" 'the emulator is not built here'
        continue
    fi
    passes answer "$number" "$answer"
    fails 'stub' "$number" "${answer%answer.c*}lab${answer##*answer}" ' 0 / '
    same "lab $number: the stub earns nothing but what it gets for nothing" \
        "$(printf '%s\n' "$got" | grep -c 'was not built')" 0
done

turn=0
for file in "$tests"/labs/dishonest/*.c; do
    lab=$(sed -n '1s,^/\* lab \([0-9]*\): .*,\1,p' "$file")
    want=$(sed -n '1s,^/\* lab [0-9]*: \(.*\) \*/$,\1,p' "$file")
    chosen && fails "$(basename "$file" .c)" "$lab" "$file" "$want"
done
same 'nothing that was left running is still there' "$(ps -ef | grep -c '[ /]lab$')" 0

turn=0
for file in "$tests"/labs/right/*.c; do
    lab=$(sed -n '1s,^/\* lab \([0-9]*\): .*,\1,p' "$file")
    passes "$(basename "$file" .c)" "$lab" "$file"
done

# LAB ~ sed command on the answer ~ the sentence
turn=0
while IFS='~' read -r lab edit want; do
    case $lab in '#'* | '') continue ;; 20*) [ $cuda = yes ] || continue ;; esac
    lab=${lab% } edit=${edit# } edit=${edit% } want=${want# }
    answer=$(ls "$lessons/$lab"-*/answer.c*)
    sed "$edit" "$answer" >"$folder/wrong.c"
    if cmp -s "$answer" "$folder/wrong.c"; then
        wrong "lab $lab: $edit changes nothing" ''
    elif chosen; then
        fails "$edit" "$lab" "$folder/wrong.c" "$want"
    fi
done <"$tests/labs/wrong.txt"

# --- forms of the result
graded 07 "$lessons/07-fa2/answer.c" --junit "$folder/j.xml" --gradescope "$folder/g.json" -o "$folder/r.json"
same 'JUnit XML has a case for each property' "$(grep -c '<testcase' "$folder/j.xml")" 10
same 'results.json has a score for each' "$(grep -c '"score":' "$folder/g.json")" 10
matches 'the JSON has the points' '"points":.*14' "$(grep '"points"' "$folder/r.json")"
if command -v xmllint >/dev/null; then
    xmllint --noout "$folder/j.xml" && ok=yes || ok=no
    verdict 'the XML is well formed' $ok ''
fi

# --- "see it": the command shows the number that was due
seen() { # NAME LAB SED-COMMAND PATTERN: the command's words, in text
    sed "$3" "$(ls "$lessons/$2"-*/answer.c)" >"$folder/see.c"
    graded "$2" "$folder/see.c"
    command=$(printf '%s\n' "$got" | sed -n 's/^ see it  *flashulp //p')
    case $command in view*) command="$command --describe" ;; esac
    matches "see it: $1" "$4" "$( (eval "'$program' $command" 2>&1 && echo "$got") | tr '\n' ' ')"
}
seen 'the example, tile 2' 07 's/^        s->l\[r\] \*= decay;//' \
    'tile 2 of 2: PV.*B fa2: m = 3, l = 1[.]5530018 .*first difference  *tile .0,1.: l.0. = [0-9.]*, want 1[.]553 '
seen 'FA1, finished after the tile' 05 's/s->O\[r\]\[d\] \*= old/s->O[r][d] *= expf(s->m[r] - m)/' \
    'tile 2 of 2: NORMALIZE.*A fa1: m = 3, l = 1[.]55.*, O = 24[.]926527 .*O.0..0. = [0-9.]*, want 24[.]926'
seen 'L at the end' 07 's/s->m\[r\] + logf/logf/' 'LSE .*B fa2: .*L = 3[.]4401.*L.0. = [-0-9.]*, want 3[.]44019'
seen 'a case of the battery' 07 's/c < s->keys/c < s->keys - 1/' 'first difference  *tile .0,0.: '
sed 's/s->row0 + r + s->Nk - s->Nq/s->row0 + r/' "$lessons/10-causal/answer.c" >"$folder/see.c"
graded 10 "$folder/see.c"
matches 'see it: a row of the battery' \
    'case causal-wide: O.0,0,0,0. = 1, want 2.5 see it flashulp walk --scores "0 0 0 0" --values "1 2 3 4"' "$flat"
sed 's/^            s->O\[r\]\[d\] \*= decay;/            (void)d;/' "$lessons/07-fa2/answer.c" >"$folder/see.c"
"$program" lab 07 "$folder/see.c" --json | sed -n 's/^.*"see":[[:space:]]*"flashulp \(.*\)",*$/\1/p' |
    sed 's/\\\(.\)/\1/g' >"$folder/commands"
while read -r command; do
    case $command in view*) command="$command --describe" ;; esac
    eval "'$program' $command" >/dev/null 2>"$folder/said" || wrong "see it: $command" "$(cat "$folder/said")"
done <"$folder/commands"
verdict 'every other command is taken, too' "$([ "$(wc -l <"$folder/commands")" -ge 2 ] && echo yes)" "$(cat "$folder/commands")"

# --- one student's copy
printf 'secret = a secret of sixteen\nhidden = later\nfeedback = property\npoints.12 = 1,2,3,4,6,5\n' >"$folder/course.ini"
echo 'secret = a secret of sixteen' >"$folder/own.ini"
graded 12 "$lessons/12-gqa/answer.c" --conf "$folder/course.ini" --student s1
matches 'hidden properties wait' 'shown after the due date' "$got"
matches "the course's points count" ' 16 / 21' "$flat"

# own STUDENT LAB: the lab's answer as that student's copy asks for it; asked: by how many edits
own() {
    "$program" lab "$2" --stub --conf "$folder/course.ini" --student "$1" |
        sed -n '/This copy is/,/\*\//p' | tr '\n' ' ' | tr -s ' ' >"$folder/wishes"
    asked=0
    cp "$(ls "$lessons/$2"-*/answer.c*)" "$folder/own.c"
    while IFS='~' read -r of words edit; do
        words=${words# } words=${words% }
        [ "$of" = "$2 " ] && grep -q "$(echo "$words" | sed 's/@/[0-9]*/')" "$folder/wishes" || continue
        number=$(sed "s/.*$(echo "$words" | sed 's/@/\\([0-9]*\\)/').*/\\1/" "$folder/wishes" 2>/dev/null)
        sed "$(echo "${edit# }" | sed "s/@/$number/")" "$folder/own.c" >"$folder/own.next"
        mv "$folder/own.next" "$folder/own.c" && asked=$((asked + 1))
    done <"$tests/labs/own.txt"
}
[ "$full" = full ] && ids='s1 s2 s3 s4 s5 s6' || ids='s1 s2'
for lab in $(sed -n 's/^\([0-9][0-9]\) .*/\1/p' "$tests/labs/own.txt" | sort -u); do
    [ "$lab" != 20 ] || [ $cuda = yes ] || continue
    for student in $ids; do
        own $student "$lab"
        passes "what $student's copy asks for" "$lab" "$folder/own.c" --hidden --conf "$folder/own.ini" --student $student
        [ $asked -eq 0 ] || fails "the public answer, for $student" "$lab" "$(ls "$lessons/$lab"-*/answer.c*)" \
            "this copy\|threads a block" --hidden --conf "$folder/own.ini" --student $student
    done
done
students=0 refused=0
for student in s1 s2 s3 s4 s5 s6 s7 s8; do
    students=$((students + 1))
    graded 07 "$lessons/07-fa2/answer.c" --conf "$folder/course.ini" --student $student
    [ $status -eq 1 ] && refused=$((refused + 1))
done
verdict "the public answer fails for $refused of $students students" \
    "$([ $refused -ge 3 ] && echo yes)" "$got"
fails 'feedback = property says no cause' 07 "$lessons/07-fa2/lab.c" ' wrong ' --conf "$folder/course.ini"

# --- a course, as students and graders get it
if command -v zip >/dev/null && command -v unzip >/dev/null && [ "$full" = full ]; then
    (cd "$lessons/.." && {
        echo 'secret = a secret of sixteen' && echo 'labs = 07 12'
        echo "roster = $folder/roster"
    } >"$folder/whole.ini" && printf 'ada\nben\n' >"$folder/roster" &&
        lessons/course.sh "$build" "$folder/course" "$folder/whole.ini" >/dev/null)
    same 'the course has two autograders and two copies of each lab' \
        "$(cd "$folder/course" && echo gradescope/* copies/*/*)" \
        'gradescope/lab-07.zip gradescope/lab-12.zip copies/ada/lab-07.c copies/ada/lab-12.c copies/ben/lab-07.c copies/ben/lab-12.c'
    same "the students' tree has no answer, no hidden property, no secret and no history" \
        "$(cd "$folder/course/student" && find . -name 'answer*' -o -name .git -o -name course.ini &&
            grep -rlE 'a secret of|static void hidden\(|fold_case_hidden' lessons tests)" ''
    got=$(cd "$lessons/.." && lessons/gradescope_test.sh "$build" 12 lessons/12-gqa/answer.c)
    same 'the autograder passes the answer' "$(printf '%s\n' "$got" | grep -c '"status":.*"passed"')" 6
    got=$(cd "$lessons/.." && lessons/gradescope_test.sh "$build" 12 "$tests/labs/dishonest/constructor.c")
    matches 'and gives a file of another lab no points, with the reason' 'defined nowhere' "$got"
else
    skipped 'make course' 'zip and unzip are needed, and the full tests'
fi

# --- what the instructor's page shows is taken
sed -n '/^    name = ML/,/^$/s/^    //p' "$lessons/INSTRUCTOR.md" >"$folder/shown.ini"
"$program" lab 07 --stub --conf "$folder/shown.ini" --student ada >/dev/null 2>"$folder/said"
same 'the settings in INSTRUCTOR.md' "$? $(cat "$folder/said")$(grep -c = "$folder/shown.ini")" '0 11'

# --- worksheets
matches 'a worksheet has blanks' '^ 13  L  ' "$("$program" worksheet 07 --student ada)"
"$program" worksheet 07 --student ada --answers '1.5 0.607 1 1.61 74.3 3 0.223 1 0.0821 1.44 61.5 42.7 3.36' \
    >"$folder/sheet"
same 'and marks what was typed' "$? $(tail -n 1 "$folder/sheet" | tr -s ' ')" '0  13 of 13'
"$program" worksheet 07 --student ada --answers '1.5 0.61' >"$folder/sheet"
same 'wrong where it is wrong' "$? $(tail -n 1 "$folder/sheet" | tr -s ' ')" '1  1 of 13'

# --- a folder of submissions
mkdir "$folder/all"
cp "$lessons/12-gqa/answer.c" "$folder/all/ada.c"
cp "$lessons/12-gqa/lab.c" "$folder/all/ben.c"
graded 12 "$folder/all" --csv
same 'a folder, one line a student' "$(printf '%s\n' "$got" | cut -d, -f1-3 | tr '\n' ' ')" \
    'student,points,max_points ada,9,9 ben,0,9 '
cp "$lessons/12-gqa/lab.c" "$folder/all/cid.c"
echo 'int' >"$folder/all/dan.c"
cp "$lessons/12-gqa/lab.c" "$folder/all/eve, \"x\".c"
same 'a name that CSV must quote' "$("$program" lab 12 "$folder/all" --csv | grep -c '^"eve, ""x""",0,9,"')" 1
for jobs in 1 2 5; do
    "$program" lab 12 "$folder/all" --csv --conf "$folder/course.ini" --jobs $jobs >"$folder/jobs.$jobs"
done
same 'one grader and several write the same bytes' "$(cat "$folder/jobs.1")" "$(cat "$folder/jobs.2")"
same 'more than there are files, too' "$(cat "$folder/jobs.1")" "$(cat "$folder/jobs.5")"
printf 'seconds = 0.3\noutput.07 = 7\n' >"$folder/limits.ini"
fails 'a course that gives 0.3 s' 07 "$tests/labs/dishonest/sleeps.c" 'begin was still running after 0.3 s' \
    --conf "$folder/limits.ini"
fails 'and 7 kB' 07 "$tests/labs/dishonest/gigabyte.c" 'begin printed more than 7 kB' --conf "$folder/limits.ini"

# --- bad input
printf '#include "lab.h"\nvoid begin(struct state *s)\n{\n    s->m[0] = 1\n}\n' >"$folder/bad.c"
fails 'the first error, at its line' 07 "$folder/bad.c" "line 4: expected .;. before"
for words in '07|lab 07 of which file?' 'xy /dev/null|no lab is called "xy"' \
    '07 /nowhere.c|/nowhere.c: no such file' \
    "07 $folder/all --jobs 0|--jobs 0: " "07 $folder/bad.c --jobs 2|--jobs is about a folder of files" \
    '07 /nowhere.c --student x|--student goes with --conf'; do
    # shellcheck disable=SC2086
    graded ${words%%|*}
    same "refused: lab ${words%%|*}" "$status" 2
    matches "and says so" "$(printf '%s' "${words#*|}" | sed 's/[?.]/./g')" "$got"
done
same 'nothing is left behind' "$(ls -d /tmp/flashulp-lab-* 2>/dev/null)" ''
plan_end
