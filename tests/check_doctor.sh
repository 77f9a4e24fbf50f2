#!/bin/sh
# flashulp doctor: its report, its exit status when a digest differs, and in full that the recorded
# rows are those the program prints.  TAP on the output.  usage: tests/check_doctor.sh
build=$(cd "${FLASHULP_BUILD:-build}" && pwd) cc=${CC:-cc}
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT INT TERM
count=0 failed=0
check() { # name, pattern, text
    count=$((count + 1))
    if printf '%s\n' "$3" | grep -qE -e "$2"; then
        echo "ok $count - $1"
    else
        echo "not ok $count - $1"
        printf '%s\n' "want $2" "$3" | head -n 20 | sed 's/^/#   /'
        failed=$((failed + 1))
    fi
}
rows=$(grep -c '^SELFTEST' simulator/cli/selftest.def)
for level in base v3 v4; do
    text=$(FLASHULP_CPU=$level "$build/flashulp" doctor 2>&1; echo "exit $?")
    check "every digest is the recorded one, level $level asked" \
        "^ bits     ok    $rows of $rows digests equal to the recorded ones +[0-9.]+ s$" "$text"
    check 'exit 0' '^exit 0$' "$text"
done
check 'who it is' '^flashulp 0\.[0-9]+ \(.*level (base|v3|v4)$' "$text"
check 'the libraries' '^ core     yes   MPFR [0-9.]+.*, GSL [0-9.]+, cJSON [0-9.]+$' "$text"
check 'at most 80 columns' '^$' "$(printf '%s\n' "$text" | sed -n 's/^.\{81,\}$/&/p')"
text=$(FLASHULP_DATA=/nowhere "$build/flashulp" doctor 2>&1; echo "exit $?")
check 'no data' '^ data     no    FLASHULP_DATA is /nowhere, which has no' "$text"
check 'is no failure' '^exit 0$' "$text"
text=$("$build/flashulp" doctor fa2-4 2>&1; echo "exit $?")
check 'no problem is taken' '^flashulp doctor: fa2-4: doctor takes no problem$' "$text"
check 'exit 2' '^exit 2$' "$text"
check 'json' "\"equal\":.$rows,?$" "$("$build/flashulp" doctor --json)"

# The same program with one digest of the table changed.
mkdir -p "$folder/simulator/cli"
sed '/"fa2-4"/s/, ad5e/, ad5f/' simulator/cli/selftest.def >"$folder/simulator/cli/selftest.def"
if nm "$build/flashulp" 2>/dev/null | grep -q __asan_init; then
    count=$((count + 1))
    echo "ok $count - a digest that differs # skip a sanitizer build"
elif $cc -std=c11 -D_POSIX_C_SOURCE=200809L -I"$folder" -I. -c -o "$folder/selftest.o" simulator/cli/selftest.c &&
    $cc -o "$folder/flashulp" "$folder/selftest.o" $(ls "$build"/simulator/cli/*.o | grep -v /selftest.o) \
        "$build/simulator/inputs.o" "$build/libflashulp.a" -lgsl -lgslcblas -lmpfr -lgmp -lcjson -lm -pthread; then
    text=$("$folder/flashulp" doctor 2>&1; echo "exit $?")
    check 'a digest that differs is shown' \
        "^ bits     WRONG $((rows - 1)) of $rows digests equal" "$text"
    check 'with both digests' '^ +got ad5ed09f73052964, recorded ad5fd09f73052964:$' "$text"
    check 'and the command' '^ +flashulp run fa2-4$' "$text"
    check 'exit 1' '^exit 1$' "$text"
else
    check 'a program with a changed table builds' yes no
fi
if [ "${FLASHULP_TESTS:-quick}" = full ]; then
    check 'the recorded rows are those the program prints' '^$' \
        "$(tests/make_selftest.sh "$build/flashulp" | diff - simulator/cli/selftest.def)"
else
    count=$((count + 1))
    echo "ok $count - the recorded rows are those the program prints # skip make test-full"
fi
echo "1..$count"
[ $failed -eq 0 ]
