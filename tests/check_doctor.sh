#!/bin/sh
# flashulp doctor: its report, its exit status when a digest differs, and in full that the recorded
# rows are those the program prints.  TAP on the output.  usage: tests/check_doctor.sh
. "$(dirname "$0")/tap.sh"
build=$(cd "${FLASHULP_BUILD:-build}" && pwd) cc=${CC:-cc}
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT INT TERM
TAP_LINES=20
rows=$(grep -c '^SELFTEST' simulator/cli/selftest.def)
for level in base v3 v4; do
    text=$(FLASHULP_CPU=$level "$build/flashulp" doctor 2>&1; echo "exit $?")
    matches "every digest is the recorded one, level $level asked" \
        "^ bits     ok    $rows of $rows digests equal to the recorded ones +[0-9.]+ s$" "$text"
    matches 'exit 0' '^exit 0$' "$text"
done
matches 'who it is' '^flashulp 0\.[0-9]+ \(.*level (base|v3|v4)$' "$text"
matches 'the libraries' '^ core     yes   MPFR [0-9.]+.*, GSL [0-9.]+, cJSON [0-9.]+$' "$text"
matches 'at most 80 columns' '^$' "$(printf '%s\n' "$text" | sed -n 's/^.\{81,\}$/&/p')"
text=$(FLASHULP_DATA=/nowhere "$build/flashulp" doctor 2>&1; echo "exit $?")
matches 'no data' '^ data     no    FLASHULP_DATA is /nowhere, which has no' "$text"
matches 'is no failure' '^exit 0$' "$text"
text=$("$build/flashulp" doctor fa2-4 2>&1; echo "exit $?")
matches 'no problem is taken' '^flashulp doctor: fa2-4: doctor takes no problem$' "$text"
matches 'exit 2' '^exit 2$' "$text"
matches 'json' "\"equal\":.$rows,?$" "$("$build/flashulp" doctor --json)"

# The same program with one digest of the table changed.
mkdir -p "$folder/simulator/cli"
sed '/"fa2-4"/s/, ad5e/, ad5f/' simulator/cli/selftest.def >"$folder/simulator/cli/selftest.def"
if nm "$build/flashulp" 2>/dev/null | grep -q __asan_init; then
    skipped 'a digest that differs' 'a sanitizer build'
elif $cc -std=c11 -D_POSIX_C_SOURCE=200809L -I"$folder" -I. -c -o "$folder/selftest.o" simulator/cli/selftest.c &&
    $cc -o "$folder/flashulp" "$folder/selftest.o" $(ls "$build"/simulator/cli/*.o | grep -v /selftest.o) \
        "$build/simulator/inputs.o" "$build/libflashulp.a" -lgsl -lgslcblas -lmpfr -lgmp -lcjson -lm -pthread; then
    text=$("$folder/flashulp" doctor 2>&1; echo "exit $?")
    matches 'a digest that differs is shown' \
        "^ bits     WRONG $((rows - 1)) of $rows digests equal" "$text"
    matches 'with both digests' '^ +got ad5ed09f73052964, recorded ad5fd09f73052964:$' "$text"
    matches 'and the command' '^ +flashulp run fa2-4$' "$text"
    matches 'exit 1' '^exit 1$' "$text"
else
    matches 'a program with a changed table builds' yes no
fi
if [ "${FLASHULP_TESTS:-quick}" = full ]; then
    matches 'the recorded rows are those the program prints' '^$' \
        "$(tests/make_selftest.sh "$build/flashulp" | diff - simulator/cli/selftest.def)"
else
    skipped 'the recorded rows are those the program prints' 'make test-full'
fi
plan_end
