#!/bin/sh
# The emulator with swapcontext instead of its own stack switch, and for aarch64 under qemu: the same
# sums, digests and reports as the native program.  Full only.  TAP on the output.
. "$(dirname "$0")/tap.sh"
if [ "${FLASHULP_TESTS:-quick}" != full ]; then
    skipped "the emulator's ports" 'make test-full'
    exit 0
fi
build=${FLASHULP_BUILD:-build}
cc=${CC:-cc} cxx=${CXX:-c++}
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT INT TERM
common="-O2 -ffp-contract=off -fno-math-errno -I. -w"
# what the emulator takes of the simulator and the reference
shared="simulator/mma.c simulator/mma_parse.c simulator/mma_step.c simulator/cpu.c simulator/trace.c
    simulator/trace_chunks.c simulator/trace_lanes.c reference/format.c reference/message.c reference/crc32.c"

# program OUT CC CXX FLAGS SOURCES LIBRARIES
program() {
    mkdir -p "$folder/$1.d"
    for f in $5; do
        # shellcheck disable=SC2086
        $2 -std=c11 -D_POSIX_C_SOURCE=200809L $common $4 -DCPU_LEVEL=base -c -o "$folder/$1.d/$(basename "$f").o" "$f" || return 1
    done
    for f in basics matrices bugs; do
        # shellcheck disable=SC2086
        $3 -x c++ -std=c++17 $common -fno-exceptions -fno-rtti -fstack-clash-protection -DFLASHULP_EMULATED \
            -c -o "$folder/$1.d/$f.o" tests/emulated/$f.cu || return 1
    done
    # shellcheck disable=SC2086
    $2 -o "$folder/$1" "$folder/$1.d"/*.o $6 -lm -pthread
}

if ! command -v $cxx >/dev/null 2>&1; then
    skipped "the emulator's ports" 'apt-get install g++'
    exit 0
fi
library="$build/libemulator.a $build/libflashulp.a"
own=tests/emulated/ports.c
all="$own $(ls gpu/emulator/*.c)"
program native "$cc" "$cxx" "" "$own" "$library" && "$folder/native" >"$folder/native.txt"
same "native: sums, digests, reports" "$(wc -l <"$folder/native.txt" | tr -d ' ')" 16
program ucontext "$cc" "$cxx" -DFLASHULP_UCONTEXT "$(echo "$all" | grep -v mma_tile)" "$library" &&
    "$folder/ucontext" >"$folder/ucontext.txt"
same "with swapcontext" "$(cat "$folder/ucontext.txt")" "$(cat "$folder/native.txt")"
if command -v aarch64-linux-gnu-g++ >/dev/null 2>&1 && command -v qemu-aarch64 >/dev/null 2>&1; then
    program aarch64 aarch64-linux-gnu-gcc aarch64-linux-gnu-g++ -static "$all $shared" -static &&
        qemu-aarch64 "$folder/aarch64" >"$folder/aarch64.txt"
    same "on aarch64" "$(cat "$folder/aarch64.txt")" "$(cat "$folder/native.txt")"
else
    skipped "the emulator on aarch64" 'apt-get install g++-aarch64-linux-gnu qemu-user'
fi
plan_end
