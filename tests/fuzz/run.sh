#!/bin/sh
# Fuzzes every reader for so many seconds each and prints a table; exits 1 when something was found.
# usage: tests/fuzz/run.sh BUILD SECONDS [TARGET...]
# Below BUILD-fuzz: corpus/ grows from run to run, crashers/ has what was found, *.log libFuzzer's
# words.  Coverage: edges of all that is linked; lines of the readers' functions, named below.
set -u
build=$1-fuzz seconds=$2
shift 2
unset MAKEFLAGS # a -j of the caller's: its job server is not ours
cc=${FUZZ_CC:-clang}
common="-std=c11 -D_POSIX_C_SOURCE=200809L -ffp-contract=off -I. -g -O1 -fno-omit-frame-pointer"
sanitize="-fsanitize=address,undefined -fno-sanitize-recover=undefined"
libraries="$build/libflashulp.a -lmpfr -lgmp -lcjson -lm -pthread"

# target, its source, seeds besides corpus/ and found/, the reader's files, which of their functions
targets() {
    cat <<'END'
trace trace - simulator/trace_parse.c,simulator/trace_chunks.c,simulator/trace_lanes.c,simulator/trace_sync.c .
npy tensor tests/data/readers/*.npy reference/tensor_npy.c,reference/tensor_stream.c .
npz tensor tests/data/readers/*.npz reference/tensor_npz.c,reference/tensor_npy.c .
safetensors tensor tests/data/readers/*.safetensors reference/tensor_safetensors.c .
device device tests/data/device.json simulator/device_file.c .
lengths lengths - simulator/scenario_parse.c,reference/problem_build.c take_integer|parse_list|_lengths
END
}

skip() {
    echo "fuzz: skipped: $1"
    exit 0
}

can_fuzz() {
    echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { return d && n ? 0 : 0; }' |
        "$cc" -x c -fsanitize=fuzzer,address,undefined -o "$build/probe" - >/dev/null 2>&1
}

build_target() { # name, source
    "$cc" $common $sanitize -fsanitize=fuzzer "-DFUZZ_TARGET=fuzz_$1" -o "$build/fuzz_$1" \
        tests/fuzz/entry.c tests/fuzz/fuzz.c "tests/fuzz/fuzz_$2.c" $libraries
}

# The share of the readers' lines that the corpus reaches, or "-" where llvm-cov is missing.
lines_reached() { # name, source, files, functions
    files=$(echo "$3" | tr , ' ')
    profile=$build/$1.profraw
    "$cc" $common -fsanitize=fuzzer,address,undefined -fprofile-instr-generate -fcoverage-mapping \
        "-DFUZZ_TARGET=fuzz_$1" -o "$build/cover_$1" tests/fuzz/entry.c tests/fuzz/fuzz.c \
        "tests/fuzz/fuzz_$2.c" $files $libraries >/dev/null 2>&1 &&
        LLVM_PROFILE_FILE=$profile "$build/cover_$1" -runs=0 "$build/corpus/$1" >/dev/null 2>&1 &&
        llvm-profdata merge -o "$profile.data" "$profile" 2>/dev/null &&
        llvm-cov report "$build/cover_$1" "-instr-profile=$profile.data" -show-functions $files \
            2>/dev/null |
        awk -v wanted="$4" '$1 != "TOTAL" && $5 ~ /^[0-9]+$/ && $1 ~ wanted {
                lines += $5; missed += $6 }
            END { if (lines == 0) exit 1; printf "%.1f%%\n", 100 * (1 - missed / lines) }' || echo -
}

fuzz() { # name, source, seeds, files, functions
    mkdir -p "$build/corpus/$1"
    cp tests/fuzz/corpus/"$1"/* tests/fuzz/found/"$1"/* $3 "$build/corpus/$1/" 2>/dev/null
    log=$build/$1.log
    started=$(date +%s)
    "$build/fuzz_$1" "-max_total_time=$seconds" -timeout=10 -rss_limit_mb=2048 -malloc_limit_mb=64 \
        -max_len=16384 "-dict=tests/fuzz/dict/$1" "-artifact_prefix=$build/crashers/$1-" \
        -print_final_stats=1 "$build/corpus/$1" >"$log" 2>&1
    status=$?
    took=$(($(date +%s) - started))
    runs=$(awk '$1 == "stat::number_of_executed_units:" { print $2 }' "$log")
    edges=$(awk '{ for (i = 2; i < NF; i++) if ($i == "cov:") n = $(i + 1) }
        END { print n + 0 }' "$log")
    linked=$(sed -n 's/.*Loaded 1 modules *(\([0-9]*\) inline.*/\1/p' "$log")
    [ $status -eq 0 ] && found=0 || found=1
    printf '%-12s %12s %7s of %-6s %7s %9s %6s\n' "$1" "${runs:-?}" "$edges" "${linked:-?}" \
        "$(lines_reached "$1" "$2" "$4" "$5")" "$took" "$found"
    [ $found -eq 0 ] || echo "found: see $log; the input is in $build/crashers/"
    return $found
}

mkdir -p "$build/crashers"
command -v "$cc" >/dev/null 2>&1 || skip "no clang; apt-get install clang llvm libclang-rt-dev"
can_fuzz || skip "this clang has no libFuzzer; apt-get install clang llvm libclang-rt-dev"
echo "building in $build: a minute or two"
make --no-print-directory -s "-j$(nproc 2>/dev/null || echo 1)" "B=$build" "CC=$cc" OPT=-O1 \
    CFLAGS="-g -fsanitize=fuzzer-no-link $sanitize -fno-omit-frame-pointer" \
    "$build/libflashulp.a" || exit 2
printf '%-12s %12s %17s %7s %9s %6s\n' target executions "edges reached" lines seconds found
result=0
list=$(mktemp) && trap 'rm -f "$list"' EXIT INT TERM
targets >"$list"
while read -r name source seeds files functions; do
    case " ${*:-$name} " in *" $name "*) ;; *) continue ;; esac
    build_target "$name" "$source" || exit 2
    fuzz "$name" "$source" "$seeds" "$files" "$functions" </dev/null || result=1
done <"$list"
exit $result
