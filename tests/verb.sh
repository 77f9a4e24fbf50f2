# verb.sh: sourced by a check_*.sh of one verb, which sets $verb: what it refuses and gives.  $program is
# the command; the current folder becomes an empty one that is removed at the end.
program=$(cd "${FLASHULP_BUILD:-build}" && pwd)/flashulp
data=$(cd "$(dirname "$0")/data" && pwd)
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT INT TERM
cd "$folder" || exit 1

# refused SENTENCE WORDS...: exit 2, that one line, no output
refused() {
    want="flashulp $verb: $1"
    shift
    got=$("$program" "$verb" "$@" 2>&1 >out)
    status=$?
    ok=no
    [ $status -eq 2 ] && [ "$got" = "$want" ] && [ ! -s out ] && ok=yes
    rm -f out
    verdict "refused: $*" $ok "exit $status: $got
want: $want"
}
# gives KEY VALUE WORDS...: the first KEY of the JSON has VALUE
gives() {
    key=$1 want=$2
    shift 2
    got=$("$program" "$verb" "$@" --json | sed -n "s/^[^\"]*\"$key\":[[:space:]]*\(.*[^,]\),*$/\1/p" |
        head -n 1)
    same "$* --json gives $key $want" "$got" "$want"
}
# narrow TEXT: no line above 80 columns, that ends with a blank or is not ASCII
narrow() {
    ! printf '%s\n' "$1" | grep -qE '^.{81}| $' && ! printf '%s\n' "$1" | LC_ALL=C grep -q '[^ -~]'
}
