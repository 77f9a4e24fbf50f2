#!/bin/sh
# What nvcc makes of the kernels, executed on a CPU: every kernel is its pair, bit for bit, and four
# mistakes in the inline assembly are noticed, which the emulator cannot see.  TAP.
. "$(dirname "$0")/tap.sh"
build=${FLASHULP_BUILD:-build}
if ! command -v nvcc >/dev/null || ! command -v "${CXX:-g++}" >/dev/null; then
    skipped 'kernels as PTX' 'no nvcc, or no C++ compiler'
    plan_end
    exit
fi
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT INT TERM

[ "${FLASHULP_TESTS:-quick}" = full ] && { archs='80 90 100 120' how=''; } || { archs=80 how=--quick; }
known=$(nvcc --list-gpu-arch)
for arch in $archs; do
    case $known in *compute_$arch*) ;; *) skipped "kernels as PTX for sm_$arch" 'this nvcc does not know it'; continue ;; esac
    said=$(make -s B="$build" PTX_ARCH="$arch" ptx 2>&1)
    same "make ptx for sm_$arch" "$? $said" '0 '
    said=$(FLASHULP_PTX=$build/gpu/ptx/$arch "$build/flashulp-gpu-ptx" check --emulate $how)
    same "PTX for sm_$arch: every kernel is its pair" \
        "$(printf '%s\n' "$said" | tail -n 1 | sed 's/^[1-9][0-9]* //')" 'passed, 0 failed, 0 skipped'
done

# fa2.cu, one head size, with prims_ptx.h as it is or changed; $1: a folder's name, $2: what for sed.
compiled() {
    mkdir -p "$folder/$1/gpu/kernels" "$folder/$1/ptx"
    cp gpu/kernels/* "$folder/$1/gpu/kernels"
    sed "$2" gpu/kernels/prims_ptx.h >"$folder/$1/gpu/kernels/prims_ptx.h"
    nvcc -ptx -arch=compute_80 -std=c++17 -fmad=false "-I$folder/$1" -I. "-DHEAD_SIZES(X)=X(64)" \
        -o "$folder/$1/ptx/fa2.ptx" "$folder/$1/gpu/kernels/fa2.cu"
}
agrees() {
    FLASHULP_PTX=$folder/$1/ptx "$build/flashulp-gpu-ptx" run --emulate --pair --generate gaussian \
        --dtype bf16 --shape 1,1,1,96,96,64 2>&1 | tail -n 1
}
compiled right ''
same 'one head size of fa2.cu is its pair' "$(agrees right)" 'pair       every bit agrees'
while IFS='|' read -r name change; do
    compiled "$name" "$change"
    verdict "$name: prims_ptx.h was changed" \
        "$(cmp -s gpu/kernels/prims_ptx.h "$folder/$name/gpu/kernels/prims_ptx.h" || echo yes)" "$change"
    matches "$name: noticed" 'differ' "$(agrees "$name")"
done <<'CHANGES'
cvt-halves|s/"=r"(word) : "f"(hi), "f"(lo)/"=r"(word) : "f"(lo), "f"(hi)/
a-registers|s/"r"(a\[0\]), "r"(a\[1\]), "r"(a\[2\])/"r"(a[0]), "r"(a[2]), "r"(a[1])/
b-registers|s/"r"(b\[0\]), "r"(b\[1\])/"r"(b[1]), "r"(b[0])/
not-transposed|s/ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16/ldmatrix.sync.aligned.m8n8.x4.shared.b16/
CHANGES

# A whole kernel file that is not there, PTX that is not known.
matches 'a folder that is not there' 'no folder .*make ptx fills it' \
    "$(FLASHULP_PTX=$folder/none "$build/flashulp-gpu-ptx" check 2>&1)"
sed '0,/add\.s32/s/add\.s32/addc.s32/' "$folder/right/ptx/fa2.ptx" >"$folder/unknown.ptx"
mkdir "$folder/unknown" && mv "$folder/unknown.ptx" "$folder/unknown/fa2.ptx"
matches 'an instruction that is not known' 'fa2.ptx:[0-9]*: this instruction is not known here: addc.s32' \
    "$(FLASHULP_PTX=$folder/unknown "$build/flashulp-gpu-ptx" check 2>&1)"
plan_end
