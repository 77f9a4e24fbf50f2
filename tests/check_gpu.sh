#!/bin/sh
# flashulp-gpu on the emulator: every kernel is its pair's equal; what it prints, takes and refuses.  TAP.
. "$(dirname "$0")/tap.sh"
build=$(cd "${FLASHULP_BUILD:-build}" && pwd)
gpu=$build/flashulp-gpu
if [ ! -x "$gpu" ]; then
    skipped 'flashulp-gpu' 'not built: no C++ compiler'
    plan_end
    exit
fi
problem='--generate gaussian --dtype bf16 --seed 3 --shape'
level=--quick
[ "${FLASHULP_TESTS:-quick}" = full ] && level=
said=$("$gpu" check $level 2>&1)
same 'check passes' $? 0
[ "$(printf '%s\n' "$said" | grep -c FAILED)" -eq 0 ] || wrong 'no kernel fails' "$said"
matches 'it says that it is the emulator' '^on the emulator: a CPU, no GPU$' "$said"
matches 'atomic adds come in several orders, and it shows' \
    '^  atomic adds: in another order of blocks [1-9][0-9]* of [0-9,]+ numbers of dQ are others$' "$said"
matches 'how near the certified result' \
    '^the certified result: outputs within 0\.[0-9]+ of the proved bound, gradients within 0\.[0-9]+$' "$said"
matches 'its last line' '^[1-9][0-9]* passed, 0 failed, 0 skipped$' "$(printf '%s\n' "$said" | tail -n 1)"
printf '%s\n' "$said" | tail -n 1 | sed 's/^/# note CUDA kernels on the emulator: /'
for kernel in $(sed -n 's/^GPU_KERNEL([A-Z_0-9]*, "\([^"]*\)".*/\1/p' gpu/kernels.def); do
    matches "check asks $kernel" "^$kernel +[1-9][0-9]* passed, 0 failed$" "$said"
done

# Of every kernel every head size in both formats is asked, by the rows of check.def.
for asked in FORWARD DECODES BACKWARD; do
    for dtype in NORMAL FP16; do
        for d in 32 64 128 256; do
            same "check asks $asked kernels of $dtype, head size $d" \
                "$(grep -cE "^CHECK\(.*, $dtype \"[0-9,]*,$d .*ASK_$asked" gpu/check.def | sed 's/^[1-9][0-9]*$/some/')" some
        done
    done
done

# The pair that a run names is a command that gives the run's digest.
for words in "--kernel fa2 $problem 1,2,1,50,70,64 --causal" "--kernel fa1 $problem 1,1,1,30,66,32" \
    "--kernel decode-triton $problem 1,4,2,1,200,64 --splits 2" "--kernel fa2 --accumulate sm90 $problem 1,1,1,20,90,128" \
    "--kernel fa2-bwd-det $problem 1,2,1,40,90,32 --do random:4"; do
    said=$("$build/flashulp" gpu run $words)
    ran=$(printf '%s\n' "$said" | sed -n 's/^digest \([0-9a-f]*\).*/\1/p')
    pair=$(printf '%s\n' "$said" | sed -n '/^its pair /,/^pair /{s/^its pair *flashulp//;/^pair/d;p;}' | tr '\n' ' ')
    same "the pair's digest: $words" "$ran" "$("$build/flashulp" $pair | sed -n 's/^digest \([0-9a-f]*\).*/\1/p')"
done
matches 'what is planted is said' '^NaN and infinities are planted in keys, which the words below leave out$' \
    "$("$gpu" run $problem 1,1,1,8,8,32 --causal --plant keys)"
same 'a run that agrees with its pair' "$("$gpu" run --pair $problem 1,1,1,8,8,32 >/dev/null && echo yes)" yes
# dQ by atomic adds has the bits of its order of blocks, and so has the pair; in copies it has the same in all.
words="--generate gaussian --dtype fp16 --shape 1,2,1,128,320,32 --seed 22"
digest() { sed -n 's/^digest \([0-9a-f]*\).*/\1/p'; }
for kernel in fa2-bwd fa2-bwd-det; do
    plain=$("$gpu" run --kernel $kernel $words | digest)
    for how in late 'random --schedule-seed 5' 'random --schedule-seed 6'; do
        said=$("$gpu" run --kernel $kernel $words --pair --schedule $how)
        matches "$kernel, $how: its pair agrees" '^pair       every bit agrees$' "$said"
        same "$kernel, $how: the plain order's bits" "$([ "$(printf '%s\n' "$said" | digest)" = "$plain" ] && echo same)" \
            "$([ $kernel = fa2-bwd-det ] && echo same)"
        same "$kernel, $how: the order is said" "$(printf '%s\n' "$said" | grep -c 'in the order of blocks of this schedule')" \
            "$([ $kernel = fa2-bwd ] && echo 1 || echo 0)"
    done
done
if command -v python3 >/dev/null; then
    same 'JSON of run' "$("$gpu" run --pair --json $problem 1,1,1,8,8,32 | python3 -c '
import json, sys
j = json.load(sys.stdin)
print(j["schema"], j["kernel"], j["emulator"], j["equal"], j["shape"], len(j["output"]), len(j["lse"]))')" \
        '1 fa2 True True [1, 1, 8, 32] 64 8'
    same 'JSON of check' "$("$gpu" check --quick --json --kernel fa2-rows | python3 -c '
import json, sys
j = json.load(sys.stdin)
print(j["schema"], j["failed"], j["failures"], j["passed"] > 9)')" '1 0 [] True'
else
    skipped 'JSON' 'python3 is not here'
fi

# A tensor core probed: the emulated one is its own model; rows differ from other units'.
said=$("$gpu" probe mma --accumulate H100)
matches 'probe mma says that no GPU was asked' '^no GPU was asked' "$said"
matches 'probe mma: H100 has the sums of sm90' '^  mma@sm90 +0 of 4096 rows differ$' "$said"
matches 'probe mma: and not those of sm80' '^  mma@sm80 +[1-9][0-9]* of 4096 rows differ$' "$said"
matches 'probe mma: A100' '^  mma@sm80 +0 of 4096 rows differ$' "$("$gpu" probe mma --accumulate A100)"
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT INT TERM
for function in ex2 lg2 rcp; do
    for first in 0 1065353216 2139095000 3221225472; do
        "$gpu" probe $function -o "$folder/t.tab" --first $first --count 3000 --force >/dev/null
        matches "probe $function from $first: a table that loads" "$function table:t.tab" \
            "$("$build/flashulp" run fa2-4 --special "table:$folder/t.tab" 2>&1)"
    done
done
said=$("$gpu" trace $problem 1,1,1,64,64,64)
matches 'trace: swizzled tiles have no bank conflicts' 'passes over shared memory \(x 1\.00 of the least\) +[1-9]' "$said"
matches 'trace: products' '^  mma\.sync +256$' "$said"
lanes=$folder/lanes.trace
said=$("$gpu" trace $problem 1,1,1,64,64,64 -o "$lanes" && head -c 8 "$lanes")
matches 'trace: every access, written' '^    of them written +[1-9]' "$said"
matches 'trace: as a trace' '^ULPTRACE' "$said"
said=$("$gpu" trace $problem 1,1,1,64,64,64 -o lanes.png 2>&1)
matches 'trace: no picture of lanes' 'lanes.png: what lanes did is written as a .trace$' "$said"
said=$(timeout 60 "$gpu" bench 2>&1)
matches 'bench says that no GPU was asked' '^no GPU was asked' "$said"
standin="weights by exp2f of C, a stand-in for ex2.approx: no GPU's bits"
matches 'bench says what hw is here' "^exp hw: $standin$" "$said"
said=$("$gpu" run --exp hw $problem 1,1,1,8,8,32)
matches 'run says what hw is here' "^$standin$" "$said"
matches 'run with hw has no pair' '^no pair; with --exp poly it is$' "$said"
matches 'trace says what hw is here' "^$standin$" "$("$gpu" trace --exp hw $problem 1,1,1,8,8,32)"
for exp in poly=poly hw=stand-in; do
    matches "JSON of run --exp ${exp%=*}" "\"exp\":.\"${exp#*=}\"" "$("$gpu" run --exp ${exp%=*} --json $problem 1,1,1,8,8,32)"
done

# What make says of the program for GPUs; kernels for the emulator name no folder of this machine.
mkdir "$folder/bin"
for word in sh sed tr dirname mkdir; do ln -s "$(command -v $word)" "$folder/bin/$word"; done
same 'without nvcc it is said' "$(PATH=$folder/bin gpu/device.sh say 2>&1)" \
    'skipped: CUDA kernels for GPUs need nvcc, of the CUDA toolkit; the emulator runs them'
printf '#!/bin/sh\necho compute_80\necho compute_90\n' >"$folder/bin/nvcc" && chmod +x "$folder/bin/nvcc"
same 'with an nvcc that knows two of three' "$(PATH=$folder/bin ARCHS='75 80 90' gpu/device.sh say 2>&1)" \
    'gpu: this nvcc does not know sm_75: left out
not built yet: CUDA kernels for GPUs; make gpu compiles them for sm_80 sm_90 (7 minutes)'
same 'emulated kernels name no folder' "$(grep -l "$PWD" "$build"/gpu/kernels/*.emulated.o "$build"/gpu/kernels/*.checked.o)" ''

"$gpu" run --kernel fa2-bwd $problem 1,2,1,40,50,32 --do random:5 --out "$folder/o.npy" --lse "$folder/l.npy" --dq "$folder/dq.npy" --dk "$folder/dk.npy" --dv "$folder/dv.npy" >/dev/null
"$build/flashulp" run $problem 1,2,1,40,50,32 --do random:5 --tile 64,64 --order ROW_SUM=lanes:quad:2,1 --special poly \
    --dq "$folder/dq2.npy" --dk "$folder/dk2.npy" --dv "$folder/dv2.npy" >/dev/null
for name in dq dk dv; do
    same "$name, written by both" "$(cmp "$folder/$name.npy" "$folder/${name}2.npy" && echo equal)" equal
done
same 'O and LSE are written' "$(ls "$folder"/[ol].npy | wc -l | tr -d ' ')" 2

refused() { # SENTENCE WORDS...: exit 2 and that sentence
    want=$1
    shift
    got=$("$gpu" "$@" 2>&1)
    same "refused: $*" "$? $got" "2 flashulp-gpu $want"
}
refused 'run: fa2: head size 48; 32, 64, 128 or 256 is right' run $problem 1,1,1,8,8,48
refused 'run: fa2: inputs are fp32; bf16 or fp16 is right (--dtype bf16)' run --generate gaussian --shape 1,1,1,8,8,64
refused 'run: decode-fa2: 2 queries a head; one is right' run --kernel decode-fa2 $problem 1,1,1,2,8,64
refused 'run: decode-fa2: 17 query heads share a key head; at most 16 is right' run --kernel decode-fa2 $problem 1,17,1,1,8,64
refused 'run: fa2: there is no query; at least one is right' run $problem 1,1,1,0,8,64
refused 'run: fa2: it has no softcap; leave out --softcap' run $problem 1,1,1,8,8,64 --softcap 3
refused 'run: fa2: it has no window; leave out --window' run $problem 1,1,1,8,8,64 --window 3,0
refused 'run: fa2: causal is aligned to the bottom right; leave out --causal-align' run $problem 1,1,1,8,8,64 --causal --causal-align top-left
refused 'run: fa2: it takes no packed sequences; leave out --cu-seqlens' run $problem 1,1,1,8,8,64 --cu-seqlens 0,3,8
refused 'run: no kernel of ours is named fa22; did you mean fa2?' run --kernel fa22 $problem 1,1,1,8,8,64
refused 'run: --accumulate sm99: fp32, A100, H100 or a unit of flashulp list units, such as sm80, is right' run --accumulate sm99 $problem 1,1,1,8,8,64
refused 'run: --schedule never: plain, late, random or detector is right' run --schedule never $problem 1,1,1,8,8,64
refused 'run: --plant here: keys or queries is right' run $problem 1,1,1,8,8,64 --plant here
refused 'run: --kernel needs a value' run $problem 1,1,1,8,8,64 --kernel
refused 'check: "fa2": --kernel, --quick and --json are all it takes' check fa2
refused 'probe: mma, or ex2, lg2 or rcp with -o FILE, is right' probe
refused 'probe: --json goes with mma; a table is written to -o FILE' probe ex2 --json -o "$folder/all.tab"
refused 'bench: --kernel decode-xqa: one of the forward kernels, fa2-rows to splitk, is right' bench --kernel decode-xqa
said=$(timeout 60 "$gpu" bench --kernel fa2 --json)
same 'bench --json: the kernel asked for, alone, with either exp' \
    "$(printf '%s\n' "$said" | grep -c '"kernel":	"fa2"') $(printf '%s\n' "$said" | grep -c '"seconds"')" '2 2'
same 'probe mma --json: two formats, no row differs from its own unit' \
    "$("$gpu" probe mma --accumulate H100 --json | grep -A1 '"order":	"mma@sm90"' | grep -c '"differ":	0')" 2
refused 'probe: -o FILE is missing: where the table goes' probe ex2
refused "probe: the emulator has no such instruction, only a stand-in whose bits say nothing: run this where a GPU is (make gpu), or try the format with --count 1000" probe ex2 -o "$folder/all.tab"
refused 'run: --exp hw has no pair: the bits of a GPU'"'"'s 2^x are its own; leave out one of them' run --exp hw --pair $problem 1,1,1,8,8,64
refused 'run: --tile is not for our kernels: what they compute, and how, is fixed (flashulp-gpu list)' run $problem 1,1,1,8,8,64 --tile 32,32
refused 'run: --dq: this kernel has no gradients; --kernel fa2-bwd has' run $problem 1,1,1,8,8,64 --dq "$folder/none.npy"
refused 'check: it runs every schedule and sum: --kernel, --quick and --json are all it takes' check --accumulate A100
refused 'chek: no such verb; did you mean check?' chek
same 'help' "$("$build/flashulp" gpu --help | head -n 1)" 'flashulp-gpu - FlashAttention in CUDA, checked against the simulator to the bit'
same 'at most 80 columns' "$({ "$gpu" --help; "$gpu" list; } | awk 'length > 80')" ''
plan_end
