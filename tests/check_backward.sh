#!/bin/sh
# The backward pass from outside: gradients by run and exact, walks and traces with --do, the input
# of low-precision training, and the commands that the claims name.  TAP on the output.
# usage: tests/check_backward.sh   (FLASHULP_BUILD: build)
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/npy.sh"
program=$(cd "${FLASHULP_BUILD:-build}" && pwd)/flashulp
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT INT TERM
cd "$folder" || exit 1

# refused SENTENCE VERB WORDS...: exit 2, that one line, no output
refused() {
    want="flashulp $1"
    shift
    got=$("$program" "$@" 2>&1 >out)
    status=$?
    ok=no
    [ $status -eq 2 ] && [ "$got" = "$want" ] && [ ! -s out ] && ok=yes
    rm -f out
    verdict "refused: flashulp $*" $ok "exit $status: $got
want: $want"
}

# says WORDS VERB ...: exit 0; the output, blanks and line breaks taken as one blank, has the words; no
# line above 80 columns, ASCII
says() {
    want=$1
    shift
    got=$("$program" "$@" 2>&1)
    status=$?
    ok=yes
    case $(printf '%s\n' "$got" | tr -s '\n ' '  ') in *"$want"*) ;; *) ok=no ;; esac
    [ $status -eq 0 ] || ok=no
    printf '%s\n' "$got" | LC_ALL=C grep -qE '^.{81}|[^ -~]' && ok=no
    verdict "flashulp $* says $want" $ok "exit $status
$got"
}

# --- four scores, dO = 1, by hand: p = e^(x - L), D = O, dS = p (v - O), dQ = sum dS x, dK = dS
walk() { says "$2" walk fa2-4 --do ones $1; }
walk '' 'FlashAttention-2, then backward, on 4 scores in 2 tiles arXiv 2307.08691, Algorithm 2'
walk '' '1 DELTA D = rowsum(dO o O) 24.926527 24.926527 -0.17'
walk '' '2 REWEIGH p = e^(x - L) 0.087144330 0.087144319 +1.53 0.23688284 0.23688282 +1.18'
walk '' '5 DS dP = dP - D -14.926527 -14.926527 +0.34'
walk '' 'dS = p (dP - D) -1.3007622 -1.3007621 -1.00 -1.1670097 -1.1670097 -0.25'
walk '' '10 DV dV = dV + P^T dO 0.64391434 0.64391426 +1.38 key 3 0.032058608 0.032058603 +1.21'
walk '' '13 DS_SUM z = z + sum dS 1.788139e-07 0 14 DK'
walk '' '15 DQ dQ_j = dS K 9.8006458 9.8006442 +1.74 dQ = dQ + dS K 6.1658640 6.1658627 +2.61'
walk '' 'dQ[0] = 6.1658640 = 0x40C54EC2, not the float nearest the exact 6.1658627485550792193'
walk '' 'sum dS over the keys is 1.788139e-07 here and 0 without rounding'
walk '--step 1' 'D = rowsum(dO o O) = 1 x 24.926527'
walk '--step 2' 'p = e^(x - L) = e^(1 - 3.4401896)'
walk '--step 3' 'dV = dV + P^T dO = 0 + 0.087144330 x 1'
walk '--step 4' 'dP = dO v = 1 x 10'
walk '--step 5' 'dP = dP - D = 10 - 24.926527'
walk '--step 5' 'dS = p (dP - D) = 0.087144330 x (-14.926527)'
walk '--step 6' 'z = z + sum dS = 0 + (-1.3007622) + (-1.1670097)'
walk '--step 7' 'dK = dK + dS^T q = 0 + (-1.3007622) x 1'
walk '--step 8' 'dQ_j = dS K = (-1.3007622) x 1 + (-1.1670097) x 2'
walk '--step 15' 'dQ = dQ + dS K = (-3.6347816) + 9.8006458'
walk '--policy gpu-bf16 --changed' '3 ROUND_P p -> bf16 0.086914062 0.087144319 -0.47'
walk '--atomic-seed 3' '16 DQ_COPIES dQ = sum of copies 6.1658640 6.1658627 +2.61'
walk '--algorithm splitk --warps 2' '4 barriers in the block, those for loaded tiles included'
says '5 REWEIGH p = e^(s - L) 0.10881563' walk --generate gaussian --seed 3 --shape 1,4,2,5,7,3 \
    --causal --tile 2,3 --do random:1 --rows 3 --heads 1 --softcap 2
says "s' = 1 - (s/c)^2 0.97924244" walk --generate gaussian --seed 3 --shape 1,4,2,5,7,3 \
    --causal --tile 2,3 --do random:1 --rows 3 --heads 1 --softcap 2
says '4 MASK s = s where seen sees none of these keys' walk --generate gaussian --seed 3 \
    --shape 1,1,1,4,2,2 --causal --do ones --rows 0
says 'dQ[0,0] = 0 = 0x00000000, the float nearest the exact 0' walk --generate gaussian --seed 3 \
    --shape 1,1,1,1,0,2 --do ones
says '24 GROUP_SUM dK = sum dK_h' walk --generate gaussian --seed 3 --shape 1,2,1,40,150,32 \
    --dtype bf16 --kernel fa2-bwd@H200 --do random:1 --rows 3 --dims 0
refused 'walk: --beside and --do: one is right; two forward passes stand side by side' \
    walk fa2-4 --do ones --beside fa1
refused 'walk: --atomic-seed goes with --do FILE.npy, --do ones or --do random:SEED' \
    walk fa2-4 --atomic-seed 1
"$program" walk fa2-4 --do ones -o w.csv >/dev/null
same 'the keys of dV in a .csv' "$(sed -n '5,6p' w.csv | cut -d, -f3,4,6,7,11 | tr '\n' ' ')" \
    '1,dV,0,0.087144330143928528,0 1,dV,0,0.23688283562660217,1 '

# --- traces
says '41 DV dV j0 2x1 0.236883 0 +1.53' trace fa2-4 --do ones
"$program" trace fa2-4 --do ones -o b.trace >/dev/null
same 'a backward trace read again prints the same' "$("$program" trace b.trace | sed 1d)" \
    "$("$program" trace fa2-4 --do ones | sed 1d)"
same 'of one head only its steps and the group'"'"'s are recorded' \
    "$("$program" trace --generate gaussian --shape 1,4,2,3,4,2 --heads 1 --do ones |
        awk '$2 == "DELTA" || $2 == "GROUP_SUM" {print $2, $3}' | tr '\n' ' ')" \
    'DELTA D GROUP_SUM dK GROUP_SUM dV '

# --- two query heads share K = V = [0, 1]: q = 1 and 2, scale 1, dO = 1
npy q.npy '<f8' '(2, 1, 1)' 3ff0000000000000 4000000000000000
npy k.npy '<f8' '(1, 2, 1)' 0000000000000000 3ff0000000000000
group() { says "$1" exact --q q.npy --k k.npy --v k.npy --scale 1 --do ones --digits 8; }
group 'dQ[0,0,0,0] 0.1966119'
group 'dQ[0,1,0,0] 0.10499359'
group 'dK[0,0,0,0] -0.4065991'
group 'dK[0,0,1,0] 0.4065991'
group 'dV[0,0,0,0] 0.3881443'
group 'dV[0,0,1,0] 1.6118557'
says 'dV[0,0,1,0] 1.6118556' run --q q.npy --k k.npy --v k.npy --scale 1 --dtype fp32 --do ones

# --- one key: dQ = dK = 0, dV = the sum of dO over the queries that see it; masked rows: 0
says 'dQ[0,0,0,0] 0 dQ[0,0,1,0] 0 dQ[0,0,2,0] 0 dK[0,0,0,0] 0 dV[0,0,0,0] 3' \
    exact --generate gaussian --shape 1,1,1,3,1,1 --do ones
says 'dK[0,0,0,0] 0 dV[0,0,0,0] 1' exact --generate gaussian --shape 1,1,1,3,1,1 --causal --do ones
says 'dQ[0,0,0,0] 0 0x00000000 dQ[0,0,1,0] 0 0x00000000' \
    run --generate gaussian --shape 1,1,1,3,1,1 --causal --do ones

# --- sum dS: 0 in exact arithmetic, its size in bf16
says 'sum dS at most 0.00' run --generate gaussian --shape 1,1,1,32,64,16 --dtype bf16 --do random:1
same 'sum dS in 256 bits is below 2^-200' \
    "$("$program" run --generate gaussian --shape 1,1,1,8,16,4 --policy exact --do random:1 --json |
        sed -n 's/.*"max_sum_ds":[^0-9]*//p' | awk '{print ($1 + 0 < 6e-61)}')" 1

# --- the bias of low-precision training
says '7 PV Y = p V -4.7039914 -4.7039910' walk training-bias
says '8 PV_STORE Y -> bf16 -4.71875 -4.7039910 -0.47' walk training-bias
says 'SHIFT m = max(m, b m_t) 6.7265625' walk training-bias --option repeated-max=7
says '-2.3515830511645786413' exact training-bias --rows 0 --dims 0
says 'mean -0.2510 ulp of bf16' run training-bias --check --dims 0
says 'mean -0.0415 ulp of bf16' run training-bias --check --dims 0 --algorithm fa2
says 'mean -0.0494 ulp of bf16' run training-bias --check --dims 0 --option repeated-max=7
says 'mean +0.00377' run training-bias --do ones
says 'PV_STORE' audit training-bias --runs autocast,fa2
refused 'run: --option x=1: autocast knows repeated-max=BETA, once' \
    run fa2-4 --algorithm autocast --option x=1
refused 'run: --option repeated-max=1: above 1, at most 64, is right; 7 is published' \
    run fa2-4 --algorithm autocast --option repeated-max=1

# --- what is refused, and what a launch is said to exchange
refused 'run: fa2-bwd: --softcap is not modelled for it: how its tanh enters dS is not established' \
    run --generate gaussian --shape 1,1,1,8,8,64 --dtype bf16 --kernel fa2-bwd@H200 --do ones --softcap 3
says 'for each pair of tiles 2 barriers and 0 bytes of results through shared memory. By keys (split-K) 3 barriers, 544,768 bytes' \
    plan 16k
says '65,536 bytes of results through shared memory (P and dS, for dK and dV)' plan 16k --kernel backward
says 'met by up to 8 key tiles: 40,320 orders sum fp32 results of a query tile: 19,404 at most' \
    run --generate gaussian --shape 1,1,1,8,64,4 --tile 8,8 --do random:1 --arrivals all
says 'met by up to 16 key tiles: 100 orders' \
    run --generate gaussian --shape 1,1,1,8,64,4 --tile 8,4 --do random:1 --arrivals 100
"$program" run --generate gaussian --seed 1 --shape 1,1,1,1,96,4 --tile 1,16 --do ones --arrivals all -o a.svg >out
same 'orders of the results drawn for a number: all 720' \
    "$(tr '<' '\n' <a.svg | sed -n 's/^title>.*: \([0-9]*\) orders$/\1/p' | awk '{ n += $1 } END { print n }')" 2880
same 'six, two, three and four results' "$(sed -n 's/.*">\([0-9]*\) results; commonest.*/\1/p' a.svg | xargs)" '6 2 3 4'

# --- the commands that the claims name
"$program" claims --json | sed -n '/"see"/,/]/p' | grep -o '"flashulp [^"]*"' | tr -d '"' |
    sort -u >commands
matches 'claims name commands' '^(2[0-9]|3[0-9])$' "$(wc -l <commands | tr -d ' ')"
while read -r _ words; do
    # shellcheck disable=SC2086
    got=$("$program" $words 2>&1)
    status=$?
    ok=yes
    [ $status -eq 0 ] || ok=no
    printf '%s\n' "$got" | LC_ALL=C grep -qE '^.{81}|[^ -~]' && ok=no
    verdict "claims: flashulp $words" $ok "exit $status
$got"
done <commands

plan_end
