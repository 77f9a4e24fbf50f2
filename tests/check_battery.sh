#!/bin/sh
# `flashulp battery` on programs: a right one, wrong ones by name, and ones that crash, hang, print,
# grow, fork or write nothing.  TAP on the output.  usage: tests/check_battery.sh   (FLASHULP_BUILD)
. "$(dirname "$0")/tap.sh"
program=$(cd "${FLASHULP_BUILD:-build}" && pwd)/flashulp
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT INT TERM
cd "$folder" || exit 1
mkdir tmp
export TMPDIR="$folder/tmp"
io="--q {q} --k {k} --v {v} --out {o} --force"
masks='{causal?--causal} --window {window} --softcap {softcap}'

# says STATUS PATTERN COMMAND OPTIONS...: that exit status and a line matching the pattern
says() {
    want=$1 pattern=$2 command=$3
    shift 3
    got=$("$program" battery --command "$command" "$@" 2>&1)
    status=$?
    flat=$(printf '%s' "$got" | tr '\n' ' ' | tr -s ' ')
    ok=no
    [ $status -eq "$want" ] && printf '%s\n' "$flat" | grep -q -e "$pattern" && ok=yes
    verdict "battery $command $*: $pattern" $ok "exit $status
$got"
}
refused() {
    want="flashulp battery: $1"
    shift
    got=$("$program" battery "$@" 2>&1)
    same "refused: battery $*" "$? $got" "2 $want"
}

back="--q {q} --k {k} --v {v} --do {do} --dq {dq} --dk {dk} --dv {dv} --force"
few=one-key,one-query,tail-65,square,gqa,batch,secret-1
for dtype in fp32 bf16 fp16; do
    says 0 ' 0 failed' "$program run $io --lse {lse} $masks" --dtype $dtype --seed 7 \
        --case $few,causal-wide,causal-tall,window,window-empty,softcap,no-keys,no-queries,nan-key,plus-inf
done
says 0 ' 7 passed, 0 failed' "$program run $io --algorithm fa1" --case $few
says 1 'tail of a tile of 1\?[0-9]* keys counts as score 0' \
    "$program run $io --algorithm fa2-printed --fault none --fault no-tail-mask --tile 16,16" --case tail-65
says 1 'the exponent takes the tile.s own maximum' \
    "$program run $io --algorithm fa2-printed --fault none --fault tile-max --tile 16,16" --case rising
says 1 'causal aligned top-left' "$program run $io {causal?--causal --causal-align top-left}" \
    --case causal-wide
says 1 'the causal mask is ignored' "$program run $io; : {causal}" --case causal
says 1 'the scores are not scaled by 1/sqrt(D)' "$program run $io --scale 1" --case square
says 1 'the window.s left side is off by one' "$program run $io {causal?--causal} {window?--window 2,0}" --case window
says 1 'the softcap is ignored' "$program run $io; : {softcap}" --case softcap
says 1 'the output was never written' ': {q} {k} {v} {o}' --case one-key
says 1 'o.npy has shape (1, 2, 131, 64); (1, 2, 5, 64) is right' "cp {v} {o}; : {q} {k}" --case wide
says 1 'its input q.npy was changed' "$program run $io; cp {k} {q}" --case wide
says 1 'exited with status 3: no such luck' "echo no such luck; exit 3; : {q} {k} {v} {o}" --case wide
says 1 'crashed (SIGSEGV' "kill -SEGV \$\$; : {q} {k} {v} {o}" --case wide
says 1 'was still running after 1 s' "sleep 60; : {q} {k} {v} {o}" --case wide --timeout 1
says 1 'printed more than' "yes; : {q} {k} {v} {o}" --case wide --timeout 8
says 1 'failed' "tail /dev/zero; : {q} {k} {v} {o}" --case one-key --memory 64 --timeout 8
says 0 ' 1 passed' "$program run $io; (setsid sleep 61.7 &) >/dev/null 2>&1" --case one-key
same 'what it left running is gone' "$(ps -ef | grep -c '[s]leep 61.7')" 0
says 0 ' 1 passed, 0 failed, 0 not tested' "$program run $io" --case one-key
# The backward pass.
small=one-key,gqa,batch,equal,causal-wide,causal-tall,window,no-keys,no-queries,tail-5
for dtype in fp32 bf16; do
    says 0 ' 10 passed, 0 failed' "$program run $back --dtype $dtype {causal?--causal} --window {window}" \
        --dtype $dtype --seed 7 --case $small
done
says 0 ' 7 passed, 0 failed' "$program run $back; $program run $io" --seed 7 --case $few
says 1 'dQ, dK and dV still hold the NaN they were given' "$program run $io; : {do} {dq} {dk} {dv}" --case gqa
says 1 'dk.npy has shape (1, 4, 3, 64); (1, 2, 5, 64) is right' "cp {do} {dq}; cp {do} {dk}; : {q} {k} {v} {dv}" --case gqa
says 1 'its input do.npy was changed' "$program run $back; cp {q} {do}" --case gqa
says 1 'the causal mask is ignored in the backward pass' "$program run $back; : {causal}" --case causal-wide --seed 3
says 0 ' 0 failed, 1 not tested' "$program run $back; : {length}" --case padding,gqa
refused '--command has {do} and no {dq}; a backward pass is asked for by all of {do} {dq} {dk} {dv}' \
    --command './theirs {q} {k} {v} {do}'
refused '--command has {dv} and no {do}; a backward pass is asked for by all of {do} {dq} {dk} {dv}' \
    --command './theirs {q} {k} {v} {o} {dv}'
says 2 'the command cannot be run: exited with status 127: .*nothing' './nothing {q} {k} {v} {o}' \
    --case one-key
refused "no program is named; --command './theirs {q} {k} {v} {o}' is right"
refused "--command has no {o}; './theirs {q} {k} {v} {o}' is right: Q, K and V to read, O to write, as .npy" \
    --command './theirs {q} {k} {v}'
refused '--command: no place is called {cuasal}; did you mean {causal}?' \
    --command './theirs {q} {k} {v} {o} {cuasal}'
refused '--case: no case is called "tail-6"; did you mean tail-5?' \
    --command 'x {q} {k} {v} {o}' --case tail-6
refused '--dtype e4m3: fp32, fp16 or bf16 is right' --command 'x {q} {k} {v} {o}' --dtype e4m3
same 'the seed that is given is the seed' \
    "$("$program" battery --command "$program run $io" --case secret-1 --seed 5 --json |
        grep -c '"seed":.*5')" 1
same 'nothing is left behind' "$(ls "$TMPDIR")" ''
plan_end
