#!/bin/sh
# flashulp splits from outside: its figures, its keys, its picture, and every refusal compared whole.
# TAP on the output.  usage: tests/check_splits.sh   (FLASHULP_BUILD: build)
. "$(dirname "$0")/tap.sh"
verb=splits
. "$(dirname "$0")/verb.sh"
unset NO_COLOR

# says LINE WORDS...: exit 0, that whole line, and none above 80 columns or that ends with a blank
says() {
    want=$1
    shift
    got=$("$program" splits "$@" 2>&1)
    status=$?
    ok=yes
    [ $status -eq 0 ] && printf '%s\n' "$got" | grep -qxF -e "$want" || ok=no
    narrow "$got" || ok=no
    verdict "$* says $want" $ok "exit $status
$got"
}

post='--len 27525 --heads-kv 4 --dim 256'

# --- figures
says ' H200           132      54       8     512     389    216/264   0.818   0.798' $post
says ' B200           148      62       7     448     197    248/296   0.838   0.827' $post
says ' RTX-PRO-6000   188      87       5     320       5    348/376   0.926   0.787' $post
says ' why 54   H200: best is 0.939 (62 splits), so 0.798 is needed. Of 38 eligible' $post
says ' RTX-PRO-6000  |----|----|----|----|----|----|----|----|----|----|----|----|--' $post
says ' H200 and B200 share a boundary every 3,584 tokens. H200 and RTX-PRO-6000 share' $post
says ' 2,240 tokens. All three share one boundary, at 17,920.' $post
says ' same groups?  H200 = B200: no    H200 = RTX-PRO-6000: no' $post
says ' H200           132      27      16    1024     901    108/132   0.818   0.798' \
    $post --kernel fa2-split:2.5.6
says ' same groups?  H200 = H100-SXM: yes    H200 = B200: no    H100-SXM = B200: no' \
    $post --device H200,H100-SXM,B200
says ' any GPU          -      16     108    1728    1605      16' $post --kernel triton-decode
says ' H200           132      33       4    1024     768      33' $post --kernel xqa
says ' RTX-PRO-6000   188      47       3     768     512      47' $post --kernel xqa
says ' H200           132       8     108    3456    3333       8' $post --kernel sglang-decode
says ' any GPU          -      54       1     512     389      54' \
    --kernel paged-v2 --len 27525 --heads-kv 4
says ' same groups?  H200 = B200: not established' $post --kernel trtllm-reducer
says ' any GPU          -       7       7     448     360       7' \
    --len 3048 --kernel decode --num-splits 7
says '        1        500        1 x 500, 500        1 x 500, 500        1 x 500, 500' \
    --batch-lens 1,500,0,27525 --heads-kv 4 --dim 256
says ' why 1    H200: work 256 is at least 0.8 of the capacity, 264: one group.' \
    --len 27525 --heads-kv 4 --dim 256 --batch 64 --device H200
says ' no tokens: every group is empty' --len 0 --heads-kv 4
says ' A30             56      23      19    1216     773     92/112   0.821   0.820' \
    $post --device "$data/device.json"

# --- JSON
gives splits 54 $post --device H200
gives blocks 431 $post --device H200
gives block_tokens 64 $post --device H200
gives blocks_per_split 8 $post --device H200
gives tokens_per_split 512 $post --device H200
gives last_split_tokens 389 $post --device H200
gives order '"contiguous"' $post --device H200
gives order '"round-robin"' $post --device H200 --kernel xqa
gives device '"H200"' $post
gives shared_every 3584 $post --device H200,B200
gives alike false $post --device H200,B200
gives steps 9060 --workload sp22 --heads-kv 4 --dim 256
gives whole 3 --workload sp22 --heads-kv 4 --dim 256

# --- the workload
sp22='--workload sp22 --heads-kv 4 --dim 256'
says ' H200 and B200                  1,093   12.1 %   6 of 22, 3 of them whole' $sp22
says ' B200 and RTX-PRO-6000            527    5.8 %   4 of 22, 3 of them whole' $sp22
says ' all three                        108    1.2 %   SP01-M001 only' $sp22
says ' The grouping changes inside a message 12 times on H200, 12 times on B200,' $sp22
says ' never on RTX-PRO-6000.' $sp22
says ' SP06-M010  B200           27,525: 7, 27,649: 6, 27,777: 7, 28,417: 8' $sp22

# --- what a row depends on
says '   in a batch of       1-256             1; from 2: 27 groups of 1,024' $post --invariant
says '   cache capacity      27,525-220,200    27,525-29,568; from 29,569: 52 groups' \
    $post --invariant
says '   in a batch of       1-256             1-32; from 33: 1 group of 27,536' \
    $post --kernel triton-decode --invariant
says '   longest neighbour   27,525-220,200    all of them' \
    $post --kernel triton-decode --batch 2 --invariant
says '   in a batch of       1-256             all of them' \
    $post --kernel sglang-decode --option chunk=256 --invariant

# --- files
if "$program" splits $post -o p.svg -o p.json -o p.csv -o p.md -o p.html >out; then
    same 'the SVG has every group' "$(grep -c '<rect ' p.svg)" 203
    same 'so has the page' "$(grep -c '<rect ' p.html)" 203
    if command -v python3 >/dev/null 2>&1; then
        for file in p.svg p.html; do
            python3 -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' $file 2>err
            same "$file is well formed" "$(cat err)" ''
        done
    else
        skipped 'well-formed files' 'no python3'
    fi
    same 'the table' "$(sed -n 2p p.csv)" H200,132,54,8,512,389,54
    same 'the words' "$(sed -n '/^fa2-split  /,/^```/p' p.md | sed '$d')" "$(cat out)"
else
    wrong 'five files' "$(cat out)"
fi
for study in --invariant '--workload sp22'; do
    words=$post
    [ "$study" = --invariant ] || words='--heads-kv 4 --dim 256'
    for devices in H200 H200,B200; do
        "$program" splits $words $study --device $devices -o s.html -o s.csv -o s.json --force >out
        same "$study on $devices, as files" "$? $(grep -c '</html>' s.html)" '0 1'
    done
done

# --- refusals
refused 'how many tokens? --len N is right, or --batch-lens, or --workload'
refused 'how many heads? --heads-kv N is right, and --heads-q where they differ' --len 5
refused '--len -1: a whole number from 0 to 1073741824 is right' --len -1 --heads-kv 4
refused 'no kernel is named "fa2-spilt"; did you mean fa2-split?' $post --kernel fa2-spilt
refused 'no kernel is named "vllm"; fa2-split is one' $post --kernel vllm
refused 'fa3 is not modelled (schedule rule not established). To get evidence today, pin num_splits=1 on both machines, or one FA2 wheel (flash-attn 2.5.7 or later)' \
    $post --kernel fa3
refused 'SM120 is an architecture, not a device; RTX-PRO-6000 (188 SMs) or RTX-5090 (170 SMs) is right' \
    $post --device SM120
refused 'unknown device "H2000"; did you mean H200?' $post --device H200,H2000
refused '--device names H200 twice; once is right' $post --device H200,B200,h200
refused 'gone.json: no such file' $post --device gone.json
refused '15 query heads are no multiple of 4 KV heads; every KV head serves equally many' \
    $post --heads-q 15
refused 'the number of splits is 129; 1 to 128 is right' $post --num-splits 129
refused '--num-splits 0: a whole number from 1 to 1048576 is right' $post --num-splits 0
refused 'xqa takes no number of splits from its caller' $post --kernel xqa --num-splits 3
refused 'fa2-split takes no head size 257; it takes 1 to 256' --len 5 --heads-kv 4 --dim 257
refused 'paged-v2 takes no head size 100; it takes 32 64 80 96 112 120 128 192 256' \
    --len 5 --heads-kv 4 --dim 100 --kernel paged-v2
refused 'xqa takes no head size 100; it takes multiples of 16 from 16 to 256' \
    --len 5 --heads-kv 4 --dim 100 --kernel xqa
refused 'triton-decode takes no head size 16; it takes 32 and more' \
    --len 5 --heads-kv 4 --dim 16 --kernel triton-decode
refused 'xqa is modelled for one query per sequence, not 2' $post --kernel xqa --len-q 2
refused 'the rule of xqa has one version only: leave out ":1.2"' $post --kernel xqa:1.2
refused 'fa2-split has versions 2.0 and later of FlashAttention-2; 1.0.9 is none' \
    $post --kernel fa2-split:1.0.9
refused '"new" is no version; three numbers such as 2.5.6 are right' $post --kernel fa2-split:new
refused '--kernel fa2-split@H200: --device names the GPU' $post --kernel fa2-split@H200
refused 'a capacity of 100 tokens is less than the longest sequence, 27525' $post --capacity 100
refused 'fa2-split has no option "tile"; its options are swap' $post --option tile=16
refused 'paged-v2 has no options' --len 5 --heads-kv 4 --kernel paged-v2 --option a=1
refused '"swap" is no option; NAME=VALUE is right' $post --option swap
refused 'option swap of fa2-split is yes|no, not "maybe"' $post --option swap=maybe
refused 'option tile of triton-decode is a number from 16 to 32, not "a"' \
    $post --kernel triton-decode --option tile=a
refused 'a tile has 16 or 32 tokens' $post --kernel triton-decode --option tile=24
refused 'no workload is named "sp23"; did you mean sp22?' --workload sp23 --heads-kv 4
refused '--workload says the lengths; --len does not go with it' --workload sp22 $post
refused '--batch-lens stands in place of --batch and --len' $post --batch-lens 1,2
refused '--batch-lens 1,-5: -5 is outside 0 to 1073741824' --batch-lens 1,-5 --heads-kv 4
refused 'decode groups as it is told: give the number of splits' --len 4 --kernel decode
refused 'fa2-4: splits takes options only, such as --len 27525' fa2-4
refused '--invariant asks about a row with tokens; --len 0 has no groups' \
    --len 0 --heads-kv 4 --invariant
refused '--invariant asks about one row: --len and --batch are right, not --batch-lens' \
    --batch-lens 5,6 --heads-kv 4 --invariant
refused 'the work of this launch, batch x heads x query blocks, is past the kernel'"'"'s 32-bit counter' \
    --len 5 --heads-kv 65536 --batch 1048576
refused '-o p.png: the ending says what is written; one of .html, .md, .json, .csv, .svg is right' \
    $post -o p.png
refused '-o p.svg: the ending says what is written; one of .html, .md, .json, .csv is right' \
    --workload sp22 --heads-kv 4 -o p.svg --force

plan_end
