#!/bin/sh
# make install, from outside: the program away from its source, a C program against the installed
# header and libraries, manual and completion, make uninstall, make dist.  TAP on the output.
# usage: tests/check_install.sh   (FLASHULP_BUILD: build)
. "$(dirname "$0")/tap.sh"
build=${FLASHULP_BUILD:-build} cc=${CC:-cc}
folder=$(cd "$(mktemp -d)" && pwd -P) && trap 'rm -rf "$folder"' EXIT INT TERM
prefix=$folder/usr
TAP_LINES=20
succeeds() { # name, command...
    name=$1
    shift
    said=$("$@" 2>&1) && verdict "$name" yes || verdict "$name" no "$said"
}

unset FLASHULP_DATA FLASHULP_LESSONS
if nm "$build/flashulp" 2>/dev/null | grep -q __asan_init; then
    skipped 'make install' 'a sanitizer build is not for installing'
    plan_end
    exit
fi
quiet="make -s --no-print-directory B=$build"
succeeds 'make install' $quiet install PREFIX="$prefix"
[ $failed -eq 0 ] || { plan_end; exit; }
cp -R "$prefix" "$folder/first"
succeeds 'make install again' $quiet install PREFIX="$prefix"
same 'installing twice is installing once' "$(diff -r "$prefix" "$folder/first" 2>&1)" ''

# --- the program, with the source out of reach
want=$("$build/flashulp" run minilm-4 --json | sed -n 's/.*"digest":[^"]*"\([0-9a-f]*\)".*/\1/p')
got=$(cd "$folder" && "$prefix/bin/flashulp" run minilm-4 --json | sed -n 's/.*"digest":[^"]*"\([0-9a-f]*\)".*/\1/p')
same 'the installed program runs minilm-4' "${got:-none}" "$want"
ln -s "$prefix/bin/flashulp" "$folder/link"
got=$(cd / && "$folder/link" run minilm-4 --json | sed -n 's/.*"digest":[^"]*"\([0-9a-f]*\)".*/\1/p')
same 'and through a symbolic link' "${got:-none}" "$want"

got=$(cd / && "$folder/link" lesson 0 | sed -n '1p;/^ fp32  /p')
same 'the installed program reads its lessons to one' "$got" '# 00 Numbers that are not real numbers
 fp32     0x3DCCCCCD          0.1                      -0.200    up'

if [ -f "$build/libemulator.a" ]; then
    cp lessons/20-cuda/answer.cu "$folder/answer.cu"
    got=$(cd "$folder" && "$prefix/bin/flashulp" lab 20 answer.cu 2>&1)
    same 'the installed program grades a lab in CUDA' "$(printf '%s\n' "$got" | grep -c ' ok$')" 7
fi
got=$(cd "$folder" && "$prefix/bin/flashulp" lab 12 --stub >stub.c && "$prefix/bin/flashulp" lab 12 stub.c)
same 'and its own stub, which earns nothing' "$?$(printf '%s\n' "$got" | grep -c ' 0 / 9$')" 11

# --- the library
symbols=$(nm -D --defined-only "$prefix/lib/libflashulp.so" | awk '{ print $3 }' | sort)
declared=$(sed -n 's/^[a-z].*[ *]\(flashulp_[a-z_]*\)(.*/\1/p' simulator/flashulp.h | sort)
same 'the shared library exports what the header declares' "$symbols" "$declared"
same 'no GSL in the library' "$(ldd "$prefix/lib/libflashulp.so" | grep gsl)$(nm "$prefix/lib/libflashulp.a" 2>/dev/null | grep ' U gsl_')" ''
report="1,12,172,32 $want
flashulp run fa2-4 --policy gpu-bf16: O 24.875, exactly 24.926527345857697674, L 3.440189699
[0,0,1,0] is outside the shape 1,1,1,1
no example is named fa2-5; did you mean fa2-4?
--json is the program's; the library takes options of problem and run"
if command -v pkg-config >/dev/null 2>&1; then
    export PKG_CONFIG_PATH="$prefix/lib/pkgconfig" FLASHULP_DATA="$prefix/share/flashulp/data"
    cflags="-Wall -Wextra -Werror $(pkg-config --cflags flashulp)"
    succeeds 'a program with the shared library compiles' \
        $cc $cflags -o "$folder/shared" tests/installed.c $(pkg-config --libs flashulp)
    got=$(LD_LIBRARY_PATH=$prefix/lib "$folder/shared" "$folder/a.trace" 2>&1)
    same 'and runs' "$got" "$report"
    mkdir "$folder/archive" && cp "$prefix/lib/libflashulp.a" "$folder/archive/"
    succeeds 'a program with the static library compiles' \
        $cc $cflags -o "$folder/fixed" tests/installed.c -L"$folder/archive" $(pkg-config --static --libs flashulp)
    got=$("$folder/fixed" "$folder/b.trace" 2>&1)
    same 'and runs' "$got" "$report"
    same 'its trace can be read' "$("$prefix/bin/flashulp" trace "$folder/a.trace" | grep -c ROW_MAX)" 2
    if command -v c++ >/dev/null 2>&1; then
        echo '#include <flashulp.h>
int main() { return flashulp_abi() != FLASHULP_ABI; }' >"$folder/a.cc"
        succeeds 'the header is C++' c++ $cflags -fsyntax-only "$folder/a.cc"
    else
        skipped 'the header is C++' 'no C++ compiler'
    fi
    unset FLASHULP_DATA
else
    skipped 'programs with the library' 'no pkg-config: apt-get install pkg-config'
fi

# --- manual and completion
pages=$(ls "$prefix/share/man/man1" | wc -l)
same 'a page for each verb and one for all' $((pages)) \
    $(($("$build/flashulp" --man | grep -c '^.BR flashulp.-') + 1))
if command -v mandoc >/dev/null 2>&1; then
    got=$(mandoc -T lint -W warning "$prefix"/share/man/man1/*.1 2>&1 | grep -v 'missing date')
    same 'mandoc finds nothing in the pages but that they have no date' "$got" ''
else
    skipped 'the manual pages' 'no mandoc: apt-get install mandoc'
fi
bash_file=$prefix/share/bash-completion/completions/flashulp
complete() { # WORDS...: what bash would offer for the last
    bash -c '. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _flashulp; echo "${COMPREPLY[*]}"' "$bash_file" "$@"
}
if command -v bash >/dev/null 2>&1; then
    succeeds 'bash reads its completion' bash -n "$bash_file"
    same 'flashulp ru<tab>' "$(complete flashulp ru)" run
    same 'flashulp run fa2-4 --pol<tab>' "$(complete flashulp run fa2-4 --pol)" --policy
    same 'flashulp run --policy gpu-b<tab>' "$(complete flashulp run --policy gpu-b)" gpu-bf16
    same 'flashulp run --set PRO<tab>' "$(complete flashulp run --set PRO 2>/dev/null)" 'PROB= PROB_RESCALE='
    same 'flashulp bits --pol<tab>' "$(complete flashulp bits 1 --pol)" ''
else
    skipped 'bash completion' 'no bash'
fi
for shell in zsh fish; do
    file=$prefix/share/zsh/site-functions/_flashulp
    [ $shell = fish ] && file=$prefix/share/fish/vendor_completions.d/flashulp.fish
    if command -v $shell >/dev/null 2>&1; then
        succeeds "$shell reads its completion" $shell -n "$file"
    else
        skipped "$shell reads its completion" "no $shell"
    fi
done
if command -v fish >/dev/null 2>&1; then
    got=$(HOME=$folder fish -c "source $file; complete -C 'flashulp run --policy gpu-b'" | cut -f1)
    same 'fish: flashulp run --policy gpu-b<tab>' "$got" gpu-bf16
else
    skipped 'fish: flashulp run --policy gpu-b<tab>' 'no fish'
fi

# --- and away again
echo mine >"$prefix/share/flashulp/data/mine"
succeeds 'make uninstall' $quiet uninstall PREFIX="$prefix"
same 'what is not ours stays' "$(find "$prefix" -type f)" "$prefix/share/flashulp/data/mine"
rm -rf "$prefix"
$quiet install PREFIX=/opt/x DESTDIR="$folder/root" >/dev/null 2>&1
grep -q '^prefix=/opt/x$' "$folder/root/opt/x/lib/pkgconfig/flashulp.pc"
same 'DESTDIR is not PREFIX' $? 0
$quiet uninstall PREFIX=/opt/x DESTDIR="$folder/root" >/dev/null 2>&1
same 'uninstall leaves nothing' "$(find "$folder/root/opt" -mindepth 1)" ''
got=$($quiet uninstall PREFIX=/opt/x DESTDIR="$folder/root" 2>&1 | head -1)
same 'nothing to uninstall' "$got" "make uninstall: $folder/root/opt/x/share/flashulp/installed: no such file; PREFIX and DESTDIR as for make install are right"
$quiet all # PREFIX as it was

# --- the source, packed
ball=$($quiet dist)
succeeds 'make dist' tar -xzf "$ball" -C "$folder"
if [ "${FLASHULP_TESTS:-quick}" = full ]; then
    succeeds 'the packed source builds' make -s -C "$folder"/flashulp-*/ B=build all
    same 'and knows its name' "$("$folder"/flashulp-*/build/flashulp --version)" "$("$build/flashulp" --version)"
else
    succeeds 'the packed source is whole' make -n -C "$folder"/flashulp-*/ B=build all
    skipped 'the packed source builds' 'make test-full'
fi
plan_end
