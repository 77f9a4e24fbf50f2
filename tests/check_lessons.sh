#!/bin/sh
# The lessons show what the commands print, link to what exists, and have every part a lesson has; and
# the check would notice if not.  TAP on the output.
# usage: tests/check_lessons.sh   (FLASHULP_BUILD: build; LESSONS_ONLY=pattern)
. "$(dirname "$0")/tap.sh"
build=$(cd "${FLASHULP_BUILD:-build}" && pwd)
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT INT TERM

# What is wrong with the text of a lesson, a line each: its heading, its parts, its width, its links.
faults_of() { # FILE NUMBER TITLE MINUTES
    [ "$(head -n 1 "$1")" = "# $2 $3" ] || echo "its first line is not: # $2 $3"
    sed -n 3p "$1" | grep -q "^\*$4 minutes\. " || echo "its third line does not begin: *$4 minutes. "
    for part in '**You will be able to**' '**In one sentence**' '## 1 ' '<!-- picture: ' '## In the code' \
        '## Check yourself' '<summary>Answers</summary>' '## Known, and not known'; do
        grep -qF -e "$part" "$1" || echo "it has no: $part"
    done
    questions=$(sed -n '/^## Check yourself/,/^<details>/p' "$1" | grep -c '^[0-9]\. ')
    answers=$(sed -n '/^<details>/,/^<\/details>/p' "$1" | grep -c '^[0-9]\. ')
    [ "$questions" -ge 3 ] && [ "$questions" = "$answers" ] ||
        echo "it has $questions questions and $answers answers"
    grep -q '^<!-- end -->' "$1" || echo 'it runs no command'
    grep -v '^<!-- ' "$1" | LC_ALL=C grep -nE '^.{81}|[^ -~]' | sed 's/^/wider than 80, or not ASCII: /'
    # shellcheck disable=SC2016
    grep -oE '`[a-z]+/[A-Za-z0-9_./]+([:@][A-Za-z_0-9]+)?`' "$1" | tr -d '`' | sort -u |
        while read -r link; do
            file=${link%%[:@]*}
            [ -e "$file" ] || echo "$link: no such file"
            case $link in
            *:*) grep -qE "^[a-zA-Z].*\b${link#*:}\(" "$file" || echo "$link: no such function" ;;
            *@*) grep -qE "\bSTEP_${link#*@}\b" "$file" || echo "$link: no such step" ;;
            esac
        done
}

# Every picture is what its command draws: "<!-- picture: WORDS -->", and the picture on the next line.
# WORDS may be "gpu trace ... -o NAME.trace && view NAME.trace ...": one after the other, in a folder.
pictures_of() { # FILE
    sed -n '/^<!-- picture: /{s/^<!-- picture: //;s/ -->$//;N;s/\n.*(\(.*\))$/\n\1/p;}' "$1" |
        while read -r words && read -r picture; do
            case $words in view* | *'&& view'*) [ -x "$build/flashulp-view" ] || continue ;; esac
            drawn=$folder/drawn.${picture##*.}
            rm -rf "$drawn" "$folder/scratch" && mkdir "$folder/scratch"
            commands=$(printf '%s' "'$build/flashulp' $words" | sed "s|&& |\&\& '$build/flashulp' |g")
            (cd "$folder/scratch" && eval "$commands -o '$drawn'") >/dev/null 2>&1
            cmp -s "$drawn" "${1%/*}/$picture" || echo "$picture is not what flashulp $words -o draws"
        done
}

"$build/flashulp" lesson -o "$folder/lessons.csv" >/dev/null
export FLASHULP_DOCS=readme
tail -n +2 "$folder/lessons.csv" | tr -d '\r' >"$folder/rows"
missing=
while IFS=, read -r number name rest; do
    file=lessons/$number-$name/README.md
    case $file in *"${LESSONS_ONLY:-}"*) ;; *) continue ;; esac
    minutes=${rest##*,} title=$(printf '%s' "${rest%,*}" | sed 's/^"\(.*\)"$/\1/')
    [ -f "$file" ] || { missing="$missing $number" && continue; }
    if grep -q '^<!-- gpu ' "$file" && [ ! -x "$build/flashulp-gpu" ]; then
        skipped "lesson $number" 'the CUDA kernels are not built: no C++ compiler'
        continue
    fi
    # on two cores: what a lesson shows beside what it draws
    { faults_of "$file" "$number" "$title" "$minutes" && pictures_of "$file"; } >"$folder/found" &
    said=$(tests/docs.sh "$file" "$build" "$folder/cache" 2>&1) && ok=yes || ok=no
    wait && found=$(cat "$folder/found")
    [ -z "$found" ] || ok=no
    verdict "lesson $number: $(printf '%s\n' "$said" | tail -n 1)" $ok "$found
$said
tests/readme.sh build $file >new makes its outputs anew"
done <"$folder/rows"
[ -z "$missing" ] || skipped "lessons$missing" 'not written yet'

# The instructor's weeks and ways name every lesson in order, and their minutes are the sums.
# minutes_of "NN ...": of these lessons, or with the rows of the labs' table of these labs
minutes_of() { for n in $1; do grep "^$n," "$folder/rows" | sed 's/.*,//'; done | awk '{ n += $1 } END { print n + 0 }'; }
lab_minutes_of() {
    for n in $1; do sed -n "s/^| $n |.*| \([0-9]*\) | [0-9]* |$/\1/p" lessons/INSTRUCTOR.md; done |
        awk '{ n += $1 } END { print n + 0 }'
}
weeks=$(sed -n 's/^| [123]: [^|]* | \([0-9 ]*\) | \([0-9]*\) | \([0-9 ]*\) | \([0-9]*\) |$/\1|\2|\3|\4/p' lessons/INSTRUCTOR.md)
same 'three weeks: every lesson, in order' "$(printf '%s\n' "$weeks" | cut -d'|' -f1 | xargs)" \
    "$(cut -d, -f1 "$folder/rows" | xargs)"
same 'and every lab' "$(printf '%s\n' "$weeks" | cut -d'|' -f3 | xargs)" \
    "$("$build/flashulp" lab | awk '/^ [0-9][0-9] / { print $1 }' | xargs)"
for week in 1 2 3; do
    row=$(printf '%s\n' "$weeks" | sed -n ${week}p)
    same "week $week: the minutes are the sums" "$(printf '%s' "$row" | cut -d'|' -f2) $(printf '%s' "$row" | cut -d'|' -f4)" \
        "$(minutes_of "$(printf '%s' "$row" | cut -d'|' -f1)") $(lab_minutes_of "$(printf '%s' "$row" | cut -d'|' -f3)")"
done
tr '\n' ' ' <lessons/INSTRUCTOR.md | grep -oE '\([0-9 ]+, [0-9]+ minutes\)' | tr -d '()' >"$folder/ways"
same 'two shorter ways' "$(wc -l <"$folder/ways" | tr -d ' ')" 2
while IFS=, read -r numbers minutes; do
    same "the way $numbers" "$minutes" " $(minutes_of "$numbers") minutes"
done <"$folder/ways"
routes=$("$build/flashulp" lesson)
for way in e d; do # the last three columns: e d m
    matches "route $way of flashulp lesson is one of them" "^$(printf '%s\n' "$routes" |
        awk -v w=$way '/^ [0-9][0-9] / && $(NF - (w == "e" ? 2 : 1)) == w { print $1 }' | xargs)," \
        "$(cat "$folder/ways")"
done

first=lessons/00-numbers/README.md
sane() { faults_of "$1" 00 'Numbers that are not real numbers' 25; }
# noticed NAME PATTERN SED
noticed() {
    sed "$3" "$first" >"$folder/changed.md"
    if cmp -s "$first" "$folder/changed.md"; then
        wrong "mutation $3 no longer applies" ''
        return
    fi
    matches "noticed: $1" "$2" "$(sane "$folder/changed.md")
$(tests/docs.sh "$folder/changed.md" "$build" "$folder/cache" 2>&1)"
}
noticed 'a digit of an output' 'prints something else' 's/0x3DCD   0.100097656/0x3DCD   0.100097657/'
noticed 'a link to a function that is none' 'format_round_up: no such function' \
    's/format.c:format_round/&_up/'
noticed 'a link to a file that is none' 'no such file' 's/reference.formats.def/reference\/formas.def/'
noticed 'a part that is missing' 'it has no: ## Known' 's/^## Known/## Unknown/'
noticed 'a picture that is missing' 'it has no: <!-- picture: ' '/^<!-- picture: /,/^!/d'
noticed 'an answer too few' '3 questions and 2 answers' 's/^3. No. It is/It is/'
noticed 'a wide line' 'wider than 80' 's/^One tie went down/One tie, and it was not at all a small one, went down/'
noticed 'another title' 'its first line is not' '1s/real/true/'

mkdir "$folder/drawn" && cp lessons/16-splits/README.md "$folder/drawn/README.md"
sed 's/54 x 512/54 x 513/' lessons/16-splits/splits.svg >"$folder/drawn/splits.svg"
matches 'noticed: a picture that is out of date' 'splits.svg is not what' "$(pictures_of "$folder/drawn/README.md")"

# Read on a pipe: every command is run, no comment is printed.
text=$("$build/flashulp" lesson 0 2>&1)
matches 'a lesson on a pipe runs its commands' '^ bf16     0x3DCD' "$text"
same 'and shows no marks' "$(printf '%s\n' "$text" | grep -c '^<')" 0
text=$("$build/flashulp" lesson fa2 2>&1)
matches 'a picture: what it shows, and what opens it' '^picture  FA1, FA2 and exact' "$text"
matches 'with the words for the viewer' '^  opens  flashulp view fa2-4 --scene softmax --at RESCALE:1$' "$text"
matches 'the answers have a heading' '^Answers$' "$text"
matches 'as JSON: commands and pictures' '"file":	"rescale.svg"' "$("$build/flashulp" lesson 7 --json)"
if command -v script >/dev/null; then # at a terminal: three commands run or passed over, then the answers
    keys() { (printf '%s\n' "$@" && sleep 1) | script -qec "'$build/flashulp' lesson 7" /dev/null | tr -d '\r'; }
    text=$(keys s s s s)
    same 's passes over commands and answers' \
        "$(printf '%s\n' "$text" | grep -cE 'ROW_MAX|The quotient of two|^Answers')" 0
    matches 'and reads on behind them' '^The listing is Algorithm 1' "$text"
    text=$(keys s s s '')
    matches 'Enter shows the answers' 'The quotient of two' "$text"
    text=$(keys s q)
    same 'q leaves' "$(printf '%s\n' "$text" | grep -c 'Check yourself')" 0
else
    skipped 'a lesson at a terminal' 'no script (bsdutils)'
fi
same 'a lesson that is none' "$("$build/flashulp" lesson 99 2>&1)" \
    'flashulp lesson: 99: no such lesson; they go from 00 to 22, and flashulp lesson lists them'
same 'no lessons there' "$(FLASHULP_LESSONS=/nowhere "$build/flashulp" lesson 7 2>&1)" \
    'flashulp lesson: FLASHULP_LESSONS is /nowhere, which has no 07-fa2/README.md; the folder that has it, such as lessons of the source, is right'
plan_end
