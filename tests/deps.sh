#!/bin/sh
# Is everything here that the core needs?  As root on Debian or Ubuntu it is installed; otherwise
# the command is printed and, on a terminal, asked about.  Without a terminal: exit 2.
cc=${CC:-cc}
need=
have() { printf '#include <%s>\nint main(void){return 0;}\n' "$1" | $cc -x c -fsyntax-only - 2>/dev/null; }
command -v $cc >/dev/null 2>&1 || need="$need gcc libc6-dev"
if command -v $cc >/dev/null 2>&1; then
    printf 'int main(void){return 0;}\n' | $cc -x c -o /dev/null - 2>/dev/null || need="$need libc6-dev"
    have mpfr.h || need="$need libmpfr-dev"
    have gsl/gsl_rng.h || need="$need libgsl-dev"
    have cjson/cJSON.h || need="$need libcjson-dev"
    have cmocka_version.h || printf '#include <stdarg.h>\n#include <stddef.h>\n#include <setjmp.h>\n#include <stdint.h>\n#include <cmocka.h>\nint main(void){return 0;}\n' |
        $cc -x c -fsyntax-only - 2>/dev/null || need="$need libcmocka-dev"
else
    need="$need libmpfr-dev libgsl-dev libcjson-dev libcmocka-dev"
fi
# The viewer, the tests of its window, the CUDA kernels' emulator: installed for `make test` as root;
# left out elsewhere.
if [ "$1" = test ] && [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null 2>&1; then
    pkg-config --exists 'sdl2 >= 2.0.20' libpng 2>/dev/null || need="$need pkg-config libsdl2-dev libpng-dev"
    command -v "${CXX:-c++}" >/dev/null 2>&1 || need="$need g++"
    command -v Xvfb >/dev/null 2>&1 && command -v xdotool >/dev/null 2>&1 || need="$need xvfb xdotool"
fi
[ -z "$need" ] && exit 0
command="apt-get install -y --no-install-recommends$need"
if ! command -v apt-get >/dev/null 2>&1; then
    echo "missing:$need (Debian names).  Install them with this system's package manager, then run make again." >&2
    exit 2
fi
if [ "$(id -u)" -ne 0 ]; then
    echo "missing:$need" >&2
    if [ -t 0 ]; then
        printf 'run  sudo %s  now? [y/N] ' "$command"
        read -r answer
        case $answer in y | Y | yes) sudo sh -c "apt-get update && $command"; exit ;; esac
    fi
    echo "run  sudo $command  and then make again" >&2
    exit 2
fi
echo "installing:$need"
log=$(mktemp)
if ! { apt-get update && DEBIAN_FRONTEND=noninteractive $command; } >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    echo "apt-get failed; the command was: $command" >&2
    exit 2
fi
rm -f "$log"
