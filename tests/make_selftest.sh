#!/bin/sh
# Prints simulator/cli/selftest.def as the program computes it now.  A changed row needs its reason in
# the commit.  usage: tests/make_selftest.sh [PROGRAM] >simulator/cli/selftest.def
program=${1:-build/flashulp}
row() {
    digest=$("$program" run "$@" --json | sed -n 's/.*"digest":[^"]*"\([0-9a-f]*\)".*/\1/p')
    echo "SELFTEST(\"$*\", $digest)"
}
echo '/* selftest.def: what `flashulp doctor` runs, and the digests it is to find.

   SELFTEST(words behind flashulp run, digest in hex)
   Written by tests/make_selftest.sh; tests/check_doctor.sh holds the one to the other. */'
masked='--generate gaussian --shape 2,4,2,19,37,24 --causal --tile 8,16'
window='--generate gaussian --shape 1,2,1,9,40,5 --window 6,3 --softcap 4 --scale 2 --tile 4,7'
for algorithm in $("$program" list algorithms --json | sed -n 's/.*"name":[^"]*"\([^"]*\)".*/\1/p'); do
    for policy in fp32 gpu-bf16 gpu-fp16 all-bf16 fp8; do
        for special in cr poly; do
            for problem in "$masked" "$window"; do
                case $algorithm in
                standard | online) problem=${problem% --tile *} ;;
                decode) problem="${problem% --tile *} --tile 1,8" ;;
                fa2-printed | unstable) problem="$problem --fault none" ;;
                esac
                # shellcheck disable=SC2086
                row $problem --algorithm $algorithm --policy $policy --special $special
            done
        done
    done
done
for order in seq pairwise; do
    # shellcheck disable=SC2086
    row $masked --order SCORE_ACC=$order --order ROW_SUM=$order --order OUT_ACC=$order --kv descending
done
for arith in double mpfr; do
    row --generate gaussian --shape 1,1,1,5,12,6 --policy exact --arith $arith
done
for backend in fa2 triton trtllm xqa; do
    row h200-b200 --algorithm decode --splits 33 --option backend=$backend
done
for example in fa2-4 fa2-printed s2-g1 s2-g2 s2-order m8 m9 p1 a6; do
    row $example
done
