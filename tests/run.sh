#!/bin/sh
# Runs every test binary and every tests/check_*.sh, and ends with "N passed, N failed, N skipped".
# usage: tests/run.sh BUILD quick|full        (TESTS_ONLY=pattern runs the matching ones)
build=$1 level=${2:-quick}
export FLASHULP_BUILD="$build" FLASHULP_TESTS="$level" CMOCKA_MESSAGE_OUTPUT=TAP
passed=0 failed=0 skipped=0
out=$(mktemp) && trap 'rm -f "$out"' EXIT INT TERM
indented() { fold -s -w 76 | sed 's/^/    /; s/ *$//'; }
for t in "$build"/tests/test_* tests/check_*.sh; do
    case $t in *.d | *'*'* | *.dSYM) continue ;; esac
    case $t in *"${TESTS_ONLY:-}"*) ;; *) continue ;; esac
    start=$(date +%s)
    "$t" >"$out" 2>&1
    status=$?
    p=$(grep -c '^ok ' "$out") s=$(grep -ci '^ok .*# *skip' "$out") f=$(grep -c '^not ok ' "$out")
    # cmocka 1.1 writes a skipped test as "not ok ... # SKIP"
    ns=$(grep -ci '^not ok .*# *skip' "$out")
    p=$((p - s)) f=$((f - ns)) s=$((s + ns))
    # a binary that dies, or runs nothing, is a failure whatever it printed before
    if [ $((p + f + s)) -eq 0 ] || { [ $status -ne 0 ] && [ $f -eq 0 ]; }; then f=$((f + 1)); fi
    printf '%-34s %4d passed %3d failed %3d skipped %4d s\n' "$(basename "$t")" $p $f $s $(($(date +%s) - start))
    if [ $f -ne 0 ]; then sed 's/^/    /' "$out"; else grep -i '# *skip' "$out" | indented; fi
    sed -n 's/^# note //p' "$out" | indented
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
