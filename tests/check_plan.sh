#!/bin/sh
# flashulp plan from outside: its figures, its keys, its files, and every refusal compared whole.
# TAP on the output.  usage: tests/check_plan.sh   (FLASHULP_BUILD: build)
. "$(dirname "$0")/tap.sh"
verb=plan
. "$(dirname "$0")/verb.sh"

# says WORDS-OF-A-TEXT ARGUMENTS...: exit 0; the text, line breaks taken as blanks, has them; no line
# above 80 columns or that ends with a blank
says() {
    want=$1
    shift
    got=$("$program" plan "$@" 2>&1)
    status=$?
    ok=yes
    flat=$(printf '%s\n' "$got" | tr -s '\n ' '  ')
    case $flat in *"$want"*) ;; *) ok=no ;; esac
    [ $status -eq 0 ] || ok=no
    narrow "$got" || ok=no
    verdict "$* says $want" $ok "exit $status
$got"
}
# --- figures: the article's launch, first a block a head, then a block a row block
says 'On 108 SMs at 1 an SM 0.30 waves, 1 launched, 29.6 % full' 32-blocks
says '76 SMs stay idle' 32-blocks
says '2,048, a row block each: 64 a head, 32 heads. On 108 SMs at 1 an SM 18.96 waves, 19 launched, 99.8 % full; at 2 an SM 9.48 waves, 10 launched, 94.8 % full.' 2048-blocks
says '129,024 are skipped (49.2 %), 4,096 masked, 129,024 plain' 8k
says '128 x 64, 4 warps, the shipped kernel'"'"'s: 65,536 bytes of shared memory (a block may have 163 KB); accumulators take 192 of a thread'"'"'s 255 registers, with 48 others it fits.' 16k
says 'so it spills, which is not in the model' 16k --tile 128,128
says 'not modelled: T4 has no established figure' --kernel fa1 --len 512 --heads-q 4 --dim 64 --device T4
says 'lanes 128: fp32 operations' 8k --device H200
says '216 0.82 81.8 %' decode --device A100,H200
says '5.498e+11 FLOPs' 8k
says '1.375e+12 FLOPs' 8k --kernel backward
says 'per-sm 1: blocks resident on an SM; 0: as many as registers and shared memory let (given)' \
    8k --assume per-sm=1
says 'A100 128 x 64' --shape 1,1,1,5,7,40 --tile 128,64
says '64 x 64' 8k --device "$data/device.json" --tile 64,64
for context in 8k 16k 32k 65k 100k decode 32-blocks 2048-blocks; do
    for device in A100 H100-SXM,B200,RTX-5090; do
        says 'No GPU was asked' $context --device $device
    done
done
says '128 x 64 4 64 192 2 9.48 3.91 - 9.31 fits, ships' 16k --sweep
says '256 x 256 4 192 768 0 - - too big: 192 of 163 KB' 16k --sweep
says '256 x 64 4 48 256 2 4.74 - spills, 256 of 255' 16k --sweep --dim 64
says '64 x 128 8 144 192 1' 16k --sweep --kernel backward
for device in A100 H200 B200 RTX-5090 L40S; do
    for dim in 32 64 96 128 192 256; do
        for causal in '' --causal; do
            ships=$("$program" plan --len 4096 --heads-q 4 --dim $dim $causal --device $device --sweep |
                grep -c 'fits, ships$')
            same "$device, head size $dim $causal: one tile of the sweep ships, and fits" "$ships" 1
        done
    done
done

# --- keys
gives blocks 2048 2048-blocks
gives full 0.9980506822612085 2048-blocks --assume per-sm=1
gives waves_one_per_sm 18.962962962962962 2048-blocks
gives busy_sms 32 32-blocks
gives flops_visible 137438953472 --len 2048 --heads-q 16 --batch 4
gives splits 54 decode --device H200
gives shared_bytes 65536 8k
gives verdict '"fits, ships"' 8k
gives skipped 129024 8k

# --- files
if "$program" plan 16k -o p.svg -o p.html -o p.md -o p.json -o p.csv >out; then
    for file in p.svg p.html; do
        if command -v python3 >/dev/null 2>&1; then
            python3 -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' $file 2>err
            same "$file is well formed" "$(cat err)" ''
        else
            skipped "$file is well formed" 'no python3'
        fi
    done
    same 'shares, roofline and waves in one picture' "$(grep -c '<svg' p.svg) $(grep -c polyline p.svg)" '4 1'
    matches 'the share of the matrix products' '<title>98.6 %</title>' "$(cat p.svg)"
    matches 'and of their time' '<title>42.0 %</title>' "$(cat p.svg)"
    same 'the table' "$(sed -n 2p p.csv | cut -d, -f1-10)" A100,128,64,4,64,240,2,2048,9.4815,10
    same 'the words' "$(sed -n '/^fa2  /,/^```/p' p.md | sed '$d')" "$(cat out)"
else
    wrong 'five files' "$(cat out)"
fi
"$program" plan 16k --sweep --device A100,L40S -o s.html -o s.csv -o s.json -o s.svg >out
same 'a sweep as files' "$? $(grep -c fits s.csv) $(grep -c '</html>' s.html)" '0 29 1'
same 'every tile of each device in the picture' "$(grep -c ' registers</title>' s.svg)" 48
matches 'beyond a limit: three times the registers' '<title>768 registers</title>' "$(cat s.svg)"
"$program" plan 16k --figure roofline -o f.svg >out
"$program" plan decode --figure heads -o h.svg >out
matches 'heads 8 to 15 share a key head' '<title>8 to 15</title>' "$(cat h.svg)"
same 'the figure that is named' "$(grep -c '<svg' f.svg)" 2

# --- refusals
refused 'how many tokens? --len N is right, or --shape, or an example such as 8k; flashulp list launches'
refused 'how many heads? --heads-q N is right, and --heads-kv where they differ' --len 5
refused 'no launch is named "8kk"; did you mean 8k?' 8kk
refused 'no launch is named "everything"; flashulp list launches' everything
refused '--len 0: a whole number from 1 to 16777216 is right' --len 0 --heads-q 4
refused '--len -3: a whole number from 1 to 16777216 is right' --len -3 --heads-q 4
refused '--batch 0: a whole number from 1 to 1048576 is right' 8k --batch 0
refused '--dim 0: a whole number from 1 to 65536 is right' 8k --dim 0
refused '--heads-q -1: a whole number from 1 to 1048576 is right' 8k --heads-q -1
refused '16 query heads are not a multiple of 3 KV heads' 8k --heads-kv 3
refused '--shape 1,0,1,5,5,64: 0 is outside 1 to 16777216' --shape 1,0,1,5,5,64
refused '--shape 1,2,3: B,Hq,Hkv,Nq,Nk,D, 6 whole numbers, is right' --shape 1,2,3
refused '--shape says all sizes; --len does not go with it' --shape 1,1,1,5,5,64 --len 5
refused '--shape says all sizes; 8k does not go with it' 8k --shape 1,1,1,5,5,64
refused 'unknown device "H2000"; did you mean H200?' 8k --device H2000
refused 'SM120 is an architecture, not a device; RTX-PRO-6000 (188 SMs) or RTX-5090 (170 SMs) is right' \
    8k --device SM120
refused '--device names A100 twice; once is right' 8k --device A100,a100
refused '--kernel fa3: plan knows no such launch; did you mean fa1?' 8k --kernel fa3
refused '--tile 512,512 needs 393,216 bytes of shared memory at head size 128; a block may have 163 KB: fewer rows or keys are right' \
    8k --tile 512,512
refused '--tile 256,256 needs 196,608 bytes of shared memory at head size 128; a block may have 163 KB at most on these devices: fewer rows or keys are right' \
    8k --tile 256,256 --device A100,RTX-4090
refused '--tile 0,64: 0 is outside 1 to 4096' 8k --tile 0,64
refused '--tile 64: Br,Bc, 2 whole numbers, is right' 8k --tile 64
refused '--warps goes with --tile Br,Bc' 8k --warps 8
refused '--warps 33: a whole number from 1 to 32 is right' 8k --tile 64,64 --warps 33
refused '--sweep tries every tile; --tile and --warps do not go with it' 8k --sweep --tile 64,64
refused '--sweep tries the tiles of fa2 and backward, not of decode' decode --sweep
refused '--num-splits goes with --kernel decode' 8k --num-splits 4
refused 'head size 300: the shipped kernels take at most 256; --tile Br,Bc --warps N plans another one' \
    8k --dim 300
refused 'FlashAttention-2 does not ship for sm75; an Ampere device or later is right, or --kernel fa1, or --tile Br,Bc' \
    8k --device T4
refused '--assume exp-per-clok: nothing is so called; did you mean exp-per-clock?' 8k --assume exp-per-clok=3
refused '--assume per-sm: 1.5 is no whole number from 0 to 64' 8k --assume per-sm=1.5
refused '-o p.png: the ending says what is written; one of .json, .md, .csv, .html, .svg is right' \
    8k -o p.png
refused '--figure sweep: one of these is right: shares heads roofline waves' 8k --figure sweep
refused '-o n.svg: there is nothing to draw here' \
    --kernel fa1 --len 512 --heads-q 4 --dim 64 --device T4 --figure shares -o n.svg
plan_end
