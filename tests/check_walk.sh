#!/bin/sh
# `flashulp walk` from outside: whole pages against tests/golden/walk, the numbers of two pages worked
# out by hand, 80 columns of ASCII everywhere, refusals whole, and the screens of --interactive and
# --quiz on a terminal made by script(1).  TAP.  usage: tests/check_walk.sh   (FLASHULP_BUILD: build)
. "$(dirname "$0")/tap.sh"
program=$(cd "${FLASHULP_BUILD:-build}" && pwd)/flashulp
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT INT TERM
cd "$folder" || exit 1
unset NO_COLOR

# golden FILE WORDS...: the page is the file, to the last byte
golden() {
    file=$1
    shift
    "$program" walk "$@" >page 2>&1
    ok=yes
    difference=$(diff "$here/golden/walk/$file" page) || ok=no
    verdict "walk $* prints golden/walk/$file" $ok "$difference"
}

# row FIELDS WORDS...: some line of the page has these fields, whatever blanks are between them
row() {
    fields=$1
    shift
    ok=no
    got=$("$program" walk "$@" 2>&1)
    printf '%s\n' "$got" | sed 's/  */ /g; s/^ //; s/ $//' | grep -qxF -e "$fields" && ok=yes
    verdict "walk $* has: $fields" $ok "$got"
}

# says TEXT WORDS...: the page, its lines joined, has the text; exit 0
says() {
    text=$1
    shift
    ok=no
    got=$("$program" walk "$@" 2>&1)
    status=$?
    joined=$(printf '%s\n' "$got" | tr '\n' ' ' | sed 's/  */ /g')
    case $joined in *"$text"*) [ $status -eq 0 ] && ok=yes ;; esac
    verdict "walk $* says: $text" $ok "exit $status
$got"
}

# lacks PATTERN WORDS...: no line matches; exit 0
lacks() {
    pattern=$1
    shift
    got=$("$program" walk "$@" 2>&1)
    status=$?
    ok=yes
    [ $status -eq 0 ] || ok=no
    printf '%s\n' "$got" | grep -q -e "$pattern" && ok=no
    verdict "walk $* has no line like $pattern" $ok "exit $status
$got"
}

# narrow WORDS...: exit 0, lines of at most 80 columns, ASCII, no blanks at their ends
narrow() {
    "$program" walk "$@" >page 2>&1
    status=$?
    wide=$(awk 'length($0) > 80 || / $/' page)
    odd=$(LC_ALL=C tr -d '\n -~' <page)
    ok=yes
    [ $status -eq 0 ] && [ -s page ] && [ -z "$wide" ] && [ -z "$odd" ] || ok=no
    verdict "walk $* stays in 80 columns" $ok "exit $status
$wide"
}

refused() {
    want="flashulp walk: $1"
    shift
    got=$("$program" walk "$@" 2>&1 >page </dev/null)
    status=$?
    ok=no
    [ $status -eq 2 ] && [ "$got" = "$want" ] && [ ! -s page ] && ok=yes
    verdict "refused: walk $*" $ok "exit $status: $got
want: $want"
}

# --- whole pages; fa2-4.txt and the rows below were worked out by hand
golden fa2-4.txt fa2-4
golden fa2-4-bf16.txt fa2-4 --policy gpu-bf16
golden fa2-4-bf16-changed.txt fa2-4 --policy gpu-bf16 --changed
golden fa2-4-beside-fa1.txt fa2-4 --beside fa1
golden fa2-4-step-6.txt fa2-4 --step 6
golden fa2-4-fa1.txt fa2-4 --algorithm fa1
golden fa2-4-online.txt fa2-4 --algorithm online
golden fa2-printed.txt fa2-printed
golden fa2-4-decode.txt fa2-4 --algorithm decode

# --- decode over many tiles: the groups, then the merge
while IFS= read -r fields; do
    row "$fields" h200-b200 --algorithm decode --device H200 --dims 0
done <<'END'
57 GROUP O_g = O~ / l 1.3283713 1.3293257 -0.12
L_g = m + ln l 7.5969062 7.5969061 +0.00
O = sum w_g O_g 1.3241366 1.3250707 -0.12
3076 STORE O -> bf16 1.3203125 1.3250707 -0.61
END
says 'group 54 of 54 keys 27136 to 27524, 7 tiles' h200-b200 --algorithm decode --device H200 --dims 0
says 'Divisions: 54.' h200-b200 --algorithm decode --device H200 --dims 0
says '211 merges left out, from step 1733' h200-b200 --algorithm decode --option backend=trtllm
narrow h200-b200 --algorithm decode --option backend=trtllm
narrow s2-g2 --algorithm decode --option merge=max-sum --splits 3

while IFS= read -r fields; do
    row "$fields" fa2-4
done <<'END'
1 ROW_MAX m = max(m, x) 2 2 0 2 =
2 EXP p = e^(x - m) 0.36787945 0.36787944 +0.31 0.368 =
3 ROW_SUM l = l + sum p 1.3678794 1.3678794 -0.42 1.368 =
4 PV O~ = O~ + p v 23.678795 23.678794 +0.24 23.68 =
5 ROW_MAX m = max(m, x) 3 3 0 3 =
6 RESCALE a = e^(m_old - m) 0.36787945 0.36787944 +0.31 0.368 =
l = a l 0.50321472 0.50321472 -0.13
O~ = a O~ 8.7109423 8.7109417 +0.64 8.71 =
7 EXP p = e^(x - m) 1 1 0 1 =
0.049787067 0.04978707 -0.40 0.050 =
8 ROW_SUM l = l + sum p 1.5530018 1.5530018 -0.26 1.553 =
9 PV O~ = O~ + p v 38.710941 38.710942 -0.09 38.71 =
10 NORMALIZE O = O~ / l 24.926527 24.926527 -0.17 24.93 =
11 LSE L = m + ln l 3.4401896 3.4401897 -0.41 3.440 =
END
while IFS= read -r fields; do
    row "$fields" fa2-4 --policy gpu-bf16 --changed
done <<'END'
4 ROUND_P p -> bf16 0.3671875 0.36787944 -0.35 0.368 0.367
5 PV O~ = O~ + p v 23.671875 23.678794 -0.06 23.68 23.67
7 RESCALE O~ = a O~ 8.7083960 8.7109417 -0.04 8.71 =
10 ROUND_P p -> bf16 0.049804688 0.04978707 +0.07 0.050 =
11 PV O~ = O~ + p v 38.708397 38.710942 -0.01 38.71 =
12 NORMALIZE O = O~ / l 24.924889 24.926527 -0.01 24.93 24.92
14 STORE O -> bf16 24.875 24.926527 -0.41 24.93 24.875
END
says 'six steps drifted, yet the answer is correctly rounded. bf16 has no 24.93; around it are 24.875 and 25.' \
    fa2-4 --policy gpu-bf16 --changed
says '25 is not the bf16 number nearest the exact result, which is 24.875: eight steps drifted.' \
    fa2-4 --policy all-bf16 --changed
says 'No step prints otherwise than under policy fp32.' fa2-4 --changed
lacks 'ROW_MAX' fa2-4 --policy gpu-bf16 --changed

# --- what a step took in, and whose its drift is
says 'O~ = O~ + p v = 0 + 0.36787945 x 10 + 1 x 20 ' fa2-4 --step 4
says 'm = max(m, x) = max(2, 3, 0) ' fa2-4 --step 5
says 'a = e^(m_old - m) = e^(2 - 3) ' fa2-4 --step 6
says 'O~ = a O~ = 0.36787945 x 23.678795 ' fa2-4 --step 6
says 'l = l + sum p = 0.50321472 + 1 + 0.049787067 ' fa2-4 --step 8
says 'L = m + ln l = 3 + ln 1.5530018 ' fa2-4 --step 11
says '0x41C76987 0 10000011 10001110110100110000111' fa2-4 --step 10
says '+0.31 this step'\''s own rounding, 0 inherited' fa2-4 --step 2
says 's = q k = 240 x 192 ' m9 --step 1

# --- wrong algorithms, hidden keys, no keys, what is not finite
says 'attention of these inputs is 0.2689414213699951207...: not by rounding but by the algorithm, whose steps give 0.5 in exact arithmetic' \
    fa2-printed
says 'e^(x - L) gives 0.500 0.184; the weights of attention are 0.731 0.269.' unstable-2
says 'an empty place' printed-no-tail
says 'e^(x - L) gives 0.500; the weights of attention are 1.000.' printed-no-tail
row '3 NORMALIZE O = O~ / l nan 1 !' printed-zero-start
row '3 LSE L = m + ln l -inf -inf' --scores=-inf --values 1
row '1 ROW_MAX m = max(m, x) nan nan' --scores '1 nan' --values '1 2'
says 'The row sees no key: by contract O = 0 and L = -inf.' \
    --generate gaussian --shape 1,1,1,4,2,2 --causal --rows 0
says 'tiles 2 to 3 of 3 hidden from this row by the mask' \
    --generate gaussian --shape 1,1,1,6,6,2 --causal --tile 2,2 --rows 1
row '9 MASK s = s where seen sees key 2, not the other 1' \
    --generate gaussian --shape 1,1,1,6,6,2 --causal --tile 2,2 --rows 2 --step 9
says 'sees every key of the tile; 3 places empty' a6
lacks 'RESCALE' --scores '3 0 | 1 2' --values '1 2 | 3 4'
lacks ' QK \| SCALE ' fa2-4
row '--- tile 1 of 2 x = 3 0 v = 30 0 -----------------------------------------' \
    --scores '3 0 | 1 2' --values '30 0 | 10 20'
says 'row 5 of head 1 of batch 0: one of 12 rows' \
    --generate gaussian --shape 1,2,1,6,6,2 --heads 1 --rows 5
says 'O: the same bits by both. Divisions: fa2 1, fa1 2.' fa2-4 --beside fa1
says 'Divisions: fa2 1, online 4.' fa2-4 --beside online

# --- 80 columns
for algorithm in standard online fa1 fa2 fa1-printed fa2-printed unstable; do
    narrow fa2-4 --algorithm $algorithm
    narrow fa2-4 --beside $algorithm
    narrow fa2-4 --algorithm $algorithm --policy all-bf16 --beside fa2
done
for policy in fp32 gpu-bf16 gpu-fp16 all-bf16 fp8 exact; do
    narrow fa2-4 --policy $policy
    narrow fa2-4 --policy $policy --changed
    narrow fa2-4 --policy $policy --step 4
done
for example in fa2-printed printed-no-tail m8 m9 p1 a6 s2-g1 s2-order unstable-2; do
    narrow $example
done
narrow "$here/data/minilm-layer4.safetensors"
narrow "$here/data/minilm-layer4.safetensors" --heads 3 --rows 100 --step 7
narrow "$here/data/minilm-layer4.safetensors" --beside fa1
narrow --scores '1e30 -1e-30 | -3.4e38 nan' --values '-1e30 1e-45 | inf 0'
narrow --scores '0' --values '-123456.789' --scale -0.1

# --- as data
"$program" walk fa2-4 -o w.csv -o w.json -o w.md >/dev/null
ok=no
[ "$(grep -c . w.csv)" -eq 16 ] && grep -q '^10,NORMALIZE,-1,O,O = O~ / l,0,24.92652702331543,' w.csv && ok=yes
verdict 'walk -o w.csv: a row for each number' $ok "$(cat w.csv)"
ok=no
grep -q '"schema":' w.json && [ "$(grep -c '"equation":' w.json)" -eq 13 ] &&
    grep -q '"article":.*"0.368", "1"' w.json && ok=yes
verdict 'walk -o w.json: an object for each array of a step' $ok "$(head -30 w.json)"
ok=no
sed '1,/^\$ /d; /^```$/d' w.md | diff - "$here/golden/walk/fa2-4.txt" >difference && ok=yes
verdict 'walk -o w.md: the page' $ok "$(cat difference)"

# --- refusals
refused '--step 0: a whole number from 1 to 2147483647 is right' fa2-4 --step 0
refused '--step 12: this walk has steps 1 to 11' fa2-4 --step 12
refused '--step two: a whole number from 1 to 2147483647 is right' fa2-4 --step two
refused '--beside: unknown algorithm "fa3"; did you mean fa1?' fa2-4 --beside fa3
refused '--step and --changed: one is right' fa2-4 --changed --step 1
refused '--interactive needs a terminal for input and output; without it the walk is printed' \
    fa2-4 --interactive
refused '--quiz needs a terminal for input and output; without it the walk is printed' fa2-4 --quiz
refused '--interactive is for a terminal; without it --json is right' fa2-4 --interactive --json
refused '-o w.svg: the ending says what is written; one of .json, .md, .csv is right' fa2-4 -o w.svg
refused '-o .svg: step 3 is no sum of products that are finite and not all 0; QK and PV are drawn' \
    fa2-4 --step 3 -o w.svg
refused 'a walk keeps every value of one head, here about 303 GB; a head of fewer queries and keys is right (30,000 x 30,000 now), or flashulp run' \
    --generate gaussian --shape 1,1,1,30000,30000,64
refused 'the selection has no row; a problem of at least one query and --batch, --heads, --rows that exist are right' \
    --generate gaussian --shape 1,1,1,0,3,2

# --- on a terminal
if script -qec true /dev/null >/dev/null 2>&1; then
    got=$( (sleep 1; printf ' '; sleep 1; printf 'g'; sleep 1; printf '10\n'; sleep 1; printf 'bq') |
        script -qec "NO_COLOR=1 $program walk fa2-4 --interactive; echo status \$?; stty -a" /dev/null |
        tr -d '\r')
    ok=yes
    for text in '(1 of 11)' '(2 of 11)' '(10 of 11)' '(9 of 11)' 'status 0' ' icanon'; do
        case $got in *"$text"*) ;; *) ok=no ;; esac
    done
    case $got in *' -icanon'* | *' -echo '*) ok=no ;; esac
    verdict 'walk --interactive goes forward, to a step, back; gives the terminal back' $ok "$got"
    got=$( (sleep 1; printf '2\n0.368\n1\n1.3\n24\nq\n') |
        script -qec "$program walk fa2-4 --quiz" /dev/null | tr -d '\r')
    ok=no
    case $got in *'3 of 5 right.'*) ok=yes ;; esac
    verdict 'walk --quiz keeps a score' $ok "$got"
else
    echo "ok $((count += 1)) - walk --interactive # SKIP no script(1)"
fi

# --- kernel models: the heads of a group are the rows of one tile; the walk tells the chosen one's
problem='--generate gaussian --seed 3 --shape 1,4,2,1,300,64 --dtype bf16 --kernel fa2-split'
for head in 0 1 2 3; do
    # shellcheck disable=SC2086
    told=$($program walk $problem --heads $head | sed -n 's/^O\[0\] = [^ ]* = 0x\([0-9A-F]*\),.*/\1/p')
    # shellcheck disable=SC2086
    ran=$($program run $problem --heads $head | sed -n 's/^ O\[.*,0\] .* 0x\([0-9A-F]*\)$/\1/p' | head -n 1)
    same "walk --kernel ends in run's bits, head $head" "$told" "$ran"
done

# --- the terms of a sum as a picture: 2^10, and twice 2^-15, in the place that sm80 drops
$program walk --scores '0 0 0' --values '1024 3.0517578125e-5 3.0517578125e-5' --dtype bf16 --step 4 -o t.svg >out
matches 'equal terms are one row' '>3.05176e-05, 2 times</text>' "$(cat t.svg)"
matches 'units that cut alike share a line' '>sm75, sm80, sm86, sm89: F = 24</text>' "$(cat t.svg)"
bar=$(sed -n 's/^<g>.*<rect x="\([0-9.]*\)".*width="\([0-9.]*\)".*/\1 \2/p' t.svg | tail -n 1)
cut=$(sed -n 's/.*<line x1="\([0-9.]*\)".*F = 24<.*/\1/p' t.svg)
keep=$(sed -n 's/.*<line x1="\([0-9.]*\)".*F = 25<.*/\1/p' t.svg)
same 'between the lines of F = 25 and F = 24' \
    "$(echo "$bar $keep $cut" | awk '{ print ($1 - $3) ^ 2 < 0.1 && ($1 + $2 - $4) ^ 2 < 0.1 }')" 1

plan_end
