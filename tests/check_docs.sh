#!/bin/sh
# The documentation shows what the command does (tests/docs.sh), and the check would notice if it did
# not: a changed output, line, example of the manual or message of the program.  TAP on the output.
# usage: tests/check_docs.sh   (FLASHULP_BUILD: build)
. "$(dirname "$0")/tap.sh"
build=$(cd "${FLASHULP_BUILD:-build}" && pwd)
case $build in *asan*)
    skipped documentation 'the plain build compares it; here it would take minutes'
    plan_end
    exit
    ;;
esac
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT INT TERM
cache=$folder/cache
said=$(tests/docs.sh README.md "$build" "$cache") && ok=yes || ok=no
verdict "README, front page and manual: $(printf '%s\n' "$said" | tail -n 1)" $ok "$said
tests/readme.sh build >new makes README.md anew, tests/man_examples.sh build >new
simulator/cli/man_examples.def"

# noticed NAME PATTERN README PROGRAMS CACHE: the check fails, and says so
noticed() {
    name=$1 pattern=$2 ok=no
    shift 2
    said=$(tests/docs.sh "$@") || {
        printf '%s\n' "$said" | grep -qE -e "$pattern" && ok=yes
    }
    verdict "noticed: $name" $ok "$said"
}
# changed SED: README.md so changed, and it is another text
changed() {
    sed "$1" README.md >"$folder/README.md"
    ! cmp -s README.md "$folder/README.md" || wrong "mutation $1 no longer applies" ''
}
# program WORDS SED: flashulp, but what it prints when its words begin so is changed
program() {
    mkdir -p "$folder/programs"
    cat >"$folder/programs/flashulp" <<END
#!/bin/sh
case "\$*" in
'$1'*) '$build/flashulp' "\$@" | sed '$2' ;;
*) exec '$build/flashulp' "\$@" ;;
esac
END
    chmod +x "$folder/programs/flashulp"
}

export FLASHULP_DOCS=readme
changed 's/-0.17  24.93/-0.18  24.93/'
noticed 'a digit of an output in README' 'README.md:[0-9]*: flashulp walk fa2-4: prints something else' \
    "$folder/README.md" "$build" "$cache"
changed 's/flashulp exact fa2-4/flashulp exakt fa2-4/'
noticed 'a verb in README that is none' 'flashulp exakt: no such verb' "$folder/README.md" "$build" "$cache"
changed 's/`flashulp walk fa2-printed`/`flashulp walk fa2-prented`/'
noticed 'a problem in running text that is none' 'fa2-prented' "$folder/README.md" "$build" "$cache"
sed -n '/^<!-- walk fa2-4 -->/,/^<!-- end -->/p' README.md >"$folder/README.md"
program 'walk fa2-4' 's/after the last tile/after the final tile/'
noticed 'a message of the program' '> --- after the final tile' "$folder/README.md" \
    "$folder/programs" "$folder/cache2"
FLASHULP_DOCS=bits
program '--man bits' 's/next up/next op/'
noticed 'a word of an output in the manual' 'flashulp-bits\(1\) line [0-9]*: .* prints something else' \
    README.md "$folder/programs" "$cache"
FLASHULP_DOCS=exact
program '--man exact' 's/digits 50/digits 5o/'
noticed 'an option of an example' 'flashulp-exact\(1\) line [0-9]*: .*5o: exit 2' README.md \
    "$folder/programs" "$cache"
FLASHULP_DOCS=list
program '--man list' '/^.SH EXAMPLES/,/^.SH EXIT/d'
noticed 'a page without an example' 'flashulp-list\(1\): no example' README.md "$folder/programs" "$cache"
FLASHULP_DOCS=compare
program compare 's/by one ulp at most/by one ulp/'
noticed 'a message that a page shows' '>  verdict  DIFFER, by one ulp\.' README.md "$folder/programs" \
    "$folder/cache3"
plan_end
