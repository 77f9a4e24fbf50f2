#!/bin/sh
# audit from outside: what is printed, the exit status, NaN and wrong shapes, refusals.
# TAP on the output.  usage: tests/check_audit.sh   (FLASHULP_BUILD: build)
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/npy.sh"
program=$(cd "${FLASHULP_BUILD:-build}" && pwd)/flashulp
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT INT TERM
cd "$folder" || exit 1

says() { # STATUS WORDS...: that exit status; the text goes to $text
    want=$1
    shift
    text=$("$program" audit "$@" 2>&1)
    status=$?
    same "exit $want: audit $*" "$status" "$want"
}
line() { matches "$1" "$2" "$text"; } # name, pattern
narrow() { # the text: 80 columns of ASCII
    wide=$(printf '%s\n' "$text" | LC_ALL=C grep -nE '^.{81}|[^ -~]')
    same "$1: 80 columns, ASCII" "$wide" ''
}
refused() { # SENTENCE WORDS...: exit 2, that one line, no output
    want="flashulp audit: $1"
    shift
    "$program" audit "$@" >out 2>err
    status=$?
    got=$(cat err) ok=no
    [ $status -eq 2 ] && [ "$got" = "$want" ] && [ ! -s out ] && ok=yes
    verdict "refused: $*" $ok "exit $status: $got
want: $want"
}

# The teaching input: the published table.
says 0 h200-b200 -o teaching.json
narrow "the teaching input"
line "the exact value" '^exact 1\.32507072127209779115\.\.\.   its bf16 rounding 1\.328125   certified$'
line "H200" '^ H200 +54 x 512 +1\.3241366148 3FA97D4F +1\.3203125 +-0\.609  in bound$'
line "B200" '^ B200 +62 x 448 +1\.3242826462 3FA98218 +1\.328125 +\+0\.391  correct$'
line "SM120" '^ RTX-PRO-6000 +87 x 320 +1\.3243104219 3FA98301 +1\.328125 +\+0\.391  correct$'
line "on a line" '^ -*H-*\|-*B-*R-*E-*$'
line "the midpoint" "' midpoint 1\.32421875: left of it bf16 stores 1\.3203125"
line "PROB" '^ PROB .* -0\.1196 +-0\.1013 +-0\.0978$'
line "the rest" '^ all other fp32 sites +\+0\.0000 +\+0\.0004 +\+0\.0005$'
line "OUT" '^ OUT, the last rounding +-0\.4895 +\+0\.4918 +\+0\.4883$'
line "total" '^ total +-0\.6091 +\+0\.3909 +\+0\.3909$'
line "in words" '^ H200: the exact value lies 0\.109 ulp above the boundary 1\.32421875\. PROB moved'
line "where H200 and B200 part" '^ H200 and B200: the same for [0-9]+ steps; then LOAD of key tile 7 in H200, LOAD'
line "the verdict" '^ verdict  LEGAL, all runs: every error is inside the a-priori bound, 1\.1[0-9] ulp\.'
line "the caveat" 'input, which was chosen to show the effect|which was chosen to show the effect'
line "the words" '^exit 0$'
text=$(cat teaching.json)
for key in '"verdict":	"LEGAL"' '"name":	"H200"' '"source":	"model"' '"correctly_rounded":	256' \
    '"inside_bound":	256' '"in_situ":' '"alone":' '"without":' '"interaction":' \
    '"correct_without":	\["PROB"\]' '"pairs":' '"digest":	"[0-9a-f]{16}"' '"max_ulp":	0.609'; do
    line "JSON $key" "$key"
done

# Cases.
says 0 m9 --runs fa2@H200,fa2-split@H200+exp-arg=separate
line "M9: stored" '^ fa2@H200 .* 0\.99609375 +-0\.500  in bound$'
line "M9: what would have kept it" 'Without CONST, or without EXP_BIAS, or without PROB'
line "M9: padded" '^fa2@H200 takes no head size 1: zeros to 32 columns, the same scale$'
narrow "case M9"
says 0 s2-g1 --runs 'fa2+tile=1;2,decode+splits=2+tile=1;2'
line "G-1: the split answer is the correct one" '^ decode.* 2 x 4 .* 0\.9375 .* correct$'
line "G-1: the unsplit is not" '^ fa2\+tile=1;2 .* 0\.93359375 .* in bound$'
line "G-1: nothing is ranked" 'no run is ranked'
says 0 s2-g1 --runs 'fa2+tile=1;2,fa2:fp32+tile=1;2,fa2+tile=1;4'
line "a value parts them" 'ROUND_P of$|then ROUND_P of key'
line "or a shape" 'is 2 x 1 and 4 x 1$'
says 0 s2-g2 --runs 'fa2+tile=1;2,decode+splits=2+tile=1;2'
line "G-2: the unsplit answer is the correct one" '^ fa2\+tile=1;2 .* 0\.310546875 .* correct$'
says 1 fa2-printed --runs fa2-printed,fa2
line "the printed kernel is outside" 'Outside: +fa2-printed|^ +fa2-printed\.'
line "and its listing is why" '^ the listing, unrounded '
says 1 s2-g1 --runs fa2:all-bf16
line "no bound is known" '^ verdict  NOT ESTABLISHED'

# A capture, its own output, and others.
"$program" run --generate gaussian --seed 3 --shape 1,4,2,24,96,32 --dtype bf16 -o cap.safetensors \
    --out o.npy >/dev/null
says 0 cap.safetensors --runs fa2,decode+splits=3 --json
line "measured outputs are in" '"source":	"measured"'
line "their LSE" '"different_kind":	0'
line "and recognised" '"matched":	3072'
says 0 cap.safetensors --runs fa2,decode+splits=3,fa2@H200
narrow "a capture"
line "defaults are said" "^not in the file's metadata, so taken by default: scale 1/sqrt\(32\), no window$"
line "a measured output's sites" "^ sites    o\.fa2:gpu-bf16 has the bits of fa2 here"
line "its LSE is judged" '^ LSE of o\.fa2:gpu-bf16: at most [0-9.]+ ulp of fp32 off, mean [+-][0-9.]+, all'
line "pairs" '^  2 fa2 +0\.0 +-$'
line "bias" '^ fa2 +[0-9.]+ +[+-][0-9.]+ \([+-][0-9.]+\) +[0-9.]+ % +all$'
says 0 cap.safetensors --rows 0 --heads 1
line "few rows" 'z: 1 rows are too few'
says 0 cap.safetensors --attribute 0 --runs fa2
same "no attribution" "$(printf '%s\n' "$text" | grep -c 'which rounding moved it?')" 0
"$program" audit cap.safetensors --runs fa2,fa2@H200 --threads 1 --json >one.json
"$program" audit cap.safetensors --runs fa2,fa2@H200 --threads 3 --json >three.json
same "threads change nothing" "$(sed 1,3d one.json)" "$(sed 1,3d three.json)"

# The map, the page, the picture.
says 0 cap.safetensors --runs fa2,decode+splits=3,fa2@H200,fa2@A100 -o page.html -o map.svg -o page.md \
    -o map.json -o runs.csv
line "distances" '^  3 decode\+splits~ +0\.0[0-9]+ +0\.0[0-9]+ +- '
line "coinciding models" '^  5 fa2@A100 .* \? +- '
line "and why" 'fa2@H200 and fa2@A100: model cannot tell\. Their outputs'
line "the centre" 'spread R 0\.0[0-9]+ around the centre; shared bias, centre to exact'
line "no ranking" 'Near the centre is not near the exact result'
narrow "the map"
text=$(cat page.html)
line "the page has the map" '<svg xmlns'
line "and the input" "cap.safetensors: sha256 $(sha256sum cap.safetensors | cut -d' ' -f1)"
line "and what is not established" 'whether fa2@H200 and fa2@A100 differ on hardware'
same "no script, nothing fetched" "$(grep -cE '<script|href=|src=' page.html)" 0
text=$(cat map.svg)
line "the picture" '<text [^>]*>fa2@H200</text>'
text=$(cat map.json)
for key in '"spread":' '"shared_bias":' '"nearest_to_centre":' '"explained":' '"model_cannot_tell":'; do
    line "JSON $key" "$key"
done
same "csv" "$(wc -l <runs.csv)" 6
refused '--figure maps: one of these is right: map errors sites' p1 --figure maps -o no.svg
refused '-o no.svg: there is nothing to draw here' p1 --runs fa2 --figure map -o no.svg
says 0 p1 --figure sites -o sites.svg
text=$(cat sites.svg)
line "the way of one output" '<title>-0.279</title><rect [^>]*fill:#0072b2'
line "past the midpoint" '>midpoint 0.998046875</text>'
line "to what is stored" '<title>-0.221</title>'
says 0 p1 --runs fa2 -o one.svg
same "without a map: errors and sites" "$(grep -c '<svg' one.svg)" 3
says 0 minilm-4 --heads 3 --rows 100-119 --runs fa2:gpu-bf16,standard:gpu-bf16 --figure errors -o errors.svg --json
largest=$(printf '%s\n' "$text" | sed -n 's/.*"max_roundoffs":	\([0-9.]*\),*/\1/p' | head -n 1)
text=$(cat errors.svg)
line "errors: the largest of JSON" "<title>largest $(printf '%.4g' "$largest")</title><circle"
refused '--centre x: kernels or runs is right' cap.safetensors --runs fa2 --centre x
"$program" audit p1 --runs 'fa2,file:<b>&.npy' -o bad.html >/dev/null 2>&1
same "a refused audit leaves no file" "$(ls bad.html no.svg 2>/dev/null)" ''

# What is not established about kernels: distances from where to where.
"$program" run --generate gaussian --seed 3 --shape 1,2,1,1,300,64 --dtype bf16 --out decode.npy \
    -o decode.safetensors >/dev/null
says 1 decode.safetensors --attribute 0 -o range.json -o range.svg \
    --runs trtllm-reducer@H200,trtllm-reducer@H200+weights=fp32,fa2-split@H200
narrow "ranges"
line "a range" '^  2 to exact   0\.0[0-9]+ \.\. 0\.0[0-9]+$'
line "from 0: cannot tell" '^  3 to 2      +0\.0000 \.\. 0\.0[0-9]+   model cannot tell$'
line "what is open" '^ open     trtllm-reducer@H200 4 settings \(weights, exp\);'
line "what the user set is not" 'weights=fp32 2 settings \(exp\)|2 settings \(exp\)'
line "why" 'Under some setting of what is not established they coincide, under others$'
text=$(cat range.json)
line "JSON ranges" '"ranges":'
line "JSON switches" '"switches":	"weights, exp"'
same "rings in the picture" "$(grep -o 'r="3" stroke' range.svg | wc -l)" 5

# Real tensors: exact arithmetic rounds every output right whatever the tiles, bf16 weights do not, and
# groupings differ; which of them is right differs from output to output.
says 0 minilm-4 --heads 3 --rows 100-119 --attribute 0 \
    --runs 'fa2:exact+set=OUT=bf16,fa2:exact+set=OUT=bf16+tile=64;16,fa2:gpu-bf16,decode:gpu-bf16+splits=3+tile=1;32' \
    -o real.json
line "real: attention" '^ fa2:exact\+set=OUT=b~ .* 100\.0 % +all$'
line "real: tiles change nothing" '^  3 fa2:exact\+set=OUT=b~ +[0-9.]+ +0\.0 +-$'
line "real: bf16 weights do" '^ fa2:gpu-bf16 .* 8[0-9]\.[0-9] % +all$'
line "real: groups, too" '^  5 decode:gpu-bf16\+spl~ .* [1-9][0-9]*\.[0-9] +-$'

# Far outside: read another way.
"$program" run cap.safetensors --causal --out causal.npy >/dev/null
says 1 cap.safetensors --runs file:causal.npy
line "a causal mask is recognised" 'sanity   file:causal.npy is attention of these Q, K, V with a causal mask,'
"$program" run --generate gaussian --seed 4 --shape 1,4,2,24,96,32 --dtype bf16 --out other.npy >/dev/null
says 1 cap.safetensors --runs file:other.npy
line "other inputs are none of the readings" 'sanity   file:other.npy is none of these either: with a causal'

# Whose bits are these?  What turns one output into another?
says 0 cap.safetensors --identify --attribute 0 -o identified.json
narrow "--identify"
line "the run is found" '^  fa2  +3,072  100\.0 %$'
line "and named" '^ identity LEGAL\. o\.fa2:gpu-bf16 has every bit of fa2'
line "its sites" '^ sites    o\.fa2:gpu-bf16: those of fa2.*, which --runs shows'
text=$(cat identified.json)
for key in '"kernel":	"fa2"' '"name":	"fa2"' '"matched":	3072' '"left_over":	0' '"tried":' \
    '"identity":'; do
    line "JSON $key" "$key"
done
says 1 cap.safetensors --runs file:causal.npy --identify --attribute 0
line "a causal mask that is not asked for" 'identity BUG SIGNATURE: a causal mask where there is none\. file:causal\.npy'
cp o.npy flipped.npy
at=$(($(od -An -tu2 -j8 -N2 o.npy) + 10 + 2 * 777))
byte=$(od -An -tu1 -j$at -N1 o.npy)
printf "\\$(printf '%03o' $((byte ^ 4)))" | dd of=flipped.npy bs=1 seek=$at conv=notrunc 2>/dev/null
says 1 cap.safetensors --runs file:flipped.npy --identify --attribute 0 --rows 0 --heads 1
line "a flipped bit is explained by nothing" 'identity UNEXPLAINED\. No run that was tried has the bits of file:flipped\.npy'
line "one output is left over" 'Left over: 1 of 32'
says 0 h200-b200 --explain H200,B200 --attribute 0 --dims 0
line "two groupings" 'explain  SCHEDULE\. 1 output differs\. H200 has the bits of'
line "and nothing else" 'groups of keys 54 x 512 and 62'
narrow "--explain"
says 0 --generate gaussian --seed 7 --shape 1,2,1,1,3000,128 --dtype bf16 \
    --runs fa2-split@B200,fa2-split@B200+splits=3 --explain fa2-split@B200,fa2-split@B200+splits=3
line "a count of groups" ' 3 x 1,024\)\. '
says 1 m8 --runs fa2@H200,fa2@H200+exp-arg=separate --explain fa2@H200,fa2@H200+exp-arg=separate
line "M8: one switch" 'explain  BUG SIGNATURE\. 16 outputs differ'
npy xqa.npy '<u2' '(1, 2)' 3f80 3f80
npy fa2.npy '<u2' '(1, 2)' 3f7f 3f7f
says 0 p1 --runs file:xqa.npy,file:fa2.npy --identify --explain file:xqa.npy,file:fa2.npy
line "P1: XQA" 'file:xqa\.npy has every bit of xqa@H200'
line "P1: FA2" 'file:fa2\.npy has every bit of fa2@H200'
line "P1: why" 'alter=sum-rounded \(l$|\+alter=sum-rounded'
refused '--identify: no output was measured; a capture with o.NAME, or --runs file:O.npy, is right' \
    p1 --runs fa2 --identify
# Two machines, a capture each.
one="--shape 1,2,1,1,3000,64 --dtype bf16 --kernel fa2-split@H200"
"$program" run --generate gaussian --seed 7 $one -o first.safetensors >/dev/null
"$program" run --generate gaussian --seed 7 $one --splits 3 -o second.safetensors >/dev/null
"$program" run --generate gaussian --seed 8 $one -o other.safetensors >/dev/null
"$program" run fa2-4 -o empty.safetensors >/dev/null
says 0 first.safetensors --runs file:second.safetensors \
    --explain o.fa2-split@H200:fa2-split,file:second.safetensors
line "a second capture" 'explain  SCHEDULE\. [0-9]+ outputs? differ'
refused "--runs file:other.safetensors: INPUTS DIFFER: its Q[0,0,0,0] is -0.96484375, this problem's 0.89453125; only outputs of identical Q, K, V can be compared, as a replay makes them" \
    first.safetensors --runs file:other.safetensors
refused "--runs file:empty.safetensors: INPUTS DIFFER: its Q is (1, 1, 1, 1), this problem's (1, 2, 1, 64); only outputs of identical Q, K, V can be compared, as a replay makes them" \
    first.safetensors --runs file:empty.safetensors
refused '--explain x: A,B is right, two runs of this audit' p1 --runs fa2 --explain x
refused '--explain fa3: no run of this audit has that name; o.NAME of the capture, or a name of --runs, is right' \
    p1 --runs fa2 --explain fa2,fa3
refused '--explain fa2,fa2: two different runs are right' p1 --runs fa2 --explain fa2,fa2

# NaN, infinity, wrong shapes.
npy nan.npy '<u2' '(1, 1, 1, 2)' 7fc0 3f80
npy inf.npy '<u2' '(1, 2)' 3f80 7f80
npy right.npy '<u2' '(1, 2)' 3f80 3f80
npy wide.npy '<u2' '(1, 1, 1, 3)' 3f80 3f80 3f80
says 1 p1 --runs file:nan.npy
line "NaN is counted" '^ file:nan.npy: 1 NaN, 0 infinite; in no mean$'
line "and located" 'at 1 outputs NaN or infinity against a number, first at \[0,0,0,0\]'
says 1 p1 --runs file:inf.npy,fa2
line "infinity" '^ file:inf.npy: 0 NaN, 1 infinite; in no mean$'
says 0 p1 --runs file:right.npy
line "the correct rounding" '^ file:right.npy +measured .* correct$'
refused 'wide.npy: its shape is (1, 1, 1, 3); the outputs of this problem are (1, 1, 1, 2)' \
    p1 --runs file:wide.npy

refused '--runs names fa2 twice; once is right' p1 --runs fa2,fa2
refused '--runs o.h200: the problem has no such output; a capture'"'"'s are named o.NAME' \
    p1 --runs o.h200
refused '--attribute x: a whole number from 0 to 9223372036854775807 is right' p1 --attribute x
refused 'the selection has no outputs; there is nothing to audit' \
    --generate gaussian --shape 1,1,1,0,4,2
refused '-o x.svgz: the ending says what is written; one of .html, .md, .json, .csv, .svg is right' p1 -o x.svgz
plan_end
