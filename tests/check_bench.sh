#!/bin/sh
# The table and the JSON of the benchmarks: made from lines of known numbers, and, in full, by running
# every benchmark for one round.  No time is judged here.  TAP.  usage: tests/check_bench.sh
. "$(dirname "$0")/tap.sh"
build=${FLASHULP_BUILD:-build} # as it was given: another spelling would name other targets in the .d
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT INT TERM
valid() { # NAME FILE: is it JSON?
    if command -v python3 >/dev/null; then
        same "$1" "$(python3 -m json.tool "$2" 2>&1 >/dev/null)" ''
    else
        skipped "$1" 'python3 is not here'
    fi
}

# Benchmarks that are shell scripts.
mkdir -p "$folder/build/tests/bench"
for name in $(ls tests/bench/bench_*.c | sed 's,.*/bench_\(.*\)\.c,\1,'); do
    printf '#!/bin/sh\n' >"$folder/build/tests/bench/bench_$name"
    chmod +x "$folder/build/tests/bench/bench_$name"
done
printf '#!/bin/sh\necho flashulp 9.9\n' >"$folder/build/flashulp" && chmod +x "$folder/build/flashulp"
lines() { cat >>"$folder/build/tests/bench/bench_$1"; }
lines fa2 <<'E2'
printf 'row\tours twice as fast\t0.0015\ts\tanother\t0.003\t1.4\n'
printf 'row\tslower "than" wished\t3e-9\ts\ta \\ peer\t1e-9\t2\n'
printf 'row\tno goal\t2.5\tns\tlimit: x\t0.01\t0\n'
printf 'row\tmemory\t20480\tKiB\tthe same\t10240\t2\n'
printf 'note\tsaid beside\n'
printf 'found\tpeer A\t1.2\n'
printf 'missing\tpeer B\tapt-get install b\n'
E2
said=$(CPATH='' tests/bench/run.sh "$folder/build" "$folder/out.json" 2>&1)
same 'a table that runs' $? 0
has() { matches "the table has $1" "$1" "$said"; }
has '^ours twice as fast +1\.5 ms  another +0\.500  1\.4 met$'
has '^slower "than" wished +3 ns  a \\ peer +3\.000    2 slower$'
has '^no goal +2\.5 ns  limit: x +250    -$'
has '^memory +20\.0 MiB  the same +2\.000    2 met$'
has '^  said beside$'
has '^  peer A \(1\.2\)$'
has '^  peer B \(apt-get install b\)$'
has '^  CPFloat \('
valid 'the JSON is JSON' "$folder/out.json"
json() { matches "the JSON has $1" "$1" "$(cat "$folder/out.json")"; }
json '"schema": 1,'
json '"version": "9.9"'
json '"what": "slower .*than.* wished", "ours": 3e-9, "unit": "s", "other": "a .* peer", "theirs": 1e-9, "ratio": 3, "goal": 2'
json '"ours": 2\.5, "unit": "ns", "other": "limit: x", "theirs": 0\.01, "ratio": 250, "goal": null'
json '"processor": "..*", "cores": [1-9]'
json '\{"peer": "peer A", "version": "1\.2"\}'
json '\{"peer": "peer B", "how": "apt-get install b"\}'
same 'the JSON alone, on the output' "$(tests/bench/run.sh "$folder/build" --json 2>&1 | head -n 2 | tr -d '\n')" \
    '{  "schema": 1,'
echo 'echo broken >&2; exit 3' >>"$folder/build/tests/bench/bench_round"
said=$(tests/bench/run.sh "$folder/build" 2>&1)
same 'a benchmark that cannot run is a failure' $? 1
has '^round failed:$'
has '^broken$'
has '^ours twice as fast '

if [ "${FLASHULP_TESTS:-quick}" = full ]; then
    said=$(BENCH_ROUNDS=1 make -s B="$build" bench JSON="$folder/real.json" 2>&1)
    same 'every benchmark runs' $? 0
    matches 'its table' '^fa2 fp32 1024x64 .* limit: multiply-adds ' "$said"
    same 'at most 80 columns' "$(printf '%s\n' "$said" | awk 'length > 80')" ''
    valid 'and its JSON' "$folder/real.json"
else
    skipped 'every benchmark runs' 'make test-full'
fi
plan_end
