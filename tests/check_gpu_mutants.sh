#!/bin/sh
# Slips planted in copies of fa2.cu and tiles.h, eight of synchronisation and three of layout, each found
# by the emulator; and nothing found in the kernel as it is.  Found, by ways to run: ascending,
# descending, random; the same with copies as late as legal; the detector.  TAP.
. "$(dirname "$0")/tap.sh"
build=${FLASHULP_BUILD:-build}
if ! command -v "${CXX:-g++}" >/dev/null || [ ! -f "$build/libemulator.a" ]; then
    skipped 'slips in kernels are found' 'no C++ compiler'
    plan_end
    exit
fi
if grep -q fsanitize "$build/FLAGS.setting"; then
    skipped 'slips in kernels are found' 'the emulator is built with sanitizers; make test runs it'
    plan_end
    exit
fi
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT INT TERM
cp -r gpu/kernels "$folder/right"

# mutant NAME FILE SED-SCRIPT: a copy with one slip; its launch function gets a name of its own.
names=''
mutant() {
    names="$names $1"
    echo "MUTANT($1)" >>"$folder/mutants.def"
    mkdir "$folder/$1" && cp gpu/kernels/*.h gpu/kernels/fa2.cu "$folder/$1"
    [ -z "$2" ] && return
    sed -i.before "$3" "$folder/$1/$2"
    cmp -s "$folder/$1/$2" "$folder/$1/$2.before" && wrong "the slip $1 was planted" "$3"
    rm -f "$folder/$1/$2.before"
}
nth() { # N PATTERN: a sed address of the N-th line of fa2.cu that matches
    grep -nE "$2" gpu/kernels/fa2.cu | sed -n "$1s/:.*//p"
}
barrier='^ *__syncthreads' wait='^ *cp_async_wait<1>' commit='^ *cp_async_commit'
mutant none
mutant last_barrier fa2.cu "$(nth 3 "$barrier")d"
mutant barrier_after_v fa2.cu "$(nth 2 "$barrier")d"
mutant v_wait fa2.cu "$(nth 2 "$wait")s/<1>/<2>/"
mutant k_wait fa2.cu "$(nth 3 "$wait")s/<1>/<2>/"
mutant first_barrier fa2.cu "$(nth 1 "$barrier")d"
mutant first_wait fa2.cu "$(nth 1 "$wait")d"
mutant v_buffer fa2.cu 's/V + next \* KEYS \* D, v/V + now * KEYS * D, v/'
mutant commit fa2.cu "$(nth 3 "$commit")d"
mutant swizzle_one_side tiles.h 's/^    ldmatrix_x4_trans(f, chunk_of<D>(tile, row0 + (lane & 15), c + (lane >> 4)));/    ldmatrix_x4_trans(f, tile + (row0 + (lane \& 15)) * D + (c + (lane >> 4)) * 8);/'
mutant p_wrong_half fa2.cu 's/pack<HALF>(S\[n\]\[2 \* h\], S\[n\]\[2 \* h + 1\])/pack<HALF>(S[n][2 * h + 1], S[n][2 * h])/'
mutant v_untransposed tiles.h 's/ldmatrix_x4_trans(f, chunk_of<D>(tile, row0 + (lane & 15)/ldmatrix_x4(f, chunk_of<D>(tile, row0 + (lane \& 15)/'

objects='' failed_build=''
for name in $names; do
    ${CXX:-g++} -x c++ -std=c++17 -O1 -ffp-contract=off -fno-exceptions -fno-rtti -fPIC -w -DFLASHULP_EMULATED \
        -fsanitize=thread "-DHEAD_SIZES(X)=X(64)" "-Dgpu_fa2=mutant_$name" -I. -I"$folder/$name" -c \
        -o "$folder/$name.o" "$folder/$name/fa2.cu" || failed_build="$failed_build $name"
    objects="$objects $folder/$name.o"
done
same 'every slip compiles' "$failed_build" ''
${CC:-cc} -std=c11 -O1 -I. -I"$folder" -o "$folder/mutants" tests/gpu_mutants.c $objects "$build/libemulator.a" \
    "$build/libflashulp.a" -lmpfr -lgmp -lcjson -lm -pthread
found=$("$folder/mutants" 2>"$folder/err") || wrong 'the slips ran' "$(cat "$folder/err")"
row() { printf '%s\n' "$found" | sed -n "s/^$1 //p"; }
same 'nothing is found in the kernel as it is' "$(row none)" '.......'
for name in last_barrier barrier_after_v v_wait k_wait first_barrier first_wait v_buffer commit; do
    matches "$name: found in descending order with late copies, and by the detector" '^....X.X$' "$(row $name)"
done
for name in swizzle_one_side p_wrong_half v_untransposed; do
    same "$name: every way finds it" "$(row $name)" XXXXXXX
done
printf '%s\n' "$found" | sed 's/^/# /'
plan_end
