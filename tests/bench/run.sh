#!/bin/sh
# Runs every benchmark and prints one table: what, ours, compared with, ratio, goal, met or slower; then
# which peers were found on this machine and which are missing, with what would bring them.
# usage: tests/bench/run.sh BUILD [JSON-FILE | --json]     --json: the JSON alone, on the output
# BENCH_ROUNDS=N: fewer rounds.  A slower row is no failure; a benchmark that cannot run is one.
build=$1 json=${2:-} status=0
here=$(dirname "$0")
lines=$(mktemp) && trap 'rm -f "$lines" "$lines.cpfloat"' EXIT INT TERM

tell() { [ "$json" = --json ] || cat; }
model=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1)
load=$(cut -d' ' -f1 /proc/loadavg 2>/dev/null)
tell <<END
CPU time of one thread unless said otherwise, medians of interleaved rounds;
ratio = ours / other.  ${model:-unknown processor}, load ${load:-unknown}
END

# "row" lines as columns, notes indented; what was found or missing waits for the end.
table='
function scaled(x, unit,   n) {
    if (unit == "KiB") return sprintf(x < 10000 ? "%.0f KiB" : "%.1f MiB", x < 10000 ? x : x / 1024)
    if (unit == "ns") x *= 1e-9
    n = x >= 1 ? 0 : x >= 1e-3 ? 1 : x >= 1e-6 ? 2 : 3
    return sprintf("%.3g %s", x * 10 ^ (3 * n), substr("s msusns", 2 * n + 1, 2))
}
$1 == "row" {
    ratio = $3 / $6
    goal = $7 > 0 ? sprintf("%.3g", $7) : "-"
    text = sprintf(ratio < 0.1 ? "%.4f" : ratio < 100 ? "%.3f" : "%.0f", ratio)
    printf "%-25s %8s  %-23s %6s %4s%s\n", $2, scaled($3, $4), $5, text, goal, \
        $7 <= 0 ? "" : ratio <= $7 ? " met" : " slower"
}
$1 == "note" { print "  " $2 }
{ fflush() }'
printf '%-25s %8s  %-23s %6s %4s\n' what ours 'compared with' ratio goal | tell

bench() { # NAME WORDS...: its lines, shown and kept
    name=$1
    shift
    if "$@" >"$lines.one" 2>"$lines.err"; then
        cat "$lines.one" >>"$lines"
        awk -F '\t' "$table" "$lines.one" | tell
    else
        status=1
        { echo "$name failed:" && head -n 4 "$lines.err"; } >&2
    fi
    rm -f "$lines.one" "$lines.err"
}
for name in calibration fa2 backward mma trace round memory special kernels audit emulator; do
    bench $name "$build/tests/bench/bench_$name"
done
if [ -x "$build/flashulp-gpu" ]; then
    bench gpu "$build/tests/bench/bench_gpu" "$build/flashulp-gpu"
else
    printf 'missing\tthe emulator\tflashulp-gpu, which needs a C++ compiler\n' >>"$lines"
fi
if [ -x "$build/tests/bench/bench_view" ]; then
    bench view "$build/tests/bench/bench_view"
else
    printf 'missing\tthe viewer\tlibsdl2-dev and libpng-dev\n' >>"$lines"
fi
bench files "$build/tests/bench/bench_files" "$build/flashulp"
bench peers "$build/tests/bench/bench_peers" "$here/peers.py"

# CPFloat is headers: found if the compiler finds them, used if they are of the release known here.
if ! echo '#include <cpfloat_binary32.h>' | ${CC:-cc} -E - >/dev/null 2>&1; then
    printf 'missing\tCPFloat\tits headers, in CPATH; they are in no package\n' >>"$lines"
elif ${CC:-cc} -std=gnu11 -O3 -w -I. -o "$lines.cpfloat" "$here/cpfloat_peer.c" "$build/libflashulp.a" \
    -lmpfr -lgmp -lcjson -lm -pthread 2>/dev/null; then
    bench cpfloat "$lines.cpfloat"
else
    printf 'missing\tCPFloat\tfound, but another release than 0.6: it does not compile\n' >>"$lines"
fi
awk -F '\t' 'BEGIN { print "peers found: MPFR, the C library" }
$1 == "found" { print "  " $2 " (" $3 ")" }
$1 == "missing" { missing = missing "\n  " $2 " (" $3 ")" }
END { print "peers missing:" (missing == "" ? " none" : missing) }' "$lines" | tell

as_json='
function quoted(text) {
    gsub(/[\\"]/, "\\\\&", text); gsub(/[\001-\037]/, " ", text)
    return "\"" text "\""
}
function item(list, text) { return list (list == "" ? "" : ",\n    ") text }
$1 == "row" {
    rows = item(rows, sprintf("{\"what\": %s, \"ours\": %s, \"unit\": %s, \"other\": %s, \"theirs\": %s, \"ratio\": %.6g, \"goal\": %s}", \
        quoted($2), $3, quoted($4), quoted($5), $6, $3 / $6, $7 > 0 ? sprintf("%.4g", $7) : "null"))
}
$1 == "note" { notes = item(notes, quoted($2)) }
$1 == "found" { found = item(found, sprintf("{\"peer\": %s, \"version\": %s}", quoted($2), quoted($3))) }
$1 == "missing" { missing = item(missing, sprintf("{\"peer\": %s, \"how\": %s}", quoted($2), quoted($3))) }
END {
    printf "{\n  \"schema\": 1,\n  \"version\": %s,\n", quoted(version)
    printf "  \"machine\": {\"processor\": %s, \"cores\": %d, \"memory_kib\": %d, \"system\": %s, \"compiler\": %s, \"load\": %s},\n", \
        quoted(model), cores, memory, quoted(system_name), quoted(compiler), load == "" ? "null" : load
    printf "  \"rows\": [\n    %s\n  ],\n  \"notes\": [\n    %s\n  ],\n", rows, notes
    printf "  \"found\": [\n    %s\n  ],\n  \"missing\": [\n    %s\n  ]\n}\n", found, missing
}'
print_json() {
    awk -F '\t' -v version="$("$build/flashulp" --version | cut -d' ' -f2-)" -v model="$model" \
        -v cores="$(nproc 2>/dev/null || echo 0)" -v load="$load" -v system_name="$(uname -srm)" \
        -v memory="$(sed -n 's/^MemTotal: *\([0-9]*\).*/\1/p' /proc/meminfo 2>/dev/null)" \
        -v compiler="$(${CC:-cc} --version | head -n 1)" "$as_json" "$lines"
}
case $json in
'') ;;
--json) print_json ;;
*) print_json >"$json.part" && mv "$json.part" "$json" && echo "written: $json" ;;
esac
exit $status
