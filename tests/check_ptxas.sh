#!/bin/sh
# nvcc compiles the kernels, and ptxas spills no register: quick, one head size of fa2.cu for two
# architectures; full, everything that make gpu builds.  TAP.
. "$(dirname "$0")/tap.sh"
build=${FLASHULP_BUILD:-build}
if ! command -v nvcc >/dev/null; then
    skipped 'kernels compiled by nvcc' 'no nvcc'
    plan_end
    exit
fi
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT INT TERM

# Entry functions that spill; fa2_bwd at head size 128 does not fit an sm_75, which has 64 KB.
spills() {
    awk '/Compiling entry function/ { name = $0; sub(/.*function ./, "", name); sub(/. for ./, " ", name); sub(/.$/, "", name) }
    /bytes spill stores/ && $5 > 0 && name !~ /bwd_kernelILi128.* sm_75/ { print name ": " $0 }' "$@"
}
entries() { grep -c 'Compiling entry function' "$1"; }

if [ "${FLASHULP_TESTS:-quick}" = full ]; then
    said=$(make -s B="$build" gpu 2>&1)
    same 'make gpu builds' $? 0
    printf '%s\n' "$said" | sed -n 's/^gpu: /# note /p'
    same 'no spills in any kernel, head size and architecture' "$(spills "$build"/gpu/kernels/*.device.log)" ''
    for log in "$build"/gpu/kernels/*.device.log; do
        verdict "$(basename "$log" .device.log) was compiled" "$([ "$(entries "$log")" -gt 5 ] && echo yes)" "$(cat "$log")"
    done
    refusal=$("$build/flashulp-gpu-device" check 2>&1)
    if nvidia-smi -L 2>/dev/null | grep -q GPU; then
        same 'every kernel on this GPU is its pair' "$(printf '%s\n' "$refusal" | tail -n 1 | sed 's/^[1-9][0-9]* //')" 'passed, 0 failed, 0 skipped'
    else
        matches 'without a GPU: the call and the words' '^flashulp-gpu check: cudaGetDeviceCount: ' "$refusal"
    fi
else
    for arch in 80 120; do
        nvcc -I. -std=c++17 -O3 -fmad=false -arch=sm_$arch "-DHEAD_SIZES(X)=X(128)" -Xptxas -v -keep -keep-dir "$folder" \
            -c -o "$folder/fa2.o" gpu/kernels/fa2.cu >"$folder/log" 2>&1
        same "nvcc compiles fa2.cu for sm_$arch" "$? $(grep -ci warning "$folder/log")" '0 0'
        same "no spills for sm_$arch" "$(entries "$folder/log") $(spills "$folder/log")" '2 '
        for word in mma.sync.aligned.m16n8k16 ldmatrix.sync.aligned.m8n8.x4.trans cp.async.cg; do
            verdict "its PTX has $word" "$(grep -q "$word" "$folder/fa2.ptx" && echo yes)" "$(ls "$folder")"
        done
        same 'its PTX multiplies and adds apart' "$(grep -cE 'fma\.rn\.ftz|mad\.f32' "$folder/fa2.ptx")" 0
    done
fi
plan_end
