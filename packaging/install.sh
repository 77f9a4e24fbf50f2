#!/bin/sh
# make install: copies program, libraries, header, manual, completion and data below DESTDIR/PREFIX.
# Every file and every folder it makes is noted in share/flashulp/installed, which uninstall.sh
# undoes.  usage: packaging/install.sh BUILD PREFIX DESTDIR VERSION
set -e
build=$1 prefix=$2 root=$3$2 version=$4
case $prefix in /*) ;; *) echo "make install: PREFIX=$prefix: an absolute path is right" >&2 && exit 2 ;; esac
program=$build/flashulp
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT INT TERM
note=$work/installed
grep '/$' "$root/share/flashulp/installed" 2>/dev/null >"$note" || :

if [ ! -d "$root" ]; then
    mkdir -p "$root"
    echo ./ >>"$note"
fi

folder() { # makes FOLDER below root, parents first
    [ -d "$root/$1" ] && return
    case $1 in */*) folder "${1%/*}" ;; esac
    mkdir -p "$root/$1"
    echo "$1/" >>"$note"
}

put() { # MODE FILE WHERE, below root
    folder "${3%/*}"
    rm -f "$root/$3"
    cp "$2" "$root/$3"
    chmod "$1" "$root/$3"
    echo "$3" >>"$note"
}

made() { # WHERE COMMAND...: what the command prints
    where=$1
    shift
    "$@" >"$work/made"
    put 644 "$work/made" "$where"
}

put 755 "$program" bin/flashulp
for sibling in flashulp-view flashulp-gpu flashulp-lab; do
    if [ -x "$build/$sibling" ]; then
        put 755 "$build/$sibling" bin/$sibling
    else
        skipped="${skipped:+$skipped, }$sibling"
    fi
done

[ ! -x "$build/flashulp-gpu-device" ] || put 755 "$build/flashulp-gpu-device" bin/flashulp-gpu-device

abi=$(sed -n 's/^#define FLASHULP_ABI \([0-9]*\).*/\1/p' simulator/flashulp.h)
put 644 "$build/libflashulp.a" lib/libflashulp.a
put 755 "$build/libflashulp.so" "lib/libflashulp.so.$abi"
ln -sf "libflashulp.so.$abi" "$root/lib/libflashulp.so"
echo lib/libflashulp.so >>"$note"
put 644 simulator/flashulp.h include/flashulp.h
cat >"$work/flashulp.pc" <<END
prefix=$prefix
libdir=\${prefix}/lib
includedir=\${prefix}/include

Name: flashulp
Description: What attention kernels compute, to the last bit
Version: $version
Libs: -L\${libdir} -lflashulp
Libs.private: -lmpfr -lgmp -lcjson -lm -pthread
Cflags: -I\${includedir}
END
put 644 "$work/flashulp.pc" lib/pkgconfig/flashulp.pc

for file in minilm-layer0.safetensors minilm-layer4.safetensors paragraph.txt README.md LICENSE-minilm lanes.trace; do
    put 644 "tests/data/$file" "share/flashulp/data/$file"
done
for file in lessons/*/README.md lessons/*/*.svg lessons/*/lab.c lessons/*/lab.cu lessons/lab.cuh lessons/lab.h lessons/driver.[ch]; do
    put 644 "$file" "share/flashulp/$file"
done
put 644 LICENSE share/flashulp/LICENSE

# Labs in CUDA are compiled against the emulator: its library, and every header of it that they reach.
if [ -f "$build/libemulator.a" ] && cxx=${CXX:-c++} && command -v $cxx >/dev/null; then
    put 644 "$build/libemulator.a" lib/libemulator.a
    { $cxx -x c++ -std=c++17 -DFLASHULP_EMULATED -DFLASHULP_CHECKED -I. -Ilessons -MM lessons/lab.cuh
      ${CC:-cc} -std=gnu11 -DEMULATED -DSTEPS= -I. -Ilessons -MM lessons/driver.c; } |
        tr -s ' \\' '\n\n' | grep -E '^(gpu|simulator|reference)/' | sort -u >"$work/headers"
    while read -r file; do
        put 644 "$file" "share/flashulp/$file"
    done <"$work/headers"
else
    skipped="${skipped:+$skipped, }the emulator (lab 20 needs it, and a C++ compiler)"
fi

made share/man/man1/flashulp.1 "$program" --man
"$program" --man | sed -n 's/^\.BR flashulp\\-\([a-z]*\) (1)$/\1/p' >"$work/verbs"
while read -r verb; do
    made "share/man/man1/flashulp-$verb.1" "$program" --man "$verb"
done <"$work/verbs"
made share/bash-completion/completions/flashulp "$program" --completion bash
made share/zsh/site-functions/_flashulp "$program" --completion zsh
made share/fish/vendor_completions.d/flashulp.fish "$program" --completion fish

echo share/flashulp/installed >>"$note"
LC_ALL=C sort -u "$note" >"$root/share/flashulp/installed"
echo "installed below $root${skipped:+; not built here: $skipped}"
[ -n "$3" ] || echo "a program linked with the shared library finds it after ldconfig, or with LD_LIBRARY_PATH=$prefix/lib"
