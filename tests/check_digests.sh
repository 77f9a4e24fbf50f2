#!/bin/sh
# The same bits everywhere: build/tests/digests against tests/golden/digests.txt at every processor
# level this machine has, with 1 and 4 threads; in full also from gcc and clang at -O0 and -O3, and
# on aarch64 under qemu.  TAP on the output.  usage: tests/check_digests.sh   (FLASHULP_BUILD: build)
# A changed golden file needs its reason in the commit: make -s build/tests/digests &&
# build/tests/digests >tests/golden/digests.txt
. "$(dirname "$0")/tap.sh"
build=${FLASHULP_BUILD:-build}
golden=tests/golden/digests.txt
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT INT TERM
TAP_LINES=13

# compare WHAT COMMAND...: the command prints the golden lines
compare() {
    what=$1
    shift
    if "$@" >"$folder/got" 2>"$folder/said" && cmp -s "$folder/got" $golden; then
        passed "$what: $(wc -l <$golden) digests"
    else
        wrong "$what" "again: $*
$(tail -n 3 "$folder/said"; diff $golden "$folder/got")"
    fi
}

# rebuilt WHAT MAKE-SETTINGS...: builds digests in a folder of its own: $folder/built/tests/digests
rebuilt() {
    what=$1
    shift
    rm -rf "$folder/built"
    if make -s -j2 B="$folder/built" "$@" "$folder/built/tests/digests" >"$folder/said" 2>&1; then
        return 0
    fi
    wrong "$what" "again: make B=DIR $* DIR/tests/digests
$(tail -n 8 "$folder/said")"
    return 1
}

levels() {
    [ -x "$build/tests/digests" ] || { wrong 'every level' "$build/tests/digests is not built" && return; }
    for level in base v3 v4; do
        FLASHULP_CPU=$level "$build/tests/digests" 1 2>&1 >/dev/null | grep -qx $level || {
            skipped "level $level" "this processor has no $level"
            continue
        }
        for threads in 1 4; do
            compare "level $level, threads $threads" env FLASHULP_CPU=$level "$build/tests/digests" $threads
        done
    done
}

compilers() {
    for cc in gcc clang; do
        command -v $cc >/dev/null 2>&1 || {
            skipped "$cc" "not installed: apt-get install $cc"
            continue
        }
        for opt in -O0 -O3; do
            rebuilt "$cc $opt" CC=$cc OPT=$opt || continue
            for level in base v3 v4; do # a level the processor lacks falls back
                compare "$cc $opt, level $level" env FLASHULP_CPU=$level "$folder/built/tests/digests"
            done
        done
    done
}

aarch64() {
    cross=aarch64-linux-gnu-gcc
    qemu=$(command -v qemu-aarch64-static || command -v qemu-aarch64)
    need="dpkg --add-architecture arm64 && apt-get update && apt-get install gcc-aarch64-linux-gnu"
    need="$need qemu-user libmpfr-dev:arm64 libcjson-dev:arm64 libcmocka-dev:arm64"
    printf '#include <mpfr.h>\n#include <cjson/cJSON.h>\nint main(void){return 0;}\n' >"$folder/have.c"
    if [ -z "$qemu" ] || ! $cross -o "$folder/have" "$folder/have.c" -lmpfr -lgmp -lcjson -lcmocka \
        >/dev/null 2>&1; then
        skipped aarch64 "no cross compiler, qemu or arm64 libraries: $need"
        return
    fi
    for opt in -O0 -O3; do
        rebuilt "aarch64 $opt" CC=$cross OPT=$opt || continue
        compare "aarch64 $opt under qemu" "$qemu" "$folder/built/tests/digests"
    done
}

levels
if [ "${FLASHULP_TESTS:-quick}" = full ]; then
    compilers
    aarch64
else
    skipped "gcc and clang at -O0 and -O3, aarch64" "make test-full"
fi
plan_end
