# tap.sh: sourced by the check_*.sh: their lines of TAP, and the count of them.
# Call plan_end last: it prints the plan and is false when anything failed.
count=0 failed=0

passed() { count=$((count + 1)) && echo "ok $count - $1"; }
skipped() { count=$((count + 1)) && echo "ok $count - $1 # skip $2"; } # name, why
wrong() { # name, what was got: its first lines
    count=$((count + 1)) failed=$((failed + 1))
    echo "not ok $count - $1"
    printf '%s\n' "$2" | head -n "${TAP_LINES:-60}" | sed 's/^/#   /'
}
verdict() { # name, yes or no, what was got
    if [ "$2" = yes ]; then passed "$1"; else wrong "$1" "$3"; fi
}
same() { # name, got, want
    if [ "$2" = "$3" ]; then passed "$1"; else wrong "$1" "got  $2
want $3"; fi
}
matches() { # name, extended regular expression of a line, text
    if printf '%s\n' "$3" | grep -qE -e "$2"; then passed "$1"; else wrong "$1" "want $2
$3"; fi
}
plan_end() { echo "1..$count" && [ $failed -eq 0 ]; }
